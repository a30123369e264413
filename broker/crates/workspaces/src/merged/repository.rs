//! State of git that only a branch has: commits, references, staged files, and whatever waits for a person to go on.
//!
//! Files of repositories are compared, and git is not asked. Logs of references and messages say nothing that is not in
//! objects, which have to be in the repository on the disk.

mod index;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    io,
};

use self::index::Index;
use bytes::Bytes;
use overlay::{FileKind, Snapshot, View, WorkspacePath, is_of_version_control};

/// Files in a repository's folder without a content of their own.
const WITHOUT_CONTENT: [&str; 3] = ["COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD"];

/// Bytes of all indexes of packs that are searched.
const MAX_INDEXES: u64 = 256 << 20;

/// State that would be lost with the branch, in a few words.
pub(super) fn own_state(snapshot: &Snapshot, disk: &dyn View) -> Option<String> {
    let files = snapshot.repository_files();
    if files.is_empty() {
        return None;
    }
    let view = snapshot.with_repository();
    let mut folders: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for file in files {
        folders.entry(folder_of(&view, &file)).or_default().push(file);
    }
    folders.into_iter().find_map(|(folder, files)| match folder {
        Some(folder) => Repository::new(&view, disk, folder, &files).own_state(&files),
        None => files.iter().find(|it| !is_same(&view, disk, it)).map(own_file),
    })
}

fn own_file(path: &WorkspacePath) -> String {
    format!("version control of its own: {path}")
}

/// The folder of the repository that a file belongs to.
fn folder_of(view: &dyn View, file: &WorkspacePath) -> Option<WorkspacePath> {
    let has = |at: &WorkspacePath, name: &str| view.metadata(&at.child(name)).is_ok();
    let mut above = file.ancestors().skip(1).take_while(is_of_version_control);
    above.find(|it| has(it, "HEAD") && has(it, "objects"))
}

fn is_same(view: &dyn View, disk: &dyn View, path: &WorkspacePath) -> bool {
    let content = |it: &dyn View| it.read(path).or_else(|_| it.read_link(path).map(Bytes::from)).ok();
    content(view).is_some_and(|it| content(disk) == Some(it))
}

/// A repository as a branch has it, and as it is on the disk.
struct Repository<'a> {
    view: &'a dyn View,
    disk: &'a dyn View,
    folder: WorkspacePath,
    /// Objects that the branch has and that are no files of their own on the disk.
    objects: BTreeSet<String>,
    packed_references: OnceCell<BTreeMap<String, String>>,
    /// Values of all references on the disk.
    ends: OnceCell<BTreeSet<String>>,
    packs: OnceCell<Vec<Bytes>>,
}

impl<'a> Repository<'a> {
    fn new(view: &'a dyn View, disk: &'a dyn View, folder: WorkspacePath, files: &[WorkspacePath]) -> Self {
        let objects = files.iter().filter(|it| disk.metadata(it).is_err());
        let objects = objects.filter_map(|it| object(within(&folder, it))).collect();
        let (packed_references, ends, packs) = Default::default();
        Self { view, disk, folder, objects, packed_references, ends, packs }
    }

    fn own_state(&self, files: &[WorkspacePath]) -> Option<String> {
        let lacking = || self.objects.iter().filter(|it| !self.is_packed(it)).count();
        let objects = || match lacking() {
            0 => None,
            count => {
                Some(format!("git objects that the repository lacks, of commits or staged files: {count}"))
            }
        };
        files.iter().find_map(|it| self.own_file(it)).or_else(objects)
    }

    fn own_file(&self, file: &WorkspacePath) -> Option<String> {
        let name = within(&self.folder, file);
        let has_none = WITHOUT_CONTENT.contains(&name) || name.starts_with("logs/") || object(name).is_some();
        if has_none || is_same(self.view, self.disk, file) {
            return None;
        }
        if name == "index" {
            return self.own_index(file);
        }
        let text = text(self.view, file)?;
        match name {
            "packed-refs" => references(&text).find_map(|(name, to)| self.own_reference(name, to)),
            "HEAD" if text.starts_with("ref: ") => None,
            "HEAD" => self.own_commit(name, text.trim_end()),
            _ if name.starts_with("refs/") => self.own_reference(name, text.trim_end()),
            _ => Some(own_file(file)),
        }
    }

    /// Staged files count as lost, unless the repository has them staged as well.
    fn own_index(&self, file: &WorkspacePath) -> Option<String> {
        let [own, on_disk] =
            [self.view, self.disk].map(|it| it.read(file).ok().and_then(|it| Index::read(&it)));
        let own = match own {
            Some(own) if own.is_of_a_commit || on_disk.is_some_and(|it| it.entries == own.entries) => {
                return None;
            }
            own => own,
        };
        let why = if own.is_some() {
            "staged files that the repository lacks"
        } else {
            "an index that cannot be read"
        };
        Some(format!("{why}: {}", within(&self.folder, file)))
    }

    fn own_reference(&self, name: &str, to: &str) -> Option<String> {
        match self.reference(name) {
            None => Some(format!("a reference of git that the repository lacks: {name}")),
            Some(it) if it == to => None,
            Some(_) => self.own_commit(name, to),
        }
    }

