//! Comments that say which findings are not to be told.
//!
//! | comment | is for |
//! |---|---|
//! | `broker: ignore[rules] reason` after code | findings that begin on its line, or end on it |
//! | the same, alone on a line | findings that begin on the next line with code |
//! | `broker: ignore-next-line[rules] reason` | findings that begin on the next line with code |
//! | `broker: ignore-file[rules] reason`, anywhere | the whole file |
//! | `broker: disable[rules] reason` | all that begins after it, until `broker: enable[rules]` or the end |
//!
//! `[rules]` is a list of [`RulePattern`](crate::RulePattern)s; without it, all rules are meant. The mark that
//! begins the comment must stand right before `broker:`; what looks like a comment inside a string on
//! the same line is none. A string over several lines is not recognised. In a notebook, the comments of
//! a cell are for that cell.
//!
//! The meaning of a linter's own comments (`noqa`) is left to the linter.

mod add;
mod apply;
mod comments;
mod directive;
mod fix;
mod guard;
mod scan;

use overlay::WorkspacePath;

pub use self::add::{Addition, BadReason, CommentPlace, Suppressible, WithSuppressions};
use self::comments::Comments;
pub use self::guard::{Effect, Guard};
use crate::{Diagnostic, FileFindings, FindingKey, FixAvailability, Rule, RulePattern, Severity};

/// The name under which problems with suppressions are told.
pub const LINTER: &str = "broker";
/// The rule about a suppression that suppresses nothing.
pub const UNUSED: &str = "unused-suppression";
/// The rule about a suppression that cannot be understood or has no reason.
pub const INVALID: &str = "invalid-suppression";

/// Text that every suppression contains.
const NEEDLE: &[u8] = b"broker:";

impl Coverage<'_> {
    /// Whether all findings of these rules are there.
    fn knows(&self, rule: &RulePattern) -> bool {
        match rule.linter() {
            Some(linter) => self.whole.contains(&linter),
            None => self.is_all || (self.is_of_whole)(rule),
        }
    }
}

/// Options for the problems that are reported about suppressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// Severity of an unused suppression; `None`: not reported. To be `None` where not every rule was checked.
    pub report_unused: Option<Severity>,
    /// Whether each suppression must have a reason.
    pub require_reason: bool,
}

/// Extent to which the findings of a file are known. A suppression of any other may be in use.
#[derive(Clone, Copy)]
pub struct Coverage<'a> {
    /// The linters whose findings are all there.
    pub whole: &'a [&'a str],
    /// Whether no other linter could have found something, so that suppressions without a linter's name are
    /// known, too.
    pub is_all: bool,
    /// Whether the rules that a pattern without a linter's name matches are certainly of no other linter, if others could
    /// have found something.
    pub is_of_whole: &'a dyn Fn(&RulePattern) -> bool,
    /// Remark to add behind the name of an unused rule: that no linter has it.
    pub remark: &'a dyn Fn(&RulePattern) -> Option<String>,
}

/// Result of the suppressions of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// For each finding, whether it is suppressed.
    pub suppressed: Vec<bool>,
    /// Findings of the linter [`LINTER`]; they cannot be suppressed by comments. None for notebooks.
    pub problems: Vec<Diagnostic>,
}

/// Applies the suppressions in a file's text to its findings.
///
/// Only what `coverage` lets be known is reported as unused.
pub fn suppress(
    path: &WorkspacePath,
    file: FileFindings<'_>,
    coverage: Coverage<'_>,
    options: Options,
) -> Verdict {
    let mut verdict = Verdict { suppressed: vec![false; file.findings.len()], problems: Vec::new() };
    if memchr::memmem::find(file.text, NEEDLE).is_none() {
        return verdict;
    }
    if let Some(comments) = Comments::of(path, file.text) {
        let suppressions = scan::scan(comments, file.text);
        let uses = suppressions.mark(file.findings, None, &mut verdict.suppressed);
        verdict.problems = uses.problems(file.findings, coverage, options);
    }
    for cell in cells(file.findings) {
        let suppressions = scan::scan(Comments::PYTHON, cell.as_bytes());
        suppressions.mark(file.findings, Some(cell), &mut verdict.suppressed);
    }
    verdict
}

/// The texts of the cells with findings, each once.
fn cells<'a>(findings: &[FindingKey<'a>]) -> Vec<&'a str> {
    let mut cells: Vec<_> = findings.iter().filter_map(|it| it.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Returns the rules about suppressions, with their explanations.
pub fn rules() -> Vec<Rule> {
    let rule = |code: &str, summary: &str, explanation: &str, fix| Rule {
        code: code.to_owned(),
        name: code.to_owned(),
        summary: summary.to_owned(),
        explanation: explanation.to_owned(),
        url: None,
        fix,
        default: true,
    };
    vec![
        rule(
            INVALID,
            "A suppression cannot be understood, or has no reason although one is required",
            "Write `broker: ignore[rules] reason` in a comment, with `ignore`, `ignore-next-line`, \
             `ignore-file`, `disable` or `enable`, and rules such as `F401` or `python/F401`. Without brackets, \
             every rule is suppressed.",
            FixAvailability::Sometimes,
        ),
        rule(
            UNUSED,
            "A suppression suppresses nothing",
            "What it was for is gone. It would hide the next finding of its kind. Reported only where every linter \
             that could have found something has checked the whole file: not beside a syntax error.",
            FixAvailability::Always,
        ),
    ]
}

#[cfg(test)]
mod tests;
