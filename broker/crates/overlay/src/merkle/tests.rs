//! Tree hashes against hashes made anew, whatever is edited.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::Arc,
};

use bytes::Bytes;
use parking_lot::Mutex;
use proptest::{prelude::*, test_runner::RngSeed};

use super::*;
use crate::{Branch, Disk, EditError, FileKind, Listing, Memory, Metadata, Revision, walk};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn full(view: &dyn View) -> TreeHash {
    tree_hash(view, &WalkOptions::default()).unwrap()
}

/// Returns all hashes of a tree by path, for comparing and looking at.
fn hashes(tree: &TreeHash) -> BTreeMap<WorkspacePath, (u8, ContentHash)> {
    let mut all = BTreeMap::from([(WorkspacePath::root(), (u8::MAX, tree.root()))]);
    let mut pending = vec![(WorkspacePath::root(), tree.top.clone())];
    while let Some((directory, node)) = pending.pop() {
        for (name, child) in &node.entries {
            let path = directory.child(name);
            all.insert(path.clone(), (child.tag(), child.hash()));
            if let Child::Directory(next) = child {
                pending.push((path, next.clone()));
            }
        }
    }
    all
}

#[track_caller]
fn assert_same(updated: &TreeHash, full: &TreeHash) {
    assert_eq!(hashes(updated), hashes(full));
    assert!(updated.sources.keys().eq(full.sources.keys()));
}

/// Counts what is hashed and listed.
struct Counting {
    view: Arc<dyn View>,
    hashed: Mutex<Vec<String>>,
    listed: Mutex<Vec<String>>,
}

impl Counting {
    fn new(view: impl View + 'static) -> Self {
        Self { view: Arc::new(view), hashed: Mutex::default(), listed: Mutex::default() }
    }

    fn hashed(&self) -> Vec<String> {
        std::mem::take(&mut *self.hashed.lock())
    }

    fn listed(&self) -> Vec<String> {
        std::mem::take(&mut *self.listed.lock())
    }
}

impl View for Counting {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.view.read(path)
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        self.hashed.lock().push(path.to_string());
        self.view.hash(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.view.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.listed.lock().push(path.to_string());
        self.view.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.view.read_link(path)
    }
}

#[test]
fn an_update_costs_the_way_to_what_changed() {
    let files = [("a/b/one", "1"), ("a/b/two", "2"), ("a/c/three", "3"), ("d/four", "4")];
    let mut branch = Branch::new(Arc::new(Memory::from_files(files).unwrap()));
    let tree = full(&branch.snapshot());
    branch.write(&path("a/b/one"), "changed".into()).unwrap();
    let view = Counting::new(branch.snapshot());
    let updated = tree.update(&view, &[path("a/b/one")]).unwrap();
    assert_eq!(view.hashed(), ["a/b/one"]);
    assert_eq!(view.listed(), [".", "a", "a/b"]);
    assert!(Arc::ptr_eq(updated.find(&path("d")).unwrap(), tree.find(&path("d")).unwrap()));
    assert_eq!(updated.directory(&path("a/c")), tree.directory(&path("a/c")));
    assert_ne!(updated.directory(&path("a/b")), tree.directory(&path("a/b")));
    assert_ne!(updated.root(), tree.root());
    assert_same(&updated, &full(&view));
    let same = updated.update(&view, &[]).unwrap();
    assert!(Arc::ptr_eq(&same.top, &updated.top));
}

#[test]
fn all_that_a_listing_shows_counts() {
    let root = |edit: &dyn Fn(&mut Branch) -> Result<Revision, EditError>| {
        let mut branch = Branch::new(Arc::new(Memory::from_files([("dir/file", "text")]).unwrap()));
        edit(&mut branch).unwrap();
        full(&branch.snapshot()).root()
    };
    let file = path("dir/file");
    let roots = [
        root(&|it| Ok(it.revision())),
        root(&|it| it.write(&file, "TEXT".into())),
        root(&|it| it.set_executable(&file, true)),
        root(&|it| it.rename(&file, &path("dir/other"))),
        root(&|it| it.rename(&file, &path("file"))),
        root(&|it| it.symlink(&path("dir/link"), "file")),
        root(&|it| it.create_dir(&path("dir/empty"))),
    ];
    assert_eq!(BTreeSet::from(roots).len(), roots.len());
    let and_back = |it: &mut Branch| {
        it.rename(&path("dir"), &path("moved"))?;
        it.rename(&path("moved"), &path("dir"))
    };
    assert_eq!(root(&and_back), roots[0]);
}

