//! The persistent tree under a branch: finding what stands at a path, and copying the way to a change.

use std::{io, sync::Arc};

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;

use super::EditError;
use crate::{FileKind, View, WorkspacePath};

/// How deep edits may lie. Renames can nest directories deeper than any path is long, and to drop a tree
/// takes stack in proportion to its depth.
const MAX_DEPTH: u32 = 256;

/// A base and what is laid over it. Cloning it copies nothing.
#[derive(Clone)]
pub(super) struct Tree {
    pub(super) base: Arc<dyn View>,
    root: Directory,
}

/// A directory that holds an edit, or has one somewhere below.
#[derive(Clone)]
pub(super) struct Directory {
    /// The directory of the base that shows through where `entries` is silent. It is not where this
    /// directory stands if it was moved. `None`: nothing shows through.
    pub(super) lower: Option<WorkspacePath>,
    pub(super) entries: RedBlackTreeMapSync<Arc<str>, Arc<Node>>,
    /// At least the number of directories from here down to the deepest one held in `entries`.
    height: u32,
}

/// What a branch says of one name.
#[derive(Clone)]
pub(super) enum Node {
    File {
        bytes: Bytes,
        executable: bool,
    },
    /// Whatever the base has at `path`, a whole directory even, moved here without a copy.
    Lower {
        path: WorkspacePath,
        /// Replaces what the base says, if that is a file.
        executable: Option<bool>,
    },
    Symlink(Arc<str>),
    Directory(Directory),
    /// Hides what the base has.
    Whiteout,
}

/// What stands at a path.
pub(super) enum Found<'a> {
    File { bytes: &'a Bytes, executable: bool },
    Symlink(&'a Arc<str>),
    Directory(&'a Directory),
    Base(Lower),
}

/// A place in the base, with what a branch says about it.
#[derive(Clone)]
pub(super) struct Lower {
    pub(super) path: WorkspacePath,
    pub(super) executable: Option<bool>,
}

/// What to do about missing directories on the way to an edit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parents {
    Create,
    Require,
}

impl Tree {
    pub(super) fn new(base: Arc<dyn View>) -> Self {
        Self { base, root: Directory::over(WorkspacePath::root()) }
    }

    /// What stands at `path`. Whether the base really has something at a [`Found::Base`] is not known yet.
    pub(super) fn find(&self, path: &WorkspacePath) -> io::Result<Found<'_>> {
        let mut directory = &self.root;
        let mut names = path.components();
        while let Some(name) = names.next() {
            let (lower, executable) = match directory.entries.get(name).map(|it| &**it) {
                Some(Node::Directory(next)) => {
                    directory = next;
                    continue;
                }
                Some(Node::Lower { path, executable }) => (path.clone(), *executable),
                Some(Node::Whiteout) => return Err(io::ErrorKind::NotFound.into()),
                Some(node) if names.next().is_none() => return Ok(node.found()),
                Some(_) => return Err(io::ErrorKind::NotADirectory.into()),
                None => (directory.lower_child(name).ok_or(io::ErrorKind::NotFound)?, None),
            };
            return Ok(Found::Base(Lower { path: lower, executable }.descend(names)));
        }
        Ok(Found::Directory(directory))
    }

    /// This tree with `node` at `path`, or without what is there. Shares everything that is not on the way.
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
        let mut directory = self.root.clone();
        let mut passed = Vec::new();
        for name in parent.components() {
            here = here.child(name);
            let next = self.enter(&directory, name, &here, parents)?;
            passed.push((directory, name));
            directory = next;
        }
        match node {
            Some(node) => directory.insert(name, node),
            None => self.take_out(&mut directory, name),
        }
        while let Some((mut above, name)) = passed.pop() {
            above.insert(name, Node::Directory(directory));
            directory = above;
        }
        if directory.height > MAX_DEPTH {
            return Err(EditError::TooDeep { path: path.clone(), limit: MAX_DEPTH });
        }
        Ok(Self { base: self.base.clone(), root: directory })
    }

    /// The directory `name` of `directory`, which is `here` in the branch, ready to be changed.
    fn enter(
        &self,
        directory: &Directory,
        name: &str,
        here: &WorkspacePath,
        parents: Parents,
    ) -> Result<Directory, EditError> {
        let lower = match directory.entries.get(name).map(|it| &**it) {
            Some(Node::Directory(next)) => return Ok(next.clone()),
            Some(Node::File { .. } | Node::Symlink(_)) => return Err(EditError::NotADirectory(here.clone())),
            Some(Node::Lower { path, .. }) => Some(path.clone()),
            Some(Node::Whiteout) => None,
            None => directory.lower_child(name),
        };
        match lower.map(|lower| (self.base.metadata(&lower), lower)) {
            Some((Ok(metadata), lower)) if metadata.kind == FileKind::Directory => Ok(Directory::over(lower)),
            Some((Ok(_), _)) => Err(EditError::NotADirectory(here.clone())),
            Some((Err(source), _)) if source.kind() != io::ErrorKind::NotFound => {
                Err(EditError::Unreachable { path: here.clone(), source })
            }
            Some(_) | None if parents == Parents::Create => Ok(Directory::opaque()),
            Some(_) | None => Err(EditError::NotFound(here.clone())),
        }
    }

    /// Removes `name`. A whiteout stays behind only where the base would show through.
    fn take_out(&self, directory: &mut Directory, name: &str) {
        let is_below = |lower| !matches!(self.base.metadata(&lower), Err(error) if error.kind() == io::ErrorKind::NotFound);
        if directory.lower_child(name).is_some_and(is_below) {
            directory.insert(name, Node::Whiteout);
        } else {
            directory.entries.remove_mut(name);
        }
    }
}

impl Directory {
    pub(super) fn over(lower: WorkspacePath) -> Self {
        Self { lower: Some(lower), entries: RedBlackTreeMapSync::new_sync(), height: 1 }
    }

    /// An empty directory.
    pub(super) fn opaque() -> Self {
        Self { lower: None, entries: RedBlackTreeMapSync::new_sync(), height: 1 }
    }

    fn lower_child(&self, name: &str) -> Option<WorkspacePath> {
        self.lower.as_ref().map(|lower| lower.child(name))
    }

    fn insert(&mut self, name: &str, node: Node) {
        self.height = self.height.max(node.height() + 1);
        self.entries.insert_mut(name.into(), Arc::new(node));
    }
}

impl Node {
    /// A file, link or directory as found; for those alone, the others are not found by themselves.
    fn found(&self) -> Found<'_> {
        match self {
            Self::File { bytes, executable } => Found::File { bytes, executable: *executable },
            Self::Symlink(target) => Found::Symlink(target),
            Self::Directory(directory) => Found::Directory(directory),
            Self::Lower { .. } | Self::Whiteout => unreachable!("`find` looks into these itself"),
        }
    }

    fn height(&self) -> u32 {
        match self {
            Self::Directory(directory) => directory.height,
            Self::File { .. } | Self::Lower { .. } | Self::Symlink(_) | Self::Whiteout => 0,
        }
    }
}

impl Lower {
    /// The place that `names` lead to from here.
    fn descend<'n>(self, names: impl Iterator<Item = &'n str>) -> Self {
        names.fold(self, |it, name| Self { path: it.path.child(name), executable: None })
    }
}
