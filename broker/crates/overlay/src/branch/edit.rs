//! The edits. Each finds out first whether it may happen, makes a new tree, and only then puts it in place.

use std::io;

use bytes::Bytes;

use super::{
    Branch, EditError, Origin, Revision, Snapshot, State,
    origin::{self, Origins},
    taken::Taken,
    tree::{Directory, File, Found, Node, Parents, Tree},
};
use crate::{ContentHash, FileKind, View as _, WorkspacePath, version_control};

/// Longest path in bytes: the limit of Linux, into whose folders a branch must fit.
pub(super) const MAX_PATH: usize = 4096;

/// Longest component of a path in bytes, as on Linux.
const MAX_NAME: usize = 255;

/// Longest target of a link in bytes, as on Linux.
const MAX_TARGET: usize = 4095;

type Edited = Result<Revision, EditError>;

impl Branch {
    /// Gives the file at `path` new contents, or makes a new one, with the directories it needs.
    ///
    /// Links are followed; an existing file stays executable if it was.
    pub fn write(&mut self, path: &WorkspacePath, bytes: Bytes) -> Edited {
        self.write_at(self.locate(path, Links::Follow)?, bytes)
    }

    /// Writes to any path, also to files of version control, for looking at a text as if it stood there. A branch
    /// with such a text cannot be committed.
    pub fn show(&mut self, path: &WorkspacePath, bytes: Bytes) -> Edited {
        self.write_at(self.locate_any(path, Links::Follow)?, bytes)
    }

    fn write_at(&mut self, path: WorkspacePath, bytes: Bytes) -> Edited {
        let executable = match self.look_at(&path)? {
            None => false,
            Some((FileKind::File, executable)) => executable,
            Some((FileKind::Directory, _)) => return Err(EditError::IsADirectory(path)),
            Some((FileKind::Symlink | FileKind::Other, _)) => return Err(EditError::NotAFile(path)),
        };
        self.put(&path, Node::file(bytes, executable), Parents::Create, "write")
    }

    /// Writes a file if it has this hash, or for `None` if there is none. The commit then expects just that on the
    /// disk, whatever the base has a moment later.
    pub fn write_if(&mut self, path: &WorkspacePath, expected: Option<ContentHash>, bytes: Bytes) -> Edited {
        let path = self.locate(path, Links::Follow)?;
        let known = match self.look_at(&path)? {
            None => None,
            Some((FileKind::File, _)) => Some(self.state().tree.taken(&path)?),
            Some((FileKind::Directory, _)) => return Err(EditError::IsADirectory(path)),
            Some((FileKind::Symlink | FileKind::Other, _)) => return Err(EditError::NotAFile(path)),
        };
        let (found, origins) = match known {
            None => (None, self.nothing_at(&path)),
            Some(Taken { node: Node::File(file), origins }) => (Some(file), origins),
            Some(_) => return Err(EditError::NotAFile(path)),
        };
        let actual = found.as_ref().map(|it| it.hash);
        if actual != expected {
            return Err(EditError::OtherContent { path, expected, actual });
        }
        let node = Node::file(bytes, found.is_some_and(|it| it.executable));
        self.put_made_on(origins, &path, node, Parents::Create, "write")
    }

    /// Makes a new file, with the directories it needs.
    pub fn create(&mut self, path: &WorkspacePath, bytes: Bytes) -> Edited {
        self.put_new(path, Node::file(bytes, false), "create")
    }

    /// Makes an empty directory, with those above it that are missing.
    ///
    /// Should the base come to have a directory there too, what is in it is seen; but not in the place of
    /// one that was removed.
    pub fn create_dir(&mut self, path: &WorkspacePath) -> Edited {
        let path = self.locate(path, Links::KeepLast)?;
        let is_new = matches!(self.state().tree.find(&path), Ok(Found::Base));
        let directory = if is_new { Directory::over() } else { Directory::opaque() };
        self.put_new(&path, Node::Directory(directory), "make the directory")
    }

    /// Makes a symbolic link, with the directories it needs. Where `target` leads is not looked at.
    pub fn symlink(&mut self, path: &WorkspacePath, target: &str) -> Edited {
        self.put_new(path, Node::Symlink(target.into()), "link")
    }

