//! State folders of workspaces on the disk: whose they are, what would be lost with them, and their removal.

use std::{
    io,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use config::folders;
use overlay::{Committer, Revision, SavedBranch, Store, StoreError, read_regular};

/// State folder of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptState {
    pub folder: PathBuf,
    /// The workspace; `None` if it was opened last by a version that made no note of it.
    pub root: Option<PathBuf>,
}

/// State folder that no daemon opens meanwhile.
pub struct HeldState {
    /// Whatever is lost with it: names of branches, and folders of texts.
    pub lost: Vec<String>,
    folder: PathBuf,
    _store: Store,
}

/// Reason for which a state folder stays.
#[derive(Debug, thiserror::Error)]
pub enum StaysError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Kept(String),
}

impl StaysError {
    /// Whether another process, such as the daemon, has it open.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::Store(StoreError::InUse { .. }))
    }
}

const WORKSPACES: &str = "workspaces";

/// Name of the file with the path of the workspace.
const ROOT: &str = "root";

/// Bytes of that file.
const MAX_ROOT: u64 = 64 << 10;

/// Folder with the state of the workspace `id`.
pub fn state_of(state_dir: &Path, id: &str) -> PathBuf {
    state_dir.join(WORKSPACES).join(id)
}

/// Journal of the commits of a workspace with this state.
pub fn journal_of(state: &Path) -> PathBuf {
    state.join("journal")
}

/// Removes what commits kept long ago, in the state of all workspaces: what was saved while it was replaced.
pub(super) fn prune_kept(state_dir: &Path) {
    for state in kept_states(state_dir) {
        overlay::prune_kept(&journal_of(&state.folder), SystemTime::now());
    }
}

/// The state folders of all workspaces, by name.
#[expect(clippy::disallowed_methods, reason = "the state folder lies outside the workspace")]
pub fn kept_states(state_dir: &Path) -> Vec<KeptState> {
    let entries = std::fs::read_dir(state_dir.join(WORKSPACES)).into_iter().flatten().flatten();
    let state = |folder: PathBuf| KeptState { root: noted_root(&folder), folder };
    let mut states: Vec<_> = entries.map(|it| state(it.path())).filter(|it| it.folder.is_dir()).collect();
    states.sort_by(|a, b| a.folder.cmp(&b.folder));
    states
}

/// Notes in a state folder which workspace it belongs to.
pub fn note_root(state: &Path, root: &Path) -> io::Result<()> {
    if noted_root(state).as_deref() == Some(root) {
        return Ok(());
    }
    folders::replace(&state.join(ROOT), root.as_os_str().as_bytes())
}

fn noted_root(state: &Path) -> Option<PathBuf> {
    let path = read_regular(&state.join(ROOT), MAX_ROOT).ok()?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(path))).filter(|it| it.is_absolute())
}

impl KeptState {
    /// Whether the folder of the workspace is known to be gone.
    pub fn is_orphan(&self) -> bool {
        let is_gone = |it: &Path| it.symlink_metadata().is_err_and(|it| it.kind() == io::ErrorKind::NotFound);
        self.root.as_deref().is_some_and(is_gone)
    }

    /// Holds the folder for its removal. If anything would be lost, that is refused but for `with_edits`.
    pub fn hold(&self, with_edits: bool) -> Result<HeldState, StaysError> {
        let store = Store::open(&self.folder)?;
        let loaded = store.load()?;
        if let Some((id, error)) = loaded.damaged.first() {
            return Err(StaysError::Kept(format!("branch {id} cannot be read: {error}")));
        }
        let branches = loaded.branches.iter().filter(|it| has_edits(it));
        let mut lost: Vec<_> = branches.map(|it| format!("branch {}", it.record.name)).collect();
        let journal = journal_of(&self.folder);
        if Committer::holds_texts(&journal) {
            lost.push(format!("texts in {}", journal.display()));
        }
        if !lost.is_empty() && !with_edits {
            return Err(StaysError::Kept(format!("it has edits: {}", lost.join(", "))));
        }
        Ok(HeldState { lost, folder: self.folder.clone(), _store: store })
    }
}

impl HeldState {
    /// Removes the folder.
    pub fn remove(self) -> Result<(), StaysError> {
        remove_all(&self.folder).map_err(|it| StaysError::Kept(it.to_string()))
    }
}

/// With the workspace, what a branch committed may be gone as well.
fn has_edits(branch: &SavedBranch) -> bool {
    branch.steps.iter().any(|it| it.revision > Revision(0) || it.texts().next().is_some())
}

#[expect(clippy::disallowed_methods, reason = "the state folder lies outside the workspace")]
fn remove_all(folder: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use overlay::{Branch, BranchRecord, Memory, WorkspacePath};
    use std::sync::Arc;

    use super::*;

    /// State of a workspace in `root`, with a branch of these texts.
    fn state(dir: &Path, name: &str, root: &Path, texts: &[(&str, &str)]) -> KeptState {
        let folder = dir.join("workspaces").join(name);
        let store = Store::open(&folder).unwrap();
        let mut branch = Branch::new(Arc::new(Memory::default()));
        for (path, text) in texts {
            branch.write(&WorkspacePath::new(path).unwrap(), (*text).to_owned().into()).unwrap();
        }
        let record =
            BranchRecord { name: "b".to_owned(), parent: None, created_ms: 1, labels: Default::default() };
        store.save("id", Some(record), branch.steps()).unwrap();
        note_root(&folder, root).unwrap();
        KeptState { folder, root: Some(root.to_owned()) }
    }

    #[test]
    fn only_what_is_gone_and_holds_nothing_is_removed_without_consent() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("gone");
        let empty = state(dir.path(), "1", &gone, &[]);
        let edited = state(dir.path(), "2", &gone, &[("a", "x")]);
        let there = state(dir.path(), "3", dir.path(), &[]);
        assert_eq!(kept_states(dir.path()), [empty.clone(), edited.clone(), there.clone()]);
        assert_eq!([&empty, &edited, &there].map(KeptState::is_orphan), [true, true, false]);
        assert!(!KeptState { root: None, ..empty.clone() }.is_orphan(), "it is not known");
        let kept = journal_of(&empty.folder).join("kept");
        overlay::private_folder(&kept).unwrap();
        note_root(&kept, &gone).unwrap();
        let texts = format!("texts in {}", journal_of(&empty.folder).display());
        let lost = |it: &KeptState, with_edits| {
            it.hold(with_edits).map(|it| it.lost).map_err(|error| (error.is_in_use(), error.to_string()))
        };
        assert_eq!(lost(&empty, false), Err((false, format!("it has edits: {texts}"))));
        remove_all(&kept).unwrap();
        assert_eq!(lost(&empty, false), Ok(vec![]));
        assert!(empty.folder.exists());
        empty.hold(false).unwrap().remove().unwrap();
        assert!(!empty.folder.exists());
        assert_eq!(lost(&edited, false), Err((false, "it has edits: branch b".to_owned())));
        let held = Store::open(&edited.folder).unwrap();
        assert!(lost(&edited, true).unwrap_err().0);
        drop(held);
        assert_eq!(lost(&edited, true), Ok(vec!["branch b".to_owned()]));
        edited.hold(true).unwrap().remove().unwrap();
        assert!(!edited.folder.exists());
    }
}
