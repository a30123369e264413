//! Harvest of a command: the files that it wrote, as an edit of its branch.

use std::{io, path::Path, sync::Arc};

use globset::{GlobBuilder, GlobMatcher};
use overlay::{Branch, ContentHash, FileKind, Snapshot, View, WorkspacePath, is_of_version_control};
use shadow::{Entry, EntryKind, OpenError, Shadow, is_cache_mark};

use super::{
    ignored::Ignores,
    repository::{is_object, pinned},
    result::Written,
};
use crate::{Daemon, DaemonError};

/// Bytes of files that one run may make an edit of.
const MAX_BYTES: u64 = 512 << 20;

/// Files, links and folders that one run may make an edit of.
const MAX_ENTRIES: usize = 50_000;

/// Bytes of the names and of the targets of links of all of them.
const MAX_NAMES: usize = 32 << 20;

const IGNORE_FILE: &str = ".gitignore";

/// Bytes of an ignore file that is heeded.
const MAX_RULES: u64 = 1 << 20;

/// The refusal of what cannot be read, such as a path that is longer than the system's longest.
fn unread(error: &OpenError) -> DaemonError {
    let message = "what was written is not kept".to_owned();
    DaemonError::Io { message, source: io::Error::other(error.to_string()) }
}

/// Which of what was written is meant.
pub(super) enum Chosen {
    Glob(GlobMatcher),
    /// Files that git would not ignore, and without a repository, files that are in no cache of a tool.
    NotIgnored,
}

/// Files that were written by one run.
pub(super) struct Change {
    /// The branch when the run began, with its own files of version control.
    pub(super) before: Snapshot,
    after: Arc<dyn View>,
    paths: Vec<WorkspacePath>,
    /// Files of version control.
    repository: Vec<WorkspacePath>,
}

/// Understands a glob, or says what is wrong with it.
fn matcher(glob: &str) -> Result<GlobMatcher, DaemonError> {
    let glob = GlobBuilder::new(glob).literal_separator(true).build();
    Ok(glob.map_err(|error| DaemonError::invalid("harvest", error))?.compile_matcher())
}

impl Chosen {
    pub(super) fn new(glob: &str) -> Result<Self, DaemonError> {
        if glob.is_empty() { Ok(Self::NotIgnored) } else { matcher(glob).map(Self::Glob) }
    }

    /// Entries that were written in a folder over `opened`. Files that are not chosen are not read: they may be large.
    pub(super) fn entries(&self, shadow: &Shadow, opened: &Snapshot) -> Result<Vec<Entry>, DaemonError> {
        let ruled = self.ruled(shadow, opened)?;
        let (mut before, mut after) = (Ignores::of(opened), Ignores::of(&*ruled));
        let (mut entries, mut size, mut count, mut names) = (Vec::new(), 0, 0, 0);
        let wants = |path: &Path, length: u64| {
            let path = path.to_str().and_then(|it| WorkspacePath::new(it).ok());
            let is_meant = path.is_some_and(|it| self.may_hold(&it, &mut before, &mut after));
            size += if is_meant { length } else { 0 };
            is_meant && size <= MAX_BYTES
        };
        let keep = |it: Entry| {
            count += 1;
            names += it.path.as_str().len()
                + if let EntryKind::Link(target) = &it.kind { target.len() } else { 0 };
            if count <= MAX_ENTRIES && names <= MAX_NAMES {
                entries.push(it);
            }
        };
        shadow.harvest_some(wants, keep).map_err(|it| unread(&it))?;
        DaemonError::expect_at_most(MAX_ENTRIES, count, "files, links and folders that were written")?;
        DaemonError::expect_at_most(MAX_NAMES, names, "bytes of names and links that were written")?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        DaemonError::expect_at_most(MAX_BYTES as usize, size, "bytes of files that were written")?;
        Ok(entries)
    }

    /// A view with the files that were written by which others are ignored, and none of those.
    fn ruled(&self, shadow: &Shadow, opened: &Snapshot) -> Result<Arc<dyn View>, DaemonError> {
        let mut entries = Vec::new();
        if matches!(self, Self::NotIgnored) {
            let wants = |path: &Path, length: u64| {
                let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
                (name == IGNORE_FILE || is_cache_mark(name)) && length <= MAX_RULES
            };
            let keep = |it: Entry| entries.extend((!is_of_version_control(&it.path)).then_some(it));
            shadow.harvest_some(wants, keep).map_err(|it| unread(&it))?;
        }
        applied(opened, &entries)
    }

