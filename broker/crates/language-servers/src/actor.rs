//! One server for many branches: a thread that owns it, moves it from one branch's state to the next, and
//! takes for an answer only what was asked after the move.
//!
//! With a server that publishes when it likes, it goes on until all has come that the move brings about, also
//! when nobody waits for it any more. Does not choose between servers, and keeps no answers.

mod convert;
mod goal;
mod process;
mod query;
mod shown;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use lint::{Cancel, Completeness, Outcome};
use overlay::{ContentHash, View, WorkspacePath};

use self::{
    convert::{Place, Report, diagnostics},
    goal::Goal,
    process::{Process, Settled, Trouble},
    query::Query,
};
use crate::{Launch, Limits, Profile, RequestError, outbox::TICK, uri::Uris};

/// What a server is for, and how it is started.
#[derive(Clone)]
pub struct Setup {
    pub profile: Profile,
    pub root: PathBuf,
    /// What the server reads itself.
    pub disk: Arc<dyn View>,
    pub launch: Launch,
    pub limits: Limits,
    /// After the first failure; doubles with each that follows.
    pub pause: Duration,
}

/// The handle of a server and its thread. When it is dropped, the server is asked to end.
pub struct Server {
    messages: Option<Sender<Message>>,
    stop: Cancel,
    thread: Option<thread::JoinHandle<()>>,
}

/// What became of a file on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskChange {
    Created,
    Changed,
    Deleted,
}

enum Message {
    Ask(Request),
    Query(Box<Query>),
    DiskChanged(Vec<(WorkspacePath, DiskChange)>),
    /// Starts it, and answers with the name and version that it has.
    Start {
        deadline: Instant,
        cancel: Cancel,
        reply: Sender<Result<Option<String>, String>>,
    },
}

struct Request {
    view: Arc<dyn View>,
    units: Vec<WorkspacePath>,
    deadline: Instant,
    cancel: Cancel,
    answers: Sender<(usize, Outcome)>,
}

impl Server {
    /// The server itself is started when it is first needed.
    pub fn new(setup: Setup) -> Self {
        let (messages, receiver) = channel();
        let stop = Cancel::default();
        let actor = Actor::new(setup, stop.clone());
        let thread = Some(thread::spawn(move || actor.run(&receiver)));
        Self { messages: Some(messages), stop, thread }
    }

    /// What the server calls itself, once it could be started.
    pub fn start(&self, deadline: Instant, cancel: &Cancel) -> Result<Option<String>, String> {
        let (reply, receiver) = channel();
        self.send(Message::Start { deadline, cancel: cancel.clone(), reply });
        let late = || Err("the server has not started in time".to_owned());
        receive(&receiver, deadline, cancel).unwrap_or_else(late)
    }

    /// Tells the server what it does not notice itself, before anything that is asked from now on.
    pub fn disk_changed(&self, changes: Vec<(WorkspacePath, DiskChange)>) {
        self.send(Message::DiskChanged(changes));
    }

    /// Hands over one outcome for each unit of the view, by its index, exactly once. When the deadline is
    /// over, what is not there yet is pending.
    pub fn ask(
        &self,
        view: Arc<dyn View>,
        units: Vec<WorkspacePath>,
        deadline: Instant,
        cancel: &Cancel,
        answer: &mut dyn FnMut(usize, Outcome),
    ) {
        let mut is_open = vec![true; units.len()];
        let (answers, receiver) = channel();
        self.send(Message::Ask(Request { view, units, deadline, cancel: cancel.clone(), answers }));
        while is_open.contains(&true) {
            let Some((index, outcome)) = receive(&receiver, deadline + SLACK, cancel) else { break };
            if std::mem::take(&mut is_open[index]) {
                answer(index, outcome);
            }
        }
        let is_gone = self.thread.as_ref().is_none_or(thread::JoinHandle::is_finished);
        for index in (0..is_open.len()).filter(|it| is_open[*it]) {
            let completeness = match is_gone {
                true => Completeness::Failed("the server's thread has ended".to_owned()),
                false => Completeness::Pending(RequestError::TimedOut.to_string()),
            };
            answer(index, Outcome::without_findings(completeness));
        }
    }

    fn send(&self, message: Message) {
        // If the thread is gone, so are the senders in the message, and who waits for them notices.
        let _ = self.messages.as_ref().map(|it| it.send(message));
    }
}

