//! Cost of one task. Run by hand: `cargo test --release -p scheduler --test throughput -- --ignored --nocapture`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and stops at the unexpected"
)]

use std::{thread, time::Instant};

use scheduler::{BranchKey, Class, Options, Scheduler, Task, WorkKey};

const THREADS: u64 = 32;
const TASKS: u64 = 10_000;

fn empty(branch: u64, number: u64, key: Option<WorkKey>) -> Task<()> {
    let (class, branch) = (Class::Agent, BranchKey(branch));
    Task { class, branch, revision: number, key, supersede: false, memory: 0, run: Box::new(|_| ()) }
}

/// Each thread submits a task, waits for it, and submits the next.
fn one_by_one(name: &str, key: impl Fn(u64, u64) -> Option<WorkKey> + Sync) {
    let scheduler = Scheduler::new(Options::default()).unwrap();
    let begin = Instant::now();
    thread::scope(|scope| {
        for branch in 0..THREADS {
            let (scheduler, key) = (&scheduler, &key);
            scope.spawn(move || {
                for number in 0..TASKS {
                    let _ = scheduler.submit(empty(branch, number, key(branch, number))).unwrap().wait();
                }
            });
        }
    });
    report(name, begin, &scheduler);
}

/// Each thread submits its tasks in batches of 100, and waits for each batch.
fn in_batches() {
    let scheduler = Scheduler::new(Options::default()).unwrap();
    let begin = Instant::now();
    thread::scope(|scope| {
        for branch in 0..THREADS {
            let scheduler = &scheduler;
            scope.spawn(move || {
                for batch in 0..TASKS / 100 {
                    let tasks = (0..100).map(|it| empty(branch, batch * 100 + it, None)).collect();
                    scheduler.submit_all(tasks).unwrap().into_iter().for_each(|it| drop(it.wait()));
                }
            });
        }
    });
    report("batches of 100", begin, &scheduler);
}

fn report(name: &str, begin: Instant, scheduler: &Scheduler<()>) {
    let rate = (THREADS * TASKS) as f64 / begin.elapsed().as_secs_f64();
    println!("{name}: {rate:.0} tasks/s from {THREADS} threads; {:?}", scheduler.stats().agent);
}

#[test]
#[ignore = "a measurement"]
fn throughput() {
    one_by_one("one by one", |_, _| None);
    one_by_one("one by one, keyed", |branch, number| {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&branch.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        Some(WorkKey(key))
    });
    one_by_one("one by one, one key for all", |_, _| Some(WorkKey([0; 32])));
    in_batches();
}
