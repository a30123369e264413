//! Commits into real folders: what they do, what they refuse, and that they keep what is not theirs.

#![allow(clippy::disallowed_methods, reason = "the folder is looked at from outside")]

mod earlier;
mod faults;
pub(super) mod power;
mod races;
mod saves;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::PathBuf,
    time::SystemTime,
};

use bytes::Bytes;
use tempfile::TempDir;

use super::*;
use crate::ContentHash;

/// A workspace and a journal folder beside it.
struct Place {
    folder: TempDir,
    committer: Committer,
}

/// Contents of a folder: path to kind, permissions and content.
type Tree = BTreeMap<String, (String, u32)>;

impl Place {
    fn new(fill: impl Fn(&Path)) -> Self {
        // In memory if possible, so that hundreds of commits need not wait for a disk.
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let root = folder.path().join("work");
        fs::create_dir(&root).unwrap();
        fill(&root);
        let committer = Committer::new(&root, &folder.path().join("state/journal")).unwrap();
        Self { folder, committer }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn tree(&self) -> Tree {
        tree(&self.root())
    }

    /// Returns the contents of the journal folder besides the lock.
    fn journal(&self) -> Vec<String> {
        tree(&self.folder.path().join("state/journal")).into_keys().filter(|it| it != "lock").collect()
    }

    fn commit(&self, ops: &[FileOp]) -> Result<Committed, CommitError> {
        self.committer.commit(ops)
    }

    fn conflicts(&self, ops: &[FileOp]) -> Vec<(String, DiskState)> {
        let before = self.tree();
        let error = self.commit(ops).unwrap_err();
        assert_eq!(self.tree(), before);
        assert!(self.journal().is_empty());
        let CommitError::Conflicts(conflicts) = error else { panic!("{error}") };
        conflicts.into_iter().map(|it| (it.path.as_str().to_owned(), it.found)).collect()
    }
}

fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = match metadata.file_type() {
                it if it.is_dir() => "directory".to_owned(),
                it if it.is_symlink() => format!("-> {}", fs::read_link(&path).unwrap().display()),
                _ => format!("file {}", String::from_utf8_lossy(&fs::read(&path).unwrap())),
            };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            tree.insert(name, (content, metadata.mode() & 0o7777));
        }
    }
    tree
}

fn at(path: &str) -> WorkspacePath {
    WorkspacePath::new(path).unwrap()
}

fn file(text: &str) -> Expected {
    Expected::File(ContentHash::of(text.as_bytes()), false)
}

fn write(path: &str, text: &str, before: Expected) -> FileOp {
    FileOp::Write {
        path: at(path),
        bytes: Bytes::from(text.to_owned()),
        executable: false,
        before,
        moved_from: None,
        permissions: None,
    }
}