    /// Removes a file, a link (never what it leads to), or a directory with all that is in it.
    pub fn remove(&mut self, path: &WorkspacePath) -> Edited {
        let path = self.locate(path, Links::KeepLast)?;
        self.expect_at(&path)?;
        if self.edits_repositories {
            // It is never committed, so that what was there before does not matter.
            let tree = self.without(&self.state().tree, &path)?;
            return Ok(self.replace_tree(
                tree,
                self.state().origins.clone(),
                &format!("remove {path}"),
                vec![path],
            ));
        }
        let taken = self.state().tree.taken(&path)?;
        let tree = self.without(&self.state().tree, &path)?;
        let origins = self.origins_with(taken.origins, self.touched(&path))?;
        Ok(self.replace_tree(tree, origins, &format!("remove {path}"), vec![path]))
    }

    /// Moves a file, link or directory as POSIX `rename` does: what is not a directory replaces what is
    /// not a directory, a directory replaces an empty directory. It takes its contents along: what becomes
    /// of its old place in the base does not matter any more.
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
        expect_names_fit(&to)?;
        self.expect_replaceable(&to, kind)?;
        let tree = &self.state().tree;
        let taken = tree.taken(&from)?;
        let mut arrived = Vec::new();
        add_below(&taken.node, &to, &mut arrived);
        let moved = taken.node.moved_from(tree.came_from(&from));
        let tree = self.without(&tree.with(&to, Some(moved), Parents::Require)?, &from)?;
        let touched = [self.touched(&from), self.touched(&to)].concat();
        let origins = self.origins_with(taken.origins, touched)?;
        let origins = origin::record_known(origins, arrived.into_iter().map(|it| (it, Origin::Missing)));
        Ok(self.replace_tree(tree, origins, &format!("rename {from} to {to}"), vec![from, to]))
    }

    /// `tree` without what is at `path`. What came from the parent stays hidden when that is committed.
    fn without(&self, tree: &Tree, path: &WorkspacePath) -> Result<Tree, EditError> {
        let tree = tree.with(path, None, Parents::Require)?;
        let is_parents = self.state().fork.tree.says(path).is_some_and(|it| it != Origin::Missing);
        if is_parents && tree.shows_base_at(path) {
            return tree.with(path, Some(Node::Whiteout), Parents::Require);
        }
        Ok(tree)
    }

    /// Says whether the file at `path` may be executed. Links are followed.
    pub fn set_executable(&mut self, path: &WorkspacePath, executable: bool) -> Edited {
        let path = self.locate(path, Links::Follow)?;
        match self.expect_at(&path)?.0 {
            FileKind::File => {}
            FileKind::Directory => return Err(EditError::IsADirectory(path)),
            FileKind::Symlink | FileKind::Other => return Err(EditError::NotAFile(path)),
        }
        let taken = self.state().tree.taken(&path)?;
        let Node::File(file) = taken.node else { return Err(EditError::NotAFile(path)) };
        let node = Node::File(File { executable, ..file });
        let what = if executable { "make executable" } else { "make not executable" };
        self.put_made_on(taken.origins, &path, node, Parents::Require, what)
    }

    fn put_new(&mut self, path: &WorkspacePath, node: Node, what: &str) -> Edited {
        let path = self.locate(path, Links::KeepLast)?;
        match self.look_at(&path)? {
            // An entry that appears at the path a moment later is not replaced.
            None => self.put_made_on(self.nothing_at(&path), &path, node, Parents::Create, what),
            Some(_) => Err(EditError::AlreadyExists(path)),
        }
    }

    /// Puts `node` at the link-free `path`.
    pub(super) fn put(&mut self, path: &WorkspacePath, node: Node, parents: Parents, what: &str) -> Edited {
        self.put_made_on(Vec::new(), path, node, parents, what)
    }

    /// Puts a `node` that was made from the base's state there, which is given in `origins`.
    pub(super) fn put_made_on(
        &mut self,
        origins: Vec<(WorkspacePath, Origin)>,
        path: &WorkspacePath,
        node: Node,
        parents: Parents,
        what: &str,
    ) -> Edited {
        expect_names_fit(path)?;
        if let Node::Symlink(target) = &node {
            expect_target(path, target)?;
        }
        let tree = self.state().tree.with(path, Some(node), parents)?;
        let origins = self.origins_with(origins, self.touched(path))?;
        Ok(self.replace_tree(tree, origins, &format!("{what} {path}"), vec![path.clone()]))
    }

    /// The next revision has `tree`.
    fn replace_tree(
        &mut self,
        tree: Tree,
        origins: Origins,
        what: &str,
        paths: Vec<WorkspacePath>,
    ) -> Revision {
        let state = State { tree, origins, ..self.state().clone() };
        self.record(state, what, paths)
    }

    /// Returns the origins with the base's state at the `touched` paths, where it is not `known` from a look before.
    fn origins_with(
        &self,
        known: Vec<(WorkspacePath, Origin)>,
        touched: Vec<WorkspacePath>,
    ) -> Result<Origins, EditError> {
        let state = self.state();
        let origins = origin::record_known(state.origins.clone(), known);
        origin::record(&origins, &state.tree, touched)
    }

    /// The origin of a path at which nothing was seen, for an edit that rests on that.
    pub(super) fn nothing_at(&self, path: &WorkspacePath) -> Vec<(WorkspacePath, Origin)> {
        // Beneath unsaved texts there may be something that those hide.
        let is_missing = self.snapshot().saved().metadata(path).is_err_and(|it| origin::is_missing(&it));
        is_missing.then(|| (path.clone(), Origin::Missing)).into_iter().collect()
    }

    /// Returns the paths that an edit of `path` touches, with the directories that it has to make.
    fn touched(&self, path: &WorkspacePath) -> Vec<WorkspacePath> {
        let snapshot = self.snapshot().saved();
        let is_made = |directory: &WorkspacePath| snapshot.metadata(directory).is_err();
        let mut touched: Vec<_> = path.ancestors().skip(1).take_while(is_made).collect();
        touched.push(path.clone());
        touched
    }

    /// The link-free place that an edit of `path` is about; what is missing on the way is kept as it is. None
    /// of version control's, which no commit would write to.
    pub(super) fn locate(&self, path: &WorkspacePath, links: Links) -> Result<WorkspacePath, EditError> {
        let place = self.locate_any(path, links)?;
        let is_refused = !self.edits_repositories && version_control::is_inside(&place);
        if is_refused { Err(EditError::VersionControl(place)) } else { Ok(place) }
    }

    fn locate_any(&self, path: &WorkspacePath, links: Links) -> Result<WorkspacePath, EditError> {
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

    /// Checks that an entry of this kind may replace the one at `to`.
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
}

