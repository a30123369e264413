//! A sink that keeps everything for a [`Report`], and compares a baseline with all findings at once: so it is known
//! where the findings of a file are that is gone, and which entries are stale.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io,
    sync::Arc,
};

use lint::{Fingerprint, Identity, Unit, suppress};
use overlay::{FileKind, View, WorkspacePath};

use super::{Change, FileReport, Outcome, Reported, Sink};
use crate::{
    Checked, Coverage, Finding, Incomplete, Level, Report,
    baseline::{Baseline, Mark, Presence},
};

/// Collects one check.
pub struct Collector {
    /// Called with the number of answers that will come.
    started: Arc<dyn Fn(usize) + Send + Sync>,
    report: Report,
    /// Place of each linter among those of the report: several of one name are one there.
    places: Vec<usize>,
    found: Vec<(Reported, Fingerprint)>,
    gone: Vec<Reported>,
    hidden: Vec<Mark>,
    units: Vec<Unit>,
    /// Named paths with files that a linter did not leave out.
    answered: BTreeSet<WorkspacePath>,
}

/// A report, and what a baseline is compared with.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    pub report: Report,
    /// The files that were checked.
    pub units: Vec<Unit>,
    /// Each of the report's findings by what a baseline would know it by, in the same order.
    marks: Vec<Mark>,
    /// Findings that are not reported.
    hidden: Vec<Mark>,
}

/// Part of the workspace that a check was about.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// Whether the linters were asked about every rule that the configuration selects. If not, it is not known
    /// which entries of a baseline are stale.
    pub every_rule: bool,
    /// Whether every file of the workspace was to be checked. If not, the findings of a file that is gone may be
    /// in another, to which it was moved.
    pub every_file: bool,
}

impl Collector {
    pub fn new(started: Arc<dyn Fn(usize) + Send + Sync>) -> Self {
        Self {
            started,
            report: Report::default(),
            places: Vec::new(),
            found: Vec::new(),
            gone: Vec::new(),
            hidden: Vec::new(),
            units: Vec::new(),
            answered: BTreeSet::new(),
        }
    }

    /// Everything, now that the check is done.
    pub fn finish(self, outcome: &Outcome) -> Collected {
        let Self { mut report, mut found, mut gone, hidden, mut units, answered, .. } = self;
        units.sort_by(|a, b| a.path.cmp(&b.path));
        let summary = &outcome.summary;
        report.suppressed = summary.suppressed;
        report.baselined = summary.baselined;
        report.unavailable.clone_from(&summary.unavailable);
        report.skipped.clone_from(&summary.skipped);
        report.duration = summary.duration;
        report.checked.sort_by(|a, b| a.path.cmp(&b.path));
        report.excluded.sort();
        report.left_out.retain(|it| !answered.contains(it));
        report.add_incomplete([]);
        found.sort_by(|(a, _), (b, _)| a.0.order(&b.0));
        gone.sort_by(|a, b| a.0.order(&b.0));
        let marks = found.iter().map(|(it, fingerprint)| mark(&it.0, *fingerprint)).collect();
        report.findings = found.into_iter().map(|(it, _)| finding(it)).collect();
        report.gone = summary.is_comparison.then(|| gone.into_iter().map(finding).collect());
        report.introduce_ourselves();
        Collected { report, units, marks, hidden }
    }
}

impl Sink for Collector {
    async fn started(&mut self, linters: &[Identity], _files: usize, answers: usize) {
        for linter in linters {
            let known = self.report.linters.iter().position(|it| it.name == linter.name);
            self.places.push(known.unwrap_or(self.report.linters.len()));
            if known.is_none() {
                self.report.linters.push(linter.clone());
            }
        }
        (self.started)(answers);
    }

    async fn file(&mut self, file: FileReport) {
        let FileReport { unit, is_gone, level, coverage, found, changes, incomplete, excluded, reads: _ } =
            file;
        self.report.incomplete.extend(incomplete);
        self.report.excluded.extend(excluded);
        match level {
            Some(level) => {
                self.report.count(level);
                self.units.push(unit.clone());
                self.answered.insert(unit.named);
                self.report.checked.push(Checked {
                    path: unit.path.clone(),
                    level,
                    coverage: coverage.placed(&self.places),
                });
            }
            None if is_gone => {}
            None => _ = self.report.left_out.insert(unit.named),
        }
        let hidden = found.hidden.iter();
        let hidden = hidden.map(|(rule, it)| Mark {
            path: unit.path.clone(),
            rule: rule.to_string(),
            fingerprint: *it,
        });
        self.hidden.extend(hidden);
        let Some(changes) = changes else {
            let kinds = found.kinds.iter().copied();
            self.found.extend(found.findings.iter().cloned().zip(kinds));
            return;
        };
        for (change, findings) in changes {
            match change {
                // A comparison knows no baseline of a report.
                Change::New => self.found.extend(findings.into_iter().map(|it| (Arc::clone(&it), it.1))),
                Change::Fixed => self.gone.extend(findings),
            }
        }
    }

