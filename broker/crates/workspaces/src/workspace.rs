//! A folder that is served: its base, its branches, and where they are kept.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use dashmap::{DashMap, mapref::entry::Entry};
use language_servers::Environment;
use overlay::{
    Base, BaseOptions, Branch, BranchRecord, Committer, ContentHash, Revision, SavedBranch, Store, View,
    Watch,
};
use scheduler::BranchKey;
use tokio::sync::{Mutex, watch};

use super::{
    BranchCell, DaemonError,
    branch_info::TRIAL_LABEL,
    editors::Editors,
    fields,
    once::Once,
    random,
    states::{journal_of, note_root},
    workspace_events::BranchChangeKind,
};

/// An open workspace.
pub(super) struct OpenWorkspace {
    pub(super) id: Arc<str>,
    pub(super) base: Base,
    /// The same, as all branches hold it.
    pub(super) view: Arc<dyn View>,
    /// The clients that watch the workspace, and their unsaved texts.
    pub(super) editors: Arc<Editors>,
    /// Device and inode of the folder, which may be replaced by another at the same path.
    identity: (u64, u64),
    /// Key of the base in the scheduler.
    pub(super) key: BranchKey,
    pub(super) store: Arc<Store>,
    pub(super) committer: Arc<Committer>,
    /// Number of commits; a commit has the lock while it writes.
    pub(super) commit_count: Mutex<u64>,
    branches: DashMap<Arc<str>, Arc<BranchCell>>,
    names: DashMap<String, Arc<str>>,
    /// Handles and names of branches that were discarded last, for requests that they overtook.
    discarded: parking_lot::Mutex<VecDeque<(Arc<str>, String)>>,
    /// New branches that the store refused and may have all the same.
    refused: Mutex<Vec<Arc<BranchCell>>>,
    /// The handle of the watcher, or why there is none.
    watching: Result<Watch, String>,
    /// Number of changes of the base, as far as they were noticed; `None` once the workspace is closed.
    changes: watch::Sender<Option<u64>>,
    /// Branches and leftovers of commits that could not be read.
    unreadable: Vec<String>,
    /// Variables of the shell that opened it last, if a client sent any.
    environment: parking_lot::Mutex<Option<Arc<BTreeMap<String, String>>>>,
    pub(super) forks: Once<Arc<str>>,
    pub(super) edits: Once<Revision>,
    pub(super) fixes: Once<super::FixedFiles>,
    pub(super) commits: Once<super::Committed>,
    /// Starts in the background.
    #[cfg(target_os = "linux")]
    pub(super) runs: Once<super::RunStarted>,
}

/// Limit against runaway clients.
const MAX_BRANCHES: usize = 20_000;
/// Discarded branches whose names are known.
const DISCARDED: usize = 100;

const MAX_LABELS: usize = 64;
const MAX_LABEL: usize = 4096;

