//! What differs between two snapshots over the same base.
//!
//! What both share is passed over, and so are the directories of the base that neither edits. A directory
//! that was moved as a whole is gone through, since all of its files changed place.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    io,
};

use super::{
    Snapshot,
    origin::is_missing,
    tree::{Directory, Lower, Node, Side},
};
use crate::{ContentHash, FileKind, View, WorkspacePath};

/// One path at which two snapshots differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: WorkspacePath,
    pub kind: ChangeKind,
    /// For a renamed file, what stood at its old place.
    pub before: Option<FileState>,
    pub after: Option<FileState>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    /// The content of a file, perhaps its mode too, or the text of a link.
    Modified,
    /// Nothing but whether the file may be executed.
    ModeChanged,
    /// A file became a link or a directory, or the like.
    TypeChanged,
    /// A file of the same content is gone from `from`. Its mode may have changed.
    Renamed {
        from: WorkspacePath,
    },
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    File {
        hash: ContentHash,
        executable: bool,
    },
    /// The text of the link.
    Symlink(String),
    /// What is in it has changes of its own.
    Directory,
    /// A socket or device.
    Other,
}

type States = BTreeMap<WorkspacePath, FileState>;

impl Snapshot {
    /// What is different here from `since`, sorted by path. Directories are listed where they come or go.
    ///
    /// Both must be over the same base. A file that was written back to what it was is no change.
    pub fn changes(&self, since: &Snapshot) -> io::Result<Vec<Change>> {
        let mut comparison =
            Comparison { base: &*self.tree().base, before: States::new(), after: States::new() };
        let (before, after) = (&since.tree().root, &self.tree().root);
        comparison.directories(&WorkspacePath::root(), before, after)?;
        Ok(comparison.finish())
    }

    /// The paths at which this may look different from `since`, told from the edits alone, without a look
    /// at the base. Sorted, and none of them lies below another.
    ///
    /// A path stands for itself and everything below it: a directory that was moved, made or removed is
    /// one path. The listing of the directory that holds a path may differ too, but not its other entries.
    pub fn changed_paths(&self, since: &Snapshot) -> Vec<WorkspacePath> {
        let mut paths = Vec::new();
        gather_paths(&since.tree().root, &self.tree().root, &WorkspacePath::root(), &mut paths);
        paths.sort();
        paths
    }
}

