//! Stamps: identity, size and times of a path, which show for the price of a `stat` whether it changed since it was read.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use crate::{FileKind, Metadata};

/// Longer than any tick in which a kernel stamps files; those of Linux last 10 ms at most.
const TICK: Duration = Duration::from_millis(50);

/// Tick of file systems that keep whole seconds only, or, like FAT, every other one.
const COARSE_TICK: Duration = Duration::from_millis(2100);

/// Stamp of a path. Two equal stamps, the first of them [settled](Stamp::is_settled), stand for equal content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    metadata: Metadata,
    device: u64,
    inode: u64,
    /// Kind and permissions; 0 where a system has none.
    mode: u32,
    /// Names of the file; 1 where a system does not say.
    names: u64,
    /// Since 1970. What lies before that counts as 1970 and a distance.
    modified: Time,
    changed: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        let kind = kind(metadata.file_type());
        let is_file = kind == FileKind::File;
        let size = if is_file { metadata.len() } else { 0 };
        let executable = is_file && is_executable(metadata);
        Self::with_identity(Metadata { kind, size, executable }, metadata)
    }

    /// Returns the same as [`of`](Self::of) for the same file.
    #[allow(clippy::useless_conversion, reason = "the number of names is narrower on some processors")]
    #[cfg(target_os = "linux")]
    pub(super) fn of_stat(metadata: Metadata, stat: &rustix::fs::Stat) -> Self {
        Self {
            metadata,
            device: stat.st_dev,
            inode: stat.st_ino,
            mode: stat.st_mode,
            names: u64::from(stat.st_nlink),
            modified: Time::of_stat(stat.st_mtime, stat.st_mtime_nsec),
            changed: Time::of_stat(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    #[cfg(unix)]
    fn with_identity(metadata: Metadata, from: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            metadata,
            device: from.dev(),
            inode: from.ino(),
            mode: from.mode(),
            names: from.nlink(),
            modified: Time { seconds: from.mtime(), nanoseconds: from.mtime_nsec() },
            changed: Time { seconds: from.ctime(), nanoseconds: from.ctime_nsec() },
        }
    }

    /// The time of creation stands in for what tells files apart elsewhere.
    #[cfg(not(unix))]
    fn with_identity(metadata: Metadata, from: &fs::Metadata) -> Self {
        let time = |it: std::io::Result<SystemTime>| it.map_or(Time::EPOCH, Time::of);
        let modified = time(from.modified());
        let changed = time(from.created());
        Self {
            metadata,
            device: 0,
            inode: 0,
            mode: from.permissions().readonly().into(),
            names: 1,
            modified,
            changed,
        }
    }

    /// Whether the file may be written under another name.
    pub(crate) fn has_other_names(&self) -> bool {
        self.metadata.kind == FileKind::File && self.names > 1
    }

    pub(crate) fn metadata(&self) -> Metadata {
        self.metadata
    }

    /// Whether every change after `now`, when this was looked at or before, is bound to give another stamp.
    ///
    /// Git's rule: a file that was changed within the last tick may be changed again within the same. One
    /// that is dated in the future never settles.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let is_coarse = self.modified.nanoseconds == 0 || self.changed.nanoseconds == 0;
        let tick = if is_coarse { COARSE_TICK } else { TICK };
        now.checked_sub(tick).is_some_and(|it| self.modified.max(self.changed) < Time::of(it))
    }
}

impl Time {
    #[cfg(not(unix))]
    const EPOCH: Self = Self { seconds: 0, nanoseconds: 0 };

    /// The types of the fields differ between processors.
    #[cfg(target_os = "linux")]
    fn of_stat(seconds: impl TryInto<i64>, nanoseconds: impl TryInto<i64>) -> Self {
        let [seconds, nanoseconds] =
            [seconds.try_into().unwrap_or_default(), nanoseconds.try_into().unwrap_or_default()];
        Self { seconds, nanoseconds }
    }

    fn of(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanoseconds: since.subsec_nanos().into() }
    }
}

pub(super) fn kind(file_type: fs::FileType) -> FileKind {
    match file_type {
        it if it.is_file() => FileKind::File,
        it if it.is_dir() => FileKind::Directory,
        it if it.is_symlink() => FileKind::Symlink,
        _ => FileKind::Other,
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settles_when_the_tick_is_over() {
        let at = |millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        let stamp = |modified, changed| Stamp {
            metadata: Metadata { kind: FileKind::File, size: 0, executable: false },
            device: 0,
            inode: 0,
            mode: 0,
            names: 1,
            modified: Time::of(at(modified)),
            changed: Time::of(at(changed)),
        };
        assert!(!stamp(5_001, 5_001).is_settled(at(5_001)));
        assert!(!stamp(5_001, 5_001).is_settled(at(5_051)));
        assert!(stamp(5_001, 5_001).is_settled(at(5_052)));
        assert!(!stamp(1_001, 5_001).is_settled(at(5_020)), "old content, new permissions");
        assert!(!stamp(9_001, 5_001).is_settled(at(5_200)), "dated in the future");
        assert!(!stamp(5_000, 5_000).is_settled(at(7_000)), "whole seconds");
        assert!(stamp(5_000, 5_000).is_settled(at(7_101)));
        assert!(!stamp(1, 1).is_settled(at(20)), "a clock that was never set");
    }
}
