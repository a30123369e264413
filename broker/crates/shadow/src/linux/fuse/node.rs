//! A file, folder or link of a merged folder.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::Metadata,
    io,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _},
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use fuser::{FileAttr, FileType, INodeNo};

/// The number of a node, which programs see as that of the file.
pub(super) type Id = u64;

pub(super) const ROOT: Id = 1;

pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// The path in the workspace of what shows through here: attributes and content, as far as the node has none of its own.
    pub(super) disk: Option<PathBuf>,
    /// The number of that file on the disk.
    pub(super) disk_number: u64,
    pub(super) own: Option<FileAttr>,
    /// Extended attributes, once one was changed.
    pub(super) extended: Option<BTreeMap<OsString, Vec<u8>>>,
    /// Names that it has in the merged folder.
    pub(super) names: u32,
    /// Times that the kernel was told its number and has not forgotten it.
    pub(super) lookups: u64,
    /// Whether the node is as the branch has it.
    pub(super) is_branchs: bool,
    /// Folder and name where the node was found, while it is nothing but what the disk has there.
    pub(super) home: Option<(Id, OsString)>,
    /// Size and time of the content on the disk that the kernel may have in its cache.
    pub(super) cached: Option<(u64, SystemTime)>,
}

pub(super) enum NodeKind {
    Folder(Folder),
    /// File, with the disk's content where nothing is stored.
    File(Option<Stored>),
    /// Link, likewise.
    Link(Option<PathBuf>),
    Special,
}

#[derive(Default)]
pub(super) struct Folder {
    /// Names under which something else is shown than the disk has.
    pub(super) slots: BTreeMap<OsString, Slot>,
    /// Names of the disk that were looked up.
    pub(super) known: BTreeMap<OsString, Id>,
}

#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// `None` if nothing is shown.
    pub(super) now: Option<Id>,
    pub(super) below: Below,
}

/// Entry that a name shows without all that programs wrote.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    Disk,
    Branch,
    /// The branch hides what the disk has.
    Nothing,
}

/// A file in the store.
pub(super) struct Stored {
    pub(super) number: u64,
    /// Bytes that it takes.
    pub(super) bytes: u64,
}

impl Node {
    pub(super) fn new(kind: NodeKind, own: FileAttr) -> Self {
        Self { own: Some(own), ..Self::of_disk(kind, PathBuf::new(), 0) }.without_disk()
    }

    pub(super) fn of_disk(kind: NodeKind, disk: PathBuf, disk_number: u64) -> Self {
        Self {
            kind,
            disk: Some(disk),
            disk_number,
            own: None,
            extended: None,
            names: 1,
            lookups: 0,
            is_branchs: false,
            home: None,
            cached: None,
        }
    }

    pub(super) fn without_disk(self) -> Self {
        Self { disk: None, ..self }
    }

    pub(super) fn is_folder(&self) -> bool {
        matches!(self.kind, NodeKind::Folder(_))
    }

    pub(super) fn folder(&self) -> io::Result<&Folder> {
        match &self.kind {
            NodeKind::Folder(it) => Ok(it),
            _ => Err(os(libc::ENOTDIR)),
        }
    }

    pub(super) fn folder_mut(&mut self) -> io::Result<&mut Folder> {
        match &mut self.kind {
            NodeKind::Folder(it) => Ok(it),
            _ => Err(os(libc::ENOTDIR)),
        }
    }

    pub(super) fn slot(&self, name: &OsStr) -> Option<Slot> {
        self.folder().ok()?.slots.get(name).copied()
    }

    /// Whether the node holds other nodes, or is named for good.
    pub(super) fn is_needed(&self) -> bool {
        let holds = |it: &Folder| !(it.slots.is_empty() && it.known.is_empty());
        self.lookups > 0 || (self.home.is_none() && self.names > 0) || self.folder().is_ok_and(holds)
    }
}

impl NodeKind {
    pub(super) fn of_disk(metadata: &Metadata) -> Self {
        match metadata.file_type() {
            it if it.is_dir() => Self::Folder(Folder::default()),
            it if it.is_file() => Self::File(None),
            it if it.is_symlink() => Self::Link(None),
            _ => Self::Special,
        }
    }
}

/// The system's error of this number.
pub(super) fn os(error: i32) -> io::Error {
    io::Error::from_raw_os_error(error)
}

pub(super) fn file_type(it: std::fs::FileType) -> FileType {
    match it {
        it if it.is_dir() => FileType::Directory,
        it if it.is_symlink() => FileType::Symlink,
        it if it.is_fifo() => FileType::NamedPipe,
        it if it.is_socket() => FileType::Socket,
        it if it.is_char_device() => FileType::CharDevice,
        it if it.is_block_device() => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

pub(super) fn attributes(id: Id, it: &Metadata) -> FileAttr {
    let kind = file_type(it.file_type());
    FileAttr {
        ino: INodeNo(id),
        size: it.size(),
        blocks: it.blocks(),
        atime: time(it.atime(), it.atime_nsec()),
        mtime: time(it.mtime(), it.mtime_nsec()),
        ctime: time(it.ctime(), it.ctime_nsec()),
        crtime: UNIX_EPOCH,
        kind,
        perm: permissions(it.mode()),
        nlink: if kind == FileType::Directory { 1 } else { u32::try_from(it.nlink()).unwrap_or(u32::MAX) },
        uid: it.uid(),
        gid: it.gid(),
        rdev: u32::try_from(it.rdev()).unwrap_or(0),
        blksize: BLOCK,
        flags: 0,
    }
}

pub(super) fn new_attributes(kind: FileType, mode: u32, (uid, gid): (u32, u32)) -> FileAttr {
    let now = SystemTime::now();
    FileAttr {
        ino: INodeNo(0),
        size: 0,
        blocks: 0,
        atime: now,
        mtime: now,
        ctime: now,
        crtime: UNIX_EPOCH,
        kind,
        perm: permissions(mode),
        nlink: 1,
        uid,
        gid,
        rdev: 0,
        blksize: BLOCK,
        flags: 0,
    }
}

pub(super) const BLOCK: u32 = 4096;

/// The bits of a mode that do not say what kind of file it is.
pub(super) fn permissions(mode: u32) -> u16 {
    (mode & 0o7777) as u16
}

fn time(seconds: i64, nanoseconds: i64) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let second = if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole };
    second + Duration::from_nanos(nanoseconds.unsigned_abs())
}
