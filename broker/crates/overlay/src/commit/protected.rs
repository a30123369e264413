//! Checks whether a change would reach files of version control: by their name, or because the entry on the disk is
//! the same as one with such a name, as in a folder that takes two names for one.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::{CommitError, folder::Folder, look::is_out_of_reach};
use crate::{WorkspacePath, version_control};

/// The first of `paths` that is, or lies in, what version control keeps.
pub(super) fn protected<'p>(
    folder: &Folder,
    paths: impl Iterator<Item = &'p WorkspacePath>,
) -> Result<Option<WorkspacePath>, CommitError> {
    let mut looked = Looked { folder, kept_in: BTreeMap::new(), fine: BTreeSet::new() };
    for path in paths {
        let is_protected = version_control::is_inside(path)
            || looked.is_same(path).map_err(|source| CommitError::io(path, "look at", source))?;
        if is_protected {
            return Ok(Some(path.clone()));
        }
    }
    Ok(None)
}

/// Device and inode.
type Identity = (u64, u64);

struct Looked<'a> {
    folder: &'a Folder,
    /// Entries of version control in each directory.
    kept_in: BTreeMap<WorkspacePath, BTreeSet<Identity>>,
    fine: BTreeSet<WorkspacePath>,
}

impl Looked<'_> {
    fn is_same(&mut self, path: &WorkspacePath) -> io::Result<bool> {
        for at in path.ancestors().filter(|it| !it.is_root()) {
            if self.fine.contains(&at) {
                break;
            }
            let parent = at.parent().unwrap_or_else(WorkspacePath::root);
            for directory in [WorkspacePath::root(), parent] {
                if self.has_same(&directory, &at)? {
                    return Ok(true);
                }
            }
            self.fine.insert(at);
        }
        Ok(false)
    }

    /// Whether the entry at `path` is one of `directory`'s entries of version control.
    fn has_same(&mut self, directory: &WorkspacePath, path: &WorkspacePath) -> io::Result<bool> {
        if self.kept_in(directory)?.is_empty() {
            return Ok(false);
        }
        let identity = self.identity(path)?;
        Ok(identity.is_some_and(|it| self.kept_in.get(directory).is_some_and(|kept| kept.contains(&it))))
    }

    fn kept_in(&mut self, directory: &WorkspacePath) -> io::Result<&BTreeSet<Identity>> {
        if !self.kept_in.contains_key(directory) {
            let mut kept = BTreeSet::new();
            for name in version_control::names() {
                kept.extend(self.identity(&directory.child(&name))?);
            }
            self.kept_in.insert(directory.clone(), kept);
        }
        Ok(&self.kept_in[directory])
    }

    fn identity(&self, path: &WorkspacePath) -> io::Result<Option<Identity>> {
        match self.folder.identity(path) {
            Err(error) if is_out_of_reach(&error) => Ok(None),
            identity => identity.map(Some),
        }
    }
}
