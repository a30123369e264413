//! A branch at one revision, for reading.

use std::io;

use bytes::Bytes;

use super::{
    Revision,
    history::State,
    origin::Origin,
    tree::{Directory, Found, Lower, Node, Tree},
};
use crate::{ContentHash, Entry, FileKind, Listing, Metadata, View, WorkspacePath};

/// A branch as it was at a revision. Later edits of the branch do not reach it.
///
/// One thing differs from a real folder: a link of the base with an absolute target under the root is
/// told relative to where it stood, and so leads elsewhere once it is moved to another depth.
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

    /// The parent as it was when the branch was forked from it or last rebased onto it; for a branch of
    /// the base, the base. Its revision says nothing.
    pub fn fork_point(&self) -> Self {
        let fork = &self.state.fork;
        let state = State { tree: fork.tree.clone(), origins: fork.origins.clone(), fork: fork.clone() };
        Self::new(state, Revision(0))
    }

    /// What the base had at each touched path when the branch, or one above it, first touched it. Sorted.
    pub fn origins(&self) -> impl Iterator<Item = (&WorkspacePath, &Origin)> {
        self.state.origins.iter()
    }

    /// Whether an edit touched `path` or something below it. If not, all of that is as in the base.
    ///
    /// An edit that was undone by hand still counts. Costs a look-up and no read of the base.
    pub fn is_edited(&self, path: &WorkspacePath) -> bool {
        match self.tree().find(path) {
            Ok(Found::Base(lower)) => lower.path != *path || lower.executable.is_some(),
            Ok(Found::Directory(directory)) => {
                directory.lower.as_ref() != Some(path) || !directory.entries.is_empty()
            }
            Ok(Found::File { .. } | Found::Symlink(_)) | Err(_) => true,
        }
    }

    /// The base's entries where the branch is silent, and the branch's own.
    fn merge(&self, directory: &Directory) -> io::Result<Listing> {
        let mut listing = self.list_lower(directory)?;
        if directory.entries.is_empty() {
            return Ok(listing);
        }
        listing.entries.retain(|entry| !directory.entries.contains_key(entry.name.as_str()));
        for (name, node) in &directory.entries {
            let kind = self.kind(node)?;
            listing.entries.extend(kind.map(|kind| Entry { name: name.to_string(), kind }));
        }
        // Two sorted runs, which a stable sort merges.
        listing.entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    /// A directory of the branch stays even if the base loses its own.
    fn list_lower(&self, directory: &Directory) -> io::Result<Listing> {
        let Some(lower) = &directory.lower else { return Ok(Listing::default()) };
        match self.tree().base.list(lower) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Listing::default())
            }
            answer => answer,
        }
    }

    /// `None` for what is not there.
    fn kind(&self, node: &Node) -> io::Result<Option<FileKind>> {
        Ok(Some(match node {
            Node::File { .. } => FileKind::File,
            Node::Symlink(_) => FileKind::Symlink,
            Node::Directory(_) => FileKind::Directory,
            Node::Whiteout => return Ok(None),
            Node::Lower { path, .. } => match self.tree().base.metadata(path) {
                Ok(metadata) => metadata.kind,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            },
        }))
    }

    fn lower_metadata(&self, lower: &Lower) -> io::Result<Metadata> {
        let metadata = self.tree().base.metadata(&lower.path)?;
        match lower.executable {
            Some(executable) if metadata.kind == FileKind::File => Ok(Metadata { executable, ..metadata }),
            Some(_) | None => Ok(metadata),
        }
    }
}

impl View for Snapshot {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        match self.tree().find(path)? {
            Found::File { bytes, .. } => Ok(bytes.clone()),
            Found::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
            Found::Base(lower) => self.tree().base.read(&lower.path),
        }
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        match self.tree().find(path)? {
            Found::File { hash, .. } => Ok(hash),
            Found::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
            Found::Base(lower) => self.tree().base.hash(&lower.path),
        }
    }

    fn hash_all(&self, directory: &WorkspacePath, names: &[&str]) -> Vec<io::Result<ContentHash>> {
        let own =
            |names: &[&str]| -> Vec<_> { names.iter().map(|it| self.hash(&directory.child(it))).collect() };
        match self.tree().find(directory) {
            Ok(Found::Base(lower)) => self.tree().base.hash_all(&lower.path, names),
            Ok(Found::Directory(Directory { lower: Some(lower), entries, .. })) => {
                let is_edited = |it: &str| entries.contains_key(it);
                let silent: Vec<_> = names.iter().copied().filter(|it| !is_edited(it)).collect();
                let mut hashes = self.tree().base.hash_all(lower, &silent).into_iter();
                let hash = |name: &&str| {
                    let of_base = if is_edited(name) { None } else { hashes.next() };
                    of_base.unwrap_or_else(|| self.hash(&directory.child(name)))
                };
                names.iter().map(hash).collect()
            }
            Ok(_) | Err(_) => own(names),
        }
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let (kind, size, executable) = match self.tree().find(path)? {
            Found::File { bytes, executable, .. } => (FileKind::File, bytes.len() as u64, executable),
            Found::Symlink(_) => (FileKind::Symlink, 0, false),
            Found::Directory(_) => (FileKind::Directory, 0, false),
            Found::Base(lower) => return self.lower_metadata(&lower),
        };
        Ok(Metadata { kind, size, executable })
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        match self.tree().find(path)? {
            Found::Directory(directory) => self.merge(directory),
            Found::File { .. } | Found::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Base(lower) => self.tree().base.list(&lower.path),
        }
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        match self.tree().find(path)? {
            Found::Symlink(target) => Ok(target.to_string()),
            Found::File { .. } | Found::Directory(_) => Err(io::ErrorKind::InvalidInput.into()),
            Found::Base(lower) => self.tree().base.read_link(&lower.path),
        }
    }
}