/// How much later than its deadline the thread's own answer is still taken.
const SLACK: Duration = Duration::from_millis(250);

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
        self.messages = None;
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// `None` if nothing comes in time, or will ever.
fn receive<T>(receiver: &Receiver<T>, deadline: Instant, cancel: &Cancel) -> Option<T> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(TICK.min(left)) {
            Ok(it) => return Some(it),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if left.is_zero() || cancel.is_cancelled() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Between two looks at what an idle server says.
const IDLE: Duration = Duration::from_millis(200);

/// How often a state may take the server down with it.
const CRASHES: u32 = 2;

/// So many states are remembered that did.
const REMEMBERED: usize = 1024;

struct Actor {
    setup: Arc<Setup>,
    uris: Uris,
    process: Process,
    /// How often the server died in a state, by the state's key.
    crashes: HashMap<ContentHash, u32>,
}

impl Actor {
    fn new(setup: Setup, stop: Cancel) -> Self {
        let uris = Uris::new(&setup.root);
        let setup = Arc::new(setup);
        let process = Process::new(Arc::clone(&setup), uris.clone(), stop);
        Self { setup, uris, process, crashes: HashMap::new() }
    }

    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            match messages.recv_timeout(IDLE) {
                Ok(Message::Ask(request)) => self.answer(&request),
                Ok(Message::Query(query)) => self.reply(&query),
                Ok(Message::DiskChanged(changes)) => self.process.disk_changed(&changes),
                Ok(Message::Start { deadline, cancel, reply }) => {
                    let started = self.process.start(deadline, &cancel);
                    // Whoever asked may have gone.
                    let _ = reply.send(started.map_err(|it| it.to_string()));
                }
                Err(RecvTimeoutError::Timeout) => self.process.listen(),
                Err(RecvTimeoutError::Disconnected) => return self.process.end(),
            }
        }
    }

    fn answer(&mut self, request: &Request) {
        if request.cancel.is_cancelled() || request.deadline <= Instant::now() {
            return;
        }
        let setup = Arc::clone(&self.setup);
        let profile = &setup.profile;
        let goal = Goal::of(&*request.view, &*setup.disk, profile, &request.units);
        let key = goal.key(&request.units);
        let outcomes = match self.crashes.get(&key) {
            Some(CRASHES..) => {
                Err(Trouble::Failed(format!("{} has crashed or hung twice on this", profile.name)))
            }
            _ => self.outcomes(request, &goal),
        };
        if self.process.bury() {
            self.remember_crash(key);
        }
        let outcomes = outcomes.unwrap_or_else(|trouble| {
            let outcome = |it: &WorkspacePath| Outcome {
                content: goal.documents.get(it).copied(),
                ..Outcome::without_findings(trouble.completeness())
            };
            request.units.iter().map(outcome).collect()
        });
        for answer in outcomes.into_iter().enumerate() {
            // Whoever asked may have gone.
            let _ = request.answers.send(answer);
        }
    }

    fn outcomes(&mut self, request: &Request, goal: &Goal) -> Result<Vec<Outcome>, Trouble> {
        let Request { view, units, deadline, cancel, .. } = request;
        self.process.make_ready(*deadline, cancel)?;
        let unreadable = self.process.switch(goal, &**view, *deadline, cancel)?;
        let is_there = |process: &Process, it: &WorkspacePath| process.is_open(it) && !goal.gone.contains(it);
        let readable: Vec<_> = units.iter().filter(|it| is_there(&self.process, it)).collect();
        let (reports, settled) = self.process.ask(&readable, *deadline, cancel)?;
        let mut reports = reports.into_iter();
        let mut outcome = |unit: &WorkspacePath| match unreadable.get(unit) {
            Some(reason) => Outcome::without_findings(Completeness::Failed(reason.clone())),
            None if !is_there(&self.process, unit) => {
                Outcome::without_findings(Completeness::Failed("there is no such file".to_owned()))
            }
            None => {
                let report = reports.next().unwrap_or(Err(RequestError::TimedOut));
                let others = unreadable.first_key_value().map(|(path, why)| format!("`{path}`: {why}"));
                let unseen = others.or_else(|| goal.unseen_by(&self.setup.profile, unit));
                self.outcome(unit, &**view, report, &settled, unseen)
            }
        };
        Ok(units.iter().map(&mut outcome).collect())
    }

    /// Of a document that is open.
    fn outcome(
        &self,
        unit: &WorkspacePath,
        view: &dyn View,
        report: Result<Report, RequestError>,
        settled: &Settled,
        unseen: Option<String>,
    ) -> Outcome {
        let (text, hash) = self.process.document(unit);
        let (found, completeness) = match report {
            Ok(Report::Full { items }) => {
                let (uris, encoding) = (&self.uris, self.process.encoding());
                let place = Place { path: unit, text, encoding, uris, view };
                let reason = settled.reason().or(unseen);
                (diagnostics(items, &place), reason.map_or(Completeness::Complete, Completeness::Partial))
            }
            Ok(Report::Unchanged) => {
                let reason = "the server says that an answer is unchanged which it was not told";
                (Vec::new(), Completeness::Failed(reason.to_owned()))
            }
            Err(error) => (Vec::new(), Trouble::Request(error).completeness()),
        };
        Outcome { diagnostics: found, content: Some(hash), ..Outcome::without_findings(completeness) }
    }

    fn remember_crash(&mut self, key: ContentHash) {
        if self.crashes.len() >= REMEMBERED {
            self.crashes.clear();
        }
        *self.crashes.entry(key).or_default() += 1;
    }
}
