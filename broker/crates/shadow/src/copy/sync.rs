//! Brings a copy to what a view shows, and tells what programs made of it.

#![expect(clippy::disallowed_methods, reason = "a copy in Broker's own cache folder")]

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs, io,
    os::{fd::AsRawFd as _, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use overlay::{WorkspacePath, read_regular};
use parking_lot::Mutex;

use super::{
    manifest::{Manifest, Placed, Source},
    paths::Paths,
    place::{Placer, source_of},
};
use crate::{
    Entry, EntryKind, Layer, caches,
    removal::remove_all,
    scan::{Kind, SECOND, Scan, Stamp, Tree, UNSURE, all_below, now},
};

/// Entry that is wanted at a path.
#[derive(Clone, Copy)]
enum Want<'a> {
    Disk(&'a Stamp),
    /// Entry of a layer, with the mode of the file that it stands for.
    Layer(&'a Entry, Option<u32>),
    Folder,
}

pub(super) fn sync(paths: &Paths, layer: &Layer, manifest: &mut Manifest, limit: u64) -> io::Result<()> {
    let start = now();
    fs::create_dir_all(paths.tree())?;
    let (disk, have) = thread::scope(|scope| {
        let disk = scope.spawn(|| Scan::of(paths.root()));
        let have = Scan::of(paths.tree());
        (disk.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())), have)
    });
    let disk = disk?;
    let have = match have {
        // Folders deeper than a path can be, or closed ones.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidFilename | io::ErrorKind::PermissionDenied) =>
        {
            begin_anew(paths, manifest)?
        }
        have => have?,
    };
    let is_new = manifest.entries.is_empty() && !manifest.has_run;
    let cached = if is_new { below_caches(paths.root(), &disk)? } else { Tree::new() };
    expect_space(disk.sources.values().chain(cached.values()), limit)?;
    let want = wanted(&disk.sources, layer);
    let placer = Placer::new(paths);
    let mut sync = Sync { placer, paths, want, have, manifest, keeps_time: is_new, start };
    sync.drop_caches()?;
    sync.remove_others()?;
    let newest = sync.place()?;
    for (path, stamp) in cached.iter().filter(|(_, it)| it.kind != Kind::Other) {
        sync.placer.place_from_disk(path, stamp, true)?;
    }
    manifest.is_broken_off = false;
    settle(paths.tree().parent().unwrap_or(paths.tree()), newest)
}

/// Empties a copy that a program left in a state in which it cannot be looked at.
fn begin_anew(paths: &Paths, manifest: &mut Manifest) -> io::Result<Scan> {
    remove_all(paths.tree())?;
    fs::create_dir(paths.tree())?;
    *manifest = Manifest::default();
    Ok(Scan::default())
}

struct Sync<'a> {
    placer: Placer<'a>,
    paths: &'a Paths,
    want: BTreeMap<PathBuf, Want<'a>>,
    have: Scan,
    manifest: &'a mut Manifest,
    keeps_time: bool,
    start: i64,
}

