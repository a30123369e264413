//! Answers to what the kernel asks of a merged folder. Rights are looked at by the kernel (`default_permissions`), and locks are its
//! own.

use std::{ffi::OsStr, io, os::unix::ffi::OsStrExt as _, path::Path, sync::Arc, time::SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::FallocateFlags;

use super::{
    branch::new_link,
    change::Rename,
    contents::read_at,
    extended::{get_extended, list_extended, remove_extended, set_extended, tell_extended},
    node::{BLOCK, Folder, Node, NodeKind, ROOT, Stored, new_attributes, os},
    state::{NewAttributes, Served, time},
    tree::Tree,
};

fn caller(request: &Request) -> (u32, u32) {
    (request.uid(), request.gid())
}

/// Capabilities of FUSE that are requested if the kernel offers them.
const WANTED: [InitFlags; 6] = [
    InitFlags::FUSE_ATOMIC_O_TRUNC,
    InitFlags::FUSE_AUTO_INVAL_DATA,
    InitFlags::FUSE_PARALLEL_DIROPS,
    InitFlags::FUSE_DO_READDIRPLUS,
    InitFlags::FUSE_READDIRPLUS_AUTO,
    // The kernel then asks for no extended attribute before each write.
    InitFlags::FUSE_HANDLE_KILLPRIV_V2,
];

impl Filesystem for Served {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        for wanted in WANTED {
            // Without it, all is right and some is slower.
            let _ = config.add_capabilities(wanted);
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(reply, |tree| tree.child(parent.0, name));
    }

    fn forget(&self, _: &Request, id: INodeNo, times: u64) {
        self.0.lock().tree.forget(id.0, times);
    }

    fn getattr(&self, _: &Request, id: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let state = self.0.lock();
        match state.tree.attributes(id.0) {
            Ok(all) => reply.attr(&state.tree.lives(id.0), &all),
            Err(error) => reply.error(error.into()),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        id: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let (atime, mtime) = (atime.map(time), mtime.map(time));
        match self.0.lock().set(id.0, &NewAttributes { mode, uid, gid, size, atime, mtime }) {
            Ok((all, lives)) => reply.attr(&lives, &all),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readlink(&self, _: &Request, id: INodeNo, reply: ReplyData) {
        match self.0.lock().tree.target(id.0) {
            Ok(to) => reply.data(to.as_os_str().as_bytes()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        rdev: u32,
        reply: ReplyEntry,
    ) {
        self.entry(reply, |tree| {
            let node = match mode & libc::S_IFMT {
                libc::S_IFREG => new_file(tree, mode, caller(request))?,
                libc::S_IFIFO => special(FileType::NamedPipe, mode, 0, request),
                libc::S_IFSOCK => special(FileType::Socket, mode, 0, request),
                // The kernel lets no program open one that is here.
                libc::S_IFCHR => special(FileType::CharDevice, mode, rdev, request),
                libc::S_IFBLK => special(FileType::BlockDevice, mode, rdev, request),
                _ => return Err(os(libc::EINVAL)),
            };
            tree.create(parent.0, name, node)
        });
    }

    fn mkdir(&self, request: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        let own = new_attributes(FileType::Directory, mode, caller(request));
        let node = Node::new(NodeKind::Folder(Folder::default()), own);
        self.entry(reply, |tree| tree.create(parent.0, name, node));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |tree| tree.unlink(parent.0, name));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |tree| tree.remove_folder(parent.0, name));
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, to: &Path, reply: ReplyEntry) {
        let node = new_link(to.to_owned(), caller(request));
        self.entry(reply, |tree| tree.create(parent.0, name, node));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let how = match flags {
            it if it.is_empty() => Rename::Replace,
            RenameFlags::RENAME_NOREPLACE => Rename::NoReplace,
            RenameFlags::RENAME_EXCHANGE => Rename::Exchange,
            _ => return reply.error(Errno::EINVAL),
        };
        self.done(reply, |tree| tree.rename((parent.0, name), (new_parent.0, new_name), how));
    }

    fn link(&self, _: &Request, id: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(reply, |tree| tree.link(id.0, parent.0, name).map(|()| id.0));
    }

    fn open(&self, _: &Request, id: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.0.lock().open(id.0, flags) {
            Ok((number, true)) => reply.opened(FileHandle(number), FopenFlags::FOPEN_KEEP_CACHE),
            Ok((number, false)) => reply.opened(FileHandle(number), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let mut state = self.0.lock();
        let created = new_file(&mut state.tree, mode, caller(request))
            .and_then(|it| state.tree.create(parent.0, name, it))
            .and_then(|id| Ok((state.open(id, OpenFlags(flags & !libc::O_TRUNC))?.0, state.shown(id)?)));
        match created {
            Ok((number, (all, lives))) => {
                reply.created(&lives, &all, Generation(0), FileHandle(number), FopenFlags::empty());
            }
            Err(error) => reply.error(error.into()),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let file = self.0.lock().handle(handle).map(|it| Arc::clone(&it.file));
        match file.and_then(|it| read_at(&it, offset, size as usize)) {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        id: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        flags: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let drops_rights = flags.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID);
        match self.0.lock().write(id.0, handle, data, offset, drops_rights) {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)),
            Err(error) => reply.error(error.into()),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        id: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        match self.0.lock().allocate(id.0, handle, mode, offset, length) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error.into()),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.0.lock().handles.remove(&handle.0);
        reply.ok();
    }

    fn opendir(&self, _: &Request, id: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.0.lock().open_folder(id.0) {
            Ok(number) => reply.opened(FileHandle(number), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readdir(&self, _: &Request, _: INodeNo, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        match self.0.lock().tell_names(handle, offset, |id, next, kind, name| reply.add(id, next, kind, name))
        {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error.into()),
        }
    }

    /// Like `readdir`, with what the kernel would ask next of each entry.
    fn readdirplus(
        &self,
        _: &Request,
        folder: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let told = self.0.lock().tell_entries(folder.0, handle, offset, |next, name, all, lives| {
            reply.add(all.ino, next, name, lives, all, Generation(0))
        });
        match told {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error.into()),
        }
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.0.lock().listings.remove(&handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let state = self.0.lock();
        let blocks = |bytes: u64| bytes / u64::from(BLOCK);
        let free = blocks(state.tree.space.saturating_sub(state.tree.used));
        let nodes = state.tree.nodes.len() as u64;
        reply.statfs(
            blocks(state.tree.space),
            free,
            free,
            ROOT << 32,
            (ROOT << 32) - nodes,
            BLOCK,
            255,
            BLOCK,
        );
    }

    fn setxattr(
        &self,
        _: &Request,
        id: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        self.done(reply, |tree| set_extended(tree, id.0, name, value, flags));
    }

    fn getxattr(&self, _: &Request, id: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        tell_extended(get_extended(&self.0.lock().tree, id.0, name), size, reply);
    }

    fn listxattr(&self, _: &Request, id: INodeNo, size: u32, reply: ReplyXattr) {
        tell_extended(list_extended(&self.0.lock().tree, id.0), size, reply);
    }

    fn removexattr(&self, _: &Request, id: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |tree| remove_extended(tree, id.0, name));
    }
}

fn new_file(tree: &mut Tree, mode: u32, caller: (u32, u32)) -> io::Result<Node> {
    let (number, _) = tree.new_file()?;
    let own = new_attributes(FileType::RegularFile, mode, caller);
    Ok(Node::new(NodeKind::File(Some(Stored { number, bytes: 0 })), own))
}

fn special(kind: FileType, mode: u32, rdev: u32, request: &Request) -> Node {
    let own = FileAttr { rdev, ..new_attributes(kind, mode, caller(request)) };
    Node::new(NodeKind::Special, own)
}
