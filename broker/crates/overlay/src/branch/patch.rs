//! Applying a patch over several files, all of it or nothing.
//!
//! Semantics are those of `git apply`: every part is applied to the state before the patch, so that two files may
//! change places; parts that continue an earlier part's result start from that.

mod error;
mod hunks;
mod read;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use patch::Hunk;

pub use self::error::PatchError;
use self::{
    hunks::Refused,
    read::{FileEdit, FileMode, Operation},
};
use super::{
    Branch, EditError, Origin, Revision,
    edit::Links,
    origin,
    tree::{File, Node, Parents},
};
use crate::{FileKind, View as _, WorkspacePath};

/// Bytes.
pub const MAX_PATCH: usize = 64 << 20;

const MAX_FILES: usize = 100_000;

/// Result of applying a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchApplied {
    pub revision: Revision,
    /// Every file that was written, made, moved or removed. Sorted.
    pub paths: Vec<WorkspacePath>,
    /// The hunks that were not where the patch said.
    pub moved: Vec<MovedHunk>,
}

/// A hunk that was found at another line than the patch said, counting what earlier hunks did not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedHunk {
    pub path: WorkspacePath,
    /// Within the file's part of the patch, counted from 1.
    pub hunk: usize,
    /// Line in the file as it was, counted from 1.
    pub stated_line: usize,
    pub found_line: usize,
}

impl Branch {
    /// Applies a unified or git patch as one revision, or not at all.
    ///
    /// Files are modified, made, deleted, renamed, copied, and made executable or not; symbolic links are
    /// files with their target as the text. Names may have git's `a/` and `b/` before them, or whatever two
    /// prefixes git was told to use, all or none. A hunk may have moved by some lines, but its context must
    /// fit exactly. A directory that loses its last file to the patch is removed, as git does.
    pub fn apply_patch(&mut self, patch: &str) -> Result<PatchApplied, PatchError> {
        if patch.len() > MAX_PATCH {
            return Err(PatchError::TooLong { length: patch.len(), limit: MAX_PATCH });
        }
        let patch = read::normalised(patch);
        let edits = read::read(&patch)?;
        if edits.len() > MAX_FILES {
            return Err(PatchError::TooManyFiles { limit: MAX_FILES });
        }
        let mut plan = Plan {
            branch: self,
            removed: BTreeSet::new(),
            put: BTreeMap::new(),
            origins: Vec::new(),
            moved: Vec::new(),
        };
        for edit in &edits {
            if let Some(path) = edit.operation.removed() {
                plan.removed.insert(plan.place(path)?);
            }
        }
        for edit in &edits {
            plan.add(edit)?;
        }
        let Plan { removed, put, origins, moved, .. } = plan;
        let paths: BTreeSet<_> = removed.iter().chain(put.keys()).cloned().collect();
        let what = match paths.len() {
            1 => format!("patch {}", edits[0].operation.path()),
            count => format!("patch {count} files"),
        };
        let mut state = self.state().clone();
        state.origins = origin::record_known(state.origins, origins);
        let mut scratch = self.scratch_in(state);
        carry_out(&mut scratch, removed, put)?;
        let paths: Vec<_> = paths.into_iter().collect();
        let revision = self.record(scratch.state().clone(), &what, paths.clone());
        Ok(PatchApplied { revision, paths, moved })
    }
}

/// Edits of a patch, computed before any is made.
struct Plan<'b> {
    branch: &'b Branch,
    /// Paths that some part of the patch deletes or moves away.
    removed: BTreeSet<WorkspacePath>,
    put: BTreeMap<WorkspacePath, Node>,
    /// Hash of the text that the patch was applied to; the base may have another one a moment later.
    origins: Vec<(WorkspacePath, Origin)>,
    moved: Vec<MovedHunk>,
}

