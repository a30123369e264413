//! Actor of one server for many branches: a thread that owns it, moves it from one branch's state to the next, and
//! takes as an answer only what was asked after the move.
//!
//! With a server that publishes at its own time, the thread goes on until all diagnostics that the move brings about
//! have arrived, also when no request waits for them any more. Does not choose between servers, and keeps no answers.

mod convert;
mod crashes;
mod hold;
mod open_documents;
mod process;
mod query;
mod queue;
mod recycle;
mod serve;
mod target;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use imports::Imports;
use lint::{Cancel, Completeness, Lease, Outcome};
use lsp_client::{Launch, Limits, RequestError, TICK, uri::Uris};
use overlay::{ContentHash, View, WorkspacePath};
use parking_lot::Mutex;

pub(crate) use self::crashes::Crashes;
use self::{
    convert::{DocumentContext, Report, diagnostics},
    crashes::CrashKey,
    hold::Hold,
    process::{AskError, Process, Settled},
    queue::Queue,
    recycle::ProcessUsage,
    serve::BESIDE,
    target::TargetState,
};
pub use self::{queue::Priority, recycle::RecyclePolicy};
use crate::{
    Profile, Question, RecycleReason, ServerReply,
    registry::{Load, ServerRegistry, StatusHandle},
    watched::Watched,
};

/// Parameters of a server: its profile, its launch and its limits.
#[derive(Clone)]
pub struct Setup {
    pub profile: Profile,
    pub root: PathBuf,
    /// Disk that the server reads itself.
    pub disk: Arc<dyn View>,
    pub launch: Launch,
    pub limits: Limits,
    /// Pause after the first failure; doubles with each that follows.
    pub pause: Duration,
}

/// The handle of a server and its thread. When it is dropped, the server is asked to end.
pub struct Server {
    messages: Sender<Message>,
    stop: Cancel,
    setup: Arc<Setup>,
    status: Arc<StatusHandle>,
    watched: Arc<Watched>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// Change of a file on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskChange {
    Created,
    Changed,
    Deleted,
}

enum Message {
    Ask(Box<Request>),
    DiskChanged(Vec<(WorkspacePath, DiskChange)>),
    /// Starts it, and answers with the name and version that it has.
    Start {
        deadline: Instant,
        cancel: Cancel,
        reply: Sender<Result<Option<String>, String>>,
    },
    /// Request to end an idle process, since another one needs its memory.
    EndIfIdle,
    /// Request to end the server for good.
    Stop {
        deadline: Instant,
    },
}

struct Request {
    view: Arc<dyn View>,
    task: Task,
    deadline: Instant,
    cancel: Cancel,
    /// Target state at the time of the request, without the units, only to group requests. The disk may change before
    /// the answer.
    state: TargetState,
    state_key: ContentHash,
}

/// Task in a state, and the channel for its answers.
enum Task {
    Check { units: Vec<WorkspacePath>, priority: Priority, answers: Sender<(usize, Outcome)> },
    Query { question: Question, priority: Priority, reply: Sender<ServerReply> },
}

impl Server {
    /// The server itself is started when it is first needed.
    pub fn new(setup: Setup) -> Self {
        Self::on(&ServerRegistry::new(u64::MAX), setup, RecyclePolicy::default(), Arc::default(), 0)
    }

    /// `crashes` are also those of other processes of the same server.
    /// `known_crashes` are counted as its own.
    pub(crate) fn on(
        registry: &Arc<ServerRegistry>,
        setup: Setup,
        recycle: RecyclePolicy,
        crashes: Arc<Crashes>,
        known_crashes: u64,
    ) -> Self {
        let (messages, receiver) = channel();
        let (stop, setup) = (Cancel::default(), Arc::new(setup));
        let sender = messages.clone();
        let end = move || drop(sender.send(Message::EndIfIdle));
        let Setup { profile, root, .. } = &*setup;
        let status = Arc::new(registry.register(&profile.tool.name, root.clone(), profile.memory, end));
        status.set_crashes(known_crashes);
        let watched = Arc::<Watched>::default();
        let process =
            Process::new(Arc::clone(&setup), stop.clone(), Arc::clone(&status), Arc::clone(&watched));
        let actor = Actor::new(Arc::clone(&setup), recycle, crashes, Arc::clone(&status), process);
        let thread = Mutex::new(Some(thread::spawn(move || actor.run(&receiver))));
        Self { messages, stop, setup, status, watched, thread }
    }

