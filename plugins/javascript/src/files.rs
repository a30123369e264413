//! The file system as deno's configuration crate wants it: `std::fs`, and nothing above the root.
//!
//! Leaves out times, owners and modes, which are not asked for here.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sys_traits::{BaseFsMetadata, BaseFsRead, BaseFsReadDir, FileType, FsDirEntry, FsMetadataValue};

/// File system restricted to a root.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) root: PathBuf,
}

impl Files {
    fn inside(&self, path: &Path) -> io::Result<()> {
        if path.starts_with(&self.root) { Ok(()) } else { Err(ErrorKind::NotFound.into()) }
    }
}

impl BaseFsRead for Files {
    #[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
    fn base_fs_read(&self, path: &Path) -> io::Result<Cow<'static, [u8]>> {
        self.inside(path)?;
        fs::read(path).map(Cow::Owned)
    }
}

impl BaseFsMetadata for Files {
    type Metadata = Metadata;

    fn base_fs_metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.inside(path)?;
        fs::metadata(path).map(Metadata)
    }

    fn base_fs_symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.inside(path)?;
        fs::symlink_metadata(path).map(Metadata)
    }
}

impl BaseFsReadDir for Files {
    type ReadDirEntry = Entry;

    #[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
    fn base_fs_read_dir(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<Entry>>>> {
        self.inside(path)?;
        let mut entries: Vec<Entry> =
            fs::read_dir(path)?.map(|it| Ok(Entry(it?.path()))).collect::<io::Result<_>>()?;
        entries.sort_by(|a, b| a.0.cmp(&b.0)); // so that no answer depends on the order of a directory
        Ok(Box::new(entries.into_iter().map(Ok)))
    }
}

/// A file or folder in a folder.
#[derive(Debug)]
pub(crate) struct Entry(PathBuf);

impl FsDirEntry for Entry {
    type Metadata = Metadata;

    fn file_name(&self) -> Cow<'_, OsStr> {
        Cow::Borrowed(self.0.file_name().unwrap_or_default())
    }

    fn file_type(&self) -> io::Result<FileType> {
        fs::symlink_metadata(&self.0).map(|it| it.file_type().into())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        fs::symlink_metadata(&self.0).map(Metadata)
    }

    fn path(&self) -> Cow<'_, Path> {
        Cow::Borrowed(&self.0)
    }
}

#[derive(Debug)]
pub(crate) struct Metadata(fs::Metadata);

macro_rules! not_told {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(&self) -> io::Result<$type> {
            Err(ErrorKind::Unsupported.into())
        })*
    };
}

impl FsMetadataValue for Metadata {
    fn file_type(&self) -> FileType {
        self.0.file_type().into()
    }

    fn len(&self) -> u64 {
        self.0.len()
    }

    not_told!(accessed: SystemTime, created: SystemTime, changed: SystemTime, modified: SystemTime);
    not_told!(dev: u64, ino: u64, mode: u32, nlink: u64, uid: u32, gid: u32, rdev: u64, blksize: u64);
    not_told!(blocks: u64, file_attributes: u32);
    not_told!(is_block_device: bool, is_char_device: bool, is_fifo: bool, is_socket: bool);
}
