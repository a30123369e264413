//! Rules of markdownlint's that rumdl follows in part only: they look at the text themselves, and what they say counts.

use std::collections::BTreeSet;

use rumdl_lib::rule::{LintWarning, Rule};

use super::page::Page;
use super::{blank_lines, blocks, emphasis, line_length, styles, table_columns, tables};

/// Use that is made of rumdl's own findings of a rule.
#[derive(Clone, Copy, PartialEq)]
enum Rumdl {
    /// Their words and fixes, in lines with findings.
    Words,
    /// The same, if an option says which style is wanted. rumdl wants the one that is most common otherwise.
    WordsOfStyle,
    /// All of them, and there are more.
    Whole,
    Nothing,
}

type Check = fn(&Page<'_>) -> Vec<LintWarning>;

const CHECKS: [(&str, Check, Rumdl); 19] = [
    ("MD001", blocks::heading_increment, Rumdl::Words),
    ("MD003", styles::headings, Rumdl::WordsOfStyle),
    ("MD004", styles::lists, Rumdl::Nothing),
    ("MD005", blocks::list_indent, Rumdl::Words),
    ("MD009", blank_lines::trailing_spaces, Rumdl::Words),
    ("MD012", blank_lines::multiple_blanks, Rumdl::Words),
    ("MD013", line_length::check, Rumdl::Nothing),
    ("MD028", blank_lines::blanks_in_quotation, Rumdl::Words),
    ("MD029", styles::numbers, Rumdl::Nothing),
    ("MD031", blocks::blanks_around_fences, Rumdl::Words),
    ("MD032", blocks::blanks_around_lists, Rumdl::Words),
    ("MD035", styles::breaks, Rumdl::Nothing),
    ("MD036", emphasis::as_heading, Rumdl::Whole),
    ("MD046", blocks::code_style, Rumdl::WordsOfStyle),
    ("MD049", emphasis::style, Rumdl::Nothing),
    ("MD050", emphasis::strong_style, Rumdl::Nothing),
    ("MD055", tables::pipe_style, Rumdl::Nothing),
    ("MD056", tables::column_count, Rumdl::Words),
    ("MD060", table_columns::check, Rumdl::Nothing),
];

/// Puts what those of `rules` find in the place of what rumdl found.
pub(super) fn apply(page: &Page<'_>, rules: &[Box<dyn Rule>], warnings: &mut Vec<LintWarning>) {
    for (code, check, rumdl) in CHECKS {
        if rules.iter().any(|it| it.name() == code) {
            let mut found = check(page);
            found.retain(|it| !page.is_off(code, it.line));
            let has_style = page.style(code, "consistent") != "consistent";
            merge(code, found, rumdl.given(has_style), warnings);
        }
    }
}

impl Rumdl {
    /// Resolves `WordsOfStyle` by whether an option names the rule's style.
    fn given(self, has_style: bool) -> Self {
        match self {
            Self::WordsOfStyle if has_style => Self::Words,
            Self::WordsOfStyle => Self::Nothing,
            _ => self,
        }
    }

    /// Whether a finding of rumdl's is kept, given the lines of the findings that count.
    fn keeps(self, found: &LintWarning, lines: &BTreeSet<usize>) -> bool {
        match self {
            Self::Words | Self::WordsOfStyle => lines.contains(&found.line),
            Self::Whole => true,
            Self::Nothing => false,
        }
    }
}

/// Adds `found` to what stays of rumdl's findings, where these have none.
fn merge(code: &str, mut found: Vec<LintWarning>, rumdl: Rumdl, warnings: &mut Vec<LintWarning>) {
    let wanted: BTreeSet<usize> = found.iter().map(|it| it.line).collect();
    warnings.retain(|it| !is_of(code, it) || rumdl.keeps(it, &wanted));
    let known: BTreeSet<usize> = warnings.iter().filter(|it| is_of(code, it)).map(|it| it.line).collect();
    found.retain(|it| !known.contains(&it.line));
    warnings.extend(found);
}

/// Whether a finding is one of a rule's, or of a part of it (`MD029-style`).
fn is_of(code: &str, found: &LintWarning) -> bool {
    let rest = found.rule_name.as_deref().and_then(|it| it.strip_prefix(code));
    rest.is_some_and(|it| it.is_empty() || it.starts_with('-'))
}
