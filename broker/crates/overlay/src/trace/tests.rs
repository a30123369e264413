//! The record, and when it holds elsewhere.

use super::*;
use crate::{Branch, EditError, Memory, Revision};

type Edited = Result<Revision, EditError>;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn base() -> Arc<dyn View> {
    let mut memory =
        Memory::from_files([("pyproject.toml", "[tool]"), ("src/a.py", "a"), ("src/b.py", "b")]).unwrap();
    memory.insert_symlink(&path("link"), "src");
    Arc::new(memory)
}

/// Whether the results of `look` in the base are the same after `edit`.
fn holds_after(look: impl FnOnce(&Traced), edit: impl FnOnce(&mut Branch) -> Edited) -> bool {
    let base = base();
    let traced = Traced::new(base.clone());
    look(&traced);
    assert!(traced.changed().is_none());
    let mut branch = Branch::new(base);
    assert!(traced.read_set().holds_in(&branch.snapshot()), "nothing was edited yet");
    edit(&mut branch).unwrap();
    traced.read_set().holds_in(&branch.snapshot())
}

#[test]
fn an_unrelated_edit_does_not_matter() {
    let look = |view: &Traced| assert_eq!(view.read(&path("src/a.py")).unwrap(), "a");
    assert!(holds_after(look, |branch| branch.write(&path("src/b.py"), "new".into())));
    assert!(holds_after(look, |branch| branch.write(&path("src/a.py"), "a".into())));
    assert!(!holds_after(look, |branch| branch.write(&path("src/a.py"), "new".into())));
    assert!(!holds_after(look, |branch| branch.remove(&path("src"))));
}

#[test]
fn a_miss_is_a_read() {
    let look = |view: &Traced| drop(view.read(&path("ruff.toml")).unwrap_err());
    assert!(holds_after(look, |branch| branch.write(&path("other.toml"), "".into())));
    assert!(!holds_after(look, |branch| branch.write(&path("ruff.toml"), "".into())));
}

#[test]
fn a_link_where_a_file_was_missed_is_seen() {
    let look = |view: &Traced| drop(view.open(&path("ruff.toml")).unwrap_err());
    assert!(!holds_after(look, |branch| branch.symlink(&path("ruff.toml"), "src/a.py")));
}

#[test]
fn metadata_listings_and_links_are_reads() {
    let stat = |view: &Traced| assert_eq!(view.metadata(&path("src/a.py")).unwrap().size, 1);
    assert!(holds_after(stat, |branch| branch.write(&path("src/a.py"), "x".into())));
    assert!(!holds_after(stat, |branch| branch.set_executable(&path("src/a.py"), true)));

    let list = |view: &Traced| drop(view.list(&path("src")).unwrap());
    assert!(holds_after(list, |branch| branch.write(&path("src/a.py"), "new".into())));
    assert!(!holds_after(list, |branch| branch.write(&path("src/c.py"), "".into())));

    let follow = |view: &Traced| drop(view.open(&path("link/a.py")).unwrap());
    let relink = |branch: &mut Branch| {
        branch.remove(&path("link")).unwrap();
        branch.symlink(&path("link"), "elsewhere")
    };
    assert!(!holds_after(follow, relink));
}

#[test]
fn a_reader_of_kinds_is_not_concerned_by_edits() {
    let holds_after = |edit: &dyn Fn(&mut Branch) -> Edited| {
        let traced = Traced::of_kinds(base());
        assert_eq!(traced.metadata(&path("src/a.py")).unwrap().size, 0);
        assert_eq!(traced.resolve(&path("link/a.py")).unwrap(), path("src/a.py"), "looks at each component");
        assert!(traced.metadata(&path("src/missing.py")).is_err());
        assert_eq!(traced.read(&path("src/b.py")).unwrap(), "b");
        let mut branch = Branch::new(base());
        edit(&mut branch).unwrap();
        traced.read_set().holds_in(&branch.snapshot())
    };
    assert!(holds_after(&|branch| branch.write(&path("src/a.py"), "longer".into())));
    assert!(holds_after(&|branch| branch.set_executable(&path("src/a.py"), true)));
    assert!(!holds_after(&|branch| branch.write(&path("src/b.py"), "it was read".into())));
    assert!(!holds_after(&|branch| branch.remove(&path("src/a.py"))));
    assert!(!holds_after(&|branch| {
        branch.remove(&path("src/a.py"))?;
        branch.write(&path("src/a.py/b"), "a directory now".into())
    }));
    assert!(!holds_after(&|branch| branch.write(&path("src/missing.py"), "".into())));
    assert!(!holds_after(&|branch| {
        branch.remove(&path("src/a.py"))?;
        branch.symlink(&path("src/a.py"), "b.py")
    }));
}

#[test]
fn the_set_is_shared_until_something_is_added() {
    let traced = Traced::new(base());
    traced.read(&path("src/a.py")).unwrap();
    let first = traced.read_set();
    traced.read(&path("src/a.py")).unwrap();
    assert!(Arc::ptr_eq(&first, &traced.read_set()));
    let (bytes, hash) = traced.read_hashed(&path("src/b.py")).unwrap();
    assert_eq!(hash, ContentHash::of(&bytes));
    let second = traced.read_set();
    assert_eq!((first.len(), second.len()), (1, 2), "an answer's set does not grow after the fact");
    assert_eq!(second.get(&Read::Content(path("src/b.py"))), Some(Observation::Found(hash)));
    assert_eq!(second.iter().map(|(read, it)| (read.clone(), it)).collect::<ReadSet>(), *second);
}

/// Answers every read differently from the one before, or not at all.
struct Restless {
    reads: Mutex<u64>,
    fails: bool,
}

impl View for Restless {
    fn read(&self, _: &WorkspacePath) -> io::Result<Bytes> {
        let mut reads = self.reads.lock();
        *reads += 1;
        if self.fails { Err(io::ErrorKind::TimedOut.into()) } else { Ok(reads.to_string().into()) }
    }

    fn metadata(&self, _: &WorkspacePath) -> io::Result<Metadata> {
        Ok(Metadata { kind: FileKind::File, size: 1, executable: false })
    }

    fn list(&self, _: &WorkspacePath) -> io::Result<Listing> {
        Err(io::ErrorKind::NotADirectory.into())
    }

    fn read_link(&self, _: &WorkspacePath) -> io::Result<String> {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

#[test]
fn a_view_that_moves_is_noticed() {
    let traced = Traced::new(Arc::new(Restless { reads: Mutex::new(0), fails: false }));
    traced.metadata(&path("a")).unwrap();
    traced.read(&path("a")).unwrap();
    assert_eq!(traced.changed(), None);
    traced.metadata(&path("a")).unwrap();
    traced.read(&path("a")).unwrap();
    assert_eq!(traced.changed(), Some(Read::Content(path("a"))));
}

#[test]
fn a_failure_never_holds() {
    let view = Arc::new(Restless { reads: Mutex::new(0), fails: true });
    let traced = Traced::new(view.clone());
    traced.read_link(&path("a")).unwrap_err();
    assert!(traced.read_set().holds_in(&*view));
    traced.read(&path("a")).unwrap_err();
    assert_eq!(traced.read_set().get(&Read::Content(path("a"))), Some(Observation::Failed));
    assert!(!traced.read_set().holds_in(&*view));
    assert_eq!(*view.reads.lock(), 1, "it was not even tried");
}