    /// Starts the server, and returns the name and version that it reports, if any.
    pub fn start(&self, deadline: Instant, cancel: &Cancel) -> Result<Option<String>, String> {
        let _line = self.status.in_line();
        let (reply, receiver) = channel();
        let given_up = Cancel::default();
        self.send(Message::Start { deadline, cancel: given_up.clone(), reply });
        let started = self.receive(&receiver, deadline + SLACK, cancel);
        given_up.cancel();
        started.unwrap_or_else(|| Err("the server has not started in time".to_owned()))
    }

    /// Starts the process, and does not wait for it.
    pub(crate) fn warm_up(&self) {
        let (reply, _) = channel();
        let deadline = Instant::now() + self.setup.limits.start;
        self.send(Message::Start { deadline, cancel: Cancel::default(), reply });
    }

    /// Tells the server what it does not notice itself, before anything that is asked from now on.
    pub fn disk_changed(&self, changes: Vec<(WorkspacePath, DiskChange)>) {
        self.send(Message::DiskChanged(changes));
    }

    /// Looks whether something changed of what the server says it watches outside of the workspace. If so, its
    /// answers are not given again, and it is started again before the next question.
    pub fn look_outside(&self) {
        self.watched.look();
    }

    /// Hands over one outcome for each unit of the view, by its index, exactly once. When the deadline is
    /// over, what is not there yet is pending. What is asked at the same time is answered in an order that
    /// moves the server about little.
    pub fn ask(
        &self,
        view: Arc<dyn View>,
        units: Vec<WorkspacePath>,
        priority: Priority,
        deadline: Instant,
        cancel: &Cancel,
        answer: &mut dyn FnMut(usize, Outcome),
    ) {
        let _line = self.status.in_line();
        let mut is_open = vec![true; units.len()];
        let (answers, receiver) = channel();
        let given_up = self.put(view, Task::Check { units, priority, answers }, deadline, cancel);
        while is_open.contains(&true) {
            let Some((index, outcome)) = self.receive(&receiver, deadline + SLACK, cancel) else { break };
            if std::mem::take(&mut is_open[index]) {
                answer(index, outcome);
            }
        }
        given_up.cancel();
        for index in (0..is_open.len()).filter(|it| is_open[*it]) {
            answer(index, Outcome::without_findings(self.why_not()));
        }
    }

    /// Puts it in line, if it is not given up already. Returns what gives it up, also when the server stops.
    fn put(&self, view: Arc<dyn View>, task: Task, deadline: Instant, by_caller: &Cancel) -> Cancel {
        let cancel = Cancel::default();
        let given_up = cancel.clone();
        if by_caller.is_cancelled() {
            return given_up;
        }
        let state = TargetState::of(&*view, &*self.setup.disk, &self.setup.profile, &[]);
        let state_key = state.key(&[]);
        self.send(Message::Ask(Box::new(Request { view, task, deadline, cancel, state, state_key })));
        given_up
    }

    /// Load of the server, for a question that is asked now.
    pub(crate) fn load(&self) -> Load {
        self.status.load()
    }

    /// Name and version that the server reported at its last start.
    pub(crate) fn version(&self) -> Option<String> {
        self.status.version()
    }

    pub(crate) fn has_process(&self) -> bool {
        self.status.has_process()
    }

