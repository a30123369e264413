//! Nodes of a branch's tree.

use std::sync::Arc;

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;

use crate::{ContentHash, WorkspacePath, branch::Origin};

/// A directory that holds an edit, or has one somewhere below.
#[derive(Clone)]
pub(in crate::branch) struct Directory {
    /// Whether the base's directory at this very place shows through where `entries` is silent.
    pub(in crate::branch) shows_base: bool,
    pub(in crate::branch) entries: RedBlackTreeMapSync<Arc<str>, Arc<Node>>,
    /// Path in the base, as in [`File::came_from`].
    pub(in crate::branch) came_from: Option<WorkspacePath>,
    /// Upper bound of the number of directories from here down to the deepest one held in `entries`.
    pub(super) height: u32,
}

/// Entry of a branch for one name.
#[derive(Clone)]
pub(in crate::branch) enum Node {
    File(File),
    Symlink(Arc<str>),
    Directory(Directory),
    /// Hides what the base has.
    Whiteout,
}

#[derive(Clone)]
pub(in crate::branch) struct File {
    pub(in crate::branch) bytes: Bytes,
    /// Hash of `bytes`, which is computed once.
    pub(in crate::branch) hash: ContentHash,
    pub(in crate::branch) executable: bool,
    /// Path in the base before the file was moved, for properties that a branch does not keep: permissions and the
    /// like. `None`: under the same name in the `came_from` of its directory.
    pub(in crate::branch) came_from: Option<WorkspacePath>,
}

/// Result of looking up a path.
pub(in crate::branch) enum Found<'a> {
    File(&'a File),
    Symlink(&'a Arc<str>),
    Directory(&'a Directory),
    /// Whatever the base has at the same path.
    Base,
}

/// Entry of a directory of the tree for a name.
pub(in crate::branch) enum Side<'a> {
    Nothing,
    /// Whatever the base has at the same path.
    Base,
    /// A file, link or directory that the tree itself holds.
    Held(&'a Node),
}

impl Directory {
    /// The directory of the base, which need not be there.
    pub(in crate::branch) fn over() -> Self {
        Self { shows_base: true, ..Self::opaque() }
    }

    /// An empty directory.
    pub(in crate::branch) fn opaque() -> Self {
        Self { shows_base: false, entries: RedBlackTreeMapSync::new_sync(), came_from: None, height: 1 }
    }

    /// Returns this directory with the base's showing through, if it does not yet.
    pub(in crate::branch) fn opened(&self) -> Option<Self> {
        (!self.shows_base).then(|| Self { shows_base: true, ..self.clone() })
    }

    /// Returns the directory's own entries, without the base.
    pub(in crate::branch) fn closed(&self) -> Self {
        let mut closed = Self { shows_base: false, ..self.clone() };
        for (name, _) in self.entries.iter().filter(|(_, node)| matches!(***node, Node::Whiteout)) {
            closed.entries.remove_mut(name);
        }
        closed
    }

    /// Whether the directory is just the base's.
    pub(super) fn is_silent(&self) -> bool {
        self.shows_base && self.entries.is_empty()
    }

    /// Returns the directory's entry for `name`.
    pub(in crate::branch) fn side(&self, name: &str) -> Side<'_> {
        match self.entries.get(name).map(|it| &**it) {
            None if self.shows_base => Side::Base,
            None | Some(Node::Whiteout) => Side::Nothing,
            Some(node) => Side::Held(node),
        }
    }

    pub(super) fn held_directory(&self, name: &str) -> Option<&Self> {
        match &**self.entries.get(name)? {
            Node::Directory(directory) => Some(directory),
            Node::File(_) | Node::Symlink(_) | Node::Whiteout => None,
        }
    }

    pub(in crate::branch) fn insert(&mut self, name: &str, node: Node) {
        self.height = self.height.max(node.height() + 1);
        self.entries.insert_mut(name.into(), Arc::new(node));
    }

    /// Makes this directory say `side` of `name`; the base can only be shown where it shows through.
    pub(in crate::branch) fn put(&mut self, name: &str, side: &Side<'_>) {
        match side {
            Side::Held(node) => self.insert(name, Node::clone(node)),
            Side::Nothing if self.shows_base => self.insert(name, Node::Whiteout),
            Side::Nothing | Side::Base => _ = self.entries.remove_mut(name),
        }
    }

    /// Inserts like `insert`, but new contents of a file leave it the same file.
    pub(in crate::branch) fn replace(&mut self, name: &str, mut node: Node) {
        if let Node::File(File { came_from: from @ None, .. }) = &mut node
            && let Some(Node::File(old)) = self.entries.get(name).map(|it| &**it)
        {
            *from = old.came_from.clone();
        }
        self.insert(name, node);
    }
}

impl Node {
    pub(in crate::branch) fn file(bytes: Bytes, executable: bool) -> Self {
        Self::File(File { hash: ContentHash::of(&bytes), bytes, executable, came_from: None })
    }

    /// Returns the node that has the state `origin`; `None` for entries that cannot be made.
    pub(in crate::branch) fn of(origin: &Origin) -> Option<Self> {
        Some(match origin {
            Origin::Missing => Self::Whiteout,
            Origin::File { bytes, hash, executable } => {
                let (bytes, hash, executable) = (bytes.clone(), *hash, *executable);
                Self::File(File { bytes, hash, executable, came_from: None })
            }
            Origin::Symlink(target) => Self::Symlink(target.as_str().into()),
            Origin::Directory => Self::Directory(Directory::opaque()),
            Origin::Other => return None,
        })
    }

    pub(in crate::branch) fn came_from(&self) -> Option<&WorkspacePath> {
        match self {
            Self::File(File { came_from, .. }) | Self::Directory(Directory { came_from, .. }) => {
                came_from.as_ref()
            }
            Self::Symlink(_) | Self::Whiteout => None,
        }
    }

    /// Returns the node moved away from `place`.
    pub(in crate::branch) fn moved_from(mut self, place: WorkspacePath) -> Self {
        if let Self::File(File { came_from, .. }) | Self::Directory(Directory { came_from, .. }) = &mut self {
            *came_from = Some(place);
        }
        self
    }

    /// A file, link or directory as found; for those alone, a whiteout is not found.
    pub(super) fn found(&self) -> Found<'_> {
        match self {
            Self::File(file) => Found::File(file),
            Self::Symlink(target) => Found::Symlink(target),
            Self::Directory(directory) => Found::Directory(directory),
            Self::Whiteout => unreachable!("a side says nothing of it"),
        }
    }

    /// Whether both surely have the same content. Directories are not looked into.
    pub(in crate::branch) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a.hash == b.hash && a.executable == b.executable,
            (Self::Symlink(a), Self::Symlink(b)) => a == b,
            (Self::Whiteout, Self::Whiteout) => true,
            _ => false,
        }
    }

    fn height(&self) -> u32 {
        match self {
            Self::Directory(directory) => directory.height,
            Self::File(_) | Self::Symlink(_) | Self::Whiteout => 0,
        }
    }
}
