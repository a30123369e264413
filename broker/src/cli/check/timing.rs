//! `--timing`: where the time of a check went.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use checker::{OnAnswer, Timing};
use config::root::WorkspaceRoot;
use lint::printable;
use overlay::WorkspacePath;

/// Number of files that are listed.
const SLOWEST: usize = 10;

/// The answers that were computed, each with its time.
#[derive(Default)]
pub(super) struct Timings(Mutex<Vec<(String, WorkspacePath, Duration)>>);

/// The answers of one linter.
#[derive(Default)]
struct Row {
    answers: u32,
    total: Duration,
    longest: Duration,
}

impl Timings {
    /// Collects answers in this.
    pub(super) fn collector(self: &Arc<Self>) -> OnAnswer {
        let own = Arc::clone(self);
        Arc::new(move |timing: Option<Timing<'_>>| {
            let Some(Timing { linter, path, took }) = timing else { return };
            let mut all = own.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((linter.to_owned(), path.clone(), took));
        })
    }

    /// Linters and files by their time, in milliseconds.
    pub(super) fn table(&self, workspace: &WorkspaceRoot) -> String {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if all.is_empty() {
            return "Nothing was computed: all answers were kept from earlier runs.\n".to_owned();
        }
        let mut linters: BTreeMap<&str, Row> = BTreeMap::new();
        for (linter, _, took) in &all {
            let row = linters.entry(linter).or_default();
            row.answers += 1;
            row.total += *took;
            row.longest = row.longest.max(*took);
        }
        let mut linters: Vec<_> = linters.into_iter().collect();
        linters.sort_by_key(|(_, row)| std::cmp::Reverse(row.total));
        let mut text =
            format!("{:<24} {:>9} {:>11} {:>9} {:>9}\n", "linter", "computed", "total ms", "mean", "longest");
        for (name, Row { answers, total, longest }) in linters {
            let (total, longest) = (millis(total), millis(longest));
            let mean = total / f64::from(answers);
            let _infallible =
                writeln!(text, "{name:<24} {answers:>9} {total:>11.1} {mean:>9.2} {longest:>9.1}");
        }
        all.sort_by_key(|it| std::cmp::Reverse(it.2));
        text.push_str("slowest files\n");
        for (linter, path, took) in all.iter().take(SLOWEST) {
            let path = workspace.display(path);
            let _infallible = writeln!(text, "{:>11.1} ms  {linter}  {}", millis(*took), printable(&path));
        }
        text
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