impl Sync<'_> {
    /// Caches that cannot be trusted any more.
    fn drop_caches(&mut self) -> io::Result<()> {
        let wrote_others = !self.have.sources.iter().all(|(path, it)| self.is_as_placed(path, it));
        let is_same_second = self.start / SECOND <= self.manifest.last_sync / SECOND;
        let is_moved = is_same_second && self.want.iter().any(|(path, it)| !self.is_right(path, it));
        for (path, stamp) in &self.have.caches {
            let is_doubtful = match stamp.kind {
                Kind::Folder => is_moved && path.file_name().is_some_and(by_seconds),
                _ => wrote_others,
            };
            if self.manifest.is_broken_off || is_doubtful {
                self.placer.remove(path)?;
            }
        }
        Ok(())
    }

    fn is_as_placed(&self, path: &Path, now: &Stamp) -> bool {
        let placed = self.manifest.entries.get(path);
        placed.is_some_and(|it| it.stamp == *now || (it.stamp.kind, now.kind) == (Kind::Folder, Kind::Folder))
    }

    /// Whether the copy has the wanted entry.
    fn is_right(&self, path: &Path, want: &Want<'_>) -> bool {
        let (Some(have), Some(placed)) = (self.have.sources.get(path), self.manifest.entries.get(path))
        else {
            return false;
        };
        let source = match want {
            Want::Disk(Stamp { kind: Kind::Folder, .. }) | Want::Folder => {
                return have.kind == Kind::Folder;
            }
            Want::Disk(stamp) if placed.source == Source::Fresh => {
                return placed.stamp == *have && self.is_same_as_on_disk(path, stamp);
            }
            Want::Disk(stamp) => Source::Disk(**stamp),
            Want::Layer(entry, _) if entry.kind == EntryKind::Directory => return have.kind == Kind::Folder,
            Want::Layer(entry, _) => source_of(entry),
        };
        placed.source == source && placed.stamp == *have
    }

    fn is_same_as_on_disk(&self, path: &Path, disk: &Stamp) -> bool {
        let read = |root: &Path| read_regular(&root.join(path), disk.size).ok();
        let disks = (disk.kind == Kind::File).then(|| read(self.paths.root())).flatten();
        disks.is_some() && disks == read(self.paths.tree())
    }

    /// Removes what is not wanted, innermost first.
    fn remove_others(&mut self) -> io::Result<()> {
        for path in self.have.sources.keys().rev().filter(|it| !self.want.contains_key(*it)) {
            self.placer.remove(path)?;
        }
        let forgotten: Vec<_> =
            self.manifest.entries.keys().filter(|it| !self.want.contains_key(*it)).cloned().collect();
        for path in forgotten.iter().rev() {
            // The entry may lie in a cache.
            if !self.have.sources.contains_key(path) {
                self.placer.remove(path)?;
            }
            self.manifest.entries.remove(path);
        }
        Ok(())
    }

    /// Puts what is missing or otherwise in its place, and says when the last of it was.
    fn place(&mut self) -> io::Result<i64> {
        let wrong: Vec<_> = self.want.iter().filter(|(path, it)| !self.is_right(path, it)).collect();
        let mut placed: Vec<(PathBuf, Placed)> = Vec::with_capacity(wrong.len());
        let mut files = Vec::new();
        for (path, want) in wrong {
            match want {
                Want::Disk(stamp) if stamp.kind == Kind::File => files.push((path, *stamp)),
                Want::Disk(stamp) => {
                    let it = self.placer.place_from_disk(path, stamp, self.keeps_time)?;
                    placed.push((path.clone(), self.sure(it, stamp)));
                }
                Want::Folder => placed.push((path.clone(), self.placer.folder(path, 0o755)?)),
                Want::Layer(entry, mode) => {
                    placed.extend(self.placer.place_from_layer(entry, *mode)?.map(|it| (path.clone(), it)));
                }
            }
        }
        placed.extend(self.copy(&files)?);
        self.confirm_fresh();
        if !placed.is_empty() {
            self.manifest.last_sync = now();
        }
        let newest = placed.iter().map(|(_, it)| it.stamp.changed).max().unwrap_or(0);
        self.manifest.entries.extend(placed);
        Ok(newest)
    }

    /// Copies files from the disk, side by side.
    fn copy(&self, files: &[(&PathBuf, &Stamp)]) -> io::Result<Vec<(PathBuf, Placed)>> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let part = files.len().div_ceil(threads).max(1);
        let all = Mutex::new(Ok(Vec::with_capacity(files.len())));
        thread::scope(|scope| {
            for part in files.chunks(part) {
                scope.spawn(|| {
                    let copied: io::Result<Vec<_>> = part.iter().filter_map(|it| self.copy_one(it)).collect();
                    let mut all = all.lock();
                    match (&mut *all, copied) {
                        (Ok(all), Ok(copied)) => all.extend(copied),
                        (Ok(_), Err(error)) => *all = Err(error),
                        (Err(_), _) => {}
                    }
                });
            }
        });
        all.into_inner()
    }

    fn copy_one(&self, (path, stamp): &(&PathBuf, &Stamp)) -> Option<io::Result<(PathBuf, Placed)>> {
        match self.placer.place_from_disk(path, stamp, self.keeps_time) {
            Ok(placed) => Some(Ok(((*path).clone(), self.sure(placed, stamp)))),
            // The file is gone from the disk meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error)),
        }
    }

    fn sure(&self, placed: Placed, disk: &Stamp) -> Placed {
        let is_sure = disk.kind == Kind::Folder || disk.changed < self.start - UNSURE;
        Placed { source: if is_sure { placed.source } else { Source::Fresh }, ..placed }
    }

    /// Records the stamps of files that were compared byte by byte, for later comparisons.
    fn confirm_fresh(&mut self) {
        for (path, want) in &self.want {
            let (Want::Disk(disk), Some(placed)) = (want, self.manifest.entries.get(path)) else { continue };
            if placed.source == Source::Fresh {
                let source = Source::Disk(**disk);
                let placed = self.sure(Placed { source, ..*placed }, disk);
                self.manifest.entries.insert(path.clone(), placed);
            }
        }
    }
}

