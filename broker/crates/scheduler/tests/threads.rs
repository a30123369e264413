//! The scheduler with its threads: whatever happens, each ticket gets one answer.

#![allow(clippy::unwrap_used, reason = "a test stops at what is unexpected")]

use std::{
    collections::HashSet,
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use lint::Cancel;
use scheduler::{BranchKey, Class, End, Options, Rejected, Scheduler, Task, Ticket, WorkKey};

fn options() -> Options {
    Options { workers: 2, interactive_workers: 1, ..Options::default() }
}

fn scheduler<T: Clone + Send + 'static>() -> Scheduler<T> {
    Scheduler::new(options()).unwrap()
}

fn task<T>(run: impl FnOnce(&Cancel) -> T + Send + 'static) -> Task<T> {
    let (class, branch, run) = (Class::Agent, BranchKey(1), Box::new(run));
    Task { class, branch, revision: 1, key: None, supersede: false, memory: 0, run }
}

/// Runs until it is told to stop; says when it has started.
fn endless(started: mpsc::Sender<()>) -> impl FnOnce(&Cancel) -> u64 {
    move |cancel| {
        started.send(()).unwrap();
        while !cancel.is_cancelled() {
            thread::yield_now();
        }
        1
    }
}

#[test]
fn a_ticket_is_a_future() {
    let scheduler = scheduler();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ticket = scheduler.submit(task(|_| 41)).unwrap();
    let finished = runtime.block_on(ticket);
    assert_eq!((finished.end, finished.joined), (End::Done(41), false));
    let ticket = scheduler.submit(task(|_| 42)).unwrap();
    assert_eq!(runtime.block_on(ticket.end()).end, End::Done(42));
}

