//! Guests that are made ready before they are asked: configured, with the configuration resolved for one file. That takes as long as
//! to check some hundred lines, and the file that was checked for a person is the one that they most likely ask about next, with
//! other text.
//!
//! A ready guest has checked no file and holds no view. It is used only if everything that it has read is unchanged in the view of
//! the next check. None is made while all places are taken, and none is kept for long.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use lint::{Cancel, Identity, Linter as _};
use overlay::{Memory, Read, ReadSet, Traced, View, WorkspacePath};
use parking_lot::Mutex;

use crate::{
    Configured,
    host::Permits,
    instance::{Instance, STACK},
};

/// Guests that are kept at most: those of two files, as two linters or three are asked about most files.
const MAX_READY_GUESTS: usize = 4;

/// Guests that may be alive beside those at work: one more is being made.
pub(crate) const PLACES: usize = MAX_READY_GUESTS + 1;

/// Age at which a guest that was not used ends.
const LONGEST: Duration = Duration::from_secs(10);

/// The guests that are ready, and a thread that makes them, which ends with this.
pub(crate) struct Ready {
    kept: Mutex<Vec<ReadyGuest>>,
    places: Arc<Permits>,
    requests: SyncSender<Request>,
}

/// A guest that is ready for one file.
struct ReadyGuest {
    linter: Identity,
    path: WorkspacePath,
    reads: Arc<ReadSet>,
    guest: Instance,
    since: Instant,
}

/// A guest that is to be made ready.
struct Request {
    linter: Configured,
    path: WorkspacePath,
    view: Arc<dyn View>,
}

impl Ready {
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        let (requests, receiver) = sync_channel::<Request>(MAX_READY_GUESTS);
        let make_all = move || receiver.into_iter().for_each(Request::make);
        thread::Builder::new().name("guests-ready".to_owned()).stack_size(STACK).spawn(make_all)?;
        Ok(Arc::new(Self { kept: Mutex::default(), places: Permits::new(PLACES), requests }))
    }

    /// Has a guest made ready soon, unless too many are to be made already.
    pub(crate) fn request(&self, linter: &Configured, path: &WorkspacePath, view: &Arc<dyn View>) {
        let request = Request { linter: linter.clone(), path: path.clone(), view: Arc::clone(view) };
        drop(self.requests.try_send(request));
    }

    /// The guest that is ready for the file, and what it has read, if all of that is the same in `view`.
    pub(crate) fn take(
        &self,
        linter: &Configured,
        path: &WorkspacePath,
        view: &dyn View,
    ) -> Option<(Instance, Arc<ReadSet>)> {
        let kept = self.remove(linter.identity(), path)?;
        if kept.reads.holds_in(view) {
            return Some((kept.guest, kept.reads));
        }
        linter.plugin().host().0.endings.end(kept.guest);
        None
    }

    /// Ends those that were not used.
    pub(crate) fn sweep(&self) {
        let unused: Vec<_> = self.kept.lock().extract_if(.., |it| it.since.elapsed() > LONGEST).collect();
        drop(unused);
    }

    fn remove(&self, linter: &Identity, path: &WorkspacePath) -> Option<ReadyGuest> {
        let mut kept = self.kept.lock();
        let at = kept.iter().position(|it| it.linter == *linter && it.path == *path)?;
        Some(kept.remove(at))
    }

    /// Keeps a guest in place of one for the same file, or else of the oldest.
    fn keep(&self, new: ReadyGuest) {
        let same = self.remove(&new.linter, &new.path);
        let mut kept = self.kept.lock();
        let oldest = (kept.len() >= MAX_READY_GUESTS).then(|| kept.remove(0));
        kept.push(new);
        drop(kept);
        drop((same, oldest));
    }
}

impl Request {
    fn make(self) {
        let shared = &self.linter.plugin().host().0;
        if shared.places.is_any_free()
            && let Some(kept) = self.guest(&shared.ready)
        {
            shared.ready.keep(kept);
        }
    }

    /// The guest, if it can be used for another text.
    fn guest(&self, ready: &Ready) -> Option<ReadyGuest> {
        // No place is free while an instance that was taken has yet to move on.
        let place = ready.places.take_free()?;
        let view = self.linter.traced(&self.view);
        let configured = Instance::configured_at(place, &self.linter, Arc::clone(&view), Cancel::default());
        let (mut guest, _) = configured.ok()?;
        // With a selection it may lose what it was configured with, and what plugins from elsewhere do is not known.
        if self.linter.plugin().is_bundled() && self.linter.settings.select.is_none() {
            guest.enabled_rules(&self.path).ok()?;
        }
        let (linter, path, reads) = (self.linter.identity().clone(), self.path.clone(), view.read_set());
        let is_of_text = reads.get(&Read::Content(path.clone())).is_some();
        if is_of_text || view.changed().is_some() {
            return None;
        }
        guest.set_view(empty(), Cancel::default());
        Some(ReadyGuest { linter, path, reads, guest, since: Instant::now() })
    }
}

/// A view of nothing: the one that the guest was made with would keep alive a branch that may end.
fn empty() -> Arc<Traced> {
    Arc::new(Traced::new(Arc::new(Memory::default())))
}
