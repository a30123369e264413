//! Puts an entry into a copy.

#![expect(clippy::disallowed_methods, reason = "a copy in Broker's own cache folder")]

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

use super::{
    manifest::{Manifest, Placed, Source},
    paths::Paths,
};
use crate::{
    Entry, EntryKind, layer,
    removal::remove_all,
    scan::{Kind, Stamp},
};

/// Bits of a mode that are for programs.
const PERMISSIONS: u32 = 0o777;

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const WITHIN: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// Place of an entry in a copy, while its folder is held open.
struct Place {
    path: PathBuf,
    _parent: OwnedFd,
}

pub(super) struct Placer<'p> {
    pub(super) paths: &'p Paths,
}

impl<'p> Placer<'p> {
    pub(super) fn new(paths: &'p Paths) -> Self {
        Self { paths }
    }

    /// The place of an entry. A program may have put a link where a folder was, and may do so at any time: the way to it
    /// follows none.
    fn reach(&self, path: &Path) -> io::Result<Place> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let tree = rustix::fs::open(self.paths.tree(), FOLDER, Mode::empty())?;
        let parent = match parent.as_os_str().is_empty() {
            true => tree,
            false => openat2(&tree, parent, FOLDER, Mode::empty(), WITHIN)?,
        };
        let path = PathBuf::from(format!("/proc/self/fd/{}", parent.as_raw_fd())).join(name);
        Ok(Place { path, _parent: parent })
    }

    /// Returns the entry at a path, held open; `None` if there is none, or its folder is no folder any more.
    pub(super) fn look(&self, path: &Path) -> io::Result<Option<(File, Stamp)>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = self.reach(path).and_then(|it| {
            let opened = rustix::fs::open(&it.path, flags, Mode::empty())?;
            let file = File::from(opened);
            let stamp = Stamp::of(&file.metadata()?);
            Ok((file, stamp))
        });
        let is_gone = |it: &io::Error| {
            let other = rustix::io::Errno::LOOP.raw_os_error();
            matches!(it.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
                || it.raw_os_error() == Some(other)
        };
        match opened {
            Err(error) if is_gone(&error) => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Makes the folders above an entry that are missing.
    fn make_parents(&self, path: &Path) -> io::Result<()> {
        let parents: Vec<_> = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()).collect();
        for parent in parents.into_iter().rev() {
            match fs::create_dir(self.reach(parent)?.path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// A folder, which its user can write to whatever the workspace's says.
    pub(super) fn folder(&self, path: &Path, mode: u32) -> io::Result<Placed> {
        self.make_parents(path)?;
        let at = self.reach(path)?;
        if !fs::symlink_metadata(&at.path).is_ok_and(|it| it.is_dir()) {
            self.remove(path)?;
            fs::create_dir(&at.path)?;
        }
        let folder = rustix::fs::open(&at.path, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        let held = format!("/proc/self/fd/{}", folder.as_raw_fd());
        fs::set_permissions(held, Permissions::from_mode(mode & PERMISSIONS | 0o700))?;
        self.placed(path, Source::Folder)
    }

    /// Places the workspace's entry at `path`. The entry keeps its time if nothing in the copy can be newer.
    pub(super) fn place_from_disk(&self, path: &Path, disk: &Stamp, keeps_time: bool) -> io::Result<Placed> {
        let from = self.paths.root().join(path);
        match disk.kind {
            Kind::Folder => return self.folder(path, disk.mode),
            Kind::Link => {
                let to = self.paths.link_in_copy(path, &fs::read_link(&from)?);
                self.replace(path, |new| symlink(&to, new))?;
            }
            Kind::File => self.replace(path, |new| copy(&from, new, disk, keeps_time))?,
            Kind::Other => return Err(io::ErrorKind::Unsupported.into()),
        }
        self.placed(path, Source::Disk(*disk))
    }

    /// Places a branch's entry. A file that was there before keeps its permissions to read.
    pub(super) fn place_from_layer(&self, entry: &Entry, mode: Option<u32>) -> io::Result<Option<Placed>> {
        let path = Path::new(entry.path.as_str());
        let source = match &entry.kind {
            EntryKind::Removed => {
                self.remove(path)?;
                return Ok(None);
            }
            EntryKind::Directory => return self.folder(path, 0o755).map(Some),
            EntryKind::Link(to) => {
                let to = self.paths.link_in_copy(path, Path::new(to));
                self.replace(path, |new| symlink(&to, new))?;
                source_of(entry)
            }
            EntryKind::File { bytes, executable } => {
                let mode = layer::mode(mode, *executable);
                self.replace(path, |new| write(new, bytes, mode))?;
                source_of(entry)
            }
        };
        self.placed(path, source).map(Some)
    }

    /// Shows an entry while programs run.
    pub(super) fn apply(&self, entry: &Entry, manifest: &mut Manifest) -> io::Result<()> {
        let path = Path::new(entry.path.as_str());
        let before = self.reach(path).and_then(|it| Stamp::at(&it.path)).ok();
        if !matches!(entry.kind, EntryKind::File { .. }) || before.is_some_and(|it| it.kind == Kind::Folder) {
            self.remove(path)?;
            manifest.forget(path);
        }
        if !matches!(entry.kind, EntryKind::Removed) {
            self.make_parents(path)?;
        }
        let mode = before.filter(|it| it.kind == Kind::File).map(|it| it.mode);
        match self.place_from_layer(entry, mode)? {
            Some(placed) => _ = manifest.entries.insert(path.to_owned(), placed),
            None => _ = manifest.entries.remove(path),
        }
        Ok(())
    }

    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        // If its folder is no folder any more, the entry is gone.
        let Ok(Place { path: at, _parent }) = self.reach(path) else { return Ok(()) };
        match fs::symlink_metadata(&at) {
            Ok(it) if it.is_dir() => remove_all(&at),
            Ok(_) => fs::remove_file(&at),
            Err(_) => Ok(()),
        }
    }

    /// Puts what `make` makes in the place of what is there: a program sees the one or the other.
    fn replace(&self, path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let Place { path: at, _parent } = self.reach(path)?;
        let mut name = OsString::from(".broker-new-");
        name.push(at.file_name().unwrap_or_default());
        let new = at.with_file_name(name);
        if fs::symlink_metadata(&new).is_ok() {
            // The file was left by a process that was killed.
            fs::remove_file(&new)?;
        }
        make(&new)?;
        if fs::symlink_metadata(&at).is_ok_and(|it| it.is_dir()) {
            remove_all(&at)?;
        }
        fs::rename(&new, &at)
    }

    fn placed(&self, path: &Path, source: Source) -> io::Result<Placed> {
        Ok(Placed { source, stamp: Stamp::at(&self.reach(path)?.path)? })
    }
}

pub(super) fn source_of(entry: &Entry) -> Source {
    match &entry.kind {
        EntryKind::Removed | EntryKind::Directory => Source::Folder,
        EntryKind::Link(to) => Source::of_bytes(&[b"link ", to.as_bytes()].concat(), false),
        EntryKind::File { bytes, executable } => Source::of_bytes(bytes, *executable),
    }
}

/// The system shares the content of the two where its file system can.
fn copy(from: &Path, to: &Path, stamp: &Stamp, keeps_time: bool) -> io::Result<()> {
    match fs::copy(from, to) {
        Ok(_) => {}
        // The user may not read the file, in the workspace as in the copy.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && File::open(from).is_err() => {
            return OpenOptions::new().write(true).create_new(true).mode(0o000).open(to).map(drop);
        }
        Err(error) => return Err(error),
    }
    let file = OpenOptions::new().write(true).open(to).or_else(|_| {
        fs::set_permissions(to, Permissions::from_mode(0o600))?;
        OpenOptions::new().write(true).open(to)
    })?;
    let time = if keeps_time { time(stamp.modified) } else { SystemTime::now() };
    file.set_modified(time)?;
    file.set_permissions(Permissions::from_mode(stamp.mode & PERMISSIONS))
}

fn time(nanoseconds: i64) -> SystemTime {
    let since = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 { SystemTime::UNIX_EPOCH - since } else { SystemTime::UNIX_EPOCH + since }
}

fn write(to: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    file.write_all(bytes)?;
    file.set_modified(SystemTime::now())?;
    file.set_permissions(Permissions::from_mode(mode))
}
