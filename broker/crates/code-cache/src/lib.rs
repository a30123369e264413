//! Code in the user's cache folder: unpacked or compiled once, and mapped from there by every later run.
//!
//! Beside each entry stands a stamp with the entry's hash and the size and time of the file it was computed from: hashing
//! 30 MB on every start would cost more than a check, so the contents are only hashed again when the file is not the one
//! that was stamped. The time of the stamp is when the entry was last used: what is not used for long is removed.
//!
//! Entries are executed as they are, so the folder must be the user's alone. The crate depends neither on what the code is
//! nor on how it is made; an entry's name must hold all that shapes it.

#![allow(clippy::disallowed_methods, reason = "the cache is no workspace folder")]

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, SystemTime},
};

/// A folder of code.
pub struct CodeCache {
    folder: Option<PathBuf>,
    /// Whether the folder may be used, found out on first need.
    usable: OnceLock<bool>,
    /// Called with the reason why nothing can be kept.
    complain: Box<dyn Fn(String) + Send + Sync>,
}

impl CodeCache {
    /// Keeps nothing without a folder.
    pub fn new(folder: Option<PathBuf>, complain: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self { folder, usable: OnceLock::new(), complain: Box::new(complain) }
    }

    /// The path of an entry, if there is a folder that can be trusted.
    pub fn entry(&self, name: &str) -> Option<PathBuf> {
        let folder = self.folder.as_deref()?;
        let usable = self.usable.get_or_init(|| private(folder).map_err(|why| (self.complain)(why)).is_ok());
        usable.then(|| folder.join(name))
    }

    /// Whether the entry is there and undamaged. Notes that it is used.
    pub fn has(&self, entry: &Path) -> bool {
        let is_there = is_stamped(entry);
        if is_there {
            note_use(&stamp_path(entry), SystemTime::now());
        }
        is_there
    }

    /// Keeps `code`; returns whether the entry has it now.
    pub fn keep(&self, entry: &Path, code: &[u8]) -> bool {
        match write(entry, code).and_then(|()| stamp(entry, &blake3::hash(code))) {
            Ok(()) => {
                prune(entry.parent().unwrap_or(Path::new("/")), SystemTime::now());
                true
            }
            Err(error) => {
                (self.complain)(format!("cannot write {}: {error}", entry.display()));
                false
            }
        }
    }
}

/// Makes `dir` if it is missing, and refuses one that others could write.
fn private(dir: &Path) -> Result<(), String> {
    let named = |error: io::Error| format!("cannot use {}: {error}", dir.display());
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(named)?;
    let metadata = fs::symlink_metadata(dir).map_err(named)?;
    let mine = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_dir() || !mine || metadata.mode() & 0o077 != 0 {
        let dir = dir.display();
        return Err(format!("{dir} must be a folder that you own, with mode 0700"));
    }
    Ok(())
}

fn write(entry: &Path, code: &[u8]) -> io::Result<()> {
    let dir = entry.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::Write::write_all(&mut file, code)?;
    // A stamp must not outlive, over a power cut, the content it vouches for.
    file.as_file().sync_all()?;
    file.persist(entry)?;
    Ok(())
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Time after which an entry that was not used is removed, as answers are.
pub const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Once a day is enough. A folder that cannot be written keeps what it has.
fn note_use(stamp: &Path, now: SystemTime) {
    if age(stamp, now) > DAY {
        let _as_it_was = fs::File::options().write(true).open(stamp).and_then(|it| it.set_modified(now));
    }
}

/// Time since a file was modified; none for one that is not there.
fn age(file: &Path, now: SystemTime) -> Duration {
    let modified = fs::symlink_metadata(file).and_then(|it| it.modified());
    modified.ok().and_then(|it| now.duration_since(it).ok()).unwrap_or_default()
}

/// Removes what was not used for long, and what was never finished. A process that has an entry mapped keeps it.
fn prune(dir: &Path, now: SystemTime) {
    unused(dir, now).iter().for_each(|it| _ = fs::remove_file(it));
}

/// Files of a folder of code that were not used for long, or never finished.
pub fn unused(dir: &Path, now: SystemTime) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).map(|it| it.path());
    let files = entries.filter(|it| fs::symlink_metadata(it).is_ok_and(|it| !it.is_dir()));
    let is_unused = |it: &PathBuf| {
        let stamp = stamp_path(it);
        // The age of an entry without a stamp is its own.
        age(if stamp.exists() { &stamp } else { it }, now) > UNUSED
    };
    files.filter(is_unused).collect()
}

fn stamp_path(entry: &Path) -> PathBuf {
    entry.with_extension("stamp")
}

/// Summary of a file's state, which differs from one state to another, without reading the file.
fn state(entry: &Path) -> io::Result<String> {
    let metadata = fs::symlink_metadata(entry)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (size, inode) = (metadata.size(), metadata.ino());
    let (mtime, ctime) = (metadata.mtime(), metadata.ctime());
    Ok(format!("{size} {inode} {mtime}.{} {ctime}.{}", metadata.mtime_nsec(), metadata.ctime_nsec()))
}

fn stamp(entry: &Path, hash: &blake3::Hash) -> io::Result<()> {
    write(&stamp_path(entry), format!("{}\n{}\n", hash.to_hex(), state(entry)?).as_bytes())
}

fn is_stamped(entry: &Path) -> bool {
    check_stamp(entry).unwrap_or(false)
}

fn check_stamp(entry: &Path) -> io::Result<bool> {
    let stamp_file = stamp_path(entry);
    // To read a pipe would wait for ever.
    if !fs::symlink_metadata(&stamp_file)?.is_file() {
        return Ok(false);
    }
    let stamped = fs::read_to_string(stamp_file)?;
    let Some((hash, stamped_state)) = stamped.split_once('\n') else { return Ok(false) };
    if stamped_state.trim_end() == state(entry)? {
        return Ok(true);
    }
    // Copied, restored or damaged: only the content can tell.
    let now = blake3::hash(&fs::read(entry)?);
    if now.to_hex().as_str() != hash {
        return Ok(false);
    }
    stamp(entry, &now)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_used_for_long_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let put = |name: &str, days: u32| {
            let file = fs::File::create(dir.path().join(name)).unwrap();
            file.set_modified(now - DAY * days).unwrap();
        };
        for (name, code, stamp) in [("used", 100, 5), ("old", 100, 40), ("today", 0, 0)] {
            put(&format!("{name}.cwasm"), code);
            put(&format!("{name}.stamp"), stamp);
        }
        put("unstamped.cwasm", 40);
        put(".unfinished", 40);
        fs::create_dir(dir.path().join("folder")).unwrap();
        note_use(&dir.path().join("used.stamp"), now);
        assert_eq!(age(&dir.path().join("used.stamp"), now), Duration::ZERO);
        prune(dir.path(), now + UNUSED - DAY);
        let left = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["folder", "today.cwasm", "today.stamp", "used.cwasm", "used.stamp"]);
    }
}
