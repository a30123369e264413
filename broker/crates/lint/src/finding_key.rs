//! Identity of a finding, by which it is recognised again.

use crate::{Diagnostic, Span};

/// Key of a finding. Made from a [`Diagnostic`], or from whatever a front keeps of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FindingKey<'a> {
    pub linter: &'a str,
    /// The rule, in the linter's own words: `F401`.
    pub code: &'a str,
    /// The rule's readable name where it has one.
    pub name: Option<&'a str>,
    pub message: &'a str,
    /// The text of the notebook cell that `span` counts in; `None`: the file's own text.
    pub cell: Option<&'a str>,
    pub span: Span,
}

impl<'a> FindingKey<'a> {
    /// `cells` are those of the diagnostic's [`Outcome`](crate::Outcome).
    pub fn of(linter: &'a str, it: &'a Diagnostic, cells: &'a [crate::CellText]) -> Self {
        Self {
            linter,
            code: &it.code,
            name: it.name.as_deref(),
            message: &it.message,
            cell: it.cell.and_then(|index| cells.get(index as usize)).map(|it| &**it),
            span: it.span,
        }
    }
}

/// A file's text with findings in it: in any order, but the order is kept in answers about them.
#[derive(Debug, Clone, Copy)]
pub struct FileFindings<'a> {
    pub text: &'a [u8],
    pub findings: &'a [FindingKey<'a>],
}

/// The bytes of `span`, cut where the text ends.
pub(crate) fn slice(text: &[u8], span: Span) -> &[u8] {
    let end = (span.end as usize).min(text.len());
    &text[(span.start as usize).min(end)..end]
}
