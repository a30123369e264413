//! State of a workspace when its caches were kept.

#![expect(
    clippy::disallowed_methods,
    reason = "Broker's own cache folder, and stamps of the workspace's files"
)]

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use overlay::{ContentHash, open_regular};
use serde::{Deserialize, Serialize};

use crate::{
    scan::{Kind, Scan, Stamp, Tree, UNSURE, all_below, as_bytes},
    storage::{boot, replace},
};

/// Raised when its form or meaning changes.
const VERSION: u32 = 1;

pub(super) type Hash = [u8; 32];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    /// The start of the system: what was written before it broke down may be half written.
    boot: String,
    /// The workspace's files on the disk, without caches.
    #[serde(with = "as_bytes")]
    pub(super) sources: Tree,
    /// Contents of those that were changed just before.
    #[serde(with = "as_bytes")]
    unsure: BTreeMap<PathBuf, Hash>,
    /// The user's own caches, by their names.
    pub(super) disk: BTreeMap<String, Hash>,
    /// Files that were shown otherwise than the disk has them, if only with another time.
    #[serde(with = "as_bytes")]
    pub(super) shown: BTreeMap<PathBuf, Shown>,
    /// Groups of caches that are kept, by name.
    pub(super) groups: BTreeMap<String, Group>,
    /// No file of the caches is newer; in nanoseconds since 1970.
    pub(super) newest: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) folder: String,
    /// The user's own caches of this name at that time.
    pub(super) disk: Option<Hash>,
}

/// A file as a run found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shown {
    pub(crate) content: Content,
    /// Modification time, in nanoseconds since 1970.
    pub(crate) modified: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Content {
    /// Content of the file on the disk.
    Disk(Stamp),
    File {
        hash: Hash,
        executable: bool,
    },
    Link(Hash),
    Folder,
    Removed,
}

impl State {
    pub(super) fn new(root: &Path, scan: Scan, start: i64) -> io::Result<Self> {
        let unsure =
            scan.sources.iter().filter(|(_, it)| it.kind == Kind::File && it.changed >= start - UNSURE);
        let unsure = unsure.filter_map(|(path, _)| Some((path.clone(), hash(&root.join(path))?))).collect();
        let disk = hashes(&trees(root, &scan.caches)?)?;
        Ok(Self { unsure, ..Self::of(scan.sources, disk) })
    }

    fn of(sources: Tree, disk: BTreeMap<String, Hash>) -> Self {
        Self {
            version: VERSION,
            boot: boot(),
            sources,
            unsure: BTreeMap::new(),
            disk,
            shown: BTreeMap::new(),
            groups: BTreeMap::new(),
            newest: 0,
        }
    }

    pub(super) fn read(file: &Path) -> Option<Self> {
        let state: Self = postcard::from_bytes(&fs::read(file).ok()?).ok()?;
        (state.version == VERSION && state.boot == boot()).then_some(state)
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        replace(file, &postcard::to_stdvec(self).map_err(io::Error::other)?)
    }

    /// Paths at which the disk has something else than it had then.
    pub(super) fn changed_since<'a>(&'a self, then: &'a Self, root: &Path) -> Vec<&'a PathBuf> {
        let is_other = |path: &Path, now: &Stamp, before: &Stamp| match now.kind {
            Kind::Folder => before.kind != Kind::Folder,
            // Files whose stamps were not sure then may have been changed without a trace.
            _ => now != before || then.unsure.get(path).is_some_and(|it| Some(*it) != hash(&root.join(path))),
        };
        // Both are in the same order: a look-up for each file would take most of the time.
        let (mut all, mut others) = (self.sources.iter().peekable(), then.sources.iter().peekable());
        let mut changed = Vec::new();
        loop {
            let order = match (all.peek(), others.peek()) {
                (Some((path, _)), Some((other, _))) => path.cmp(other),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return changed,
            };
            let now = if order.is_le() { all.next() } else { None };
            let before = if order.is_ge() { others.next() } else { None };
            match (now, before) {
                (Some((path, now)), Some((_, before))) if !is_other(path, now, before) => {}
                (Some((path, _)), _) | (None, Some((path, _))) => changed.push(path),
                (None, None) => {}
            }
        }
    }
}

