//! The store against a plain map, over restarts; and what it does with files it cannot read or write.

#![allow(clippy::disallowed_methods, reason = "the store's files are looked at, and damaged, from outside")]

mod damage;
pub(super) mod power;
mod speed;

use std::path::PathBuf;

use bytes::Bytes;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{ContentHash, NodeRecord, Origin, Permissions, Revision, StepKind, WorkspacePath};

fn at(path: &str) -> WorkspacePath {
    WorkspacePath::new(path).unwrap()
}

fn record(name: &str) -> BranchRecord {
    let labels = BTreeMap::from([("agent".to_owned(), name.to_uppercase())]);
    BranchRecord {
        name: name.to_owned(),
        parent: Some("base".to_owned()),
        created_ms: 1_700_000_000_000,
        labels,
    }
}

/// A step with one of everything, that holds `text` and a longer one beside it.
fn step(revision: u64, text: &str) -> Step {
    let bytes = Bytes::from(text.to_owned());
    let hash = ContentHash::of(&bytes);
    let long = Bytes::from(text.repeat(100));
    let long_hash = ContentHash::of(&long);
    Step {
        revision: Revision(revision),
        at_ms: 17 * revision,
        what: format!("write {text}"),
        paths: vec![at("a"), at("b/c")],
        nodes: vec![
            (
                at("a"),
                NodeRecord::File {
                    bytes: bytes.clone(),
                    hash,
                    executable: true,
                    came_from: Some(at("old/a")),
                },
            ),
            (at("c"), NodeRecord::Symlink("a".into())),
            (at("d"), NodeRecord::Directory { shows_base: true, came_from: None }),
            (at("e"), NodeRecord::Directory { shows_base: false, came_from: Some(at("old/e")) }),
            (at("f"), NodeRecord::Whiteout),
            (at("g"), NodeRecord::Absent),
        ],
        origins: vec![
            (at("a"), Some(Origin::File { bytes: long, hash: long_hash, executable: false })),
            (at("b"), Some(Origin::Missing)),
            (at("c"), Some(Origin::Symlink("x".into()))),
            (at("d"), Some(Origin::Directory)),
            (at("e"), Some(Origin::Other)),
            (at("f"), None),
            // A text that occurs twice in one step counts once.
            (at("g"), Some(Origin::File { bytes, hash, executable: false })),
        ],
        permissions: vec![(at("h"), Permissions { mode: 0o600, uid: 1, gid: 2 })],
        fork_point: revision.is_multiple_of(2),
        kind: match revision % 3 {
            0 => StepKind::Commit,
            1 => StepKind::Undo(Revision(revision / 2)),
            _ => StepKind::Edit,
        },
    }
}

fn all(store: &Store) -> Vec<SavedBranch> {
    let loaded = store.load().unwrap();
    assert!(loaded.damaged.is_empty(), "{:?}", loaded.damaged);
    loaded.branches
}

fn text_of(step: &Step) -> &Bytes {
    let NodeRecord::File { bytes, .. } = &step.nodes[0].1 else { panic!("{step:?}") };
    bytes
}

#[test]
fn what_was_saved_is_there_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let dir = folder.path().join("state/branches");
    let store = Store::open(&dir).unwrap();
    store.save("one", Some(record("first")), vec![step(1, "a"), step(2, "b")]).unwrap();
    store.save("one", None, vec![step(3, "a")]).unwrap();
    store.save("two", Some(record("second")), vec![]).unwrap();
    store.save("two", Some(record("renamed")), vec![step(1, "a")]).unwrap();
    drop(store);
    let branches = all(&Store::open(&dir).unwrap());
    let saved = |id: &str, name, steps| SavedBranch { id: id.to_owned(), record: record(name), steps };
    let want = [
        saved("one", "first", vec![step(1, "a"), step(2, "b"), step(3, "a")]),
        saved("two", "renamed", vec![step(1, "a")]),
    ];
    assert_eq!(branches, want);
    let [first, third] = [0, 2].map(|n| text_of(&branches[0].steps[n]).as_ptr());
    assert_eq!(first, third, "equal texts share their bytes");
    assert_eq!(first, text_of(&branches[1].steps[0]).as_ptr(), "in all branches");
}

