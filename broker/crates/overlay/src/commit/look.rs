//! State of a path of the workspace folder, with the details that a commit needs.
//!
//! A large file is not hashed twice while its stamp shows no write to it.

#![allow(clippy::disallowed_methods, reason = "this is the one door to the disk")]

use std::{collections::HashMap, fs::File, io, os::unix::fs::MetadataExt as _, time::SystemTime};

use parking_lot::Mutex;
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use super::{DiskState, Expected, folder::Folder, writers::is_open_for_writing};
use crate::{ContentHash, Permissions, WorkspacePath, disk, store::patiently};

/// State of a path. Kept in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    Missing,
    File { hash: [u8; 32], executable: bool, stamp: Stamp },
    Symlink(String),
    Directory(Stamp),
    Other,
}

/// Permissions and owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl From<Permissions> for Stamp {
    fn from(Permissions { mode, uid, gid }: Permissions) -> Self {
        Self { mode, uid, gid }
    }
}

impl From<Stamp> for Permissions {
    fn from(Stamp { mode, uid, gid }: Stamp) -> Self {
        Self { mode, uid, gid }
    }
}

impl Stamp {
    #[allow(clippy::useless_conversion, reason = "not every system counts modes in 32 bits")]
    fn of(stat: &Stat) -> Self {
        Self { mode: u32::from(stat.st_mode) & 0o7777, uid: stat.st_uid, gid: stat.st_gid }
    }

    /// Executable by those who may read it; other bits stay.
    pub(super) fn made_executable(self, executable: bool) -> Self {
        let mode = match (executable, self.mode & 0o111 != 0) {
            (true, false) => self.mode | ((self.mode & 0o444) >> 2).max(0o100),
            (false, true) => self.mode & !0o6111,
            _ => self.mode,
        };
        Self { mode, ..self }
    }
}

impl State {
    /// Whether both are the same for a reader: permissions other than being executable do not count.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.found() == other.found() && *self != Self::Other
    }

    pub(super) fn is(&self, expected: &Expected) -> bool {
        match expected {
            Expected::Missing => *self == Self::Missing,
            Expected::File(hash, executable) => self.found() == DiskState::File(*hash, *executable),
            Expected::Symlink(target) => matches!(self, Self::Symlink(it) if it == target),
            Expected::Directory => matches!(self, Self::Directory(_)),
            Expected::Anything => matches!(self, Self::Missing | Self::File { .. } | Self::Symlink(_)),
        }
    }

    pub(super) fn found(&self) -> DiskState {
        match self {
            Self::Missing => DiskState::Missing,
            Self::File { hash, executable, .. } => {
                DiskState::File(ContentHash::from_bytes(*hash), *executable)
            }
            Self::Symlink(target) => DiskState::Symlink(target.clone()),
            Self::Directory(_) => DiskState::Directory,
            Self::Other => DiskState::Other,
        }
    }

    /// Returns the state as the expected one, for a message about a change that was checked before.
    pub(super) fn expected(&self) -> Expected {
        match self {
            Self::Missing => Expected::Missing,
            Self::File { hash, executable, .. } => {
                Expected::File(ContentHash::from_bytes(*hash), *executable)
            }
            Self::Symlink(target) => Expected::Symlink(target.clone()),
            Self::Directory(_) => Expected::Directory,
            Self::Other => Expected::Anything,
        }
    }
}

/// State of a path, and whether it is about to change.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) state: State,
    /// A program has the file open for writing, or it changed while it was read.
    is_moving: bool,
    /// Device and inode.
    identity: (u64, u64),
}

impl Seen {
    /// Returns the state of an entry that cannot be looked at, and so is not the expected one.
    pub(super) fn other() -> Self {
        Self { state: State::Other, is_moving: false, identity: (0, 0) }
    }

    /// Whether the state is `wanted`, and stays so unless another program opens the entry by its name.
    pub(super) fn is_still(&self, wanted: impl Fn(&State) -> bool) -> bool {
        !self.is_moving && wanted(&self.state)
    }

    /// Whether the entry is the very same as `earlier`, unchanged.
    pub(super) fn is_same(&self, earlier: &Self) -> bool {
        !self.is_moving && self.identity == earlier.identity && self.state.found() == earlier.state.found()
    }

    /// Returns the state to report where `before` was expected.
    pub(super) fn instead_of(&self, before: &State) -> DiskState {
        if self.is_moving && self.state.is_like(before) {
            DiskState::OpenForWriting
        } else {
            self.state.found()
        }
    }
}

/// The hashes of large files, by device and inode, with the stamps that they hold for.
#[derive(Default)]
pub(super) struct Hashes(Mutex<ByInode>);

type ByInode = HashMap<(u64, u64), (disk::Stamp, [u8; 32])>;

impl Hashes {
    /// Size in bytes from which it is worth while to remember a hash.
    const LARGE: u64 = 1024 * 1024;

    /// Reads the file to its end, unless that was done and it is unchanged.
    fn of(&self, file: &File) -> io::Result<[u8; 32]> {
        let metadata = file.metadata()?;
        let (stamp, identity) = (disk::Stamp::of(&metadata), (metadata.dev(), metadata.ino()));
        let is_settled = metadata.len() >= Self::LARGE && stamp.is_settled(SystemTime::now());
        let known = self.0.lock().get(&identity).copied();
        if let Some((_, hash)) = known.filter(|it| it.0 == stamp) {
            return Ok(hash);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file)?;
        let hash = *hasher.finalize().as_bytes();
        if is_settled {
            self.0.lock().insert(identity, (stamp, hash));
        }
        Ok(hash)
    }

