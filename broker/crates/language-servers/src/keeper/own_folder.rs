//! A folder for one server alone: what it keeps there, no other process of the same program meets, neither another
//! one of ours nor that of an editor; and nothing of it stays.
//!
//! Who kills the keeper itself leaves the folder behind.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Removed, with all that is in it, when this is dropped.
pub(super) struct OwnFolder(PathBuf);

/// How many names are tried: only those that died with their number have left one.
const NAMES: u32 = 1000;

impl OwnFolder {
    /// Among the temporary files; nobody else can look into it.
    pub(super) fn new() -> io::Result<Self> {
        let (all, pid) = (std::env::temp_dir(), std::process::id());
        for number in 0..NAMES {
            let path = all.join(format!("broker-{pid}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // If it cannot be removed, it is among the temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
