//! Handle by which a server writes its own status into the registry.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lsp_client::{Client, Epoch, Log, RequestError, StartError, memory_of};

use super::{
    Ending, Entry, Inner, ServerRegistry, ServerState,
    memory_budget::{Admission, admit},
};

/// Poll interval for memory: nothing notifies when a busy server gives some back.
const LOOK: Duration = Duration::from_millis(50);

/// Load of a server, by which one is chosen among those that do the same.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Load {
    /// Time until a question that is asked now is begun.
    pub(crate) wait: Duration,
    /// Whether the server would have to be started.
    pub(crate) is_stuck: bool,
    /// Whether the server has answered a question.
    pub(crate) has_answered: bool,
}

/// A server's own entry in the registry, removed when this is dropped.
pub(crate) struct StatusHandle {
    pub(super) registry: Arc<ServerRegistry>,
    pub(super) id: u64,
}

/// A question that waits for a server or is being answered.
pub(crate) struct InLine<'a>(&'a StatusHandle);

impl StatusHandle {
    pub(crate) fn set(&self, state: ServerState) {
        self.change(|entry| entry.enter(state));
    }

    /// Sets whether the server has not answered since a question was given up.
    pub(crate) fn set_owing(&self, is_owing: bool) {
        if self.registry.inner.lock().entries.get(&self.id).is_some_and(|it| it.is_owing != is_owing) {
            self.change(|entry| entry.is_owing = is_owing);
        }
    }

    /// Sets the problem that the server reports of itself.
    pub(crate) fn set_unwell(&self, unwell: Option<String>) {
        self.change(|entry| entry.unwell = unwell);
    }

    /// Crashes of the same server before it had this entry.
    pub(crate) fn set_crashes(&self, crashes: u64) {
        self.change(|entry| entry.counts.crashes = crashes);
    }