    pub(super) fn forget(&self) {
        self.0.lock().clear();
    }
}

impl Folder {
    /// Files are read to their end and hashed. A link or file on the way is `NotADirectory`.
    pub(super) fn look(&self, path: &WorkspacePath) -> io::Result<State> {
        Ok(self.look_closely(path)?.state)
    }

    /// Looks like [`look`](Self::look), and also finds out whether anything is about to change the entry.
    pub(super) fn look_closely(&self, path: &WorkspacePath) -> io::Result<Seen> {
        let seen = |state| Seen { state, is_moving: false, identity: (0, 0) };
        if path.is_root() {
            return Ok(seen(State::Directory(Stamp::of(&rustix::fs::fstat(self.directory(path)?)?))));
        }
        let (directory, name) = match self.place(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(seen(State::Missing)),
            place => place?,
        };
        let stat = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(seen(State::Missing)),
            stat => stat?,
        };
        let state = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => match self.file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => State::Missing,
                file => return self.look_into(&file?),
            },
            FileType::Directory => State::Directory(Stamp::of(&stat)),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&directory, name, Vec::new())?;
                target.into_string().map_or(State::Other, State::Symlink)
            }
            _ => State::Other,
        };
        Ok(Seen { identity: identity(&stat), ..seen(state) })
    }

    /// Looks like [`look_closely`](Self::look_closely), but gives a program a fifth of a second to close the file.
    pub(super) fn look_when_still(&self, path: &WorkspacePath) -> io::Result<Seen> {
        self.patient(|| self.look_closely(path))
    }

    /// Looks until what is there is not moving, or time is up.
    pub(super) fn patient(&self, look: impl Fn() -> io::Result<Seen>) -> io::Result<Seen> {
        let still = || match look() {
            Ok(seen) if seen.is_moving && self.fail_point().may_wait() => Err(Ok(seen)),
            seen => seen.map_err(Err),
        };
        patiently(still, Result::is_ok).or_else(|moving| moving)
    }

    /// Looks at an entry under a hidden name just after it got there. Never an error: an entry that cannot be looked
    /// at is not the expected one.
    pub(super) fn look_at_hidden(&self, path: &WorkspacePath) -> io::Result<Seen> {
        self.fail_point().step()?;
        Ok(self.look_closely(path).unwrap_or_else(|_| Seen::other()))
    }

    /// An open file, from its beginning.
    pub(super) fn look_into(&self, file: &File) -> io::Result<Seen> {
        let before = rustix::fs::fstat(file)?;
        let identity = identity(&before);
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Ok(Seen { state: State::Other, is_moving: false, identity });
        }
        // Asked before and after: who has closed it in between has written by then.
        let was_open = self.has_writer(file);
        let hash = self.hashes().of(file)?;
        let after = rustix::fs::fstat(file)?;
        let is_moving = was_open || times(&before) != times(&after) || self.has_writer(file);
        let stamp = Stamp::of(&after);
        let state = State::File { hash, executable: stamp.mode & 0o111 != 0, stamp };
        Ok(Seen { state, is_moving, identity })
    }

    /// Whether some program has a file open for writing, as far as the system tells.
    pub(super) fn has_writer(&self, file: &File) -> bool {
        !self.fail_point().is_blind() && is_open_for_writing(file)
    }

    /// Device and inode of what is at `path`.
    pub(super) fn identity(&self, path: &WorkspacePath) -> io::Result<(u64, u64)> {
        let (directory, name) = self.place(path)?;
        Ok(identity(&rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Permissions and owner of what is at `path`, if it is of this kind.
    pub(super) fn stamp_of(&self, path: &WorkspacePath, kind: FileType) -> io::Result<Option<Stamp>> {
        let (directory, name) = match self.place(path) {
            Err(error) if is_out_of_reach(&error) => return Ok(None),
            place => place?,
        };
        match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok((FileType::from_raw_mode(stat.st_mode) == kind).then(|| Stamp::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a file for reading. Never waits, whatever it turns out to be.
    pub(super) fn file(&self, path: &WorkspacePath) -> io::Result<File> {
        let (directory, name) = self.place(path)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?))
    }

    /// Whether any entry has this name, a link to nothing included.
    pub(super) fn exists(&self, path: &WorkspacePath) -> io::Result<bool> {
        let place = match self.place(path) {
            Err(error) if is_out_of_reach(&error) => return Ok(false),
            place => place?,
        };
        match rustix::fs::statat(place.0, place.1, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// An entry of the directory at `path` that `may_be_there` does not know.
    pub(super) fn stranger(
        &self,
        path: &WorkspacePath,
        may_be_there: impl Fn(&str) -> bool,
    ) -> io::Result<Option<String>> {
        for entry in Dir::read_from(self.directory(path)?)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if name != "." && name != ".." && !may_be_there(&name) {
                return Ok(Some(name.into_owned()));
            }
        }
        Ok(None)
    }
}

pub(super) fn is_out_of_reach(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[allow(clippy::useless_conversion, reason = "not every system counts them in 64 bits")]
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev.try_into().unwrap_or_default(), stat.st_ino.into())
}

#[allow(clippy::useless_conversion, reason = "not every system counts them in 64 bits")]
fn times(stat: &Stat) -> [i64; 5] {
    let nanoseconds = |it: i128| i64::try_from(it).unwrap_or_default();
    [
        stat.st_size.into(),
        stat.st_mtime.into(),
        nanoseconds(stat.st_mtime_nsec.into()),
        stat.st_ctime.into(),
        nanoseconds(stat.st_ctime_nsec.into()),
    ]
}
