//! The place of a merged folder in Broker's cache folder: a new one each time, which goes when the folder does.

#![expect(clippy::disallowed_methods, reason = "Broker's own cache folder")]

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use crate::{
    Storage,
    copy::Paths,
    linux::clear,
    storage::{LockedFolder, name_of},
};

pub(crate) struct Merged {
    kept: LockedFolder,
    paths: Paths,
}

/// Numbers of the folders of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl Merged {
    /// A place for the workspace at `root`. What killed processes left of theirs is removed.
    pub(crate) fn new(storage: &Storage, root: &Path) -> io::Result<Self> {
        let shelf = storage.of_merged()?;
        if fs::canonicalize(&storage.folder)?.starts_with(root) {
            // The process that serves the folder would ask itself what is there.
            return Err(io::Error::other("Broker's cache folder lies in the workspace"));
        }
        shelf.reclaim(clear_all)?;
        let name = format!("{}-{}-{}", name_of(root), process::id(), NEXT.fetch_add(1, Relaxed));
        let kept = shelf.take(&name)?.ok_or(io::ErrorKind::ResourceBusy)?;
        let at = fs::canonicalize(&kept.folder)?.join(TREE).join(root.file_name().unwrap_or("root".as_ref()));
        let merged = Self { kept, paths: Paths::new(root, &at) };
        fs::create_dir_all(&at)?;
        fs::create_dir(merged.temporary())?;
        Ok(merged)
    }

    /// Returns the mount point of the folder, and the folder where what is written is stored.
    pub(crate) fn places(&self) -> (&Path, &Path) {
        (self.paths.tree(), &self.kept.folder)
    }

    pub(crate) fn paths(&self) -> &Paths {
        &self.paths
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.kept.folder.join("tmp")
    }
}

const TREE: &str = "tree";

/// Unmounts what is left in a place, and removes the place.
fn clear_all(kept: &Path) -> io::Result<()> {
    for entry in fs::read_dir(kept.join(TREE)).into_iter().flatten() {
        clear(&entry?.path(), kept)?;
    }
    clear(&kept.join(TREE), kept)
}

impl Drop for Merged {
    fn drop(&mut self) {
        // The process that served the folder has done so, unless it was killed.
        if clear_all(&self.kept.folder).is_ok() {
            let _ = self.kept.forget();
        }
    }
}
