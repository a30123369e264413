//! The folder that answers are kept in, which several programs use at once and none locks.
//!
//! A file is only ever replaced as a whole, so that a reader sees the file of one writer or of another. It need not outlive
//! a power cut: a lost file is a miss, and a torn one does not fit its checksum.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use overlay::ContentHash;
use rustix::fs::OFlags;

use super::CacheOptions;

pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const EXTENSION: &str = "answers";
/// Prefix of the name of a file that is still being written.
const UNFINISHED: &str = ".unfinished-";
/// Age after which an unfinished file counts as abandoned: no write takes that long.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// Bytes; a larger file is none of ours.
const MAX_FILE: u64 = 256 << 20;

pub(super) struct Folder {
    path: PathBuf,
    /// Bytes that all files may take together.
    limit: u64,
    max_age: Duration,
}

impl Folder {
    /// Makes the folder if it is missing, and refuses one that others could write: with write access, any answer can be forged.
    pub(super) fn open(path: PathBuf, limit: u64, max_age: Duration) -> Result<Self, String> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|it| it.to_string())?;
        let metadata = fs::symlink_metadata(&path).map_err(|it| it.to_string())?;
        if !metadata.is_dir() || !is_mine(&metadata) || metadata.mode() & 0o077 != 0 {
            return Err("must be a folder that you own, with mode 0700".to_owned());
        }
        Ok(Self { path, limit, max_age })
    }

    /// Path of the file with the answers of a linter for the directories of a shard.
    pub(super) fn file(&self, linter: ContentHash, shard: usize) -> PathBuf {
        self.path.join(format!("{linter}-{shard:02x}.{EXTENSION}"))
    }

    #[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
    pub(super) fn write(&self, file: &Path, content: &[u8]) -> io::Result<()> {
        let mut unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.path)?;
        unfinished.write_all(content)?;
        unfinished.persist(file)?;
        Ok(())
    }

    /// Removes files that were not used for long, and the oldest files beyond the limit. Files that cannot be removed stay.
    #[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
    pub(super) fn prune(&self) {
        self.surplus().iter().for_each(|it| _ = fs::remove_file(it));
    }

    fn surplus(&self) -> Vec<PathBuf> {
        let now = SystemTime::now();
        let mut files: Vec<_> = self.files().unwrap_or_default();
        files.sort_by_key(|it| std::cmp::Reverse(it.modified));
        let mut total = 0;
        let is_surplus = |file: &Kept| {
            total += file.size;
            let age = now.duration_since(file.modified).unwrap_or_default();
            age > file.may_stay(self.max_age) || total > self.limit
        };
        files.into_iter().filter(is_surplus).map(|it| it.path).collect()
    }

    #[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
    fn files(&self) -> io::Result<Vec<Kept>> {
        let entries = fs::read_dir(&self.path)?.filter_map(Result::ok);
        Ok(entries.filter_map(|it| Kept::new(it.path())).collect())
    }
}

/// Files of a folder of answers that were not used for long, and the oldest beyond the limit.
pub fn surplus(path: &Path, options: &CacheOptions) -> Vec<PathBuf> {
    let max_age = DAY * options.max_age;
    Folder { path: path.to_owned(), limit: options.disk, max_age }.surplus()
}

/// A file of ours.
struct Kept {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
    unfinished: bool,
}

impl Kept {
    /// `None` for what we did not put there.
    fn new(path: PathBuf) -> Option<Self> {
        let unfinished = path.file_name()?.to_str()?.starts_with(UNFINISHED);
        if !unfinished && path.extension()? != EXTENSION {
            return None;
        }
        let metadata = fs::symlink_metadata(&path).ok().filter(|it| !it.is_dir())?;
        Some(Self { path, size: metadata.len(), modified: metadata.modified().ok()?, unfinished })
    }

    fn may_stay(&self, max_age: Duration) -> Duration {
        if self.unfinished { ABANDONED } else { max_age }
    }
}

fn is_mine(metadata: &fs::Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// A file's bytes; `None` if there is none.
#[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
pub(super) fn read(file: &Path) -> Result<Option<Vec<u8>>, String> {
    // Without `NONBLOCK`, to open a pipe would wait for someone to write into it.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let opened = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(file);
    let opened = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(opened) => opened,
    };
    let metadata = opened.metadata().map_err(|it| it.to_string())?;
    if !metadata.is_file() || !is_mine(&metadata) || metadata.len() > MAX_FILE {
        return Err("is not a file of yours, or too large".to_owned());
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    opened.take(MAX_FILE).read_to_end(&mut bytes).map_err(|it| it.to_string())?;
    Ok(Some(bytes))
}
