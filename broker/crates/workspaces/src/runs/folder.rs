//! Shadow folders that are open: one for each branch, shared by its runs, which shows the branch as it is.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Weak},
};

use overlay::{Snapshot, View};
use parking_lot::Mutex;
use shadow::{Backend, Choice, Entry, EntryKind, Launcher, Layer, Sandbox, Shadow};
use tokio::sync::{oneshot, watch};

use super::{
    harvest::Chosen,
    run::{Run, Shown},
    sandbox::{difference, no_folder},
    target::RunTarget,
};
use crate::{
    DaemonError,
    branch::Published,
    target::Target,
    task::{blocking, drop_aside},
};

/// The handle of a branch, or of a workspace for its base.
type Key = Arc<str>;

/// Turn at opening the folder of one target, with the folder if one is open.
type Slot = Arc<tokio::sync::Mutex<Weak<Folder>>>;

/// The folders that runs share.
#[derive(Default)]
pub(super) struct Folders {
    slots: Mutex<HashMap<Key, Slot>>,
}

pub(super) struct Folder {
    open: Mutex<Open>,
    /// Backend and isolation that the folder was made with.
    choice: Choice,
    sandbox: Sandbox,
    /// The branch as it was when the folder was opened; `None` for the base.
    opened: Option<Snapshot>,
    /// The branch as the folder shows it, with its own files of version control. Held while that changes.
    shown: tokio::sync::Mutex<Option<Snapshot>>,
    /// Number of runs that keep the folder from showing other revisions, as they keep what is written.
    harvests: watch::Sender<usize>,
    status: Arc<Mutex<Shown>>,
    /// Ends what follows the branch when this goes.
    _following: oneshot::Sender<Infallible>,
}

struct Open {
    /// `None` once it is closed.
    shadow: Option<Arc<Shadow>>,
    users: usize,
    /// Whether there was more than one user, so that others may have written in the folder.
    is_shared: bool,
}

/// A folder for as long as a run uses it; the last one closes it.
pub(super) struct FolderUse {
    folder: Arc<Folder>,
    has_left: bool,
}

/// Keeps a folder at its revision until this is dropped.
pub(super) struct Harvesting {
    folder: Arc<Folder>,
    /// The branch when the run began.
    pub(super) before: Snapshot,
    /// The branch with what was written before the run.
    pub(super) earlier: Vec<Entry>,
}

impl Folders {
    /// The folder of `target`, opened if none is, showing the newest revision.
    pub(super) async fn shared(
        &self,
        launcher: &Launcher,
        target: &RunTarget,
        wanted: Sandbox,
        run: &Run,
        stopping: watch::Receiver<bool>,
    ) -> Result<FolderUse, DaemonError> {
        let slot = self.slot(&target.id());
        let mut turn = slot.lock().await;
        if let Some(joined) = turn.upgrade().and_then(|it| it.join()) {
            drop(turn);
            if let Some(what) = difference(&joined.folder.sandbox, &wanted) {
                return Err(DaemonError::SandboxDiffers { what });
            }
            joined.show_newest(target, run).await?;
            return Ok(joined);
        }
        let opened = Folder::open(launcher, target, wanted, stopping).await?;
        *turn = Arc::downgrade(&opened.folder);
        Ok(opened)
    }

    fn slot(&self, key: &Key) -> Slot {
        let mut slots = self.slots.lock();
        let is_used = |it: &mut Slot| Arc::get_mut(it).is_none_or(|it| it.get_mut().strong_count() > 0);
        slots.retain(|_, it| is_used(it));
        Arc::clone(slots.entry(Arc::clone(key)).or_default())
    }
}

impl Folder {
    /// Opens a folder that shows `target` as it is.
    pub(super) async fn open(
        launcher: &Launcher,
        target: &RunTarget,
        sandbox: Sandbox,
        stopping: watch::Receiver<bool>,
    ) -> Result<FolderUse, DaemonError> {
        let (launcher, root) = (launcher.clone(), target.root().to_owned());
        let opened = target.snapshot().map(|it| it.with_repository());
        let view: Arc<dyn View> = match &opened {
            Some(snapshot) => Arc::new(snapshot.clone()),
            None => Arc::clone(target.base()),
        };
        let own = sandbox.clone();
        let shadow = blocking(move || {
            let layer = Layer::of(&*view).map_err(DaemonError::unreadable)?;
            Shadow::open(&launcher, &root, &layer, &own).map_err(|it| no_folder(&it))
        });
        let shadow = shadow.await?;
        let choice = shadow.choice();
        let open = Open { shadow: Some(Arc::new(shadow)), users: 1, is_shared: false };
        let (following, followed) = oneshot::channel();
        let folder = Arc::new(Self {
            open: Mutex::new(open),
            choice,
            sandbox,
            shown: tokio::sync::Mutex::new(opened.clone()),
            status: Arc::new(Mutex::new(Shown::of(opened.as_ref()))),
            opened,
            harvests: watch::channel(0).0,
            _following: following,
        });
        let changes = Changes::of(target);
        tokio::spawn(follow(Arc::downgrade(&folder), changes, followed, stopping));
        Ok(FolderUse { folder, has_left: false })
    }

