//! What of the linters' findings is told: first the files' own comments decide, then the severities of
//! `broker.toml`, then the baseline.
//!
//! A finding that a comment suppresses is suppressed even if its rule is off, so that to switch a rule off
//! does not make comments unused.

mod twice;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use lint::{Diagnostic, FileFindings, Fingerprint, Identity, LineTable, suppress};
use overlay::{ContentHash, FileKind, View, WorkspacePath};

use super::{
    place::{Changed, placed_fix, range, read},
    report::{CheckedFile, Finding, Level, Report, RuleRef},
};
use crate::{
    baseline::{Baseline, Mark, Presence},
    config::{ConfigError, Configs, Effective, Severities},
};

/// What decides.
pub struct Policy<'a> {
    pub configs: &'a Configs<'a>,
    pub baseline: Option<&'a Baseline>,
    /// Whether the linters were asked about every rule that the configuration selects. If not, nobody can
    /// tell an unused suppression or a stale entry of the baseline.
    pub every_rule: bool,
}

/// What is told of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAnswer {
    /// In a report's order; with those about the file's suppressions.
    pub findings: Vec<Finding>,
    /// One for each finding: [`Fingerprint::kinds`].
    pub fingerprints: Vec<Fingerprint>,
    /// How many findings the file's comments suppress.
    pub suppressed: usize,
}

/// What comes of applying a policy besides the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Each of the report's findings by what a baseline would know it by, in the same order.
    pub marks: Vec<Mark>,
    /// Entries of the baseline, and how many of each, for which there is no finding any more.
    pub stale: Vec<(Mark, u32)>,
}

/// Applies `policy` to `report`, whose findings are for what `view` shows.
///
/// Reads every file that was checked, since each may have suppressions that are of no use. A file that
/// has changed since it was checked loses its findings and is pending.
pub fn apply(report: &mut Report, view: &dyn View, policy: &Policy<'_>) -> Result<Applied, ConfigError> {
    let files = files(report, policy)?;
    let mut findings = std::mem::take(&mut report.findings).into_iter();
    let names: Vec<_> = report.linters.iter().map(|it| it.name.clone()).collect();
    let linters: Vec<_> = names.iter().map(String::as_str).collect();
    let (mut told, mut changed) = (Told::default(), Vec::new());
    for file in files {
        let own = findings.by_ref().take(file.findings).collect();
        match answer(view, &file, own, &linters, policy) {
            Ok(answer) => told.add(answer),
            Err(Changed) => changed.push(file.path),
        }
    }
    changed.iter().for_each(|path| report.make_pending(path));
    let stale = told.leave_out_known(report, view, policy);
    report.suppressed += told.suppressed;
    report.findings = told.findings;
    introduce_ourselves(report);
    Ok(Applied { marks: told.marks, stale })
}

/// What is told of the file at `path` with this text, which `findings` are for. Depends on nothing but what
/// is given. `linters` are those that were asked.
pub fn for_file(
    path: &WorkspacePath,
    text: &[u8],
    findings: Vec<Finding>,
    linters: &[&str],
    severities: &Severities,
    options: suppress::Options,
) -> FileAnswer {
    let sites: Vec<_> = findings.iter().map(Finding::site).collect();
    let verdict = suppress::suppress(path, FileFindings { text, findings: &sites }, linters, options);
    let suppressed = verdict.suppressed.iter().filter(|it| **it).count();
    let left = findings.into_iter().zip(verdict.suppressed).filter(|(_, suppressed)| !suppressed);
    let left = left.map(|(it, _)| it).chain(problems(path, text, verdict.problems));
    let mut findings = twice::once(left.filter_map(|it| graded(it, severities)).collect(), linters);
    findings.sort_by(Finding::order);
    let sites: Vec<_> = findings.iter().map(Finding::site).collect();
    FileAnswer { fingerprints: Fingerprint::kinds(text, &sites), suppressed, findings }
}

/// The finding, as grave as its rule is said to be; `None` if the rule is off. Needs no text.
pub fn graded(finding: Finding, severities: &Severities) -> Option<Finding> {
    let rule = &finding.rule;
    match severities.level(&rule.linter, &rule.code, rule.name.as_deref()) {
        Some(level) => level.severity().map(|severity| Finding { severity, ..finding }),
        None => Some(finding),
    }
}

/// A file that was checked or has findings.
struct File {
    path: WorkspacePath,
    /// How many of the report's findings are in it.
    findings: usize,
    is_complete: bool,
    effective: Arc<Effective>,
}

