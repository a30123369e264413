//! The edits one by one, and what only shows over a base that moves. `tests/model` mixes them.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{super::taken::MAX_TAKEN, *};
use crate::{Entry, Listing, Memory, Metadata, View};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn base() -> Memory {
    let mut memory =
        Memory::from_files([("src/lib.rs", "lib"), ("src/deep/a.rs", "a"), ("README", "read me")]).unwrap();
    memory.insert_file(&path("run.sh"), "#!".into(), true);
    memory.insert_symlink(&path("link"), "src/deep");
    memory.insert_symlink(&path("dangling"), "no/where");
    memory.insert_symlink(&path("out"), "../x");
    memory
}

fn branch() -> Branch {
    Branch::new(Arc::new(base()))
}

fn names(view: &dyn View, dir: &str) -> Vec<String> {
    view.list(&path(dir)).unwrap().entries.into_iter().map(|it| it.name).collect()
}

#[test]
fn a_write_counts_and_reads_back() {
    let mut branch = branch();
    let before = branch.snapshot();
    assert_eq!(branch.write(&path("src/new/b.rs"), "b".into()).unwrap(), Revision(1));
    let after = branch.snapshot();
    assert_eq!((before.revision(), after.revision()), (Revision(0), Revision(1)));
    assert_eq!(after.read(&path("src/new/b.rs")).unwrap(), "b");
    assert_eq!(names(&after, "src"), ["deep", "lib.rs", "new"]);
    assert_eq!(before.read(&path("src/new/b.rs")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn contents_are_shared() {
    let bytes = Bytes::from(vec![b'x'; 1000]);
    let mut branch = branch();
    branch.write(&path("big"), bytes.clone()).unwrap();
    branch.rename(&path("big"), &path("src/big")).unwrap();
    let read = branch.fork().snapshot().read(&path("src/big")).unwrap();
    assert_eq!(read.as_ptr(), bytes.as_ptr());
}

#[test]
fn a_write_keeps_the_executable_bit_and_follows_links() {
    let mut branch = branch();
    branch.write(&path("run.sh"), "new".into()).unwrap();
    branch.write(&path("link/a.rs"), "through".into()).unwrap();
    let snapshot = branch.snapshot();
    assert!(snapshot.metadata(&path("run.sh")).unwrap().executable);
    assert_eq!(snapshot.read(&path("src/deep/a.rs")).unwrap(), "through");
    assert_eq!(snapshot.metadata(&path("link")).unwrap().kind, FileKind::Symlink);
}

#[test]
fn links_that_lead_nowhere_are_not_overwritten() {
    let mut branch = branch();
    assert!(matches!(branch.write(&path("dangling"), "".into()), Err(EditError::NotAFile(_))));
    assert!(matches!(branch.write(&path("dangling/x"), "".into()), Err(EditError::NotADirectory(_))));
    let error = branch.write(&path("out"), "".into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`out` cannot be reached: the symbolic link `out` leads out of the workspace"
    );
    assert_eq!(branch.revision(), Revision(0));
}

#[test]
fn the_root_stays() {
    let (mut branch, root) = (branch(), WorkspacePath::root());
    assert!(matches!(branch.write(&root, "".into()), Err(EditError::Root)));
    assert!(matches!(branch.remove(&root), Err(EditError::Root)));
    assert!(matches!(branch.rename(&root, &path("x")), Err(EditError::Root)));
    assert!(matches!(branch.rename(&path("src"), &root), Err(EditError::Root)));
    assert!(matches!(branch.create_dir(&root), Err(EditError::Root)));
}

#[test]
fn a_renamed_directory_takes_its_contents_along() {
    let mut branch = branch();
    branch.write(&path("src/deep/b.rs"), "b".into()).unwrap();
    branch.rename(&path("src"), &path("source")).unwrap();
    branch.write(&path("source/deep/c.rs"), "c".into()).unwrap();
    let snapshot = branch.snapshot();
    assert_eq!(names(&snapshot, "source/deep"), ["a.rs", "b.rs", "c.rs"]);
    assert_eq!(snapshot.read(&path("source/lib.rs")).unwrap(), "lib");
    assert_eq!(snapshot.read(&path("src/lib.rs")).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(snapshot.is_edited(&path("source/lib.rs")) && snapshot.is_edited(&path("src")));
    assert!(!snapshot.is_edited(&path("README")));
}

#[test]
fn a_directory_that_is_made_again_is_empty() {
    let mut branch = branch();
    branch.remove(&path("src")).unwrap();
    branch.write(&path("src"), "a file".into()).unwrap();
    branch.remove(&path("src")).unwrap();
    branch.create_dir(&path("src")).unwrap();
    assert!(names(&branch.snapshot(), "src").is_empty());
}

#[test]
fn what_no_commit_could_write_is_refused() {
    let mut branch = branch();
    let (name, long) = ("n".repeat(255), "n".repeat(256));
    let errors = [
        branch.symlink(&path("l"), ""),
        branch.symlink(&path("l"), "a\0b"),
        branch.symlink(&path("l"), &"t".repeat(4096)),
        branch.write(&path(&format!("{long}/x")), "".into()),
        branch.create(&path(&long), "".into()),
        branch.create_dir(&path(&format!("src/{long}"))),
        branch.rename(&path("README"), &path(&long)),
    ];
    let errors = errors.map(|it| it.unwrap_err().to_string());
    assert_eq!(errors[0], "the target of the link `l` is empty");
    assert_eq!(errors[1], "the target of the link `l` contains a NUL character");
    assert_eq!(errors[2], "the target of the link `l` is longer than 4095 bytes");
    for error in &errors[3..] {
        assert!(error.starts_with("a name of 256 bytes is too long, in `"), "{error}");
    }
    let patch = "diff --git a/l b/l\nnew file mode 120000\nindex 0000000..e69de29\n";
    let error = branch.apply_patch(patch).unwrap_err();
    assert_eq!(error.to_string(), errors[0]);
    assert_eq!(branch.revision(), Revision(0));
    branch.symlink(&path("l"), &"t".repeat(4095)).unwrap();
    branch.write(&path(&format!("{name}/{name}")), "".into()).unwrap();
}

/// A base with two files that seem large.
struct Large(Memory);

impl View for Large {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.0.read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let metadata = self.0.metadata(path)?;
        let is_large = path.file_name().is_some_and(|it| it.starts_with("large"));
        Ok(Metadata { size: if is_large { 150 << 20 } else { metadata.size }, ..metadata })
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.0.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.0.read_link(path)
    }
}

#[test]
fn one_edit_takes_only_so_many_bytes_along() {
    let base = Memory::from_files([("d/large 1", ""), ("d/large 2", ""), ("e", "")]).unwrap();
    let mut branch = Branch::new(Arc::new(Large(base)));
    let refused = [branch.remove(&path("d")), branch.rename(&path("d"), &path("f"))];
    let want = "`d` holds 314572800 bytes or more; \
                one edit can move, remove or change files of 268435456 bytes";
    for error in refused.map(Result::unwrap_err) {
        assert_eq!(error.to_string(), want);
    }
    assert_eq!(branch.revision(), Revision(0));
    branch.remove(&path("d/large 1")).unwrap();
    branch.rename(&path("d"), &path("f")).unwrap();
    assert_eq!(names(&branch.snapshot(), "f"), ["large 2"]);
}

/// Both made a directory: it is one, unless the branch put its own in the place of one that it removed.
#[test]
fn a_directory_that_both_make_shows_the_files_of_both() {
    let moving = Arc::new(Moving(Mutex::new(base())));
    let mut branch = Branch::new(moving.clone());
    branch.write(&path("new/deep/x.py"), "x".into()).unwrap();
    branch.create_dir(&path("empty/deep")).unwrap();
    branch.write(&path("gone/x"), "x".into()).unwrap();
    branch.remove(&path("gone/x")).unwrap();
    branch.remove(&path("src")).unwrap();
    branch.write(&path("src/again"), "again".into()).unwrap();
    let snapshot = branch.snapshot();
    let paths = snapshot.changed_paths(&snapshot.base_of());
    assert_eq!(paths.iter().map(WorkspacePath::as_str).collect::<Vec<_>>(), ["empty", "gone", "new", "src"]);
    assert!(["empty/deep", "gone"].iter().all(|it| snapshot.is_edited(&path(it))));
    let names_before = ["new", "new/deep", "empty", "empty/deep", "gone"].map(|it| names(&snapshot, it));
    assert_eq!(names_before, [vec!["deep"], vec!["x.py"], vec!["deep"], vec![], vec![]]);
    for file in ["new/y.py", "new/deep/y.py", "empty/y.py", "empty/deep/y.py", "gone/y.py", "src/y.py"] {
        moving.0.lock().insert_file(&path(file), "y".into(), false);
    }
    let snapshot = branch.snapshot();
    assert_eq!(names(&snapshot, "new"), ["deep", "y.py"]);
    assert_eq!(names(&snapshot, "new/deep"), ["x.py", "y.py"]);
    assert_eq!(names(&snapshot, "empty"), ["deep", "y.py"]);
    assert_eq!(names(&snapshot, "empty/deep"), ["y.py"]);
    assert_eq!(names(&snapshot, "gone"), ["y.py"]);
    assert_eq!(names(&snapshot, "src"), ["again"]);
    let conflicts = branch.conflicts(None).unwrap();
    assert_eq!(conflicts.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["src/y.py"]);
}

#[test]
fn renames_refuse_what_posix_refuses() {
    let mut branch = branch();
    let mut rename = |from: &str, to: &str| branch.rename(&path(from), &path(to)).map(drop);
    assert!(matches!(rename("src", "src/deep/x"), Err(EditError::IntoItself { .. })));
    assert!(matches!(rename("src/deep", "src"), Err(EditError::DirectoryNotEmpty(_))));
    assert!(matches!(rename("README", "src"), Err(EditError::IsADirectory(_))));
    assert!(matches!(rename("src", "README"), Err(EditError::NotADirectory(_))));
    assert!(matches!(rename("README", "missing/x"), Err(EditError::NotFound(_))));
    assert!(matches!(rename("README", "README/x"), Err(EditError::NotADirectory(_))));
    assert!(matches!(rename("missing", "x"), Err(EditError::NotFound(_))));
    rename("README", "run.sh").unwrap();
}

#[test]
fn a_base_file_becomes_executable() {
    let mut branch = branch();
    branch.set_executable(&path("README"), true).unwrap();
    branch.rename(&path("README"), &path("src/README")).unwrap();
    let metadata = branch.snapshot().metadata(&path("src/README")).unwrap();
    assert_eq!(metadata, Metadata { kind: FileKind::File, size: 7, executable: true });
    assert!(matches!(branch.set_executable(&path("src"), true), Err(EditError::IsADirectory(_))));
}

#[test]
fn depth_is_bounded_so_that_dropping_is_safe() {
    let mut branch = branch();
    let deep = "d/".repeat(200);
    branch.create_dir(&path(&deep)).unwrap();
    branch.create_dir(&path("e")).unwrap();
    branch.rename(&path("d"), &path("e/d")).unwrap();
    branch.create_dir(&path(&deep)).unwrap();
    let error = branch.rename(&path("e"), &path(&format!("{deep}/e"))).unwrap_err();
    assert!(matches!(error, EditError::TooDeep { .. }), "{error}");
    let long = branch.write(&path(&"x/".repeat(3000)), "".into()).unwrap_err();
    assert!(matches!(long, EditError::TooLong { length: 5999, .. }), "{long}");
}

/// A base that changes under the branch, as a disk does.
struct Moving(Mutex<Memory>);

impl View for Moving {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.0.lock().read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.0.lock().metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.0.lock().list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.0.lock().read_link(path)
    }
}

#[test]
fn the_base_may_lose_what_a_branch_stands_on() {
    let moving = Arc::new(Moving(Mutex::new(base())));
    let mut branch = Branch::new(moving.clone());
    branch.write(&path("src/new.rs"), "new".into()).unwrap();
    branch.rename(&path("README"), &path("MOVED")).unwrap();
    branch.set_executable(&path("link/a.rs"), true).unwrap();
    branch.rename(&path("dangling"), &path("still")).unwrap();
    *moving.0.lock() = Memory::default();
    let snapshot = branch.snapshot();
    assert_eq!(names(&snapshot, ""), ["MOVED", "src", "still"]);
    assert_eq!(names(&snapshot, "src"), ["deep", "new.rs"]);
    assert_eq!(snapshot.read(&path("MOVED")).unwrap(), "read me");
    assert_eq!(snapshot.read(&path("src/deep/a.rs")).unwrap(), "a");
    assert_eq!(snapshot.read_link(&path("still")).unwrap(), "no/where");
}

/// Whatever is edited in a directory before it is moved, nothing of it rests on the base afterwards.
#[test]
fn a_moved_directory_stands_on_its_own() {
    let moving = Arc::new(Moving(Mutex::new(base())));
    let mut branch = Branch::new(moving.clone());
    branch.write(&path("src/deep/b.rs"), "b".into()).unwrap();
    branch.remove(&path("src/lib.rs")).unwrap();
    branch.symlink(&path("src/l"), "deep").unwrap();
    branch.rename(&path("src"), &path("source")).unwrap();
    branch.rename(&path("source/deep"), &path("source/deeper")).unwrap();
    moving.0.lock().insert_file(&path("src/late.rs"), "late".into(), false);
    let child = branch.fork();
    *moving.0.lock() = Memory::from_files([("source/deep/other", "o")]).unwrap();
    for snapshot in [branch.snapshot(), child.snapshot()] {
        assert_eq!(names(&snapshot, "source"), ["deeper", "l"]);
        assert_eq!(names(&snapshot, "source/deeper"), ["a.rs", "b.rs"]);
        assert_eq!(snapshot.read(&path("source/deeper/a.rs")).unwrap(), "a");
    }
    let origins: Vec<_> = branch.snapshot().origins().map(|it| it.0.to_string()).collect();
    let old = ["src", "src/deep", "src/deep/a.rs", "src/deep/b.rs", "src/l", "src/lib.rs"];
    let new = ["source", "source/deep", "source/deep/a.rs", "source/deep/b.rs"];
    let newest = ["source/deeper", "source/deeper/a.rs", "source/deeper/b.rs", "source/l"];
    assert_eq!(origins, [&new[..], &newest, &old].concat());
}

#[test]
fn a_moved_text_is_the_one_that_the_base_gave() {
    let bytes = Bytes::from(vec![b'x'; 1000]);
    let mut memory = Memory::default();
    memory.insert_file(&path("d/big"), bytes.clone(), false);
    let mut branch = Branch::new(Arc::new(memory));
    branch.rename(&path("d"), &path("e")).unwrap();
    assert_eq!(branch.snapshot().read(&path("e/big")).unwrap().as_ptr(), bytes.as_ptr());
}

/// A view with entries that a branch cannot represent.
struct Odd;

impl View for Odd {
    fn read(&self, _: &WorkspacePath) -> io::Result<Bytes> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let kind = match path.file_name() {
            Some("socket") => FileKind::Other,
            Some("new") => return Err(io::ErrorKind::NotFound.into()),
            _ => FileKind::Directory,
        };
        Ok(Metadata { kind, size: 0, executable: false })
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        let entry = |name: &str, kind| Entry { name: name.into(), kind };
        Ok(match path.file_name() {
            Some("run") => Listing { entries: vec![entry("socket", FileKind::Other)], not_utf8: 0 },
            Some("latin") => Listing { entries: vec![], not_utf8: 2 },
            Some("many") => Listing {
                entries: (0..=MAX_TAKEN).map(|it| entry(&it.to_string(), FileKind::Directory)).collect(),
                not_utf8: 0,
            },
            Some("var") => Listing { entries: vec![entry("run", FileKind::Directory)], not_utf8: 0 },
            _ => Listing::default(),
        })
    }

    fn read_link(&self, _: &WorkspacePath) -> io::Result<String> {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

#[test]
fn what_cannot_be_taken_along_stays() {
    let mut branch = Branch::new(Arc::new(Odd));
    let socket = "`var` cannot be moved or removed: the directory `var/run` holds `socket`, which is neither \
                  a file, a directory nor a plain link";
    let latin = "`latin` cannot be moved or removed: the directory `latin` holds a name that is not UTF-8";
    let many = "`many` holds more than 100000 files and directories; move or remove it in parts";
    let alone = "`var/run/socket` is not a regular file";
    for (from, why) in [("var", socket), ("latin", latin), ("many", many), ("var/run/socket", alone)] {
        assert_eq!(branch.rename(&path(from), &path("new")).unwrap_err().to_string(), why);
        assert_eq!(branch.remove(&path(from)).unwrap_err().to_string(), why);
    }
    assert_eq!(branch.revision(), Revision(0));
}
