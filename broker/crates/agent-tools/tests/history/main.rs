//! Sketches made from the history of repositories, applied to the file before, and compared with the file after.
//!
//! `BROKER_SKETCH_REPOSITORIES` names git folders, separated by colons; without it there is nothing to do. The script
//! `tests/bench/sketches` runs this; [`options`] says what else can be set. Commits, files and shapes are drawn by a
//! seed: the same one makes the same cases.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints tables of what it found, and may fail"
)]

mod adversarial;
mod change;
mod commits;
mod definitions;
mod draw;
mod file;
mod languages;
mod options;
mod random;
mod report;
mod shapes;
mod sketch;
mod verdict;

use std::{collections::BTreeMap, fs, thread};

use parking_lot::Mutex;

use self::{
    options::Options,
    report::Row,
    verdict::{Judged, Verdict, judge},
};

/// Cases of a kind that are printed.
const SHOWN: usize = 12;

/// Repositories that are read at a time.
const THREADS: usize = 2;

#[test]
#[ignore = "takes a git history: see tests/bench/sketches"]
fn sketches_from_history_are_right_or_refused() {
    let options = Options::of_environment();
    if options.repositories.is_empty() {
        println!("BROKER_SKETCH_REPOSITORIES names no repository");
        return;
    }
    let (next, results) = (Mutex::new(0..options.repositories.len()), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(at) = take(&next) {
                    let folder = &options.repositories[at];
                    let result = measure(folder, &options);
                    results.lock().insert(at, result);
                }
            });
        }
    });
    let results = results.into_inner();
    show(results.values().flat_map(|it| &it.1), &options);
    let rows: Vec<_> = results.into_values().flat_map(|it| it.0).collect();
    report::print(&rows, &options);
    let wrong = rows.iter().filter(|it| it.is_wrong()).count();
    assert!(!options.is_strict || wrong == 0, "{wrong} wrong texts");
}

fn take(next: &Mutex<std::ops::Range<usize>>) -> Option<usize> {
    next.lock().next()
}

/// Judges each case of a repository; returns a row for each, and the cases that are shown or written down.
fn measure(folder: &str, options: &Options) -> (Vec<Row>, Vec<Judged>) {
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    draw::cases(folder, options, |repository, case| {
        let judged = judge(repository, case);
        rows.push(Row::from(&judged));
        let is_shown = options.show.as_ref().is_some_and(|it| judged.is_named(it));
        let is_dumped = matches!(judged.verdict, Verdict::Wrong { .. } | Verdict::Refused { .. });
        if is_shown || options.dump.is_some() && is_dumped {
            kept.push(judged);
        }
    });
    (rows, kept)
}

fn show<'a>(kept: impl Iterator<Item = &'a Judged>, options: &Options) {
    let (mut shown, mut numbers) = (0, BTreeMap::<String, usize>::new());
    if let Some(folder) = &options.dump {
        fs::create_dir_all(folder).unwrap();
    }
    for it in kept {
        if options.show.as_ref().is_some_and(|wanted| it.is_named(wanted)) && shown < SHOWN {
            shown += 1;
            println!("=== {}", it.text());
        }
        if let Some(folder) = &options.dump {
            let shape = it.case.shape.replace([' ', ',', '/'], "_");
            let name = format!("{}-{shape}-{}", it.verdict.name(), it.case.language);
            let number = numbers.entry(name.clone()).or_default();
            *number += 1;
            fs::write(format!("{folder}/{name}-{number}.txt"), it.text()).unwrap();
        }
    }
}
