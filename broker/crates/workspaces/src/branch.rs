//! One branch as the daemon holds it: edits one after the other, each kept before it counts.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use overlay::{Branch, BranchRecord, Revision, Snapshot, Step, Store, StoreError};
use scheduler::BranchKey;
use tokio::sync::{Mutex, oneshot, watch};

use super::{
    DaemonError,
    branch_info::{BranchInfo, TRIAL_LABEL},
    task::blocking,
    watchers::Watchers,
    workspace_events::{BranchChange, BranchChangeKind},
};

/// A branch and its handle. Cheap to share; an idle one costs its edits and a few hundred bytes.
pub(super) struct BranchCell {
    pub(super) id: Arc<str>,
    pub(super) record: BranchRecord,
    /// Key of the branch in the scheduler.
    pub(super) key: BranchKey,
    store: Arc<dyn BranchStore>,
    /// Held from the look at the branch to the end of the durable write.
    editing: Mutex<Held>,
    /// Last call of a session that works on the branch.
    last_session: parking_lot::Mutex<Option<Instant>>,
    published: watch::Sender<Published>,
    /// The clients that get an event for each change.
    watchers: Arc<Watchers>,
}

struct Held {
    branch: Branch,
    /// Whether the store may have something else of the branch: a write failed, and what of it is on the disk
    /// is not known.
    is_doubtful: bool,
    /// The last revision of a branch that is made for a request, which is not answered yet: a daemon that finds it so in the store
    /// drops it.
    provisional: Option<Revision>,
    /// Bytes of the texts that the branch and its history hold, or more.
    bytes: u64,
}

/// Store of branches. Calls `done` once the disk has the branch, or has failed.
pub(super) trait BranchStore: Send + Sync {
    /// See [`Store::save_with`].
    fn save(&self, id: &str, record: Option<BranchRecord>, steps: Vec<Step>, done: Done);

    /// See [`Store::replace_with`].
    fn replace(&self, id: &str, record: BranchRecord, steps: Vec<Step>, done: Done);

    /// See [`Store::discard_with`].
    fn discard(&self, id: &str, done: Done);
}

pub(super) type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

impl BranchStore for Store {
    fn save(&self, id: &str, record: Option<BranchRecord>, steps: Vec<Step>, done: Done) {
        self.save_with(id, record, steps, done);
    }

    fn replace(&self, id: &str, record: BranchRecord, steps: Vec<Step>, done: Done) {
        self.replace_with(id, record, steps, done);
    }

    fn discard(&self, id: &str, done: Done) {
        self.discard_with(id, done);
    }
}

/// Bytes that a branch may hold in memory and in the state folder: its texts, those of its history, and what it
/// replaced.
pub const MAX_BRANCH: u64 = 1 << 30;

/// State of a branch that readers see.
#[derive(Clone)]
pub(super) struct Published {
    pub(super) snapshot: Snapshot,
    /// Discarded, or its workspace was closed.
    pub(super) gone: bool,
}

impl BranchCell {
    pub(super) fn new(
        id: Arc<str>,
        record: BranchRecord,
        key: BranchKey,
        store: Arc<dyn BranchStore>,
        watchers: Arc<Watchers>,
        branch: Branch,
    ) -> Arc<Self> {
        let (published, _) = watch::channel(Published { snapshot: branch.snapshot(), gone: false });
        // Counted at the first edit.
        let held = Held { branch, is_doubtful: false, provisional: None, bytes: u64::MAX };
        let (editing, last_session) = (Mutex::new(held), parking_lot::Mutex::default());
        Arc::new(Self { id, record, key, store, editing, last_session, published, watchers })
    }

    pub(super) fn note_session(&self, at: Instant) {
        *self.last_session.lock() = Some(at);
    }

    pub(super) fn last_session(&self) -> Option<Instant> {
        *self.last_session.lock()
    }

