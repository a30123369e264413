//! A copy of a workspace that is kept between runs: brought to what a view shows by what differs, and compared afterwards for
//! what programs wrote.
//!
//! A file of the copy is left alone only if it is what was put there, by its stamp, and if the same would be put there
//! again. All else is replaced, so that it does not matter how the last run ended. Caches are the copy's own.
//!
//! Left out: the processes, which run as in any other folder.

mod manifest;
mod paths;
mod place;
mod sync;

use std::{
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

pub(crate) use self::paths::{Paths, Relay};
use self::{manifest::Manifest, place::Placer};
use crate::{
    Entry, Layer, Storage,
    storage::{LockedFolder, Shelf, name_of},
};

/// Copies of one workspace that may be in use at one time.
const MAX_COPIES: u32 = 8;

/// A copy in use.
pub(crate) struct Copy {
    shelf: Shelf,
    kept: LockedFolder,
    paths: Paths,
    manifest: Mutex<Manifest>,
    runs: Mutex<Runs>,
    /// Whether the copy is removed when it is not used any more.
    is_temporary: bool,
}

/// Programs since the copy was opened.
#[derive(Default)]
struct Runs {
    running: u32,
    /// Whether a program did not end by itself.
    some_broke_off: bool,
}

impl Copy {
    /// Brings a copy of the workspace at `root` to what `layer` shows over it. One that is not `warm` has nothing of earlier runs, and is not
    /// kept. Links in one that `is_shown` at the workspace's path are other ones, so that it is another copy.
    pub(crate) fn open(
        storage: &Storage,
        root: &Path,
        layer: &Layer,
        warm: bool,
        is_shown: bool,
    ) -> io::Result<Self> {
        let shelf = storage.of_copies()?;
        let kind = match (warm, is_shown) {
            (true, false) => "copy",
            (true, true) => "shown",
            (false, _) => "once",
        };
        let kept = take(&shelf, root, kind)?;
        let name = root.file_name().unwrap_or("root".as_ref());
        let tree = kept.folder.join("tree").join(name);
        let paths = Paths::new(root, &tree).shown(is_shown);
        if !warm {
            crate::removal::remove_all(&kept.folder.join("tree"))?;
        }
        let before = if warm { Manifest::read(&kept.folder) } else { Manifest::default() };
        let copy = Self {
            shelf,
            kept,
            paths,
            manifest: Mutex::new(before),
            runs: Mutex::default(),
            is_temporary: !warm,
        };
        copy.sync(layer)?;
        copy.shelf.evict()?;
        Ok(copy)
    }

    fn sync(&self, layer: &Layer) -> io::Result<()> {
        let temporary = self.temporary();
        crate::removal::remove_all(&temporary)?;
        overlay::private_folder(&temporary)?;
        let mut manifest = self.manifest.lock();
        sync::sync(&self.paths, layer, &mut manifest, self.shelf.limit())?;
        self.kept.record_size(manifest.size())?;
        manifest.write(&self.kept.folder)
    }

    pub(crate) fn paths(&self) -> &Paths {
        &self.paths
    }

    /// A folder for temporary files, which is empty at first.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.kept.folder.join("tmp")
    }

    /// To be called before a program runs: what it leaves in caches is not trusted until it has ended by itself.
    pub(crate) fn begin_run(&self) -> io::Result<()> {
        let mut runs = self.runs.lock();
        let mut manifest = self.manifest.lock();
        manifest.has_run = true;
        manifest.is_broken_off = true;
        manifest.write(&self.kept.folder)?;
        runs.running += 1;
        Ok(())
    }

    /// Caches are whole when the last program has ended, and all did so by themselves.
    pub(crate) fn end_run(&self, is_whole: bool) -> io::Result<()> {
        // Always locked in this order.
        let mut runs = self.runs.lock();
        runs.running -= 1;
        runs.some_broke_off |= !is_whole;
        if runs.running > 0 || runs.some_broke_off {
            return Ok(());
        }
        let mut manifest = self.manifest.lock();
        manifest.is_broken_off = false;
        manifest.write(&self.kept.folder)
    }

    /// Shows these entries, too, while programs run.
    pub(crate) fn apply(&self, layer: &Layer) -> io::Result<()> {
        let mut manifest = self.manifest.lock();
        let placer = Placer::new(&self.paths);
        for entry in &layer.entries {
            placer.apply(entry, &mut manifest)?;
        }
        manifest.write(&self.kept.folder)
    }

    /// Passes on the entries that differ from those that were put there; of files, those that `wants` accepts by path and size.
    /// Caches are left out: their contents before are not known.
    pub(crate) fn harvest(
        &self,
        mut wants: impl FnMut(&Path, u64) -> bool,
        mut each: impl FnMut(Entry),
    ) -> io::Result<()> {
        sync::harvest(&self.paths, &self.manifest.lock(), &mut wants, &mut each)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = crate::removal::remove_all(&self.temporary());
        if self.is_temporary {
            let _ = self.kept.remove();
        }
    }
}

/// Shows an entry in a folder in the place of a workspace's while programs run.
pub(crate) fn show(paths: &Paths, entry: &Entry) -> io::Result<()> {
    Placer::new(paths).apply(entry, &mut Manifest::default())
}

fn take(shelf: &Shelf, root: &Path, kind: &str) -> io::Result<LockedFolder> {
    let name = name_of(root);
    for number in 0..MAX_COPIES {
        if let Some(kept) = shelf.take(&format!("{name}-{kind}-{number}"))? {
            return Ok(kept);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::ResourceBusy,
        format!("{MAX_COPIES} commands run in copies of this workspace already"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn a_run_that_cannot_begin_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let (root, storage) = (folder.path().join("work"), Storage::new(folder.path().join("cache")));
        std::fs::create_dir(&root).unwrap();
        let copy = Copy::open(&storage, &root, &Layer::default(), true, false).unwrap();
        let (kept, aside) = (&copy.kept.folder, folder.path().join("aside"));
        std::fs::rename(kept, &aside).unwrap();
        copy.begin_run().unwrap_err();
        std::fs::rename(&aside, kept).unwrap();
        copy.begin_run().unwrap();
        copy.end_run(true).unwrap();
        assert!(!Manifest::read(kept).is_broken_off);
    }
}
