//! Onto the base as it is now: each touched path is looked at again.

use std::io;

use super::{
    Conflict, ConflictKind, Draft, MergeOptions, RebaseError, Resolution, Side, SyntaxMerge,
    merge::{Outcome, merge},
    resolution::{resolved, undecided},
};
use crate::{
    EditError, Origin, Snapshot, View, WorkspacePath,
    branch::{
        edit::unreachable,
        history::State,
        origin::{self, is_missing},
        tree::{Directory, Found, Node, Parents},
    },
};

pub(super) fn rebase(snapshot: &Snapshot, options: MergeOptions<'_>) -> Result<Draft, RebaseError> {
    let mut draft = Draft::new(snapshot.state().clone());
    for touched in differing(&snapshot.saved())? {
        let Touched { path, theirs, .. } = &touched;
        let mut outcome = touched.outcome(options.by_syntax);
        let origins = [&touched.ancestor, &touched.ours, theirs];
        // Theirs has no room where the branch has something else on the way.
        let keeps_ours =
            options.resolutions.is_some_and(|it| it.get(path) == Some(&Resolution::All(Side::Ours)));
        if !touched.is_blocked || keeps_ours {
            outcome = resolved(outcome, path, origins, options, &mut draft)?;
        }
        let node = match outcome {
            Outcome::Theirs => {
                drop_edit(&mut draft.state, &touched)?;
                draft.dropped.push(path.clone());
                continue;
            }
            // In a directory that was opened just now the base would show.
            Outcome::Ours => {
                let is_hidden = touched.ours == Origin::Missing && *theirs != Origin::Missing;
                (is_hidden && draft.state.tree.shows_base_at(path)).then_some(Node::Whiteout)
            }
            Outcome::File { bytes, executable, by_syntax } => {
                draft.add_merged(path, by_syntax);
                Some(Node::file(bytes, executable))
            }
            Outcome::Conflict { kind, marked, hunks } => {
                let node = undecided(marked, hunks.len(), origins, options.on_conflict);
                let conflict = Conflict { path: path.clone(), kind, hunks };
                if touched.hides_new(&*snapshot.tree().base)? {
                    draft.undecidable.push(conflict.clone());
                }
                draft.conflicts.push(conflict);
                node
            }
        };
        if let Some(node) = node {
            draft.state.tree = draft.state.tree.with(path, Some(node), Parents::Require)?;
        }
        draft.state.origins.insert_mut(path.clone(), theirs.clone());
        // An entry in the place of one of their directories also takes the place of all that is in it.
        if *theirs == Origin::Directory && touched.ours != Origin::Directory {
            let below = snapshot.tree().blank().taken(path)?.origins;
            draft.state.origins = origin::record_known(draft.state.origins, below);
        }
    }
    Ok(draft)
}

pub(super) fn conflicts(
    snapshot: &Snapshot,
    by_syntax: Option<SyntaxMerge>,
) -> Result<Vec<Conflict>, EditError> {
    let touched = differing(&snapshot.saved())?.into_iter().filter(|it| it.ours != it.theirs);
    let conflict = |it: Touched| {
        let (kind, hunks) = match it.outcome(by_syntax) {
            Outcome::Conflict { kind, hunks, .. } => (kind, hunks),
            Outcome::Theirs | Outcome::Ours | Outcome::File { .. } => (ConflictKind::Mergeable, Vec::new()),
        };
        Conflict { path: it.path, kind, hunks }
    };
    Ok(touched.map(conflict).collect())
}

/// A touched path at which the base is not any more as it was, or what came to a place that is hidden.
pub(super) struct Touched {
    pub(super) path: WorkspacePath,
    pub(super) ancestor: Origin,
    pub(super) ours: Origin,
    pub(super) theirs: Origin,
    /// The branch has something other than a directory on the way.
    is_blocked: bool,
}

pub(super) fn differing(snapshot: &Snapshot) -> Result<Vec<Touched>, EditError> {
    let base = &*snapshot.tree().base;
    let parent = &snapshot.state().fork.tree;
    let mut touched = Vec::new();
    for (path, ancestor) in snapshot.origins() {
        let failed = |error| unreachable(path, error);
        if *ancestor == Origin::Directory {
            add_late(snapshot, path, &mut touched)?;
        }
        if ancestor.holds(base, path).map_err(failed)? {
            continue;
        }
        let it = Touched::look(snapshot, path, ancestor)?;
        // The parent was committed: the branch goes on from what it had from there.
        let are_directories = it.ours == Origin::Directory && it.theirs == Origin::Directory;
        let is_parents = !are_directories && parent.says(path).is_some_and(|says| says == it.theirs);
        // Entries of their directory are hidden if the branch has moved one of its own there.
        if are_directories || (is_parents && it.theirs == Origin::Directory) {
            add_late(snapshot, path, &mut touched)?;
        }
        let ancestor = if is_parents { it.theirs.clone() } else { it.ancestor };
        touched.push(Touched { ancestor, ..it });
    }
    add_replaced(snapshot, &WorkspacePath::root(), &snapshot.tree().root, &mut touched)?;
    touched.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(touched)
}

