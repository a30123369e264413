//! Tests that operations on a merged folder and on a plain one have the same results.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use overlay::WorkspacePath;
use proptest::{prelude::*, test_runner::TestRunner};

use crate::fixture::World;

/// Files of the workspace.
const DISK: [(&str, &str); 5] =
    [("a", "disk a"), ("b/a", "disk b/a"), ("b/c/a", "disk b/c/a"), ("c/b", "disk c/b"), ("d", "disk d")];

/// Operation on a folder.
#[derive(Debug, Clone)]
enum Operation {
    Write(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    WriteAt(usize, u64, Vec<u8>),
    Truncate(usize, u64),
    Create(usize),
    MakeFolder(usize),
    Remove(usize),
    RemoveFolder(usize),
    Rename(usize, usize),
    Link(usize, usize),
    Symlink(usize, usize),
    Mode(usize, u32),
    Time(usize, u32),
    /// Opens a file and keeps it open.
    Open(usize),
    ReadOpen,
    WriteOpen(Vec<u8>),
    List(usize),
}

/// Names that operations use: few, so that they meet.
const PATHS: [&str; 12] = ["a", "b", "c", "d", "e", "b/a", "b/c", "b/c/a", "c/b", "c/d", "e/a", "b/c/e"];

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    use Operation::*;
    let path = || 0..PATHS.len();
    let bytes = || prop::collection::vec(any::<u8>(), 0..20);
    let operation = prop_oneof![
        (path(), bytes()).prop_map(|(it, bytes)| Write(it, bytes)),
        (path(), bytes()).prop_map(|(it, bytes)| Append(it, bytes)),
        (path(), 0..9000u64, bytes()).prop_map(|(it, at, bytes)| WriteAt(it, at, bytes)),
        (path(), 0..9000u64).prop_map(|(it, size)| Truncate(it, size)),
        path().prop_map(Create),
        path().prop_map(MakeFolder),
        path().prop_map(Remove),
        path().prop_map(RemoveFolder),
        (path(), path()).prop_map(|(from, to)| Rename(from, to)),
        (path(), path()).prop_map(|(from, to)| Rename(from, to)),
        (path(), path()).prop_map(|(from, to)| Link(from, to)),
        (path(), path()).prop_map(|(from, to)| Symlink(from, to)),
        (path(), prop::sample::select(vec![0o700, 0o744, 0o755])).prop_map(|(it, mode)| Mode(it, mode)),
        (path(), any::<u32>()).prop_map(|(it, time)| Time(it, time)),
        path().prop_map(Open),
        Just(ReadOpen),
        bytes().prop_map(WriteOpen),
        path().prop_map(List),
    ];
    prop::collection::vec(operation, 1..40)
}

/// A folder, and the file that is open in it.
struct Place {
    root: PathBuf,
    open: Option<File>,
}

impl Place {
    fn at(&self, number: usize) -> PathBuf {
        self.root.join(PATHS[number])
    }

    /// Applies an operation. Returns its text, or the system's error.
    fn apply(&mut self, operation: &Operation) -> Result<String, i32> {
        self.try_to(operation).map_err(|it| it.raw_os_error().unwrap_or(-1))
    }

