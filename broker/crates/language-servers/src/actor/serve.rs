//! Loop of a server's thread: receives requests, chooses the next one, and ends the process when it is not needed, is
//! worn, or hangs.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use lint::Outcome;
use lsp_client::{Broken, ProtocolError};
use overlay::{ContentHash, WorkspacePath};

use super::{Actor, AskError, CrashKey, Message, Priority, Request, SHUTDOWN_TIMEOUT, TargetState, Task};
use crate::{Ending, ServerState};

/// Interval between two reads of an idle server's messages.
const IDLE: Duration = Duration::from_millis(200);

/// Cause of a process's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    /// Exit by itself, or killed from outside.
    Crash,
    /// Killed by us, since it answered nothing any more.
    Hanging,
    /// Killed by us for another reason.
    Ours,
}

/// Maximum number of documents that are open for others: each takes time with each that is opened or closed after it.
pub(super) const BESIDE: usize = 256;

impl Death {
    fn of(reason: &Broken) -> Self {
        match reason {
            Broken::Died { .. } => Self::Crash,
            Broken::Protocol(ProtocolError::Hangs { .. }) => Self::Hanging,
            Broken::Protocol(_) | Broken::Closed => Self::Ours,
        }
    }
}

impl Request {
    fn is_wanted(&self) -> bool {
        !self.cancel.is_cancelled() && Instant::now() < self.deadline
    }

    fn priority(&self) -> Priority {
        match self.task {
            Task::Check { priority, .. } | Task::Query { priority, .. } => priority,
        }
    }

    /// The documents that it names.
    fn documents(&self) -> &[WorkspacePath] {
        match &self.task {
            Task::Check { units, .. } => units,
            Task::Query { question, .. } => question.path().map_or(&[], std::slice::from_ref),
        }
    }
}