/// Returns the entries of the disk with a layer over them.
fn wanted<'a>(disk: &'a Tree, layer: &'a Layer) -> BTreeMap<PathBuf, Want<'a>> {
    let on_disk = disk.iter().filter(|(_, it)| it.kind != Kind::Other);
    let mut want: BTreeMap<_, _> = on_disk.map(|(path, it)| (path.clone(), Want::Disk(it))).collect();
    for entry in &layer.entries {
        let path = Path::new(entry.path.as_str());
        let below: Vec<_> = want
            .range(path.to_owned()..)
            .map(|(it, _)| it)
            .take_while(|it| it.starts_with(path))
            .cloned()
            .collect();
        below.iter().for_each(|it| _ = want.remove(it));
        if entry.kind == EntryKind::Removed {
            continue;
        }
        for above in path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
            let is_folder = want.get(above).is_some_and(|it| it.is_folder());
            if !is_folder {
                want.insert(above.to_owned(), Want::Folder);
            }
        }
        let mode = disk.get(path).filter(|it| it.kind == Kind::File).map(|it| it.mode);
        want.insert(path.to_owned(), Want::Layer(entry, mode));
    }
    want
}

impl Want<'_> {
    fn is_folder(&self) -> bool {
        match self {
            Self::Disk(it) => it.kind == Kind::Folder,
            Self::Layer(it, _) => it.kind == EntryKind::Directory,
            Self::Folder => true,
        }
    }
}

/// All that the workspace has in caches, with the folders themselves.
fn below_caches(root: &Path, disk: &Scan) -> io::Result<Tree> {
    let mut all = disk.caches.clone();
    for (path, _) in disk.caches.iter().filter(|(_, it)| it.kind == Kind::Folder) {
        all_below(root, path, &mut all)?;
    }
    Ok(all)
}

fn expect_space<'a>(all: impl Iterator<Item = &'a Stamp>, limit: u64) -> io::Result<()> {
    let size: u64 = all.map(|it| it.size).sum();
    if size <= limit {
        return Ok(());
    }
    let message = format!("a copy of the workspace takes {size} bytes, more than the limit of {limit}");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
}

fn by_seconds(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(caches::is_by_seconds)
}

/// Steps of the slowest clock of a file system, in units of the wait between two looks.
const MAX_LOOKS: u32 = 2100;