fn hash(file: &Path) -> Option<Hash> {
    Some(*ContentHash::of_reader(open_regular(file).ok()?).ok()?.as_bytes())
}

/// The user's own caches of each name, with all that is in them.
fn trees(root: &Path, found: &Tree) -> io::Result<BTreeMap<String, Tree>> {
    let mut trees: BTreeMap<String, Tree> = BTreeMap::new();
    for (path, stamp) in found {
        let name = if stamp.kind == Kind::Folder {
            path.file_name().and_then(|it| it.to_str())
        } else {
            Some(super::FILES)
        };
        let tree = trees.entry(name.unwrap_or_default().to_owned()).or_default();
        tree.insert(path.clone(), *stamp);
        if stamp.kind == Kind::Folder {
            all_below(root, path, tree)?;
        }
    }
    Ok(trees)
}

/// A hash of the stamps of all caches of each name.
fn hashes(trees: &BTreeMap<String, Tree>) -> io::Result<BTreeMap<String, Hash>> {
    let hash = |tree: &Tree| -> io::Result<Hash> {
        let all: Vec<(&[u8], &Stamp)> =
            tree.iter().map(|(path, it)| (path.as_os_str().as_encoded_bytes(), it)).collect();
        let bytes = postcard::to_stdvec(&all).map_err(io::Error::other)?;
        Ok(*ContentHash::of(&bytes).as_bytes())
    };
    trees.iter().map(|(name, tree)| Ok((name.clone(), hash(tree)?))).collect()
}

/// State of a workspace when programs began to run in it.
pub(crate) struct Origin {
    pub(super) state: State,
    /// The user's own caches.
    caches: Tree,
    /// Folders in which something may have come or gone since.
    changed: BTreeSet<PathBuf>,
    /// Names of caches of the user's that were written since.
    written: BTreeSet<String>,
}

/// Stands for whatever may have been in a folder that was changed: it is gone for the next run, so that the folder is newer.
const GONE: &str = ".broker-gone";

impl Origin {
    /// Returns the origin of a workspace that was looked at before.
    pub(super) fn known(state: State) -> Self {
        Self { state, caches: Tree::new(), changed: BTreeSet::new(), written: BTreeSet::new() }
    }

    /// Looks at the workspace after programs ran: what may have been changed at the time `since` or later counts as unknown.
    pub(super) fn in_hindsight(root: &Path, since: i64) -> io::Result<Self> {
        let top = Stamp::at(root)?;
        let Scan { mut sources, caches } = Scan::of(root)?;
        let is_changed = |it: &Stamp| it.may_be_since(since);
        let folders = sources.iter().filter(|(_, it)| it.kind == Kind::Folder && is_changed(it));
        let mut changed: BTreeSet<PathBuf> = folders.map(|(path, _)| path.clone()).collect();
        changed.extend(is_changed(&top).then(PathBuf::new));
        sources.retain(|_, it| it.kind == Kind::Folder || !is_changed(it));
        let gone = Stamp { kind: Kind::Other, mode: 0, size: 0, inode: 0, modified: 0, changed: 0 };
        sources.extend(changed.iter().map(|it| (it.join(GONE), gone)));
        let trees = trees(root, &caches)?;
        let is_written = |it: &Tree| it.values().any(is_changed);
        let written = trees.iter().filter(|(_, it)| is_written(it)).map(|(name, _)| name.clone()).collect();
        Ok(Self { state: State::of(sources, hashes(&trees)?), caches, changed, written })
    }

    /// Whether programs wrote to these caches over the user's own as they were when the programs began.
    pub(crate) fn knows(&self, name: &str, paths: &[String]) -> bool {
        let is_folder = |it: &Path| self.state.sources.get(it).is_some_and(|it| it.kind == Kind::Folder);
        let above = |it: &str| {
            let folders = Path::new(it).ancestors().skip(1);
            folders.map(Path::to_owned).find(|it| it.as_os_str().is_empty() || is_folder(it))
        };
        // A cache of the user's may have been there, and gone since.
        let may_be_gone = |it: &String| {
            !self.caches.contains_key(Path::new(it)) && above(it).is_some_and(|it| self.changed.contains(&it))
        };
        !self.written.contains(name) && !paths.iter().any(may_be_gone)
    }
}