impl Plan<'_> {
    fn add(&mut self, edit: &FileEdit<'_>) -> Result<(), PatchError> {
        match &edit.operation {
            Operation::Create(path) => {
                let path = self.place(path)?;
                self.expect_free(&path)?;
                let is_link = edit.mode == Some(FileMode::Symlink);
                let empty = if is_link { Node::Symlink("".into()) } else { Node::file("".into(), false) };
                let node = self.patched(edit, &path, empty)?;
                self.put.insert(path, node);
            }
            Operation::Delete(path) => {
                let path = self.place(path)?;
                let node = self.node(&path)?;
                let node = self.patched(edit, &path, node)?;
                if !edit.hunks.is_empty() && !self.content(&path, &node)?.is_empty() {
                    return Err(PatchError::NotAllDeleted(path));
                }
            }
            Operation::Modify { old, path } => {
                let (old, path) = (self.place(old)?, self.place(path)?);
                let (path, node) = match self.node(&path) {
                    Ok(node) => (path, node),
                    Err(error) => (old.clone(), self.node(&old).map_err(|_| error)?),
                };
                let node = self.patched(edit, &path, node)?;
                self.put.insert(path, node);
            }
            Operation::Rename { from, to } | Operation::Copy { from, to } => {
                let (from, to) = (self.place(from)?, self.place(to)?);
                self.expect_free(&to)?;
                let node = self.node(&from)?;
                let node = self.patched(edit, &to, node)?;
                let place = self.branch.state().tree.came_from(&from);
                self.put.insert(to, node.moved_from(place));
            }
        }
        Ok(())
    }

    /// The place that a name in the patch means. A file or link that the patch removes may become a
    /// directory, and does not lead elsewhere.
    fn place(&self, path: &WorkspacePath) -> Result<WorkspacePath, EditError> {
        if path.ancestors().skip(1).any(|it| self.removed.contains(&it)) {
            return Ok(path.clone());
        }
        self.branch.locate(path, Links::KeepLast)
    }

    /// The file or link that a part of the patch starts from.
    fn node(&mut self, path: &WorkspacePath) -> Result<Node, EditError> {
        if let Some(node) = self.put.get(path).filter(|_| !self.removed.contains(path)) {
            return Ok(node.clone());
        }
        match self.branch.look_at(path)? {
            None => Err(EditError::NotFound(path.clone())),
            Some((FileKind::Directory, _)) => Err(EditError::IsADirectory(path.clone())),
            Some((FileKind::Other, _)) => Err(EditError::NotAFile(path.clone())),
            Some((FileKind::File | FileKind::Symlink, _)) => {
                let taken = self.branch.state().tree.taken(path)?;
                self.origins.extend(taken.origins);
                Ok(taken.node)
            }
        }
    }

    /// A directory may lose all its files to the patch; whether it did is seen when the file is put there.
    fn expect_free(&mut self, path: &WorkspacePath) -> Result<(), EditError> {
        if self.put.contains_key(path) {
            return Err(EditError::AlreadyExists(path.clone()));
        }
        if self.removed.contains(path) {
            return Ok(());
        }
        match self.branch.look_at(path) {
            Ok(Some((FileKind::Directory, _))) | Err(_) => {}
            Ok(Some(_)) => return Err(EditError::AlreadyExists(path.clone())),
            Ok(None) => self.origins.extend(self.branch.nothing_at(path)),
        }
        Ok(())
    }

    fn content(&self, path: &WorkspacePath, node: &Node) -> Result<String, EditError> {
        let bytes = match node {
            Node::File(file) => file.bytes.clone(),
            Node::Symlink(target) => return Ok(target.to_string()),
            Node::Directory(_) | Node::Whiteout => return Err(EditError::NotAFile(path.clone())),
        };
        String::from_utf8(bytes.into()).map_err(|_| EditError::NotText(path.clone()))
    }

    /// Returns the node after `edit`; `path` is its path then.
    fn patched(&mut self, edit: &FileEdit<'_>, path: &WorkspacePath, node: Node) -> Result<Node, PatchError> {
        let node = if edit.hunks.is_empty() {
            node
        } else {
            let applied = hunks::apply(&self.content(path, &node)?, &edit.hunks);
            let applied = applied.map_err(|it| refused(it, path, &edit.hunks))?;
            let moved = applied.moved.into_iter().map(|(hunk, stated_line, found_line)| MovedHunk {
                path: path.clone(),
                hunk: hunk + 1,
                stated_line,
                found_line,
            });
            self.moved.extend(moved);
            with_text(node, applied.text)
        };
        Ok(match edit.mode {
            Some(FileMode::Executable) => with_bit(node, true),
            Some(FileMode::Regular) => with_bit(node, false),
            Some(FileMode::Symlink | FileMode::Submodule) | None => node,
        })
    }
}

