//! The threads around the state: they take work, run it outside the lock and hand out what came of it.

mod ticket;

use std::{
    any::Any,
    collections::HashSet,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread::{self, ThreadId},
    time::Instant,
};

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use crate::{
    BranchKey, End, Finished, Options, Rejected, Run, Stats, Task,
    state::{Answer, Early, Effects, FlightId, Request, Start, State, TicketId, Worker},
};

pub use self::ticket::Ticket;

type Reply<T> = oneshot::Sender<Finished<T>>;
type Asked<T> = Request<Run<T>, Reply<T>>;
type Work<T> = Start<Run<T>>;
type Answers<T> = Vec<Answer<Reply<T>>>;

/// State that the handle, the tickets and the threads share.
pub(crate) struct Shared<T> {
    inner: Mutex<Inner<T>>,
    /// Condition variables that idle threads wait on, by the tasks they may take.
    sleepers: [Condvar; 2],
    ended: Condvar,
}

struct Inner<T> {
    state: State<Run<T>, Reply<T>>,
    /// Number of idle threads, by the tasks they may take.
    idle: [usize; 2],
    threads: HashSet<ThreadId>,
}

impl<T> Shared<T> {
    pub(crate) fn withdraw(&self, ticket: TicketId) {
        self.change(|state, _| state.withdraw(ticket));
    }

    pub(crate) fn supersede(&self, branch: BranchKey, revision: u64) {
        self.change(|state, now| state.supersede(branch, revision, now));
    }

    pub(crate) fn cancel_branch(&self, branch: BranchKey) {
        self.change(|state, now| state.cancel_branch(branch, now));
    }

    /// Lets the threads end: at once, or when what they run has ended by itself.
    pub(crate) fn close(&self, cancel_running: bool) {
        self.change(|state, now| state.close(cancel_running, now));
        self.sleepers.iter().for_each(|it| _ = it.notify_all());
    }

    pub(crate) fn stats(&self) -> Stats {
        self.inner.lock().state.stats()
    }

    /// Returns when all threads have ended; at once if this is one of them.
    pub(crate) fn wait_for_threads(&self) {
        let mut inner = self.inner.lock();
        if !inner.threads.contains(&thread::current().id()) {
            self.ended.wait_while(&mut inner, |it| !it.threads.is_empty());
        }
    }

    fn change(
        &self,
        change: impl FnOnce(&mut State<Run<T>, Reply<T>>, Instant) -> Effects<Run<T>, Reply<T>>,
    ) {
        let now = Instant::now();
        let mut inner = self.inner.lock();
        let effects = change(&mut inner.state, now);
        self.wake(&inner, now);
        drop(inner);
        carry_out(effects);
    }

    /// Wakes a thread if there is something for it. A thread that takes work calls this again, so one is enough.
    fn wake(&self, inner: &Inner<T>, now: Instant) {
        for worker in [Worker::Interactive, Worker::Any] {
            if inner.idle[worker as usize] > 0 && inner.state.has_work_for(worker, now) {
                self.sleepers[worker as usize].notify_one();
            }
        }
    }

    /// The next work for a thread, or nothing if it is to end.
    fn take(&self, worker: Worker) -> Option<Work<T>> {
        let mut inner = self.inner.lock();
        loop {
            let now = Instant::now();
            if let Some(start) = inner.state.next(worker, now) {
                self.wake(&inner, now);
                return Some(start);
            }
            if inner.state.is_closed() {
                return None;
            }
            inner.idle[worker as usize] += 1;
            self.sleepers[worker as usize].wait(&mut inner);
            inner.idle[worker as usize] -= 1;
        }
    }

    /// Reports an end and takes what comes next, if there is something already.
    fn end(&self, id: FlightId, worker: Worker, panicked: bool) -> (Answers<T>, Option<Work<T>>) {
        let now = Instant::now();
        let mut inner = self.inner.lock();
        let answers = inner.state.finished(id, panicked, now);
        let next = inner.state.next(worker, now);
        self.wake(&inner, now);
        (answers, next)
    }
}

