//! The nodes of a merged folder: the workspace's, which are read when they are looked up, and in their place what the branch or a
//! program has put there. Where a node stands and what it is called is in memory alone; only contents are stored.

#![expect(
    clippy::disallowed_methods,
    reason = "the workspace as the system has it, with modes and links that no view has"
)]

use std::{
    collections::{BTreeMap, HashMap},
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use fuser::{FileAttr, FileType, INodeNo};

use super::node::{Below, Folder, Id, Node, NodeKind, ROOT, Slot, attributes, file_type, os};
use crate::copy::Paths;

pub(super) struct Tree {
    pub(super) paths: Paths,
    /// Folder in which contents are stored, in files that have numbers for names.
    pub(super) store: PathBuf,
    /// Bytes that they may take, and those that they take.
    pub(super) space: u64,
    pub(super) used: u64,
    pub(super) next_file: u64,
    pub(super) nodes: HashMap<Id, Node>,
    next_id: Id,
    /// The device that the workspace is on.
    device: u64,
}

/// The first number of a node that has not the number of a file on the disk: above those of common file systems, and below
/// those that JavaScript cannot tell apart.
const FIRST_ID: Id = 1 << 50;

/// Bytes of a name, as file systems on disks have it.
const LONGEST_NAME: usize = 255;

/// Time for which the kernel need not ask again about what the disk has.
const DISK_LIVES: Duration = Duration::from_secs(1);
/// Time for which the kernel need not ask again about what is changed only through the folder itself.
const OWN_LIVES: Duration = Duration::from_secs(3600);

impl Tree {
    pub(super) fn new(paths: Paths, store: PathBuf, space: u64) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(paths.root())?;
        let root = Node::of_disk(NodeKind::Folder(Folder::default()), PathBuf::new(), metadata.ino());
        Ok(Self {
            paths,
            store,
            space,
            used: 0,
            next_file: 0,
            nodes: HashMap::from([(ROOT, root)]),
            next_id: FIRST_ID,
            device: metadata.dev(),
        })
    }

    pub(super) fn node(&self, id: Id) -> io::Result<&Node> {
        self.nodes.get(&id).ok_or_else(|| os(libc::ESTALE))
    }

    pub(super) fn node_mut(&mut self, id: Id) -> io::Result<&mut Node> {
        self.nodes.get_mut(&id).ok_or_else(|| os(libc::ESTALE))
    }

    pub(super) fn on_disk(&self, path: &Path) -> PathBuf {
        self.paths.root().join(path)
    }

    /// The node of this name in a folder.
    pub(super) fn child(&mut self, parent: Id, name: &OsStr) -> io::Result<Id> {
        if name.len() > LONGEST_NAME {
            return Err(os(libc::ENAMETOOLONG));
        }
        let node = self.node(parent)?;
        let folder = node.folder()?;
        if let Some(slot) = folder.slots.get(name) {
            return slot.now.ok_or_else(|| os(libc::ENOENT));
        }
        let known = folder.known.get(name).copied();
        let disk = node.disk.as_ref().ok_or_else(|| os(libc::ENOENT))?.join(name);
        let metadata = match fs::symlink_metadata(self.on_disk(&disk)) {
            Ok(it) => it,
            Err(error) => {
                if let Some(known) = known {
                    self.vanish(parent, name, known);
                }
                return Err(error);
            }
        };
        if let Some(known) = known {
            if self.is_same(known, &metadata) {
                return Ok(known);
            }
            self.vanish(parent, name, known);
        }
        Ok(self.find(parent, name, disk, &metadata))
    }

    /// A folder in which something was changed stays, whatever takes its place on the disk.
    fn is_same(&self, id: Id, metadata: &fs::Metadata) -> bool {
        let Some(node) = self.nodes.get(&id) else { return false };
        let is_changed = node.folder().is_ok_and(|it| !it.slots.is_empty());
        let is_same_kind =
            std::mem::discriminant(&node.kind) == std::mem::discriminant(&NodeKind::of_disk(metadata));
        is_same_kind && (is_changed || node.disk_number == metadata.ino())
    }

    fn find(&mut self, parent: Id, name: &OsStr, disk: PathBuf, metadata: &fs::Metadata) -> Id {
        let is_here = metadata.dev() == self.device;
        let is_single = metadata.is_dir() || metadata.nlink() == 1;
        let id = self.new_id(Some(metadata.ino()).filter(|_| is_here && is_single));
        let mut node = Node::of_disk(NodeKind::of_disk(metadata), disk, metadata.ino());
        if metadata.is_dir() && !is_here {
            // Mounts in the workspace are no part of it.
            node.own = Some(attributes(id, metadata));
            node = node.without_disk();
        }
        node.home = Some((parent, name.to_owned()));
        self.nodes.insert(id, node);
        if let Some(Ok(folder)) = self.nodes.get_mut(&parent).map(Node::folder_mut) {
            folder.known.insert(name.to_owned(), id);
        }
        id
    }

    /// The number on the disk if no node has it: git knows files by it.
    fn new_id(&mut self, wanted: Option<u64>) -> Id {
        let is_free = |it: &u64| *it > ROOT && *it < FIRST_ID && !self.nodes.contains_key(it);
        wanted.filter(is_free).unwrap_or_else(|| {
            self.next_id += 1;
            self.next_id
        })
    }

    pub(super) fn insert(&mut self, mut node: Node) -> Id {
        let id = self.new_id(None);
        if let Some(own) = &mut node.own {
            own.ino = INodeNo(id);
        }
        self.nodes.insert(id, node);
        id
    }

    /// Forgets what is gone from the disk, or has been replaced there.
    fn vanish(&mut self, parent: Id, name: &OsStr, id: Id) {
        if let Some(Ok(folder)) = self.nodes.get_mut(&parent).map(Node::folder_mut) {
            folder.known.remove(name);
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.home = None;
            node.names = 0;
        }
        self.drop_unneeded(id);
    }

    pub(super) fn forget(&mut self, id: Id, times: u64) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.lookups = node.lookups.saturating_sub(times);
        }
        self.drop_unneeded(id);
    }

    /// Drops a node that neither the kernel nor a name holds, and those above that were there only for it.
    pub(super) fn drop_unneeded(&mut self, mut id: Id) {
        while id != ROOT && self.nodes.get(&id).is_some_and(|it| !it.is_needed()) {
            let Some(node) = self.nodes.remove(&id) else { return };
            if let NodeKind::File(Some(stored)) = &node.kind {
                self.used = self.used.saturating_sub(stored.bytes);
                let _ = fs::remove_file(self.stored(stored.number));
            }
            let Some((parent, name)) = node.home else { return };
            if let Some(Ok(folder)) = self.nodes.get_mut(&parent).map(Node::folder_mut) {
                folder.known.remove(&name);
            }
            id = parent;
        }
    }

    pub(super) fn stored(&self, number: u64) -> PathBuf {
        self.store.join(number.to_string())
    }
}

