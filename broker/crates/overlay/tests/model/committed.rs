//! Commits among random edits: what every earlier revision was, it stays.

use std::{collections::BTreeMap, sync::Arc};

use overlay::{Branch, FileKind, FileState, Memory, OnConflict, RebaseOnto, Revision, View, WorkspacePath};
use proptest::prelude::*;

use crate::{
    Edit, Model, apply, edits,
    kept::{Moving, everything, same},
};

#[derive(Debug, Clone)]
enum Act {
    Edit(Edit),
    Undo(prop::sample::Index),
    Commit,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        7 => edits().prop_map(Act::Edit),
        1 => any::<prop::sample::Index>().prop_map(Act::Undo),
        2 => Just(Act::Commit),
    ];
    prop::collection::vec(act, 1..16)
}

/// A base that has all that a view has.
pub(crate) fn memory(view: &dyn View) -> Memory {
    let mut memory = Memory::default();
    for (path, state) in everything(view) {
        match state {
            FileState::File { executable, .. } => {
                memory.insert_file(&path, view.read(&path).unwrap(), executable);
            }
            FileState::Symlink(target) => memory.insert_symlink(&path, &target),
            FileState::Directory => memory.insert_dir(&path),
            FileState::Other => unreachable!("nothing here makes any"),
        }
    }
    memory
}

/// Writes the branch into the base, if each operation finds there what it expects.
fn commit(branch: &mut Branch, base: &Moving) -> Result<(), TestCaseError> {
    #[cfg(unix)]
    expected_is_there(branch, base)?;
    base.set(memory(&branch.snapshot()));
    let before = branch.revision();
    let is_empty = branch.snapshot().changed_paths(&branch.snapshot().base_of()).is_empty();
    prop_assert!(branch.committed() > before || is_empty);
    prop_assert!(!branch.snapshot().is_edited(&WorkspacePath::root()));
    Ok(())
}

#[cfg(unix)]
pub(crate) fn expected_is_there(branch: &Branch, base: &Moving) -> Result<(), TestCaseError> {
    use overlay::{Expected, FileOp};
    for op in branch.plan_commit(&std::collections::BTreeSet::new()).unwrap().ops {
        let (path, expected) = match &op {
            FileOp::Write { path, before, .. }
            | FileOp::Remove { path, before }
            | FileOp::Symlink { path, before, .. }
            | FileOp::SetExecutable { path, before, .. } => (path, before.clone()),
            FileOp::RemoveDir { path } => (path, Expected::Directory),
            FileOp::CreateDir { .. } => continue,
        };
        let is = match base.metadata(path) {
            Ok(it) if it.kind == FileKind::File => Expected::File(base.hash(path).unwrap(), it.executable),
            Ok(it) if it.kind == FileKind::Symlink => Expected::Symlink(base.read_link(path).unwrap()),
            Ok(_) => Expected::Directory,
            Err(_) => Expected::Missing,
        };
        prop_assert_eq!(expected, is, "{:?}", op);
    }
    Ok(())
}

type States = BTreeMap<WorkspacePath, FileState>;

/// Runs the acts, and returns the contents of every revision from when it was the newest.
fn run(branch: &mut Branch, base: &Moving, acts: &[Act]) -> Result<Vec<States>, TestCaseError> {
    let mut shown = vec![everything(&branch.snapshot())];
    for act in acts {
        let before = branch.revision();
        match act {
            // Refusals are as good as edits here.
            Act::Edit(edit) => drop(apply(branch, edit)),
            Act::Undo(at) => {
                let to = at.index(before.0 as usize + 1);
                branch.undo_to(Revision(to as u64)).unwrap();
                prop_assert_eq!(&everything(&branch.snapshot()), &shown[to], "undone to {}", to);
            }
            Act::Commit => commit(branch, base)?,
        }
        if branch.revision() != before {
            shown.push(everything(&branch.snapshot()));
        }
    }
    Ok(shown)
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn a_parents_commit_changes_no_child(
        start in prop::collection::vec(edits(), 1..8),
        own in prop::collection::vec(edits(), 1..8),
        onto_parent in any::<bool>(),
    ) {
        let base = Arc::new(Moving::new(Model::base().memory()));
        let mut parent = Branch::new(base.clone());
        start.iter().for_each(|it| drop(apply(&mut parent, it)));
        let mut child = parent.fork();
        own.iter().for_each(|it| drop(apply(&mut child, it)));
        let before = everything(&child.snapshot());
        commit(&mut parent, &base)?;
        prop_assert_eq!(&everything(&child.snapshot()), &before, "as the parent was committed");
        let onto = parent.snapshot();
        let onto = if onto_parent { RebaseOnto::Parent(&onto) } else { RebaseOnto::Base };
        let rebased = child.rebase(onto, OnConflict::Refuse);
        prop_assert!(rebased.is_ok(), "{:?}", rebased);
        prop_assert_eq!(&everything(&child.snapshot()), &before, "after the rebase");
        prop_assert_eq!(child.conflicts(None).unwrap(), []);
        commit(&mut child, &base)?;
        prop_assert_eq!(&everything(&*base), &before);
    }
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn what_was_before_a_commit_stays(start in prop::collection::vec(edits(), 0..5), own in acts(), last in any::<prop::sample::Index>()) {
        let base = Arc::new(Moving::new(Model::base().memory()));
        let mut parent = Branch::new(base.clone());
        start.iter().for_each(|it| drop(apply(&mut parent, it)));
        let mut branch = parent.fork();
        let shown = run(&mut branch, &base, &own)?;
        for (revision, states) in shown.iter().enumerate() {
            prop_assert_eq!(&everything(&branch.at(Revision(revision as u64)).unwrap()), states, "at {}", revision);
        }
        let mut restored = Branch::restore(base.clone(), branch.steps()).unwrap();
        same(&branch, &restored)?;
        let to = last.index(shown.len());
        restored.undo_to(Revision(to as u64)).unwrap();
        commit(&mut restored, &base)?;
        prop_assert_eq!(&everything(&*base), &shown[to]);
    }
}