/// By path, as the report's findings are.
fn files(report: &mut Report, policy: &Policy<'_>) -> Result<Vec<File>, ConfigError> {
    report.sort_findings();
    let mut files: BTreeMap<&WorkspacePath, (usize, bool)> =
        report.checked.iter().map(|(path, level)| (path, (0, *level == Level::Complete))).collect();
    for findings in report.findings.chunk_by(|a, b| a.file.path == b.file.path) {
        files.entry(&findings[0].file.path).or_default().0 = findings.len();
    }
    let file = |(path, (findings, is_complete)): (&WorkspacePath, _)| {
        let effective = policy.configs.for_file(path)?;
        Ok(File { path: path.clone(), findings, is_complete, effective })
    };
    files.into_iter().map(file).collect()
}

fn answer(
    view: &dyn View,
    file: &File,
    findings: Vec<Finding>,
    linters: &[&str],
    policy: &Policy<'_>,
) -> Result<FileAnswer, Changed> {
    let Effective { severities, suppressions, .. } = &*file.effective;
    let knows_all = file.is_complete && policy.every_rule;
    let report_unused = suppressions.report_unused.filter(|_| knows_all);
    let options = suppress::Options { report_unused, ..*suppressions };
    let content = findings.first().and_then(|it| it.file.content);
    match read(view, &file.path, content) {
        Ok(text) => Ok(for_file(&file.path, &text, findings, linters, severities, options)),
        // Whoever checked it has told why.
        Err(Changed) if findings.is_empty() => Ok(FileAnswer::default()),
        Err(changed) => Err(changed),
    }
}

/// Among the linters, if anything is told of suppressions.
fn introduce_ourselves(report: &mut Report) {
    let is_ours = |it: &Finding| &*it.rule.linter == suppress::LINTER;
    if report.findings.iter().any(is_ours) && report.linters.iter().all(|it| it.name != suppress::LINTER) {
        report.linters.push(Identity {
            name: suppress::LINTER.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: ContentHash::of(env!("CARGO_PKG_VERSION").as_bytes()),
        });
    }
}

/// All that is told so far.
#[derive(Default)]
struct Told {
    findings: Vec<Finding>,
    marks: Vec<Mark>,
    suppressed: usize,
}

impl Told {
    fn add(&mut self, answer: FileAnswer) {
        self.suppressed += answer.suppressed;
        for (finding, fingerprint) in answer.findings.into_iter().zip(answer.fingerprints) {
            let (path, rule) = (finding.file.path.clone(), finding.rule.to_string());
            self.marks.push(Mark { path, rule, fingerprint });
            self.findings.push(finding);
        }
    }

    /// Takes out what the baseline knows; returns what of the baseline is stale.
    fn leave_out_known(
        &mut self,
        report: &mut Report,
        view: &dyn View,
        policy: &Policy<'_>,
    ) -> Vec<(Mark, u32)> {
        let Some(baseline) = policy.baseline else { return Vec::new() };
        let split = baseline.split(&self.marks, &presence(report, view));
        report.baselined += split.known.iter().filter(|it| **it).count();
        let mut known = split.known.iter();
        self.findings.retain(|_| !known.next().copied().unwrap_or(false));
        let mut known = split.known.iter();
        self.marks.retain(|_| !known.next().copied().unwrap_or(false));
        if policy.every_rule { split.stale } else { Vec::new() }
    }
}

/// What became of files, as far as a report tells: for [`Baseline::split`] and [`Baseline::update`].
pub fn presence<'a>(report: &'a Report, view: &'a dyn View) -> impl Fn(&WorkspacePath) -> Presence + use<'a> {
    let complete = report.checked.iter().filter(|(_, level)| *level == Level::Complete);
    let complete: HashSet<&WorkspacePath> = complete.map(|(path, _)| path).collect();
    move |path| match view.metadata(path) {
        _ if complete.contains(path) => Presence::Checked,
        Ok(it) if it.kind != FileKind::Directory => Presence::Unchecked,
        Ok(_) => Presence::Gone,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            Presence::Gone
        }
        Err(_) => Presence::Unchecked,
    }
}

/// What is wrong with a file's suppressions, as findings.
fn problems(path: &WorkspacePath, text: &[u8], problems: Vec<Diagnostic>) -> Vec<Finding> {
    if problems.is_empty() {
        return Vec::new();
    }
    let table = LineTable::new(text);
    let file = Arc::new(CheckedFile { path: path.clone(), content: Some(ContentHash::of(text)) });
    let linter: Arc<str> = suppress::LINTER.into();
    let finding = |it: Diagnostic| Finding {
        file: Arc::clone(&file),
        rule: Arc::new(RuleRef { linter: Arc::clone(&linter), code: it.code, name: it.name, url: it.url }),
        message: it.message.into(),
        severity: it.severity,
        cell: None,
        span: it.span,
        range: range(&table, it.span),
        fixes: it.fixes.into_iter().map(|fix| placed_fix(&table, fix)).collect(),
        related: Arc::default(),
    };
    problems.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests;
