//! Sketches made from the history of repositories, applied to the file before, and compared with the file after.
//!
//! `BROKER_SKETCH_REPOSITORIES` names git folders, separated by colons; without it there is nothing to do. The script
//! `tests/bench/sketches` runs this. `BROKER_SKETCH_CASES` is how many cases there are of each language, and
//! `BROKER_SKETCH_SHOW` names a shape and a reason, such as `other words/SeveralPlaces`, whose refusals are printed.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints tables of what it found, and may fail"
)]

mod commits;
mod languages;
mod report;
mod shapes;
mod stretched;

use std::{env, fs, path::Path, time::Instant};

use agent_tools::edit;
use overlay::WorkspacePath;
use syntax::Trees;

use self::{
    commits::{Commit, Repository},
    report::{Report, Verdict},
    shapes::{Case, Random},
};

/// Which cases were wrong is printed up to this many.
const SHOWN: usize = 12;

#[test]
#[ignore = "takes a git history: see tests/bench/sketches"]
fn sketches_from_history_are_right_or_refused() {
    let Ok(folders) = env::var("BROKER_SKETCH_REPOSITORIES") else {
        println!("BROKER_SKETCH_REPOSITORIES names no repository");
        return;
    };
    let most = env::var("BROKER_SKETCH_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(150);
    let (mut report, mut random) = (Report::default(), Random::new(7));
    for folder in folders.split(':').filter(|it| !it.is_empty()) {
        let mut repository = Repository::open(folder);
        for commit in repository.commits() {
            for change in repository.changes(&commit) {
                let language = languages::of(&change.path).unwrap();
                if report.count(language.name) < most {
                    try_all(&change, &mut random, &mut report);
                }
            }
        }
    }
    report.print();
    assert_eq!(report.wrong(), 0, "wrong texts");
}

#[test]
#[ignore = "takes a folder of sources: see tests/bench/sketches"]
fn near_lines_are_taken_or_refused() {
    let Ok(folder) = env::var("BROKER_SKETCH_TREE") else {
        println!("BROKER_SKETCH_TREE names no folder");
        return;
    };
    let outcomes = stretched::outcomes(Path::new(&folder));
    outcomes.iter().for_each(|(kind, it)| println!("{kind:10} {}", it.row()));
    assert!(outcomes.iter().all(|it| it.1.wrong == 0), "wrong texts");
}

fn try_all(change: &Commit, random: &mut Random, report: &mut Report) {
    for case in shapes::all(change, random) {
        let (verdict, time) = run(&case);
        if verdict == Verdict::Wrong && report.wrong() < SHOWN {
            show(&case);
        }
        if let Verdict::Refused { reason } = &verdict
            && !case.is_ambiguous
            && env::var("BROKER_SKETCH_SHOW").is_ok_and(|it| it == format!("{}/{reason}", case.shape))
        {
            show_refused(&case);
        }
        report.add(&case, verdict, time);
    }
}

fn run(case: &Case) -> (Verdict, f64) {
    let path = WorkspacePath::new(&case.path).unwrap();
    // New ones, so that no tree is known beforehand.
    let trees = Trees::new(1 << 20);
    let start = seconds();
    let outcome = edit::apply(&path, &case.before, &case.edit, None, &trees);
    let time = seconds() - start;
    let verdict = match outcome {
        Ok(it) if it.text == case.after => Verdict::Exact,
        Ok(_) => Verdict::Wrong,
        Err(it) => Verdict::Refused { reason: reason(&it.reason) },
    };
    (verdict, time)
}

/// Time that this thread had of a processor, where the system says so; else the time of the clock.
fn seconds() -> f64 {
    thread_local!(static START: Instant = Instant::now());
    let of_system = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = of_system.and_then(|it| it.split(' ').next()?.parse::<u64>().ok());
    nanoseconds.map_or_else(|| START.with(|it| it.elapsed().as_secs_f64()), |it| it as f64 / 1e9)
}

/// The name of a reason's variant.
fn reason(reason: &edit::Reason) -> String {
    let text = format!("{reason:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

fn show(case: &Case) {
    let trees = Trees::new(1 << 20);
    let outcome =
        edit::apply(&WorkspacePath::new(&case.path).unwrap(), &case.before, &case.edit, None, &trees);
    println!("=== WRONG {} {} ({})", case.shape, case.path, case.commit);
    println!("--- edit\n{}", case.edit);
    let (wanted, got) = (&case.after, outcome.unwrap().text);
    let diff = similar::TextDiff::from_lines(wanted.as_str(), got.as_str());
    println!("--- wanted (-) and got (+)\n{}", diff.unified_diff().context_radius(3));
}

fn show_refused(case: &Case) {
    let trees = Trees::new(1 << 20);
    let path = WorkspacePath::new(&case.path).unwrap();
    let Err(refused) = edit::apply(&path, &case.before, &case.edit, None, &trees) else { return };
    println!(
        "=== REFUSED {} {} ({}): {refused}\n--- edit\n{}",
        case.shape, case.path, case.commit, case.edit
    );
    refused.readings.iter().for_each(|it| println!("--- {}\n{}", it.what, it.diff));
}
