//! State of a session: the requests that wait, the capabilities of the server, and whether it is over. Without threads
//! or pipes.

use std::{
    collections::HashMap,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::Instant,
};

use crate::{Broken, Exit, capabilities::Capabilities, message::Answer};

/// Result of a request, exactly once.
pub(crate) type Reply = Result<Answer, Broken>;

/// Treatment of a server's requests to change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EditPolicy {
    /// Answers that the edit was not applied.
    #[default]
    Refuse,
    /// Answers that the edit was applied, and passes it to the owner ([`EventKind::Edit`](crate::EventKind::Edit)).
    Capture,
}

/// Sender of a request: once the session is closing, only the farewell goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Caller,
    Farewell,
}

#[derive(Default)]
pub(crate) struct State {
    phase: Phase,
    last_id: i64,
    pending: HashMap<i64, SyncSender<Reply>>,
    /// Time since a request was given up, if the server gave no sign of life from then on.
    owes_since: Option<Instant>,
    pub(crate) capabilities: Capabilities,
    pub(crate) edits: EditPolicy,
    /// Exit, once the process has ended and the last event is out.
    pub(crate) exit: Option<Exit>,
}

#[derive(Default)]
enum Phase {
    #[default]
    Running,
    /// We have said farewell, or given it up.
    Closing,
    Broken(Broken),
}

impl State {
    pub(crate) fn new(edits: EditPolicy) -> Self {
        Self { edits, ..Self::default() }
    }

    /// A new request's number, never used before, and where its reply will come.
    pub(crate) fn register(&mut self, who: Who) -> Result<(i64, Receiver<Reply>), Broken> {
        if let Some(reason) = self.refusal(who) {
            return Err(reason);
        }
        let (sender, receiver) = sync_channel(1);
        self.last_id += 1;
        self.pending.insert(self.last_id, sender);
        Ok((self.last_id, receiver))
    }

    /// Returns whether anyone waited for it.
    pub(crate) fn resolve(&mut self, id: i64, answer: Answer) -> bool {
        self.is_alive();
        // The channel has room for the only reply; its receiver may be gone.
        self.pending.remove(&id).is_some_and(|it| it.try_send(Ok(answer)).is_ok())
    }

    /// Returns whether it still waited.
    pub(crate) fn forget(&mut self, id: i64) -> bool {
        self.pending.remove(&id).is_some()
    }

    /// Forgets a request that the server still has to answer; returns whether it still waited.
    pub(crate) fn give_up(&mut self, id: i64, now: Instant) -> bool {
        let was_waiting = self.forget(id);
        if was_waiting {
            self.owes_since.get_or_insert(now);
        }
        was_waiting
    }

    /// Notes that the server works, whatever it owes.
    pub(crate) fn is_alive(&mut self) {
        self.owes_since = None;
    }

    pub(crate) fn owes_since(&self) -> Option<Instant> {
        self.owes_since
    }

    /// Returns the reason for which no more may be sent, if any.
    pub(crate) fn refusal(&self, who: Who) -> Option<Broken> {
        match (&self.phase, who) {
            (Phase::Running, _) | (Phase::Closing, Who::Farewell) => None,
            (Phase::Closing, Who::Caller) => Some(Broken::Closed),
            (Phase::Broken(reason), _) => Some(reason.clone()),
        }
    }

    /// Ends all waits; returns whether this was the first to say so.
    pub(crate) fn close(&mut self) -> bool {
        let is_first = matches!(self.phase, Phase::Running);
        if is_first {
            self.phase = Phase::Closing;
            self.reply_to_all(&Broken::Closed);
        }
        is_first
    }

    /// Ends all waits. Returns the reason, which is the first that was given.
    pub(crate) fn break_off(&mut self, reason: Broken) -> Broken {
        let reason = match &self.phase {
            Phase::Running => reason,
            Phase::Closing => Broken::Closed,
            Phase::Broken(first) => first.clone(),
        };
        self.phase = Phase::Broken(reason.clone());
        self.reply_to_all(&reason);
        reason
    }

    fn reply_to_all(&mut self, reason: &Broken) {
        for (_, reply) in self.pending.drain() {
            let _ = reply.try_send(Err(reason.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(code: i32) -> Broken {
        Broken::Died { exit: Exit::Code(code), stderr: Vec::new() }
    }

    #[test]
    fn each_request_is_answered_once() {
        let mut state = State::default();
        let (first, reply) = state.register(Who::Caller).unwrap();
        let (second, _gone) = state.register(Who::Caller).unwrap();
        assert_ne!(first, second);
        assert!(state.resolve(first, Answer::Nothing));
        assert!(!state.resolve(first, Answer::Nothing));
        assert!(!state.resolve(99, Answer::Nothing));
        assert!(state.forget(second) && !state.forget(second) && !state.resolve(second, Answer::Nothing));
        assert!(matches!(reply.recv().unwrap(), Ok(Answer::Nothing)));
    }

    #[test]
    fn what_was_given_up_is_owed() {
        let (mut state, start) = (State::default(), Instant::now());
        let later = start + std::time::Duration::from_secs(1);
        let mut register = || state.register(Who::Caller).unwrap();
        let [(first, _), (second, _), (third, _)] = [register(), register(), register()];
        assert!(!state.give_up(99, start) && state.owes_since().is_none());
        assert!(state.give_up(first, start) && state.give_up(second, later));
        assert_eq!(state.owes_since(), Some(start));
        state.resolve(third, Answer::Nothing);
        assert_eq!(state.owes_since(), None, "it is alive");
    }

    #[test]
    fn whoever_waits_is_told_the_first_reason() {
        let mut state = State::default();
        let (_, reply) = state.register(Who::Caller).unwrap();
        assert_eq!(state.break_off(died(1)), died(1));
        assert_eq!(state.break_off(died(2)), died(1));
        assert_eq!(reply.recv().unwrap().unwrap_err(), died(1));
        assert_eq!(state.register(Who::Caller).unwrap_err(), died(1));
    }

    #[test]
    fn after_the_farewell_only_the_farewell_goes_on() {
        let mut state = State::default();
        let (_, reply) = state.register(Who::Caller).unwrap();
        assert!(state.close() && !state.close());
        assert_eq!(reply.recv().unwrap().unwrap_err(), Broken::Closed);
        assert_eq!(state.register(Who::Caller).unwrap_err(), Broken::Closed);
        let (_, farewell) = state.register(Who::Farewell).unwrap();
        assert_eq!(state.break_off(died(1)), Broken::Closed);
        assert_eq!(farewell.recv().unwrap().unwrap_err(), Broken::Closed);
    }
}
