//! Onto a newer snapshot of the parent: the trees are merged, and contents only where both sides have one.

use std::{borrow::Cow, sync::Arc};

use super::{
    Conflict, Draft, MergeOptions, RebaseError,
    merge::{Outcome, kind, merge},
    resolution::{resolved, undecided},
};
use crate::{
    EditError, FileKind, Origin, Snapshot, WorkspacePath,
    branch::{
        changes::differing,
        edit::unreachable,
        history::State,
        origin::{self, Origins, is_missing},
        tree::{Directory, Found, Node, Side},
    },
};

/// Merges what `own` and `parent` changed since `fork`, which both come from.
pub(super) fn rebase(
    fork: &Snapshot,
    own: &Snapshot,
    parent: &Snapshot,
    options: MergeOptions<'_>,
) -> Result<Draft, RebaseError> {
    let (own_state, parent_state) = (own.state(), parent.state());
    let mut draft = Draft::new(State {
        tree: parent_state.tree.clone(),
        origins: merged_origins(&fork.state().origins, &own_state.origins, &parent_state.origins),
        fork: Arc::new(parent_state.as_fork_point()),
        permissions: own_state
            .permissions
            .iter()
            .fold(parent_state.permissions.clone(), |kept, (path, it)| kept.insert(path.clone(), *it)),
        repository: own_state.repository.clone(),
    });
    let [fork, own, parent] = [fork, own, parent].map(Snapshot::saved);
    let roots = [&fork, &own, &parent].map(|it| &*it.tree().root);
    let mut merger = Merger { fork: &fork, own: &own, parent: &parent, options, draft: &mut draft };
    let root = merger.directories(&WorkspacePath::root(), roots[0], roots[1], roots[2])?;
    let tree = parent_state.tree.rooted(root);
    tree.expect_not_too_deep(&WorkspacePath::root())?;
    // Paths that the parent has no longer, as after its commit, but that the branch edited further: these were merged
    // with the base's present state.
    let orphans = own_state.origins.keys().filter(|it| tree.says(it).is_some()).cloned();
    draft.state.origins = origin::record(&draft.state.origins, &parent_state.tree, orphans)?;
    draft.state.tree = tree;
    Ok(draft)
}

/// Takes the other side's origin where one side has no change. Where both touched a path first, the parent's origin
/// is the one that its content is made on.
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
    options: MergeOptions<'a>,
    draft: &'a mut Draft,
}