fn remove(path: &str, before: Expected) -> FileOp {
    FileOp::Remove { path: at(path), before }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A folder with something of everything.
fn fill(root: &Path) {
    fs::create_dir_all(root.join("src/old/deep")).unwrap();
    fs::write(root.join("src/lib.rs"), "lib").unwrap();
    fs::write(root.join("src/old/a.rs"), "a").unwrap();
    fs::write(root.join("src/old/deep/b.rs"), "b").unwrap();
    fs::write(root.join("becomes-dir"), "plain").unwrap();
    fs::write(root.join("run.sh"), "run").unwrap();
    fs::create_dir(root.join("private")).unwrap();
    fs::write(root.join("private/key"), "key").unwrap();
    set_mode(&root.join("private"), 0o700);
    set_mode(&root.join("private/key"), 0o600);
    fs::write(root.join("untouched"), "untouched\r\n").unwrap();
    symlink("src/lib.rs", root.join("link")).unwrap();
}

/// Changes of every kind to that folder.
fn changes() -> Vec<FileOp> {
    vec![
        write("src/lib.rs", "new lib", file("lib")),
        write("new/deep/er.rs", "made", Expected::Missing),
        remove("src/old/a.rs", file("a")),
        remove("src/old/deep/b.rs", file("b")),
        FileOp::RemoveDir { path: at("src/old/deep") },
        FileOp::RemoveDir { path: at("src/old") },
        write("src/old", "now a file", Expected::Missing),
        remove("becomes-dir", file("plain")),
        write("becomes-dir/inner", "inner", Expected::Missing),
        FileOp::SetExecutable { path: at("run.sh"), executable: true, before: file("run") },
        FileOp::Symlink {
            path: at("link"),
            target: "run.sh".into(),
            before: Expected::Symlink("src/lib.rs".into()),
        },
        FileOp::CreateDir { path: at("empty"), moved_from: None, permissions: None },
        FileOp::CreateDir { path: at("moved"), moved_from: Some(at("private")), permissions: None },
        FileOp::Write {
            path: at("moved/key"),
            bytes: Bytes::from_static(b"key"),
            executable: false,
            before: Expected::Missing,
            moved_from: Some(at("private/key")),
            permissions: None,
        },
        remove("private/key", file("key")),
        FileOp::RemoveDir { path: at("private") },
        FileOp::CreateDir { path: at("src"), moved_from: None, permissions: None },
    ]
}

#[test]
fn makes_changes_of_every_kind() {
    let place = Place::new(fill);
    let done = place.commit(&changes()).unwrap();
    let want = Committed {
        written: 5,
        linked: 1,
        removed: 4,
        modes_changed: 1,
        directories_created: 5,
        directories_removed: 3,
        permissions: done.permissions.clone(),
        leftovers: vec![],
    };
    assert_eq!(done, want);
    let lost: Vec<_> = done.permissions.iter().map(|(path, it)| (path.as_str(), it.mode)).collect();
    assert!(lost.contains(&("private", 0o700)) && !lost.iter().any(|it| it.0 == "run.sh"), "{lost:?}");
    let tree = place.tree();
    let texts: Vec<_> = tree.iter().map(|(path, (text, _))| format!("{path}: {text}")).collect();
    assert_eq!(
        texts,
        [
            "becomes-dir: directory",
            "becomes-dir/inner: file inner",
            "empty: directory",
            "link: -> run.sh",
            "moved: directory",
            "moved/key: file key",
            "new: directory",
            "new/deep: directory",
            "new/deep/er.rs: file made",
            "run.sh: file run",
            "src: directory",
            "src/lib.rs: file new lib",
            "src/old: file now a file",
            "untouched: file untouched\r\n",
        ]
    );
    assert_ne!(tree["run.sh"].1 & 0o111, 0);
    assert_eq!((tree["moved"].1, tree["moved/key"].1), (0o700, 0o600), "as where they were");
    assert!(place.journal().is_empty());
    assert_eq!(place.committer.recover().unwrap(), None);
}

#[test]
fn keeps_permissions() {
    for (mode, executable, want) in [
        (0o644, false, 0o644),
        (0o755, true, 0o755),
        (0o600, false, 0o600),
        (0o640, true, 0o750),
        (0o755, false, 0o644),
        // Set-id bits are dropped, like at every change of contents.
        (0o4755, true, 0o755),
        (0o2755, true, 0o755),
        (0o4755, false, 0o644),
        (0o444, false, 0o444),
    ] {
        let place = Place::new(|root| {
            fs::write(root.join("file"), "old").unwrap();
            set_mode(&root.join("file"), mode);
        });
        let bytes = Bytes::from_static(b"new");
        place
            .commit(&[FileOp::Write {
                path: at("file"),
                bytes,
                executable,
                before: Expected::Anything,
                moved_from: None,
                permissions: None,
            }])
            .unwrap();
        assert_eq!(place.tree()["file"], ("file new".into(), want), "{mode:o} {executable}");
    }
}

#[test]
fn new_files_have_the_permissions_of_any_new_file() {
    let place = Place::new(|root| {
        fs::write(root.join("plain"), "").unwrap();
        fs::create_dir(root.join("dir")).unwrap();
    });
    let bytes = Bytes::new();
    let run = FileOp::Write {
        path: at("made/run"),
        bytes,
        executable: true,
        before: Expected::Missing,
        moved_from: None,
        permissions: None,
    };
    place.commit(&[write("made/file", "", Expected::Missing), run]).unwrap();
    let tree = place.tree();
    assert_eq!(tree["made/file"].1, tree["plain"].1);
    assert_eq!(tree["made/run"].1, tree["plain"].1 | ((tree["plain"].1 & 0o444) >> 2));
    assert_eq!(tree["made"].1, tree["dir"].1);
}

#[test]
fn tells_all_conflicts_at_once() {
    let place = Place::new(fill);
    symlink("src", place.root().join("alias")).unwrap();
    let hash = |text: &str| DiskState::File(ContentHash::of(text.as_bytes()), false);
    let executable = Expected::File(ContentHash::of(b"run"), true);
    let found = place.conflicts(&[
        write("untouched", "x", file("something else")),
        write("src/lib.rs", "x", Expected::Missing),
        write("missing", "x", file("was here")),
        write("alias/lib.rs", "x", file("lib")),
        write("becomes-dir/x", "x", Expected::Missing),
        remove("link", Expected::Symlink("elsewhere".into())),
        FileOp::SetExecutable { path: at("run.sh"), executable: false, before: executable },
        FileOp::RemoveDir { path: at("src/old") },
        FileOp::RemoveDir { path: at("gone") },
    ]);
    let want = [
        ("alias/lib.rs", DiskState::Unreachable),
        ("becomes-dir/x", DiskState::Unreachable),
        ("gone", DiskState::Missing),
        ("link", DiskState::Symlink("src/lib.rs".into())),
        ("missing", DiskState::Missing),
        ("run.sh", hash("run")),
        ("src/lib.rs", hash("lib")),
        ("src/old", DiskState::NotEmpty("a.rs".into())),
        ("untouched", hash("untouched\r\n")),
    ];
    for (path, state) in want {
        let told = found.iter().find(|it| it.0 == path).unwrap_or_else(|| panic!("{path} in {found:?}"));
        match (&told.1, &state) {
            // Which of several is told is up to the file system.
            (DiskState::NotEmpty(_), DiskState::NotEmpty(_)) => {}
            (told, state) => assert_eq!(told, state, "{path}"),
        }
    }
}

#[test]
fn conflicts_are_told_in_words() {
    let conflict = Conflict { path: at("a.rs"), expected: file(""), found: DiskState::Symlink("b".into()) };
    let text = CommitError::Conflicts(vec![conflict]).to_string();
    assert_eq!(
        text,
        "the workspace has changed: `a.rs` was the file af1349b9f5f9a1a6, now it is a link to `b`"
    );
}

#[test]
fn force_replaces_files_and_links_but_no_directory() {
    let place = Place::new(fill);
    let ops = ["link", "run.sh", "missing"].map(|it| write(it, "forced", Expected::Anything));
    place.commit(&ops).unwrap();
    let tree = place.tree();
    assert!(["link", "run.sh", "missing"].iter().all(|it| tree[*it].0 == "file forced"));
    assert_eq!(tree["src/lib.rs"].0, "file lib", "the link was replaced, not followed");
    assert_eq!(
        place.conflicts(&[write("src", "x", Expected::Anything)]),
        [("src".into(), DiskState::Directory)]
    );
}

#[test]
fn a_directory_that_is_replaced_must_be_emptied() {
    let place = Place::new(fill);
    let replace = write("src/old", "file", Expected::Directory);
    let ops = [replace.clone(), remove("src/old/a.rs", file("a"))];
    assert_eq!(place.conflicts(&ops), [("src/old".into(), DiskState::NotEmpty("deep".into()))]);
    let rest = [
        replace,
        remove("src/old/a.rs", file("a")),
        remove("src/old/deep/b.rs", file("b")),
        FileOp::RemoveDir { path: at("src/old/deep") },
    ];
    place.commit(&rest).unwrap();
    assert_eq!(place.tree()["src/old"].0, "file file");
}

#[test]
fn refuses_contradictions() {
    let place = Place::new(fill);
    let twice = [write("a", "1", Expected::Missing), write("a", "2", Expected::Missing)];
    let below_itself = [write("b", "1", Expected::Missing), write("b/c", "2", Expected::Missing)];
    for ops in [&twice, &below_itself] {
        assert!(matches!(place.commit(ops), Err(CommitError::Contradiction { .. })), "{ops:?}");
    }
    assert!(matches!(place.commit(&[write("", "", Expected::Missing)]), Err(CommitError::Root)));
}

#[test]
fn the_journal_lies_outside() {
    let place = Place::new(fill);
    let error = Committer::new(&place.root(), &place.root().join("journal")).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    let journal = fs::metadata(place.folder.path().join("state/journal")).unwrap();
    assert_eq!(journal.mode() & 0o777, 0o700);
}

#[test]
fn two_do_not_commit_at_once() {
    let place = Place::new(fill);
    let lock = place.committer.lock().unwrap();
    place.committer.folder.fail_point().hurry();
    assert!(matches!(place.commit(&changes()), Err(CommitError::Busy { .. })));
    drop(lock);
    place.commit(&changes()).unwrap();
}

#[test]
fn one_commit_waits_for_another() {
    let place = Place::new(fill);
    let lock = place.committer.lock().unwrap();
    place.committer.folder.fail_point().meanwhile(move || drop(lock));
    place.commit(&changes()).unwrap();
}

#[test]
fn a_commit_waits_until_a_file_is_closed() {
    let place = Place::new(fill);
    let open = File::options().append(true).open(place.root().join("run.sh")).unwrap();
    place.committer.folder.fail_point().meanwhile(move || drop(open));
    place.commit(&changes()).unwrap();
}

/// Names that differ for this file system may still lead to the same entry.
#[test]
fn what_is_version_control_under_another_name_is_refused() {
    let place = Place::new(|root| {
        fs::create_dir_all(root.join("sub/.git/hooks")).unwrap();
        fs::write(root.join("sub/.hg"), "a file may be it, too").unwrap();
        fs::hard_link(root.join("sub/.hg"), root.join("sub/other")).unwrap();
    });
    let refused = |ops: &[FileOp]| {
        let (checked, done) = (place.committer.check(ops).unwrap_err(), place.commit(ops).unwrap_err());
        assert_eq!(checked.to_string(), done.to_string());
        done.to_string()
    };
    let hook = write("sub/.GIT/hooks/pre-commit", "x", Expected::Missing);
    assert_eq!(
        refused(&[write("fine", "x", Expected::Missing), hook]),
        "`sub/.GIT/hooks/pre-commit` belongs to version control, which no edit and no commit changes"
    );
    let same = write("sub/other", "x", Expected::Anything);
    assert!(refused(&[same]).starts_with("`sub/other` belongs to version control"));
    assert!(refused(&[FileOp::RemoveDir { path: at("sub/git~1") }]).starts_with("`sub/git~1` belongs"));
    place.commit(&[write("sub/fine", "x", Expected::Missing)]).unwrap();
}

#[test]
fn a_full_journal_says_what_to_do() {
    let error =
        CommitError::journal(Path::new("/state/journal/x"), "write", io::ErrorKind::StorageFull.into());
    let text = error.to_string();
    assert!(text.ends_with("; free some room for /state/journal, then try again"), "{text}");
}

#[test]
fn a_thousand_files() {
    let place = Place::new(|root| {
        for n in 0..500 {
            fs::write(root.join(format!("old{n}")), n.to_string()).unwrap();
        }
    });
    let old = (0..500).map(|n| write(&format!("old{n}"), "changed", file(&n.to_string())));
    let new = (0..500).map(|n| write(&format!("dir{}/new{n}", n % 20), "new", Expected::Missing));
    let done = place.commit(&old.chain(new).collect::<Vec<_>>()).unwrap();
    assert_eq!((done.written, done.directories_created), (1000, 20));
    assert_eq!(place.tree().len(), 1020);
}

#[test]
fn only_old_copies_are_pruned() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let folder = TempDir::new().unwrap();
    let kept = folder.path().join("kept");
    prune_kept(folder.path(), SystemTime::now());
    fs::create_dir(&kept).unwrap();
    let now = SystemTime::now();
    let ages = [("future", None), ("new", Some(0)), ("29", Some(29)), ("30", Some(30)), ("31", Some(31))];
    for (name, days) in ages {
        let made = days.map_or(now + DAY, |it: u32| now - DAY * it);
        fs::File::create(kept.join(name)).unwrap().set_modified(made).unwrap();
    }
    fs::write(folder.path().join("lock"), "").unwrap();
    prune_kept(folder.path(), now);
    assert_eq!(tree(&kept).into_keys().collect::<Vec<_>>(), ["29", "30", "future", "new"]);
    assert!(folder.path().join("lock").exists());
}