#[cfg(unix)]
#[test]
fn the_folder_is_the_users_alone() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = TempDir::new().unwrap();
    let dir = folder.path().join("state");
    let _store = Store::open(&dir).unwrap();
    assert_eq!(fs::metadata(dir).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn texts_are_kept_once_and_freed_with_the_last_branch() {
    let folder = TempDir::new().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for n in 0..50 {
        store.save(&format!("b{n}"), Some(record("x")), vec![step(1, "shared"), step(2, "shared")]).unwrap();
    }
    let stats = store.stats().unwrap();
    assert_eq!((stats.branches, stats.blobs), (50, 2));
    store.save("b7", None, vec![step(3, "own")]).unwrap();
    assert_eq!(store.stats().unwrap().blobs, 4);
    replace(&store, "b7", "x", vec![step(3, "shared")]);
    assert_eq!(store.stats().unwrap().blobs, 2);
    for n in 0..50 {
        assert_eq!(store.stats().unwrap().blobs, 2);
        store.discard(&format!("b{n}")).unwrap();
    }
    let stats = store.stats().unwrap();
    assert_eq!((stats.branches, stats.blobs), (0, 0));
    store.discard("never there").unwrap();
}

#[test]
fn steps_need_a_branch() {
    let folder = TempDir::new().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let refused = store.save("x", None, vec![step(1, "a")]).unwrap_err();
    assert!(matches!(&refused, StoreError::NoSuchBranch { id } if id == "x"), "{refused}");
    assert!(all(&store).is_empty());
    assert_eq!(store.stats().unwrap().blobs, 0);
}

#[test]
fn many_callers_are_all_answered() {
    let folder = TempDir::new().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (done, answers) = mpsc::channel();
    for n in 0..200 {
        let done = done.clone();
        let id = format!("b{}", n % 8);
        // Every tenth is refused, and it alone.
        let (id, record) = if n % 10 == 9 { ("unknown".to_owned(), None) } else { (id, Some(record("x"))) };
        store.save_with(&id, record, vec![step(n, "text")], move |result| {
            done.send((n, result.is_ok())).unwrap();
            assert!(n != 100, "a callback may even panic");
        });
    }
    store.discard_with("b0", |result| result.unwrap());
    drop(store);
    drop(done);
    let answers: Vec<_> = answers.iter().collect();
    assert_eq!(answers, (0..200).map(|n| (n, n % 10 != 9)).collect::<Vec<_>>(), "in their order");
    let branches = all(&Store::open(folder.path()).unwrap());
    assert_eq!(branches.len(), 7);
    let revisions: Vec<_> = branches[0].steps.iter().map(|it| it.revision.0).collect();
    assert!(revisions.is_sorted() && revisions.len() > 15, "{revisions:?}");
}

#[derive(Debug, Clone)]
enum Act {
    Save { id: u8, named: bool, texts: Vec<u8> },
    Discard(u8),
    Replace { id: u8, texts: Vec<u8> },
    Reopen,
}

fn act() -> impl Strategy<Value = Act> {
    let texts = || prop::collection::vec(0..6u8, 0..4);
    prop_oneof![
        6 => (0..4u8, any::<bool>(), texts()).prop_map(|(id, named, texts)| Act::Save { id, named, texts }),
        2 => (0..4u8).prop_map(Act::Discard),
        2 => (0..4u8, texts()).prop_map(|(id, texts)| Act::Replace { id, texts }),
        1 => Just(Act::Reopen),
    ]
}

/// Expected contents of the store, by id.
type Model = BTreeMap<String, (BranchRecord, Vec<Step>)>;

fn steps(texts: &[u8]) -> Vec<Step> {
    texts.iter().map(|it| step(u64::from(*it), &it.to_string())).collect()
}

/// Replaces like [`Store::replace_with`], and waits.
fn replace(store: &Store, id: &str, name: &str, steps: Vec<Step>) {
    let (done, answer) = mpsc::channel();
    store.replace_with(id, record(name), steps, move |result| done.send(result).unwrap());
    answer.recv().unwrap().unwrap();
}

fn run(store: &Store, model: &mut Model, act: &Act) {
    let name = |id: &u8| format!("branch{id}");
    match act {
        Act::Save { id, named, texts } => {
            let id = name(id);
            let record = named.then(|| record(&texts.len().to_string()));
            let saved = store.save(&id, record.clone(), steps(texts));
            assert_eq!(saved.is_ok(), named | model.contains_key(&id));
            match (model.get_mut(&id), record) {
                (Some(branch), record) => {
                    branch.0 = record.unwrap_or_else(|| branch.0.clone());
                    branch.1.extend(steps(texts));
                }
                (None, Some(record)) => _ = model.insert(id, (record, steps(texts))),
                (None, None) => {}
            }
        }
        Act::Discard(id) => {
            store.discard(&name(id)).unwrap();
            model.remove(&name(id));
        }
        Act::Replace { id, texts } => {
            let named = texts.len().to_string();
            replace(store, &name(id), &named, steps(texts));
            model.insert(name(id), (record(&named), steps(texts)));
        }
        Act::Reopen => {}
    }
}

fn compare(store: &Store, model: &Model) {
    let want = model.iter().map(|(id, (record, steps))| SavedBranch {
        id: id.clone(),
        record: record.clone(),
        steps: steps.clone(),
    });
    assert_eq!(all(store), want.collect::<Vec<_>>());
    let texts: std::collections::BTreeSet<_> =
        model.values().flat_map(|it| &it.1).map(|it| text_of(it).clone()).collect();
    assert_eq!(store.stats().unwrap().blobs, 2 * texts.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn behaves_as_a_map_does(acts in prop::collection::vec(act(), 1..30)) {
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let mut model = Model::new();
        for act in acts {
            run(&store, &mut model, &act);
            if let Act::Reopen = act {
                drop(store);
                store = Store::open(folder.path()).unwrap();
                compare(&store, &model);
            }
        }
        compare(&store, &model);
    }
}
