//! One branch as the daemon holds it: edits one after the other, each kept before it counts.

use std::sync::Arc;

use overlay::{Branch, BranchRecord, Revision, Snapshot, Step, Store, StoreError};
use scheduler::BranchKey;
use tokio::sync::{Mutex, oneshot, watch};

use super::DaemonError;

/// A branch and its handle. Cheap to share; an idle one costs its edits and a few hundred bytes.
pub struct BranchCell {
    pub id: Arc<str>,
    pub record: BranchRecord,
    /// What the scheduler calls it.
    pub key: BranchKey,
    store: Arc<Store>,
    /// Held from the look at the branch to the end of the durable write.
    editing: Mutex<Branch>,
    shown: watch::Sender<Shown>,
}

/// What everyone but an editor sees of a branch.
#[derive(Clone)]
pub struct Shown {
    pub snapshot: Snapshot,
    /// Discarded, or its workspace was closed.
    pub gone: bool,
}

impl BranchCell {
    pub(super) fn new(
        id: Arc<str>,
        record: BranchRecord,
        key: BranchKey,
        store: Arc<Store>,
        branch: Branch,
    ) -> Arc<Self> {
        let (shown, _) = watch::channel(Shown { snapshot: branch.snapshot(), gone: false });
        Arc::new(Self { id, record, key, store, editing: Mutex::new(branch), shown })
    }

    /// The branch as it is now.
    pub fn snapshot(&self) -> Snapshot {
        self.shown.borrow().snapshot.clone()
    }

    pub fn revision(&self) -> Revision {
        self.shown.borrow().snapshot.revision()
    }

    /// Tells of every change from now on.
    pub fn subscribe(&self) -> watch::Receiver<Shown> {
        self.shown.subscribe()
    }

    /// Looks at the branch between two edits.
    pub async fn look<T>(&self, look: impl FnOnce(&Branch) -> T) -> Result<T, DaemonError> {
        let branch = self.editing.lock().await;
        self.expect_here()?;
        Ok(look(&branch))
    }

    /// Changes the branch; when this returns, the change is on the disk, in the daemon's own folder.
    ///
    /// Runs to its end even if the caller loses interest: what is kept and what is shown may not differ.
    pub async fn edit<T: Send + 'static>(
        self: &Arc<Self>,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut Branch) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<(T, Revision), DaemonError> {
        let cell = Arc::clone(self);
        let work = tokio::spawn(async move { cell.edit_to_the_end(if_revision, edit).await });
        work.await.unwrap_or_else(|error| Err(DaemonError::Bug(format!("an edit broke off: {error}"))))
    }

    async fn edit_to_the_end<T: Send + 'static>(
        &self,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut Branch) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<(T, Revision), DaemonError> {
        let mut branch = self.editing.lock().await;
        self.expect_here()?;
        let before = branch.revision();
        if let Some(expected) = if_revision.filter(|it| *it != before) {
            return Err(DaemonError::Stale { expected, actual: before });
        }
        let mut next = branch.clone();
        // Reads the base, and a patch may be long.
        let work = tokio::task::spawn_blocking(move || edit(&mut next).map(|answer| (answer, next)));
        let (answer, next) =
            work.await.map_err(|error| DaemonError::Bug(format!("an edit broke off: {error}")))??;
        if next.revision() != before {
            self.keep(None, next.steps_since(before)).await?;
            *branch = next;
            self.shown.send_modify(|it| it.snapshot = branch.snapshot());
        }
        Ok((answer, branch.revision()))
    }

    /// Writes steps, and for a new branch its record, to the store.
    pub(super) async fn keep(
        &self,
        record: Option<BranchRecord>,
        steps: Vec<Step>,
    ) -> Result<(), DaemonError> {
        let (done, kept) = oneshot::channel();
        self.store.save_with(&self.id, record, steps, answer(done));
        kept.await.map_err(|_| DaemonError::ShuttingDown)?.map_err(DaemonError::from)
    }

    /// Forgets the branch for good.
    pub(super) async fn discard(&self) -> Result<(), DaemonError> {
        let _no_edit_meanwhile = self.editing.lock().await;
        self.expect_here()?;
        let (done, gone) = oneshot::channel();
        self.store.discard_with(&self.id, answer(done));
        gone.await.map_err(|_| DaemonError::ShuttingDown)??;
        self.leave();
        Ok(())
    }

    /// Tells whoever watches that there is nothing more to see.
    pub(super) fn leave(&self) {
        self.shown.send_modify(|it| it.gone = true);
    }

    pub(super) fn expect_here(&self) -> Result<(), DaemonError> {
        if self.shown.borrow().gone { Err(DaemonError::no_branch(&self.id)) } else { Ok(()) }
    }
}

/// Nobody listens any more only if the daemon is ending.
fn answer(to: oneshot::Sender<Result<(), StoreError>>) -> impl FnOnce(Result<(), StoreError>) + Send {
    move |result| drop(to.send(result))
}
