//! Branches that are kept as steps and restored, and differences against a full walk.

use std::{collections::BTreeMap, sync::Arc};

use overlay::{
    Branch, Change, ChangeKind, FileKind, FileState, Listing, Memory, Metadata, NodeRecord, Revision,
    Snapshot, Step, View, WorkspacePath,
};
use parking_lot::Mutex;
use proptest::prelude::*;

use crate::{Edit, Model, apply, edits, universe};

/// A base that can be exchanged, as a disk that changes.
pub(crate) struct Moving(Mutex<Memory>);

impl Moving {
    pub(crate) fn new(memory: Memory) -> Self {
        Self(Mutex::new(memory))
    }

    pub(crate) fn set(&self, memory: Memory) {
        *self.0.lock() = memory;
    }
}

impl View for Moving {
    fn read(&self, path: &WorkspacePath) -> std::io::Result<bytes::Bytes> {
        self.0.lock().read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> std::io::Result<Metadata> {
        self.0.lock().metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> std::io::Result<Listing> {
        self.0.lock().list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> std::io::Result<String> {
        self.0.lock().read_link(path)
    }
}

/// Everything in a view, spelled out.
pub(crate) fn everything(view: &dyn View) -> BTreeMap<WorkspacePath, FileState> {
    let mut found = BTreeMap::new();
    let mut todo = vec![WorkspacePath::root()];
    while let Some(directory) = todo.pop() {
        for entry in view.list(&directory).unwrap().entries {
            let path = directory.child(&entry.name);
            let state = match entry.kind {
                FileKind::File => {
                    let executable = view.metadata(&path).unwrap().executable;
                    FileState::File { hash: view.hash(&path).unwrap(), executable }
                }
                FileKind::Symlink => FileState::Symlink(view.read_link(&path).unwrap()),
                FileKind::Directory => {
                    todo.push(path.clone());
                    FileState::Directory
                }
                FileKind::Other => FileState::Other,
            };
            found.insert(path, state);
        }
    }
    found
}

#[derive(Debug, Clone)]
enum Act {
    Edit(Edit),
    Undo(prop::sample::Index),
    Two(Edit, Edit),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        8 => edits().prop_map(Act::Edit),
        1 => any::<prop::sample::Index>().prop_map(Act::Undo),
        1 => (edits(), edits()).prop_map(|(a, b)| Act::Two(a, b)),
    ];
    prop::collection::vec(act, 1..20)
}

/// Refusals are as good as edits here.
fn act(branch: &mut Branch, act: &Act) {
    match act {
        Act::Edit(edit) => drop(apply(branch, edit)),
        Act::Undo(at) => drop(branch.undo_to(Revision(at.index(branch.revision().0 as usize + 1) as u64))),
        Act::Two(a, b) => drop(branch.transaction(|it| apply(it, a).and(apply(it, b)).map(drop))),
    }
}

fn revisions(branch: &Branch) -> Vec<Snapshot> {
    (0..=branch.revision().0).map(|it| branch.at(Revision(it)).unwrap()).collect()
}

pub(crate) fn same(branch: &Branch, restored: &Branch) -> Result<(), TestCaseError> {
    prop_assert_eq!(branch.log(), restored.log());
    // When a branch of the base was made is not kept.
    prop_assert_eq!(&branch.steps()[1..], &restored.steps()[1..]);
    for (a, b) in revisions(branch).iter().zip(revisions(restored)) {
        prop_assert_eq!(everything(a), everything(&b));
        prop_assert_eq!(everything(&a.fork_point()), everything(&b.fork_point()));
        prop_assert!(a.origins().eq(b.origins()));
    }
    Ok(())
}

/// Checks that the trees at both ends of each change agree with a full walk.
fn changes_are(changes: &[Change], before: &Snapshot, after: &Snapshot) -> Result<(), TestCaseError> {
    let (old, new) = (everything(before), everything(after));
    let mut applied = old.clone();
    for change in changes {
        let from = match &change.kind {
            ChangeKind::Renamed { from } => {
                applied.remove(from);
                from
            }
            ChangeKind::Deleted => {
                applied.remove(&change.path);
                &change.path
            }
            _ => &change.path,
        };
        prop_assert_eq!(change.before.as_ref(), old.get(from));
        prop_assert_eq!(change.after.as_ref(), new.get(&change.path));
    }
    for change in changes {
        applied.extend(change.after.clone().map(|it| (change.path.clone(), it)));
    }
    prop_assert_eq!(&applied, &new);
    let unchanged = |it: &Change| it.before == it.after && !matches!(it.kind, ChangeKind::Renamed { .. });
    prop_assert!(!changes.iter().any(unchanged));
    Ok(())
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn steps_give_the_branch_again(before in acts(), own in acts(), other in prop::collection::vec(edits(), 0..6)) {
        let base = Arc::new(Moving::new(Model::base().memory()));
        let mut parent = Branch::new(base.clone());
        before.iter().for_each(|it| act(&mut parent, it));
        let mut child = parent.fork();
        let mut kept: Vec<Step> = child.steps();
        prop_assert!(kept[0].fork_point && kept[0].revision == Revision(0));
        for it in &own {
            let revision = child.revision();
            act(&mut child, it);
            kept.extend(child.steps_since(revision));
        }
        prop_assert_eq!(&kept, &child.steps());
        let mut changed = Model::base();
        for it in &other {
            let _ = changed.apply(it);
        }
        for memory in [Model::base().memory(), changed.memory()] {
            base.set(memory);
            same(&child, &Branch::restore(base.clone(), kept.clone()).unwrap())?;
            same(&parent, &Branch::restore(base.clone(), parent.steps_since(Revision(0))).unwrap())?;
            let mut whole = Branch::restore(base.clone(), child.steps()).unwrap();
            prop_assert_eq!(everything(&whole.snapshot()), everything(&child.snapshot()));
            let mut again = Branch::restore(base.clone(), kept.clone()).unwrap();
            again.undo_to(Revision(0)).unwrap();
            prop_assert_eq!(everything(&again.snapshot()), everything(&parent.snapshot()));
            whole.write(&WorkspacePath::new("new").unwrap(), "x".into()).unwrap();
        }
    }

    #[test]
    fn changes_are_what_a_full_walk_finds(acts in acts(), more in acts()) {
        let mut branch = Branch::new(Arc::new(Model::base().memory()));
        acts.iter().for_each(|it| act(&mut branch, it));
        let middle = branch.snapshot();
        more.iter().for_each(|it| act(&mut branch, it));
        let last = branch.snapshot();
        let base = last.base_of();
        for (before, after) in [(&base, &middle), (&middle, &last), (&base, &last), (&last, &middle)] {
            changes_are(&after.changes(before).unwrap(), before, after)?;
            let changed = after.changed_paths(before);
            let (old, new) = (everything(before), everything(after));
            for path in universe().iter().map(|it| WorkspacePath::new(it).unwrap()) {
                if !changed.iter().any(|it| path.starts_with(it)) {
                    prop_assert_eq!(old.get(&path), new.get(&path), "{} not among {:?}", path, changed);
                }
            }
        }
    }
}

#[test]
fn steps_that_do_not_fit_are_refused() {
    let mut branch = Branch::new(Arc::new(Memory::default()));
    for name in ["a/b", "c", "d"] {
        branch.write(&WorkspacePath::new(name).unwrap(), "x".into()).unwrap();
    }
    let steps = branch.steps();
    let restore =
        |steps: Vec<Step>| Branch::restore(Arc::new(Memory::default()), steps).err().map(|it| it.to_string());
    assert_eq!(restore(steps.clone()), None);
    let gap = vec![steps[0].clone(), steps[2].clone()];
    assert_eq!(restore(gap).unwrap(), "revision 2 does not follow revision 0");
    let mut orphan = steps[1].clone();
    orphan.nodes.remove(0);
    assert_eq!(
        restore(vec![orphan]).unwrap(),
        "at revision 1, `a/b` lies in a directory that the branch does not hold"
    );
    let mut root = steps[1].clone();
    root.nodes.push((WorkspacePath::root(), NodeRecord::Whiteout));
    assert!(restore(vec![root]).unwrap().contains("the record of the root"));
}
