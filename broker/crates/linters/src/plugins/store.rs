//! The plugins that were fetched, by their digests, in the user's cache folder. One that is not used for long is removed:
//! `broker plugin install` fetches it again.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use config::{Digest, folders};
use overlay::read_regular;

/// Bytes of the largest plugin.
pub(super) const LARGEST: u64 = plugin_host::MAX_COMPONENT;

pub(super) fn too_large(size: u64) -> bool {
    size > LARGEST
}

/// A plugin's file, which is no pipe, no device and not endless.
pub(super) fn read_plugin(path: &Path) -> io::Result<Vec<u8>> {
    read_regular(path, LARGEST)
}

#[derive(Debug, Clone)]
pub struct Store {
    folder: Option<PathBuf>,
}

impl Store {
    /// In a cache folder; without one nothing is there and nothing can be kept.
    pub fn in_cache(cache_dir: Option<PathBuf>) -> Self {
        Self { folder: cache_dir.map(|it| it.join("plugins")) }
    }

    /// Returns the plugin with this digest; `None` if it was never fetched. A file that was changed since is an error.
    pub fn get(&self, digest: &Digest) -> io::Result<Option<Bytes>> {
        let Some(file) = self.file(digest) else { return Ok(None) };
        let bytes = match read_plugin(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if Digest::of(&bytes) != *digest {
            let changed = format!("{} was changed since it was fetched", file.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, changed));
        }
        note_use(&file, SystemTime::now());
        Ok(Some(bytes.into()))
    }

    /// Keeps it, in place of one that was changed; on the disk when this returns.
    pub fn put(&self, digest: &Digest, bytes: &[u8]) -> io::Result<()> {
        let nowhere = || io::Error::other("there is no cache folder: set HOME or BROKER_CACHE_DIR");
        let file = self.file(digest).ok_or_else(nowhere)?;
        let folder = file.parent().ok_or_else(nowhere)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        folders::replace(&file, bytes)?;
        prune(folder, SystemTime::now());
        Ok(())
    }

    /// Files that were not used for long, or never finished.
    pub fn unused(&self) -> Vec<PathBuf> {
        self.folder.as_deref().map(|it| unused(it, SystemTime::now())).unwrap_or_default()
    }

    fn file(&self, digest: &Digest) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{}.wasm", digest.hex())))
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Longer than answers are: to have it again takes the network.
pub const UNUSED: Duration = Duration::from_secs(90 * 24 * 60 * 60);

fn age(file: &Path, now: SystemTime) -> Duration {
    let modified = fs::symlink_metadata(file).and_then(|it| it.modified());
    modified.ok().and_then(|it| now.duration_since(it).ok()).unwrap_or_default()
}

/// Once a day is enough. A folder that cannot be written keeps what it has.
#[expect(clippy::disallowed_methods, reason = "plugins are kept outside any workspace")]
fn note_use(file: &Path, now: SystemTime) {
    if age(file, now) > DAY {
        let _as_it_was = fs::File::options().write(true).open(file).and_then(|it| it.set_modified(now));
    }
}

/// Also what was never finished.
#[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
fn prune(folder: &Path, now: SystemTime) {
    // An entry that cannot be removed, such as a folder, stays.
    unused(folder, now).iter().for_each(|it| _ = fs::remove_file(it));
}

#[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
fn unused(folder: &Path, now: SystemTime) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|it| it.path());
    files.filter(|it| age(it, now) > UNUSED).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn keeps_what_has_the_digest_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_cache(Some(folder.path().join("cache")));
        let digest = Digest::of(b"plugin");
        assert_eq!(store.get(&digest).unwrap(), None);
        store.put(&digest, b"plugin").unwrap();
        assert_eq!(store.get(&digest).unwrap().unwrap(), "plugin");
        fs::write(store.file(&digest).unwrap(), "tampered").unwrap();
        let error = store.get(&digest).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        store.put(&digest, b"plugin").unwrap();
        assert!(store.get(&digest).unwrap().is_some(), "fetched again, it is whole again");
    }

    #[test]
    fn one_that_is_not_used_for_long_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_cache(Some(folder.path().to_owned()));
        let [used, unused, new] = [b"used" as &[u8], b"unused", b"new"].map(|it| (Digest::of(it), it));
        for (digest, bytes) in [&used, &unused] {
            store.put(digest, bytes).unwrap();
        }
        for (digest, _) in [&used, &unused] {
            let file = fs::File::options().write(true).open(store.file(digest).unwrap()).unwrap();
            file.set_modified(SystemTime::now() - UNUSED - DAY).unwrap();
        }
        assert!(store.get(&used.0).unwrap().is_some());
        store.put(&new.0, new.1).unwrap();
        assert!(store.get(&used.0).unwrap().is_some() && store.get(&new.0).unwrap().is_some());
        assert_eq!(store.get(&unused.0).unwrap(), None);
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let store = Store::in_cache(None);
        assert_eq!(store.get(&Digest::of(b"")).unwrap(), None);
        assert!(store.put(&Digest::of(b""), b"").is_err());
    }
}
