//! What of the linters' findings is told: first the files' own comments decide, then the severities of
//! `broker.toml`, then the baseline.
//!
//! A finding that a comment suppresses is suppressed even if its rule is off, so that to switch a rule off
//! does not make comments unused.

mod rule_index;
mod twice;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use config::{ConfigError, Configs, Effective, Severities};
use lint::{
    Applicability, Diagnostic, FileFindings, Fingerprint, LineTable, RulePattern,
    suppress::{self, Effect, Guard},
};
use overlay::{ContentHash, FileKind, View, WorkspacePath};

use super::{
    coverage::{Coverage, Others},
    finding::{CheckedFile, Edit, Finding, Fix, RuleRef},
    place::{Changed, placed_fix, range, read},
    report::Report,
};
use crate::baseline::{Baseline, Mark, Presence};

pub use self::rule_index::RuleIndex;

/// What decides.
pub struct Policy<'a> {
    pub configs: &'a Configs<'a>,
    pub baseline: Option<&'a Baseline>,
    /// Whether the linters were asked about every rule that the configuration selects. If not, it is not known
    /// which suppressions are unused and which entries of the baseline are stale.
    pub every_rule: bool,
    /// Whether every file of the workspace was to be checked. If not, the findings of a file that is gone may be
    /// in another, to which it was moved.
    pub every_file: bool,
    pub rules: &'a RuleIndex<'a>,
}

/// What is told of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAnswer {
    /// In a report's order; with those about the file's suppressions.
    pub findings: Vec<Finding>,
    /// One for each finding: [`Fingerprint::kinds`].
    pub fingerprints: Vec<Fingerprint>,
    /// What is found and not told, with its rule: another linter says the same, or the rule is off. An entry of a
    /// baseline may be for it.
    pub hidden: Vec<(Arc<RuleRef>, Fingerprint)>,
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
            Ok(answer) => told.add(&file.path, answer),
            Err(Changed) => changed.push(file.path),
        }
    }
    changed.iter().for_each(|path| report.make_pending(path));
    let stale = told.leave_out_known(report, view, policy);
    report.suppressed += told.suppressed;
    report.findings = told.findings;
    report.introduce_ourselves();
    Ok(Applied { marks: told.marks, stale })
}

/// A file's text, and what is known of it.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    pub path: &'a WorkspacePath,
    pub text: &'a [u8],
    /// The linters by their places, those that were asked about other files among them.
    pub linters: &'a [&'a str],
    pub coverage: &'a Coverage,
    pub rules: &'a RuleIndex<'a>,
}

/// What is told of `file`, which `findings` are for. Depends on nothing but what is given.
pub fn for_file(
    file: Read<'_>,
    findings: Vec<Finding>,
    severities: &Severities,
    options: suppress::Options,
) -> FileAnswer {
    let Read { path, text, linters, coverage, rules } = file;
    let sites: Vec<_> = findings.iter().map(Finding::site).collect();
    let whole: Vec<_> = coverage.whole.iter().filter_map(|it| linters.get(*it).copied()).collect();
    let is_of_whole = |rule: &RulePattern| {
        coverage.others <= Others::WithOwnRules && whole.iter().any(|it| rules.has(it, rule))
    };
    let remark = |rule: &RulePattern| rules.absence(linters, rule);
    let is_all = coverage.is_all();
    let known = suppress::Coverage { whole: &whole, is_all, is_of_whole: &is_of_whole, remark: &remark };
    let verdict = suppress::suppress(path, FileFindings { text, findings: &sites }, known, options);
    let suppressed = verdict.suppressed.iter().filter(|it| **it).count();
    let left = findings.into_iter().zip(verdict.suppressed).filter(|(_, suppressed)| !suppressed);
    let left = left.map(|(it, _)| it).chain(problems(path, text, verdict.problems));
    let (on, off): (Vec<_>, Vec<_>) = left.partition(|it| is_on(it, severities));
    let graded = on.into_iter().filter_map(|it| graded(it, severities)).collect();
    let (mut findings, again) = twice::once(graded, linters);
    findings.sort_by(Finding::order);
    guard_suppressions(path, text, &mut findings);
    let kinds = |findings: &[Finding]| {
        let sites: Vec<_> = findings.iter().map(Finding::site).collect();
        Fingerprint::kinds(text, &sites)
    };
    let hidden: Vec<_> = off.into_iter().chain(again).collect();
    let rules = hidden.iter().map(|it| Arc::clone(&it.rule));
    let hidden = rules.zip(kinds(&hidden)).collect();
    FileAnswer { fingerprints: kinds(&findings), suppressed, hidden, findings }
}

