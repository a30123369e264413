//! Earlier states of a branch as it knew them, though the base has changed since.

use super::onto_base::differing;
use crate::{
    EditError, Snapshot, WorkspacePath,
    branch::{
        history::State,
        tree::{Found, Node, Parents},
    },
};

impl Snapshot {
    /// An earlier state, such as the [fork point](Self::fork_point), with what the base had at each path when the branch first touched
    /// it: a difference from there shows no change of the base as taken back. The paths are those that the base has changed since,
    /// to something else than the branch has.
    pub fn as_touched(&self, earlier: &Self) -> Result<(Self, Vec<WorkspacePath>), EditError> {
        let (mut tree, mut outdated) = (earlier.tree().clone(), Vec::new());
        for it in differing(self)? {
            let is_shown = matches!(earlier.tree().find(&it.path), Ok(Found::Base));
            if it.ours == it.theirs || it.ancestor == it.theirs || !is_shown {
                continue;
            }
            if let Some(node) = Node::of(&it.ancestor) {
                tree = tree.with(&it.path, Some(node), Parents::Create)?;
            }
            outdated.push(it.path);
        }
        let state = State { tree, ..earlier.state().clone() };
        Ok((Self::new(state, earlier.revision()), outdated))
    }
}
