//! Writes a layer's entries into a folder: as a layer below the one that programs write to, or through the merged
//! folder while programs run in it.

#![expect(clippy::disallowed_methods, reason = "inside of a shadow folder, where everything is in memory")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{OpenOptionsExt as _, PermissionsExt as _, chown, fchown, lchown, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Timespec, Timestamps, XattrFlags, fchmod,
        futimens, makedev, mkdirat, mknodat, openat, openat2, setxattr, statat, utimensat,
    },
    io::Errno,
    process::umask,
};

use super::OPAQUE;
use crate::{
    layer::{Header, HeaderKind, mode},
    removal::remove_all,
    scan::Stamp,
};

/// A layer that is not mounted yet. `below` is the folder that it will lie over.
pub(super) struct Filler<'p> {
    layer: &'p Path,
    below: &'p Path,
    /// To whom entries belong, if not to this process's user.
    owner: Option<(u32, u32)>,
    /// Directories with entries of the layer, and the latest time of those.
    folders: BTreeMap<PathBuf, i64>,
    /// Directories that the layer has.
    made: BTreeSet<PathBuf>,
    /// The one in which the last file was made: the next one is likely there, too.
    current: Option<Current>,
    /// Bits that the system takes from the mode of a new file.
    mask: u32,
}

/// A directory of the layer and the one below it, if there is one: a name in them is found sooner than a whole path.
struct Current {
    folder: PathBuf,
    layer: OwnedFd,
    below: Option<OwnedFd>,
}

impl<'p> Filler<'p> {
    pub(super) fn new(layer: &'p Path, below: &'p Path, owner: Option<(u32, u32)>) -> Self {
        let mask = umask(Mode::empty());
        umask(mask);
        let made = BTreeSet::from([PathBuf::new()]);
        Self { layer, below, owner, folders: BTreeMap::new(), made, current: None, mask: mask.as_raw_mode() }
    }

    pub(super) fn add(&mut self, header: &Header, bytes: &[u8]) -> io::Result<()> {
        if let HeaderKind::File { executable, .. } = header.kind {
            self.add_file(header, executable, bytes)?;
        } else if !self.add_other(header)? {
            return Ok(());
        }
        if let (Some(time), Some(parent)) = (header.modified, header.path().parent()) {
            self.note(parent, time);
        }
        Ok(())
    }

    /// Says whether there is something to be shown.
    fn add_other(&mut self, header: &Header) -> io::Result<bool> {
        let is_there = fs::symlink_metadata(self.below.join(header.path())).is_ok();
        match (&header.kind, header.modified) {
            // The entry was there in an earlier run.
            (HeaderKind::Removed, Some(time)) if !is_there => {
                return self.touch_parent(header.path(), time).map(|()| false);
            }
            (HeaderKind::Removed, None) if !is_there => return Ok(false),
            // The entry went with the directory that it was in.
            (HeaderKind::Removed, _) if self.is_covered(header.path()) => return Ok(false),
            // The entry is gone from the disk meanwhile.
            (HeaderKind::Restamped, _) if !is_there => return Ok(false),
            _ => {}
        }
        self.make(header)?;
        let to = self.layer.join(header.path());
        if let Some((user, group)) = self.owner.filter(|_| fs::symlink_metadata(&to).is_ok()) {
            lchown(&to, Some(user), Some(group))?;
        }
        Ok(true)
    }

