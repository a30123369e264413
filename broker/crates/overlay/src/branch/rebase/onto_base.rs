//! Onto the base as it is now: each touched path is looked at again.

use super::{
    Conflict, ConflictKind, Draft, OnConflict,
    merge::{Outcome, merge},
};
use crate::{
    EditError, Origin, Snapshot, WorkspacePath,
    branch::{
        edit::unreachable,
        history::State,
        tree::{Directory, Node, Parents, Tree},
    },
};

pub(super) fn rebase(snapshot: &Snapshot, on_conflict: OnConflict) -> Result<Draft, EditError> {
    let state = snapshot.state();
    let mut draft = Draft::new(state.clone());
    for touched in differing(snapshot)? {
        let Touched { path, theirs, .. } = &touched;
        let outcome = touched.outcome();
        let node = match outcome {
            Outcome::Theirs => {
                drop_edit(&mut draft.state, &touched)?;
                draft.dropped.push(path.clone());
                continue;
            }
            Outcome::Ours => None,
            Outcome::File { bytes, executable } => {
                draft.merged.push(path.clone());
                Some(Node::file(bytes, executable))
            }
            Outcome::Conflict { kind, marked } => {
                draft.conflicts.push(Conflict { path: path.clone(), kind });
                marked.filter(|_| on_conflict == OnConflict::Markers)
            }
        };
        if let Some(node) = node {
            draft.state.tree = draft.state.tree.with(path, Some(node), Parents::Require)?;
        }
        draft.state.origins.insert_mut(path.clone(), theirs.clone());
    }
    Ok(draft)
}

pub(super) fn conflicts(snapshot: &Snapshot) -> Result<Vec<Conflict>, EditError> {
    let touched = differing(snapshot)?.into_iter().filter(|it| it.ours != it.theirs);
    let conflict = |it: Touched| {
        let kind = match it.outcome() {
            Outcome::Conflict { kind, .. } => kind,
            Outcome::Theirs | Outcome::Ours | Outcome::File { .. } => ConflictKind::Mergeable,
        };
        Conflict { path: it.path, kind }
    };
    Ok(touched.map(conflict).collect())
}

/// A touched path at which the base is not any more as it was.
struct Touched {
    path: WorkspacePath,
    ancestor: Origin,
    ours: Origin,
    theirs: Origin,
}

fn differing(snapshot: &Snapshot) -> Result<Vec<Touched>, EditError> {
    let base = &*snapshot.tree().base;
    let parent = &snapshot.state().fork.tree;
    let mut touched = Vec::new();
    for (path, ancestor) in snapshot.origins() {
        let failed = |error| unreachable(path, error);
        if ancestor.holds(base, path).map_err(failed)? {
            continue;
        }
        let theirs = Origin::look(base, path).map_err(failed)?;
        let ours = Origin::look(snapshot, path).map_err(failed)?;
        // The parent was committed: the branch goes on from what it had from there.
        let is_parents = parent.says(path).is_some_and(|it| it == theirs);
        let ancestor = if is_parents { theirs.clone() } else { ancestor.clone() };
        touched.push(Touched { path: path.clone(), ancestor, ours, theirs });
    }
    Ok(touched)
}

impl Touched {
    fn outcome(&self) -> Outcome {
        match (&self.ours, &self.theirs) {
            (_, theirs) if *theirs == self.ancestor => Outcome::Ours,
            (Origin::Directory, Origin::Directory) => Outcome::Theirs,
            // There may be edits in it.
            (Origin::Directory, Origin::Missing) => {
                Outcome::Conflict { kind: ConflictKind::DeletedThere, marked: None }
            }
            (Origin::Directory, _) => Outcome::Conflict { kind: ConflictKind::TypeChanged, marked: None },
            (ours, theirs) => merge(&self.ancestor, ours, theirs),
        }
    }
}

/// Shows what the base has. A directory that both made shows the files of both.
///
/// Where the base is hidden, as in a directory that was moved, an edit stands for it that has the same.
fn drop_edit(state: &mut State, touched: &Touched) -> Result<(), EditError> {
    let Touched { path, ours, theirs, .. } = touched;
    if let (Origin::Directory, Origin::Directory) = (ours, theirs) {
        if let Some(opened) = state.tree.held_directory(path).and_then(Directory::opened) {
            state.tree = state.tree.with(path, Some(Node::Directory(opened)), Parents::Require)?;
        }
        state.origins.insert_mut(path.clone(), Origin::Directory);
        return Ok(());
    }
    if let Some(tree) = state.tree.without_entry_over_base(path) {
        state.tree = tree;
        state.origins.remove_mut(path);
        return Ok(());
    }
    if ours != theirs {
        let node = match theirs {
            Origin::Missing => None,
            Origin::Directory => Some(Node::Directory(Directory::over())),
            theirs => Node::of(theirs),
        };
        state.tree = replaced(&state.tree, path, node)?;
    }
    state.origins.insert_mut(path.clone(), theirs.clone());
    Ok(())
}

/// Where the branch has no directory to hold the path, there is nothing to show.
fn replaced(tree: &Tree, path: &WorkspacePath, node: Option<Node>) -> Result<Tree, EditError> {
    match tree.with(path, node, Parents::Require) {
        Err(EditError::NotFound(_) | EditError::NotADirectory(_)) => Ok(tree.clone()),
        answer => answer,
    }
}