#[test]
fn what_a_walk_passes_over_does_not_count() {
    let files = [(".git/HEAD", ""), (".gitignore", "built/"), ("built/x", "1"), ("src", ""), ("venv/y", "")];
    let mut branch = Branch::new(Arc::new(Memory::from_files(files).unwrap()));
    let before = full(&branch.snapshot());
    let names: Vec<_> = hashes(&before).into_keys().map(|it| it.to_string()).collect();
    assert_eq!(names, [".", ".gitignore", "src"]);
    let ignored = ["built/x", ".git/HEAD", "venv/y", "new.log"].map(path);
    branch.show(&path(".git/info/exclude"), "*.log".into()).unwrap();
    for it in &ignored {
        branch.show(it, "changed".into()).unwrap();
    }
    let changed = [&ignored[..], &[path(".git/info/exclude")]].concat();
    let after = before.update(&branch.snapshot(), &changed).unwrap();
    assert_eq!(after.root(), before.root());
    assert_same(&after, &full(&branch.snapshot()));
}

#[test]
fn rules_that_change_elsewhere_are_heeded() {
    let files = [("rules/ignore", "x"), ("deep/in/x", ""), ("deep/in/y", ""), (".git/HEAD", "")];
    let mut memory = Memory::from_files(files).unwrap();
    memory.insert_symlink(&path("deep/.gitignore"), "../rules/ignore");
    let mut branch = Branch::new(Arc::new(memory));
    let tree = full(&branch.snapshot());
    assert!(!hashes(&tree).contains_key(&path("deep/in/x")));
    branch.write(&path("rules/ignore"), "y".into()).unwrap();
    let updated = tree.update(&branch.snapshot(), &[path("rules/ignore")]).unwrap();
    assert!(hashes(&updated).contains_key(&path("deep/in/x")));
    assert_same(&updated, &full(&branch.snapshot()));
}

#[test]
fn many_files_by_many_threads() {
    let files: Vec<_> = (0..500).map(|it| (format!("{}/{it}", it % 7), it.to_string())).collect();
    let memory = Memory::from_files(files.iter().map(|(path, text)| (path, text))).unwrap();
    let all = hashes(&full(&memory));
    for (at, text) in &files {
        assert_eq!(all[&path(at)].1, ContentHash::of(text.as_bytes()));
    }
    assert_eq!(all.len(), 500 + 7 + 1);
}

#[test]
fn what_cannot_be_read_counts_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let large = fs::File::create(folder.path().join("large")).unwrap();
    large.set_len(u64::from(u32::MAX) + 1).unwrap();
    std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let disk = Disk::new(folder.path()).unwrap();
    let before = full(&disk);
    assert_eq!(hashes(&before).len(), 2, "a socket is passed over");
    large.set_len(3).unwrap();
    let after = before.update(&disk, &[path("large")]).unwrap();
    assert_eq!(hashes(&after)[&path("large")].1, ContentHash::of(&[0; 3]));
    fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(after.update(&disk, &[path("large")]).err().unwrap().kind(), io::ErrorKind::NotFound);
}