fn refused(why: Refused, path: &WorkspacePath, hunks: &[Hunk<'_>]) -> PatchError {
    let patch_line = |hunk: usize| hunks[hunk].line;
    let path = path.clone();
    match why {
        Refused::Mismatch(it) => PatchError::Mismatch {
            path,
            hunk: it.hunk + 1,
            patch_line: patch_line(it.hunk),
            file_line: it.line,
            expected: it.expected,
            found: it.found,
        },
        Refused::TooFar { hunk } => PatchError::TooFar { path, hunk: hunk + 1, patch_line: patch_line(hunk) },
    }
}

fn with_text(node: Node, text: String) -> Node {
    match node {
        Node::Symlink(_) => Node::Symlink(text.into()),
        Node::File(file) => Node::file(text.into(), file.executable),
        Node::Directory(_) | Node::Whiteout => unreachable!("a patch starts from files and links"),
    }
}

fn with_bit(node: Node, executable: bool) -> Node {
    match node {
        Node::File(file) => Node::File(File { executable, ..file }),
        node => node,
    }
}

fn carry_out(
    branch: &mut Branch,
    removed: BTreeSet<WorkspacePath>,
    put: BTreeMap<WorkspacePath, Node>,
) -> Result<(), EditError> {
    for path in &removed {
        branch.remove(path)?;
    }
    let emptied: BTreeSet<_> = removed.iter().filter_map(WorkspacePath::parent).collect();
    for (path, node) in put {
        if branch.look_at(&path)?.is_some_and(|(kind, _)| kind == FileKind::Directory) {
            below(&emptied, &path).try_for_each(|it| remove_empty(branch, it))?;
            // A directory that a patch cannot express makes room too, as with git.
            remove_empty(branch, &path)?;
        }
        if branch.look_at(&path)?.is_some_and(|(kind, _)| kind == FileKind::Directory) {
            return Err(EditError::IsADirectory(path));
        }
        branch.put(&path, node, Parents::Create, "patch")?;
    }
    emptied.iter().try_for_each(|it| remove_empty(branch, it))
}

/// Returns those of `paths` that are `directory` or lie below it.
fn below<'p>(
    paths: &'p BTreeSet<WorkspacePath>,
    directory: &WorkspacePath,
) -> impl Iterator<Item = &'p WorkspacePath> {
    let prefix = format!("{directory}/");
    let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
    let inner = paths.range::<str, _>(from);
    let inner: Vec<_> = inner.take_while(|it| it.as_str().starts_with(&prefix)).collect();
    paths.get(directory).into_iter().chain(inner)
}

/// Removes `directory` and those above it as long as they are empty.
fn remove_empty(branch: &mut Branch, directory: &WorkspacePath) -> Result<(), EditError> {
    for directory in directory.ancestors().filter(|it| !it.is_root()) {
        match branch.snapshot().list(&directory) {
            Ok(listing) if listing.entries.is_empty() && listing.not_utf8 == 0 => {
                branch.remove(&directory)?
            }
            _ => break,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests;
