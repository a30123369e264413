//! Checks that an answer depends on the file and on nothing else: not on what was asked before, nor on chance.

use std::collections::BTreeSet;

use lint::Outcome;
use overlay::WorkspacePath;

use crate::{
    Check, Report,
    answers::{Bench, told},
    fixtures::Set,
};

pub(crate) fn check(bench: &Bench<'_>, report: &mut Report) {
    let mut count = 0;
    for (name, set) in bench.fixtures.sets() {
        count += check_set(bench, name, set, report);
    }
    if count > 0 {
        let how = "alone, twice, in another order";
        report
            .pass(Check::Determinism, format!("the same answer for {}: {how}", lint::counted(count, "file")));
    }
}

fn check_set(bench: &Bench<'_>, name: &str, set: &Set, report: &mut Report) -> usize {
    let files: Vec<_> = bench.wanted(&set.files).collect();
    let paths: Vec<WorkspacePath> = files.iter().map(|(path, _)| path.clone()).collect();
    let alone: Vec<Outcome> =
        paths.iter().map(|it| bench.ask(set.view(), std::slice::from_ref(it)).swap_remove(0)).collect();
    let orders: [(&str, Vec<usize>); 3] = [
        ("after the files before it", (0..paths.len()).collect()),
        ("after the files behind it", (0..paths.len()).rev().collect()),
        ("a second time, after all files", (0..paths.len()).chain(0..paths.len()).collect()),
    ];
    let mut differed = BTreeSet::new();
    for (when, order) in orders {
        let asked: Vec<_> = order.iter().map(|it| paths[*it].clone()).collect();
        for (outcome, index) in bench.ask(set.view(), &asked).iter().zip(order) {
            let text = &files[index].1;
            let (alone, now) = (told(&alone[index], text), told(outcome, text));
            if alone != now && differed.insert(index) {
                let what = format!("the answer is another {when}");
                let message = format!("{what}; alone:\n{alone}then:\n{now}");
                report.fail_for(what, Check::Determinism, format!("{name}/{}", paths[index]), message);
            }
        }
    }
    paths.len()
}