/// Waits until what is written from now on has a later stamp than what was put there: the clocks of file systems go by
/// steps of up to 2 seconds, mostly of 4 milliseconds.
fn settle(folder: &Path, newest: i64) -> io::Result<()> {
    let trial = folder.join("clock");
    for _ in 0..MAX_LOOKS {
        fs::write(&trial, "")?;
        if Stamp::at(&trial)?.changed > newest {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    fs::remove_file(trial)
}

/// Tells what programs wrote: of files, those that are wanted by their paths and sizes.
pub(super) fn harvest(
    paths: &Paths,
    manifest: &Manifest,
    wants: &mut impl FnMut(&Path, u64) -> bool,
    each: &mut impl FnMut(Entry),
) -> io::Result<()> {
    let placer = Placer::new(paths);
    let have = Scan::of(paths.tree())?.sources;
    let mut removed = PathBuf::new();
    let all: std::collections::BTreeSet<_> = have.keys().chain(manifest.entries.keys()).collect();
    for path in all {
        let is_below_removed = !removed.as_os_str().is_empty() && path.starts_with(&removed);
        let Some(name) = path.to_str().and_then(|it| WorkspacePath::new(it).ok()) else { continue };
        let kind = match (manifest.entries.get(path), have.get(path)) {
            (_, None) if is_below_removed => None,
            // An entry that is there all the same lies in a cache by now.
            (_, None) if Stamp::at(&paths.tree().join(path)).is_ok() => None,
            (_, None) => {
                removed = path.clone();
                Some(EntryKind::Removed)
            }
            (Some(placed), Some(now)) if placed.stamp == *now => None,
            (placed, Some(_)) => written(&placer, path, placed, wants)?,
        };
        kind.into_iter().for_each(|kind| each(Entry { path: name.clone(), kind }));
    }
    Ok(())
}

/// Reads the entry that a program put at a path. The program may put something else there at any time: no link is followed, and
/// what is read is what was opened.
fn written(
    placer: &Placer<'_>,
    path: &Path,
    placed: Option<&Placed>,
    wants: &mut impl FnMut(&Path, u64) -> bool,
) -> io::Result<Option<EntryKind>> {
    let Some((file, now)) = placer.look(path)? else { return Ok(None) };
    Ok(match now.kind {
        Kind::Folder if placed.is_some_and(|it| it.stamp.kind != Kind::Folder) => Some(EntryKind::Directory),
        Kind::Folder | Kind::Other => None,
        Kind::Link => {
            let to = rustix::fs::readlinkat(&file, "", Vec::new())?;
            let to = placer.paths.link_in_workspace(Path::new(OsStr::from_bytes(to.as_bytes())));
            // Link targets that are not UTF-8 cannot be in a branch.
            to.to_str().map(|it| EntryKind::Link(it.to_owned()))
        }
        Kind::File if !wants(path, now.size) => None,
        Kind::File => {
            let bytes = fs::read(format!("/proc/self/fd/{}", file.as_raw_fd()))?.into();
            Some(EntryKind::File { bytes, executable: now.mode & 0o111 != 0 })
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_swapped_in_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let (root, tree) = (folder.path().join("work"), folder.path().join("copy/work"));
        let secrets = folder.path().join("secrets");
        for it in [&root, &tree.join("d"), &secrets] {
            fs::create_dir_all(it).unwrap();
        }
        fs::write(secrets.join("a"), "secret").unwrap();
        let paths = Paths::new(&root, &tree);
        let written = |path: &str| {
            written(&Placer::new(&paths), Path::new(path), None, &mut |_: &Path, _| true).unwrap()
        };
        fs::write(tree.join("d/a"), "own").unwrap();
        assert_eq!(written("d/a"), Some(EntryKind::File { bytes: "own".into(), executable: false }));
        fs::remove_file(tree.join("d/a")).unwrap();
        symlink(secrets.join("a"), tree.join("d/a")).unwrap();
        assert_eq!(written("d/a"), Some(EntryKind::Link(secrets.join("a").display().to_string())));
        fs::remove_dir_all(tree.join("d")).unwrap();
        symlink(&secrets, tree.join("d")).unwrap();
        assert_eq!(written("d/a"), None, "its folder is another one");
    }

    #[test]
    fn a_copy_that_cannot_be_looked_at_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (root, tree) = (folder.path().join("work"), folder.path().join("copy/work"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "text").unwrap();
        let paths = Paths::new(&root, &tree);
        let mut manifest = Manifest::default();
        let mut sync = || super::sync(&paths, &Layer::default(), &mut manifest, u64::MAX);
        sync().unwrap();
        crate::removal::make_deep(&tree.join("deep"), 5000);
        sync().unwrap();
        assert_eq!(fs::read_dir(&tree).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(tree.join("a")).unwrap(), "text");
    }
}
