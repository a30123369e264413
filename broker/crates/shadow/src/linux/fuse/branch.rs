//! Entries that a branch puts into a merged folder, and what programs made of them.

#![expect(clippy::disallowed_methods, reason = "the workspace as the system has it")]

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use fuser::{FileAttr, FileType};
use overlay::read_regular;
use rustix::process::{getegid, geteuid};

use super::{
    node::{Below, Folder, Id, Node, NodeKind, ROOT, Slot, Stored, new_attributes},
    tree::Tree,
};
use crate::layer::{Header, HeaderKind, mode};

/// Bytes of a file that a folder had on the disk: what is larger no view reads either.
const LARGEST: u64 = u32::MAX as u64;

/// Takes an entry, with its bytes if it is a file.
type Tell<'t> = &'t mut dyn FnMut(Header, &[u8]) -> io::Result<()>;

impl Tree {
    /// Shows an entry of the branch, before any program runs.
    pub(crate) fn place(&mut self, header: &Header, bytes: &[u8]) -> io::Result<()> {
        let path = header.path();
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let node = match &header.kind {
            HeaderKind::Removed => return self.hide(parent, name),
            // There are no times of earlier runs.
            HeaderKind::Restamped => return Ok(()),
            HeaderKind::Directory => new_folder(),
            HeaderKind::Link(to) => {
                let to = self.paths.link_in_copy(path, Path::new(to));
                new_link(to, owner())
            }
            HeaderKind::File { executable, .. } => self.new_file_of(path, bytes, *executable)?,
        };
        let parent = self.branchs_folder(parent)?;
        self.put_branchs(parent, name, node).map(drop)
    }

    fn hide(&mut self, parent: &Path, name: &OsStr) -> io::Result<()> {
        let Some(parent) = self.walk(parent) else { return Ok(()) };
        let Ok(id) = self.child(parent, name) else { return Ok(()) };
        self.own(parent)?;
        self.take(parent, name)?;
        self.release(id)?;
        let folder = self.node_mut(parent)?.folder_mut()?;
        folder.slots.insert(name.to_owned(), Slot { now: None, below: Below::Nothing });
        Ok(())
    }

    fn walk(&mut self, path: &Path) -> Option<Id> {
        path.iter().try_fold(ROOT, |id, name| self.child(id, name).ok())
    }

    /// The folder at a path, which stays there even if it goes from the disk.
    fn branchs_folder(&mut self, path: &Path) -> io::Result<Id> {
        let mut id = ROOT;
        for name in path {
            let found = self.child(id, name).ok();
            let found = found.filter(|it| self.node(*it).is_ok_and(Node::is_folder));
            id = match found {
                Some(it) => it,
                None => self.put_branchs(id, name, new_folder())?,
            };
        }
        self.own(id)?;
        Ok(id)
    }

    fn put_branchs(&mut self, parent: Id, name: &OsStr, node: Node) -> io::Result<Id> {
        if self.child(parent, name).is_ok() {
            let before = self.take(parent, name)?;
            self.release(before)?;
        }
        let id = self.insert(Node { is_branchs: true, ..node });
        let folder = self.node_mut(parent)?.folder_mut()?;
        folder.slots.insert(name.to_owned(), Slot { now: Some(id), below: Below::Branch });
        Ok(id)
    }

    /// A file that was there before keeps who may read it.
    fn new_file_of(&mut self, path: &Path, bytes: &[u8], executable: bool) -> io::Result<Node> {
        let before = fs::symlink_metadata(self.on_disk(path)).ok().filter(fs::Metadata::is_file);
        let mode = mode(before.map(|it| it.permissions().mode()), executable);
        self.expect_space(bytes.len() as u64)?;
        let (number, mut file) = self.new_file()?;
        file.write_all(bytes)?;
        let taken = bytes.len() as u64;
        self.used += taken;
        let own = FileAttr {
            size: taken,
            blocks: taken.div_ceil(512),
            ..new_attributes(FileType::RegularFile, mode, owner())
        };
        Ok(Node::new(NodeKind::File(Some(Stored { number, bytes: taken })), own))
    }
}

/// The user and group of this process.
fn owner() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

fn new_folder() -> Node {
    let own = new_attributes(FileType::Directory, 0o755, owner());
    Node::new(NodeKind::Folder(Folder::default()), own)
}

pub(super) fn new_link(to: PathBuf, owner: (u32, u32)) -> Node {
    let own = new_attributes(FileType::Symlink, 0o777, owner);
    let own = FileAttr { size: to.as_os_str().len() as u64, ..own };
    Node::new(NodeKind::Link(Some(to)), own)
}