    fn try_to(&mut self, operation: &Operation) -> io::Result<String> {
        use Operation::*;
        let nothing = |()| String::new();
        match operation {
            Write(it, bytes) => fs::write(self.at(*it), bytes).map(nothing),
            Append(it, bytes) => {
                OpenOptions::new().append(true).open(self.at(*it))?.write_all(bytes).map(nothing)
            }
            WriteAt(it, at, bytes) => {
                OpenOptions::new().write(true).open(self.at(*it))?.write_all_at(bytes, *at).map(nothing)
            }
            Truncate(it, size) => {
                OpenOptions::new().write(true).open(self.at(*it))?.set_len(*size).map(nothing)
            }
            Create(it) => {
                let all = OpenOptions::new().write(true).create_new(true).open(self.at(*it));
                all.map(|_| String::new())
            }
            MakeFolder(it) => fs::create_dir(self.at(*it)).map(nothing),
            Remove(it) => fs::remove_file(self.at(*it)).map(nothing),
            RemoveFolder(it) => fs::remove_dir(self.at(*it)).map(nothing),
            Rename(from, to) => fs::rename(self.at(*from), self.at(*to)).map(nothing),
            Link(from, to) => fs::hard_link(self.at(*from), self.at(*to)).map(nothing),
            Symlink(from, to) => symlink(Path::new(PATHS[*from]), self.at(*to)).map(nothing),
            Mode(it, mode) => fs::set_permissions(self.at(*it), Permissions::from_mode(*mode)).map(nothing),
            Time(it, seconds) => {
                let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs((*seconds).into());
                File::open(self.at(*it))?.set_modified(time).map(nothing)
            }
            Open(it) => {
                self.open = None;
                self.open = Some(OpenOptions::new().read(true).write(true).open(self.at(*it))?);
                Ok(String::new())
            }
            ReadOpen => {
                let Some(open) = &mut self.open else { return Ok(String::new()) };
                let mut bytes = Vec::new();
                open.seek(SeekFrom::Start(0))?;
                open.read_to_end(&mut bytes)?;
                Ok(format!("{bytes:?} {}", open.metadata()?.nlink()))
            }
            WriteOpen(bytes) => {
                let Some(open) = &mut self.open else { return Ok(String::new()) };
                open.write_all(bytes).map(nothing)
            }
            List(it) => {
                let mut names: Vec<_> = fs::read_dir(self.at(*it))?
                    .map(|it| it.map(|it| it.file_name()))
                    .collect::<io::Result<_>>()?;
                names.sort();
                Ok(format!("{names:?}"))
            }
        }
    }

    fn state(&self) -> Vec<String> {
        let mut all = Vec::new();
        below(&self.root, Path::new(""), &mut all);
        all.sort();
        all
    }
}

fn below(root: &Path, folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        let at = root.join(&path);
        let it = fs::symlink_metadata(&at).unwrap();
        let what = if it.is_symlink() {
            format!("-> {} {}", fs::read_link(&at).unwrap().display(), it.size())
        } else if it.is_file() {
            format!("{} {} {:?}", it.nlink(), it.size(), fs::read(&at).unwrap())
        } else {
            String::new()
        };
        // Times that a test sets are whole seconds, far from now.
        let time = if it.is_file() && it.mtime_nsec() == 0 { it.mtime() } else { 0 };
        all.push(format!("{} {:o} {time} {what}", path.display(), it.mode()));
        if it.is_dir() {
            below(root, &path, all);
        }
    }
}

/// The place where the folder is mounted.
fn mounted(world: &World) -> PathBuf {
    let places = fs::read_dir(world.beside("cache/merged")).unwrap();
    let mut found = places.map(|it| it.unwrap().path().join("tree/work")).filter(|it| it.is_dir());
    found.next().unwrap()
}

#[test]
fn operations_have_the_results_that_they_have_in_a_plain_folder() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(100);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let is_there = World::merged(&[]).is_some();
    if !is_there {
        return;
    }
    TestRunner::new(config)
        .run(&operations(), |all| {
            compare(&all);
            Ok(())
        })
        .unwrap();
}

fn compare(all: &[Operation]) {
    let world = World::merged(&DISK).unwrap();
    let plain = world.beside("plain");
    fs::create_dir_all(plain.join("b/c")).unwrap();
    fs::create_dir_all(plain.join("c")).unwrap();
    for (path, text) in DISK {
        fs::write(plain.join(path), text).unwrap();
    }
    // The branch has another content for a file, and not another one.
    fs::write(plain.join("c/b"), "branch").unwrap();
    fs::remove_file(plain.join("d")).unwrap();
    let shadow = world.open(|branch| {
        branch.write(&WorkspacePath::new("c/b").unwrap(), "branch".into()).unwrap();
        branch.remove(&WorkspacePath::new("d").unwrap()).unwrap();
    });
    let mut plain = Place { root: plain, open: None };
    let mut merged = Place { root: mounted(&world), open: None };
    let before = Place { root: world.root(), open: None }.state();
    for operation in all {
        let (want, found) = (plain.apply(operation), merged.apply(operation));
        assert_eq!(found, want, "{operation:?}");
    }
    assert_eq!(merged.state(), plain.state());
    merged.open = None;
    drop(shadow);
    assert_eq!(Place { root: world.root(), open: None }.state(), before);
}
