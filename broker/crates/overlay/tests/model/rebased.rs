//! Rebases of random branches: nothing is lost that is not told as a conflict, and steps keep it all.

use std::{collections::BTreeSet, sync::Arc};

use overlay::{Branch, ConflictKind, OnConflict, RebaseError, RebaseOnto, Revision, View, WorkspacePath};
use proptest::prelude::*;

use crate::{
    Edit, Model, apply, edits,
    kept::{Moving, everything, same},
};

/// Refusals are as good as edits here.
fn make(branch: &mut Branch, edits: &[Edit]) {
    edits.iter().for_each(|it| drop(apply(branch, it)));
}

fn some() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec(edits(), 0..8)
}

/// Rebases onto the base, and keeps the branch's side; `false` where that would remove what came into directories.
fn kept(branch: &mut Branch) -> Result<bool, TestCaseError> {
    match branch.rebase(RebaseOnto::Base, OnConflict::KeepOurs) {
        Err(RebaseError::Conflicts(all)) => {
            prop_assert!(all.iter().all(|it| it.kind == ConflictKind::TypeChanged), "{:?}", all);
            return Ok(false);
        }
        rebased => drop(rebased.unwrap()),
    }
    prop_assert_eq!(branch.conflicts(None).unwrap(), []);
    Ok(true)
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn a_rebase_without_conflicts_has_the_changes_of_both(start in some(), ours in some(), theirs in some()) {
        let mut parent = Branch::new(Arc::new(Model::base().memory()));
        make(&mut parent, &start);
        let mut child = parent.fork();
        let fork = everything(&parent.snapshot());
        make(&mut child, &ours);
        make(&mut parent, &theirs);
        let (own, onto) = (everything(&child.snapshot()), everything(&parent.snapshot()));
        let before = child.revision();
        match child.rebase(RebaseOnto::Parent(&parent.snapshot()), OnConflict::Refuse) {
            Err(RebaseError::Conflicts(_)) => prop_assert_eq!(child.revision(), before),
            Err(error) => prop_assert!(false, "{}", error),
            Ok(rebased) => {
                let result = everything(&child.snapshot());
                let paths: BTreeSet<&WorkspacePath> = fork.keys().chain(own.keys()).chain(onto.keys()).collect();
                for path in paths {
                    if rebased.merged.contains(path) {
                        continue;
                    }
                    let (was, own, onto, now) = (fork.get(path), own.get(path), onto.get(path), result.get(path));
                    if own == was {
                        prop_assert_eq!(now, onto, "{}", path);
                    } else if onto == was {
                        prop_assert_eq!(now, own, "{}", path);
                    }
                }
                prop_assert_eq!(everything(&child.snapshot().fork_point()), onto);
            }
        }
    }

    #[test]
    fn steps_keep_rebases(start in some(), ours in some(), theirs in some(), other in some(), more in some()) {
        let base = Arc::new(Moving::new(Model::base().memory()));
        let mut parent = Branch::new(base.clone());
        make(&mut parent, &start);
        let mut child = parent.fork();
        make(&mut child, &ours);
        make(&mut parent, &theirs);
        let mut changed = Model::base();
        for edit in &other {
            let _ = changed.apply(edit);
        }
        base.set(changed.memory());
        let told = child.conflicts(None).unwrap();
        let rebased = child.clone().rebase(RebaseOnto::Base, OnConflict::Refuse);
        let refused = told.iter().any(|it| it.kind != ConflictKind::Mergeable);
        prop_assert_eq!(matches!(rebased, Err(RebaseError::Conflicts(_))), refused);
        if !kept(&mut child)? {
            return Ok(());
        }
        child.rebase(RebaseOnto::Parent(&parent.snapshot()), OnConflict::Markers).unwrap();
        make(&mut child, &more);
        child.undo_to(Revision(ours.len().min(child.revision().0 as usize) as u64)).unwrap();
        same(&child, &Branch::restore(base.clone(), child.steps()).unwrap())?;
        child.committed();
        prop_assert_eq!(everything(&child.snapshot()), everything(&*base));
        let base: Arc<dyn View> = base;
        same(&child, &Branch::restore(base, child.steps()).unwrap())?;
    }

    /// Whatever became of the base: a commit is refused over nothing but what is told as a conflict.
    #[cfg(unix)]
    #[test]
    fn what_is_no_conflict_can_be_committed(ours in some(), other in some(), is_undone in any::<bool>()) {
        use crate::committed::{expected_is_there, memory};
        let base = Arc::new(Moving::new(Model::base().memory()));
        let mut branch = Branch::new(base.clone());
        make(&mut branch, &ours);
        if is_undone {
            base.set(memory(&branch.snapshot()));
            branch.committed();
        }
        let mut others = Branch::new(Arc::new(memory(&*base)));
        make(&mut others, &other);
        base.set(memory(&others.snapshot()));
        if is_undone {
            branch.undo_to(Revision(0)).unwrap();
        }
        if branch.conflicts(None).unwrap().is_empty() {
            expected_is_there(&branch, &base)?;
        }
        if kept(&mut branch)? {
            expected_is_there(&branch, &base)?;
        }
    }
}