fn gather_paths(before: &Directory, after: &Directory, at: &WorkspacePath, paths: &mut Vec<WorkspacePath>) {
    for (name, before, after) in differing(before, after) {
        let path = at.child(name);
        match (as_held(&before, &after), as_held(&after, &before)) {
            (Some(before), Some(after)) if before.lower == after.lower => {
                gather_paths(&before, &after, &path, paths);
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
        (Side::Lower(lower), Side::Held(Node::Directory(_))) if lower.executable.is_none() => {
            Some(Cow::Owned(Directory::over(lower.path.clone())))
        }
        _ => None,
    }
}

/// The names that two directories over the same one of the base do not share, with what each says of it.
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

/// Whether both are surely the same. Directories that are held are not looked into.
fn is_same(before: &Side<'_>, after: &Side<'_>) -> bool {
    match (before, after) {
        (Side::Nothing, Side::Nothing) => true,
        (Side::Lower(before), Side::Lower(after)) => before == after,
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
    /// Both must be over the same directory of the base.
    fn directories(&mut self, at: &WorkspacePath, before: &Directory, after: &Directory) -> io::Result<()> {
        differing(before, after)
            .try_for_each(|(name, before, after)| self.sides(&at.child(name), before, after))
    }

    fn sides(&mut self, at: &WorkspacePath, before: Side<'_>, after: Side<'_>) -> io::Result<()> {
        if is_same(&before, &after) {
            return Ok(());
        }
        match (self.directory(&before)?, self.directory(&after)?) {
            (Some(before), Some(after)) if before.lower == after.lower => {
                self.directories(at, &before, &after)
            }
            _ => {
                gather(self.base, at, &before, &mut self.before)?;
                gather(self.base, at, &after, &mut self.after)
            }
        }
    }

    fn directory<'s>(&self, side: &Side<'s>) -> io::Result<Option<Cow<'s, Directory>>> {
        Ok(match side {
            Side::Held(Node::Directory(directory)) => Some(Cow::Borrowed(directory)),
            Side::Held(_) | Side::Nothing => None,
            Side::Lower(lower) => match self.base.metadata(&lower.path) {
                Ok(it) if it.kind == FileKind::Directory => {
                    Some(Cow::Owned(Directory::over(lower.path.clone())))
                }
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
    let mut sources: HashMap<ContentHash, Vec<Change>> = HashMap::new();
    let (mut added, mut others) = (Vec::new(), Vec::new());
    for change in changes {
        match (&change.kind, &change.before) {
            (ChangeKind::Deleted, Some(FileState::File { hash, .. })) => {
                sources.entry(*hash).or_default().push(change);
            }
            (ChangeKind::Added, _) => added.push(change),
            _ => others.push(change),
        }
    }
    for by_name in [true, false] {
        for change in &mut added {
            let Some(FileState::File { hash, .. }) = &change.after else { continue };
            let (ChangeKind::Added, Some(sources)) = (&change.kind, sources.get_mut(hash)) else { continue };
            let fits = |it: &Change| !by_name || it.path.file_name() == change.path.file_name();
            if let Some(index) = sources.iter().position(fits) {
                let source = sources.remove(index);
                change.before = source.before;
                change.kind = ChangeKind::Renamed { from: source.path };
            }
        }
    }
    others.extend(added);
    others.extend(sources.into_values().flatten());
    others
}

/// Everything that is at `at` and below it.
fn gather(base: &dyn View, at: &WorkspacePath, side: &Side<'_>, states: &mut States) -> io::Result<()> {
    match side {
        Side::Nothing => {}
        Side::Lower(lower) => return gather_lower(base, at, lower, states),
        Side::Held(Node::Directory(directory)) => {
            states.insert(at.clone(), FileState::Directory);
            let lower = directory.lower.as_ref().map_or(Ok(Vec::new()), |it| names(base, it))?;
            let silent = lower.iter().filter(|name| !directory.entries.contains_key(name.as_str()));
            let held = directory.entries.keys().map(|name| &**name);
            for name in silent.map(String::as_str).chain(held) {
                gather(base, &at.child(name), &directory.side(name), states)?;
            }
        }
        Side::Held(Node::File { hash, executable, .. }) => {
            states.insert(at.clone(), FileState::File { hash: *hash, executable: *executable });
        }
        Side::Held(Node::Symlink(target)) => {
            states.insert(at.clone(), FileState::Symlink(target.to_string()));
        }
        Side::Held(Node::Lower { .. } | Node::Whiteout) => unreachable!("these are sides of their own"),
    }
    Ok(())
}

fn gather_lower(base: &dyn View, at: &WorkspacePath, lower: &Lower, states: &mut States) -> io::Result<()> {
    match state_in(base, lower) {
        Ok(state) => {
            let is_directory = state == FileState::Directory;
            states.insert(at.clone(), state);
            if is_directory {
                for name in names(base, &lower.path)? {
                    let below = Lower { path: lower.path.child(&name), executable: None };
                    gather_lower(base, &at.child(&name), &below, states)?;
                }
            }
            Ok(())
        }
        Err(error) if is_missing(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

fn state_in(base: &dyn View, lower: &Lower) -> io::Result<FileState> {
    let metadata = base.metadata(&lower.path)?;
    Ok(match metadata.kind {
        FileKind::File => {
            let executable = lower.executable.unwrap_or(metadata.executable);
            FileState::File { hash: base.hash(&lower.path)?, executable }
        }
        FileKind::Symlink => FileState::Symlink(base.read_link(&lower.path)?),
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
