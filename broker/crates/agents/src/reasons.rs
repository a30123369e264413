//! Reasons why something is not known, as a model reads them: one line for each cause, with the number of files.

use std::collections::{BTreeMap, BTreeSet};

use check_engine::{IN_PARENT, Incomplete, Subject};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::limits::count;

/// Linter that has not answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct StillAsked {
    pub(crate) linter: String,
    pub(crate) files: usize,
}

/// Reasons that a session was told, and that no call can change.
#[derive(Default)]
pub(crate) struct ReportedReasons(Mutex<BTreeSet<String>>);

impl ReportedReasons {
    /// Keeps the reasons that were not told before.
    pub(crate) fn retain_new(&self, reasons: &mut Vec<String>) {
        let mut told = self.0.lock();
        reasons.retain(|it| told.insert(it.clone()));
    }
}

/// Reasons in one answer.
const REASONS: usize = 5;

/// A cause: the linter, and what it says.
type Cause<'a> = (Option<&'a str>, &'a str);

/// Paths of which a cause is told; none if it holds for the linter as such.
type Paths<'a> = BTreeSet<&'a str>;

/// One line for each cause, those of most files first. A cause on both sides of a comparison is one.
pub(crate) fn grouped(all: &[Incomplete]) -> Vec<String> {
    let causes = by_cause(all);
    let mut in_order: Vec<_> = causes.iter().collect();
    in_order.sort_by_key(|it| std::cmp::Reverse(it.1.len()));
    let more = in_order.len().saturating_sub(REASONS);
    let mut lines: Vec<_> =
        in_order.into_iter().take(REASONS).map(|(cause, paths)| line(*cause, paths)).collect();
    lines.extend((more > 0).then(|| count(more, "more reason", "more reasons")));
    lines
}

/// The reason of one incomplete answer.
pub(crate) fn reason(incomplete: &Incomplete) -> String {
    let linter = incomplete.linter.as_deref().map(|it| format!("{it}: ")).unwrap_or_default();
    let subject = path(incomplete).map(|it| format!("{it}: ")).unwrap_or_default();
    format!("{linter}{subject}{}", incomplete.reason)
}

/// The linters that have not answered yet, and of how many files.
pub(crate) fn still_asked(all: &[Incomplete]) -> Vec<StillAsked> {
    let linters = by_cause(all).into_iter();
    let asked = |((linter, _), paths): (Cause<'_>, Paths<'_>)| StillAsked {
        linter: linter.unwrap_or("linters").to_owned(),
        files: paths.len(),
    };
    linters.map(asked).collect()
}

/// A line for what is still asked, which the next call has if it `is_followed`; `None` if it is nothing.
pub(crate) fn still_asked_text(all: &[StillAsked], is_followed: bool) -> Option<String> {
    let files = |it: &StillAsked| match it.files {
        0 => "the workspace".to_owned(),
        files => count(files, "file", "files"),
    };
    let asked: Vec<_> = all.iter().map(|it| format!("{} {}", it.linter, files(it))).collect();
    let next = if is_followed { "; call check, or go on: the next call has it" } else { "" };
    (!all.is_empty()).then(|| format!("\nnot computed yet, still checking: {}{next}", asked.join(", ")))
}

fn by_cause(all: &[Incomplete]) -> BTreeMap<Cause<'_>, Paths<'_>> {
    let mut causes: BTreeMap<Cause<'_>, Paths<'_>> = BTreeMap::new();
    for it in all {
        let reason = it.reason.strip_prefix(IN_PARENT).unwrap_or(&it.reason);
        causes.entry((it.linter.as_deref(), reason)).or_default().extend(path(it));
    }
    causes
}

fn line((linter, reason): Cause<'_>, paths: &Paths<'_>) -> String {
    let linter = linter.map(|it| format!("{it}: ")).unwrap_or_default();
    let mut of = paths.iter();
    match (of.next(), of.len()) {
        (None, _) => format!("{linter}{reason}"),
        (Some(path), 0) => format!("{linter}{path}: {reason}"),
        (Some(path), more) => {
            format!("{linter}{path} and {}: {reason}", count(more, "more file", "more files"))
        }
    }
}

fn path(incomplete: &Incomplete) -> Option<&str> {
    match &incomplete.subject {
        Subject::Everything => None,
        Subject::Argument(path) => Some(path),
        Subject::Path(path) => Some(path.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use check_engine::{Level, NOT_YET};
    use overlay::WorkspacePath;

    use super::*;

    fn incomplete(linter: &str, path: &str, level: Level, reason: &str) -> Incomplete {
        let subject = Subject::Path(WorkspacePath::new(path).unwrap());
        Incomplete { subject, linter: Some(linter.into()), level, reason: reason.to_owned() }
    }

    #[test]
    fn a_cause_has_one_line_with_the_number_of_files() {
        let failed = |path, reason: &str| incomplete("rust-analyzer", path, Level::Failed, reason);
        let in_parent = format!("{IN_PARENT}it does not start");
        let all = [
            failed("b.rs", "no such crate"),
            failed("a.rs", "it does not start"),
            failed("b.rs", "it does not start"),
            failed("c.rs", "it does not start"),
            failed("a.rs", &in_parent),
        ];
        let lines =
            ["rust-analyzer: a.rs and 2 more files: it does not start", "rust-analyzer: b.rs: no such crate"];
        assert_eq!(grouped(&all), lines);
        let many: Vec<_> = (0..7).map(|it| failed("a.rs", &format!("reason {it}"))).collect();
        assert_eq!(grouped(&many).last().unwrap(), "2 more reasons");
    }

    #[test]
    fn what_has_not_come_is_counted_by_linter() {
        let late = |linter, path| incomplete(linter, path, Level::Pending, NOT_YET);
        let all = [late("pyright", "a.py"), late("pyright", "b.py"), late("mypy", "a.py")];
        assert!(all.iter().all(Incomplete::is_not_yet));
        let asked = still_asked(&all);
        assert_eq!(
            still_asked_text(&asked, true).unwrap(),
            "\nnot computed yet, still checking: mypy 1 file, pyright 2 files; call check, or go on: the next call has it"
        );
        assert_eq!(still_asked_text(&[], true), None);
    }
}
