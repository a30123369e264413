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
//! What a linter's own comments (`noqa`) mean, the linter alone decides.

mod apply;
mod comments;
mod directive;
mod fix;
mod scan;

use overlay::WorkspacePath;

use self::comments::Comments;
use crate::{Diagnostic, FileFindings, FixAvailability, Rule, Severity, Site};

/// The name under which problems with suppressions are told.
pub const LINTER: &str = "broker";
/// The rule about a suppression that suppresses nothing.
pub const UNUSED: &str = "unused-suppression";
/// The rule about a suppression that cannot be understood or has no reason.
pub const INVALID: &str = "invalid-suppression";

/// What every suppression has in it.
const NEEDLE: &[u8] = b"broker:";

/// What is told about suppressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// How grave an unused suppression is; `None` if it is not told. To be left out where not every rule
    /// was checked: nobody knows then what is unused.
    pub report_unused: Option<Severity>,
    /// Whether each suppression must say why.
    pub require_reason: bool,
}

/// What the suppressions of a file mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// For each finding, whether it is suppressed.
    pub suppressed: Vec<bool>,
    /// Findings of the linter [`LINTER`]; they cannot be suppressed by comments. None for notebooks.
    pub problems: Vec<Diagnostic>,
}

/// Applies the suppressions in a file's text to its findings.
///
/// `linters` are those that were asked. What names another (`other/rule`) is not called unused.
pub fn suppress(path: &WorkspacePath, file: FileFindings<'_>, linters: &[&str], options: Options) -> Verdict {
    let mut verdict = Verdict { suppressed: vec![false; file.findings.len()], problems: Vec::new() };
    if memchr::memmem::find(file.text, NEEDLE).is_none() {
        return verdict;
    }
    if let Some(comments) = Comments::of(path) {
        let suppressions = scan::scan(comments, file.text);
        verdict.problems =
            suppressions.mark(file.findings, None, &mut verdict.suppressed).problems(linters, options);
    }
    for cell in cells(file.findings) {
        let suppressions = scan::scan(Comments::PYTHON, cell.as_bytes());
        suppressions.mark(file.findings, Some(cell), &mut verdict.suppressed);
    }
    verdict
}

/// The texts of the cells with findings, each once.
fn cells<'a>(findings: &[Site<'a>]) -> Vec<&'a str> {
    let mut cells: Vec<_> = findings.iter().filter_map(|it| it.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// What there is to explain about the problems with suppressions.
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
             `ignore-file`, `disable` or `enable`, and rules such as `F401` or `python/F401`.",
            FixAvailability::None,
        ),
        rule(
            UNUSED,
            "A suppression suppresses nothing",
            "What it was for is gone. It would hide the next finding of its kind.",
            FixAvailability::Always,
        ),
    ]
}

#[cfg(test)]
mod tests;