    /// `None` if it was closed.
    fn join(self: Arc<Self>) -> Option<FolderUse> {
        let mut open = self.open.lock();
        open.shadow.as_ref()?;
        open.users += 1;
        open.is_shared = true;
        drop(open);
        Some(FolderUse { folder: self, has_left: false })
    }

    fn shadow(&self) -> Result<Arc<Shadow>, DaemonError> {
        let closed = || DaemonError::NoFolder { message: "the folder was closed".to_owned(), hint: None };
        self.open.lock().shadow.clone().ok_or_else(closed)
    }

    /// Ends everything that runs in it.
    async fn close(&self) {
        let shadow = self.open.lock().shadow.take();
        let close = move || {
            drop(shadow);
            Ok(())
        };
        let _done = blocking(close).await;
    }

    /// Shows the branch as `newest` tells it. Waits for runs that keep what is written, unless it is shown already or `cancelled`
    /// comes first.
    async fn show(
        &self,
        newest: impl Fn() -> Option<Snapshot>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<(), DaemonError> {
        let mut cancelled = std::pin::pin!(cancelled);
        let mut harvests = self.harvests.subscribe();
        loop {
            let mut shown = self.shown.lock().await;
            let (Some(before), Some(after)) = (shown.clone(), newest()) else { return Ok(()) };
            if after.revision() <= before.revision() {
                return Ok(());
            }
            if *self.harvests.borrow() == 0 {
                let (shadow, after) = (self.shadow()?, after.with_repository());
                let shows = after.clone();
                blocking(move || apply(&shadow, &before, &after)).await?;
                *self.status.lock() = Shown::of(Some(&shows));
                *shown = Some(shows);
                return Ok(());
            }
            drop(shown);
            tokio::select! {
                // The sender lives as long as this.
                _none = async { harvests.wait_for(|it| *it == 0).await.map(drop) } => {}
                () = &mut cancelled => return Err(DaemonError::RunCancelled),
            }
        }
    }
}

impl FolderUse {
    pub(super) fn shadow(&self) -> Result<Arc<Shadow>, DaemonError> {
        self.folder.shadow()
    }

    /// Backend and isolation that the folder was made with.
    pub(super) fn choice(&self) -> Choice {
        self.folder.choice
    }

    /// Ends the use. The last one keeps what was written to caches; returns why it cannot, if it cannot.
    pub(super) async fn close(mut self) -> Option<String> {
        let shadow = self.leave()?;
        let keep = move || {
            let error = shadow.keep_caches().err().map(|it| it.to_string());
            // A copy is to be free for the next run. What is in memory takes its time to go, and is not waited for.
            let is_in_memory = shadow.choice().backend == Backend::Overlayfs;
            Ok((is_in_memory.then_some(shadow), error))
        };
        let (shadow, error) = blocking(keep).await.ok()?;
        if let Some(shadow) = shadow {
            drop_aside(shadow);
        }
        error
    }

    /// Ends the use; returns the shadow folder to close, if this was the last use.
    fn leave(&mut self) -> Option<Arc<Shadow>> {
        if std::mem::replace(&mut self.has_left, true) {
            return None;
        }
        let mut open = self.folder.open.lock();
        open.users -= 1;
        if open.users == 0 { open.shadow.take() } else { None }
    }

    /// Shows the newest revision for a run that is to start, unless the run is cancelled while others keep the folder as it is.
    async fn show_newest(&self, target: &RunTarget, run: &Run) -> Result<(), DaemonError> {
        self.folder.show(|| target.snapshot(), run.cancelled()).await
    }

    /// State that the folder shows, now and later.
    pub(super) fn status(&self) -> Arc<Mutex<Shown>> {
        Arc::clone(&self.folder.status)
    }

    /// The branch as it was when the folder was opened; `None` for the base.
    pub(super) fn opened(&self) -> Option<&Snapshot> {
        self.folder.opened.as_ref()
    }

    /// Keeps the folder as it is for a run that keeps what it writes. `None` for the base.
    pub(super) async fn harvest(&self, chosen: &Arc<Chosen>) -> Result<Option<Harvesting>, DaemonError> {
        let shown = self.folder.shown.lock().await;
        let (Some(before), Some(opened)) = (shown.clone(), &self.folder.opened) else { return Ok(None) };
        self.folder.harvests.send_modify(|it| *it += 1);
        let is_fresh = before.revision() == opened.revision() && !self.folder.open.lock().is_shared;
        let mut harvesting = Harvesting { folder: Arc::clone(&self.folder), before, earlier: Vec::new() };
        drop(shown);
        if !is_fresh {
            harvesting.earlier = self.written(chosen).await?;
        }
        Ok(Some(harvesting))
    }