impl Tree {
    pub(super) fn attributes(&self, id: Id) -> io::Result<FileAttr> {
        let node = self.node(id)?;
        let mut all = match (&node.own, &node.disk) {
            (Some(own), _) => *own,
            (None, Some(disk)) => {
                let mut all = attributes(id, &fs::symlink_metadata(self.on_disk(disk))?);
                all.nlink = if node.names == 0 { 0 } else { all.nlink };
                if all.kind == FileType::Symlink {
                    all.size = self.target(id)?.as_os_str().len() as u64;
                }
                return Ok(all);
            }
            (None, None) => return Err(os(libc::ESTALE)),
        };
        if let (NodeKind::File(None), Some(disk)) = (&node.kind, &node.disk) {
            let metadata = fs::symlink_metadata(self.on_disk(disk))?;
            (all.size, all.blocks) = (metadata.size(), metadata.blocks());
        }
        all.nlink = if node.is_folder() { node.names.min(1) } else { node.names };
        Ok(all)
    }

    /// Time for which the kernel may keep what it was told of a node.
    pub(super) fn lives(&self, id: Id) -> Duration {
        let is_own =
            |it: &Node| it.own.is_some() && !(matches!(it.kind, NodeKind::File(None)) && it.disk.is_some());
        if self.nodes.get(&id).is_some_and(is_own) { OWN_LIVES } else { DISK_LIVES }
    }

