//! What stands at a path of the workspace folder, as a commit has to know it.

#![allow(clippy::disallowed_methods, reason = "this is the one door to the disk")]

use std::{fs::File, io};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use super::{Expected, Found, folder::Folder};
use crate::{ContentHash, Permissions, WorkspacePath};

/// What stands at a path. Kept in the journal.
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

    /// Executable by whoever may read it; other bits stay.
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
    /// Whether it is the same for a reader: permissions other than being executable do not count.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.found() == other.found() && *self != Self::Other
    }

    pub(super) fn is(&self, expected: &Expected) -> bool {
        match expected {
            Expected::Missing => *self == Self::Missing,
            Expected::File(hash, executable) => self.found() == Found::File(*hash, *executable),
            Expected::Symlink(target) => matches!(self, Self::Symlink(it) if it == target),
            Expected::Directory => matches!(self, Self::Directory(_)),
            Expected::Anything => matches!(self, Self::Missing | Self::File { .. } | Self::Symlink(_)),
        }
    }

    pub(super) fn found(&self) -> Found {
        match self {
            Self::Missing => Found::Missing,
            Self::File { hash, executable, .. } => Found::File(ContentHash::from_bytes(*hash), *executable),
            Self::Symlink(target) => Found::Symlink(target.clone()),
            Self::Directory(_) => Found::Directory,
            Self::Other => Found::Other,
        }
    }

    /// For a message about a change that was checked before: this was there then.
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

impl Folder {
    /// Files are read to their end and hashed. A link or file on the way is `NotADirectory`.
    pub(super) fn look(&self, path: &WorkspacePath) -> io::Result<State> {
        if path.is_root() {
            return Ok(State::Directory(Stamp::of(&rustix::fs::fstat(self.directory(path)?)?)));
        }
        let (directory, name) = match self.place(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Missing),
            place => place?,
        };
        let stat = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(State::Missing),
            stat => stat?,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => look_into(self.file(path)?),
            FileType::Directory => Ok(State::Directory(Stamp::of(&stat))),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&directory, name, Vec::new())?;
                Ok(target.into_string().map_or(State::Other, State::Symlink))
            }
            _ => Ok(State::Other),
        }
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

    /// Whether anything has this name, a link to nothing included.
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

fn look_into(file: File) -> io::Result<State> {
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(State::Other);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    let stamp = Stamp::of(&stat);
    Ok(State::File { hash: *hasher.finalize().as_bytes(), executable: stamp.mode & 0o111 != 0, stamp })
}
