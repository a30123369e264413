//! Conversion of the daemon's events back to a report.
//!
//! The daemon of this process sends the report as it is. Otherwise, the events name files only where there is something to say of them, do not tell apart what a walk passed
//! over, and leave out the texts of notebook cells: so a notebook's findings come without lines and fixes.

use std::{cmp::Reverse, collections::BTreeMap, mem, sync::Arc};

use check_engine::{
    AnswerTime, Checked, Counts, Coverage, Excluded, Finding, Incomplete, Level, Report, Subject,
    pipeline::{Change, Reported},
};
use overlay::{Revision, WorkspacePath};
use workspaces::{CheckSummary, CheckedView, Event, StaleBaseline};

/// Everything that was said in one round.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) revision: Revision,
    found: Vec<Reported>,
    /// Findings that only the parent has.
    fixed: Vec<Reported>,
    incomplete: Vec<Incomplete>,
    excluded: Vec<Excluded>,
    /// `None` if the round broke off.
    summary: Option<Box<CheckSummary>>,
    /// The report, if it came whole.
    report: Option<Report>,
    /// Entries of the baseline for which there is no finding any more, as far as that is known.
    pub(super) stale: Option<StaleBaseline>,
    /// One sentence for each rule that configuration files name and no linter has, as far as that is known.
    pub(super) unknown_rules: Vec<String>,
    /// Times of answers, if the round is whole.
    pub(super) timings: Vec<AnswerTime>,
    /// Number of fixes that were made before.
    pub(super) fixed_before: usize,
}

impl Round {
    /// Returns the result of a check of nothing.
    pub(super) fn of_nothing() -> Self {
        Self { summary: Some(Box::default()), ..Self::default() }
    }

    pub(super) fn add(&mut self, event: Event) {
        match event {
            Event::Started(it) => self.revision = it.revision,
            Event::Files(files) => {
                for file in files {
                    let is_fixed = file.change == Some(Change::Fixed);
                    if is_fixed { &mut self.fixed } else { &mut self.found }.extend(file.findings);
                }
            }
            Event::Incomplete(all) => self.incomplete.extend(all),
            Event::Excluded(all) => self.excluded.extend(all),
            Event::Summary(mut it) => {
                self.timings = mem::take(&mut it.timings);
                match it.local.take() {
                    Some(checked) => *self = Self::of_view(*checked),
                    None => self.summary = Some(it),
                }
            }
        }
    }

    /// Returns the result of a check of a view.
    pub(super) fn of_view(checked: CheckedView) -> Self {
        let CheckedView { report, stale, unknown_rules, timings } = checked;
        Self { report: Some(report), stale, unknown_rules, timings, ..Self::default() }
    }

    /// Adds the times of an earlier check, if there was one.
    pub(super) fn after(mut self, earlier: Option<CheckedView>) -> Self {
        if let Some(earlier) = earlier {
            self.timings.extend(earlier.timings);
            self.timings.sort_by_key(|it| Reverse(it.duration));
        }
        self
    }

    /// The report that was meant.
    pub(super) fn into_report(mut self, is_comparison: bool) -> Report {
        let report = self.report.take().unwrap_or_else(|| self.rebuilt(is_comparison));
        Report { fixed: self.fixed_before, ..report }
    }

    /// The report by the events.
    fn rebuilt(&self, is_comparison: bool) -> Report {
        let worst = worst(&self.incomplete);
        let mut report = Report {
            findings: sorted(self.found.iter().map(|it| of_report(&it.0))),
            excluded: self.excluded.clone(),
            gone: is_comparison.then(|| sorted(self.fixed.iter().map(|it| without_fixes(&it.0)))),
            ..Report::default()
        };
        report.excluded.sort();
        let with_findings = report.findings.iter().map(|it| (it.file.path.clone(), Level::Complete));
        let checked: BTreeMap<_, _> = with_findings.chain(worst.clone()).collect();
        let checked = checked.into_iter();
        let checked = checked.map(|(path, level)| Checked { path, level, coverage: Coverage::default() });
        report.checked = checked.collect();
        report.add_incomplete(self.incomplete.iter().cloned());
        match &self.summary {
            Some(summary) => conclude(&mut report, summary, &worst),
            None => report.files = report.checked.len(),
        }
        report.introduce_ourselves();
        report.add_incomplete(self.summary.is_none().then(interrupted));
        report
    }
}

/// Sorts findings in the order of a report.
fn sorted(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut findings: Vec<_> = findings.collect();
    findings.sort_by(Finding::order);
    findings
}

/// A fix in a cell is for a text that is not known here.
fn of_report(it: &Finding) -> Finding {
    if it.cell.is_some() { without_fixes(it) } else { it.clone() }
}

fn without_fixes(it: &Finding) -> Finding {
    Finding { fixes: Arc::default(), ..it.clone() }
}

fn interrupted() -> Incomplete {
    Incomplete {
        subject: Subject::Everything,
        linter: None,
        level: Level::Pending,
        reason: "the check was interrupted".to_owned(),
    }
}