impl Merger<'_> {
    /// `fork` and `own` must both be over the base, or neither. `parent` may be over the base where they
    /// are not, if it was committed.
    fn directories(
        &mut self,
        at: &WorkspacePath,
        fork: &Directory,
        own: &Directory,
        parent: &Directory,
    ) -> Result<Directory, RebaseError> {
        let mut result = parent.clone();
        for (name, fork_side, own_side) in differing(fork, own) {
            match self.entry(&at.child(name), [fork_side, own_side, parent.side(name)])? {
                Chosen::Parent => {}
                Chosen::Own => result.put(name, &own.side(name)),
                Chosen::New(node) => result.replace(name, node),
            }
        }
        Ok(result)
    }

    fn entry(&mut self, path: &WorkspacePath, sides: [Side<'_>; 3]) -> Result<Chosen, RebaseError> {
        let [fork, own, parent] = &sides;
        if self.is_same(path, parent, fork)? {
            return Ok(Chosen::Own);
        }
        if self.is_same(path, parent, own)? || self.is_same(path, own, fork)? {
            return Ok(Chosen::Parent);
        }
        let is_base = matches!(parent, Side::Base);
        let [fork, own, parent] = [fork, own, parent].map(|it| self.directory(path, it));
        let fork = fork?;
        if let (Some(own), Some(parent)) = (own?, parent?) {
            // Entries with which the fork point hid the base are in the base now.
            let is_committed = parent.shows_base && fork.as_ref().is_some_and(|it| !it.shows_base);
            if own.shows_base == parent.shows_base || is_committed {
                let silent = if own.shows_base { Directory::over() } else { Directory::opaque() };
                let fork = fork.filter(|it| it.shows_base == own.shows_base);
                let fork = fork.as_deref().unwrap_or(&silent);
                return Ok(Chosen::New(Node::Directory(self.directories(path, fork, &own, &parent)?)));
            }
        }
        if is_base && self.has_become_base(path)? {
            return Ok(Chosen::Own);
        }
        self.contents(path)
    }

    /// Whether the base now has the fork point's state of `path`: the parent was committed.
    fn has_become_base(&self, path: &WorkspacePath) -> Result<bool, EditError> {
        let (tree, base) = (self.fork.tree(), &*self.own.tree().base);
        let failed = |error| unreachable(path, error);
        let Some(directory) = tree.held_directory(path) else {
            return tree.says(path).map_or(Ok(true), |it| it.holds(base, path).map_err(failed));
        };
        if self.kind_in_base(path)? != Some(FileKind::Directory) {
            return Ok(false);
        }
        if !directory.shows_base {
            let listing = base.list(path).map_err(failed)?;
            let is_strange = |name: &str| !directory.entries.contains_key(name);
            if listing.not_utf8 > 0 || listing.entries.iter().any(|it| is_strange(&it.name)) {
                return Ok(false);
            }
        }
        for name in directory.entries.keys() {
            if !self.has_become_base(&path.child(name))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether both surely have the same content.
    fn is_same(&self, path: &WorkspacePath, a: &Side<'_>, b: &Side<'_>) -> Result<bool, EditError> {
        Ok(match (a, b) {
            (Side::Nothing, Side::Nothing) | (Side::Base, Side::Base) => true,
            (Side::Held(a), Side::Held(b)) => std::ptr::eq(*a, *b) || a.is_same(b),
            (Side::Nothing, Side::Base) | (Side::Base, Side::Nothing) => self.kind_in_base(path)?.is_none(),
            _ => false,
        })
    }

    /// The directory that a side is, if it is one: also that of the base, where it shows.
    fn directory<'s>(
        &self,
        path: &WorkspacePath,
        side: &Side<'s>,
    ) -> Result<Option<Cow<'s, Directory>>, EditError> {
        Ok(match side {
            Side::Held(Node::Directory(directory)) => Some(Cow::Borrowed(directory)),
            Side::Held(_) | Side::Nothing => None,
            Side::Base => {
                let is_directory = self.kind_in_base(path)? == Some(FileKind::Directory);
                is_directory.then(|| Cow::Owned(Directory::over()))
            }
        })
    }

    fn kind_in_base(&self, path: &WorkspacePath) -> Result<Option<FileKind>, EditError> {
        match self.own.tree().base.metadata(path) {
            Ok(it) => Ok(Some(it.kind)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(unreachable(path, error)),
        }
    }

    fn contents(&mut self, path: &WorkspacePath) -> Result<Chosen, RebaseError> {
        let look = |it: &Snapshot| Origin::look(it, path).map_err(|error| unreachable(path, error));
        let (ours, theirs) = (look(self.own)?, look(self.parent)?);
        let ancestor = self.ancestor(path)?;
        let outcome = match (&ours, &theirs) {
            // There are edits in it, or it is another directory than the other side's.
            (Origin::Directory, _) | (_, Origin::Directory) => {
                Outcome::Conflict { kind: kind(&ours, &theirs), marked: None, hunks: Vec::new() }
            }
            _ => merge(path, [&ancestor, &ours, &theirs], self.options.by_syntax),
        };
        let origins = [&ancestor, &ours, &theirs];
        let outcome = resolved(outcome, path, origins, self.options, self.draft)?;
        Ok(match outcome {
            Outcome::Theirs => Chosen::Parent,
            Outcome::Ours => Chosen::Own,
            Outcome::File { bytes, executable, by_syntax } => {
                self.draft.add_merged(path, by_syntax);
                Chosen::New(Node::file(bytes, executable))
            }
            Outcome::Conflict { kind, marked, hunks } => {
                let node = undecided(marked, hunks.len(), origins, self.options.on_conflict);
                self.draft.conflicts.push(Conflict { path: path.clone(), kind, hunks });
                node.map_or(Chosen::Own, Chosen::New)
            }
        })
    }

    /// Returns the common ancestor of both sides. Where that was the base, it is the base's state of that time.
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