    /// The branch as it is now.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.published.borrow().snapshot.clone()
    }

    pub(super) fn revision(&self) -> Revision {
        self.published.borrow().snapshot.revision()
    }

    /// Description of the branch in this state.
    pub(super) fn info(&self, snapshot: &Snapshot) -> BranchInfo {
        BranchInfo::of(&self.id, &self.record, snapshot)
    }

    /// Sends what became of the branch to the clients that watch the workspace.
    pub(super) fn announce(&self, kind: impl FnOnce() -> BranchChangeKind) {
        self.watchers.send_branch(|| BranchChange { kind: kind(), branch: self.info(&self.snapshot()) });
    }

    /// Tells of every change from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<Published> {
        self.published.subscribe()
    }

    /// Looks at the branch between two edits.
    pub(super) async fn look<T>(&self, look: impl FnOnce(&Branch) -> T) -> Result<T, DaemonError> {
        let held = self.editing.lock().await;
        self.expect_here()?;
        Ok(look(&held.branch))
    }

    /// Changes the branch; when this returns, the change is on the disk, in the daemon's own folder.
    ///
    /// The stored and the published state may not differ, so an edit that changes anything must be a part of
    /// [`run_uncancellable`](super::task::run_uncancellable).
    pub(super) async fn edit<T: Send + 'static>(
        self: &Arc<Self>,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut Branch) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<(T, Revision), DaemonError> {
        self.edit_and_keep(if_revision, edit, OnWriteError::Refuse, |_| BranchChangeKind::Edited).await
    }

    /// Edits as [`edit`](Self::edit) does, for a change that has an effect elsewhere and is announced as `kind`: it stands even
    /// if it cannot be stored. Then the error is [`NotNoted`](DaemonError::NotNoted), and the write is tried again for as long
    /// as the branch is held.
    pub(super) async fn edit_for_good<T: Send + 'static>(
        self: &Arc<Self>,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut Branch) -> Result<T, DaemonError> + Send + 'static,
        kind: impl FnOnce(&T) -> BranchChangeKind + Send,
    ) -> Result<(T, Revision), DaemonError> {
        self.edit_and_keep(if_revision, edit, OnWriteError::Keep, kind).await
    }

    async fn edit_and_keep<T: Send + 'static>(
        self: &Arc<Self>,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut Branch) -> Result<T, DaemonError> + Send + 'static,
        on_error: OnWriteError,
        kind: impl FnOnce(&T) -> BranchChangeKind + Send,
    ) -> Result<(T, Revision), DaemonError> {
        let mut held = self.editing.lock().await;
        self.expect_here()?;
        let before = held.branch.revision();
        if let Some(expected) = if_revision.filter(|it| *it != before) {
            return Err(DaemonError::Stale { expected, actual: before });
        }
        let mut next = held.branch.clone();
        // Reads the base, and a patch may be long.
        let (answer, next) = blocking(move || edit(&mut next).map(|answer| (answer, next))).await?;
        let kept = match on_error {
            OnWriteError::Refuse if next.revision() == before => Ok(()),
            OnWriteError::Refuse => self.keep_next(&mut held, next).await,
            OnWriteError::Keep => self.keep_for_good(&mut held, next).await,
        };
        self.publish(&held);
        if held.branch.revision() != before {
            self.announce(|| kind(&answer));
        }
        kept.map(|()| (answer, held.branch.revision()))
    }

    /// Shows the branch as it is held.
    fn publish(&self, held: &Held) {
        self.published.send_if_modified(|it| {
            let is_new = it.snapshot.revision() != held.branch.revision();
            it.snapshot = held.branch.snapshot();
            is_new
        });
    }

    /// Makes `next` the branch, whether the disk has it or not.
    async fn keep_for_good(self: &Arc<Self>, held: &mut Held, next: Branch) -> Result<(), DaemonError> {
        let is_new = next.revision() != held.branch.revision();
        if !is_new && !held.is_doubtful {
            return Ok(());
        }
        let Err(error) = self.keep_next(held, next.clone()).await else { return Ok(()) };
        let revision = next.revision();
        // The size of the branch is counted anew at the next edit.
        (held.branch, held.is_doubtful, held.bytes) = (next, true, u64::MAX);
        if is_new {
            tokio::spawn(note_again(Arc::downgrade(self)));
        }
        Err(DaemonError::NotNoted { revision, source: Box::new(error) })
    }

    /// Writes the branch to the store if the store may have something else. Whether the two agree now.
    async fn note(&self) -> bool {
        let mut held = self.editing.lock().await;
        if held.is_doubtful && self.expect_here().is_ok() {
            held.is_doubtful = self.replace(&held.branch, held.provisional).await.is_err();
        }
        !held.is_doubtful || self.expect_here().is_err()
    }

    /// Makes `next` the branch, once the disk has it.
    ///
    /// A save that failed may still have reached the disk. So all of the branch is saved again before anything else
    /// is acknowledged: at once, or if that fails with the next edit.
    async fn keep_next(&self, held: &mut Held, next: Branch) -> Result<(), DaemonError> {
        let steps = next.steps_since(held.branch.revision());
        let bytes = within(MAX_BRANCH, held.bytes, &steps, &next)?;
        let provisional = held.provisional.filter(|last| next.revision() <= *last);
        // Edits of others are acknowledged, and kept.
        let record = (held.provisional != provisional).then(|| self.record.clone());
        let kept = match held.is_doubtful {
            false => self.ask(|done| self.store.save(&self.id, record, steps, done)).await,
            true => self.replace(&next, provisional).await,
        };
        if let Err(error) = kept {
            held.is_doubtful = self.replace(&held.branch, held.provisional).await.is_err();
            return Err(error);
        }
        *held = Held { branch: next, is_doubtful: false, provisional, bytes };
        Ok(())
    }

    /// Writes a new branch to the store. One that is refused is not there. One that is made for a request, up to the revision
    /// `provisional`, is dropped when the daemon is killed, unless another edit follows or it is [kept](Self::keep).
    pub(super) async fn begin(&self, provisional: Option<Revision>) -> Result<(), DaemonError> {
        let mut held = self.editing.lock().await;
        held.provisional = provisional;
        let (record, steps) = (self.stored(provisional), held.branch.steps());
        self.ask(|done| self.store.save(&self.id, Some(record), steps, done)).await
    }

    /// Makes a provisional branch one that stays.
    pub(super) async fn keep(&self) -> Result<(), DaemonError> {
        let mut held = self.editing.lock().await;
        self.expect_here()?;
        if held.provisional.is_some() {
            let record = self.stored(None);
            self.ask(|done| self.store.save(&self.id, Some(record), Vec::new(), done)).await?;
            held.provisional = None;
        }
        Ok(())
    }

    /// The record as the store has it.
    fn stored(&self, provisional: Option<Revision>) -> BranchRecord {
        let mut record = self.record.clone();
        record.labels.extend(provisional.map(|_| (TRIAL_LABEL.to_owned(), String::new())));
        record
    }

    /// Makes the store have of this branch just what `branch` is, whatever it has of it.
    async fn replace(&self, branch: &Branch, provisional: Option<Revision>) -> Result<(), DaemonError> {
        let record = self.stored(provisional);
        self.ask(|done| self.store.replace(&self.id, record, branch.steps(), done)).await
    }

    async fn ask(&self, ask: impl FnOnce(Done)) -> Result<(), DaemonError> {
        let (done, kept) = oneshot::channel();
        // The receiver is gone only if the daemon is ending.
        ask(Box::new(move |result| drop(done.send(result))));
        kept.await.map_err(|_| DaemonError::ShuttingDown)?.map_err(DaemonError::from)
    }

    /// Forgets the branch for good, unless `keep` has a reason against that. No edit comes in between.
    pub(super) async fn discard_unless(
        &self,
        keep: impl FnOnce(&Branch) -> Option<String> + Send + 'static,
    ) -> Result<Option<String>, DaemonError> {
        let mut held = self.editing.lock().await;
        self.expect_here()?;
        let branch = held.branch.clone();
        let kept = blocking(move || Ok(keep(&branch))).await?;
        if kept.is_none() {
            self.discard_held(&mut held).await?;
        }
        Ok(kept)
    }

    /// Forgets the branch for good, unless it was made to stay or edited by others. Whether it is forgotten.
    pub(super) async fn discard_provisional(&self) -> Result<bool, DaemonError> {
        let mut held = self.editing.lock().await;
        self.expect_here()?;
        let is_provisional = held.provisional.is_some();
        if is_provisional {
            self.discard_held(&mut held).await?;
        }
        Ok(is_provisional)
    }

    /// Forgets the branch for good.
    pub(super) async fn discard(&self) -> Result<(), DaemonError> {
        let mut held = self.editing.lock().await;
        self.expect_here()?;
        self.discard_held(&mut held).await
    }

    async fn discard_held(&self, held: &mut Held) -> Result<(), DaemonError> {
        if let Err(error) = self.take_out().await {
            held.is_doubtful = self.replace(&held.branch, held.provisional).await.is_err();
            return Err(error);
        }
        self.leave();
        Ok(())
    }

    /// Takes the branch out of the store, and no more.
    pub(super) async fn take_out(&self) -> Result<(), DaemonError> {
        self.ask(|done| self.store.discard(&self.id, done)).await
    }

    /// Ends all watches of the branch.
    pub(super) fn leave(&self) {
        self.published.send_modify(|it| it.gone = true);
    }

    pub(super) fn expect_here(&self) -> Result<(), DaemonError> {
        if self.published.borrow().gone { Err(DaemonError::no_branch(&self.record.name)) } else { Ok(()) }
    }
}

