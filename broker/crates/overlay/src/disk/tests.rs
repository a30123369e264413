//! Both doors against real folders: each test runs once through `openat2` and once without.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, fs::symlink},
};

use tempfile::TempDir;

use super::*;
use crate::FileKind;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// Runs `test` on both kinds of disk over a folder that `fill` filled.
fn check(fill: impl Fn(&Path), test: impl Fn(&Disk)) {
    let folder = TempDir::new().unwrap();
    fill(folder.path());
    test(&Disk::new(folder.path()).unwrap());
    test(&Disk::without_openat2(folder.path()).unwrap());
}

fn kind_of<T: std::fmt::Debug>(answer: io::Result<T>) -> io::ErrorKind {
    answer.unwrap_err().kind()
}

#[test]
fn a_file_over_the_limit_is_not_hashed() {
    let fill = |root: &Path| {
        fs::write(root.join("small"), "text").unwrap();
        // A hole of 64 GiB: to hash it would take a minute.
        File::create(root.join("large")).unwrap().set_len(1 << 36).unwrap();
    };
    check(fill, |disk| {
        let mut hashes = disk.hashes_stamped(&path(""), &["small", "large"], 4).into_iter();
        let mut next = || hashes.next().unwrap().map(|it| it.value);
        assert_eq!(next().unwrap(), ContentHash::of(b"text"));
        assert_eq!(kind_of(next()), io::ErrorKind::FileTooLarge);
    });
}

#[test]
fn reads_a_tree() {
    let fill = |root: &Path| {
        fs::create_dir_all(root.join("src/inner")).unwrap();
        fs::write(root.join("src/lib.rs"), "pub fn a() {}").unwrap();
        fs::write(root.join("run.sh"), "").unwrap();
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    check(fill, |disk| {
        assert_eq!(disk.read(&path("src/lib.rs")).unwrap(), "pub fn a() {}");
        let lib = Metadata { kind: FileKind::File, size: 13, executable: false };
        assert_eq!(disk.metadata(&path("src/lib.rs")).unwrap(), lib);
        let run = Metadata { kind: FileKind::File, size: 0, executable: true };
        assert_eq!(disk.metadata(&path("run.sh")).unwrap(), run);
        let root = Metadata { kind: FileKind::Directory, size: 0, executable: false };
        assert_eq!(disk.metadata(&WorkspacePath::root()).unwrap(), root);
        let names: Vec<_> = disk.list(&path("src")).unwrap().entries.into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["inner", "lib.rs"]);
        assert_eq!(disk.list(&WorkspacePath::root()).unwrap().entries.len(), 2);
    });
}

#[test]
fn errors_have_the_kinds_of_a_disk() {
    let fill = |root: &Path| {
        fs::create_dir(root.join("dir")).unwrap();
        fs::write(root.join("file"), "").unwrap();
    };
    check(fill, |disk| {
        assert_eq!(kind_of(disk.read(&path("missing"))), io::ErrorKind::NotFound);
        assert_eq!(kind_of(disk.metadata(&path("missing/x"))), io::ErrorKind::NotFound);
        let long = "n".repeat(300);
        assert_eq!(kind_of(disk.read(&path(&long))), io::ErrorKind::NotFound);
        assert_eq!(kind_of(disk.metadata(&path(&format!("dir/{long}/x")))), io::ErrorKind::NotFound);
        let stamps = disk.stamps(&path("dir"), &[&long]);
        assert_eq!(stamps.into_iter().map(kind_of).collect::<Vec<_>>(), [io::ErrorKind::NotFound]);
        assert_eq!(kind_of(disk.read(&path("file/x"))), io::ErrorKind::NotADirectory);
        assert_eq!(kind_of(disk.metadata(&path("file/x"))), io::ErrorKind::NotADirectory);
        assert_eq!(kind_of(disk.list(&path("file"))), io::ErrorKind::NotADirectory);
        assert_eq!(kind_of(disk.read(&path("dir"))), io::ErrorKind::IsADirectory);
        assert_eq!(kind_of(disk.read(&WorkspacePath::root())), io::ErrorKind::IsADirectory);
        assert_eq!(kind_of(disk.read_link(&path("file"))), io::ErrorKind::InvalidInput);
        assert_eq!(kind_of(disk.read_link(&WorkspacePath::root())), io::ErrorKind::InvalidInput);
    });
}