/// State of a name in a folder that is to be reported.
enum Told<'t> {
    Slot(&'t Slot),
    /// Something that is as the disk has it, though a folder may have more in it.
    Known(Id),
    Disk,
}

impl Tree {
    /// Tells what programs wrote.
    pub(crate) fn tell(&self, tell: Tell<'_>) -> io::Result<()> {
        self.tell_folder(ROOT, Path::new(""), false, tell)
    }

    /// Tells what programs wrote in a folder; with `is_whole`, all that is in it: it does not stand where the disk or the branch
    /// has it.
    fn tell_folder(&self, id: Id, path: &Path, is_whole: bool, tell: Tell<'_>) -> io::Result<()> {
        let node = self.node(id)?;
        let folder = node.folder()?;
        let mut all = BTreeMap::new();
        if let Some(disk) = node.disk.as_ref().filter(|_| is_whole) {
            for entry in fs::read_dir(self.on_disk(disk))? {
                all.insert(entry?.file_name(), Told::Disk);
            }
        }
        all.extend(folder.known.iter().map(|(name, id)| (name.clone(), Told::Known(*id))));
        all.extend(folder.slots.iter().map(|(name, slot)| (name.clone(), Told::Slot(slot))));
        for (name, told) in &all {
            let path = path.join(name);
            match told {
                Told::Slot(Slot { now: Some(id), .. }) => self.tell_node(*id, &path, is_whole, tell)?,
                Told::Slot(Slot { below: Below::Nothing, .. }) => {}
                Told::Slot(_) if is_whole => {}
                Told::Slot(_) => told_as(&path, HeaderKind::Removed, &[], tell)?,
                Told::Known(id) if is_whole || self.node(*id)?.is_folder() => {
                    self.tell_node(*id, &path, is_whole, tell)?;
                }
                Told::Known(_) => {}
                Told::Disk => {
                    let Some(disk) = &node.disk else { continue };
                    self.tell_disk(&disk.join(name), &path, tell)?;
                }
            }
        }
        Ok(())
    }

    fn tell_node(&self, id: Id, path: &Path, is_whole: bool, tell: Tell<'_>) -> io::Result<()> {
        let node = self.node(id)?;
        let is_natural = !is_whole && (node.is_branchs || node.disk.as_deref() == Some(path));
        match &node.kind {
            NodeKind::Folder(_) => {
                if !is_natural {
                    told_as(path, HeaderKind::Directory, &[], tell)?;
                }
                self.tell_folder(id, path, !is_natural, tell)
            }
            _ if node.is_branchs && !is_whole => Ok(()),
            NodeKind::File(_) => {
                let mut bytes = Vec::new();
                self.open(id)?.read_to_end(&mut bytes)?;
                let executable = self.attributes(id)?.perm & 0o111 != 0;
                told_as(path, HeaderKind::File { size: bytes.len() as u64, executable }, &bytes, tell)
            }
            NodeKind::Link(_) => self.tell_link(&self.paths.link_in_workspace(&self.target(id)?), path, tell),
            NodeKind::Special => Ok(()),
        }
    }

    /// Reports what lies on the disk in a folder that was moved.
    fn tell_disk(&self, disk: &Path, path: &Path, tell: Tell<'_>) -> io::Result<()> {
        let at = self.on_disk(disk);
        let metadata = fs::symlink_metadata(&at)?;
        if metadata.is_dir() {
            told_as(path, HeaderKind::Directory, &[], tell)?;
            let mut names: Vec<_> = fs::read_dir(&at)?.collect::<io::Result<_>>()?;
            names.sort_by_key(fs::DirEntry::file_name);
            return names
                .iter()
                .map(fs::DirEntry::file_name)
                .try_for_each(|it| self.tell_disk(&disk.join(&it), &path.join(&it), tell));
        }
        if metadata.is_symlink() {
            return self.tell_link(&fs::read_link(at)?, path, tell);
        }
        if metadata.is_file() {
            let (bytes, executable) =
                (read_regular(&at, LARGEST)?, metadata.permissions().mode() & 0o111 != 0);
            return told_as(path, HeaderKind::File { size: bytes.len() as u64, executable }, &bytes, tell);
        }
        Ok(())
    }

    fn tell_link(&self, to: &Path, path: &Path, tell: Tell<'_>) -> io::Result<()> {
        // Link targets that are not UTF-8 cannot be in a branch.
        let Some(to) = to.to_str() else { return Ok(()) };
        told_as(path, HeaderKind::Link(to.to_owned()), &[], tell)
    }
}

fn told_as(path: &Path, kind: HeaderKind, bytes: &[u8], tell: Tell<'_>) -> io::Result<()> {
    let Some(path) = path.to_str() else { return Ok(()) };
    tell(Header { path: path.to_owned(), kind, modified: None }, bytes)
}
