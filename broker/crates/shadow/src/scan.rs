//! Looks at folders without reading files, and stamps by which two looks are compared.

#![expect(
    clippy::disallowed_methods,
    reason = "folders are looked at as the system has them: times, modes and links that no view has"
)]

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::caches;

/// A change on the disk this long before it was looked at may be followed by one that leaves the same stamp; in nanoseconds.
pub(crate) const UNSURE: i64 = 50_000_000;

/// In nanoseconds.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// Entries below a folder, by their paths relative to it.
pub(crate) type Tree = BTreeMap<PathBuf, Stamp>;

/// Metadata by which two states of a file differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) inode: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i64,
    /// Time at which anything of the file was changed last; no program can choose that.
    pub(crate) changed: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// A socket, a named pipe or a device.
    Other,
}

impl Stamp {
    pub(crate) fn of(it: &Metadata) -> Self {
        let kind = match it.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        let time = |seconds: i64, nanoseconds: i64| seconds.saturating_mul(1_000_000_000) + nanoseconds;
        Self {
            kind,
            mode: it.mode() & 0o7777,
            size: it.size(),
            inode: it.ino(),
            modified: time(it.mtime(), it.mtime_nsec()),
            changed: time(it.ctime(), it.ctime_nsec()),
        }
    }

    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(|it| Self::of(&it))
    }

    /// Whether any part may have been changed at this time of the file system's clock, or later. There are file systems that
    /// count by two seconds.
    pub(crate) fn may_be_since(&self, time: i64) -> bool {
        let step = if self.changed % SECOND == 0 { 2 * SECOND } else { 0 };
        self.changed.saturating_add(step) >= time
    }
}

/// The time in nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Whether stamps in a folder are by this system's clock: no other machine writes there.
#[cfg(target_os = "linux")]
pub(crate) fn has_own_clock(folder: &Path) -> bool {
    /// ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, bcachefs, ZFS: the numbers of `statfs(2)`.
    const LOCAL: [u32; 8] =
        [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1];
    rustix::fs::statfs(folder).is_ok_and(|it| LOCAL.contains(&(it.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has_own_clock(_: &Path) -> bool {
    false
}

/// Result of a look at a folder.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) sources: Tree,
    /// The outermost folders that are caches, and files that are.
    pub(crate) caches: Tree,
}

type Found = Vec<(PathBuf, Stamp)>;

impl Scan {
    /// All of a folder but for what is in caches.
    pub(crate) fn of(root: &Path) -> io::Result<Self> {
        let (mut sources, mut caches) = (Vec::new(), Vec::new());
        Self::below(root, Path::new(""), &mut sources, &mut caches)?;
        // Entries come in their order, which spares comparing paths.
        Ok(Self { sources: sources.into_iter().collect(), caches: caches.into_iter().collect() })
    }

    fn below(root: &Path, folder: &Path, sources: &mut Found, caches: &mut Found) -> io::Result<()> {
        let at = root.join(folder);
        let mut entries = entries(&at)?;
        entries.sort_by_cached_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            // The file is gone meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            let (path, stamp) = (folder.join(&name), Stamp::of(&metadata));
            let name = name.to_str().unwrap_or_default();
            let is_cache = match stamp.kind {
                Kind::Folder => caches::is_folder(&at, name),
                Kind::File => caches::is_file(name),
                Kind::Link | Kind::Other => false,
            };
            let found = if is_cache { &mut *caches } else { &mut *sources };
            found.push((path.clone(), stamp));
            if stamp.kind == Kind::Folder && !is_cache {
                Self::below(root, &path, sources, caches)?;
            }
        }
        Ok(())
    }
}

/// All below a folder, caches or not.
pub(crate) fn all_below(root: &Path, folder: &Path, tree: &mut Tree) -> io::Result<()> {
    for entry in entries(&root.join(folder))? {
        let path = folder.join(entry.file_name());
        let Ok(metadata) = entry.metadata() else { continue };
        let stamp = Stamp::of(&metadata);
        tree.insert(path.clone(), stamp);
        if stamp.kind == Kind::Folder {
            all_below(root, &path, tree)?;
        }
    }
    Ok(())
}

/// None of a folder that is gone, or that its user may not read: programs may not either.
fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Paths as they are written to a file, since not all are UTF-8.
pub(crate) mod as_bytes {
    use std::os::unix::ffi::OsStrExt as _;

    use serde::{Deserializer, Serializer, de::DeserializeOwned};

    use super::{BTreeMap, Deserialize, OsStr, PathBuf, Serialize};

    pub(crate) fn serialize<S: Serializer, T: Serialize>(
        tree: &BTreeMap<PathBuf, T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(tree.iter().map(|(path, it)| (path.as_os_str().as_bytes(), it)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: DeserializeOwned>(
        from: D,
    ) -> Result<BTreeMap<PathBuf, T>, D::Error> {
        let all = Vec::<(Vec<u8>, T)>::deserialize(from)?;
        Ok(all.into_iter().map(|(path, it)| (OsStr::from_bytes(&path).into(), it)).collect())
    }
}
