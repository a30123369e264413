//! What held when caches were kept.

#![expect(
    clippy::disallowed_methods,
    reason = "Broker's own cache folder, and stamps of the workspace's files"
)]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use overlay::ContentHash;
use serde::{Deserialize, Serialize};

use crate::scan::{Kind, Scan, Stamp, Tree, all_below, as_bytes};

/// Raised when its form or meaning changes.
const VERSION: u32 = 1;

/// A change on the disk this long before it was looked at may be followed by one that leaves the same stamp; in nanoseconds.
const UNSURE: i64 = 50_000_000;

pub(super) type Hash = [u8; 32];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    /// The start of the system: what was written before it broke down may be half written.
    boot: String,
    /// The workspace's files on the disk, without caches.
    #[serde(with = "as_bytes")]
    pub(super) sources: Tree,
    /// Contents of those that were changed just before.
    #[serde(with = "as_bytes")]
    unsure: BTreeMap<PathBuf, Hash>,
    /// The user's own caches, by their names.
    pub(super) disk: BTreeMap<String, Hash>,
    /// Files that were shown otherwise than the disk has them, if only with another time.
    #[serde(with = "as_bytes")]
    pub(super) shown: BTreeMap<PathBuf, Shown>,
    /// What is kept, by the names of the caches.
    pub(super) groups: BTreeMap<String, Group>,
    /// No file of the caches is newer; in nanoseconds since 1970.
    pub(super) newest: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) folder: String,
    /// The user's own caches of this name at that time.
    pub(super) disk: Option<Hash>,
}

/// A file as a run found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shown {
    pub(crate) content: Content,
    /// Its time, in nanoseconds since 1970.
    pub(crate) modified: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Content {
    /// That of the disk.
    Disk(Stamp),
    File {
        hash: Hash,
        executable: bool,
    },
    Link(Hash),
    Folder,
    Removed,
}

impl State {
    pub(super) fn new(root: &Path, scan: Scan, start: i64) -> io::Result<Self> {
        let unsure =
            scan.sources.iter().filter(|(_, it)| it.kind == Kind::File && it.changed >= start - UNSURE);
        let unsure = unsure.filter_map(|(path, _)| Some((path.clone(), hash(&root.join(path))?))).collect();
        let disk = hashes(root, &scan.caches)?;
        Ok(Self {
            version: VERSION,
            boot: super::boot(),
            sources: scan.sources,
            unsure,
            disk,
            shown: BTreeMap::new(),
            groups: BTreeMap::new(),
            newest: 0,
        })
    }

    pub(super) fn read(file: &Path) -> Option<Self> {
        let state: Self = postcard::from_bytes(&fs::read(file).ok()?).ok()?;
        (state.version == VERSION && state.boot == super::boot()).then_some(state)
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let bytes = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let new = file.with_extension(format!("new-{}", std::process::id()));
        fs::write(&new, bytes)?;
        fs::rename(new, file)
    }

    /// Paths at which the disk has something else than it had then.
    pub(super) fn changed_since<'a>(&'a self, then: &'a Self, root: &Path) -> Vec<&'a PathBuf> {
        let is_other = |path: &&PathBuf| match (self.sources.get(*path), then.sources.get(*path)) {
            (Some(now), Some(before)) if now.kind == Kind::Folder => before.kind != Kind::Folder,
            // What was not sure then may have been changed without a trace.
            (Some(now), Some(before)) => {
                now != before || then.unsure.get(*path).is_some_and(|it| Some(*it) != hash(&root.join(path)))
            }
            _ => true,
        };
        let gone = then.sources.keys().filter(|it| !self.sources.contains_key(*it));
        self.sources.keys().filter(is_other).chain(gone).collect()
    }
}

fn hash(file: &Path) -> Option<Hash> {
    Some(*ContentHash::of(&fs::read(file).ok()?).as_bytes())
}

/// A hash of the stamps of all caches of each name.
fn hashes(root: &Path, found: &Tree) -> io::Result<BTreeMap<String, Hash>> {
    let mut trees: BTreeMap<String, Tree> = BTreeMap::new();
    for (path, stamp) in found {
        let name = if stamp.kind == Kind::Folder {
            path.file_name().and_then(|it| it.to_str())
        } else {
            Some(super::FILES)
        };
        let tree = trees.entry(name.unwrap_or_default().to_owned()).or_default();
        tree.insert(path.clone(), *stamp);
        if stamp.kind == Kind::Folder {
            all_below(root, path, tree)?;
        }
    }
    let hash = |tree: &Tree| -> io::Result<Hash> {
        let all: Vec<(&[u8], &Stamp)> =
            tree.iter().map(|(path, it)| (path.as_os_str().as_encoded_bytes(), it)).collect();
        let bytes = postcard::to_stdvec(&all).map_err(io::Error::other)?;
        Ok(*ContentHash::of(&bytes).as_bytes())
    };
    trees.iter().map(|(name, tree)| Ok((name.clone(), hash(tree)?))).collect()
}