/// The directories of the base that the branch only has edits in, and that became something else.
fn add_replaced(
    snapshot: &Snapshot,
    at: &WorkspacePath,
    directory: &Directory,
    touched: &mut Vec<Touched>,
) -> Result<(), EditError> {
    for (name, node) in &directory.entries {
        let Node::Directory(below) = &**node else { continue };
        let path = at.child(name);
        if below.shows_base && !snapshot.state().origins.contains_key(&path) {
            let it = Touched::look(snapshot, &path, &Origin::Directory)?;
            if !matches!(it.theirs, Origin::Directory | Origin::Missing) {
                touched.push(it);
                continue;
            }
        }
        add_replaced(snapshot, &path, below, touched)?;
    }
    Ok(())
}

/// Adds the entries that the base got in a directory after the branch removed or moved it, and so never saw.
fn add_late(
    snapshot: &Snapshot,
    directory: &WorkspacePath,
    touched: &mut Vec<Touched>,
) -> Result<(), EditError> {
    match snapshot.tree().find(directory) {
        Ok(Found::Base) => return Ok(()),
        Ok(Found::Directory(it)) if it.shows_base => return Ok(()),
        _ => {}
    }
    let listing = match snapshot.tree().base.list(directory) {
        Err(error) if is_missing(&error) => return Ok(()),
        listing => listing.map_err(|error| unreachable(directory, error))?,
    };
    for path in listing.entries.iter().map(|it| directory.child(&it.name)) {
        if !snapshot.state().origins.contains_key(&path) {
            touched.push(Touched::look(snapshot, &path, &Origin::Missing)?);
        }
    }
    Ok(())
}

impl Touched {
    fn look(snapshot: &Snapshot, path: &WorkspacePath, ancestor: &Origin) -> Result<Self, EditError> {
        let failed = |error| unreachable(path, error);
        let theirs = Origin::look(&*snapshot.tree().base, path).map_err(failed)?;
        let ours = Origin::look(snapshot, path).map_err(failed)?;
        let found = snapshot.tree().find(path).map(drop);
        let is_blocked = found.is_err_and(|error| error.kind() == io::ErrorKind::NotADirectory);
        Ok(Self { path: path.clone(), ancestor: ancestor.clone(), ours, theirs, is_blocked })
    }

    fn outcome(&self, by_syntax: Option<SyntaxMerge>) -> Outcome {
        match self.merged(by_syntax) {
            Outcome::Theirs if self.is_blocked && self.theirs != Origin::Missing => {
                Outcome::Conflict { kind: ConflictKind::TypeChanged, marked: None, hunks: Vec::new() }
            }
            outcome => outcome,
        }
    }

    /// Whether the branch has something else than a directory where the base got a directory with entries, or an entry
    /// in one.
    fn hides_new(&self, base: &dyn View) -> Result<bool, EditError> {
        if self.theirs != Origin::Directory || self.ours == Origin::Missing {
            return Ok(self.is_blocked && self.ancestor == Origin::Missing && self.theirs != Origin::Missing);
        }
        let listing = base.list(&self.path).map_err(|error| unreachable(&self.path, error))?;
        Ok(self.ours != Origin::Directory && (!listing.entries.is_empty() || listing.not_utf8 > 0))
    }

    fn merged(&self, by_syntax: Option<SyntaxMerge>) -> Outcome {
        match (&self.ours, &self.theirs) {
            (_, theirs) if *theirs == self.ancestor => Outcome::Ours,
            (Origin::Directory, Origin::Directory) => Outcome::Theirs,
            // There may be edits in it.
            (Origin::Directory, Origin::Missing) => {
                Outcome::Conflict { kind: ConflictKind::DeletedThere, marked: None, hunks: Vec::new() }
            }
            (Origin::Directory, _) => {
                Outcome::Conflict { kind: ConflictKind::TypeChanged, marked: None, hunks: Vec::new() }
            }
            (ours, theirs) => merge(&self.path, [&self.ancestor, ours, theirs], by_syntax),
        }
    }
}

/// Shows what the base has. A directory that both made shows the files of both.
///
/// If the base is hidden, as in a directory that was moved, an edit with the same content takes its place.
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
        // A directory that was removed comes back for what came into it.
        state.tree = state.tree.with(path, node, Parents::Create)?;
    }
    state.origins.insert_mut(path.clone(), theirs.clone());
    Ok(())
}
