//! Onto a newer snapshot of the parent: the trees are merged, and contents only where both sides have one.

use std::{borrow::Cow, sync::Arc};

use super::{
    Conflict, Draft, OnConflict,
    merge::{Outcome, kind, merge},
};
use crate::{
    EditError, FileKind, Origin, Snapshot, WorkspacePath,
    branch::{
        changes::differing,
        edit::unreachable,
        history::State,
        origin::{self, Origins, is_missing},
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
    let tree = parent_state.tree.rooted(root);
    tree.expect_not_too_deep(&WorkspacePath::root())?;
    // What the parent has not any more, as after its commit, but the branch edited further: it was merged
    // with what the base has now.
    let orphans = own_state.origins.keys().filter(|it| tree.says(it).is_some()).cloned();
    draft.state.origins = origin::record(&draft.state.origins, &parent_state.tree, orphans)?;
    draft.state.tree = tree;
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
    /// All three must be over the base, or none.
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
            match self.entry(&at.child(name), entries, own.shows_base)? {
                Chosen::Parent => {}
                Chosen::Own => match entries[1] {
                    Some(node) => result.insert(name, Node::clone(node)),
                    None => drop(result.entries.remove_mut(name)),
                },
                Chosen::New(node) => result.replace(name, node),
            }
        }
        Ok(result)
    }

    /// `shows_base` says what silence means.
    fn entry(
        &mut self,
        path: &WorkspacePath,
        entries: [Entry<'_>; 3],
        shows_base: bool,
    ) -> Result<Chosen, EditError> {
        let [fork, own, parent] = entries;
        if is_same(parent, fork) {
            return Ok(Chosen::Own);
        }
        if is_same(parent, own) || is_same(own, fork) {
            return Ok(Chosen::Parent);
        }
        let [fork, own, parent] = entries.map(|it| self.directory(path, it, shows_base));
        if let (Some(own), Some(parent)) = (own?, parent?)
            && own.shows_base == parent.shows_base
        {
            let silent = if own.shows_base { Directory::over() } else { Directory::opaque() };
            let fork = fork?.filter(|it| it.shows_base == own.shows_base);
            let fork = fork.as_deref().unwrap_or(&silent);
            return Ok(Chosen::New(Node::Directory(self.directories(path, fork, &own, &parent)?)));
        }
        self.contents(path)
    }

    /// The directory that an entry is, if it is one: also that of the base, where it shows.
    fn directory<'e>(
        &self,
        path: &WorkspacePath,
        entry: Entry<'e>,
        shows_base: bool,
    ) -> Result<Option<Cow<'e, Directory>>, EditError> {
        match entry.map(|it| &**it) {
            Some(Node::Directory(directory)) => Ok(Some(Cow::Borrowed(directory))),
            Some(_) => Ok(None),
            None if !shows_base => Ok(None),
            None => match self.own.tree().base.metadata(path) {
                Ok(it) => Ok((it.kind == FileKind::Directory).then(|| Cow::Owned(Directory::over()))),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(unreachable(path, error)),
            },
        }
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
        let is_base = matches!(self.fork.tree().find(path), Ok(Found::Base));
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