/// Outcome of a change that cannot be written to the disk.
#[derive(Debug, Clone, Copy)]
enum OnWriteError {
    Refuse,
    Keep,
}

/// Tries to write the branch to the store until that works, or the branch is dropped.
async fn note_again(cell: Weak<BranchCell>) {
    const LONGEST: Duration = Duration::from_secs(60);
    let mut pause = Duration::from_secs(1);
    loop {
        tokio::time::sleep(pause).await;
        match cell.upgrade() {
            Some(cell) if !cell.note().await => pause = LONGEST.min(pause * 2),
            _ => return,
        }
    }
}

/// The bytes that `next` holds, or more; an error if they are more than `limit`. `before` is that of the branch
/// without `steps`.
///
/// Counts all only where the sum of what was added would be too much: most of it may be gone from the history.
fn within(limit: u64, before: u64, steps: &[Step], next: &Branch) -> Result<u64, DaemonError> {
    let added: u64 = steps.iter().flat_map(Step::texts).map(|(_, bytes)| bytes as u64).sum();
    let most = before.saturating_add(added);
    if most <= limit {
        return Ok(most);
    }
    let all = next.steps();
    let texts: HashMap<_, _> = all.iter().flat_map(Step::texts).collect();
    let actual = texts.values().map(|it| *it as u64).sum();
    let what = "bytes of a branch, with its history and what it replaced";
    if actual <= limit { Ok(actual) } else { Err(DaemonError::TooMuch { what, limit, actual }) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use config::folders;
    use overlay::{Memory, View as _, WorkspacePath};

    use super::{super::OpenWorkspace, *};
    use crate::workspace_events::WorkspaceEvent;

    /// A store that has what it is given, and says of some of it that the disk failed.
    struct Lying {
        store: Store,
        lies: AtomicUsize,
    }

    impl Lying {
        fn answer(&self, done: Done) -> Done {
            let lie = |it: usize| it.checked_sub(1);
            let lies = self.lies.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lie).is_ok();
            Box::new(move |result: Result<(), StoreError>| {
                done(if lies { result.and(Err(StoreError::Closed)) } else { result });
            })
        }
    }

    impl BranchStore for Lying {
        fn save(&self, id: &str, record: Option<BranchRecord>, steps: Vec<Step>, done: Done) {
            self.store.save_with(id, record, steps, self.answer(done));
        }

        fn replace(&self, id: &str, record: BranchRecord, steps: Vec<Step>, done: Done) {
            // Replacements that fail never reach the disk.
            let lie = |it: usize| it.checked_sub(1);
            match self.lies.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lie) {
                Ok(_) => done(Err(StoreError::Closed)),
                Err(_) => self.store.replace_with(id, record, steps, done),
            }
        }

        fn discard(&self, id: &str, done: Done) {
            self.store.discard_with(id, self.answer(done));
        }
    }

    fn record() -> BranchRecord {
        BranchRecord { name: "b".to_owned(), parent: None, created_ms: 1, labels: Default::default() }
    }

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    fn base() -> Arc<Memory> {
        Arc::new(Memory::from_files([("a", "old")]).unwrap())
    }

    async fn write(cell: &Arc<BranchCell>, name: &'static str) -> Result<Revision, DaemonError> {
        let edit = move |branch: &mut Branch| Ok(branch.write(&path(name), name.into()).map(drop)?);
        cell.edit(None, edit).await.map(|((), revision)| revision)
    }

    /// Branches that a daemon finds when it opens the folder after this one: the files of each, and its revision.
    fn found(dir: &std::path::Path) -> Vec<(Vec<String>, Revision)> {
        let loaded = Store::open(dir).unwrap().load().unwrap();
        assert!(loaded.damaged.is_empty(), "{:?}", loaded.damaged);
        let restored = |it: overlay::SavedBranch| {
            let branch = Branch::restore(base(), it.steps).unwrap();
            let listing = branch.snapshot().list(&WorkspacePath::root()).unwrap();
            (listing.entries.into_iter().map(|it| it.name).collect(), branch.revision())
        };
        loaded.branches.into_iter().map(restored).collect()
    }

    /// `lies` answers of the disk are wrong, from the second edit on, which is refused.
    async fn after_a_refusal(lies: usize, then: Option<&'static str>) -> Vec<(Vec<String>, Revision)> {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Lying { store: Store::open(dir.path()).unwrap(), lies: AtomicUsize::new(0) });
        let branch_store: Arc<dyn BranchStore> = store.clone();
        let cell = BranchCell::new(
            "id".into(),
            record(),
            BranchKey(1),
            branch_store,
            Arc::default(),
            Branch::new(base()),
        );
        cell.begin(None).await.unwrap();
        write(&cell, "first").await.unwrap();
        store.lies.store(lies, Ordering::SeqCst);
        write(&cell, "refused").await.unwrap_err();
        assert_eq!(cell.revision(), Revision(1));
        if let Some(name) = then {
            assert_eq!(write(&cell, name).await.unwrap(), Revision(2));
        }
        drop((cell, store));
        found(dir.path())
    }

    #[tokio::test]
    async fn a_refused_edit_never_comes_back() {
        let all = |names: &[&str], revision| {
            vec![(names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), Revision(revision))]
        };
        assert_eq!(after_a_refusal(1, None).await, all(&["a", "first"], 1));
        assert_eq!(after_a_refusal(1, Some("next")).await, all(&["a", "first", "next"], 2));
        assert_eq!(after_a_refusal(2, Some("next")).await, all(&["a", "first", "next"], 2));
    }

    #[tokio::test]
    async fn a_branch_whose_discarding_failed_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Lying { store: Store::open(dir.path()).unwrap(), lies: AtomicUsize::new(0) });
        let branch_store: Arc<dyn BranchStore> = store.clone();
        let cell = BranchCell::new(
            "id".into(),
            record(),
            BranchKey(1),
            branch_store,
            Arc::default(),
            Branch::new(base()),
        );
        cell.begin(None).await.unwrap();
        store.lies.store(2, Ordering::SeqCst);
        cell.discard().await.unwrap_err();
        write(&cell, "next").await.unwrap();
        drop((cell, store));
        assert_eq!(found(dir.path()), [(vec!["a".to_owned(), "next".to_owned()], Revision(1))]);
    }

    /// A served folder, and a branch of it whose store can be made to fail.
    struct Committing {
        place: tempfile::TempDir,
        workspace: Arc<OpenWorkspace>,
        store: Arc<Lying>,
        cell: Arc<BranchCell>,
    }

    impl Committing {
        async fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let root = place.path().join("work");
            std::fs::create_dir(&root).unwrap();
            let workspace = OpenWorkspace::open("w".into(), &root, &place.path().join("state")).unwrap();
            let kept = Store::open(&place.path().join("kept")).unwrap();
            let store = Arc::new(Lying { store: kept, lies: AtomicUsize::new(0) });
            let branch = Branch::new(Arc::clone(&workspace.view));
            let watchers = Arc::clone(&workspace.editors.watchers);
            let cell = BranchCell::new("id".into(), record(), BranchKey(1), store.clone(), watchers, branch);
            cell.begin(None).await.unwrap();
            Self { place, workspace, store, cell }
        }

        async fn commit(&self) -> Result<Revision, DaemonError> {
            let done = self.workspace.commit(&self.cell, None, Default::default(), None).await;
            done.map(|it| it.revision)
        }

        fn files(&self) -> Vec<String> {
            let root = overlay::Disk::new(&self.place.path().join("work")).unwrap();
            let listing = root.list(&WorkspacePath::root()).unwrap();
            listing.entries.into_iter().map(|it| it.name).collect()
        }

        /// The revision that the store has, and whether it has it as a commit.
        fn noted(&self) -> (Revision, bool) {
            let mut branches = self.store.store.load().unwrap().branches;
            let step = branches.remove(0).steps.pop().unwrap();
            (step.revision, step.kind == overlay::StepKind::Commit)
        }
    }

    #[tokio::test]
    async fn a_commit_that_is_not_noted_stands_and_is_noted_later() {
        let it = Committing::new().await;
        let (_, watcher) = it.workspace.editors.watchers.add(String::new(), false).unwrap();
        write(&it.cell, "new").await.unwrap();
        it.store.lies.store(usize::MAX, Ordering::SeqCst);
        let error = it.commit().await.unwrap_err();
        assert!(matches!(error, DaemonError::NotNoted { revision: Revision(2), .. }), "{error}");
        assert!(error.to_string().starts_with("all changes are on the disk"), "{error}");
        assert_eq!(it.files(), ["new"]);
        assert_eq!(it.cell.revision(), Revision(2), "what everyone sees");
        assert!(matches!(it.commit().await.unwrap_err(), DaemonError::NotNoted { .. }), "not noted yet");
        assert!(matches!(write(&it.cell, "more").await.unwrap_err(), DaemonError::Store(_)));
        assert!(!it.cell.note().await);
        it.store.lies.store(0, Ordering::SeqCst);
        assert!(it.cell.note().await);
        assert_eq!(it.noted(), (Revision(2), true));
        assert_eq!(it.commit().await.unwrap(), Revision(2), "there is nothing to commit");
        write(&it.cell, "last").await.unwrap();
        for (revision, is_commit) in [(1, false), (2, true), (3, false)] {
            let Ok(WorkspaceEvent::Branch(told)) = watcher.queue.next().await else {
                panic!("of the branch")
            };
            let told = (told.branch.revision.0, matches!(told.kind, BranchChangeKind::Committed { .. }));
            assert_eq!(told, (revision, is_commit), "each once");
        }
    }

    #[tokio::test]
    async fn what_a_commit_replaced_comes_back_though_it_was_not_noted() {
        let it = Committing::new().await;
        let file = it.place.path().join("work/a");
        folders::replace(&file, b"old").unwrap();
        write(&it.cell, "a").await.unwrap();
        it.store.lies.store(usize::MAX, Ordering::SeqCst);
        it.commit().await.unwrap_err();
        assert_eq!(folders::read(&file).unwrap(), b"a");
        it.store.lies.store(0, Ordering::SeqCst);
        it.cell.edit(None, |it| Ok(it.undo_to(Revision(0)).map(drop)?)).await.unwrap();
        it.commit().await.unwrap();
        assert_eq!(folders::read(&file).unwrap(), b"old");
        assert_eq!(it.noted(), (Revision(4), true));
    }

    #[test]
    fn what_a_branch_holds_is_bounded() {
        let mut branch = Branch::new(base());
        let edit = |branch: &mut Branch, text: &'static str| {
            let before = branch.revision();
            branch.write(&path("new"), text.into()).unwrap();
            branch.steps_since(before)
        };
        let steps = edit(&mut branch, "12345");
        assert_eq!(within(10, 0, &steps, &branch).unwrap(), 5);
        let steps = edit(&mut branch, "67890");
        assert_eq!(within(10, 5, &steps, &branch).unwrap(), 10);
        let steps = edit(&mut branch, "12345");
        assert_eq!(within(10, 10, &steps, &branch).unwrap(), 10, "it is held already");
        let steps = edit(&mut branch, "x");
        let refused = within(10, 10, &steps, &branch).unwrap_err();
        assert!(matches!(refused, DaemonError::TooMuch { limit: 10, actual: 11, .. }), "{refused}");
    }
}