    /// Asks it to end, and has it killed when the deadline is over. Does not wait for it.
    pub(crate) fn stop(&self, deadline: Instant) {
        self.stop.cancel();
        self.send(Message::Stop { deadline });
    }

    /// Waits for the end of one that was stopped.
    pub(crate) fn join(&self) {
        let thread = self.thread.lock().take();
        let _ = thread.map(thread::JoinHandle::join);
    }

    fn why_not(&self) -> Completeness {
        let thread = self.thread.lock();
        if self.stop.is_cancelled() {
            Completeness::Failed(RequestError::Gone.to_string())
        } else if thread.as_ref().is_none_or(thread::JoinHandle::is_finished) {
            Completeness::Failed("the server's thread has ended".to_owned())
        } else {
            let late = || RequestError::TimedOut.to_string();
            Completeness::Pending(self.status.why_late().unwrap_or_else(late))
        }
    }

    fn send(&self, message: Message) {
        // If the thread is gone, so are the senders in the message, and who waits for them notices.
        let _ = self.messages.send(message);
    }

    /// `None` if nothing comes in time, or will ever.
    fn receive<T>(&self, receiver: &Receiver<T>, deadline: Instant, cancel: &Cancel) -> Option<T> {
        let is_over = || cancel.is_cancelled() || self.stop.is_cancelled();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(TICK.min(left)) {
                Ok(it) => return Some(it),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if left.is_zero() || is_over() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Time that a server has to exit after it was asked to.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Time after the deadline in which the thread's own answer is still taken.
const SLACK: Duration = Duration::from_millis(250);

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Instant::now() + SHUTDOWN_TIMEOUT);
        self.join();
    }
}

struct Actor {
    setup: Arc<Setup>,
    recycle: RecyclePolicy,
    uris: Uris,
    status: Arc<StatusHandle>,
    process: Process,
    queue: Queue<Box<Request>>,
    hold: Hold,
    /// The state of the process, as far as it is known.
    present: TargetState,
    present_key: Option<ContentHash>,
    /// Other open documents, since they are asked about in this turn.
    beside: BTreeSet<WorkspacePath>,
    usage: ProcessUsage,
    /// Reason for which the process is to be ended as soon as no request waits.
    recycle_reason: Option<RecycleReason>,
    /// Time since which nothing was asked.
    idle_since: Instant,
    /// Key of the request during which the server stopped answering.
    owed: Option<CrashKey>,
    crashes: Arc<Crashes>,
    imports: Imports,
}

impl Actor {
    fn new(
        setup: Arc<Setup>,
        recycle: RecyclePolicy,
        crashes: Arc<Crashes>,
        status: Arc<StatusHandle>,
        process: Process,
    ) -> Self {
        let uris = Uris::new(&setup.root);
        Self {
            setup,
            recycle,
            uris,
            status,
            process,
            queue: Queue::new(),
            hold: Hold::default(),
            present: TargetState::default(),
            present_key: None,
            beside: BTreeSet::new(),
            usage: ProcessUsage::default(),
            recycle_reason: None,
            idle_since: Instant::now(),
            owed: None,
            crashes,
            imports: Imports::default(),
        }
    }

