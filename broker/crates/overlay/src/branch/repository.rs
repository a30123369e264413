//! Files of version control that belong to a branch: commits, an index and references of its own, over those of the base.
//!
//! No edit and no commit changes such files, so they are no part of the tree: comparisons, rebases and commits do not see them.
//! They follow the branch through forks, undo and restarts, and only [`Snapshot::with_repository`] shows them.

use std::sync::Arc;

use super::{
    Branch, EditError, Origin, Revision, Snapshot, State,
    edit::unreachable,
    origin::{Origins, is_missing},
    tree::{Directory, Node, Tree},
};
use crate::{FileKind, View, WorkspacePath, version_control};

impl Branch {
    /// Makes the branch's files of version control at these paths be as in `view`, as one revision. What `view` does not have is removed,
    /// with the directories that it does not have either.
    ///
    /// Paths of other files are passed over.
    pub fn keep_repository(
        &mut self,
        view: &dyn View,
        paths: &[WorkspacePath],
    ) -> Result<Revision, EditError> {
        let paths: Vec<_> = paths.iter().filter(|it| version_control::is_inside(it)).cloned().collect();
        let Some(first) = paths.first() else { return Ok(self.revision()) };
        let nodes = paths.iter().map(|it| node_of(view, it)).collect::<Result<Vec<_>, _>>()?;
        let mut repository = self.state().repository.clone();
        // First, so that a file can stand where a directory was.
        for (path, _) in paths.iter().zip(&nodes).filter(|(_, node)| node.is_none()) {
            repository = with(&repository, &outermost_missing(view, path), Node::Whiteout)?;
        }
        for (path, node) in paths.iter().zip(nodes) {
            if let Some(node) = node {
                repository = with(&repository, path, node)?;
            }
        }
        let what = format!("keep {first} and other files of version control");
        let state = State { repository, ..self.state().clone() };
        Ok(self.record(state, &what, paths))
    }
}

impl Snapshot {
    /// Whether the branch has files of version control of its own.
    pub fn has_repository(&self) -> bool {
        !self.state().repository.is_blank()
    }

    /// The branch's own files and links of version control. Sorted.
    pub fn repository_files(&self) -> Vec<WorkspacePath> {
        let mut files = Vec::new();
        held_files(&WorkspacePath::root(), &self.state().repository.root, &mut files);
        files.sort();
        files
    }

    /// Returns the same with the branch's own files of version control, for a folder in which programs run.
    #[must_use]
    pub fn with_repository(&self) -> Self {
        let repository = &self.state().repository;
        if repository.is_blank() {
            return self.clone();
        }
        let State { mut tree, mut origins, .. } = self.state().clone();
        each_of_version_control(&WorkspacePath::root(), &repository.root, &mut |path, node| {
            if let Some(laid) = tree.laid(path, node.clone()) {
                tree = laid;
            }
            made_directories(&tree, path, node, &mut origins);
        });
        let blank = repository.blank();
        Self::new(State { tree, origins, repository: blank, ..self.state().clone() }, self.revision())
    }
}

fn held_files(at: &WorkspacePath, directory: &Directory, files: &mut Vec<WorkspacePath>) {
    for (name, node) in &directory.entries {
        match &**node {
            Node::Directory(below) => held_files(&at.child(name), below, files),
            Node::File(_) | Node::Symlink(_) => files.push(at.child(name)),
            Node::Whiteout => {}
        }
    }
}

/// The outermost entries of version control in a directory, with their nodes.
pub(super) fn each_of_version_control(
    at: &WorkspacePath,
    directory: &Directory,
    each: &mut impl FnMut(&WorkspacePath, &Node),
) {
    for (name, node) in &directory.entries {
        let path = at.child(name);
        match &**node {
            node if version_control::is_name(name) => each(&path, node),
            Node::Directory(below) => each_of_version_control(&path, below, each),
            _ => {}
        }
    }
}

/// Notes the directories that are none in the base: a folder has to get them with what they hold.
fn made_directories(tree: &Tree, at: &WorkspacePath, node: &Node, origins: &mut Origins) {
    let Node::Directory(directory) = node else { return };
    if !tree.base.metadata(at).is_ok_and(|it| it.kind == FileKind::Directory) {
        origins.insert_mut(at.clone(), Origin::Missing);
    }
    for (name, node) in &directory.entries {
        made_directories(tree, &at.child(name), node, origins);
    }
}

/// Returns the repository with a node at `path`. Directories on the way show what the base has in them.
pub(super) fn with(repository: &Tree, path: &WorkspacePath, node: Node) -> Result<Tree, EditError> {
    let tree = repository.laid(path, node).ok_or(EditError::Root)?;
    tree.expect_not_too_deep(path)?;
    Ok(tree)
}

/// The outermost file or directory of version control on the way to `path` that `view` does not have.
fn outermost_missing(view: &dyn View, path: &WorkspacePath) -> WorkspacePath {
    let is_missing = |it: &WorkspacePath| view.metadata(it).is_err_and(|error| is_missing(&error));
    let missing = path.ancestors().take_while(|it| version_control::is_inside(it) && is_missing(it));
    missing.last().unwrap_or_else(|| path.clone())
}

/// `None` where `view` has nothing, or no file.
fn node_of(view: &dyn View, path: &WorkspacePath) -> Result<Option<Node>, EditError> {
    let failed = |error| unreachable(path, error);
    let metadata = match view.metadata(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        metadata => metadata.map_err(failed)?,
    };
    Ok(match metadata.kind {
        FileKind::File => Some(Node::file(view.read(path).map_err(failed)?, metadata.executable)),
        FileKind::Symlink => Some(Node::Symlink(Arc::from(view.read_link(path).map_err(failed)?))),
        FileKind::Directory | FileKind::Other => None,
    })
}

#[cfg(test)]
mod tests;