    /// Returns the target of a link.
    pub(super) fn target(&self, id: Id) -> io::Result<PathBuf> {
        let node = self.node(id)?;
        match (&node.kind, &node.disk) {
            (NodeKind::Link(Some(to)), _) => Ok(to.clone()),
            (NodeKind::Link(None), Some(disk)) => {
                let to = fs::read_link(self.on_disk(disk))?;
                Ok(self.paths.link_in_copy(disk, &to))
            }
            _ => Err(os(libc::EINVAL)),
        }
    }

    /// Gives a node attributes of its own, which begin as the disk's.
    pub(super) fn own(&mut self, id: Id) -> io::Result<&mut FileAttr> {
        if self.node(id)?.own.is_none() {
            let attributes = self.attributes(id)?;
            self.node_mut(id)?.own = Some(attributes);
        }
        self.pin(id)?;
        self.node_mut(id)?.own.as_mut().ok_or_else(|| os(libc::ESTALE))
    }

    /// Has a node stay under its name, whatever the disk has there.
    fn pin(&mut self, id: Id) -> io::Result<()> {
        let Some((parent, name)) = self.node_mut(id)?.home.take() else { return Ok(()) };
        let folder = self.node_mut(parent)?.folder_mut()?;
        folder.known.remove(&name);
        folder.slots.insert(name, Slot { now: Some(id), below: Below::Disk });
        Ok(())
    }

    /// Notes that something came into a folder, or left it.
    pub(super) fn touch(&mut self, folder: Id) -> io::Result<()> {
        let now = SystemTime::now();
        let own = self.own(folder)?;
        (own.mtime, own.ctime) = (now, now);
        Ok(())
    }

    /// Notes that a program changed more of a node than what it is called.
    pub(super) fn change(&mut self, id: Id) -> io::Result<&mut FileAttr> {
        self.own(id)?.ctime = SystemTime::now();
        let node = self.node_mut(id)?;
        if !node.is_folder() {
            node.is_branchs = false;
        }
        self.own(id)
    }

    /// All names in a folder, with numbers and kinds.
    pub(super) fn list(&self, id: Id) -> io::Result<BTreeMap<OsString, (Id, FileType)>> {
        let node = self.node(id)?;
        let folder = node.folder()?;
        let mut all = BTreeMap::new();
        if let Some(disk) = &node.disk {
            for entry in fs::read_dir(self.on_disk(disk))? {
                let entry = entry?;
                use std::os::unix::fs::DirEntryExt as _;
                let name = entry.file_name();
                if !folder.slots.contains_key(&name) {
                    let number = folder.known.get(&name).copied().unwrap_or(entry.ino());
                    all.insert(name, (number, file_type(entry.file_type()?)));
                }
            }
        }
        for (name, slot) in &folder.slots {
            if let Some(id) = slot.now {
                all.insert(name.clone(), (id, self.attributes_kind(id)?));
            }
        }
        Ok(all)
    }

    fn attributes_kind(&self, id: Id) -> io::Result<FileType> {
        let node = self.node(id)?;
        Ok(match (&node.kind, &node.own) {
            (_, Some(own)) => own.kind,
            (NodeKind::Folder(_), None) => FileType::Directory,
            (NodeKind::File(_), None) => FileType::RegularFile,
            (NodeKind::Link(_), None) => FileType::Symlink,
            (NodeKind::Special, None) => self.attributes(id)?.kind,
        })
    }
}