/// Takes over what the summary counts.
fn conclude(report: &mut Report, summary: &CheckSummary, worst: &BTreeMap<WorkspacePath, Level>) {
    report.files = summary.files;
    report.suppressed = summary.suppressed;
    report.baselined = summary.baselined;
    report.duration = summary.duration;
    report.unavailable.clone_from(&summary.unavailable);
    report.linters = summary.linters.iter().map(|it| it.linter.clone()).collect();
    let count = |level| worst.values().filter(|it| **it == level).count();
    let (partial, pending, failed) = (count(Level::Partial), count(Level::Pending), count(Level::Failed));
    let complete = report.files.saturating_sub(partial + pending + failed);
    report.counts = Counts { complete, partial, pending, failed };
    // Files that could not be read are reported one by one.
    let unreadable = report.incomplete.iter().filter(|it| is_unreadable(it)).count() as u64;
    report.passed_over = summary.skipped.saturating_sub(unreadable);
}

/// Files with the worst that was said of them. What could not even be read is no file that was checked.
fn worst(incomplete: &[Incomplete]) -> BTreeMap<WorkspacePath, Level> {
    let mut worst = BTreeMap::new();
    for it in incomplete.iter().filter(|it| !is_unreadable(it)) {
        if let Subject::Path(path) = &it.subject {
            let level = worst.entry(path.clone()).or_insert(it.level);
            *level = it.level.max(*level);
        }
    }
    worst
}

fn is_unreadable(it: &Incomplete) -> bool {
    it.linter.is_none() && it.level == Level::Failed
}

#[cfg(test)]
pub(super) mod tests {
    use check_engine::{CheckedFile, Edit, FindingCell, Fix, Range, RuleRef};
    use lint::{Applicability, Fingerprint, LineColumn, Severity, Span};
    use workspaces::FileFindings;

    use super::*;

    /// A finding with a fix.
    pub(in crate::cli::check) fn finding(cell: Option<u32>) -> Finding {
        let at = LineColumn { line: 2, column: 8 };
        let (span, range) = (Span::new(13, 15), Range { start: at, end: at });
        let edit = Edit { span, range, replacement: "".into() };
        let rule = RuleRef {
            linter: "python".into(),
            code: "F401".to_owned(),
            name: None,
            url: None,
            is_syntax_error: false,
            fixes_first: false,
            is_unnecessary: false,
            is_deprecated: false,
            shared_name: None,
        };
        Finding {
            file: CheckedFile { path: WorkspacePath::new("a.py").unwrap(), content: None }.into(),
            rule: rule.into(),
            message: "unused".into(),
            severity: Severity::Warning,
            cell: cell.map(|index| FindingCell { index, text: "".into() }),
            span,
            range,
            fixes: [Fix { message: None, applicability: Applicability::Safe, edits: [edit].into() }].into(),
            related: [].into(),
        }
    }

    fn files(change: Option<Change>, findings: Vec<Finding>) -> Event {
        let findings = findings.into_iter().map(|it| (it, Fingerprint::MIN).into()).collect();
        Event::Files(vec![FileFindings { findings, change }])
    }

    fn incomplete(path: &str, linter: &str, level: Level) -> Incomplete {
        let subject = match path {
            "" => Subject::Everything,
            path => Subject::Path(WorkspacePath::new(path).unwrap()),
        };
        let linter = (!linter.is_empty()).then(|| linter.into());
        Incomplete { subject, linter, level, reason: "why".to_owned() }
    }

    fn summary(files: usize, skipped: u64) -> Event {
        Event::Summary(Box::new(CheckSummary { files, skipped, ..CheckSummary::default() }))
    }

    fn report(events: Vec<Event>, is_comparison: bool) -> Report {
        let mut round = Round::default();
        events.into_iter().for_each(|it| round.add(it));
        round.into_report(is_comparison)
    }

    #[test]
    fn a_fix_in_a_cell_is_left_out() {
        let report = report(vec![files(None, vec![finding(None), finding(Some(0))])], false);
        assert_eq!((report.findings.len(), report.fixable(), report.gone), (2, 1, None));
    }

    #[test]
    fn what_is_fixed_is_apart() {
        let events = vec![
            files(Some(Change::Fixed), vec![finding(None)]),
            files(Some(Change::New), vec![finding(None)]),
            summary(1, 0),
        ];
        let report = report(events, true);
        assert_eq!((report.findings.len(), report.gone.as_ref().map(Vec::len)), (1, Some(1)));
        assert!(report.is_complete());
    }

    #[test]
    fn files_count_by_the_worst_that_was_said_of_them() {
        let incomplete = vec![
            incomplete("b.py", "python", Level::Partial),
            incomplete("b.py", "text", Level::Failed),
            incomplete("c.py", "", Level::Pending),
            incomplete("secret", "", Level::Failed),
            incomplete("", "text", Level::Failed),
        ];
        let report = report(vec![Event::Incomplete(incomplete), summary(5, 3)], false);
        assert_eq!(report.counts, Counts { complete: 3, partial: 0, pending: 1, failed: 1 });
        assert_eq!((report.incomplete.len(), report.passed_over), (5, 2));
        assert_eq!(report.incomplete[0].subject, Subject::Everything);
    }

    #[test]
    fn a_round_that_broke_off_is_not_complete() {
        let report = report(vec![files(None, vec![finding(None)])], false);
        assert_eq!((report.incomplete.len(), report.incomplete[0].level), (1, Level::Pending));
    }
}
