//! What a server's thread does: takes what comes, chooses what goes next, and sees to it that the process ends
//! when it is not needed, is worn, or hangs.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use lint::Outcome;
use lsp_client::{Broken, ProtocolError};
use overlay::{ContentHash, WorkspacePath};

use super::{Actor, Asked, Class, FAREWELL, Goal, Message, Request, Task, Trouble};
use crate::{Ending, ServerState};

/// Between two looks at what an idle server says.
const IDLE: Duration = Duration::from_millis(200);

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    /// By itself, or it was killed.
    Crash,
    /// We killed it, since it answered nothing any more.
    Hanging,
    /// We killed it for something else.
    Ours,
}

/// How many documents are open for others: each takes time with each that is opened or closed after it.
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

    /// Who asks where something is waits for it; a check is looked at when it is there.
    fn class(&self) -> Class {
        match self.task {
            Task::Check { .. } => Class::Background,
            Task::Query { .. } => Class::Interactive,
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
            let wait = if self.queue.is_empty() { IDLE } else { Duration::ZERO };
            match messages.recv_timeout(wait) {
                Ok(Message::Stop { deadline }) => {
                    let grace = deadline.saturating_duration_since(Instant::now());
                    return self.end(grace, Ending::Shutdown);
                }
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Disconnected) => return self.end(FAREWELL, Ending::Shutdown),
                Err(RecvTimeoutError::Timeout) => match self.next() {
                    Some(request) => self.serve(&request),
                    None => self.rest(),
                },
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Ask(it) => self.queue.push(it.state_key, it.class(), it),
            Message::DiskChanged(changes) => self.process.disk_changed(&changes),
            Message::Start { deadline, cancel, reply } => {
                self.bury(None);
                let started = self.process.start(deadline, &cancel);
                // The asker may have gone.
                let _ = reply.send(started.map_err(|it| it.to_string()));
                self.be_idle();
            }
            Message::EndIfIdle if self.queue.is_empty() => self.end(FAREWELL, Ending::Memory),
            Message::EndIfIdle | Message::Stop { .. } => {}
        }
    }

    fn next(&mut self) -> Option<Box<Request>> {
        self.queue.retain(|it| it.is_wanted());
        let present = &self.present;
        let taken = self.queue.next(|it| present.distance(&it.state))?;
        if taken.is_first {
            self.beside.clear();
        }
        Some(taken.item)
    }

    /// Nothing waits.
    fn rest(&mut self) {
        self.process.listen();
        self.bury(None);
        self.post.set_owing(self.process.owes());
        if let Some(worn) = self.worn {
            self.end(FAREWELL, Ending::Worn(worn));
        }
        let idle = self.life.idle(self.setup.profile.memory);
        if self.process.is_running() && self.idle_since.elapsed() >= idle {
            self.end(FAREWELL, Ending::Idleness);
        }
    }

    fn serve(&mut self, request: &Request) {
        // The asker may have gone.
        match &request.task {
            Task::Check { units, answers } => {
                let outcomes = self.answer(request, units);
                self.be_idle();
                outcomes.into_iter().enumerate().for_each(|it| drop(answers.send(it)));
            }
            Task::Query { question, reply } => {
                let replied = self.reply(request, question);
                self.be_idle();
                let _ = reply.send(replied);
            }
        }
        if self.queue.of_this_turn().next().is_none() {
            self.beside.clear();
        }
        let (life, post) = (&self.life, &self.post);
        if let Some(worn) = self.age.answered(life, |is_first| post.measure(is_first)) {
            // If a request waits, it goes on until the next look.
            if self.queue.is_empty() || self.worn.replace(worn).is_some() {
                self.end(FAREWELL, Ending::Worn(worn));
            }
        }
    }

    fn answer(&mut self, request: &Request, units: &[WorkspacePath]) -> Vec<Outcome> {
        let mut goal = self.goal(request, units);
        goal.note_reach(&self.imports, &*request.view, &*self.setup.disk, &self.setup.profile);
        let outcomes = self.attempt(request, goal.key(units), |it| {
            let goal = it.with_the_turn_s(request, units, goal.clone());
            it.outcomes(request, units, &goal)
        });
        let outcome = |trouble: &Trouble, unit: &WorkspacePath| Outcome {
            content: goal.documents.get(unit).copied(),
            ..Outcome::without_findings(trouble.completeness())
        };
        outcomes.unwrap_or_else(|trouble| units.iter().map(|it| outcome(&trouble, it)).collect())
    }

    /// With these documents open.
    pub(super) fn goal(&self, request: &Request, documents: &[WorkspacePath]) -> Goal {
        let setup = &self.setup;
        let mut goal = Goal::of(&*request.view, &*setup.disk, &setup.profile, documents);
        goal.forget_unnamed(&*request.view, &setup.profile);
        goal
    }

    /// With the documents open, too, that others ask about in this turn. What has crashed is asked alone.
    pub(super) fn with_the_turn_s(
        &mut self,
        request: &Request,
        documents: &[WorkspacePath],
        mut goal: Goal,
    ) -> Goal {
        if !self.crashes.has(request.state_key) {
            let waiting = self.queue.of_this_turn().flat_map(|it| it.documents());
            let all: Vec<_> = waiting.chain(documents).take(BESIDE).cloned().collect();
            // What was asked about first is probably not asked about again.
            if self.beside.len() + all.len() > BESIDE {
                self.beside.clear();
            }
            self.beside.extend(all);
            goal.open_too(&*request.view, &self.beside);
        }
        goal
    }

    /// Does the work when the process is ready for it. Once more if the process dies, which may be no fault of
    /// what was asked; or if it hangs since it did another work.
    pub(super) fn attempt<T, E: From<Trouble>>(
        &mut self,
        request: &Request,
        task: ContentHash,
        mut work: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let asked = Asked { state: request.state_key, task };
        self.bury(None);
        let mut done = self.attempt_once(request, asked, &mut work);
        let is_once_more = match self.bury(Some(asked)) {
            Some(Death::Hanging) => true,
            Some(Death::Crash) => done.is_err() && request.is_wanted(),
            Some(Death::Ours) | None => false,
        };
        if is_once_more {
            done = self.attempt_once(request, asked, &mut work);
            self.bury(Some(asked));
        }
        self.owed = if self.process.owes() { self.owed.or(Some(asked)) } else { None };
        done
    }

    fn attempt_once<T, E: From<Trouble>>(
        &mut self,
        request: &Request,
        asked: Asked,
        work: &mut impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.crashes.has_too_many(asked) {
            let name = &self.setup.profile.name;
            return Err(Trouble::Failed(format!("{name} has crashed or hung twice on this")).into());
        }
        if self.process.is_outdated() {
            self.end(FAREWELL, Ending::Outdated);
        }
        self.process.make_ready(request.deadline, &request.cancel)?;
        self.process.learn();
        self.post.set(ServerState::Busy);
        let is_switch = self.present_key.replace(asked.state) != Some(asked.state);
        self.present.clone_from(&request.state);
        self.post.asked(is_switch);
        if is_switch {
            self.age.switched();
        }
        let start = Instant::now();
        let done = work(self);
        self.process.learn();
        self.post.took(start.elapsed());
        done
    }

    fn be_idle(&mut self) {
        self.idle_since = Instant::now();
        if self.process.is_running() {
            self.post.set(ServerState::Idle);
            self.post.set_owing(self.process.owes());
        }
    }

    /// Accounts for a process that has died, and for what it died of: `asked`, unless it hung before.
    fn bury(&mut self, asked: Option<Asked>) -> Option<Death> {
        let death = Death::of(&self.process.bury()?);
        self.crashes.count();
        let culprit = if death == Death::Hanging { self.owed } else { asked };
        if let Some(asked) = culprit {
            self.crashes.remember(asked);
        }
        self.forget_process();
        Some(death)
    }

    fn end(&mut self, grace: Duration, why: Ending) {
        self.process.end(grace, why);
        self.forget_process();
    }

    fn forget_process(&mut self) {
        self.present = Goal::default();
        self.present_key = None;
        self.owed = None;
        self.beside.clear();
        self.age = self.age.next();
        self.worn = None;
    }
}