    fn incomplete(&mut self, incomplete: Incomplete) {
        self.report.incomplete.push(incomplete);
    }

    async fn pause(&mut self) {}
}

impl Collected {
    /// Takes out what the baseline knows; returns its entries, and how many of each, for which there is no finding
    /// any more.
    pub fn leave_out_known(
        &mut self,
        baseline: &Baseline,
        view: &dyn View,
        reach: Reach,
    ) -> Vec<(Mark, u32)> {
        let report = &self.report;
        let is_everything_known = reach.every_file
            && report.is_complete()
            && report.checked.iter().all(|it| it.coverage.syntax_errors == 0);
        let presence = presence(report, view);
        let found = [&self.marks[..], &self.hidden].concat();
        let mut split = baseline.split(&found, &presence);
        // A finding of a file that is gone may be in a file that was not checked.
        split.stale.retain(|(mark, _)| is_everything_known || presence(mark) == Presence::Checked);
        drop(presence);
        self.leave_out(&split.known[..self.marks.len()]);
        if reach.every_rule { split.stale } else { Vec::new() }
    }

    /// Makes all that is reported known, and takes it out. What is not all there of a file says nothing about it.
    pub fn make_known(&mut self, known: &mut Baseline, view: &dyn View, reach: Reach) {
        let complete = self.report.checked.iter().filter(|it| it.level == Level::Complete);
        let complete: HashSet<_> = complete.map(|it| &it.path).collect();
        let is_known: Vec<_> = self.marks.iter().map(|it| complete.contains(&it.path)).collect();
        let marks = self.marks.iter().zip(&is_known).filter(|(_, it)| **it).map(|(mark, _)| mark.clone());
        let presence = presence(&self.report, view);
        known.update(marks, &|mark| match presence(mark) {
            // The file may have been moved to a path that was not checked.
            Presence::Gone if !reach.every_file => Presence::Unchecked,
            presence => presence,
        });
        drop(presence);
        self.leave_out(&is_known);
    }

    fn leave_out(&mut self, known: &[bool]) {
        self.report.baselined += known.iter().filter(|it| **it).count();
        let mut each = known.iter();
        self.report.findings.retain(|_| !each.next().copied().unwrap_or(false));
        let mut each = known.iter();
        self.marks.retain(|_| !each.next().copied().unwrap_or(false));
    }
}

fn mark(finding: &Finding, fingerprint: Fingerprint) -> Mark {
    Mark { path: finding.file.path.clone(), rule: finding.rule.to_string(), fingerprint }
}

/// Takes the finding out, or clones it if it is shared.
fn finding(reported: Reported) -> Finding {
    Arc::try_unwrap(reported).map_or_else(|shared| shared.0.clone(), |(finding, _)| finding)
}

/// Returns the presence of what entries of a baseline are for, as far as a report shows it.
fn presence<'a>(report: &'a Report, view: &'a dyn View) -> impl Fn(&Mark) -> Presence + use<'a> {
    let checked: HashMap<&WorkspacePath, &Coverage> =
        report.checked.iter().map(|it| (&it.path, &it.coverage)).collect();
    let is_known = |coverage: &Coverage, linter: &str| {
        let mut whole = coverage.whole.iter().filter_map(|it| report.linters.get(*it));
        if linter == suppress::LINTER { coverage.is_all() } else { whole.any(|it| it.name == linter) }
    };
    move |mark| {
        let linter = mark.rule.split_once('/').map_or("", |(linter, _)| linter);
        match checked.get(&mark.path) {
            Some(coverage) if is_known(coverage, linter) => Presence::Checked,
            Some(_) => Presence::Unchecked,
            None if is_gone(view, &mark.path) => Presence::Gone,
            None => Presence::Unchecked,
        }
    }
}

/// Whether no file is there any more.
fn is_gone(view: &dyn View, path: &WorkspacePath) -> bool {
    match view.metadata(path) {
        Ok(it) => it.kind == FileKind::Directory,
        Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}