    /// Whether a file that was written is chosen, or replaces a folder whose files may be.
    fn may_hold(&self, path: &WorkspacePath, before: &mut Ignores<'_>, after: &mut Ignores<'_>) -> bool {
        if is_of_version_control(path) {
            return true;
        }
        let is_meant = match self {
            Self::Glob(glob) => glob.is_match(path.as_str()),
            Self::NotIgnored if after.is_cache(path) => false,
            Self::NotIgnored => !before.ignores(path) || !after.ignores(path),
        };
        // With it, all is gone that was in a folder of this name.
        is_meant || before.view.metadata(path).is_ok_and(|it| it.kind == FileKind::Directory)
    }

    /// Whether the path, in which the two views differ, is chosen.
    fn holds(&self, path: &WorkspacePath, before: &mut Ignores<'_>, after: &mut Ignores<'_>) -> bool {
        match self {
            // What a command did to files and what it noted of that in a repository belong together.
            _ if is_of_version_control(path) => true,
            Self::Glob(glob) => glob.is_match(path.as_str()),
            Self::NotIgnored => {
                (before.has(path) && !before.ignores(path)) || (after.has(path) && !after.ignores(path))
            }
        }
    }
}

impl Change {
    /// Differences of `entries` from `earlier`, both written in a folder over `opened`.
    pub(super) fn of(
        before: Snapshot,
        opened: &Snapshot,
        earlier: &[Entry],
        entries: &[Entry],
        chosen: &Chosen,
    ) -> Result<Self, DaemonError> {
        let (first, last) = (applied(opened, earlier)?, applied(opened, entries)?);
        let (mut in_first, mut in_last) = (Ignores::of(&*first), Ignores::of(&*last));
        let mut paths = Vec::new();
        for entry in earlier.iter().chain(entries) {
            files_below(&*first, &entry.path, &mut paths);
            files_below(&*last, &entry.path, &mut paths);
        }
        paths.sort();
        paths.dedup();
        paths.retain(|it| state(&*first, it) != state(&*last, it));
        paths.retain(|it| chosen.holds(it, &mut in_first, &mut in_last));
        drop((in_first, in_last));
        paths.retain(|it| !is_of_version_control(it));
        let repository = repository_of(opened, &*last, entries);
        Ok(Self { before, after: last, paths, repository })
    }

    /// Makes the branch so, unless it was edited at those paths meanwhile.
    fn make(&self, branch: &mut Branch) -> Result<(), DaemonError> {
        let now = branch.snapshot();
        let is_moved = |it: &&WorkspacePath| {
            let state = all_at(&now, it);
            state != all_at(&self.before, it) && state != all_at(&*self.after, it)
        };
        let paths: Vec<_> = self.paths.iter().filter(is_moved).cloned().collect();
        if !paths.is_empty() {
            return Err(DaemonError::EditedMeanwhile { paths });
        }
        self.paths.iter().try_for_each(|it| make(branch, &*self.after, it))?;
        branch.keep_repository(&*self.after, &self.repository)?;
        Ok(())
    }

    fn written(&self) -> Written {
        let is_gone = |it: &WorkspacePath| self.after.metadata(it).is_err();
        let (removed, changed) = self.paths.iter().cloned().partition(is_gone);
        Written { changed, removed, repository: !self.repository.is_empty(), revision: None }
    }
}

impl Daemon {
    /// Makes what was written one edit of a branch.
    pub(super) async fn keep(self: &Arc<Self>, branch: &str, change: Change) -> Result<Written, DaemonError> {
        let written = change.written();
        if change.paths.is_empty() && change.repository.is_empty() {
            return Ok(written);
        }
        let (_, cell) = self.branch(branch)?;
        let make = move |branch: &mut Branch| branch.transaction(|it| change.make(it)).map(drop);
        let ((), revision) = self.edit(cell, None, make).await?;
        Ok(Written { revision: Some(revision), ..written })
    }
}

