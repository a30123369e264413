//! Selection of the linters' findings in a file that are reported: by the file's own comments, then by the severities of
//! `broker.toml`. The baseline comes after it.
//!
//! A finding that a comment suppresses is suppressed even if its rule is off, so that to switch a rule off
//! does not make comments unused.

mod dedup;
mod rule_index;

use std::sync::Arc;

use config::Severities;
use lint::{
    Applicability, Diagnostic, FileFindings, Fingerprint, LineTable, RulePattern, Tag,
    suppress::{self, Effect, Guard},
};
use overlay::{ContentHash, WorkspacePath};

use super::{
    coverage::{Coverage, Others},
    finding::{CheckedFile, Edit, Finding, Fix, RuleRef},
    place::{placed_fix, range},
};

pub use self::rule_index::RuleIndex;

/// Reported findings of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAnswer {
    /// In a report's order; with those about the file's suppressions.
    pub findings: Vec<Finding>,
    /// Fingerprints of the findings, in the same order: [`Fingerprint::kinds`].
    pub fingerprints: Vec<Fingerprint>,
    /// Findings that are not reported, with their rules: another linter has the same one, or the rule is off. An entry of
    /// a baseline may be for one of them.
    pub hidden: Vec<(Arc<RuleRef>, Fingerprint)>,
    /// Number of findings that the file's comments suppress.
    pub suppressed: usize,
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

/// Selects the reported findings of `file` from `findings`. The result depends on nothing but the arguments.
pub fn for_file(
    file: Read<'_>,
    findings: Vec<Finding>,
    severities: &Severities,
    options: suppress::Options,
) -> FileAnswer {
    let Read { path, text, linters, coverage, rules } = file;
    let keys: Vec<_> = findings.iter().map(Finding::key).collect();
    let whole: Vec<_> = coverage.whole.iter().filter_map(|it| linters.get(*it).copied()).collect();
    let is_of_whole = |rule: &RulePattern| {
        coverage.others <= Others::WithOwnRules && whole.iter().any(|it| rules.has(it, rule))
    };
    let remark = |rule: &RulePattern| rules.absence(linters, rule);
    let is_all = coverage.is_all();
    let known = suppress::Coverage { whole: &whole, is_all, is_of_whole: &is_of_whole, remark: &remark };
    let verdict = suppress::suppress(path, FileFindings { text, findings: &keys }, known, options);
    let suppressed = verdict.suppressed.iter().filter(|it| **it).count();
    let left = findings.into_iter().zip(verdict.suppressed).filter(|(_, suppressed)| !suppressed);
    let left = left.map(|(it, _)| it).chain(problems(path, text, verdict.problems));
    let (on, off): (Vec<_>, Vec<_>) = left.partition(|it| is_on(it, severities));
    let graded = on.into_iter().filter_map(|it| graded(it, severities)).collect();
    let (mut findings, again) = dedup::dedup(graded, linters);
    findings.sort_by(Finding::order);
    guard_suppressions(path, text, &mut findings);
    let kinds = |findings: &[Finding]| {
        let keys: Vec<_> = findings.iter().map(Finding::key).collect();
        Fingerprint::kinds(text, &keys)
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

/// The finding with the configured severity of its rule; `None` if the rule is off. Needs no text.
pub fn graded(finding: Finding, severities: &Severities) -> Option<Finding> {
    let rule = &finding.rule;
    match severities.level(&rule.linter, &rule.code, rule.name.as_deref()) {
        Some(level) => level.severity().map(|severity| Finding { severity, ..finding }),
        None => Some(finding),
    }
}

/// Returns the problems of a file's suppressions as findings.
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
            fixes_first: false,
            is_unnecessary: it.tags.contains(&Tag::Unnecessary),
            is_deprecated: false,
            shared_name: None,
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
