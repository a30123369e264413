//! Difference of two snapshots over the same base.
//!
//! Subtrees that both share are passed over, and so are the directories of the base that neither edits. A directory
//! that was moved as a whole is gone through, since all of its files changed place.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, VecDeque},
    hash::Hash,
    io,
};

use super::{
    Snapshot,
    origin::is_missing,
    tree::{Directory, Node, Side},
};
use crate::{ContentHash, FileKind, View, WorkspacePath};

/// A path at which two snapshots differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: WorkspacePath,
    pub kind: ChangeKind,
    /// State before the change; for a renamed file, the one at its old path.
    pub before: Option<FileState>,
    pub after: Option<FileState>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    /// The content of a file, perhaps its mode too, or the text of a link.
    Modified,
    /// Change of the executable bit only.
    ModeChanged,
    /// A file became a link or a directory, or the like.
    TypeChanged,
    /// A file of the same content is gone from `from`. Its mode may have changed.
    Renamed {
        from: WorkspacePath,
    },
}

/// State of a path in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    File {
        hash: ContentHash,
        executable: bool,
    },
    /// The text of the link.
    Symlink(String),
    /// A directory; its entries have changes of their own.
    Directory,
    /// A socket or device.
    Other,
}

type States = BTreeMap<WorkspacePath, FileState>;

impl Snapshot {
    /// Returns the changes from `since` to this, sorted by path. Directories are listed where they are added or removed.
    ///
    /// Both must be over the same base. A file that was written back to what it was is no change.
    pub fn changes(&self, since: &Snapshot) -> io::Result<Vec<Change>> {
        let mut comparison =
            Comparison { base: &*self.tree().base, before: States::new(), after: States::new() };
        let (before, after) = (&since.tree().root, &self.tree().root);
        comparison.directories(&WorkspacePath::root(), before, after)?;
        Ok(comparison.finish())
    }

    /// Returns the changes from what is on the disk, without texts that editors have not saved, to this.
    pub fn changes_from_disk(&self) -> io::Result<Vec<Change>> {
        let saved = self.saved();
        saved.changes(&saved.base_of())
    }

    /// The paths at which this may look different from `since`, told from the edits alone, without a look
    /// at the base. Sorted, and none of them lies below another.
    ///
    /// A path stands for itself and everything below it: a directory that was moved, made or removed is
    /// one path. The listing of the directory that holds a path may differ too, but not its other entries.
    pub fn changed_paths(&self, since: &Snapshot) -> Vec<WorkspacePath> {
        let mut paths = Vec::new();
        let is_made = |path: &_| since.is_made(path) || self.is_made(path);
        gather_paths([&since.tree().root, &self.tree().root], &WorkspacePath::root(), &is_made, &mut paths);
        paths.sort();
        paths
    }

    /// Returns the number of files and links at and below the [changed paths](Self::changed_paths), where an entry that is gone and an
    /// empty directory count as one.
    pub fn changed_count(&self, since: &Snapshot) -> usize {
        let held = |it: &WorkspacePath| self.tree().held_directory(it).map_or(1, held_count);
        self.changed_paths(since).iter().map(held).sum()
    }
}

fn held_count(directory: &Directory) -> usize {
    let below = |it: &Node| if let Node::Directory(it) = it { held_count(it) } else { 1 };
    directory.entries.values().map(|it| below(it)).sum::<usize>().max(1)
}

fn gather_paths(
    [before, after]: [&Directory; 2],
    at: &WorkspacePath,
    is_made: &impl Fn(&WorkspacePath) -> bool,
    paths: &mut Vec<WorkspacePath>,
) {
    for (name, before, after) in differing(before, after) {
        let path = at.child(name);
        if matches!((&before, &after), (Side::Base, _) | (_, Side::Base)) && is_made(&path) {
            paths.push(path);
            continue;
        }
        match (as_held(&before, &after), as_held(&after, &before)) {
            (Some(before), Some(after)) if before.shows_base == after.shows_base => {
                gather_paths([&before, &after], &path, is_made, paths);
            }
            _ if is_same(&before, &after) => {}
            _ => paths.push(path),
        }
    }
}