/// Files of version control to keep: all that differ from the folder as it was opened, whatever run wrote them. What one run writes may
/// rest on what another is still writing, as a commit on its parent.
fn repository_of(opened: &Snapshot, last: &dyn View, entries: &[Entry]) -> Vec<WorkspacePath> {
    let mut paths = Vec::new();
    for entry in entries {
        files_below(opened, &entry.path, &mut paths);
        files_below(last, &entry.path, &mut paths);
    }
    paths.retain(is_of_version_control);
    paths.sort();
    paths.dedup();
    // Objects name their content: one that is there still does no harm, and hides none that comes later.
    paths.retain(|it| state(opened, it) != state(last, it) && !(is_object(it) && last.metadata(it).is_err()));
    let pinned = pinned(last, &paths);
    paths.extend(pinned);
    paths
}

/// `opened` with the entries.
fn applied(opened: &Snapshot, entries: &[Entry]) -> Result<Arc<dyn View>, DaemonError> {
    let mut branch = Branch::of_folder(Arc::new(opened.clone()));
    branch.transaction(|it| entries.iter().try_for_each(|entry| apply(it, entry)))?;
    Ok(Arc::new(branch.snapshot()))
}

fn apply(branch: &mut Branch, Entry { path, kind }: &Entry) -> Result<(), DaemonError> {
    let now = branch.snapshot().metadata(path).ok().map(|it| it.kind);
    let is_file = matches!(kind, EntryKind::File { .. });
    if now.is_some() && !(is_file && now == Some(FileKind::File)) {
        branch.remove(path)?;
    }
    match kind {
        EntryKind::Removed => {}
        EntryKind::Directory => _ = branch.create_dir(path)?,
        EntryKind::Link(to) => _ = branch.symlink(path, to)?,
        EntryKind::File { bytes, executable } => {
            branch.write(path, bytes.clone())?;
            branch.set_executable(path, *executable)?;
        }
    }
    Ok(())
}

/// Makes a path of the branch as `after` has it.
fn make(branch: &mut Branch, after: &dyn View, path: &WorkspacePath) -> Result<(), DaemonError> {
    let unreadable = |error| DaemonError::file(path, error);
    let (is, will_be) = (branch.snapshot().metadata(path).ok(), after.metadata(path).ok());
    let is_other = |it: FileKind| will_be.is_none_or(|to| it != to.kind || it == FileKind::Symlink);
    if is.is_some_and(|it| is_other(it.kind)) {
        branch.remove(path)?;
    }
    match will_be.map(|it| it.kind) {
        Some(FileKind::Symlink) => {
            branch.symlink(path, &after.read_link(path).map_err(unreadable)?)?;
        }
        Some(FileKind::File) => {
            branch.write(path, after.read(path).map_err(unreadable)?)?;
            branch.set_executable(path, will_be.is_some_and(|it| it.executable))?;
        }
        Some(FileKind::Directory | FileKind::Other) | None => {}
    }
    Ok(())
}

fn files_below(view: &dyn View, path: &WorkspacePath, paths: &mut Vec<WorkspacePath>) {
    match view.metadata(path).map(|it| it.kind) {
        Ok(FileKind::Directory) => {
            let entries = view.list(path).map(|it| it.entries).unwrap_or_default();
            entries.iter().for_each(|it| files_below(view, &path.child(&it.name), paths));
        }
        Ok(_) => paths.push(path.clone()),
        Err(_) => {}
    }
}

/// Files at a path and below it, with their states.
fn all_at(view: &dyn View, path: &WorkspacePath) -> Vec<(WorkspacePath, Option<State>)> {
    let mut paths = Vec::new();
    files_below(view, path, &mut paths);
    paths.into_iter().map(|it| (it.clone(), state(view, &it))).collect()
}

type State = (FileKind, bool, Option<ContentHash>, Option<String>);

/// All that tells what stands at a path from something else.
fn state(view: &dyn View, path: &WorkspacePath) -> Option<State> {
    let it = view.metadata(path).ok()?;
    Some((it.kind, it.executable, view.hash(path).ok(), view.read_link(path).ok()))
}