    fn add_file(&mut self, header: &Header, executable: bool, bytes: &[u8]) -> io::Result<()> {
        let (owner, mask) = (self.owner, self.mask);
        let Some(name) = header.path().file_name() else { return Err(io::ErrorKind::InvalidInput.into()) };
        let current = self.enter(header.path().parent().unwrap_or(Path::new("")))?;
        let before = current.below.as_ref().and_then(|it| statat(it, name, AtFlags::SYMLINK_NOFOLLOW).ok());
        let before = before.filter(|it| FileType::from_raw_mode(it.st_mode).is_file());
        let mode = Mode::from_raw_mode(mode(before.map(|it| it.st_mode), executable));
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(&current.layer, name, how, mode)?);
        file.write_all(bytes)?;
        if mode.as_raw_mode() & mask != 0 {
            fchmod(&file, mode)?;
        }
        if let Some((user, group)) = owner {
            fchown(&file, Some(user), Some(group))?;
        }
        header.modified.map_or(Ok(()), |it| Ok(futimens(&file, &times(it))?))
    }

    /// The directory of the layer at this path, made if there is none.
    fn enter(&mut self, folder: &Path) -> io::Result<&Current> {
        let current = match self.current.take() {
            Some(current) if current.folder == folder => current,
            _ => {
                self.make_directories(folder)?;
                let open = |above: &Path| {
                    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                    rustix::fs::open(above.join(folder), how, Mode::empty())
                };
                Current { folder: folder.to_owned(), layer: open(self.layer)?, below: open(self.below).ok() }
            }
        };
        Ok(self.current.insert(current))
    }

    fn note(&mut self, folder: &Path, time: i64) {
        match self.folders.get_mut(folder) {
            Some(latest) => *latest = time.max(*latest),
            None => _ = self.folders.insert(folder.to_owned(), time),
        }
    }

    /// Gives the nearest directory that is there a later time, if the layer leaves it there.
    fn touch_parent(&mut self, path: &Path, time: i64) -> io::Result<()> {
        let is_shown = |it: &&Path| self.below.join(it).is_dir();
        let Some(folder) = path.ancestors().skip(1).find(is_shown) else { return Ok(()) };
        if !self.is_covered(folder) {
            self.make_directories(folder)?;
            self.note(folder, time);
        }
        Ok(())
    }

    /// Whether the layer has an entry here or above that is no directory.
    fn is_covered(&self, path: &Path) -> bool {
        let is_other = |it: &Path| fs::symlink_metadata(self.layer.join(it)).is_ok_and(|it| !it.is_dir());
        path.ancestors().any(is_other)
    }

    /// Gives directories the times that they are to show.
    pub(super) fn finish(&self) -> io::Result<()> {
        for folder in &self.made {
            let below = Stamp::at(&self.below.join(folder)).ok().map(|it| it.modified);
            if let Some(time) = self.folders.get(folder).copied().max(below) {
                set_time(&self.layer.join(folder), time)?;
            }
        }
        Ok(())
    }

    fn make(&mut self, header: &Header) -> io::Result<()> {
        let to = self.layer.join(header.path());
        self.make_parents(header.path())?;
        match &header.kind {
            HeaderKind::Removed => {
                mknodat(CWD, &to, FileType::CharacterDevice, Mode::empty(), makedev(0, 0))?;
                Ok(())
            }
            HeaderKind::Directory => {
                self.make_directory(header.path())?;
                setxattr(&to, OPAQUE, b"y", XattrFlags::empty())?;
                Ok(())
            }
            HeaderKind::File { .. } => Err(io::ErrorKind::InvalidInput.into()),
            HeaderKind::Link(target) => symlink(target, &to),
            HeaderKind::Restamped => {
                match fs::copy(self.below.join(header.path()), &to) {
                    // Nor can a program read it.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
                    copied => copied?,
                };
                header.modified.map_or(Ok(()), |it| set_time(&to, it))
            }
        }
    }

    fn make_parents(&mut self, path: &Path) -> io::Result<()> {
        path.parent().map_or(Ok(()), |it| self.make_directories(it))
    }

    /// Directories of a layer show their own mode in the merged folder.
    fn make_directories(&mut self, folder: &Path) -> io::Result<()> {
        if self.made.contains(folder) {
            return Ok(());
        }
        self.make_parents(folder)?;
        self.make_directory(folder)
    }

    fn make_directory(&mut self, path: &Path) -> io::Result<()> {
        let to = self.layer.join(path);
        if self.made.insert(path.to_owned()) {
            fs::create_dir(&to)?;
            if let Some((user, group)) = self.owner {
                chown(&to, Some(user), Some(group))?;
            }
        }
        match fs::symlink_metadata(self.below.join(path)) {
            Ok(it) if it.is_dir() => fs::set_permissions(&to, it.permissions()),
            _ => Ok(()),
        }
    }
}