    /// A commit that was made on the branch has to be at the end of a reference on the disk; any other has to be there.
    fn own_commit(&self, name: &str, commit: &str) -> Option<String> {
        let is_there = match self.objects.contains(commit) {
            true => self.ends().contains(commit),
            false => self.has(commit),
        };
        (!is_there).then(|| format!("commits of git that no branch of the repository has: {name}"))
    }

    /// The value of a reference on the disk.
    fn reference(&self, name: &str) -> Option<String> {
        let file = WorkspacePath::new(&format!("{}/{name}", self.folder)).ok()?;
        let loose = text(self.disk, &file).map(|it| it.trim_end().to_owned());
        loose.or_else(|| self.packed_references().get(name).cloned())
    }

    fn packed_references(&self) -> &BTreeMap<String, String> {
        self.packed_references.get_or_init(|| {
            let text = text(self.disk, &self.folder.child("packed-refs")).unwrap_or_default();
            references(&text).map(|(name, to)| (name.to_owned(), to.to_owned())).collect()
        })
    }

    fn ends(&self) -> &BTreeSet<String> {
        self.ends.get_or_init(|| {
            let mut files = Vec::new();
            files_below(self.disk, &self.folder.child("refs"), &mut files);
            let value = |it: &WorkspacePath| Some(text(self.disk, it)?.trim_end().to_owned());
            let loose = files.iter().filter_map(|it| Some((within(&self.folder, it).to_owned(), value(it)?)));
            // A loose reference overrides the packed one.
            let mut all = self.packed_references().clone();
            all.extend(loose);
            all.into_values().collect()
        })
    }

    fn has(&self, object: &str) -> bool {
        let Some((folder, name)) = object.split_at_checked(2) else { return false };
        let file = WorkspacePath::new(&format!("{}/objects/{folder}/{name}", self.folder));
        file.is_ok_and(|it| self.disk.metadata(&it).is_ok()) || self.is_packed(object)
    }

    fn is_packed(&self, object: &str) -> bool {
        let Some(id) = bytes_of(object) else { return false };
        let packs =
            self.packs.get_or_init(|| indexes(self.disk, &self.folder.child("objects").child("pack")));
        packs.iter().any(|it| lists(it, &id).unwrap_or(false))
    }
}

fn within<'p>(folder: &WorkspacePath, file: &'p WorkspacePath) -> &'p str {
    file.as_str().get(folder.as_str().len() + 1..).unwrap_or_default()
}

/// Name of the object of which this is the file.
fn object(name: &str) -> Option<String> {
    let name: String = name.strip_prefix("objects/")?.split('/').collect();
    bytes_of(&name).map(|_| name)
}

/// Bytes of the name of an object.
fn bytes_of(name: &str) -> Option<Vec<u8>> {
    let digits = Some(name).filter(|it| matches!(it.len(), 40 | 64) && it.is_ascii())?;
    (0..digits.len() / 2).map(|it| u8::from_str_radix(&digits[2 * it..2 * it + 2], 16).ok()).collect()
}

fn text(view: &dyn View, file: &WorkspacePath) -> Option<String> {
    view.read(file).ok().map(|it| String::from_utf8_lossy(&it).into_owned())
}

/// Names and values in a file of packed references.
fn references(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter(|it| !it.starts_with(['#', '^']));
    lines.filter_map(|it| it.split_once(' ')).map(|(to, name)| (name, to))
}

fn files_below(view: &dyn View, folder: &WorkspacePath, files: &mut Vec<WorkspacePath>) {
    for entry in view.list(folder).map(|it| it.entries).unwrap_or_default() {
        let path = folder.child(&entry.name);
        match entry.kind {
            FileKind::Directory => files_below(view, &path, files),
            _ => files.push(path),
        }
    }
}

/// The indexes of the packs in a folder. Those that are too large together are passed over, as if they listed nothing.
fn indexes(disk: &dyn View, folder: &WorkspacePath) -> Vec<Bytes> {
    let mut left = MAX_INDEXES;
    let mut read = |name: &str| -> io::Result<Bytes> {
        let index = folder.child(name);
        disk.metadata(&folder.child(&name.replace(".idx", ".pack")))?;
        let size = disk.metadata(&index)?.size;
        left = left.checked_sub(size).ok_or(io::ErrorKind::FileTooLarge)?;
        disk.read(&index)
    };
    let entries = disk.list(folder).map(|it| it.entries).unwrap_or_default();
    let names = entries.iter().map(|it| it.name.as_str()).filter(|it| it.ends_with(".idx"));
    names.filter_map(|it| read(it).ok()).collect()
}

/// Whether the index of a pack, of version 2, lists an object. `None` for what is no such index.
fn lists(index: &[u8], id: &[u8]) -> Option<bool> {
    let table = index.strip_prefix(b"\xfftOc\0\0\0\x02")?;
    let before = |byte: usize| {
        let bytes = table.get(byte * 4..byte * 4 + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
    };
    let first = usize::from(*id.first()?);
    let range = if first == 0 { 0 } else { before(first - 1)? }..before(first)?;
    let names = table.get(1024..)?.get(range.start * id.len()..range.end * id.len())?;
    Some(names.chunks_exact(id.len()).any(|it| it == id))
}

#[cfg(test)]
mod tests;
