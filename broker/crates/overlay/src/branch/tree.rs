//! The persistent tree under a branch: finding what stands at a path, and copying the way to a change.

mod node;

use std::{io, sync::Arc};

pub(super) use node::{Directory, File, Found, Node, Side};

use super::{EditError, Origin, origin::is_missing};
use crate::{FileKind, View, WorkspacePath};

/// Greatest depth of an edit. Renames can nest directories deeper than any path is long, and to drop a tree
/// takes stack in proportion to its depth.
pub(super) const MAX_DEPTH: u32 = 256;

/// A base and what is laid over it. Cloning it copies nothing.
#[derive(Clone)]
pub(super) struct Tree {
    pub(super) base: Arc<dyn View>,
    pub(super) root: Arc<Directory>,
}

/// Treatment of missing directories on the way to an edit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parents {
    Create,
    Require,
}

impl Tree {
    pub(super) fn new(base: Arc<dyn View>) -> Self {
        Self { base, root: Arc::new(Directory::over()) }
    }

    /// The base as a commit finds it: origins are looked up there, not in what editors have not saved.
    pub(super) fn saved(&self) -> Arc<dyn View> {
        self.base.saved().unwrap_or_else(|| self.base.clone())
    }

    /// Finds the node at `path`. It is not known yet whether the base really has an entry at a [`Found::Base`].
    pub(super) fn find(&self, path: &WorkspacePath) -> io::Result<Found<'_>> {
        let mut directory = &*self.root;
        let mut names = path.components();
        while let Some(name) = names.next() {
            match directory.side(name) {
                Side::Held(Node::Directory(next)) => directory = next,
                Side::Held(node) if names.next().is_none() => return Ok(node.found()),
                Side::Held(_) => return Err(io::ErrorKind::NotADirectory.into()),
                Side::Base => return Ok(Found::Base),
                Side::Nothing => return Err(io::ErrorKind::NotFound.into()),
            }
        }
        Ok(Found::Directory(directory))
    }

    /// Whether the base would be seen at `path` without an edit of `path` itself.
    pub(super) fn shows_base_at(&self, path: &WorkspacePath) -> bool {
        match path.parent().map(|it| self.find(&it)) {
            Some(Ok(Found::Base)) => true,
            Some(Ok(Found::Directory(directory))) => directory.shows_base,
            _ => false,
        }
    }

    /// Returns the state that an edit gives to `path`; `None` where the base shows. A directory may show the base's entries.
    pub(super) fn says(&self, path: &WorkspacePath) -> Option<Origin> {
        Some(match self.find(path) {
            Ok(Found::Base) => return None,
            Ok(Found::File(File { bytes, hash, executable, .. })) => {
                Origin::File { bytes: bytes.clone(), hash: *hash, executable: *executable }
            }
            Ok(Found::Symlink(target)) => Origin::Symlink(target.to_string()),
            Ok(Found::Directory(_)) => Origin::Directory,
            Err(_) => Origin::Missing,
        })
    }

    /// Returns the path in the base from which the entry at `path` was moved; `path` itself if it was not.
    pub(super) fn came_from(&self, path: &WorkspacePath) -> WorkspacePath {
        let mut directory = Some(&*self.root);
        let mut place = WorkspacePath::root();
        for name in path.components() {
            let node = directory.and_then(|it| it.entries.get(name)).map(|it| &**it);
            place = match node.and_then(Node::came_from) {
                Some(from) => from.clone(),
                None => place.child(name),
            };
            directory = match node {
                Some(Node::Directory(next)) => Some(next),
                _ => None,
            };
        }
        place
    }

    /// Returns this tree with `node` at `path`, or without the entry there. Shares everything that is not on the way.
    ///
    /// `path` must not be the root.
    pub(super) fn with(
        &self,
        path: &WorkspacePath,
        node: Option<Node>,
        parents: Parents,
    ) -> Result<Self, EditError> {
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(EditError::Root)?;
        let mut here = WorkspacePath::root();
        let mut directory = Directory::clone(&self.root);
        let mut passed = Vec::new();
        for name in parent.components() {
            here = here.child(name);
            let next = self.enter(&directory, name, &here, parents)?;
            passed.push((directory, name));
            directory = next;
        }
        match node {
            Some(node) => directory.replace(name, node),
            None => self.take_out(&mut directory, name, path),
        }
        while let Some((mut above, name)) = passed.pop() {
            if above.shows_base && directory.is_silent() && !self.is_made(&here) {
                above.entries.remove_mut(name);
            } else {
                above.insert(name, Node::Directory(directory));
            }
            directory = above;
            here = here.parent().unwrap_or_else(WorkspacePath::root);
        }
        let tree = self.rooted(directory);
        tree.expect_not_too_deep(path)?;
        Ok(tree)
    }

    /// The directory `name` of `directory`, which is `here` in the branch, ready to be changed.
    fn enter(
        &self,
        directory: &Directory,
        name: &str,
        here: &WorkspacePath,
        parents: Parents,
    ) -> Result<Directory, EditError> {
        let metadata = match directory.side(name) {
            Side::Held(Node::Directory(next)) => return Ok(next.clone()),
            Side::Held(_) => return Err(EditError::NotADirectory(here.clone())),
            Side::Base => Some(self.base.metadata(here)),
            Side::Nothing => None,
        };
        match metadata {
            Some(Ok(metadata)) if metadata.kind == FileKind::Directory => Ok(Directory::over()),
            Some(Ok(_)) => Err(EditError::NotADirectory(here.clone())),
            Some(Err(source)) if source.kind() != io::ErrorKind::NotFound => {
                Err(EditError::Unreachable { path: here.clone(), source })
            }
            // Should the base come to have it too, both are one.
            Some(_) if parents == Parents::Create => Ok(Directory::over()),
            None if parents == Parents::Create => Ok(Directory::opaque()),
            Some(_) | None => Err(EditError::NotFound(here.clone())),
        }
    }

    /// Whether the directory that is held at `path` was made by an edit, since the base has none.
    fn is_made(&self, path: &WorkspacePath) -> bool {
        matches!(self.base.metadata(path), Err(error) if is_missing(&error))
    }

    /// Returns a tree of the same base with another root.
    pub(super) fn rooted(&self, root: Directory) -> Self {
        Self { base: self.base.clone(), root: Arc::new(root) }
    }

    /// Returns this tree without any edit.
    pub(super) fn blank(&self) -> Self {
        Self::new(self.base.clone())
    }

    /// Whether the tree has no edit.
    pub(super) fn is_blank(&self) -> bool {
        self.root.entries.is_empty()
    }

    /// Refuses what is deeper than edits may make it; `path` is where they took place.
    pub(super) fn expect_not_too_deep(&self, path: &WorkspacePath) -> Result<(), EditError> {
        if self.root.height > MAX_DEPTH {
            return Err(EditError::TooDeep { path: path.clone(), limit: MAX_DEPTH });
        }
        Ok(())
    }

    /// Returns this tree with just this entry at `path`, or without one, whatever the base has. `None` if a
    /// directory on the way is not held here.
    ///
    /// `path` must not be the root.
    pub(super) fn with_entry(&self, path: &WorkspacePath, node: Option<Node>) -> Option<Self> {
        let (parent, name) = path.parent().zip(path.file_name())?;
        let mut directory = &*self.root;
        let mut passed = Vec::new();
        for name in parent.components() {
            passed.push((directory, name));
            directory = directory.held_directory(name)?;
        }
        let mut changed = directory.clone();
        match node {
            Some(node) => changed.insert(name, node),
            None => drop(changed.entries.remove_mut(name)),
        }
        while let Some((above, name)) = passed.pop() {
            let mut above = above.clone();
            above.insert(name, Node::Directory(changed));
            changed = above;
        }
        Some(self.rooted(changed))
    }

    /// Returns this tree without an entry at `path`, if that makes it show the base's entry at `path`.
    pub(super) fn without_entry_over_base(&self, path: &WorkspacePath) -> Option<Self> {
        let directory = self.held_directory(&path.parent()?)?;
        directory.shows_base.then(|| self.with_entry(path, None))?
    }

    /// Returns this tree with `node` at `path`, whatever the base has there and on the way. The tree's own entries on
    /// the way must be directories, or are dropped.
    pub(super) fn laid(&self, path: &WorkspacePath, node: Node) -> Option<Self> {
        let parent = path.parent()?;
        if self.held_directory(&parent).is_some() {
            return self.with_entry(path, Some(node));
        }
        self.laid(&parent, Node::Directory(Directory::over()))?.with_entry(path, Some(node))
    }

    /// The directory at `path`, if an edit made this tree hold it.
    pub(super) fn held_directory(&self, path: &WorkspacePath) -> Option<&Directory> {
        path.components().try_fold(&*self.root, Directory::held_directory)
    }

    /// Removes `name`, which is `path` in the branch. A whiteout stays behind only where the base would
    /// show through.
    fn take_out(&self, directory: &mut Directory, name: &str, path: &WorkspacePath) {
        let is_in_base =
            || !matches!(self.base.metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound);
        if directory.shows_base && is_in_base() {
            directory.insert(name, Node::Whiteout);
        } else {
            directory.entries.remove_mut(name);
        }
    }
}
