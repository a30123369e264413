//! The door through which a commit changes the workspace. No link is ever followed here.
//!
//! Every call opens the directory it works in from the root's handle, so that nothing outside can be
//! reached even while directories are swapped for links.

#![allow(clippy::disallowed_methods, reason = "this is the one door that writes")]

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Gid, Mode, OFlags, RawMode, RenameFlags, Uid},
    io::{Errno, retry_on_intr},
};

use super::{
    Expected,
    fail_point::FailPoint,
    look::{Hashes, Stamp, State},
};
use crate::{WorkspacePath, disk::told_link};

pub(super) struct Folder {
    root: OwnedFd,
    /// The root's path, free of links, and as it was given.
    spellings: [PathBuf; 2],
    fail_point: FailPoint,
    hashes: Hashes,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Folder {
    /// `root` must be free of links; `spelled` is how it was given.
    pub(super) fn open(root: &Path, spelled: &Path) -> io::Result<Self> {
        let spellings = [root.to_owned(), std::path::absolute(spelled)?];
        let root = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
        Ok(Self { root, spellings, fail_point: FailPoint::default(), hashes: Hashes::default() })
    }

    /// Whether `state`, at `path`, is `expected`. An absolute link may be expected in the form in which views show it.
    pub(super) fn is(&self, path: &WorkspacePath, state: &State, expected: &Expected) -> bool {
        let told = |target: &String| {
            let [root, spelled] = &self.spellings;
            told_link([root, spelled], path, target.clone())
        };
        state.is(expected)
            || matches!((state, expected), (State::Symlink(is), Expected::Symlink(it)) if told(is) == *it)
    }

    pub(super) fn fail_point(&self) -> FailPoint {
        self.fail_point.clone()
    }

    pub(super) fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// Returns the absolute path of `path` on this machine.
    pub(super) fn absolute(&self, path: &WorkspacePath) -> PathBuf {
        self.spellings[0].join(path.as_str())
    }

    /// A handle of the directory at `path`. A link on the way or at the end is `NotADirectory`.
    pub(super) fn directory(&self, path: &WorkspacePath) -> io::Result<OwnedFd> {
        let opened = if path.is_root() {
            rustix::fs::openat(&self.root, ".", DIRECTORY, Mode::empty())
        } else {
            self.open_below(path)
        };
        opened.map_err(|errno| match errno {
            Errno::LOOP | Errno::NOTDIR => io::ErrorKind::NotADirectory.into(),
            errno => errno.into(),
        })
    }

    #[cfg(target_os = "linux")]
    fn open_below(&self, path: &WorkspacePath) -> rustix::io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let open = || rustix::fs::openat2(&self.root, path.as_str(), DIRECTORY, Mode::empty(), resolve);
        match retry_on_intr(open) {
            // Not offered by this kernel, or by a sandbox around this process.
            Err(Errno::NOSYS | Errno::PERM) => self.open_by_component(path),
            answer => answer,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_below(&self, path: &WorkspacePath) -> rustix::io::Result<OwnedFd> {
        self.open_by_component(path)
    }

    /// Opens each component from the handle of the one before, none of them through a link.
    fn open_by_component(&self, path: &WorkspacePath) -> rustix::io::Result<OwnedFd> {
        let mut directory = rustix::fs::openat(&self.root, ".", DIRECTORY, Mode::empty())?;
        for name in path.components() {
            directory = retry_on_intr(|| rustix::fs::openat(&directory, name, DIRECTORY, Mode::empty()))?;
        }
        Ok(directory)
    }

    /// The directory that holds `path`, and its name there.
    pub(super) fn place<'p>(&self, path: &'p WorkspacePath) -> io::Result<(OwnedFd, &'p str)> {
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.directory(&parent)?, name))
    }

    /// Makes a file that must not exist, with all its bytes on the disk. With a `stamp` it gets those
    /// permissions, and that owner where this process may give it; without one those of any new file. The
    /// set-user-id and set-group-id bits are never given on, as a change of contents clears them.
    pub(super) fn create(
        &self,
        path: &WorkspacePath,
        bytes: &[u8],
        executable: bool,
        stamp: Option<Stamp>,
    ) -> io::Result<File> {
        let (directory, name) = self.place(path)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = match (stamp, executable) {
            (Some(_), _) => 0o600,
            (None, true) => 0o777,
            (None, false) => 0o666,
        };
        self.fail_point.step()?;
        let mut file = File::from(rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(mode))?);
        self.fail_point.step()?;
        file.write_all(bytes)?;
        if let Some(stamp) = stamp {
            let Stamp { mode, .. } = stamp.made_executable(executable);
            self.stamp(&file, Stamp { mode: mode & 0o1777, ..stamp })?;
        }
        Ok(file)
    }

    /// Permissions after the owner, as a change of owner clears the set-user-id bit.
    fn stamp(&self, file: impl AsFd, stamp: Stamp) -> io::Result<()> {
        let now = rustix::fs::fstat(&file)?;
        let mut mode = stamp.mode;
        if (now.st_uid, now.st_gid) != (stamp.uid, stamp.gid) {
            self.fail_point.step()?;
            let (uid, gid) = (Uid::from_raw(stamp.uid), Gid::from_raw(stamp.gid));
            let given = rustix::fs::fchown(&file, Some(uid), Some(gid));
            // Not ours to give: then the set-id bits, which would give away another user's rights, go, too.
            if given.or_else(|_| rustix::fs::fchown(&file, None, Some(gid))).is_err() {
                mode &= 0o777;
            } else if given.is_err() {
                mode &= !0o4000;
            }
        }
        self.set_mode(file, mode)
    }

    #[allow(clippy::useless_conversion, reason = "not every system counts modes in 32 bits")]
    pub(super) fn set_mode(&self, file: impl AsFd, mode: u32) -> io::Result<()> {
        self.fail_point.step()?;
        let mode = Mode::from_raw_mode(mode.try_into().map_err(|_| io::ErrorKind::InvalidInput)?);
        Ok(rustix::fs::fchmod(file, mode)?)
    }

    pub(super) fn sync(&self, file: impl AsFd) -> io::Result<()> {
        self.fail_point.sync(file)
    }

    pub(super) fn symlink(&self, path: &WorkspacePath, target: &str) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        self.fail_point.step()?;
        Ok(rustix::fs::symlinkat(target, directory, name)?)
    }

    /// Replaces what is at `to`.
    pub(super) fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> io::Result<()> {
        let ((from_dir, from), (to_dir, to)) = (self.place(from)?, self.place(to)?);
        self.fail_point.step()?;
        Ok(rustix::fs::renameat(from_dir, from, to_dir, to)?)
    }

    /// Replaces nothing: `AlreadyExists` if something is at `to`.
    pub(super) fn rename_new(&self, from: &WorkspacePath, to: &WorkspacePath) -> io::Result<()> {
        let ((from_dir, from_name), (to_dir, to_name)) = (self.place(from)?, self.place(to)?);
        self.fail_point.step()?;
        match rustix::fs::renameat_with(from_dir, from_name, to_dir, to_name, RenameFlags::NOREPLACE) {
            // Not every file system can promise it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.move_by_link(from, to),
            answer => Ok(answer?),
        }
    }

    /// A second name replaces nothing either. Where there are none the look just before has to do.
    fn move_by_link(&self, from: &WorkspacePath, to: &WorkspacePath) -> io::Result<()> {
        let ((from_dir, from_name), (to_dir, to_name)) = (self.place(from)?, self.place(to)?);
        match rustix::fs::linkat(&from_dir, from_name, to_dir, to_name, AtFlags::empty()) {
            Ok(()) => {
                self.fail_point.step()?;
                Ok(rustix::fs::unlinkat(from_dir, from_name, AtFlags::empty())?)
            }
            Err(Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) if !self.exists(to)? => self.rename(from, to),
            Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Exchanges what is at the two paths in one step; both must be there. `Unsupported` where the file
    /// system or the kernel cannot do it.
    pub(super) fn exchange(&self, one: &WorkspacePath, other: &WorkspacePath) -> io::Result<()> {
        let ((one_dir, one), (other_dir, other)) = (self.place(one)?, self.place(other)?);
        self.fail_point.step()?;
        if self.fail_point.refuses_exchange() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        match rustix::fs::renameat_with(one_dir, one, other_dir, other, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
            answer => Ok(answer?),
        }
    }

    /// Removes a file or a link. One that is missing, or whose directory is, is no error.
    pub(super) fn unlink(&self, path: &WorkspacePath) -> io::Result<()> {
        if !self.exists(path)? {
            return Ok(());
        }
        let (directory, name) = self.place(path)?;
        self.fail_point.step()?;
        Ok(rustix::fs::unlinkat(directory, name, AtFlags::empty())?)
    }

    pub(super) fn create_dir(&self, path: &WorkspacePath) -> io::Result<()> {
        self.make_dir(path, 0o777)
    }

    fn make_dir(&self, path: &WorkspacePath, mode: RawMode) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        self.fail_point.step()?;
        Ok(rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(mode))?)
    }

    /// Makes a directory with the permissions, and the owner if possible, of another. One that is there
    /// gets them too.
    pub(super) fn create_stamped_dir(&self, path: &WorkspacePath, stamp: Stamp) -> io::Result<()> {
        // Other users may not look into it before it has them.
        match self.make_dir(path, 0o700) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.stamp(self.directory(path)?, stamp)
    }

    /// Removes an empty directory.
    pub(super) fn remove_dir(&self, path: &WorkspacePath) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        self.fail_point.step()?;
        Ok(rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)?)
    }
}