fn expect_names_fit(path: &WorkspacePath) -> Result<(), EditError> {
    match path.components().map(str::len).find(|it| *it > MAX_NAME) {
        None => Ok(()),
        Some(length) => Err(EditError::NameTooLong { path: path.clone(), length, limit: MAX_NAME }),
    }
}

fn expect_target(path: &WorkspacePath, target: &str) -> Result<(), EditError> {
    let what = match target {
        "" => "is empty",
        it if it.contains('\0') => "contains a NUL character",
        it if it.len() > MAX_TARGET => "is longer than 4095 bytes",
        _ => return Ok(()),
    };
    Err(EditError::BadTarget { path: path.clone(), what })
}

/// The paths of everything in the directory `node`, were it at `at`.
fn add_below(node: &Node, at: &WorkspacePath, paths: &mut Vec<WorkspacePath>) {
    let Node::Directory(directory) = node else { return };
    for (name, node) in &directory.entries {
        let path = at.child(name);
        add_below(node, &path, paths);
        paths.push(path);
    }
}

/// Treatment of a link at the very end of a path.
#[derive(Clone, Copy)]
pub(super) enum Links {
    Follow,
    KeepLast,
}

/// Resolves like `resolve`, but a link to a missing entry is itself missing: no directories are made through it.
fn resolve_existing(snapshot: &Snapshot, path: &WorkspacePath) -> io::Result<WorkspacePath> {
    let place = snapshot.resolve(path)?;
    snapshot.metadata(&place).map(|_| place)
}

pub(super) fn unreachable(path: &WorkspacePath, source: io::Error) -> EditError {
    let path = path.clone();
    match source.kind() {
        io::ErrorKind::NotFound => EditError::NotFound(path),
        io::ErrorKind::NotADirectory => EditError::NotADirectory(path),
        io::ErrorKind::FileTooLarge => EditError::TooLarge { path, limit: origin::MAX_KEPT },
        _ => EditError::Unreachable { path, source },
    }
}

#[cfg(test)]
mod tests;
