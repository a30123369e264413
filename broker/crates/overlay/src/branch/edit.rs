//! The edits. Each finds out first whether it may happen, makes a new tree, and only then puts it in place.

use std::io;

use bytes::Bytes;

use super::{
    Branch, EditError, Revision, Snapshot, State, origin,
    tree::{Directory, Found, Lower, Node, Parents, Tree},
};
use crate::{FileKind, View as _, WorkspacePath};

/// As Linux, whose folders a branch must fit into.
const MAX_PATH: usize = 4096;

/// How many files and directories of the base one edit may remove: what each was is remembered.
const MAX_REMOVED: usize = 100_000;

type Edited = Result<Revision, EditError>;

impl Branch {
    /// Gives the file at `path` new contents, or makes a new one, with the directories it needs.
    ///
    /// Links are followed; an existing file stays executable if it was.
    pub fn write(&mut self, path: &WorkspacePath, bytes: Bytes) -> Edited {
        let path = self.locate(path, Links::Follow)?;
        let executable = match self.look_at(&path)? {
            None => false,
            Some((FileKind::File, executable)) => executable,
            Some((FileKind::Directory, _)) => return Err(EditError::IsADirectory(path)),
            Some((FileKind::Symlink | FileKind::Other, _)) => return Err(EditError::NotAFile(path)),
        };
        self.put(&path, Node::file(bytes, executable), Parents::Create, "write")
    }

    /// Makes a new file, with the directories it needs.
    pub fn create(&mut self, path: &WorkspacePath, bytes: Bytes) -> Edited {
        self.put_new(path, Node::file(bytes, false), "create")
    }

    /// Makes an empty directory, with those above it that are missing.
    pub fn create_dir(&mut self, path: &WorkspacePath) -> Edited {
        self.put_new(path, Node::Directory(Directory::opaque()), "make the directory")
    }

    /// Makes a symbolic link, with the directories it needs. Where `target` leads is not looked at.
    pub fn symlink(&mut self, path: &WorkspacePath, target: &str) -> Edited {
        self.put_new(path, Node::Symlink(target.into()), "link")
    }

    /// Removes a file, a link (never what it leads to), or a directory with all that is in it.
    pub fn remove(&mut self, path: &WorkspacePath) -> Edited {
        let path = self.locate(path, Links::KeepLast)?;
        self.expect_at(&path)?;
        let tree = self.state().tree.with(&path, None, Parents::Require)?;
        let mut touched = self.touched(&path);
        self.touch_below(&path, &mut touched)?;
        self.replace_tree(tree, touched, &format!("remove {path}"), vec![path])
    }

    /// Everything of the base that goes with a directory: what is added to it later does not.
    fn touch_below(&self, path: &WorkspacePath, touched: &mut Vec<WorkspacePath>) -> Result<(), EditError> {
        let state = self.state();
        let lower = match state.tree.find(path) {
            Ok(Found::Base(lower)) => Some(lower.path),
            Ok(Found::Directory(directory)) => directory.lower.clone(),
            _ => None,
        };
        let mut folders: Vec<_> = lower.into_iter().collect();
        while let Some(folder) = folders.pop() {
            let Ok(listing) = state.tree.base.list(&folder) else { continue };
            for entry in listing.entries {
                let path = folder.child(&entry.name);
                if entry.kind == FileKind::Directory {
                    folders.push(path.clone());
                }
                touched.push(path);
            }
            if touched.len() > MAX_REMOVED {
                return Err(EditError::TooMuchToRemove { path: path.clone(), limit: MAX_REMOVED });
            }
        }
        Ok(())
    }

    /// Moves a file, link or directory as POSIX `rename` does: what is not a directory replaces what is
    /// not a directory, a directory replaces an empty directory.
    pub fn rename(&mut self, from: &WorkspacePath, to: &WorkspacePath) -> Edited {
        let from = self.locate(from, Links::KeepLast)?;
        let (kind, _) = self.expect_at(&from)?;
        let to = self.locate(to, Links::KeepLast)?;
        if from == to {
            return Ok(self.record(self.state().clone(), &format!("rename {from} to itself"), vec![from]));
        }
        if kind == FileKind::Directory && to.starts_with(&from) {
            return Err(EditError::IntoItself { from, to });
        }
        self.expect_replaceable(&to, kind)?;
        let moved = self.node_at(&from)?;
        let tree = &self.state().tree;
        let tree = tree.with(&to, Some(moved), Parents::Require)?.with(&from, None, Parents::Require)?;
        let touched = [self.touched(&from), self.touched(&to)].concat();
        self.replace_tree(tree, touched, &format!("rename {from} to {to}"), vec![from, to])
    }

    /// Says whether the file at `path` may be executed. Links are followed.
    pub fn set_executable(&mut self, path: &WorkspacePath, executable: bool) -> Edited {
        let path = self.locate(path, Links::Follow)?;
        match self.expect_at(&path)?.0 {
            FileKind::File => {}
            FileKind::Directory => return Err(EditError::IsADirectory(path)),
            FileKind::Symlink | FileKind::Other => return Err(EditError::NotAFile(path)),
        }
        let node = match self.node_at(&path)? {
            Node::File { bytes, hash, .. } => Node::File { bytes, hash, executable },
            Node::Lower { path, .. } => Node::Lower { path, executable: Some(executable) },
            Node::Symlink(_) | Node::Directory(_) | Node::Whiteout => return Err(EditError::NotAFile(path)),
        };
        let what = if executable { "make executable" } else { "make not executable" };
        self.put(&path, node, Parents::Require, what)
    }