/// A directory that is held, or the directory of the base that `other` holds edits over.
fn as_held<'a>(side: &Side<'a>, other: &Side<'_>) -> Option<Cow<'a, Directory>> {
    match (side, other) {
        (Side::Held(Node::Directory(directory)), _) => Some(Cow::Borrowed(directory)),
        (Side::Base, Side::Held(Node::Directory(_))) => Some(Cow::Owned(Directory::over())),
        _ => None,
    }
}

/// The names that two directories, both over the base or neither, do not share, with what each says of it.
pub(super) fn differing<'a>(
    before: &'a Directory,
    after: &'a Directory,
) -> impl Iterator<Item = (&'a str, Side<'a>, Side<'a>)> {
    let changed = before
        .entries
        .iter()
        .filter(|(name, node)| !after.entries.get(*name).is_some_and(|it| std::sync::Arc::ptr_eq(it, node)));
    let new = after.entries.keys().filter(|name| !before.entries.contains_key(*name));
    let names = changed.map(|(name, _)| name).chain(new);
    names.map(|name| (&**name, before.side(name), after.side(name)))
}

/// Whether both are surely the same. Directories held by a branch are not looked into.
fn is_same(before: &Side<'_>, after: &Side<'_>) -> bool {
    match (before, after) {
        (Side::Nothing, Side::Nothing) | (Side::Base, Side::Base) => true,
        (Side::Held(before), Side::Held(after)) => before.is_same(after),
        _ => false,
    }
}

/// The two sides of what differs, path by path.
struct Comparison<'a> {
    base: &'a dyn View,
    before: States,
    after: States,
}

impl Comparison<'_> {
    /// Compares two directories. Both must be over the base, or neither.
    fn directories(&mut self, at: &WorkspacePath, before: &Directory, after: &Directory) -> io::Result<()> {
        differing(before, after)
            .try_for_each(|(name, before, after)| self.sides(&at.child(name), before, after))
    }

    fn sides(&mut self, at: &WorkspacePath, before: Side<'_>, after: Side<'_>) -> io::Result<()> {
        if is_same(&before, &after) {
            return Ok(());
        }
        match (self.directory(at, &before)?, self.directory(at, &after)?) {
            (Some(before), Some(after)) if before.shows_base == after.shows_base => {
                self.directories(at, &before, &after)
            }
            _ => {
                gather(self.base, at, &before, &mut self.before)?;
                gather(self.base, at, &after, &mut self.after)
            }
        }
    }

    fn directory<'s>(&self, at: &WorkspacePath, side: &Side<'s>) -> io::Result<Option<Cow<'s, Directory>>> {
        Ok(match side {
            Side::Held(Node::Directory(directory)) => Some(Cow::Borrowed(directory)),
            Side::Held(_) | Side::Nothing => None,
            Side::Base => match self.base.metadata(at) {
                Ok(it) if it.kind == FileKind::Directory => Some(Cow::Owned(Directory::over())),
                Ok(_) => None,
                Err(error) if is_missing(&error) => None,
                Err(error) => return Err(error),
            },
        })
    }

    fn finish(mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (path, before) in self.before {
            let after = self.after.remove(&path);
            let kind = match &after {
                None => ChangeKind::Deleted,
                Some(after) if *after == before => continue,
                Some(after) => kind_of(&before, after),
            };
            changes.push(Change { path, kind, before: Some(before), after });
        }
        let added =
            |(path, after)| Change { path, kind: ChangeKind::Added, before: None, after: Some(after) };
        changes.extend(self.after.into_iter().map(added));
        let mut changes = pair_renames(changes);
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }
}

fn kind_of(before: &FileState, after: &FileState) -> ChangeKind {
    match (before, after) {
        (FileState::File { hash: a, .. }, FileState::File { hash: b, .. }) if a == b => {
            ChangeKind::ModeChanged
        }
        (FileState::File { .. }, FileState::File { .. }) | (FileState::Symlink(_), FileState::Symlink(_)) => {
            ChangeKind::Modified
        }
        _ => ChangeKind::TypeChanged,
    }
}

