//! State that the threads which serve a merged folder share: its nodes, and what programs have open.

use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use fuser::{
    FileAttr, FileHandle, FileType, Generation, OpenAccMode, OpenFlags, ReplyEmpty, ReplyEntry, TimeOrNow,
};
use parking_lot::Mutex;

use super::{
    files::Handle,
    node::{Id, os, permissions},
    tree::Tree,
};

/// A merged folder, as threads share it.
#[derive(Clone)]
pub(super) struct Served(pub(super) Arc<Mutex<State>>);

pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) handles: HashMap<u64, Handle>,
    pub(super) listings: HashMap<u64, Vec<(Id, FileType, OsString)>>,
    next: u64,
}

impl Served {
    pub(super) fn new(tree: Tree) -> Self {
        let state = State { tree, handles: HashMap::new(), listings: HashMap::new(), next: 0 };
        Self(Arc::new(Mutex::new(state)))
    }

    pub(super) fn entry(&self, reply: ReplyEntry, find: impl FnOnce(&mut Tree) -> io::Result<Id>) {
        let mut state = self.0.lock();
        match find(&mut state.tree).and_then(|it| state.shown(it)) {
            Ok((all, lives)) => reply.entry(&lives, &all, Generation(0)),
            Err(error) => reply.error(error.into()),
        }
    }

    pub(super) fn done(&self, reply: ReplyEmpty, change: impl FnOnce(&mut Tree) -> io::Result<()>) {
        match change(&mut self.0.lock().tree) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error.into()),
        }
    }
}

impl State {
    /// Returns the attributes of a node for the kernel, and how long it may keep them.
    pub(super) fn shown(&mut self, id: Id) -> io::Result<(FileAttr, Duration)> {
        let all = self.tree.attributes(id)?;
        self.tree.node_mut(id)?.lookups += 1;
        Ok((all, self.tree.lives(id)))
    }

    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn handle(&self, handle: FileHandle) -> io::Result<&Handle> {
        self.handles.get(&handle.0).ok_or_else(|| os(libc::EBADF))
    }

    /// Opens a file. Says whether the kernel may keep what it has of it.
    pub(super) fn open(&mut self, id: Id, flags: OpenFlags) -> io::Result<(u64, bool)> {
        let empties = flags.0 & libc::O_TRUNC != 0;
        let mut is_new = false;
        if empties {
            is_new = self.tree.truncate(id, 0)?;
        } else if flags.acc_mode() != OpenAccMode::O_RDONLY {
            is_new = self.tree.store(id, true)?;
        }
        if is_new {
            self.reopen(id)?;
        }
        let file = self.tree.open(id)?;
        let is_cached = self.tree.is_cached(id, &file)? && !is_new;
        let number = self.number();
        self.handles.insert(number, Handle { node: id, file: Arc::new(file) });
        Ok((number, is_cached))
    }

    /// Has those that had a file open before it was stored see what is written to it.
    fn reopen(&mut self, id: Id) -> io::Result<()> {
        let file = Arc::new(self.tree.open(id)?);
        for handle in self.handles.values_mut().filter(|it| it.node == id) {
            handle.file = Arc::clone(&file);
        }
        Ok(())
    }

    pub(super) fn set(&mut self, id: Id, new: &NewAttributes) -> io::Result<(FileAttr, Duration)> {
        if let Some(size) = new.size
            && self.tree.truncate(id, size)?
        {
            self.reopen(id)?;
        }
        let own = self.tree.change(id)?;
        if (new.uid.is_some() || new.gid.is_some()) && own.kind != FileType::Directory {
            drop_rights(own);
        }
        if let Some(mode) = new.mode {
            own.perm = permissions(mode);
        }
        own.uid = new.uid.unwrap_or(own.uid);
        own.gid = new.gid.unwrap_or(own.gid);
        own.atime = new.atime.unwrap_or(own.atime);
        own.mtime = new.mtime.unwrap_or(own.mtime);
        Ok((self.tree.attributes(id)?, self.tree.lives(id)))
    }
}

/// Takes the bits away by which a program that is executed gets the rights of the file's owner: it has been written to, or given to
/// another owner.
pub(super) fn drop_rights(own: &mut FileAttr) {
    let group = if own.perm & GROUP_EXECUTES == 0 { 0 } else { SET_GROUP };
    own.perm &= !(SET_USER | group);
}

const SET_USER: u16 = 0o4000;
const SET_GROUP: u16 = 0o2000;
const GROUP_EXECUTES: u16 = 0o010;

/// Attributes of a file that are to be changed.
pub(super) struct NewAttributes {
    pub(super) mode: Option<u32>,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    pub(super) size: Option<u64>,
    pub(super) atime: Option<SystemTime>,
    pub(super) mtime: Option<SystemTime>,
}

pub(super) fn time(it: TimeOrNow) -> SystemTime {
    match it {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}
