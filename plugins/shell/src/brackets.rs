//! Merges the findings for a test whose `]` has no space before it: SC1073 reports the missing `]`; SC1019 and SC1020 report where
//! the space belongs, and have the fix.

use broker_plugin_sdk as plugin;
use shuck_linter::{Diagnostic, Rule};

use crate::false_positives::FalsePositives;

/// Message of SC1073 for such a test.
const MESSAGE: &str = "`[` test is missing its closing `]`: put a space before it";

/// Whether a finding reports where the space belongs.
fn is_glued(it: &Diagnostic) -> bool {
    matches!(it.rule, Rule::MissingBracketSpace | Rule::MissingSpaceBeforeBracketClose)
}

/// Whether SC1073 is reported for the same test.
pub(crate) fn is_said(it: &Diagnostic, found: &[Diagnostic], false_positives: &FalsePositives<'_>) -> bool {
    if !is_glued(it) {
        return false;
    }
    let at = it.span.start.offset();
    let tests = found.iter().filter(|it| it.rule == Rule::BrokenTestEnd && it.span.start.offset() <= at);
    let nearest = tests.max_by_key(|it| it.span.start.offset());
    nearest.is_some_and(|test| false_positives.are_together(test, it))
}

/// The finding that says where the space of a test belongs.
pub(crate) fn glued<'f>(
    test: &Diagnostic,
    found: &'f [Diagnostic],
    false_positives: &FalsePositives<'_>,
) -> Option<&'f Diagnostic> {
    if test.rule != Rule::BrokenTestEnd {
        return None;
    }
    let at = test.span.start.offset();
    let behind = found.iter().filter(|it| is_glued(it) && it.span.start.offset() >= at);
    let nearest = behind.min_by_key(|it| it.span.start.offset());
    nearest.filter(|it| false_positives.are_together(test, it))
}

/// SC1073 with the fix of the other finding.
pub(crate) fn joined(test: plugin::Diagnostic, glued: plugin::Diagnostic) -> plugin::Diagnostic {
    plugin::Diagnostic { message: MESSAGE.to_owned(), fixes: glued.fixes, ..test }
}
