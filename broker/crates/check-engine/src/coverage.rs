//! Which findings of a file are known: what is not found is gone only if a linter had the chance to find it.
//!
//! A linter that left the file out, was given no time or could not parse it has not said that anything is gone; and
//! neither has one that was not asked. Does not look at texts.

use std::sync::Arc;

use lint::{Linter, Masking, Severity};

use super::Answer;

/// Extent to which the answers about a file cover what there is to find in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The linters whose findings are all there, by their places.
    pub whole: Box<[usize]>,
    /// Other linters that could have found something.
    pub others: Others,
    /// Findings that say that the file cannot be parsed; with those that are suppressed.
    pub syntax_errors: usize,
}

/// Linters that have not looked at all of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Others {
    None,
    /// Only such as have rules of their own: type checkers.
    WithOwnRules,
    #[default]
    Any,
}

impl Coverage {
    /// Computes the coverage of a file by its answers. `absent`: the linters for such files that were not asked.
    pub(super) fn of<'l>(
        answers: &[(usize, Arc<Answer>)],
        linter: impl Fn(usize) -> &'l dyn Linter,
        absent: Others,
    ) -> Self {
        let findings = answers.iter().flat_map(|(_, it)| &it.findings);
        let syntax_errors = findings.filter(|it| it.rule.is_syntax_error).count();
        if syntax_errors > 0 {
            // Text that one parser cannot read is misread by another.
            return Self { syntax_errors, ..Self::default() };
        }
        let is_whole =
            |(place, answer): &&(usize, Arc<Answer>)| answer.is_whole() && !is_masked(linter(*place), answer);
        let whole: Box<[_]> = answers.iter().filter(is_whole).map(|(place, _)| *place).collect();
        let others = if whole.len() == answers.len() { absent } else { Others::Any };
        Self { whole, others, syntax_errors }
    }

    /// Whether no other linter could have found something.
    pub fn is_all(&self) -> bool {
        self.others == Others::None
    }

    /// Replaces the places of the linters by those in `places`.
    pub(super) fn placed(mut self, places: &[usize]) -> Self {
        self.whole.iter_mut().for_each(|it| *it = places[*it]);
        self
    }
}

/// Whether findings of the answer may have kept the linter from finding others.
fn is_masked(linter: &dyn Linter, answer: &Answer) -> bool {
    match linter.masking() {
        Masking::SyntaxErrors => false,
        Masking::Errors => answer.findings.iter().any(|it| it.severity == Severity::Error),
        Masking::Unknown => true,
    }
}
