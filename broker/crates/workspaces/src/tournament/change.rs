//! Files and lines that a candidate changes.

use std::{collections::BTreeMap, io};

use overlay::{
    Change, ChangeKind, ContentHash, FileState, Snapshot, TreeHash, View as _, WorkspacePath, changed_lines,
};

use super::result::ChangedFiles;
use crate::merge_preview::text;

/// Bytes of the longest patch that is told.
pub(super) const MAX_PATCH: usize = 1 << 20;

/// Lines around each change of a patch.
const CONTEXT: usize = 3;

/// Compares the branch with the base, of which `tree` is the hash.
pub(super) fn changed_files(branch: &Snapshot, base: &Snapshot, tree: &TreeHash) -> io::Result<ChangedFiles> {
    let changes: Vec<_> = branch.changes(base)?.into_iter().filter(is_of_file).collect();
    let tree = tree.update(branch, &branch.changed_paths(base))?.root();
    let mut changed = ChangedFiles { tree: Some(tree), files: files(&changes), ..ChangedFiles::default() };
    for change in &changes {
        changed.count_lines(change, branch, base);
    }
    if changed.uncounted.is_empty() {
        let patch = overlay::unified(&changes, base, branch, CONTEXT)?;
        changed.patch = (patch.len() <= MAX_PATCH).then_some(patch);
    }
    Ok(changed)
}

fn is_of_file(it: &Change) -> bool {
    let is_directory = |state: &Option<FileState>| matches!(state, None | Some(FileState::Directory));
    !(is_directory(&it.before) && is_directory(&it.after))
}

fn files(changes: &[Change]) -> BTreeMap<WorkspacePath, Option<ContentHash>> {
    let gone = changes.iter().filter_map(|it| match &it.kind {
        ChangeKind::Renamed { from } => Some((from.clone(), None)),
        _ => None,
    });
    let after = changes.iter().map(|it| {
        let hash = match &it.after {
            Some(FileState::File { hash, .. }) => Some(*hash),
            Some(FileState::Symlink(link)) => Some(ContentHash::of(link.as_bytes())),
            _ => None,
        };
        (it.path.clone(), hash)
    });
    gone.chain(after).collect()
}

impl ChangedFiles {
    fn count_lines(&mut self, change: &Change, branch: &Snapshot, base: &Snapshot) {
        let from = match &change.kind {
            ChangeKind::Renamed { from } => from,
            _ => &change.path,
        };
        let before = lines_of(change.before.as_ref(), base, from);
        let after = lines_of(change.after.as_ref(), branch, &change.path);
        let (Some(before), Some(after)) = (before, after) else {
            self.uncounted.push(change.path.clone());
            return;
        };
        for place in changed_lines(&before, &after) {
            self.added += place.added.lines().count();
            self.removed += place.removed.lines().count();
        }
    }
}

/// The text of a file, that of a link, or none where there is neither; `None` for what is no text.
fn lines_of(state: Option<&FileState>, view: &Snapshot, path: &WorkspacePath) -> Option<String> {
    match state {
        Some(FileState::File { .. }) => text(view, path).filter(|it| !it.contains('\0')),
        Some(FileState::Symlink(_)) => view.read_link(path).ok(),
        Some(FileState::Directory | FileState::Other) | None => Some(String::new()),
    }
}
