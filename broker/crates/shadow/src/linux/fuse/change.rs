//! Names that come, go and move.

use std::{ffi::OsStr, fs, io, time::SystemTime};

use fuser::FileType;

use super::{
    node::{Below, Id, Node, Slot, os},
    tree::Tree,
};

/// Treatment of an entry that has the new name of a rename.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rename {
    Replace,
    NoReplace,
    Exchange,
}

impl Tree {
    /// Puts a new node into a folder.
    pub(super) fn create(&mut self, parent: Id, name: &OsStr, mut node: Node) -> io::Result<Id> {
        if self.child(parent, name).is_ok() {
            return Err(os(libc::EEXIST));
        }
        if self.node(parent)?.names == 0 {
            return Err(os(libc::ENOENT));
        }
        let above = self.attributes(parent)?;
        if let Some(own) = node.own.as_mut().filter(|_| u32::from(above.perm) & libc::S_ISGID != 0) {
            own.gid = above.gid;
            if own.kind == FileType::Directory {
                own.perm |= SET_GROUP;
            }
        }
        self.touch(parent)?;
        let id = self.insert(node);
        self.put(parent, name, id)?;
        Ok(id)
    }

    /// Shows a node under a name.
    pub(super) fn put(&mut self, parent: Id, name: &OsStr, id: Id) -> io::Result<()> {
        let folder = self.node_mut(parent)?.folder_mut()?;
        folder.known.remove(name);
        let new = Slot { now: None, below: Below::Disk };
        folder.slots.entry(name.to_owned()).or_insert(new).now = Some(id);
        Ok(())
    }

    /// Takes a name away from a node. What the disk or the branch has below stays hidden.
    pub(super) fn take(&mut self, parent: Id, name: &OsStr) -> io::Result<Id> {
        let id = self.child(parent, name)?;
        let node = self.node(parent)?;
        let below = node.slot(name).map_or(Below::Disk, |it| it.below);
        let is_on_disk = |it: &std::path::PathBuf| fs::symlink_metadata(self.on_disk(&it.join(name))).is_ok();
        let hides = below == Below::Branch || node.disk.as_ref().is_some_and(is_on_disk);
        let folder = self.node_mut(parent)?.folder_mut()?;
        folder.known.remove(name);
        match hides {
            true => folder.slots.insert(name.to_owned(), Slot { now: None, below }),
            false => folder.slots.remove(name),
        };
        self.node_mut(id)?.home = None;
        Ok(id)
    }

    /// Notes that a node has one name less.
    pub(super) fn release(&mut self, id: Id) -> io::Result<()> {
        let node = self.node_mut(id)?;
        node.names = node.names.saturating_sub(1);
        if let Some(own) = &mut node.own {
            own.ctime = SystemTime::now();
        }
        self.drop_unneeded(id);
        Ok(())
    }

    pub(super) fn unlink(&mut self, parent: Id, name: &OsStr) -> io::Result<()> {
        let id = self.child(parent, name)?;
        if self.node(id)?.is_folder() {
            return Err(os(libc::EISDIR));
        }
        self.touch(parent)?;
        self.take(parent, name)?;
        self.release(id)
    }

    pub(super) fn remove_folder(&mut self, parent: Id, name: &OsStr) -> io::Result<()> {
        let id = self.child(parent, name)?;
        self.expect_empty(id)?;
        self.touch(parent)?;
        self.own(id)?;
        self.take(parent, name)?;
        self.hide_disk(id)?;
        self.release(id)
    }

    /// Has a folder that is gone show nothing to a process that is still in it.
    fn hide_disk(&mut self, id: Id) -> io::Result<()> {
        self.node_mut(id)?.disk = None;
        Ok(())
    }

    fn expect_empty(&self, id: Id) -> io::Result<()> {
        match self.list(id)?.is_empty() {
            true => Ok(()),
            false => Err(os(libc::ENOTEMPTY)),
        }
    }

    pub(super) fn link(&mut self, id: Id, parent: Id, name: &OsStr) -> io::Result<()> {
        if self.child(parent, name).is_ok() {
            return Err(os(libc::EEXIST));
        }
        if self.node(id)?.names == 0 {
            return Err(os(libc::ENOENT));
        }
        self.change(id)?;
        self.node_mut(id)?.names += 1;
        self.touch(parent)?;
        self.put(parent, name, id)
    }

    pub(super) fn rename(
        &mut self,
        (parent, name): (Id, &OsStr),
        (new_parent, new_name): (Id, &OsStr),
        how: Rename,
    ) -> io::Result<()> {
        let id = self.child(parent, name)?;
        let other = self.child(new_parent, new_name).ok();
        match (other, how) {
            (Some(_), Rename::NoReplace) => return Err(os(libc::EEXIST)),
            (None, Rename::Exchange) => return Err(os(libc::ENOENT)),
            // Two names of one file.
            (Some(other), _) if other == id => return Ok(()),
            (Some(other), Rename::Replace) => self.expect_replaceable(id, other)?,
            _ => {}
        }
        for id in [Some(id), other].into_iter().flatten() {
            self.own(id)?.ctime = SystemTime::now();
        }
        self.touch(parent)?;
        self.touch(new_parent)?;
        self.take(parent, name)?;
        self.node_mut(id)?.is_branchs = false;
        if let Some(other) = other {
            self.take(new_parent, new_name)?;
            match how {
                Rename::Exchange => {
                    self.node_mut(other)?.is_branchs = false;
                    self.put(parent, name, other)?;
                }
                _ => self.release(other)?,
            }
        }
        self.put(new_parent, new_name, id)
    }

    fn expect_replaceable(&self, id: Id, other: Id) -> io::Result<()> {
        match (self.node(id)?.is_folder(), self.node(other)?.is_folder()) {
            (true, false) => Err(os(libc::ENOTDIR)),
            (false, true) => Err(os(libc::EISDIR)),
            (true, true) => self.expect_empty(other),
            (false, false) => Ok(()),
        }
    }
}

const SET_GROUP: u16 = 0o2000;