#[derive(Debug, Clone)]
enum Edit {
    Write(String, &'static str),
    CreateDir(String),
    Symlink(String, &'static str),
    Remove(String),
    Rename(String, String),
    SetExecutable(String, bool),
}

/// Does an edit, if it is possible, and says which link-free paths it changed.
fn apply(branch: &mut Branch, edit: &Edit) -> Vec<WorkspacePath> {
    let before = branch.snapshot();
    let done = match edit {
        Edit::Write(at, text) => branch.write(&path(at), Bytes::from(*text)),
        Edit::CreateDir(at) => branch.create_dir(&path(at)),
        Edit::Symlink(at, target) => branch.symlink(&path(at), target),
        Edit::Remove(at) => branch.remove(&path(at)),
        Edit::Rename(from, to) => branch.rename(&path(from), &path(to)),
        Edit::SetExecutable(at, value) => branch.set_executable(&path(at), *value),
    };
    if done.is_err() {
        return Vec::new();
    }
    let after = branch.snapshot();
    match edit {
        Edit::Write(at, _) | Edit::SetExecutable(at, _) => vec![after.resolve(&path(at)).unwrap()],
        Edit::CreateDir(at) | Edit::Symlink(at, _) => vec![after.resolve_parent(&path(at)).unwrap()],
        Edit::Remove(at) => vec![before.resolve_parent(&path(at)).unwrap()],
        Edit::Rename(from, to) => {
            vec![before.resolve_parent(&path(from)).unwrap(), before.resolve_parent(&path(to)).unwrap()]
        }
    }
}

fn paths(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let name = prop::sample::select(names);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn edits(names: &'static [&'static str]) -> impl Strategy<Value = Edit> {
    let text = prop::sample::select(&["", "a", "*.log", "b/", "!x.log", "/a", "../a/.git"][..]);
    let target = prop::sample::select(&["a", "../.gitignore", "b/a", ".ignore", "../..", "../a/b"][..]);
    prop_oneof![
        6 => (paths(names), text).prop_map(|(path, text)| Edit::Write(path, text)),
        1 => paths(names).prop_map(Edit::CreateDir),
        2 => (paths(names), target).prop_map(|(path, target)| Edit::Symlink(path, target)),
        2 => paths(names).prop_map(Edit::Remove),
        3 => (paths(names), paths(names)).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (paths(names), any::<bool>()).prop_map(|(path, value)| Edit::SetExecutable(path, value)),
    ]
}

const PLAIN: &[&str] = &["a", "b", "c"];
const WITH_RULES: &[&str] = &["a", "b", "x.log", ".gitignore", ".ignore", ".git", "venv"];

/// Runs the same cases each time.
fn config() -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(7);
    ProptestConfig { cases: 400, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// Everything in a view, spelled out.
fn dump(view: &dyn View, at: &WorkspacePath, all: &mut BTreeMap<String, (Metadata, Bytes)>) {
    for entry in view.list(at).unwrap().entries {
        let path = at.child(&entry.name);
        let text = match entry.kind {
            FileKind::File => view.read(&path).unwrap(),
            FileKind::Symlink => view.read_link(&path).unwrap().into(),
            FileKind::Directory | FileKind::Other => Bytes::new(),
        };
        all.insert(path.to_string(), (view.metadata(&path).unwrap(), text));
        if entry.kind == FileKind::Directory {
            dump(view, &path, all);
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_update_is_as_a_hash_made_anew(
        batches in prop::collection::vec(prop::collection::vec(edits(WITH_RULES), 1..4), 1..12),
    ) {
        let files = [(".gitignore", "*.log"), ("a/x.log", ""), ("a/b/.ignore", "!x.log"), ("b/a", "1")];
        let mut branch = Branch::new(Arc::new(Memory::from_files(files).unwrap()));
        let mut tree = full(&branch.snapshot());
        for batch in &batches {
            let changed: Vec<_> = batch.iter().flat_map(|edit| apply(&mut branch, edit)).collect();
            let view = branch.snapshot();
            tree = tree.update(&view, &changed).unwrap();
            let anew = full(&view);
            prop_assert_eq!(hashes(&tree), hashes(&anew), "after {:?}, so {:?}", batch, changed);
            prop_assert!(tree.sources.keys().eq(anew.sources.keys()));
            let is_file = |it: &WorkspacePath| view.metadata(it).unwrap().kind == FileKind::File;
            let walked = walk(&view, &[WorkspacePath::root()], &WalkOptions::default());
            let walked: BTreeSet<_> = walked.filter(is_file).collect();
            let hashed = hashes(&tree).into_iter().filter(|(_, (tag, _))| *tag < 2);
            prop_assert_eq!(walked, hashed.map(|(path, _)| path).collect());
        }
    }

    #[test]
    fn equal_roots_mean_equal_content(
        one in prop::collection::vec(edits(PLAIN), 0..4),
        other in prop::collection::vec(edits(PLAIN), 0..4),
    ) {
        let base = Arc::new(Memory::from_files([("a/b", "x"), ("b/c", "y")]).unwrap());
        let [one, other] = [one, other].map(|edits| {
            let mut branch = Branch::new(base.clone());
            edits.iter().for_each(|edit| drop(apply(&mut branch, edit)));
            let mut all = BTreeMap::new();
            dump(&branch.snapshot(), &WorkspacePath::root(), &mut all);
            (full(&branch.snapshot()).root(), all)
        });
        prop_assert_eq!(one.0 == other.0, one.1 == other.1);
    }
}