/// A file whose path is longer than `PATH_MAX` can be made from a directory on the way, so it is not called missing.
#[test]
fn of_a_path_that_is_too_long_it_is_not_known_what_is_there() {
    let folder = TempDir::new().unwrap();
    let deep = path(&["d"; 2100].join("/"));
    assert_eq!(kind_of(Disk::new(folder.path()).unwrap().hash(&deep)), io::ErrorKind::InvalidFilename);
}

#[test]
fn the_root_must_be_a_folder() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for open in [Disk::new, Disk::without_openat2] {
        assert_eq!(open(&file).err().unwrap().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(open(&folder.path().join("missing")).err().unwrap().kind(), io::ErrorKind::NotFound);
    }
}

#[test]
fn follows_no_link_by_itself() {
    let fill = |root: &Path| {
        fs::create_dir(root.join("dir")).unwrap();
        fs::write(root.join("dir/file"), "text").unwrap();
        symlink("dir", root.join("to-dir")).unwrap();
        symlink("dir/file", root.join("to-file")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
    };
    check(fill, |disk| {
        for link in ["to-dir", "to-file", "dangling"] {
            let metadata = disk.metadata(&path(link)).unwrap();
            assert_eq!(metadata, Metadata { kind: FileKind::Symlink, size: 0, executable: false });
            assert_eq!(kind_of(disk.read(&path(link))), io::ErrorKind::NotADirectory, "{link}");
            assert_eq!(kind_of(disk.list(&path(link))), io::ErrorKind::NotADirectory, "{link}");
        }
        assert_eq!(kind_of(disk.metadata(&path("to-dir/file"))), io::ErrorKind::NotADirectory);
        assert_eq!(kind_of(disk.read_link(&path("to-dir/file"))), io::ErrorKind::NotADirectory);
        assert_eq!(disk.read_link(&path("to-file")).unwrap(), "dir/file");
        assert_eq!(disk.open(&path("to-dir/file")).unwrap(), "text");
        assert_eq!(disk.open(&path("to-file")).unwrap(), "text");
        assert_eq!(kind_of(disk.open(&path("dangling"))), io::ErrorKind::NotFound);
    });
}

#[test]
fn a_link_cannot_lead_out() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let fill = |root: &Path| {
        symlink(outside.path(), root.join("absolute")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("../../../../../etc/passwd", root.join("passwd")).unwrap();
    };
    check(fill, |disk| {
        assert_eq!(kind_of(disk.read(&path("absolute/secret"))), io::ErrorKind::NotADirectory);
        for out in ["absolute/secret", "up/anything", "passwd"] {
            assert_eq!(kind_of(disk.open(&path(out))), io::ErrorKind::PermissionDenied, "{out}");
        }
    });
}

#[test]
fn absolute_links_into_the_root_are_followed() {
    let fill = |root: &Path| {
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), "text").unwrap();
        symlink(root.join("a/file"), root.join("a/b/deep")).unwrap();
        symlink(root.join("a"), root.join("top")).unwrap();
        symlink(root, root.join("a/b/whole")).unwrap();
        symlink(format!("{}-sibling/x", root.display()), root.join("sibling")).unwrap();
    };
    check(fill, |disk| {
        assert_eq!(disk.read_link(&path("a/b/deep")).unwrap(), "../../a/file");
        for link in ["a/b/deep", "top/file", "top/b/whole/a/file"] {
            assert_eq!(disk.open(&path(link)).unwrap(), "text", "{link}");
        }
        assert_eq!(disk.resolve(&path("a/b/whole")).unwrap(), WorkspacePath::root());
        assert_eq!(kind_of(disk.open(&path("sibling"))), io::ErrorKind::PermissionDenied);
    });
}

