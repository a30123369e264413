//! Checks that a fix removes its finding and breaks nothing.

use bytes::Bytes;
use lint::{Applicability, Completeness, Diagnostic, Fix, Outcome, Severity};
use overlay::WorkspacePath;
use syntax::{Language, Trees};

use crate::{Check, Report, answers::Bench, fixtures::Set};

/// Rounds after which fixes that still change something go in circles.
const ROUNDS: usize = 32;

/// A file with the answer that its fixes come from.
struct Trial<'t> {
    bench: &'t Bench<'t>,
    set: &'t Set,
    path: &'t WorkspacePath,
    text: &'t Bytes,
    before: Outcome,
}

pub(crate) fn check(bench: &Bench<'_>, report: &mut Report) {
    let mut tried = 0;
    for (name, set) in bench.fixtures.sets() {
        for (path, text) in bench.wanted(&set.files) {
            let before = bench.ask_of(&set.view, path, text.clone());
            tried += Trial { bench, set, path, text, before }.all(&format!("{name}/{path}"), report);
        }
    }
    if tried > 0 {
        report.pass(
            Check::Fixes,
            format!("{} tried: each removes its finding and breaks nothing", lint::counted(tried, "fix")),
        );
    }
}

fn may_be_made(fix: &Fix) -> bool {
    fix.applicability != Applicability::DisplayOnly && !fix.edits.is_empty()
}

impl Trial<'_> {
    /// Gives back how many fixes there are.
    fn all(&self, subject: &str, report: &mut Report) -> usize {
        let mut tried = 0;
        for finding in self.before.diagnostics.iter().filter(|it| it.cell.is_none()) {
            for fix in finding.fixes.iter().filter(|it| may_be_made(it)) {
                tried += 1;
                for what in self.one(finding, fix) {
                    let (code, at) = (&finding.code, finding.span.start);
                    let message = format!("the fix of {code} at byte {at} {what}");
                    report.fail_for(format!("the fix of {code} {what}"), Check::Fixes, subject, message);
                }
            }
        }
        tried
    }

    /// Lists the defects of a fix.
    fn one(&self, finding: &Diagnostic, fix: &Fix) -> Vec<String> {
        let fixed = Bytes::from(apply(self.text, &[fix]));
        if std::str::from_utf8(self.text).is_ok() && std::str::from_utf8(&fixed).is_err() {
            return vec!["cuts a character in two".to_owned()];
        }
        let after = self.bench.ask_of(&self.set.view, self.path, fixed.clone());
        // A file without an answer has no findings either.
        if after.completeness != self.before.completeness {
            return vec![format!("leaves a file that is not answered as before: {:?}", after.completeness)];
        }
        let of_rule = |it: &Outcome| it.diagnostics.iter().filter(|it| it.code == finding.code).count();
        let errors = |it: &Outcome| it.diagnostics.iter().filter(|it| it.severity == Severity::Error).count();
        let parses = |text| parses(self.path, text);
        let wrong = [
            (of_rule(&after) >= of_rule(&self.before), "does not remove the finding"),
            (errors(&after) > errors(&self.before), "leads to an error"),
            (parses(self.text) == Some(true) && parses(&fixed) == Some(false), "leaves what does not parse"),
        ];
        wrong.into_iter().filter(|(is, _)| *is).map(|(_, what)| what.to_owned()).collect()
    }
}

/// Returns whether the text fits the grammar of its language; `None` if there is no grammar.
fn parses(path: &WorkspacePath, text: &Bytes) -> Option<bool> {
    let language = Language::of(path)?;
    let content = overlay::ContentHash::of(text);
    let tree = Trees::new(0).tree(language, text.clone(), content, &|| false).ok()?;
    Some(!tree.has_error())
}

/// Applies fixes until there are none, and returns the text; `None` if there are none to begin with. The error is the
/// reason why that does not come to an end.
pub(crate) fn fixed(
    bench: &Bench<'_>,
    set: &Set,
    path: &WorkspacePath,
    text: &Bytes,
    outcome: &Outcome,
) -> Result<Option<String>, String> {
    let mut now = text.clone();
    let mut outcome = outcome.clone();
    for _ in 0..ROUNDS {
        let picked = pick(&outcome.diagnostics);
        if picked.is_empty() {
            return Ok((now != *text).then(|| String::from_utf8_lossy(&now).into_owned()));
        }
        now = Bytes::from(apply(&now, &picked));
        outcome = bench.ask_of(&set.view, path, now.clone());
        if let Completeness::Failed(why) | Completeness::Pending(why) = &outcome.completeness {
            return Err(format!("there is no answer after its fixes are made: {why}"));
        }
    }
    Err(format!("its fixes still change something after {ROUNDS} rounds"))
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