    fn put_new(&mut self, path: &WorkspacePath, node: Node, what: &str) -> Edited {
        let path = self.locate(path, Links::KeepLast)?;
        match self.look_at(&path)? {
            None => self.put(&path, node, Parents::Create, what),
            Some(_) => Err(EditError::AlreadyExists(path)),
        }
    }

    /// Puts `node` at the link-free `path`.
    pub(super) fn put(&mut self, path: &WorkspacePath, node: Node, parents: Parents, what: &str) -> Edited {
        let tree = self.state().tree.with(path, Some(node), parents)?;
        self.replace_tree(tree, self.touched(path), &format!("{what} {path}"), vec![path.clone()])
    }

    /// The next revision has `tree`. What the base has at the `touched` paths is remembered.
    fn replace_tree(
        &mut self,
        tree: Tree,
        touched: Vec<WorkspacePath>,
        what: &str,
        paths: Vec<WorkspacePath>,
    ) -> Edited {
        let state = self.state();
        let origins = origin::record(&state.origins, &*state.tree.base, touched)?;
        let state = State { tree, origins, fork: state.fork.clone() };
        Ok(self.record(state, what, paths))
    }

    /// What an edit of `path` touches: also the directories that it has to make, and the file of the
    /// base that was moved there.
    fn touched(&self, path: &WorkspacePath) -> Vec<WorkspacePath> {
        let snapshot = self.snapshot();
        let is_made = |directory: &WorkspacePath| snapshot.metadata(directory).is_err();
        let mut touched: Vec<_> = path.ancestors().skip(1).take_while(is_made).collect();
        if let Ok(Found::Base(lower)) = snapshot.tree().find(path)
            && lower.path != *path
        {
            touched.push(lower.path);
        }
        touched.push(path.clone());
        touched
    }

    /// The link-free place that an edit of `path` is about; what is missing on the way is kept as it is.
    pub(super) fn locate(&self, path: &WorkspacePath, links: Links) -> Result<WorkspacePath, EditError> {
        let length = path.as_str().len();
        if length > MAX_PATH {
            return Err(EditError::TooLong { length, limit: MAX_PATH });
        }
        let snapshot = self.snapshot();
        let mut missing = Vec::new();
        let mut known = path.clone();
        let mut found = match links {
            Links::Follow => snapshot.resolve(&known),
            Links::KeepLast => snapshot.resolve_parent(&known),
        };
        while let Err(error) = &found
            && error.kind() == io::ErrorKind::NotFound
            && let (Some(parent), Some(name)) = (known.parent(), known.file_name())
        {
            missing.push(name.to_owned());
            found = resolve_existing(&snapshot, &parent);
            known = parent;
        }
        let start = found.map_err(|error| unreachable(path, error))?;
        let place = missing.iter().rev().fold(start, |place, name| place.child(name));
        if place.is_root() { Err(EditError::Root) } else { Ok(place) }
    }

    /// The kind of what stands at a link-free `path`, and whether it is executable.
    pub(super) fn look_at(&self, path: &WorkspacePath) -> Result<Option<(FileKind, bool)>, EditError> {
        match self.snapshot().metadata(path) {
            Ok(metadata) => Ok(Some((metadata.kind, metadata.executable))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreachable(path, error)),
        }
    }

    fn expect_at(&self, path: &WorkspacePath) -> Result<(FileKind, bool), EditError> {
        self.look_at(path)?.ok_or_else(|| EditError::NotFound(path.clone()))
    }

    /// Whether something of this kind may take the place of what is at `to`.
    fn expect_replaceable(&self, to: &WorkspacePath, kind: FileKind) -> Result<(), EditError> {
        let Some((there, _)) = self.look_at(to)? else { return Ok(()) };
        match (kind == FileKind::Directory, there == FileKind::Directory) {
            (false, false) => Ok(()),
            (false, true) => Err(EditError::IsADirectory(to.clone())),
            (true, false) => Err(EditError::NotADirectory(to.clone())),
            (true, true) => self.expect_empty(to),
        }
    }

    fn expect_empty(&self, path: &WorkspacePath) -> Result<(), EditError> {
        let listing = self.snapshot().list(path).map_err(|error| unreachable(path, error))?;
        if listing.entries.is_empty() && listing.not_utf8 == 0 {
            return Ok(());
        }
        Err(EditError::DirectoryNotEmpty(path.clone()))
    }

    /// What stands at `path`, as a node that can stand anywhere.
    pub(super) fn node_at(&self, path: &WorkspacePath) -> Result<Node, EditError> {
        let found = self.state().tree.find(path).map_err(|error| unreachable(path, error))?;
        Ok(match found {
            Found::File { bytes, hash, executable } => Node::File { bytes: bytes.clone(), hash, executable },
            Found::Symlink(target) => Node::Symlink(target.clone()),
            Found::Directory(directory) => Node::Directory(directory.clone()),
            Found::Base(Lower { path, executable }) => Node::Lower { path, executable },
        })
    }
}

/// Whether a link at the very end of a path is followed.
#[derive(Clone, Copy)]
pub(super) enum Links {
    Follow,
    KeepLast,
}

/// As `resolve`, but a link to what is missing is itself missing: no directories are made through it.
fn resolve_existing(snapshot: &Snapshot, path: &WorkspacePath) -> io::Result<WorkspacePath> {
    let place = snapshot.resolve(path)?;
    snapshot.metadata(&place).map(|_| place)
}

pub(super) fn unreachable(path: &WorkspacePath, source: io::Error) -> EditError {
    let path = path.clone();
    match source.kind() {
        io::ErrorKind::NotFound => EditError::NotFound(path),
        io::ErrorKind::NotADirectory => EditError::NotADirectory(path),
        _ => EditError::Unreachable { path, source },
    }
}

#[cfg(test)]
mod tests;
