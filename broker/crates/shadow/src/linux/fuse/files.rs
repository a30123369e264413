//! Contents of files: the disk's until a file is opened to be written, a copy in the store from then on.

#![expect(
    clippy::disallowed_methods,
    reason = "the workspace as the system has it, and Broker's own cache folder"
)]

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use super::{
    node::{Id, NodeKind, Stored, os},
    tree::Tree,
};

/// Names of extended attributes that programs may give.
const USERS: &str = "user.";

impl Tree {
    /// The content of a file, to be read.
    pub(super) fn open(&self, id: Id) -> io::Result<File> {
        let node = self.node(id)?;
        match (&node.kind, &node.disk) {
            (NodeKind::File(Some(stored)), _) => open_stored(&self.stored(stored.number)),
            (NodeKind::File(None), Some(disk)) => open_on_disk(&self.on_disk(disk)),
            _ => Err(os(libc::EINVAL)),
        }
    }

    /// Whether the kernel's cache of a file that is opened now is right.
    pub(super) fn is_cached(&mut self, id: Id, file: &File) -> io::Result<bool> {
        let node = self.node_mut(id)?;
        if matches!(node.kind, NodeKind::File(Some(_))) {
            return Ok(true);
        }
        let metadata = file.metadata()?;
        let now = Some((metadata.size(), metadata.modified()?));
        Ok(std::mem::replace(&mut node.cached, now) == now)
    }

    /// Stores the content of a file, so that it can be written. Says whether it was not stored before.
    pub(super) fn store(&mut self, id: Id, keeps_content: bool) -> io::Result<bool> {
        match self.node(id)?.kind {
            NodeKind::File(Some(_)) => return Ok(false),
            NodeKind::File(None) => {}
            NodeKind::Folder(_) => return Err(os(libc::EISDIR)),
            _ => return Err(os(libc::EINVAL)),
        }
        let from = match &self.node(id)?.disk {
            Some(disk) if keeps_content => Some(open_on_disk(&self.on_disk(disk))?),
            _ => None,
        };
        if let Some(from) = &from {
            self.expect_space(from.metadata()?.len())?;
        }
        self.load_extended(id)?;
        self.change(id)?;
        let (number, mut file) = self.new_file()?;
        if let Some(mut from) = from
            && let Err(error) = io::copy(&mut from, &mut file)
        {
            let _ = std::fs::remove_file(self.stored(number));
            return Err(error);
        }
        self.node_mut(id)?.kind = NodeKind::File(Some(Stored { number, bytes: 0 }));
        self.count(id, &file)?;
        Ok(true)
    }

    pub(super) fn new_file(&mut self) -> io::Result<(u64, File)> {
        self.next_file += 1;
        let path = self.stored(self.next_file);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        Ok((self.next_file, file))
    }

    pub(super) fn expect_space(&self, more: u64) -> io::Result<()> {
        match self.used.saturating_add(more) > self.space {
            true => Err(os(libc::ENOSPC)),
            false => Ok(()),
        }
    }

    /// Notes what a file takes now.
    pub(super) fn count(&mut self, id: Id, file: &File) -> io::Result<()> {
        let metadata = file.metadata()?;
        let node = self.node_mut(id)?;
        let NodeKind::File(Some(stored)) = &mut node.kind else { return Ok(()) };
        let before = std::mem::replace(&mut stored.bytes, metadata.blocks() * SECTOR);
        let now = stored.bytes;
        if let Some(own) = &mut node.own {
            (own.size, own.blocks) = (metadata.size(), metadata.blocks());
        }
        self.used = (self.used + now).saturating_sub(before);
        Ok(())
    }

    /// Writes to a file that is stored.
    pub(super) fn write(&mut self, id: Id, file: &File, data: &[u8], offset: u64) -> io::Result<()> {
        use std::os::unix::fs::FileExt as _;
        let end = offset.saturating_add(data.len() as u64);
        self.expect_space(end.saturating_sub(file.metadata()?.len()).min(data.len() as u64))?;
        let written = file.write_all_at(data, offset);
        self.count(id, file)?;
        self.modify(id)?;
        written
    }

    pub(super) fn modify(&mut self, id: Id) -> io::Result<()> {
        self.change(id)?.mtime = SystemTime::now();
        Ok(())
    }

    pub(super) fn truncate(&mut self, id: Id, size: u64) -> io::Result<bool> {
        let is_new = self.store(id, size > 0)?;
        let file = self.open(id)?;
        file.set_len(size)?;
        self.count(id, &file)?;
        self.modify(id)?;
        Ok(is_new)
    }
}

/// Bytes of a block as the system counts them, whatever the file system's are.
const SECTOR: u64 = 512;

fn open_stored(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Never waits, and follows no link that has taken the file's place.
fn open_on_disk(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

impl Tree {
    pub(super) fn extended(&self, id: Id) -> io::Result<BTreeMap<OsString, Vec<u8>>> {
        let node = self.node(id)?;
        match (&node.extended, &node.disk) {
            (Some(own), _) => Ok(own.clone()),
            (None, Some(disk)) => Ok(extended_on_disk(&self.on_disk(disk)).unwrap_or_default()),
            (None, None) => Ok(BTreeMap::new()),
        }
    }

    /// The same, to be changed.
    pub(super) fn load_extended(&mut self, id: Id) -> io::Result<&mut BTreeMap<OsString, Vec<u8>>> {
        let all = self.extended(id)?;
        Ok(self.node_mut(id)?.extended.get_or_insert(all))
    }
}

pub(super) fn is_users(name: &OsStr) -> bool {
    name.as_bytes().starts_with(USERS.as_bytes())
}

/// Returns the extended attributes that a user may set: others are the system's.
fn extended_on_disk(path: &Path) -> io::Result<BTreeMap<OsString, Vec<u8>>> {
    let mut names = vec![0; rustix::fs::llistxattr(path, &mut [0u8; 0][..])?];
    let length = rustix::fs::llistxattr(path, &mut names[..])?;
    let mut all = BTreeMap::new();
    for name in names[..length].split(|it| *it == 0).map(OsStr::from_bytes).filter(|it| is_users(it)) {
        let mut value = vec![0; rustix::fs::lgetxattr(path, name, &mut [0u8; 0][..])?];
        let length = rustix::fs::lgetxattr(path, name, &mut value[..])?;
        value.truncate(length);
        all.insert(name.to_owned(), value);
    }
    Ok(all)
}

/// A file that a program has open.
pub(super) struct Handle {
    pub(super) node: Id,
    pub(super) file: Arc<File>,
}
