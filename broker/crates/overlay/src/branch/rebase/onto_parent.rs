//! Onto a newer snapshot of the parent: the trees are merged, and contents only where both sides have one.

use std::sync::Arc;

use super::{
    Conflict, Draft, OnConflict,
    merge::{Outcome, kind, merge},
};
use crate::{
    EditError, Origin, Snapshot, WorkspacePath,
    branch::{
        changes::differing,
        edit::unreachable,
        history::State,
        origin::Origins,
        tree::{Directory, Found, Node},
    },
};

pub(super) fn rebase(own: &Snapshot, parent: &Snapshot, on_conflict: OnConflict) -> Result<Draft, EditError> {
    let fork = own.fork_point();
    let (own_state, parent_state) = (own.state(), parent.state());
    let mut draft = Draft::new(State {
        tree: parent_state.tree.clone(),
        origins: merged_origins(&fork.state().origins, &own_state.origins, &parent_state.origins),
        fork: Arc::new(parent_state.as_fork_point()),
    });
    let mut merger = Merger { fork: &fork, own, parent, on_conflict, draft: &mut draft };
    let root = merger.directories(
        &WorkspacePath::root(),
        &fork.tree().root,
        &own.tree().root,
        &parent.tree().root,
    )?;
    draft.state.tree = parent_state.tree.rooted(root);
    draft.state.tree.expect_not_too_deep(&WorkspacePath::root())?;
    Ok(draft)
}

/// What one side did not change is as the other has it. Where both touched a path first, the parent's
/// origin is the one that its content is made on.
fn merged_origins(fork: &Origins, own: &Origins, parent: &Origins) -> Origins {
    let mut merged = parent.clone();
    for (path, origin) in own {
        let is_inherited = fork.get(path) == Some(origin);
        if !is_inherited && parent.get(path) == fork.get(path) {
            merged.insert_mut(path.clone(), origin.clone());
        }
    }
    let is_dropped = |path: &&WorkspacePath| !own.contains_key(*path) && parent.get(*path) == fork.get(*path);
    for path in fork.keys().filter(is_dropped) {
        merged.remove_mut(path);
    }
    merged
}

struct Merger<'a> {
    fork: &'a Snapshot,
    own: &'a Snapshot,
    parent: &'a Snapshot,
    on_conflict: OnConflict,
    draft: &'a mut Draft,
}

type Entry<'a> = Option<&'a Arc<Node>>;

impl Merger<'_> {
    /// All three must be over the same directory of the base.
    fn directories(
        &mut self,
        at: &WorkspacePath,
        fork: &Directory,
        own: &Directory,
        parent: &Directory,
    ) -> Result<Directory, EditError> {
        let mut result = parent.clone();
        for (name, _, _) in differing(fork, own) {
            let entries = [fork, own, parent].map(|it| it.entries.get(name));
            match self.entry(&at.child(name), entries)? {
                Chosen::Parent => {}
                Chosen::Own => match entries[1] {
                    Some(node) => result.insert(name, Node::clone(node)),
                    None => drop(result.entries.remove_mut(name)),
                },
                Chosen::New(node) => result.insert(name, node),
            }
        }
        Ok(result)
    }

    fn entry(&mut self, path: &WorkspacePath, entries: [Entry<'_>; 3]) -> Result<Chosen, EditError> {
        let [fork, own, parent] = entries;
        if is_same(parent, fork) {
            return Ok(Chosen::Own);
        }
        if is_same(parent, own) || is_same(own, fork) {
            return Ok(Chosen::Parent);
        }
        if let (Some(Node::Directory(own)), Some(Node::Directory(parent))) =
            (own.map(|it| &**it), parent.map(|it| &**it))
            && own.lower == parent.lower
        {
            let silent = own.lower.clone().map_or_else(Directory::opaque, Directory::over);
            let fork = match fork.map(|it| &**it) {
                Some(Node::Directory(fork)) if fork.lower == own.lower => fork,
                _ => &silent,
            };
            return Ok(Chosen::New(Node::Directory(self.directories(path, fork, own, parent)?)));
        }
        self.contents(path)
    }

    fn contents(&mut self, path: &WorkspacePath) -> Result<Chosen, EditError> {
        let look = |it: &Snapshot| Origin::look(it, path).map_err(|error| unreachable(path, error));
        let (ours, theirs) = (look(self.own)?, look(self.parent)?);
        let outcome = match (&ours, &theirs) {
            // There are edits in it, or it is another directory than the other side's.
            (Origin::Directory, _) | (_, Origin::Directory) => {
                Outcome::Conflict { kind: kind(&ours, &theirs), marked: None }
            }
            _ => merge(&self.ancestor(path)?, &ours, &theirs),
        };
        Ok(match outcome {
            Outcome::Theirs => Chosen::Parent,
            Outcome::Ours => Chosen::Own,
            Outcome::File { bytes, executable } => {
                self.draft.merged.push(path.clone());
                Chosen::New(Node::file(bytes, executable))
            }
            Outcome::Conflict { kind, marked } => {
                self.draft.conflicts.push(Conflict { path: path.clone(), kind });
                let marked = marked.filter(|_| self.on_conflict == OnConflict::Markers);
                marked.map_or(Chosen::Own, Chosen::New)
            }
        })
    }

    /// What both sides started from. Where that was the base, it is what the base had then.
    fn ancestor(&self, path: &WorkspacePath) -> Result<Origin, EditError> {
        let is_base = matches!(self.fork.tree().find(path), Ok(Found::Base(lower)) if lower.path == *path);
        match self.own.state().origins.get(path) {
            Some(origin) if is_base => Ok(origin.clone()),
            _ => Origin::look(self.fork, path).map_err(|error| unreachable(path, error)),
        }
    }
}

enum Chosen {
    Parent,
    Own,
    New(Node),
}

/// Whether both surely say the same, silence included.
fn is_same(a: Entry<'_>, b: Entry<'_>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.is_same(b),
        _ => false,
    }
}