/// The device and the number of a folder.
fn identity(folder: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(folder)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// A key that was never used before.
fn next_key() -> BranchKey {
    static KEYS: AtomicU64 = AtomicU64::new(1);
    BranchKey(KEYS.fetch_add(1, Ordering::Relaxed))
}

/// An open workspace as it is now.
#[derive(Debug, Clone)]
pub struct WorkspaceInfo {
    pub id: Arc<str>,
    pub root: PathBuf,
    pub branches: usize,
    /// Number of files with a text that an editor has not saved.
    pub buffers: usize,
    /// Why changes on the disk are noticed late, if they are.
    pub degraded: Option<String>,
}

#[derive(Debug, Clone)]
pub struct OpenedWorkspace {
    pub info: WorkspaceInfo,
    /// Branches and leftovers of commits that could not be read.
    pub unreadable: Vec<String>,
}

impl OpenWorkspace {
    /// Opens the folder `root`, whose state is in `state`.
    pub(super) fn open(id: Arc<str>, root: &Path, state: &Path) -> Result<Arc<Self>, DaemonError> {
        let io = |message: String| move |source| DaemonError::Io { message, source };
        let base = Base::open(root, BaseOptions::default())
            .map_err(io(format!("cannot open {}", root.display())))?;
        let store = Arc::new(Store::open(state)?);
        note_root(state, root).map_err(io(format!("cannot write to {}", state.display())))?;
        let journal = journal_of(state);
        let committer = Committer::new(root, &journal).map_err(|source| unusable(&journal, source))?;
        let recovered = committer.recover().map_err(DaemonError::Commit)?;
        let (changes, _) = watch::channel(Some(0));
        let watching = watch_base(&base, &journal, &changes);
        let leftovers = recovered.into_iter().flat_map(|it| it.leftovers);
        let mut workspace = Self {
            id,
            view: Arc::new(base.clone()),
            editors: Editors::new(base.clone()),
            base,
            key: next_key(),
            identity: identity(root).map_err(io(format!("cannot open {}", root.display())))?,
            store,
            committer: Arc::new(committer),
            commit_count: Mutex::default(),
            branches: DashMap::new(),
            names: DashMap::new(),
            discarded: parking_lot::Mutex::default(),
            refused: Mutex::default(),
            watching,
            changes,
            unreadable: leftovers.map(|it| format!("an interrupted commit: {it}")).collect(),
            environment: parking_lot::Mutex::default(),
            forks: Once::new(),
            edits: Once::new(),
            fixes: Once::new(),
            commits: Once::new(),
            #[cfg(target_os = "linux")]
            runs: Once::new(),
        };
        workspace.load()?;
        Ok(Arc::new(workspace))
    }

    pub(super) fn info(&self) -> WorkspaceInfo {
        WorkspaceInfo {
            id: Arc::clone(&self.id),
            root: self.root().to_owned(),
            branches: self.branch_count(),
            buffers: self.base.buffers().len(),
            degraded: self.degraded(),
        }
    }

    pub(super) fn opened(&self) -> OpenedWorkspace {
        OpenedWorkspace { info: self.info(), unreadable: self.unreadable.clone() }
    }

    fn load(&mut self) -> Result<(), DaemonError> {
        let loaded = self.store.load()?;
        self.unreadable.extend(loaded.damaged.iter().map(|(id, error)| format!("branch {id}: {error}")));
        for saved in loaded.branches {
            let SavedBranch { id, record, steps } = saved;
            // The daemon was killed before it was done with the branch.
            if record.labels.contains_key(TRIAL_LABEL) {
                self.store.discard(&id)?;
                continue;
            }
            match Branch::restore(Arc::clone(&self.view), steps) {
                Ok(branch) => self.add(id.into(), record, branch),
                Err(error) => self.unreadable.push(format!("branch `{}`: {error}", record.name)),
            }
        }
        Ok(())
    }

    fn add(&self, id: Arc<str>, record: BranchRecord, branch: Branch) {
        self.names.insert(record.name.clone(), Arc::clone(&id));
        self.branches.insert(Arc::clone(&id), self.cell(id, record, branch));
    }

    fn cell(&self, id: Arc<str>, record: BranchRecord, branch: Branch) -> Arc<BranchCell> {
        let (store, watchers) = (Arc::<Store>::clone(&self.store), Arc::clone(&self.editors.watchers));
        BranchCell::new(id, record, next_key(), store, watchers, branch)
    }

    /// Whether the folder that was opened is still at its path.
    pub(super) fn is_there(&self) -> bool {
        identity(self.root()).is_ok_and(|it| it == self.identity)
    }

    /// Another folder of the same name is another workspace.
    pub(super) fn expect_there(&self) -> Result<(), DaemonError> {
        match identity(self.root()) {
            Ok(it) if it == self.identity => Ok(()),
            there => {
                Err(DaemonError::WorkspaceGone { root: self.root().to_owned(), is_replaced: there.is_ok() })
            }
        }
    }

    pub(super) fn root(&self) -> &Path {
        self.base.disk().root()
    }

    /// Variables that count for what runs here, in place of those of the shell that started the daemon.
    pub(super) fn set_environment(&self, variables: BTreeMap<String, String>) {
        *self.environment.lock() = Some(Arc::new(variables));
    }

    /// `None` if no client sent any.
    pub(super) fn environment(&self) -> Option<Arc<BTreeMap<String, String>>> {
        self.environment.lock().clone()
    }

    pub(super) fn environment_of_servers(&self) -> Environment {
        Environment::of_daemon(self.root(), self.environment().as_deref())
    }

    /// Why changes on the disk are noticed late, if they are.
    pub(super) fn degraded(&self) -> Option<String> {
        match &self.watching {
            Ok(watch) => watch.degraded().map(|it| it.reason.clone()),
            Err(reason) => Some(reason.clone()),
        }
    }

    /// Tells of changes of the base from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<Option<u64>> {
        self.changes.subscribe()
    }

    pub(super) fn branch(&self, id: &str) -> Result<Arc<BranchCell>, DaemonError> {
        let found = self.branches.get(id).map(|it| Arc::clone(&it));
        found.ok_or_else(|| match self.discarded.lock().iter().find(|it| *it.0 == *id) {
            Some((_, name)) => DaemonError::no_branch(name),
            None => DaemonError::no_branch(id),
        })
    }

    /// The branch of this name.
    pub(super) fn branch_named(&self, name: &str) -> Result<Arc<BranchCell>, DaemonError> {
        let id =
            self.names.get(name).map(|it| Arc::clone(&it)).ok_or_else(|| DaemonError::no_branch(name))?;
        self.branch(&id)
    }

    /// Every branch, by name.
    pub(super) fn branches(&self) -> Vec<Arc<BranchCell>> {
        let mut branches: Vec<_> = self.branches.iter().map(|it| Arc::clone(&it)).collect();
        branches.sort_by(|a, b| a.record.name.cmp(&b.record.name));
        branches
    }

    pub(super) fn branch_count(&self) -> usize {
        self.branches.len()
    }

    /// A new branch of `parent`, or of the base; see [`BranchCell::begin`].
    pub(super) async fn fork(
        &self,
        parent: Option<&BranchCell>,
        name: &str,
        labels: BTreeMap<String, String>,
        provisional: Option<Revision>,
    ) -> Result<Arc<BranchCell>, DaemonError> {
        check_labels(&labels)?;
        self.forget_refused().await?;
        DaemonError::expect_at_most(MAX_BRANCHES, self.branches.len() + 1, "branches of a workspace")?;
        let branch = match parent {
            Some(parent) => parent.look(Branch::fork).await?,
            None => Branch::new(Arc::clone(&self.view)),
        };
        let id: Arc<str> = format!("{}.{}", self.id, random::handle()?).into();
        let name = self.take_name(name, &id)?;
        let parent = parent.map(|it| it.id.to_string());
        let record = BranchRecord { name: name.clone(), parent, created_ms: now_ms(), labels };
        let cell = self.cell(Arc::clone(&id), record, branch);
        if let Err(error) = cell.begin(provisional).await {
            self.names.remove(&name);
            // The branch may have reached the disk all the same.
            if cell.take_out().await.is_err() {
                self.refused.lock().await.push(cell);
            }
            return Err(error);
        }
        // No edit is announced before it.
        cell.look(|_| {
            self.branches.insert(id, Arc::clone(&cell));
            cell.announce(|| BranchChangeKind::Forked);
        })
        .await?;
        Ok(cell)
    }

    /// Takes out of the store what of refused branches may have reached it.
    async fn forget_refused(&self) -> Result<(), DaemonError> {
        let mut refused = self.refused.lock().await;
        while let Some(cell) = refused.last() {
            cell.take_out().await?;
            refused.pop();
        }
        Ok(())
    }

    /// Reserves a name for a new branch; makes one up if there is none.
    fn take_name(&self, name: &str, id: &Arc<str>) -> Result<String, DaemonError> {
        fields::expect_name("a branch name", "bytes of a branch's name", name)?;
        let made_up;
        let name = if name.is_empty() {
            made_up = id.rsplit('.').next().unwrap_or(id)[..8].to_owned();
            &made_up
        } else {
            name
        };
        match self.names.entry(name.to_owned()) {
            Entry::Occupied(_) => Err(DaemonError::NameTaken(name.to_owned())),
            Entry::Vacant(free) => {
                free.insert(Arc::clone(id));
                Ok(name.to_owned())
            }
        }
    }

    pub(super) async fn discard(&self, cell: &BranchCell) -> Result<(), DaemonError> {
        cell.discard().await?;
        self.forget(cell);
        Ok(())
    }

    /// Discards a branch that was made for a request, unless others edited it. Whether it is gone.
    pub(super) async fn discard_provisional(&self, cell: &BranchCell) -> Result<bool, DaemonError> {
        let is_gone = cell.discard_provisional().await?;
        if is_gone {
            self.forget(cell);
        }
        Ok(is_gone)
    }

    /// Discards a branch unless `keep` has a reason against that.
    pub(super) async fn discard_unless(
        &self,
        cell: &BranchCell,
        keep: impl FnOnce(&Branch) -> Option<String> + Send + 'static,
    ) -> Result<Option<String>, DaemonError> {
        let kept = cell.discard_unless(keep).await?;
        if kept.is_none() {
            self.forget(cell);
        }
        Ok(kept)
    }

    fn forget(&self, cell: &BranchCell) {
        self.branches.remove(&cell.id);
        self.names.remove(&cell.record.name);
        let mut discarded = self.discarded.lock();
        discarded.push_back((Arc::clone(&cell.id), cell.record.name.clone()));
        if discarded.len() > DISCARDED {
            discarded.pop_front();
        }
        drop(discarded);
        cell.announce(|| BranchChangeKind::Discarded);
    }

    /// Ends what waits for changes.
    pub(super) fn leave(&self) {
        self.branches.iter().for_each(|it| it.leave());
        self.changes.send_replace(None);
    }
}

