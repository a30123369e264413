//! Many who ask at the same time, about many states, of which some kill the server and some are given up: each is
//! answered once, and never with a trace of another state.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use language_servers::{Barrier, LanguageServer, Pool, PoolLimits, Profile, RecyclePolicy, Setup};
use lint::{Cancel, Completeness, Job, Linter, Outcome, Unit};
use overlay::{Branch, View};

use crate::{
    bench::{disk, path, profile, said, setup},
    fixture::started,
    isolation::Numbers,
};

const NAMES: [&str; 4] = ["a.m", "b.m", "dir/c.m", "n.m"];
const STATES: usize = 12;
const THREADS: u64 = 8;
const ASKED: usize = 40;

/// Files that differ from the disk in the state with this number.
fn edits(state: usize) -> BTreeMap<&'static str, String> {
    let text = if state == STATES - 1 { "die".to_owned() } else { format!("text {state}") };
    let names = NAMES.iter().enumerate().filter(|(at, _)| (state + 1) >> at & 1 == 1);
    names.map(|(_, name)| (*name, text.clone())).collect()
}

fn view(state: usize) -> Arc<dyn View> {
    let mut branch = Branch::new(disk());
    for (name, text) in edits(state) {
        branch.write(&path(name), text.into()).unwrap();
    }
    Arc::new(branch.snapshot())
}

/// All that differs is named with its text, and whatever else is named has that of the disk.
#[track_caller]
fn check_state(outcome: &Outcome, state: usize) {
    let says = said(outcome);
    let mut edits = edits(state);
    for (name, text) in says.split(".m=").zip(says.split(".m=").skip(1)) {
        let name = name.rsplit(' ').next().unwrap();
        let text = text
            .rsplit_once(' ')
            .filter(|(_, it)| NAMES.contains(&&*format!("{it}.m")))
            .map_or(text, |it| it.0);
        let on_disk = format!("{}0", name.trim_start_matches("dir/"));
        let want = edits.remove(&*format!("{name}.m")).unwrap_or(on_disk);
        assert_eq!(text, want, "{name}.m in state {state}: {says}");
    }
    assert!(edits.is_empty(), "state {state} without {edits:?}: {says}");
}

fn ask(linter: &LanguageServer, state: usize, unit: &str, patience: Option<Duration>) -> Outcome {
    let unit = Unit { path: path(unit), named: path("") };
    let cancel = Cancel::default();
    let job = Job {
        view: view(state),
        units: vec![unit],
        cancel: cancel.clone(),
        timeout: Duration::from_secs(60),
        is_awaited: false,
    };
    let mut outcomes = Vec::new();
    thread::scope(|scope| {
        patience.map(|it| {
            scope.spawn(move || {
                thread::sleep(it);
                cancel.cancel();
            })
        });
        linter.check(&job, &mut |_, it| outcomes.push(it));
    });
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

fn check(limits: PoolLimits, setup: Setup) {
    let pool = Pool::new(limits);
    let linter = started(&pool, setup).unwrap();
    let n_whole = AtomicUsize::new(0);
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (linter, n_whole) = (&linter, &n_whole);
            scope.spawn(move || {
                let mut numbers = Numbers::new(seed);
                for _ in 0..ASKED {
                    let state = numbers.below(STATES);
                    let patience = Some(Duration::from_micros(numbers.below(3000) as u64))
                        .filter(|_| numbers.below(5) == 0);
                    let outcome = ask(linter, state, NAMES[numbers.below(3)], patience);
                    match &outcome.completeness {
                        Completeness::Complete => check_state(&outcome, state),
                        Completeness::Pending(_) => assert!(patience.is_some(), "{outcome:?}"),
                        _ => assert!(said(&outcome).starts_with("failed: "), "{outcome:?}"),
                    }
                    let is_whole = outcome.completeness == Completeness::Complete;
                    n_whole.fetch_add(usize::from(is_whole), Ordering::Relaxed);
                }
            });
        }
    });
    let reports = pool.status();
    let starts: u64 = reports.iter().map(|it| it.counts.starts).sum();
    println!("{} of {} whole, {starts} starts, {} processes", n_whole.into_inner(), ASKED * 8, reports.len());
    assert!(reports.iter().all(|it| it.waiting == 0), "{reports:?}");
    assert!(starts > 1, "something died");
}

#[test]
fn one_process() {
    check(PoolLimits { processes: 1, ..PoolLimits::default() }, setup(&["model"], profile()));
}

#[test]
fn two_that_are_often_started_anew() {
    let recycle =
        RecyclePolicy { switches: 20, idle_timeout_fast: Duration::ZERO, ..RecyclePolicy::default() };
    let limits = PoolLimits { wait: Duration::ZERO, recycle, ..PoolLimits::default() };
    check(limits, setup(&["model"], profile()));
}

#[test]
fn one_that_publishes() {
    let profile = Profile { barrier: Barrier::Reopen, ..profile() };
    check(PoolLimits { processes: 1, ..PoolLimits::default() }, setup(&["model", "publishes"], profile));
}
