//! Subtree that a move or a removal takes from its place: no part of it depends on the base any more.
//!
//! The base may lose it at any time, even through the commit of this very move.

use std::sync::Arc;

use super::{
    EditError, Origin,
    tree::{Directory, MAX_DEPTH, Node, Side, Tree},
};
use crate::{View, WorkspacePath, branch::edit::unreachable, version_control};

/// Number of files and directories of the base that one edit may move or remove: the state of each is remembered.
pub(super) const MAX_TAKEN: usize = 100_000;

/// Bytes that these may have: all of them are read, and kept in memory.
const MAX_TAKEN_BYTES: u64 = super::origin::MAX_KEPT;

pub(super) struct Taken {
    /// The same, held by the branch alone. Contents are shared with the base and with `origins`.
    pub(super) node: Node,
    /// State of the base wherever it showed through: entries added there later are not taken along.
    pub(super) origins: Vec<(WorkspacePath, Origin)>,
}

impl Tree {
    /// Returns the subtree at `path`, for another place.
    pub(super) fn taken(&self, path: &WorkspacePath) -> Result<Taken, EditError> {
        let missing = || EditError::NotFound(path.clone());
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(EditError::Root)?;
        let over = Directory::over();
        let side = match self.held_directory(&parent) {
            Some(directory) => directory.side(name),
            None if self.shows_base_at(path) => over.side(name),
            None => return Err(missing()),
        };
        let mut taker = Taker { tree: self, saved: self.base.saved(), path, bytes: 0, origins: Vec::new() };
        let node = match side {
            Side::Nothing => None,
            Side::Base => taker.of_base(path)?,
            Side::Held(Node::Directory(directory)) => {
                let changed = taker.directory(path, directory)?;
                Some(Node::Directory(changed.unwrap_or_else(|| directory.clone())))
            }
            Side::Held(node) => Some(node.clone()),
        };
        Ok(Taken { node: node.ok_or_else(missing)?, origins: taker.origins })
    }
}

struct Taker<'t> {
    tree: &'t Tree,
    /// View of the base without unsaved texts, as a commit finds it, if there are any.
    saved: Option<Arc<dyn View>>,
    /// Path of the subtree that is taken.
    path: &'t WorkspacePath,
    /// Bytes of the files of the base so far.
    bytes: u64,
    origins: Vec<(WorkspacePath, Origin)>,
}

impl Taker<'_> {
    /// `directory`, which is at `at`, with nothing of the base showing through; `None` if nothing does.
    fn directory(
        &mut self,
        at: &WorkspacePath,
        directory: &Directory,
    ) -> Result<Option<Directory>, EditError> {
        let mut changed = None;
        if directory.shows_base {
            let closed = changed.insert(directory.closed());
            self.look_at(at)?;
            let shown = self.shown(at, |name| !directory.entries.contains_key(name))?;
            shown.into_iter().for_each(|(name, node)| closed.insert(&name, node));
        }
        for (name, node) in &directory.entries {
            self.expect_not_of_version_control(at, name)?;
            let Node::Directory(below) = &**node else { continue };
            if let Some(below) = self.directory(&at.child(name), below)? {
                changed.get_or_insert_with(|| directory.clone()).insert(name, Node::Directory(below));
            }
        }
        Ok(changed)
    }

    /// Takes the base's entries of a directory, where `is_silent` holds for those that the branch has no entry of its own for.
    fn shown(
        &mut self,
        at: &WorkspacePath,
        is_silent: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, Node)>, EditError> {
        let listing = match self.tree.base.list(at) {
            Err(error) if super::origin::is_missing(&error) => return Ok(Vec::new()),
            listing => listing.map_err(|source| EditError::Unreachable { path: at.clone(), source })?,
        };
        if listing.not_utf8 > 0 {
            return Err(self.refused(at, "a name that is not UTF-8".to_owned()));
        }
        let mut nodes = Vec::new();
        for name in listing.entries.into_iter().map(|it| it.name).filter(|it| is_silent(it)) {
            self.expect_not_of_version_control(at, &name)?;
            let node = self.of_base(&at.child(&name))?;
            nodes.extend(node.map(|node| (name, node)));
        }
        Ok(nodes)
    }

    /// Returns the base's node at `at`; `None` if it has gone.
    fn of_base(&mut self, at: &WorkspacePath) -> Result<Option<Node>, EditError> {
        match self.look_at(at)? {
            Origin::Missing => Ok(None),
            Origin::Other if at == self.path => Err(EditError::NotAFile(at.clone())),
            Origin::Other => {
                let name = at.file_name().unwrap_or_default();
                let what = format!("`{name}`, which is neither a file, a directory nor a plain link");
                Err(self.refused(&at.parent().unwrap_or_else(WorkspacePath::root), what))
            }
            Origin::Directory if at.components().count() > MAX_DEPTH as usize => {
                Err(EditError::TooDeep { path: self.path.clone(), limit: MAX_DEPTH })
            }
            Origin::Directory => {
                let mut directory = Directory::opaque();
                let shown = self.shown(at, |_| true)?;
                shown.into_iter().for_each(|(name, node)| directory.insert(&name, node));
                Ok(Some(Node::Directory(directory)))
            }
            origin => Ok(Node::of(&origin)),
        }
    }

    /// Returns the base's state at `at`. The state on the disk beneath it is remembered.
    fn look_at(&mut self, at: &WorkspacePath) -> Result<Origin, EditError> {
        let failed = |error| unreachable(at, error);
        let metadata = self.tree.base.metadata(at);
        // Before anything is read.
        self.count_bytes(metadata.as_ref().map_or(0, |it| it.size))?;
        let shown = Origin::found(&*self.tree.base, at, metadata).map_err(failed)?;
        let origin = match &self.saved {
            Some(saved) if !shown.holds(&**saved, at).map_err(failed)? => {
                Origin::look(&**saved, at).map_err(failed)?
            }
            _ => shown.clone(),
        };
        self.origins.push((at.clone(), origin));
        if self.origins.len() > MAX_TAKEN {
            return Err(EditError::TooMuch { path: self.path.clone(), limit: MAX_TAKEN });
        }
        Ok(shown)
    }

    fn count_bytes(&mut self, bytes: u64) -> Result<(), EditError> {
        self.bytes += bytes;
        if self.bytes > MAX_TAKEN_BYTES {
            let (path, bytes) = (self.path.clone(), self.bytes);
            return Err(EditError::TooManyBytes { path, bytes, limit: MAX_TAKEN_BYTES });
        }
        Ok(())
    }

    /// Fails for files of version control, which no commit writes to: the directory that holds them cannot be taken either.
    fn expect_not_of_version_control(&self, directory: &WorkspacePath, name: &str) -> Result<(), EditError> {
        if !version_control::is_name(name) {
            return Ok(());
        }
        Err(self.refused(directory, format!("`{name}`, which belongs to version control")))
    }

    fn refused(&self, directory: &WorkspacePath, what: String) -> EditError {
        EditError::CannotBeTaken { path: self.path.clone(), directory: directory.clone(), what }
    }
}