/// The folder of the journal is a part of the state folder, and in no workspace.
fn unusable(journal: &Path, source: std::io::Error) -> DaemonError {
    let message = format!("cannot use {}", journal.display());
    if source.kind() == std::io::ErrorKind::InvalidInput {
        let hint = Some("set BROKER_STATE_DIR to a folder outside of the workspace".to_owned());
        return DaemonError::Setup { message: format!("{message}: {source}"), hint };
    }
    DaemonError::Io { message, source }
}

fn watch_base(base: &Base, private: &Path, changes: &watch::Sender<Option<u64>>) -> Result<Watch, String> {
    let changes = changes.clone();
    base.watch(private, move |_| changes.send_modify(|it| *it = it.map(|it| it + 1)))
        .map_err(|error| error.to_string())
}

fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), DaemonError> {
    DaemonError::expect_at_most(MAX_LABELS, labels.len(), "labels of a branch")?;
    let longest = labels.iter().map(|(key, value)| key.len().max(value.len())).max().unwrap_or(0);
    DaemonError::expect_at_most(MAX_LABEL, longest, "bytes of a label")
}

/// Milliseconds since the Unix epoch.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The handle of the workspace in `root`: the same each time.
pub fn id_of(root: &Path) -> Arc<str> {
    let hash = ContentHash::of(root.as_os_str().as_encoded_bytes()).to_string();
    hash[..16].into()
}