    fn outcomes(
        &mut self,
        request: &Request,
        units: &[WorkspacePath],
        target: &TargetState,
    ) -> Result<Vec<Outcome>, AskError> {
        let Request { view, deadline, cancel, .. } = request;
        let unreadable = self.process.switch(target, &**view)?;
        let is_there =
            |process: &Process, it: &WorkspacePath| process.is_open(it) && !target.gone.contains(it);
        let readable: Vec<_> = units.iter().filter(|it| is_there(&self.process, it)).collect();
        let (reports, settled) = self.process.ask(&readable, *deadline, cancel)?;
        let aborted = self.aborted(request, &readable, &reports)?;
        let mut reports = reports.into_iter();
        let mut outcome = |unit: &WorkspacePath| match unreadable.get(unit) {
            Some(reason) => Outcome::without_findings(Completeness::Failed(reason.clone())),
            None if !is_there(&self.process, unit) => {
                Outcome::without_findings(Completeness::Failed("there is no such file".to_owned()))
            }
            None => {
                let report = reports.next().unwrap_or(Err(RequestError::TimedOut));
                let others = unreadable.first_key_value().map(|(path, why)| format!("`{path}`: {why}"));
                let profile = &self.setup.profile;
                let unseen = others.or_else(|| target.unseen_by(profile, unit));
                let mut outcome = self.outcome(unit, &**view, report, &settled, unseen);
                let (text, _) = self.process.document(unit);
                outcome.aborted = unit.parent().is_some_and(|it| aborted.contains(&it));
                outcome.diagnostics.retain(|it| !target.is_seen_wrongly(profile, unit, text, it));
                let n_found = outcome.diagnostics.len();
                outcome.diagnostics.retain(|it| !target.is_of_no_module(profile, unit, text, it));
                if outcome.diagnostics.len() < n_found && outcome.completeness == Completeness::Complete {
                    let name = &profile.tool.name;
                    let why =
                        format!("`{unit}` is not on the disk, and {name} does not find its relative imports");
                    outcome.completeness = Completeness::Partial(why);
                }
                outcome
            }
        };
        Ok(units.iter().map(&mut outcome).collect())
    }

    /// The folders of these units where something keeps the server's analyses from running, in any of their files.
    fn aborted(
        &mut self,
        request: &Request,
        units: &[&WorkspacePath],
        reports: &[Result<Report, RequestError>],
    ) -> Result<BTreeSet<WorkspacePath>, AskError> {
        let profile = &Arc::clone(&self.setup).profile;
        let mut aborted = BTreeSet::new();
        if profile.analyzes_after.is_empty() || !profile.barrier.is_pull() {
            return Ok(aborted);
        }
        let aborts = |it: &Result<Report, RequestError>| it.as_ref().is_ok_and(|it| it.aborts(profile));
        let all = units.iter().zip(reports);
        aborted.extend(all.filter(|it| aborts(it.1)).filter_map(|it| it.0.parent()));
        let folders: BTreeSet<_> = units.iter().filter_map(|it| it.parent()).collect();
        for folder in folders.iter().filter(|it| !aborted.contains(*it)).cloned().collect::<Vec<_>>() {
            let names = request.view.list(&folder).map(|it| it.entries).unwrap_or_default();
            let others = names.iter().map(|it| folder.child(&it.name));
            let others: Vec<_> =
                others.filter(|it| profile.covers(it) && !units.contains(&it)).take(BESIDE).collect();
            let others: Vec<_> = others.iter().collect();
            let (reports, _) = self.process.ask(&others, request.deadline, &request.cancel)?;
            if reports.iter().any(aborts) {
                aborted.insert(folder);
            }
        }
        Ok(aborted)
    }

    /// Outcome for an open document.
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
            Ok(report) if report.leaves_out(&self.setup.profile) => (Vec::new(), Completeness::Excluded),
            Ok(Report::Full { items }) => {
                let (uris, encoding) = (&self.uris, self.process.encoding());
                let profile = &self.setup.profile;
                let context = DocumentContext { path: unit, text, encoding, uris, view, profile };
                let reason = settled.reason().or(unseen);
                (diagnostics(items, &context), reason.map_or(Completeness::Complete, Completeness::Partial))
            }
            Ok(Report::Unchanged) => {
                let reason = "the server says that an answer is unchanged which it was not told";
                (Vec::new(), Completeness::Failed(reason.to_owned()))
            }
            Err(error) => (Vec::new(), AskError::Request(error).completeness()),
        };
        let lease = Some(Lease::new(self.process.lease(), self.setup.profile.longest_reuse()));
        Outcome { diagnostics: found, content: Some(hash), lease, ..Outcome::without_findings(completeness) }
    }
}
