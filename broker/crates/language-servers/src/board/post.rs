//! A server's own place on the board: where it writes what becomes of it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lsp_client::{Client, Epoch, Log, RequestError, StartError, memory_of};

use super::{
    Board, Ending, Inner, Seat, ServerState,
    room::{Room, room},
};

/// Nothing tells when a server that is busy gives memory back.
const LOOK: Duration = Duration::from_millis(50);

/// How a server is chosen among those that do the same.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Load {
    /// Until a question that is asked now is begun.
    pub(crate) wait: Duration,
    /// It would have to be started.
    pub(crate) is_stuck: bool,
}

/// A server's own place on the board, taken away when this is dropped.
pub(crate) struct Post {
    pub(super) board: Arc<Board>,
    pub(super) id: u64,
}

/// A question that waits for a server or is being answered.
pub(crate) struct InLine<'a>(&'a Post);

impl Post {
    pub(crate) fn set(&self, state: ServerState) {
        self.change(|seat| seat.enter(state));
    }

    /// Whether it has not answered since a question was given up.
    pub(crate) fn set_owing(&self, is_owing: bool) {
        if self.board.lock().seats.get(&self.id).is_some_and(|it| it.is_owing != is_owing) {
            self.change(|seat| seat.is_owing = is_owing);
        }
    }

    /// What it says is wrong with it.
    pub(crate) fn set_unwell(&self, unwell: Option<String>) {
        self.change(|seat| seat.unwell = unwell);
    }

    /// Deaths of the same server before there was this place.
    pub(crate) fn set_crashes(&self, crashes: u64) {
        self.change(|seat| seat.counts.crashes = crashes);
    }

    /// It waits for it to be dropped.
    pub(crate) fn in_line(&self) -> InLine<'_> {
        self.change(|seat| seat.waiting += 1);
        InLine(self)
    }

    /// `version` is its name and version.
    pub(crate) fn started(&self, client: &Client, version: Option<String>) {
        self.change(|seat| {
            seat.pid = Some(client.pid());
            seat.version = version.or(seat.version.take());
            seat.counts.starts += 1;
            seat.keep_log(client.epoch(), client.log());
        });
    }

    pub(crate) fn not_started(&self, epoch: Epoch, error: &StartError) {
        self.change(|seat| {
            seat.last_error = Some(error.to_string());
            if let StartError::Initialize { source: RequestError::ServerDied { stderr, .. }, .. } = error {
                let log = Log::default();
                stderr.iter().for_each(|it| log.push(it));
                seat.keep_log(epoch, Arc::new(log));
            }
            seat.enter(ServerState::Pausing);
        });
    }

    pub(crate) fn died(&self, reason: String) {
        self.change(|seat| {
            (seat.pid, seat.unwell, seat.is_owing) = (None, None, false);
            seat.last_error = Some(reason);
            seat.counts.crashes += 1;
            seat.enter(ServerState::Pausing);
        });
    }

    pub(crate) fn ended(&self, why: Ending) {
        self.change(|seat| {
            (seat.pid, seat.unwell, seat.is_owing) = (None, None, false);
            seat.enter(ServerState::Ended(why));
        });
    }

    pub(crate) fn asked(&self, is_switch: bool) {
        self.change(|seat| {
            seat.counts.questions += 1;
            seat.counts.switches += u64::from(is_switch);
        });
    }

    /// What a question took: a quarter of the average is the newest.
    pub(crate) fn took(&self, time: Duration) {
        self.change(|seat| {
            let is_new = seat.mean.is_zero();
            seat.mean = if is_new { time } else { (seat.mean * 3 + time) / 4 };
        });
    }

    /// How much memory it has, where that can be known. After its first answer, that is what one more like it
    /// will take.
    pub(crate) fn measure(&self, is_first: bool) -> Option<u64> {
        let pid = self.change(|seat| seat.pid)?;
        let bytes = memory_of(&[pid]).pop()??;
        if is_first {
            self.change(|seat| seat.bytes = bytes);
        }
        Some(bytes)
    }

    /// Why a question that waits for it is not answered, if that is no fault of what is asked before.
    pub(crate) fn why_late(&self) -> Option<String> {
        match self.change(|seat| Some(seat.state))? {
            ServerState::WaitingForMemory => Some(self.board.no_room()),
            ServerState::Starting => Some("the server is still starting".to_owned()),
            _ => None,
        }
    }

    pub(crate) fn load(&self) -> Load {
        self.change(|seat| {
            // What has taken long already will take longer.
            let is_busy = seat.state == ServerState::Busy;
            let current = if is_busy { seat.mean.max(seat.since.elapsed()) } else { Duration::ZERO };
            let others = seat.waiting.saturating_sub(usize::from(is_busy));
            let others = seat.mean.saturating_mul(u32::try_from(others).unwrap_or(u32::MAX));
            Load {
                wait: current.saturating_add(others),
                is_stuck: !matches!(seat.state, ServerState::Busy | ServerState::Idle),
            }
        })
    }

    /// Or may have one soon.
    pub(crate) fn has_process(&self) -> bool {
        let is_starting = [ServerState::WaitingForMemory, ServerState::Starting];
        self.change(|seat| seat.pid.is_some() || seat.waiting > 0 || is_starting.contains(&seat.state))
    }

    pub(crate) fn version(&self) -> Option<String> {
        self.change(|seat| seat.version.clone())
    }

    /// Returns when there is memory to start the server, which is then its own. Idle ones end for it.
    pub(crate) fn admit(&self, deadline: Instant, is_wanted: &dyn Fn() -> bool) -> Result<(), String> {
        let before = self.change(|seat| Some(seat.state)).unwrap_or(ServerState::Unused);
        self.set(ServerState::WaitingForMemory);
        while !self.try_admit() {
            let inner = self.board.lock();
            let now = inner.who_may_end();
            let is_same = |it: &mut Inner| it.who_may_end() == now;
            drop(self.board.changed.wait_timeout_while(inner, LOOK, is_same));
            if Instant::now() >= deadline || !is_wanted() {
                self.set(before);
                return Err(self.board.no_room());
            }
        }
        Ok(())
    }

    fn try_admit(&self) -> bool {
        let measured = self.board.measure();
        let mut inner = self.board.lock();
        let holders = inner.holders(&measured, Some(self.id));
        let Some(need) = inner.seats.get(&self.id).map(|it| it.bytes) else { return true };
        match room(self.board.budget, need, &holders) {
            Room::Enough => {
                inner.seats.get_mut(&self.id).into_iter().for_each(|it| it.enter(ServerState::Starting));
                true
            }
            Room::After(ending) => {
                let is_ending = |(id, _): &(&u64, &mut Seat)| ending.contains(id);
                for (_, seat) in inner.seats.iter_mut().filter(is_ending) {
                    seat.is_ending = true;
                    (seat.end)();
                }
                false
            }
        }
    }

    fn change<T: Default>(&self, change: impl FnOnce(&mut Seat) -> T) -> T {
        let changed = self.board.lock().seats.get_mut(&self.id).map(change);
        self.board.changed.notify_all();
        changed.unwrap_or_default()
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.board.lock().seats.remove(&self.id);
        self.board.changed.notify_all();
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.change(|seat| seat.waiting -= 1);
    }
}