/// A fix that would change what a suppression says or is for is not one to be made without asking; one that
/// touches the ends of a range is shown only.
fn guard_suppressions(path: &WorkspacePath, text: &[u8], findings: &mut [Finding]) {
    let fixable =
        |it: &&mut Finding| !it.fixes.is_empty() && it.cell.is_none() && &*it.rule.linter != suppress::LINTER;
    let mut fixable = findings.iter_mut().filter(fixable).peekable();
    if fixable.peek().is_none() {
        return;
    }
    let Some(guard) = Guard::new(path, text) else { return };
    for finding in fixable {
        let most: Vec<_> = finding.fixes.iter().map(|it| most_sure(&guard, it)).collect();
        if finding.fixes.iter().zip(&most).any(|(fix, most)| fix.applicability > *most) {
            let lowered = finding
                .fixes
                .iter()
                .zip(most)
                .map(|(fix, most)| Fix { applicability: fix.applicability.min(most), ..fix.clone() });
            finding.fixes = lowered.collect();
        }
    }
}

/// The best that a fix can be, for its effect on suppressions.
fn most_sure(guard: &Guard<'_>, fix: &Fix) -> Applicability {
    let edit = |it: &Edit| lint::Edit { span: it.span, replacement: it.replacement.to_string() };
    match guard.effect(&fix.edits.iter().map(edit).collect::<Vec<_>>()) {
        Effect::Keeps => Applicability::Safe,
        Effect::Alters => Applicability::Unsafe,
        Effect::MovesRange => Applicability::DisplayOnly,
    }
}

fn is_on(finding: &Finding, severities: &Severities) -> bool {
    let rule = &finding.rule;
    let level = severities.level(&rule.linter, &rule.code, rule.name.as_deref());
    level.is_none_or(|it| it.severity().is_some())
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
    coverage: Coverage,
    effective: Arc<Effective>,
}

/// By path, as the report's findings are.
fn files(report: &mut Report, policy: &Policy<'_>) -> Result<Vec<File>, ConfigError> {
    report.sort_findings();
    let mut files: BTreeMap<&WorkspacePath, (usize, Coverage)> =
        report.checked.iter().map(|it| (&it.path, (0, it.coverage.clone()))).collect();
    for findings in report.findings.chunk_by(|a, b| a.file.path == b.file.path) {
        files.entry(&findings[0].file.path).or_default().0 = findings.len();
    }
    let file = |(path, (findings, coverage)): (&WorkspacePath, _)| {
        let effective = policy.configs.for_file(path)?;
        Ok(File { path: path.clone(), findings, coverage, effective })
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
    let report_unused = suppressions.report_unused.filter(|_| policy.every_rule);
    let options = suppress::Options { report_unused, ..*suppressions };
    let content = findings.first().and_then(|it| it.file.content);
    match read(view, &file.path, content) {
        Ok(text) => {
            let (path, coverage) = (&file.path, &file.coverage);
            let read = Read { path, text: &text, linters, coverage, rules: policy.rules };
            Ok(for_file(read, findings, severities, options))
        }
        // The linter's answer says why.
        Err(Changed) if findings.is_empty() => Ok(FileAnswer::default()),
        Err(changed) => Err(changed),
    }
}

/// All that is told so far.
#[derive(Default)]
struct Told {
    findings: Vec<Finding>,
    marks: Vec<Mark>,
    hidden: Vec<Mark>,
    suppressed: usize,
}

impl Told {
    fn add(&mut self, path: &WorkspacePath, answer: FileAnswer) {
        self.suppressed += answer.suppressed;
        let mark = |(rule, fingerprint): (Arc<RuleRef>, Fingerprint)| Mark {
            path: path.clone(),
            rule: rule.to_string(),
            fingerprint,
        };
        self.hidden.extend(answer.hidden.into_iter().map(mark));
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
        let is_everything_known = policy.every_file
            && report.is_complete()
            && report.checked.iter().all(|it| it.coverage.syntax_errors == 0);
        let presence = presence(report, view);
        let found = [&self.marks[..], &self.hidden].concat();
        let mut split = baseline.split(&found, &presence);
        // Of what is gone, some may be where it cannot be found now.
        split.stale.retain(|(mark, _)| is_everything_known || presence(mark) == Presence::Checked);
        drop(presence);
        let known = &split.known[..self.marks.len()];
        report.baselined += known.iter().filter(|it| **it).count();
        let mut each = known.iter();
        self.findings.retain(|_| !each.next().copied().unwrap_or(false));
        let mut each = known.iter();
        self.marks.retain(|_| !each.next().copied().unwrap_or(false));
        if policy.every_rule { split.stale } else { Vec::new() }
    }
}

/// What became of findings that a baseline knows, as far as a report tells: for [`Baseline::split`] and
/// [`Baseline::update`].
pub fn presence<'a>(report: &'a Report, view: &'a dyn View) -> impl Fn(&Mark) -> Presence + use<'a> {
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
        Err(error) => {
            matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        }
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
        rule: Arc::new(RuleRef {
            linter: Arc::clone(&linter),
            code: it.code,
            name: it.name,
            url: it.url,
            is_syntax_error: false,
        }),
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
