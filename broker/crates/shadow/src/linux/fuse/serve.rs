//! Answers to what the kernel asks of a merged folder. Rights are looked at by the kernel (`default_permissions`), and locks are its
//! own.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{FallocateFlags, fallocate};

use super::{
    branch::new_link,
    change::Rename,
    files::is_users,
    node::{BLOCK, Folder, Node, NodeKind, ROOT, Stored, new_attributes, os},
    state::{NewAttributes, Served, drop_rights, time},
    tree::Tree,
};

fn caller(request: &Request) -> (u32, u32) {
    (request.uid(), request.gid())
}

/// What the kernel is asked for if it offers it.
const WANTED: [InitFlags; 6] = [
    InitFlags::FUSE_ATOMIC_O_TRUNC,
    InitFlags::FUSE_AUTO_INVAL_DATA,
    InitFlags::FUSE_PARALLEL_DIROPS,
    InitFlags::FUSE_DO_READDIRPLUS,
    InitFlags::FUSE_READDIRPLUS_AUTO,
    // It then asks for no extended attribute before each write.
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
        self.lock().tree.forget(id.0, times);
    }

    fn getattr(&self, _: &Request, id: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let state = self.lock();
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
        match self.lock().set(id.0, &NewAttributes { mode, uid, gid, size, atime, mtime }) {
            Ok((all, lives)) => reply.attr(&lives, &all),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readlink(&self, _: &Request, id: INodeNo, reply: ReplyData) {
        match self.lock().tree.target(id.0) {
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
        match self.lock().open(id.0, flags) {
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
        let mut state = self.lock();
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
        let file = self.lock().handle(handle).map(|it| Arc::clone(&it.file));
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
        let mut state = self.lock();
        let file = state.handle(handle).map(|it| Arc::clone(&it.file));
        let written = file.and_then(|it| {
            state.tree.write(id.0, &it, data, offset)?;
            if flags.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID) {
                drop_rights(state.tree.own(id.0)?);
            }
            Ok(())
        });
        match written {
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
        let mut state = self.lock();
        let file = state.handle(handle).map(|it| Arc::clone(&it.file));
        let allocated = file.and_then(|it| {
            let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
            if !mode.contains(FallocateFlags::PUNCH_HOLE) {
                state.tree.expect_space(length)?;
            }
            fallocate(&*it, mode, offset, length)?;
            state.tree.count(id.0, &it)?;
            state.tree.modify(id.0)
        });
        match allocated {
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
        self.lock().handles.remove(&handle.0);
        reply.ok();
    }

    fn opendir(&self, _: &Request, id: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let mut state = self.lock();
        match state.tree.list(id.0) {
            Ok(names) => {
                let number = state.number();
                let above = [".", ".."].map(|it| (id.0, FileType::Directory, it.into()));
                let names = names.into_iter().map(|(name, (id, kind))| (id, kind, name));
                state.listings.insert(number, above.into_iter().chain(names).collect());
                reply.opened(FileHandle(number), FopenFlags::empty());
            }
            Err(error) => reply.error(error.into()),
        }
    }

    fn readdir(&self, _: &Request, _: INodeNo, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let state = self.lock();
        let Some(names) = state.listings.get(&handle.0) else { return reply.error(Errno::EBADF) };
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (at, (id, kind, name)) in names.iter().enumerate().skip(from) {
            if reply.add(INodeNo(*id), at as u64 + 1, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    /// The same with what the kernel would ask next of each.
    fn readdirplus(
        &self,
        _: &Request,
        folder: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let mut state = self.lock();
        let Some(names) = state.listings.remove(&handle.0) else { return reply.error(Errno::EBADF) };
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (at, (id, _, name)) in names.iter().enumerate().skip(from) {
            // The first two are the folder itself and the one above, which the kernel knows.
            let is_new = at >= 2;
            let found = if is_new { state.tree.child(folder.0, name) } else { Ok(*id) };
            // It is gone meanwhile.
            let Ok((all, lives)) = found.and_then(|it| state.shown(it)) else { continue };
            let is_full = reply.add(all.ino, at as u64 + 1, name, &lives, &all, Generation(0));
            if is_full || !is_new {
                state.tree.forget(all.ino.0, 1);
            }
            if is_full {
                break;
            }
        }
        state.listings.insert(handle.0, names);
        reply.ok();
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.lock().listings.remove(&handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let state = self.lock();
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
        self.done(reply, |tree| {
            if !is_users(name) {
                return Err(os(libc::EOPNOTSUPP));
            }
            let all = tree.load_extended(id.0)?;
            match all.contains_key(name) {
                true if flags & libc::XATTR_CREATE != 0 => return Err(os(libc::EEXIST)),
                false if flags & libc::XATTR_REPLACE != 0 => return Err(os(libc::ENODATA)),
                _ => all.insert(name.to_owned(), value.to_owned()),
            };
            tree.change(id.0).map(drop)
        });
    }

    fn getxattr(&self, _: &Request, id: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        if !is_users(name) {
            return reply.error(Errno::from_i32(libc::EOPNOTSUPP));
        }
        let value =
            self.lock().tree.extended(id.0).and_then(|mut it| it.remove(name).ok_or(os(libc::ENODATA)));
        extended(value, size, reply);
    }

    fn listxattr(&self, _: &Request, id: INodeNo, size: u32, reply: ReplyXattr) {
        let names = self.lock().tree.extended(id.0).map(|all| {
            let names = all.into_keys().map(OsString::into_vec);
            names.flat_map(|name| name.into_iter().chain([0])).collect()
        });
        extended(names, size, reply);
    }

    fn removexattr(&self, _: &Request, id: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |tree| {
            tree.load_extended(id.0)?.remove(name).ok_or_else(|| os(libc::ENODATA))?;
            tree.change(id.0).map(drop)
        });
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

fn read_at(file: &std::fs::File, offset: u64, size: usize) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = vec![0; size];
    let mut length = 0;
    while length < size {
        match file.read_at(&mut bytes[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Answers with a value, or with its length if that is asked for.
fn extended(value: io::Result<Vec<u8>>, size: u32, reply: ReplyXattr) {
    match value {
        Ok(value) if size == 0 => reply.size(u32::try_from(value.len()).unwrap_or(u32::MAX)),
        Ok(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(&value),
        Err(error) => reply.error(error.into()),
    }
}
