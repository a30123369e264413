//! The plugins that were fetched, by their digests, in the user's cache folder.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    io::Read as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use super::source::Digest;
use crate::home;

/// Bytes of the largest plugin. A whole Python has 40 MB.
pub(super) const LARGEST: u64 = 256 << 20;

pub(super) fn too_large(size: u64) -> bool {
    size > LARGEST
}

/// A plugin's file, which is no pipe, no device and not endless.
pub(crate) fn read_plugin(path: &Path) -> io::Result<Vec<u8>> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if too_large(bytes.len() as u64) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: Option<PathBuf>,
}

impl Store {
    /// In a cache folder; without one nothing is there and nothing can be kept.
    pub(crate) fn in_cache(cache_dir: Option<PathBuf>) -> Self {
        Self { folder: cache_dir.map(|it| it.join("plugins")) }
    }

    /// What has this digest; `None` if it was never fetched. What was changed since is an error.
    pub(crate) fn get(&self, digest: &Digest) -> io::Result<Option<Bytes>> {
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
        Ok(Some(bytes.into()))
    }

    /// Keeps it, in place of one that was changed; on the disk when this returns.
    pub(crate) fn put(&self, digest: &Digest, bytes: &[u8]) -> io::Result<()> {
        let nowhere = || io::Error::other("there is no cache folder: set HOME or BROKER_CACHE_DIR");
        let file = self.file(digest).ok_or_else(nowhere)?;
        let folder = file.parent().ok_or_else(nowhere)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        home::replace(&file, bytes)
    }

    fn file(&self, digest: &Digest) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{}.wasm", digest.hex())))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
    fn without_a_folder_nothing_is_kept() {
        let store = Store::in_cache(None);
        assert_eq!(store.get(&Digest::of(b"")).unwrap(), None);
        assert!(store.put(&Digest::of(b""), b"").is_err());
    }
}
