//! Two branches of one base as one, for reading: nothing of it is stored.

use std::sync::Arc;

use super::{Conflict, MergeOptions, OnConflict, RebaseError, SyntaxMerge, onto_parent};
use crate::{Snapshot, WorkspacePath};

/// Merge of two branches.
pub struct Merged {
    /// Both branches' edits over their common ancestor; where they conflict, the first branch's.
    pub snapshot: Snapshot,
    /// Files that have the changes of both.
    pub merged: Vec<WorkspacePath>,
    /// Files of `merged` that were merged by syntax, since a merge by lines failed.
    pub merged_by_syntax: Vec<WorkspacePath>,
    /// `here` and `ours` are the first branch.
    pub conflicts: Vec<Conflict>,
}

impl Snapshot {
    /// State that all of `snapshots` come from: their fork point if they have it in common, or else the base.
    pub fn common_ancestor(snapshots: &[Self]) -> Option<Self> {
        let first = snapshots.first()?.fork_point();
        let is_first = |it: &Self| Arc::ptr_eq(&it.state().fork.tree.root, &first.tree().root);
        Some(if snapshots.iter().all(is_first) { first } else { first.base_of() })
    }

    /// Returns the same edits, as if they had been made since `ancestor`.
    #[must_use]
    pub fn since(&self, ancestor: &Self) -> Self {
        let mut state = self.state().clone();
        state.fork = Arc::new(ancestor.state().as_fork_point());
        Self::new(state, self.revision())
    }

    /// Merges what this branch and `other` changed since `ancestor`, from which both come.
    pub fn merged(
        &self,
        other: &Self,
        ancestor: &Self,
        by_syntax: Option<SyntaxMerge>,
    ) -> Result<Merged, RebaseError> {
        let base = &self.tree().base;
        if [other, ancestor].iter().any(|it| !Arc::ptr_eq(&it.tree().base, base)) {
            return Err(RebaseError::OtherBase);
        }
        let options = MergeOptions { by_syntax, ..OnConflict::KeepOurs.into() };
        let draft = onto_parent::rebase(ancestor, self, other, options)?;
        let snapshot = Self::new(draft.state, self.revision()).since(ancestor);
        let (merged, merged_by_syntax) = (draft.merged, draft.merged_by_syntax);
        Ok(Merged { snapshot, merged, merged_by_syntax, conflicts: draft.conflicts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Branch, ConflictKind, Memory, View as _};

    const TEXT: &str = "1\n2\n3\n4\n5\n";

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    fn branches() -> [Branch; 2] {
        let base = Arc::new(Memory::from_files([("a", TEXT), ("d/x", "x\n"), ("d/y", "y\n")]).unwrap());
        [Branch::new(base.clone()), Branch::new(base)]
    }

    fn write(branch: &mut Branch, at: &str, text: &str) {
        branch.write(&path(at), text.to_owned().into()).unwrap();
    }

    /// Both directions of a merge.
    fn both_ways([one, two]: &[Branch; 2]) -> [Merged; 2] {
        let snapshots = [one.snapshot(), two.snapshot()];
        let ancestor = Snapshot::common_ancestor(&snapshots).unwrap();
        let [one, two] = snapshots;
        [one.merged(&two, &ancestor, None).unwrap(), two.merged(&one, &ancestor, None).unwrap()]
    }

    #[test]
    fn edits_of_different_files_are_the_same_in_both_directions() {
        let mut both = branches();
        both[0].remove(&path("d/x")).unwrap();
        write(&mut both[0], "d/new", "new\n");
        write(&mut both[1], "d/y", "other\n");
        write(&mut both[1], "e/z", "z\n");
        let [one, two] = both_ways(&both);
        assert!(one.conflicts.is_empty() && two.conflicts.is_empty());
        assert_eq!(one.snapshot.changed_paths(&two.snapshot), []);
        let names = |it: &Merged| it.snapshot.list(&path("d")).unwrap().entries;
        assert_eq!(names(&one).iter().map(|it| &*it.name).collect::<Vec<_>>(), ["new", "y"]);
        assert_eq!(&one.snapshot.read(&path("e/z")).unwrap()[..], b"z\n");
        let fork = one.snapshot.fork_point();
        assert_eq!(&fork.read(&path("d/x")).unwrap()[..], b"x\n", "the ancestor is what is compared with");
    }

    #[test]
    fn changes_of_different_lines_are_merged_in_both_directions() {
        let mut both = branches();
        write(&mut both[0], "a", &TEXT.replace('1', "one"));
        write(&mut both[1], "a", &TEXT.replace('5', "five"));
        for merged in both_ways(&both) {
            assert_eq!(&merged.snapshot.read(&path("a")).unwrap()[..], b"one\n2\n3\n4\nfive\n");
            assert_eq!((merged.merged, merged.conflicts), (vec![path("a")], vec![]));
        }
    }

    #[test]
    fn conflicts_are_symmetrical() {
        let mut both = branches();
        write(&mut both[0], "a", &TEXT.replace('3', "one's"));
        write(&mut both[1], "a", &TEXT.replace('3', "two's"));
        both[0].remove(&path("d/x")).unwrap();
        write(&mut both[1], "d/x", "changed\n");
        let [one, two] = both_ways(&both).map(|it| it.conflicts);
        let kinds = |it: &[Conflict]| it.iter().map(|it| (it.path.to_string(), it.kind)).collect::<Vec<_>>();
        let content = ("a".to_owned(), ConflictKind::Content);
        assert_eq!(kinds(&one), [content.clone(), ("d/x".to_owned(), ConflictKind::DeletedHere)]);
        assert_eq!(kinds(&two), [content, ("d/x".to_owned(), ConflictKind::DeletedThere)]);
        let (hunk, mirrored) = (&one[0].hunks[0], &two[0].hunks[0]);
        assert_eq!((&*hunk.ours, &*hunk.theirs), ("one's\n", "two's\n"));
        assert_eq!((&hunk.ours, &hunk.theirs), (&mirrored.theirs, &mirrored.ours));
    }

    #[test]
    fn a_forks_ancestor_is_what_it_was_forked_from() {
        let [mut parent, other] = branches();
        write(&mut parent, "a", "parent\n");
        let (one, two) = (parent.fork().snapshot(), parent.fork().snapshot());
        let ancestor = Snapshot::common_ancestor(&[one.clone(), two]).unwrap();
        assert_eq!(&ancestor.read(&path("a")).unwrap()[..], b"parent\n");
        let ancestor = Snapshot::common_ancestor(&[one.clone(), parent.snapshot()]).unwrap();
        assert_eq!(&ancestor.read(&path("a")).unwrap()[..], TEXT.as_bytes());
        let elsewhere = branches()[0].snapshot();
        assert!(matches!(one.merged(&elsewhere, &ancestor, None), Err(RebaseError::OtherBase)));
        drop(other);
    }
}