    /// Counts a waiting question until the result is dropped.
    pub(crate) fn in_line(&self) -> InLine<'_> {
        self.change(|entry| entry.waiting += 1);
        InLine(self)
    }

    /// `version` is its name and version.
    pub(crate) fn started(&self, client: &Client, version: Option<String>) {
        self.change(|entry| {
            entry.pid = Some(client.pid());
            entry.version = version.or(entry.version.take());
            entry.counts.starts += 1;
            entry.keep_log(client.epoch(), client.log());
        });
    }

    pub(crate) fn not_started(&self, epoch: Epoch, error: &StartError) {
        self.change(|entry| {
            entry.last_error = Some(error.to_string());
            if let StartError::Initialize { source: RequestError::ServerDied { stderr, .. }, .. } = error {
                let log = Log::default();
                stderr.iter().for_each(|it| log.push(it));
                entry.keep_log(epoch, Arc::new(log));
            }
            entry.enter(ServerState::Pausing);
        });
    }

    pub(crate) fn died(&self, reason: String) {
        self.change(|entry| {
            (entry.pid, entry.unwell, entry.is_owing) = (None, None, false);
            entry.last_error = Some(reason);
            entry.counts.crashes += 1;
            entry.enter(ServerState::Pausing);
        });
    }

    pub(crate) fn ended(&self, why: Ending) {
        self.change(|entry| {
            (entry.pid, entry.unwell, entry.is_owing) = (None, None, false);
            entry.enter(ServerState::Ended(why));
        });
    }

    pub(crate) fn asked(&self, is_switch: bool) {
        self.change(|entry| {
            entry.counts.questions += 1;
            entry.counts.switches += u64::from(is_switch);
        });
    }

    /// Adds the duration of a question to the average, of which the newest is a quarter. The first is left out: the server
    /// read the project for it.
    pub(crate) fn took(&self, time: Duration) {
        self.change(|entry| {
            let is_first = !std::mem::replace(&mut entry.has_answered, true);
            let is_new = entry.mean.is_zero();
            entry.mean = match is_first {
                true => Duration::ZERO,
                false if is_new => time,
                false => (entry.mean * 3 + time) / 4,
            };
        });
    }

    /// Measures the memory of the process, where that is possible. After its first answer, the result is the estimate
    /// for one more like it.
    pub(crate) fn measure(&self, is_first: bool) -> Option<u64> {
        let pid = self.change(|entry| entry.pid)?;
        let bytes = memory_of(&[pid]).pop()??;
        if is_first {
            self.change(|entry| entry.bytes = bytes);
        }
        Some(bytes)
    }

    /// Reason for which a waiting question is not answered, unless it is an earlier question.
    pub(crate) fn why_late(&self) -> Option<String> {
        match self.change(|entry| Some(entry.state))? {
            ServerState::WaitingForMemory => Some(self.registry.memory_is_full()),
            ServerState::Starting => Some("the server is still starting".to_owned()),
            _ => None,
        }
    }

    pub(crate) fn load(&self) -> Load {
        self.change(|entry| {
            // A question that has taken longer than the average will take longer still.
            let is_busy = entry.state == ServerState::Busy;
            let current = if is_busy { entry.mean.max(entry.since.elapsed()) } else { Duration::ZERO };
            let others = entry.waiting.saturating_sub(usize::from(is_busy));
            let others = entry.mean.saturating_mul(u32::try_from(others).unwrap_or(u32::MAX));
            Load {
                wait: current.saturating_add(others),
                is_stuck: !matches!(entry.state, ServerState::Busy | ServerState::Idle),
                has_answered: entry.has_answered,
            }
        })
    }

    /// Whether the server has a process or may have one soon.
    pub(crate) fn has_process(&self) -> bool {
        let is_starting = [ServerState::WaitingForMemory, ServerState::Starting];
        self.change(|entry| entry.pid.is_some() || entry.waiting > 0 || is_starting.contains(&entry.state))
    }

    pub(crate) fn version(&self) -> Option<String> {
        self.change(|entry| entry.version.clone())
    }

    /// Returns when there is memory to start the server, which is then its own. Idle ones end for it.
    pub(crate) fn admit(&self, deadline: Instant, is_wanted: &dyn Fn() -> bool) -> Result<(), String> {
        let before = self.change(|entry| Some(entry.state)).unwrap_or(ServerState::Unused);
        self.set(ServerState::WaitingForMemory);
        while !self.try_admit() {
            let mut inner = self.registry.inner.lock();
            let now = inner.who_may_end();
            let is_same = |it: &mut Inner| it.who_may_end() == now;
            self.registry.changed.wait_while_for(&mut inner, is_same, LOOK);
            drop(inner);
            if Instant::now() >= deadline || !is_wanted() {
                self.set(before);
                return Err(self.registry.memory_is_full());
            }
        }
        Ok(())
    }

    fn try_admit(&self) -> bool {
        let measured = self.registry.measure();
        let mut inner = self.registry.inner.lock();
        let holders = inner.holders(&measured, Some(self.id));
        let Some(need) = inner.entries.get(&self.id).map(|it| it.bytes) else { return true };
        match admit(self.registry.budget, need, &holders) {
            Admission::Now => {
                inner.entries.get_mut(&self.id).into_iter().for_each(|it| it.enter(ServerState::Starting));
                true
            }
            Admission::After(ending) => {
                let is_ending = |(id, _): &(&u64, &mut Entry)| ending.contains(id);
                for (_, entry) in inner.entries.iter_mut().filter(is_ending) {
                    entry.is_ending = true;
                    (entry.end)();
                }
                false
            }
        }
    }

    fn change<T: Default>(&self, change: impl FnOnce(&mut Entry) -> T) -> T {
        let changed = self.registry.inner.lock().entries.get_mut(&self.id).map(change);
        self.registry.changed.notify_all();
        changed.unwrap_or_default()
    }
}

impl Drop for StatusHandle {
    fn drop(&mut self) {
        self.registry.inner.lock().entries.remove(&self.id);
        self.registry.changed.notify_all();
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.change(|entry| entry.waiting -= 1);
    }
}
