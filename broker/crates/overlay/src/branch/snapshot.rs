//! A branch at one revision, for reading.

use std::io;

use bytes::Bytes;

use super::{
    Revision,
    history::State,
    origin::{Origin, is_missing},
    tree::{Directory, Found, Node, Tree},
};
use crate::{
    ContentHash, Entry, FileHash, FileKind, Listing, Metadata, Tracked, View, WorkspacePath,
    view::{hash_within, outermost},
};

/// A branch as it was at a revision. Later edits of the branch do not reach it.
///
/// A difference from a real folder: a link of the base with an absolute target under the root is shown relative to
/// its place in the base, and so leads elsewhere once it is moved to another depth.
#[derive(Clone)]
pub struct Snapshot {
    state: State,
    revision: Revision,
}

impl Snapshot {
    pub(super) fn new(state: State, revision: Revision) -> Self {
        Self { state, revision }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.state.tree
    }

    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The base alone: a snapshot of the same base without edits.
    pub fn base_of(&self) -> Self {
        Self::new(State::new(self.tree().base.clone()), Revision(0))
    }

    /// Returns the same edits over the base without unsaved texts.
    pub(super) fn saved(&self) -> Self {
        let tree = Tree { base: self.tree().saved(), ..self.tree().clone() };
        Self::new(State { tree, ..self.state.clone() }, self.revision)
    }

    /// The parent as it was when the branch was forked from it or last rebased onto it; for a branch of
    /// the base, the base. Its revision says nothing.
    pub fn fork_point(&self) -> Self {
        let fork = &self.state.fork;
        let (tree, origins) = (fork.tree.clone(), fork.origins.clone());
        let state = State { tree, origins, fork: fork.clone(), ..self.state.clone() };
        Self::new(state, Revision(0))
    }

    /// Returns the path in the base from which the entry at `path` was moved; `path` itself if it was not.
    pub fn came_from(&self, path: &WorkspacePath) -> WorkspacePath {
        self.tree().came_from(path)
    }

    /// State of the base at each touched path when the branch, or one above it, first touched it. Sorted.
    pub fn origins(&self) -> impl Iterator<Item = (&WorkspacePath, &Origin)> {
        self.state.origins.iter()
    }

    /// Whether an edit touched `path` or something below it. If not, all of that is as in the base.
    ///
    /// An edit that was undone by hand still counts. Costs a look-up and no read of the base.
    pub fn is_edited(&self, path: &WorkspacePath) -> bool {
        match self.tree().find(path) {
            Ok(Found::Base) => false,
            Ok(Found::Directory(directory)) => {
                !directory.shows_base || !directory.entries.is_empty() || self.is_made(path)
            }
            Ok(Found::File(_) | Found::Symlink(_)) | Err(_) => true,
        }
    }

    /// Whether a directory that is held at `path` was made by an edit.
    pub(super) fn is_made(&self, path: &WorkspacePath) -> bool {
        self.state.origins.get(path) == Some(&Origin::Missing)
    }

    /// The base's entries at `path` where the branch is silent, and the branch's own.
    fn merge(&self, path: &WorkspacePath, directory: &Directory) -> io::Result<Listing> {
        let mut listing = if directory.shows_base { self.list_base(path)? } else { Listing::default() };
        if directory.entries.is_empty() {
            return Ok(listing);
        }
        listing.entries.retain(|entry| !directory.entries.contains_key(entry.name.as_str()));
        for (name, node) in &directory.entries {
            listing.entries.extend(kind(node).map(|kind| Entry { name: name.to_string(), kind }));
        }
        // Two sorted runs, which a stable sort merges.
        listing.entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    /// A directory of the branch stays even if the base loses its own.
    fn list_base(&self, path: &WorkspacePath) -> io::Result<Listing> {
        match self.tree().base.list(path) {
            Err(error) if is_missing(&error) => Ok(Listing::default()),
            answer => answer,
        }
    }
}

/// `None` for what is not there.
fn kind(node: &Node) -> Option<FileKind> {
    match node {
        Node::File(_) => Some(FileKind::File),
        Node::Symlink(_) => Some(FileKind::Symlink),
        Node::Directory(_) => Some(FileKind::Directory),
        Node::Whiteout => None,
    }
}

impl View for Snapshot {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        match self.tree().find(path)? {
            Found::File(file) => Ok(file.bytes.clone()),
            Found::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
            Found::Base => self.tree().base.read(path),
        }
    }

    fn read_hashed(&self, path: &WorkspacePath) -> io::Result<(Bytes, ContentHash)> {
        match self.tree().find(path)? {
            Found::File(file) => Ok((file.bytes.clone(), file.hash)),
            Found::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
            Found::Base => self.tree().base.read_hashed(path),
        }
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        self.file_hash(path).map(|it| it.hash)
    }

    fn file_hash(&self, path: &WorkspacePath) -> io::Result<FileHash> {
        match self.tree().find(path)? {
            Found::File(file) => Ok(FileHash { hash: file.hash, executable: file.executable }),
            Found::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
            Found::Base => self.tree().base.file_hash(path),
        }
    }

    fn hash_all(&self, directory: &WorkspacePath, names: &[&str], largest: u64) -> Vec<io::Result<FileHash>> {
        let own = |name: &str| hash_within(self, &directory.child(name), largest);
        match self.tree().find(directory) {
            Ok(Found::Base) => self.tree().base.hash_all(directory, names, largest),
            Ok(Found::Directory(Directory { shows_base: true, entries, .. })) => {
                let is_edited = |it: &str| entries.contains_key(it);
                let silent: Vec<_> = names.iter().copied().filter(|it| !is_edited(it)).collect();
                let mut hashes = self.tree().base.hash_all(directory, &silent, largest).into_iter();
                let hash = |name: &&str| {
                    let of_base = if is_edited(name) { None } else { hashes.next() };
                    of_base.unwrap_or_else(|| own(name))
                };
                names.iter().map(hash).collect()
            }
            Ok(_) | Err(_) => names.iter().map(|it| own(it)).collect(),
        }
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let (kind, size, executable) = match self.tree().find(path)? {
            Found::File(file) => (FileKind::File, file.bytes.len() as u64, file.executable),
            Found::Symlink(_) => (FileKind::Symlink, 0, false),
            Found::Directory(_) => (FileKind::Directory, 0, false),
            Found::Base => return self.tree().base.metadata(path),
        };
        Ok(Metadata { kind, size, executable })
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        match self.tree().find(path)? {
            Found::Directory(directory) => self.merge(path, directory),
            Found::File(_) | Found::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Base => self.tree().base.list(path),
        }
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        match self.tree().find(path)? {
            Found::Symlink(target) => Ok(target.to_string()),
            Found::File(_) | Found::Directory(_) => Err(io::ErrorKind::InvalidInput.into()),
            Found::Base => self.tree().base.read_link(path),
        }
    }

    fn tracked(&self) -> Option<Tracked> {
        let base = self.tree().base.tracked()?;
        let edits = self.changed_paths(&self.base_of());
        Some(Tracked { edits: outermost(base.edits.into_iter().chain(edits)), ..base })
    }

    fn edits(&self) -> Vec<WorkspacePath> {
        let below = self.tree().base.edits();
        let own = self.changed_paths(&self.base_of());
        if below.is_empty() { own } else { outermost(own.into_iter().chain(below)) }
    }
}
