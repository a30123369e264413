//! Compares the kept walk with a new one. Announcements of a base are tested in `base/watch/tests.rs`.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proptest::prelude::*;

use super::*;
use crate::{Branch, Extensions, Listing, Look, Memory, Metadata, walk};

/// A log that reports every change, except for those in a directory `dark`.
struct All;

impl ChangeLog for All {
    fn sync(&self) -> Option<Moment> {
        Some(Moment(0))
    }

    fn changed_since(&self, _: Moment) -> Option<Vec<WorkspacePath>> {
        None
    }

    fn covers(&self, look: Look<'_>) -> bool {
        let directory = match look {
            // An entry that is added or removed is reported through the listing with it.
            Look::At(path) => path.parent(),
            Look::Listing(path) => Some(path.clone()),
        };
        !directory.is_some_and(|it| it.components().any(|it| it == "dark"))
    }

    fn extensions(&self) -> &Extensions {
        unreachable!("nothing is kept here")
    }
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

#[derive(Debug, Clone)]
enum Edit {
    Write(String, &'static str),
    Remove(String),
    Rename(String, String),
    Symlink(String, String),
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "a-b", ".gitignore", ".ignore", "dark"])
}

fn place() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|it| it.join("/"))
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = || prop::sample::select(vec!["", "a", "/b", "a-b/", "*\n!b", "b/a", "dark"]);
    prop_oneof![
        4 => (place(), text()).prop_map(|(at, text)| Edit::Write(at, text)),
        2 => place().prop_map(Edit::Remove),
        2 => (place(), place()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (place(), prop_oneof![place(), Just("..".to_owned()), Just("../a".to_owned())])
            .prop_map(|(at, to)| Edit::Symlink(at, to)),
    ]
}

fn apply(branch: &mut Branch, edit: &Edit) {
    // Refused edits change nothing.
    let _ = match edit {
        Edit::Write(at, text) => branch.write(&path(at), bytes::Bytes::from_static(text.as_bytes())),
        Edit::Remove(at) => branch.remove(&path(at)),
        Edit::Rename(from, to) => branch.rename(&path(from), &path(to)),
        Edit::Symlink(at, to) => branch.symlink(&path(at), to),
    };
}

fn base() -> Arc<dyn View> {
    let files = [
        (".git/HEAD", ""),
        (".git/info/exclude", "b/b/b"),
        (".gitignore", "dark/a"),
        ("a/a", ""),
        ("a/b/a", ""),
        ("a/b/.gitignore", "a-b"),
        ("a-b/a", ""),
        ("b/.jj/x", ""),
        ("b/b/b", ""),
        ("dark/b", ""),
    ];
    Arc::new(Memory::from_files(files).unwrap())
}

fn compare(kept: &KeptWalk, view: &dyn View) -> Result<(), TestCaseError> {
    let mut fresh = walk(view, &[WorkspacePath::root()], &kept.options);
    let files: Vec<_> = fresh.by_ref().collect();
    prop_assert_eq!(kept.files().cloned().collect::<Vec<_>>(), files.clone());
    prop_assert_eq!(kept.len(), files.len());
    prop_assert_eq!(kept.skipped(), fresh.skipped());
    let places = files.iter().flat_map(|it| it.ancestors().collect::<Vec<_>>()).chain([path("a/x")]);
    for place in places.collect::<BTreeSet<_>>() {
        let below: Vec<_> = files.iter().filter(|it| it.starts_with(&place)).cloned().collect();
        prop_assert_eq!(kept.files_at(&place), below, "below {}", place);
    }
    // The kept looks must be the same as those of a new walk.
    let anew = KeptWalk::new(view, &kept.options, &All).unwrap();
    let lookers = |it: &KeptWalk| {
        let all = it.lookers.iter().map(|(at, (_, folders))| (at.clone(), folders.clone()));
        all.collect::<Vec<_>>()
    };
    prop_assert_eq!(lookers(kept), lookers(&anew));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_that_is_kept_is_that_from_nothing(
        rounds in prop::collection::vec(prop::collection::vec(edit(), 1..6), 1..6),
    ) {
        let mut branch = Branch::new(base());
        let mut before = branch.snapshot();
        let mut kept = KeptWalk::new(&before, &WalkOptions::default(), &All).unwrap();
        for round in rounds {
            round.iter().for_each(|it| apply(&mut branch, it));
            let now = branch.snapshot();
            let old = kept.clone();
            kept = kept.updated(&now, &now.changed_paths(&before), &All);
            compare(&kept, &now)?;
            let sets = [&old, &kept].map(|it| it.files().cloned().collect::<BTreeSet<_>>());
            prop_assert_eq!(old.difference(&kept), &sets[0] ^ &sets[1]);
            before = now;
        }
    }

    #[test]
    fn what_nobody_tells_of_is_looked_at(
        silent in prop::collection::vec(edit(), 0..8),
    ) {
        let mut branch = Branch::new(base());
        let before = branch.snapshot();
        let kept = KeptWalk::new(&before, &WalkOptions::default(), &All).unwrap();
        silent.iter().for_each(|it| apply(&mut branch, it));
        let now = branch.snapshot();
        let told: Vec<_> = now.changed_paths(&before).into_iter().filter(|it| All.covers(Look::At(it))).collect();
        compare(&kept.renewed(&now, &told, &All, true), &now)?;
    }
}

/// Counts directories that are listed.
struct Counting(Arc<dyn View>, AtomicUsize);

impl View for Counting {
    fn read(&self, path: &WorkspacePath) -> std::io::Result<bytes::Bytes> {
        self.0.read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> std::io::Result<Metadata> {
        self.0.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> std::io::Result<Listing> {
        self.1.fetch_add(1, Relaxed);
        self.0.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> std::io::Result<String> {
        self.0.read_link(path)
    }
}

#[test]
fn one_file_more_is_one_directory_listed() {
    let files: Vec<_> = (0..300).map(|it| (format!("d{}/e{}/f{it}", it % 10, it % 50), "")).collect();
    let base: Arc<dyn View> = Arc::new(Memory::from_files(files).unwrap());
    let mut branch = Branch::new(base);
    let before = branch.snapshot();
    let kept = KeptWalk::new(&before, &WalkOptions::default(), &All).unwrap();
    branch.write(&path("d3/e3/new"), bytes::Bytes::new()).unwrap();
    let now = branch.snapshot();
    let counting = Counting(Arc::new(now.clone()), AtomicUsize::new(0));
    let kept = kept.updated(&counting, &now.changed_paths(&before), &All);
    assert_eq!(kept.len(), 301);
    assert_eq!(counting.1.load(Relaxed), 1);
}
