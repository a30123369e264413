//! A single hash for all that a walk visits, kept up to date at the cost of the changes.
//!
//! A directory's hash is that of its entries: name, kind, whether it is executable, and the hash of the
//! content, of a link's text, or of the directory. What a walk passes over does not count. An empty
//! directory counts, as a listing tells of it; a link counts by its text, wherever it leads.
//!
//! Entries that exist but cannot be read count as unreadable: one closed file must not leave a workspace without a hash.

mod hashing;
mod sources;
mod survey;

use std::{collections::BTreeMap, io, sync::Arc};

use sources::Sources;
use survey::Survey;

use crate::{ContentHash, View, WalkOptions, WorkspacePath, walk::Rules};

/// The hashes of a tree's directories. Cloning it copies nothing of them.
#[derive(Clone)]
pub struct TreeHash {
    top: Arc<Directory>,
    options: WalkOptions,
    /// Sources by directory that has rules of its own.
    sources: BTreeMap<WorkspacePath, Arc<Sources>>,
}

struct Directory {
    hash: ContentHash,
    /// Entries that count, sorted by name.
    entries: Vec<(Box<str>, Child)>,
    /// Ignore rules inside of this directory.
    rules: Rules,
}

#[derive(Clone)]
enum Child {
    File { hash: ContentHash, executable: bool },
    Symlink(ContentHash),
    Directory(Arc<Directory>),
    Unreadable(io::ErrorKind),
}

/// Hashes what a walk of the whole view with these options visits. Large trees are read by several threads.
///
/// Fails only if the root cannot be listed, or reading fails for a cause outside of the tree. If the view moves
/// meanwhile, the hash may be of no single state; an [`update`](TreeHash::update) with the changed paths makes it
/// good.
pub fn tree_hash(view: &dyn View, options: &WalkOptions) -> io::Result<TreeHash> {
    Survey::new(view, options, None, &[]).run()
}

impl TreeHash {
    /// Equal for trees of equal content, and for those alone.
    pub fn root(&self) -> ContentHash {
        self.top.hash
    }

    /// The hash of a directory that a walk visits.
    pub fn directory(&self, path: &WorkspacePath) -> Option<ContentHash> {
        Some(self.find(path)?.hash)
    }

    /// Returns the same as [`tree_hash`] of `view`, if `view` differs from the hashed tree at `changed` only.
    ///
    /// A path in `changed` stands for everything below it, and is free of links. Directories that are
    /// neither above nor below one are shared, unless rules changed that count for them.
    pub fn update(&self, view: &dyn View, changed: &[WorkspacePath]) -> io::Result<Self> {
        if changed.is_empty() {
            return Ok(self.clone());
        }
        Survey::new(view, &self.options, Some(self), changed).run()
    }

    fn find(&self, path: &WorkspacePath) -> Option<&Arc<Directory>> {
        path.components().try_fold(&self.top, |directory, name| match directory.child(name)? {
            Child::Directory(next) => Some(next),
            Child::File { .. } | Child::Symlink(_) | Child::Unreadable(_) => None,
        })
    }
}

impl Directory {
    fn child(&self, name: &str) -> Option<&Child> {
        let index = self.entries.binary_search_by(|(it, _)| (**it).cmp(name)).ok()?;
        Some(&self.entries[index].1)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
