//! The persistent tree under a branch: finding what stands at a path, and copying the way to a change.

use std::{io, sync::Arc};

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;

use super::EditError;
use crate::{ContentHash, FileKind, View, WorkspacePath};

/// How deep edits may lie. Renames can nest directories deeper than any path is long, and to drop a tree
/// takes stack in proportion to its depth.
const MAX_DEPTH: u32 = 256;

/// A base and what is laid over it. Cloning it copies nothing.
#[derive(Clone)]
pub(super) struct Tree {
    pub(super) base: Arc<dyn View>,
    pub(super) root: Arc<Directory>,
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
        /// Of `bytes`, so that nobody hashes them again.
        hash: ContentHash,
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
    File { bytes: &'a Bytes, hash: ContentHash, executable: bool },
    Symlink(&'a Arc<str>),
    Directory(&'a Directory),
    Base(Lower),
}

/// What a directory of the tree says of a name, where it says nothing included.
pub(super) enum Side<'a> {
    Nothing,
    Lower(Lower),
    /// A file, link or directory that the tree itself holds.
    Held(&'a Node),
}

/// A place in the base, with what a branch says about it.
#[derive(Clone, PartialEq, Eq)]
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
        Self { base, root: Arc::new(Directory::over(WorkspacePath::root())) }
    }

    /// What stands at `path`. Whether the base really has something at a [`Found::Base`] is not known yet.
    pub(super) fn find(&self, path: &WorkspacePath) -> io::Result<Found<'_>> {
        let mut directory = &*self.root;
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
        let mut directory = Directory::clone(&self.root);
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

    /// The same base under another root.
    pub(super) fn rooted(&self, root: Directory) -> Self {
        Self { base: self.base.clone(), root: Arc::new(root) }
    }

    /// This tree without any edit.
    pub(super) fn blank(&self) -> Self {
        Self::new(self.base.clone())
    }

    /// Whether there is no edit in it.
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

    /// This tree with just this entry at `path`, or without one, whatever the base has. `None` if a
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

    /// This tree without an entry at `path`, if that makes it show what the base has at `path`.
    pub(super) fn without_entry_over_base(&self, path: &WorkspacePath) -> Option<Self> {
        let directory = self.held_directory(&path.parent()?)?;
        let shows_through = directory.lower_child(path.file_name()?)? == *path;
        shows_through.then(|| self.with_entry(path, None))?
    }

    /// The directory at `path`, if an edit made this tree hold it.
    pub(super) fn held_directory(&self, path: &WorkspacePath) -> Option<&Directory> {
        path.components().try_fold(&*self.root, Directory::held_directory)
    }

    /// The places in the base that show through elsewhere than where they are.
    pub(super) fn moved(&self) -> Vec<WorkspacePath> {
        let mut moved = Vec::new();
        let mut folders = vec![(WorkspacePath::root(), &*self.root)];
        while let Some((path, directory)) = folders.pop() {
            moved.extend(directory.lower.clone().filter(|it| *it != path));
            for (name, node) in &directory.entries {
                let path = path.child(name);
                match &**node {
                    Node::Directory(next) => folders.push((path, next)),
                    Node::Lower { path: lower, .. } if *lower != path => moved.push(lower.clone()),
                    _ => {}
                }
            }
        }
        moved
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

    /// This directory with the base's at `path` showing through, if nothing does yet.
    pub(super) fn opened(&self, path: &WorkspacePath) -> Option<Self> {
        self.lower.is_none().then(|| Self { lower: Some(path.clone()), ..self.clone() })
    }

    /// What this directory says of `name`.
    pub(super) fn side(&self, name: &str) -> Side<'_> {
        match self.entries.get(name).map(|it| &**it) {
            None => self
                .lower_child(name)
                .map_or(Side::Nothing, |path| Side::Lower(Lower { path, executable: None })),
            Some(Node::Whiteout) => Side::Nothing,
            Some(Node::Lower { path, executable }) => {
                Side::Lower(Lower { path: path.clone(), executable: *executable })
            }
            Some(node) => Side::Held(node),
        }
    }

    fn held_directory(&self, name: &str) -> Option<&Self> {
        match &**self.entries.get(name)? {
            Node::Directory(directory) => Some(directory),
            Node::File { .. } | Node::Lower { .. } | Node::Symlink(_) | Node::Whiteout => None,
        }
    }

    fn lower_child(&self, name: &str) -> Option<WorkspacePath> {
        self.lower.as_ref().map(|lower| lower.child(name))
    }

    pub(super) fn insert(&mut self, name: &str, node: Node) {
        self.height = self.height.max(node.height() + 1);
        self.entries.insert_mut(name.into(), Arc::new(node));
    }
}

impl Node {
    pub(super) fn file(bytes: Bytes, executable: bool) -> Self {
        Self::File { hash: ContentHash::of(&bytes), bytes, executable }
    }

    /// A file, link or directory as found; for those alone, the others are not found by themselves.
    fn found(&self) -> Found<'_> {
        match self {
            Self::File { bytes, hash, executable } => {
                Found::File { bytes, hash: *hash, executable: *executable }
            }
            Self::Symlink(target) => Found::Symlink(target),
            Self::Directory(directory) => Found::Directory(directory),
            Self::Lower { .. } | Self::Whiteout => unreachable!("`find` looks into these itself"),
        }
    }

    /// Whether both surely stand for the same. Directories are not looked into.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File { hash: a, executable: a_executable, .. },
                Self::File { hash: b, executable: b_executable, .. },
            ) => a == b && a_executable == b_executable,
            (
                Self::Lower { path: a, executable: a_executable },
                Self::Lower { path: b, executable: b_executable },
            ) => a == b && a_executable == b_executable,
            (Self::Symlink(a), Self::Symlink(b)) => a == b,
            (Self::Whiteout, Self::Whiteout) => true,
            _ => false,
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
