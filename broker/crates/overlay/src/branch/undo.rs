//! Earlier states, over a base that the branch itself has changed since.
//!
//! A state is edits over the base as it was then. After a commit the base has what was committed, so that
//! an earlier state has to bring along what the commit replaced: the origins of the state that was committed. What others changed
//! in the base before the commit is in these, and stays.

use std::{collections::HashMap, sync::Arc};

use super::{
    Branch, EditError, Origin, Revision, Snapshot, State,
    history::{ForkPoint, StepKind},
    origin::Origins,
    rebase::merge::{Outcome, merge},
    tree::{Found, Node, Tree},
};
use crate::WorkspacePath;

impl Branch {
    /// The branch as it was at `revision`, commits since then put aside; `None` if that is ahead, or too
    /// long ago to be kept.
    pub fn at(&self, revision: Revision) -> Option<Snapshot> {
        self.state_at(revision).map(|state| Snapshot::new(state, revision))
    }

    /// Makes a new revision that is as `revision` was. So undoing can be undone.
    ///
    /// Commits since then are edited back, and another commit writes that. It expects the files of the last commit,
    /// so that a later change by another program is a conflict.
    pub fn undo_to(&mut self, revision: Revision) -> Result<Revision, EditError> {
        let mut there = self.state_at(revision).ok_or(EditError::NoSuchRevision(revision))?;
        there.permissions = self.state().permissions.clone();
        there.tree.expect_not_too_deep(&WorkspacePath::root())?;
        let paths = self.snapshot().changed_paths(&Snapshot::new(there.clone(), revision));
        let what = format!("undo to revision {revision}");
        Ok(self.record_step(there, StepKind::Undo(revision), &what, paths))
    }

    /// The revision that the next step back leads to: the one before the newest edit that is not undone. `None` at the
    /// start.
    pub fn step_back(&self) -> Option<Revision> {
        let mut shown = self.revision();
        let earlier = |it: Revision| match self.history.at(it)?.entry.kind {
            StepKind::Undo(to) => Some(to).filter(|to| *to < it),
            StepKind::Edit | StepKind::Commit => None,
        };
        while let Some(revision) = earlier(shown) {
            shown = revision;
        }
        shown.0.checked_sub(1).map(Revision)
    }

    /// The revisions that an undo put aside and that can be returned to, as they were. Oldest first.
    pub fn undone(&self) -> Vec<Snapshot> {
        let steps = self.history.iter().map(|it| &it.entry);
        let undos = steps.clone().filter_map(|it| match it.kind {
            StepKind::Undo(to) => Some((to, it.revision)),
            StepKind::Edit | StepKind::Commit => None,
        });
        let undos: Vec<_> = undos.collect();
        let is_undone = |it: &Revision| undos.iter().any(|(to, by)| to < it && it < by);
        steps.map(|it| it.revision).filter(is_undone).filter_map(|it| self.at(it)).collect()
    }

    fn state_at(&self, revision: Revision) -> Option<State> {
        let state = self.history.at(revision)?.state.clone();
        let later = self.history.iter().skip_while(|it| it.entry.revision < revision);
        let pairs = later.clone().zip(later.skip(1));
        let commits = pairs.filter(|(_, after)| after.entry.kind == StepKind::Commit);
        let commits = commits.map(|(before, after)| changes_of(&before.state, &after.state));
        Some(commits.fold(state, |state, changes| state.before(&changes)))
    }
}

impl State {
    /// Returns this state over a base that a later commit changed.
    fn before(&self, changes: &[Changed<'_>]) -> Self {
        let (tree, origins) = put_back(&self.tree, &self.origins, changes);
        let fork = &self.fork;
        let fork = if fork.tree.is_blank() {
            // The base, whatever it has.
            fork.clone()
        } else if Arc::ptr_eq(&self.tree.root, &fork.tree.root) {
            Arc::new(ForkPoint { tree: tree.clone(), origins: origins.clone() })
        } else {
            let (tree, origins) = put_back(&fork.tree, &fork.origins, changes);
            Arc::new(ForkPoint { tree, origins })
        };
        Self {
            tree,
            origins,
            fork,
            permissions: self.permissions.clone(),
            repository: self.repository.clone(),
        }
    }
}

/// A change that a commit made in the base.
struct Changed<'a> {
    path: &'a WorkspacePath,
    before: &'a Origin,
    after: Origin,
    /// Path in the base to which the entry was moved.
    went_to: Option<&'a WorkspacePath>,
}

/// Returns the changes of the base by the step from `committed` to `after`. Computed from the edits alone: every path
/// that an edit changes has an origin. Sorted.
fn changes_of<'s>(committed: &'s State, after: &State) -> Vec<Changed<'s>> {
    let tree = &committed.tree;
    let mut changes = Vec::new();
    let mut moves = HashMap::new();
    for (path, before) in &committed.origins {
        let Some(now) = tree.says(path).filter(|it| it != before) else { continue };
        // The commit left it.
        if after.origins.contains_key(path) {
            continue;
        }
        if now != Origin::Missing {
            moves.insert(tree.came_from(path), path);
        }
        changes.push(Changed { path, before, after: now, went_to: None });
    }
    for change in &mut changes {
        change.went_to = moves.get(change.path).copied().filter(|it| *it != change.path);
    }
    changes
}

fn put_back(tree: &Tree, origins: &Origins, changes: &[Changed<'_>]) -> (Tree, Origins) {
    let (mut result, mut origins) = (tree.clone(), origins.clone());
    for Changed { path, before, after, went_to } in changes {
        // Entries that are hidden already, like all below another change, need no edit that hides them.
        let is_needed = **before != Origin::Missing || matches!(result.find(path), Ok(Found::Base));
        if is_needed
            && matches!(tree.find(path), Ok(Found::Base))
            && let Some(node) = Node::of(before)
        {
            let node = went_to.iter().fold(node, |node, place| node.moved_from((*place).clone()));
            result = result.laid(path, node).unwrap_or(result);
        }
        let rest = match (origins.get(*path), tree.says(path)) {
            (Some(origin), Some(ours)) if origin != *before => since_touched([origin, &ours, before], path),
            _ => Since::Same,
        };
        // A commit of what is in conflict is refused, whatever the base has then.
        let is_conflict = matches!(rest, Since::Conflict) && tree.says(path).as_ref() != Some(after);
        if let Since::Merged(node) = rest {
            result = result.laid(path, node).unwrap_or(result);
        }
        let origin = if is_conflict { Origin::Other } else { after.clone() };
        origins.insert_mut((*path).clone(), origin);
    }
    (result, origins)
}

/// Effect on an edited path of what others changed in the base between the edit and a commit. The commit went on from that.
enum Since {
    Same,
    Merged(Node),
    Conflict,
}

/// Brings what others changed into the state that the edit left, from `[origin, ours, before the commit]`.
fn since_touched(sides: [&Origin; 3], path: &WorkspacePath) -> Since {
    if *sides[1] == Origin::Directory {
        return Since::Same;
    }
    match merge(path, sides, None) {
        Outcome::Ours => Since::Same,
        Outcome::Theirs if sides[1] == sides[2] => Since::Same,
        Outcome::Theirs => Node::of(sides[2]).map_or(Since::Conflict, Since::Merged),
        Outcome::File { bytes, executable, .. } => Since::Merged(Node::file(bytes, executable)),
        Outcome::Conflict { .. } => Since::Conflict,
    }
}

#[cfg(test)]
mod tests;
