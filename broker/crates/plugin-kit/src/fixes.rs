//! Whether a fix removes its finding and leaves a file that is still one.

use bytes::Bytes;
use lint::{Applicability, Diagnostic, Fix, Outcome, Severity};
use overlay::WorkspacePath;
use syntax::{Language, Trees};

use crate::{Check, Report, answers::Bench, fixtures::Set};

/// Rounds after which fixes that still change something go in circles.
const ROUNDS: usize = 32;

pub(crate) fn check(bench: &Bench<'_>, report: &mut Report) {
    let mut tried = 0;
    for (name, set) in bench.fixtures.sets() {
        for (path, text) in bench.wanted(&set.files) {
            let outcome = bench.ask_of(&set.view, path, text.clone());
            let subject = format!("{name}/{path}");
            for it in outcome.diagnostics.iter().filter(|it| it.cell.is_none()) {
                for fix in it.fixes.iter().filter(|it| may_be_made(it)) {
                    tried += 1;
                    check_one(bench, set, path, text, &outcome, it, fix, &subject, report);
                }
            }
        }
    }
    if tried > 0 {
        report.pass(Check::Fixes, format!("{tried} fixes remove their findings and break nothing"));
    }
}

fn may_be_made(fix: &Fix) -> bool {
    fix.applicability != Applicability::DisplayOnly && !fix.edits.is_empty()
}

#[expect(clippy::too_many_arguments, reason = "one question about one fix")]
fn check_one(
    bench: &Bench<'_>,
    set: &Set,
    path: &WorkspacePath,
    text: &Bytes,
    before: &Outcome,
    finding: &Diagnostic,
    fix: &Fix,
    subject: &str,
    report: &mut Report,
) {
    let named = |what: &str| format!("the fix of {} at byte {} {what}", finding.code, finding.span.start);
    let fixed = Bytes::from(apply(text, &[fix]));
    if std::str::from_utf8(text).is_ok() && std::str::from_utf8(&fixed).is_err() {
        return report.fail(Check::Fixes, subject, named("cuts a character in two"));
    }
    let after = bench.ask_of(&set.view, path, fixed.clone());
    let count = |it: &Outcome, code: &str| it.diagnostics.iter().filter(|it| it.code == code).count();
    if count(&after, &finding.code) >= count(before, &finding.code) {
        report.fail(Check::Fixes, subject, named("does not remove the finding"));
    }
    let errors = |it: &Outcome| it.diagnostics.iter().filter(|it| it.severity == Severity::Error).count();
    if errors(&after) > errors(before) {
        report.fail(Check::Fixes, subject, named("leads to an error"));
    }
    if parses(path, text) == Some(true) && parses(path, &fixed) == Some(false) {
        report.fail(Check::Fixes, subject, named("leaves what does not parse"));
    }
}

/// Whether the text fits the grammar of its language, if there is one.
fn parses(path: &WorkspacePath, text: &Bytes) -> Option<bool> {
    let language = Language::of(path)?;
    let content = overlay::ContentHash::of(text);
    let tree = Trees::new(0).tree(language, None, text.clone(), content, &|| false).ok()?;
    Some(!tree.has_error())
}

/// What is left when fixes are made until there are none; `None` if there are none to begin with.
pub(crate) fn fixed(
    bench: &Bench<'_>,
    set: &Set,
    path: &WorkspacePath,
    text: &Bytes,
    outcome: &Outcome,
) -> Option<String> {
    let mut now = text.clone();
    let mut outcome = outcome.clone();
    for _ in 0..ROUNDS {
        let picked = pick(&outcome.diagnostics);
        if picked.is_empty() {
            break;
        }
        now = Bytes::from(apply(&now, &picked));
        outcome = bench.ask_of(&set.view, path, now.clone());
    }
    (now != *text).then(|| String::from_utf8_lossy(&now).into_owned())
}

/// The first fix of each finding that does not touch the one before it.
fn pick(findings: &[Diagnostic]) -> Vec<&Fix> {
    let fixes = findings.iter().filter(|it| it.cell.is_none());
    let fixes = fixes.filter_map(|it| it.fixes.iter().find(|it| may_be_made(it)));
    let mut fixes: Vec<_> = fixes.collect();
    fixes.sort_by_key(|it| it.edits[0].span);
    let mut end = None;
    fixes.retain(|it| {
        let fits = end.is_none_or(|end| it.edits[0].span.start > end);
        if fits {
            end = it.edits.last().map(|it| it.span.end);
        }
        fits
    });
    fixes
}

fn apply(text: &[u8], fixes: &[&Fix]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in fixes.iter().flat_map(|it| &it.edits) {
        out.extend_from_slice(&text[at..edit.span.start as usize]);
        out.extend_from_slice(edit.replacement.as_bytes());
        at = edit.span.end as usize;
    }
    out.extend_from_slice(&text[at..]);
    out
}