fn set_time(path: &Path, nanoseconds: i64) -> io::Result<()> {
    Ok(utimensat(CWD, path, &times(nanoseconds), AtFlags::SYMLINK_NOFOLLOW)?)
}

fn times(nanoseconds: i64) -> Timestamps {
    let time = Timespec { tv_sec: nanoseconds.div_euclid(SECOND), tv_nsec: nanoseconds.rem_euclid(SECOND) };
    Timestamps { last_access: time, last_modification: time }
}

const SECOND: i64 = 1_000_000_000;

fn write_file(to: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    file.write_all(bytes)?;
    // The mask does not count.
    file.set_permissions(Permissions::from_mode(mode))
}

/// Makes an entry in the merged folder at `root`, where programs see it at once: a new file takes the place of the old
/// one. A link that one of them puts in the way is not followed: this process has more rights than they.
pub(super) fn apply(root: &Path, header: &Header, bytes: &[u8]) -> io::Result<()> {
    let parent = reach_parent(root, header.path())?;
    let name = header.path().file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let to = PathBuf::from(format!("/proc/self/fd/{}", parent.as_raw_fd())).join(name);
    let before = fs::symlink_metadata(&to).ok();
    match &header.kind {
        HeaderKind::File { executable, .. } => {
            let mode = mode(
                before.as_ref().filter(|it| it.is_file()).map(|it| it.permissions().mode()),
                *executable,
            );
            if before.is_some_and(|it| it.is_dir()) {
                remove_all(&to)?;
            }
            let beside = beside(&to);
            write_file(&beside, bytes, mode)?;
            fs::rename(&beside, &to)
        }
        kind => {
            remove(&to)?;
            match kind {
                HeaderKind::Directory => fs::create_dir(&to),
                HeaderKind::Link(target) => symlink(target, &to),
                HeaderKind::Removed | HeaderKind::File { .. } | HeaderKind::Restamped => Ok(()),
            }
        }
    }
}

/// The folder that an entry is in, made if there is none.
fn reach_parent(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mut reached = rustix::fs::open(root, FOLDER, Mode::empty())?;
    for name in path.parent().into_iter().flatten() {
        match mkdirat(&reached, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        reached = openat2(&reached, name, FOLDER, Mode::empty(), within)?;
    }
    Ok(reached)
}

fn beside(to: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".broker-");
    name.push(to.file_name().unwrap_or_default());
    to.with_file_name(name)
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(it) if it.is_dir() => remove_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_goes_through_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("d")).unwrap();
        fs::create_dir_all(outside.join("f/kept")).unwrap();
        symlink(&outside, root.join("link")).unwrap();
        let header = |path: &str, kind| Header { path: path.to_owned(), kind, modified: None };
        let file = HeaderKind::File { size: 1, executable: false };
        for kind in [file.clone(), HeaderKind::Removed, HeaderKind::Directory] {
            apply(&root, &header("link/f", kind.clone()), b"x").unwrap_err();
            apply(&root, &header("link/new/f", kind), b"x").unwrap_err();
        }
        assert!(outside.join("f/kept").is_dir() && fs::read_dir(&outside).unwrap().count() == 1);
        apply(&root, &header("new/deep/f", file), b"x").unwrap();
        apply(&root, &header("d", HeaderKind::Link("new".to_owned())), b"").unwrap();
        assert_eq!(fs::read(root.join("d/deep/f")).unwrap(), b"x");
    }
}