/// Makes one change of a deleted and an added file of equal content: of equal names first, then in order.
fn pair_renames(changes: Vec<Change>) -> Vec<Change> {
    let (mut sources, mut added, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for change in changes {
        match (&change.kind, &change.before) {
            (ChangeKind::Deleted, Some(FileState::File { .. })) => sources.push(Some(change)),
            (ChangeKind::Added, _) => added.push(change),
            _ => others.push(change),
        }
    }
    pair_by(&mut sources, &mut added, |hash, path| (hash, path.file_name().map(str::to_owned)));
    pair_by(&mut sources, &mut added, |hash, _| hash);
    others.extend(added);
    others.extend(sources.into_iter().flatten());
    others
}

/// Pairs those of equal keys, in order.
fn pair_by<K: Eq + Hash>(
    sources: &mut [Option<Change>],
    added: &mut [Change],
    key: impl Fn(ContentHash, &WorkspacePath) -> K,
) {
    let key = |state: Option<&FileState>, path: &WorkspacePath| match state {
        Some(FileState::File { hash, .. }) => Some(key(*hash, path)),
        _ => None,
    };
    let mut by_key: HashMap<K, VecDeque<&mut Option<Change>>> = HashMap::new();
    for source in sources {
        if let Some(key) = source.as_ref().and_then(|it| key(it.before.as_ref(), &it.path)) {
            by_key.entry(key).or_default().push_back(source);
        }
    }
    for change in added.iter_mut().filter(|it| it.kind == ChangeKind::Added) {
        let found = key(change.after.as_ref(), &change.path).and_then(|it| by_key.get_mut(&it)?.pop_front());
        if let Some(source) = found.and_then(Option::take) {
            change.before = source.before;
            change.kind = ChangeKind::Renamed { from: source.path };
        }
    }
}

/// Gathers the states of everything at `at` and below it.
fn gather(base: &dyn View, at: &WorkspacePath, side: &Side<'_>, states: &mut States) -> io::Result<()> {
    match side {
        Side::Nothing => {}
        Side::Base => return gather_base(base, at, states),
        Side::Held(Node::Directory(directory)) => {
            states.insert(at.clone(), FileState::Directory);
            let in_base = if directory.shows_base { names(base, at)? } else { Vec::new() };
            let silent = in_base.iter().filter(|name| !directory.entries.contains_key(name.as_str()));
            let held = directory.entries.keys().map(|name| &**name);
            for name in silent.map(String::as_str).chain(held) {
                gather(base, &at.child(name), &directory.side(name), states)?;
            }
        }
        Side::Held(Node::File(file)) => {
            states.insert(at.clone(), FileState::File { hash: file.hash, executable: file.executable });
        }
        Side::Held(Node::Symlink(target)) => {
            states.insert(at.clone(), FileState::Symlink(target.to_string()));
        }
        Side::Held(Node::Whiteout) => unreachable!("a side says nothing of it"),
    }
    Ok(())
}

fn gather_base(base: &dyn View, at: &WorkspacePath, states: &mut States) -> io::Result<()> {
    match state_in(base, at) {
        Ok(state) => {
            let is_directory = state == FileState::Directory;
            states.insert(at.clone(), state);
            if is_directory {
                names(base, at)?.iter().try_for_each(|it| gather_base(base, &at.child(it), states))?;
            }
            Ok(())
        }
        Err(error) if is_missing(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

fn state_in(base: &dyn View, at: &WorkspacePath) -> io::Result<FileState> {
    let metadata = base.metadata(at)?;
    Ok(match metadata.kind {
        FileKind::File => FileState::File { hash: base.hash(at)?, executable: metadata.executable },
        FileKind::Symlink => FileState::Symlink(base.read_link(at)?),
        FileKind::Directory => FileState::Directory,
        FileKind::Other => FileState::Other,
    })
}

fn names(base: &dyn View, directory: &WorkspacePath) -> io::Result<Vec<String>> {
    match base.list(directory) {
        Ok(listing) => Ok(listing.entries.into_iter().map(|it| it.name).collect()),
        Err(error) if is_missing(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