#[test]
fn a_root_that_is_reached_through_a_link() {
    let folder = TempDir::new().unwrap();
    let (real, alias) = (folder.path().join("real"), folder.path().join("alias"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &alias).unwrap();
    fs::write(real.join("file"), "text").unwrap();
    symlink(alias.join("file"), real.join("by-alias")).unwrap();
    symlink(real.canonicalize().unwrap().join("file"), real.join("by-name")).unwrap();
    let disk = Disk::new(&alias).unwrap();
    assert_eq!(disk.root(), real.canonicalize().unwrap());
    assert_eq!(disk.open(&path("by-alias")).unwrap(), "text");
    assert_eq!(disk.open(&path("by-name")).unwrap(), "text");
}

#[test]
fn a_loop_of_links_ends() {
    let fill = |root: &Path| {
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
    };
    check(fill, |disk| assert_eq!(kind_of(disk.open(&path("a"))), io::ErrorKind::InvalidInput));
}

#[test]
fn special_files_are_listed_and_never_read() {
    let fill = |root: &Path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    };
    check(fill, |disk| {
        for special in ["pipe", "socket"] {
            assert_eq!(disk.metadata(&path(special)).unwrap().kind, FileKind::Other);
            assert_eq!(kind_of(disk.read(&path(special))), io::ErrorKind::Unsupported, "{special}");
        }
        let listing = disk.list(&WorkspacePath::root()).unwrap();
        assert!(listing.entries.iter().all(|it| it.kind == FileKind::Other) && listing.entries.len() == 2);
    });
}

#[test]
fn names_that_are_not_utf8_are_counted() {
    let odd = OsStr::from_bytes(b"caf\xe9.py");
    let fill = |root: &Path| {
        fs::write(root.join("fine.py"), "").unwrap();
        fs::write(root.join(odd), "").unwrap();
        symlink(odd, root.join("link")).unwrap();
    };
    check(fill, |disk| {
        let listing = disk.list(&WorkspacePath::root()).unwrap();
        assert_eq!((listing.entries.len(), listing.not_utf8), (2, 1));
        assert_eq!(kind_of(disk.read_link(&path("link"))), io::ErrorKind::InvalidData);
    });
}

#[test]
fn what_may_not_be_read_says_so() {
    let folder = TempDir::new().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("file"), "").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    for open in [Disk::new, Disk::without_openat2] {
        let disk = open(folder.path()).unwrap();
        assert_eq!(disk.metadata(&path("closed")).unwrap().kind, FileKind::Directory);
        // Nothing is closed to the administrator.
        if fs::read_dir(&closed).is_err() {
            assert_eq!(kind_of(disk.list(&path("closed"))), io::ErrorKind::PermissionDenied);
            assert_eq!(kind_of(disk.read(&path("closed/file"))), io::ErrorKind::PermissionDenied);
        }
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_file_over_the_limit_is_refused_unread() {
    let fill = |root: &Path| {
        let file = File::create(root.join("sparse")).unwrap();
        file.set_len(u64::from(u32::MAX) + 1).unwrap();
    };
    check(fill, |disk| assert_eq!(kind_of(disk.read(&path("sparse"))), io::ErrorKind::FileTooLarge));
}

#[test]
fn a_file_of_any_size_is_hashed() {
    let folder = tempfile::TempDir::new().unwrap();
    let at = |name: &str| WorkspacePath::new(name).unwrap();
    for size in [0, 1, READ_CHUNK_SIZE - 1, READ_CHUNK_SIZE, READ_CHUNK_SIZE + 1, 3 * READ_CHUNK_SIZE + 17] {
        let bytes: Vec<u8> = (0..size).map(|it| (it % 251) as u8).collect();
        fs::write(folder.path().join(size.to_string()), bytes).unwrap();
    }
    // Larger than what can be read as a whole.
    let huge = File::create(folder.path().join("huge")).unwrap();
    huge.set_len(u64::from(u32::MAX) + 2).unwrap();
    for disk in [Disk::new(folder.path()).unwrap(), Disk::without_openat2(folder.path()).unwrap()] {
        for size in
            [0, 1, READ_CHUNK_SIZE - 1, READ_CHUNK_SIZE, READ_CHUNK_SIZE + 1, 3 * READ_CHUNK_SIZE + 17]
        {
            let path = at(&size.to_string());
            assert_eq!(disk.hash(&path).unwrap(), ContentHash::of(&disk.read(&path).unwrap()), "{size}");
        }
        assert_eq!(disk.read(&at("huge")).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
    assert!(Disk::new(folder.path()).unwrap().hash(&at("huge")).is_ok());
}
