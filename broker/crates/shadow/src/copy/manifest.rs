//! Manifest of a copy: the entries that were put there, and their stamps from then.

#![expect(clippy::disallowed_methods, reason = "Broker's own cache folder")]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use overlay::ContentHash;
use serde::{Deserialize, Serialize};

use crate::scan::{Stamp, as_bytes};

/// Raised when its form or meaning changes: an older copy is then made anew, file by file.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    version: u32,
    #[serde(with = "as_bytes")]
    pub(super) entries: BTreeMap<PathBuf, Placed>,
    /// Whether a program ran in the copy, so that its caches may be of any content that was shown.
    pub(super) has_run: bool,
    /// Whether the last program did not end by itself, so that its caches may be half written.
    pub(super) is_broken_off: bool,
    /// Time at which something was put there last, in nanoseconds since 1970.
    pub(super) last_sync: i64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Placed {
    pub(super) source: Source,
    /// Stamp of the entry in the copy.
    pub(super) stamp: Stamp,
}

/// Source of an entry. Equal sources have the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Source {
    Disk(Stamp),
    /// File of the disk, just when it was changed: another change may not show in its stamp.
    Fresh,
    Layer {
        content: [u8; 32],
        executable: bool,
    },
    Folder,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            version: VERSION,
            entries: BTreeMap::new(),
            has_run: false,
            is_broken_off: false,
            last_sync: 0,
        }
    }
}

impl Source {
    pub(super) fn of_bytes(bytes: &[u8], executable: bool) -> Self {
        Self::Layer { content: *ContentHash::of(bytes).as_bytes(), executable }
    }
}

impl Manifest {
    /// Reads the manifest of a copy. Returns an empty one if that fails, whereupon all is compared.
    pub(super) fn read(folder: &Path) -> Self {
        let bytes = fs::read(folder.join(NAME)).ok();
        let read = bytes.and_then(|it| postcard::from_bytes::<Self>(&it).ok());
        // Without one, nothing is known of how what is there came to be.
        let unknown = Self { has_run: folder.join("tree").exists(), is_broken_off: true, ..Self::default() };
        read.filter(|it| it.version == VERSION).unwrap_or(unknown)
    }

    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let bytes = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let new = folder.join("manifest.new");
        fs::write(&new, bytes)?;
        fs::rename(new, folder.join(NAME))
    }

    /// Bytes of all files, without caches.
    pub(super) fn size(&self) -> u64 {
        self.entries.values().map(|it| it.stamp.size).sum()
    }

    /// Forgets an entry and all below it.
    pub(super) fn forget(&mut self, path: &Path) {
        self.entries.retain(|it, _| !it.starts_with(path));
    }
}

const NAME: &str = "manifest";