#[test]
fn thousands_of_tasks_from_many_threads_end_once_each() {
    const THREADS: u64 = 8;
    const TASKS: u64 = 1500;
    let scheduler = scheduler::<u64>();
    let runs = Arc::new(AtomicUsize::new(0));
    let dropped = Arc::new(AtomicUsize::new(0));
    let answered: usize = thread::scope(|scope| {
        let submit = |seed| {
            let (scheduler, runs, dropped) = (&scheduler, &runs, &dropped);
            move || {
                let mut kept = Vec::new();
                for number in 0..TASKS {
                    let it = random_task(seed, number, runs, dropped);
                    let (value, ticket) = (it.0, scheduler.submit(it.1).unwrap());
                    if number % 5 != 2 {
                        kept.push((value, ticket));
                    }
                }
                let count = kept.len();
                kept.into_iter().for_each(|(value, ticket)| expect_value(value, ticket));
                count
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(submit(seed))).collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(answered as u64, THREADS * TASKS * 4 / 5);
    scheduler.shutdown();
    let stats = scheduler.stats();
    assert_eq!(stats.accepted, THREADS * TASKS);
    assert_eq!(stats.accepted, stats.done + stats.panicked + stats.superseded + stats.withdrawn);
    assert_eq!(stats.background.queued + stats.agent.running + stats.interactive.running, 0);
    assert!(runs.load(Ordering::SeqCst) as u64 + stats.joined <= stats.accepted);
    assert_eq!(dropped.load(Ordering::SeqCst) as u64, THREADS * TASKS, "closures that were leaked");
}

/// Counts its closures that are gone, run or not.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A task, and the value it gives. Equal keys give equal values; every 50th panics.
fn random_task(
    seed: u64,
    number: u64,
    runs: &Arc<AtomicUsize>,
    dropped: &Arc<AtomicUsize>,
) -> (Option<u64>, Task<u64>) {
    let mixed = (seed << 32 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let key = mixed.is_multiple_of(3).then_some(mixed % 40);
    let value = key.unwrap_or(1000 + number);
    let panics = key.is_none() && number.is_multiple_of(50);
    let (guard, runs) = (Guard(Arc::clone(dropped)), Arc::clone(runs));
    let run = move |_: &Cancel| {
        let _guard = guard;
        runs.fetch_add(1, Ordering::SeqCst);
        assert!(!panics, "as asked");
        value
    };
    let class = [Class::Background, Class::Agent, Class::Interactive][mixed as usize % 3];
    let branch = BranchKey(mixed % 7);
    let key = key.map(|it| WorkKey([u8::try_from(it).unwrap(); 32]));
    let (revision, supersede, memory) = (number, mixed.is_multiple_of(11), (mixed % 5) << 29);
    let task = Task { class, branch, revision, key, supersede, memory, run: Box::new(run) };
    ((!panics).then_some(value), task)
}

fn expect_value(value: Option<u64>, ticket: Ticket<u64>) {
    match (ticket.wait().end, value) {
        (End::Done(seen), Some(value)) => assert_eq!(seen, value),
        (End::Panicked(message), None) => assert_eq!(message, "as asked"),
        (End::Superseded, _) => {}
        (end, value) => panic!("{end:?} for {value:?}"),
    }
}

#[test]
fn a_dropped_ticket_stops_what_runs() {
    let scheduler = scheduler();
    let (started, has_started) = mpsc::channel();
    let ticket = scheduler.submit(task(endless(started))).unwrap();
    has_started.recv().unwrap();
    drop(ticket);
    scheduler.shutdown(); // would wait for it forever
    assert_eq!(scheduler.stats().withdrawn, 1);
}

#[test]
fn a_cancelled_branch_and_a_superseded_revision_stop_what_runs() {
    let scheduler = scheduler();
    let (started, has_started) = mpsc::channel();
    let first = scheduler.submit(task(endless(started.clone()))).unwrap();
    let second = scheduler.submit(Task { branch: BranchKey(2), ..task(endless(started)) }).unwrap();
    has_started.recv().unwrap();
    has_started.recv().unwrap();
    let queued = scheduler.submit(task(|_| 3)).unwrap();
    scheduler.cancel_branch(BranchKey(1));
    assert_eq!(first.wait().end, End::Cancelled);
    assert_eq!(queued.wait().end, End::Cancelled);
    scheduler.supersede(BranchKey(2), 1);
    assert_eq!(scheduler.stats().superseded, 0);
    scheduler.supersede(BranchKey(2), 2);
    assert_eq!(second.wait().end, End::Superseded);
}

#[test]
fn the_same_work_runs_once_for_all() {
    let scheduler = scheduler();
    let (release, is_released) = mpsc::channel::<()>();
    let first = Task { key: Some(WorkKey([1; 32])), ..task(move |_| is_released.recv().is_ok()) };
    let first = scheduler.submit(first).unwrap();
    let again = || Task { key: Some(WorkKey([1; 32])), ..task(|_| unreachable!("it is running already")) };
    let tickets = scheduler.submit_all((0..9).map(|_| again()).collect()).unwrap();
    release.send(()).unwrap();
    assert_eq!(first.wait().end, End::Done(true));
    for finished in tickets.into_iter().map(Ticket::wait) {
        assert_eq!((finished.end, finished.joined), (End::Done(true), true));
    }
}

#[test]
fn a_person_does_not_wait_for_a_batch() {
    let scheduler = scheduler();
    let barrier = Arc::new(Barrier::new(3));
    let blocked = || {
        let barrier = Arc::clone(&barrier);
        task(move |_| _ = barrier.wait())
    };
    let batch = scheduler.submit_all((0..2).map(|_| blocked()).collect()).unwrap();
    let person = scheduler.submit(Task { class: Class::Interactive, ..task(|_| ()) }).unwrap();
    assert_eq!(person.wait().end, End::Done(()));
    barrier.wait();
    batch.into_iter().for_each(|it| assert_eq!(it.wait().end, End::Done(())));
}

#[test]
fn a_panic_is_told_and_harms_nobody_else() {
    let scheduler = scheduler();
    let bad = scheduler.submit(task(|_| panic!("number {}", 5))).unwrap();
    assert_eq!(bad.wait().end, End::Panicked("number 5".to_owned()));
    let tickets = scheduler.submit_all((0..20).map(|it| task(move |_| it)).collect()).unwrap();
    let values: Vec<_> = tickets.into_iter().map(|it| it.wait().end).collect();
    assert_eq!(values, (0..20).map(End::Done).collect::<Vec<_>>());
}

/// Cannot be copied.
#[derive(Debug)]
struct Hostile;

impl Clone for Hostile {
    fn clone(&self) -> Self {
        panic!("no copies")
    }
}

#[test]
fn a_result_that_cannot_be_copied_is_a_panic() {
    let scheduler = scheduler();
    let (release, is_released) = mpsc::channel::<()>();
    let run = move |_: &Cancel| is_released.recv().map(|()| Hostile).unwrap();
    let task = || Task { key: Some(WorkKey([1; 32])), ..task(|_| Hostile) };
    let first = scheduler.submit(Task { run: Box::new(run), ..task() }).unwrap();
    let second = scheduler.submit(task()).unwrap();
    release.send(()).unwrap();
    assert!(matches!(first.wait().end, End::Panicked(_)));
    assert!(matches!(second.wait().end, End::Panicked(_)));
    let alone = Task { key: None, ..task() };
    assert!(matches!(scheduler.submit(alone).unwrap().wait().end, End::Done(Hostile)));
}

#[test]
fn shutdown_while_busy_answers_everyone() {
    let scheduler = scheduler();
    let (started, has_started) = mpsc::channel();
    let running = [0, 1].map(|_| scheduler.submit(task(endless(started.clone()))).unwrap());
    (0..2).for_each(|_| has_started.recv().unwrap());
    let queued = scheduler.submit_all((0..100).map(|it| task(move |_| it)).collect()).unwrap();
    scheduler.shutdown();
    running.into_iter().for_each(|it| assert_eq!(it.wait().end, End::Cancelled));
    queued.into_iter().for_each(|it| assert_eq!(it.wait().end, End::ShuttingDown));
    assert!(matches!(scheduler.submit(task(|_| 1)), Err(Rejected::ShuttingDown)));
    scheduler.shutdown();
}

#[test]
fn dropping_the_last_handle_lets_what_runs_end() {
    let scheduler = scheduler();
    let (started, has_started) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let running = |number| {
        task(move |_: &Cancel| {
            started.send(()).unwrap();
            is_released.recv().unwrap();
            number
        })
    };
    let first = scheduler.submit(running(1)).unwrap();
    has_started.recv().unwrap();
    drop(scheduler);
    release.send(()).unwrap();
    assert_eq!(first.wait().end, End::Done(1));
}

#[test]
fn a_task_may_shut_the_scheduler_down() {
    let scheduler = scheduler();
    let handle = scheduler.clone();
    let ticket = scheduler.submit(task(move |_| handle.shutdown())).unwrap();
    assert_eq!(ticket.wait().end, End::Cancelled);
    scheduler.shutdown();
}

#[test]
fn a_full_queue_refuses_and_recovers() {
    let scheduler =
        Scheduler::new(Options { queued: 3, interactive_workers: 0, workers: 1, ..options() }).unwrap();
    let (started, has_started) = mpsc::channel();
    let busy = scheduler.submit(task(endless(started))).unwrap();
    has_started.recv().unwrap();
    let queued = scheduler.submit_all((0..3).map(|it| task(move |_| it)).collect()).unwrap();
    let refused = scheduler.submit(task(|_| 9)).err();
    let Some(Rejected::QueueFull { class: Class::Agent, retry_after }) = refused else {
        panic!("{refused:?}")
    };
    assert!(retry_after >= Duration::from_millis(10));
    drop(busy);
    let values: HashSet<_> = queued.into_iter().map(|it| format!("{:?}", it.wait().end)).collect();
    assert_eq!(values.len(), 3);
    assert_eq!(scheduler.submit(task(|_| 9)).unwrap().wait().end, End::Done(9));
}

#[test]
#[cfg(target_os = "linux")]
fn only_threads_for_any_task_are_nice() {
    let niceness = |_: &Cancel| rustix::process::getpriority_process(None).unwrap();
    let own = niceness(&Cancel::default());
    let nice = (own + 5).min(19); // more than our own is always allowed
    let scheduler = Scheduler::new(Options { workers: 1, nice, ..options() }).unwrap();
    assert_eq!(scheduler.submit(task(niceness)).unwrap().wait().end, End::Done(nice));
    let person = Task { class: Class::Interactive, ..task(niceness) };
    assert_eq!(scheduler.submit(person).unwrap().wait().end, End::Done(own));
}