impl Actor {
    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        loop {
            // All that has come is looked at before any of it is chosen.
            let wait = self.receive_timeout();
            match messages.recv_timeout(wait) {
                Ok(Message::Stop { deadline }) => {
                    let grace = deadline.saturating_duration_since(Instant::now());
                    return self.end(grace, Ending::Shutdown);
                }
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Disconnected) => return self.end(SHUTDOWN_TIMEOUT, Ending::Shutdown),
                Err(RecvTimeoutError::Timeout) => match self.next() {
                    Some(request) => self.serve(&request),
                    None => self.rest(),
                },
            }
        }
    }

    /// Timeout of the next receive.
    fn receive_timeout(&mut self) -> Duration {
        self.forget_unwanted();
        match self.queue.has_person() {
            true => Duration::ZERO,
            false if self.queue.is_empty() => IDLE,
            false => self.hold.left(Instant::now()),
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Ask(it) => self.queue.push(it.state_key, it.priority(), it),
            Message::DiskChanged(changes) => self.process.disk_changed(&changes),
            Message::Start { deadline, cancel, reply } => {
                self.bury(None);
                let started = self.process.start(deadline, &cancel);
                // The asker may have gone.
                let _ = reply.send(started.map_err(|it| it.to_string()));
                self.be_idle();
            }
            Message::EndIfIdle if self.queue.is_empty() => self.end(SHUTDOWN_TIMEOUT, Ending::Memory),
            Message::EndIfIdle | Message::Stop { .. } => {}
        }
    }

    fn forget_unwanted(&mut self) {
        self.queue.retain(|it| it.is_wanted());
        if !self.queue.has_others() {
            self.hold.no_others();
        }
    }

    fn next(&mut self) -> Option<Box<Request>> {
        self.forget_unwanted();
        let present = &self.present;
        let first = self.hold.first(Instant::now());
        let taken = self.queue.next(first, |it| present.distance(&it.state))?;
        if taken.is_first {
            self.beside.clear();
        }
        Some(taken.item)
    }

    /// Waits while there is no request.
    fn rest(&mut self) {
        self.process.listen();
        self.bury(None);
        self.status.set_owing(self.process.owes());
        if let Some(reason) = self.recycle_reason {
            self.end(SHUTDOWN_TIMEOUT, Ending::Recycled(reason));
        }
        let idle = self.recycle.idle(self.setup.profile.memory);
        if self.process.is_running() && self.idle_since.elapsed() >= idle {
            self.end(SHUTDOWN_TIMEOUT, Ending::Idleness);
        }
    }

    fn serve(&mut self, request: &Request) {
        // The asker may have gone.
        match &request.task {
            Task::Check { units, answers, .. } => {
                let outcomes = self.answer(request, units);
                self.be_idle();
                outcomes.into_iter().enumerate().for_each(|it| drop(answers.send(it)));
            }
            Task::Query { question, reply, .. } => {
                let replied = self.reply(request, question);
                self.be_idle();
                let _ = reply.send(replied);
            }
        }
        self.hold.served(request.priority(), self.queue.has_others(), Instant::now());
        if self.queue.of_this_turn().next().is_none() {
            self.beside.clear();
        }
        let (recycle, status) = (&self.recycle, &self.status);
        if let Some(reason) = self.usage.answered(recycle, |is_first| status.measure(is_first)) {
            // If a request waits, it goes on until the next look.
            if self.queue.is_empty() || self.recycle_reason.replace(reason).is_some() {
                self.end(SHUTDOWN_TIMEOUT, Ending::Recycled(reason));
            }
        }
    }

    fn answer(&mut self, request: &Request, units: &[WorkspacePath]) -> Vec<Outcome> {
        let mut target = self.target(request, units);
        target.note_reach(&self.imports, &*request.view, &*self.setup.disk, &self.setup.profile);
        let outcomes = self.attempt(request, target.key(units), |it| {
            let target = it.with_the_turn_s(request, units, target.clone());
            it.outcomes(request, units, &target)
        });
        let outcome = |error: &AskError, unit: &WorkspacePath| Outcome {
            content: target.documents.get(unit).copied(),
            ..Outcome::without_findings(error.completeness())
        };
        outcomes.unwrap_or_else(|error| units.iter().map(|it| outcome(&error, it)).collect())
    }

    /// Target state of a request, with these documents open.
    pub(super) fn target(&self, request: &Request, documents: &[WorkspacePath]) -> TargetState {
        let setup = &self.setup;
        let mut target = TargetState::of(&*request.view, &*setup.disk, &setup.profile, documents);
        target.forget_unnamed(&*request.view, &setup.profile);
        target
    }

    /// Target state with the documents open, too, that others ask about in this turn. A request that has crashed the
    /// server is asked alone.
    pub(super) fn with_the_turn_s(
        &mut self,
        request: &Request,
        documents: &[WorkspacePath],
        mut target: TargetState,
    ) -> TargetState {
        if !self.crashes.has(request.state_key) {
            let waiting = self.queue.of_this_turn().flat_map(|it| it.documents());
            let all: Vec<_> = waiting.chain(documents).take(BESIDE).cloned().collect();
            // Documents that were asked about first are probably not asked about again.
            if self.beside.len() + all.len() > BESIDE {
                self.beside.clear();
            }
            self.beside.extend(all);
            target.open_too(&*request.view, &self.beside);
        }
        target
    }

    /// Does the work when the process is ready for it. Once more if the process dies, which may be no fault of
    /// what was asked; or if it hangs since it did another work.
    pub(super) fn attempt<T, E: From<AskError>>(
        &mut self,
        request: &Request,
        task: ContentHash,
        mut work: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let key = CrashKey { state: request.state_key, task };
        self.bury(None);
        let mut done = self.attempt_once(request, key, &mut work);
        let is_once_more = match self.bury(Some(key)) {
            Some(Death::Hanging) => true,
            Some(Death::Crash) => done.is_err() && request.is_wanted(),
            Some(Death::Ours) | None => false,
        };
        if is_once_more {
            done = self.attempt_once(request, key, &mut work);
            self.bury(Some(key));
        }
        self.owed = if self.process.owes() { self.owed.or(Some(key)) } else { None };
        done
    }

    fn attempt_once<T, E: From<AskError>>(
        &mut self,
        request: &Request,
        key: CrashKey,
        work: &mut impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.crashes.has_too_many(key) {
            let name = &self.setup.profile.tool.name;
            return Err(AskError::Failed(format!("{name} has crashed or hung twice on this")).into());
        }
        if self.process.is_outdated() {
            self.end(SHUTDOWN_TIMEOUT, Ending::Outdated);
        }
        self.process.make_ready(request.deadline, &request.cancel)?;
        self.process.learn();
        self.status.set(ServerState::Busy);
        let is_switch = self.present_key.replace(key.state) != Some(key.state);
        self.present.clone_from(&request.state);
        self.status.asked(is_switch);
        if is_switch {
            self.usage.switched();
        }
        let start = Instant::now();
        let done = work(self);
        self.process.learn();
        self.status.took(start.elapsed());
        done
    }

    fn be_idle(&mut self) {
        self.idle_since = Instant::now();
        if self.process.is_running() {
            self.status.set(ServerState::Idle);
            self.status.set_owing(self.process.owes());
        }
    }

    /// Accounts for a process that has died, and for what it died of: `key`, unless it hung before.
    fn bury(&mut self, key: Option<CrashKey>) -> Option<Death> {
        let death = Death::of(&self.process.bury()?);
        self.crashes.count();
        let culprit = if death == Death::Hanging { self.owed } else { key };
        if let Some(key) = culprit {
            self.crashes.remember(key);
        }
        self.forget_process();
        Some(death)
    }

    fn end(&mut self, grace: Duration, why: Ending) {
        self.process.end(grace, why);
        self.forget_process();
    }

    fn forget_process(&mut self) {
        self.present = TargetState::default();
        self.present_key = None;
        self.owed = None;
        self.beside.clear();
        self.usage = self.usage.next();
        self.recycle_reason = None;
    }
}