    /// Entries that were written in the folder so far, except files that are not chosen.
    pub(super) async fn written(&self, chosen: &Arc<Chosen>) -> Result<Vec<Entry>, DaemonError> {
        let Some(opened) = self.folder.opened.clone() else { return Ok(Vec::new()) };
        let (shadow, chosen) = (self.shadow()?, Arc::clone(chosen));
        blocking(move || chosen.entries(&shadow, &opened)).await
    }
}

impl Drop for FolderUse {
    fn drop(&mut self) {
        if let Some(shadow) = self.leave() {
            drop_aside(shadow);
        }
    }
}

impl Drop for Harvesting {
    fn drop(&mut self) {
        self.folder.harvests.send_modify(|it| *it -= 1);
    }
}

impl Shown {
    fn of(snapshot: Option<&Snapshot>) -> Self {
        let revision = snapshot.map(Snapshot::revision).unwrap_or_default();
        Self { revision, outdated: None }
    }
}

/// Changes of what a folder shows, and the end of it.
#[derive(Clone)]
enum Changes {
    Branch(watch::Receiver<Published>),
    Base(watch::Receiver<Option<u64>>),
    /// None that are noticed: a view ends with its process.
    None,
}

impl Changes {
    fn of(target: &RunTarget) -> Self {
        match target {
            RunTarget::Open(Target::Base(workspace)) => Self::Base(workspace.subscribe()),
            RunTarget::Open(Target::Branch(_, cell)) => Self::Branch(cell.subscribe()),
            RunTarget::View(_) => Self::None,
        }
    }

    /// Waits for the end.
    fn over(&self) -> impl Future<Output = ()> + Send + use<> {
        let changes = self.clone();
        async move {
            match changes {
                Self::Branch(mut changes) => _ = changes.wait_for(|it| it.gone).await.map(drop),
                Self::Base(mut changes) => _ = changes.wait_for(Option::is_none).await.map(drop),
                Self::None => std::future::pending().await,
            }
        }
    }

    /// The next state; `None` at the end.
    async fn next(&mut self) -> Option<Option<Snapshot>> {
        match self {
            Self::Branch(changes) => {
                changes.changed().await.ok()?;
                let now = changes.borrow_and_update();
                (!now.gone).then(|| Some(now.snapshot.clone()))
            }
            Self::Base(changes) => {
                changes.changed().await.ok()?;
                changes.borrow_and_update().map(|_| None)
            }
            Self::None => std::future::pending().await,
        }
    }
}

/// Shows edits of the branch in the folder, and closes it when the branch, the workspace or the daemon goes.
async fn follow(
    folder: Weak<Folder>,
    mut changes: Changes,
    mut ended: oneshot::Receiver<Infallible>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut over = std::pin::pin!(changes.over());
    loop {
        let next = tokio::select! {
            biased;
            // The sender lives as long as the daemon.
            _ = stopping.wait_for(|it| *it) => None,
            () = &mut over => None,
            _ = &mut ended => return,
            next = changes.next() => next,
        };
        let Some(folder) = folder.upgrade() else { return };
        let Some(newest) = next else { return folder.close().await };
        let shown = tokio::select! {
            biased;
            _ = stopping.wait_for(|it| *it) => None,
            () = &mut over => None,
            shown = folder.show(|| newest.clone(), std::future::pending()) => Some(shown),
        };
        let Some(shown) = shown else { return folder.close().await };
        if let Err(error) = shown {
            folder.status.lock().outdated = Some(error.to_string());
        }
    }
}

/// Shows in the folder what `after` has otherwise than `before`.
fn apply(shadow: &Shadow, before: &Snapshot, after: &Snapshot) -> Result<(), DaemonError> {
    let mut layer = Layer::at(after, after.changed_paths(before)).map_err(DaemonError::unreadable)?;
    let directories = layer.entries.iter().filter(|it| it.kind == EntryKind::Directory);
    let directories: Vec<_> = directories.map(|it| it.path.clone()).collect();
    let is_made_anew = |it: &Entry| directories.iter().any(|above| it.path.starts_with(above));
    // A commit shows what the disk has then, which is what the branch had.
    layer.entries.retain(|it| is_made_anew(it) || !is_same(before, it));
    if layer.entries.is_empty() {
        return Ok(());
    }
    shadow.apply(&layer).map_err(|it| no_folder(&it))
}

/// Whether the view has the same file already.
fn is_same(view: &dyn View, entry: &Entry) -> bool {
    let EntryKind::File { bytes, executable } = &entry.kind else { return false };
    let is_executable = || view.metadata(&entry.path).is_ok_and(|it| it.executable == *executable);
    view.read(&entry.path).is_ok_and(|it| it == *bytes) && is_executable()
}