impl<T: Clone + Send + 'static> Shared<T> {
    pub(crate) fn start(options: &Options) -> io::Result<Arc<Self>> {
        let state = State::new(options.clone());
        let inner = Inner { state, idle: [0; 2], threads: HashSet::new() };
        let (sleepers, ended) = Default::default();
        let shared = Arc::new(Self { inner: Mutex::new(inner), sleepers, ended });
        let any = (0..options.workers).map(|_| (Worker::Any, options.nice));
        let interactive = (0..options.interactive_workers).map(|_| (Worker::Interactive, 0));
        for (worker, nice) in any.chain(interactive) {
            shared.spawn(worker, nice, options.stack).inspect_err(|_| shared.close(false))?;
        }
        Ok(shared)
    }

    fn spawn(self: &Arc<Self>, worker: Worker, nice: i32, stack: usize) -> io::Result<()> {
        let shared = Arc::clone(self);
        let name = match worker {
            Worker::Any => "worker",
            Worker::Interactive => "worker-interact",
        };
        let mut inner = self.inner.lock(); // until the thread is registered, so that it cannot end before
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(stack);
        let thread = builder.spawn(move || shared.work(worker, nice))?;
        inner.threads.insert(thread.thread().id());
        Ok(())
    }

    fn work(&self, worker: Worker, nice: i32) {
        let _leave = Leave(self);
        be_nice(nice);
        let mut next = self.take(worker);
        while let Some(Start { id, work, cancel }) = next {
            let result = catch_unwind(AssertUnwindSafe(|| work(&cancel)));
            let (answers, following) = self.end(id, worker, result.is_err());
            // Results are cloned and dropped here, which is code of others, too.
            let _: thread::Result<()> = catch_unwind(AssertUnwindSafe(|| hand_out(answers, result)));
            next = following.or_else(|| self.take(worker));
        }
    }

    /// All of these, or none.
    pub(crate) fn submit(self: &Arc<Self>, tasks: Vec<Task<T>>) -> Result<Vec<Ticket<T>>, Rejected> {
        let (requests, receivers): (Vec<_>, Vec<_>) = tasks.into_iter().map(request).unzip();
        let now = Instant::now();
        let mut inner = self.inner.lock();
        if let Err(rejected) = inner.state.admit(&requests) {
            drop(inner); // before the closures
            return Err(rejected);
        }
        let (tickets, effects) = inner.state.accept(requests, now);
        self.wake(&inner, now);
        drop(inner);
        carry_out(effects);
        let tickets = tickets.into_iter().zip(receivers);
        Ok(tickets.map(|(id, answer)| Ticket::new(id, Arc::clone(self), answer)).collect())
    }
}

/// Signs a thread off, however it ends.
struct Leave<'a, T>(&'a Shared<T>);

impl<T> Drop for Leave<'_, T> {
    fn drop(&mut self) {
        self.0.inner.lock().threads.remove(&thread::current().id());
        self.0.ended.notify_all();
    }
}

fn request<T>(task: Task<T>) -> (Asked<T>, oneshot::Receiver<Finished<T>>) {
    let (reply, receiver) = oneshot::channel();
    let Task { class, branch, revision, key, supersede, memory, run } = task;
    (Request { class, branch, revision, key, supersede, memory, work: run, reply }, receiver)
}

/// Answers come first: dropping a closure is code of others, which may take long or panic.
fn carry_out<T>(effects: Effects<Run<T>, Reply<T>>) {
    for (answer, why) in effects.answers {
        let end = match why {
            Early::Superseded => End::Superseded,
            Early::Cancelled => End::Cancelled,
            Early::ShuttingDown => End::ShuttingDown,
        };
        send(answer, end);
    }
    drop(effects.discarded);
}

fn hand_out<T: Clone>(mut answers: Answers<T>, result: thread::Result<T>) {
    let end = match result {
        Ok(value) => End::Done(value),
        Err(panic) => End::Panicked(message(&*panic)),
    };
    let last = answers.pop();
    for answer in answers {
        send(answer, end.clone());
    }
    if let Some(last) = last {
        send(last, end);
    }
}

fn send<T>(answer: Answer<Reply<T>>, end: End<T>) {
    let Answer { reply, queued, ran, joined } = answer;
    // Sending fails if the ticket was dropped in this moment, and then the answer is not missed.
    let _ = reply.send(Finished { end, queued, ran, joined });
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// Linux keeps a niceness per thread, and threads that a task starts inherit it.
#[cfg(target_os = "linux")]
fn be_nice(nice: i32) {
    if nice != 0 {
        let _ = rustix::process::setpriority_process(None, nice);
    }
}

#[cfg(not(target_os = "linux"))]
fn be_nice(_nice: i32) {}
