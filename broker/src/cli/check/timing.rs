//! `--timing`: where the time of a check went.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use check_engine::AnswerTime;
use config::root::WorkspaceRoot;
use lint::printable;

use crate::console::Messages;

/// Number of files that are listed.
const SLOWEST: usize = 10;

/// The answers of one linter.
#[derive(Default)]
struct Row {
    answers: u32,
    total: Duration,
    longest: Duration,
}

/// Prints the times of answers, of which the longest come first.
pub(super) fn show(all: &[AnswerTime], workspace: &WorkspaceRoot, messages: &Messages) {
    table(all, workspace).lines().for_each(|it| messages.line(it));
}

/// Linters and files by their time, in milliseconds.
fn table(all: &[AnswerTime], workspace: &WorkspaceRoot) -> String {
    if all.is_empty() {
        return "Nothing was computed: all answers were kept from earlier runs.\n".to_owned();
    }
    let mut linters: BTreeMap<&str, Row> = BTreeMap::new();
    for AnswerTime { linter, duration, .. } in all {
        let row = linters.entry(linter).or_default();
        row.answers += 1;
        row.total += *duration;
        row.longest = row.longest.max(*duration);
    }
    let mut linters: Vec<_> = linters.into_iter().collect();
    linters.sort_by_key(|(_, row)| std::cmp::Reverse(row.total));
    let mut text =
        format!("{:<24} {:>9} {:>11} {:>9} {:>9}\n", "linter", "computed", "total ms", "mean", "longest");
    for (name, Row { answers, total, longest }) in linters {
        let (total, longest) = (millis(total), millis(longest));
        let mean = total / f64::from(answers);
        let _infallible = writeln!(text, "{name:<24} {answers:>9} {total:>11.1} {mean:>9.2} {longest:>9.1}");
    }
    text.push_str("slowest files\n");
    for AnswerTime { linter, path, duration } in all.iter().take(SLOWEST) {
        let path = workspace.display(path);
        let _infallible = writeln!(text, "{:>11.1} ms  {linter}  {}", millis(*duration), printable(&path));
    }
    text
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
