//! Ruff's diagnostics in the plugin's words. Leaves out rendering: line and column are the host's to count.

use broker_plugin_sdk::{self as plugin, Report, Severity, Tags};
use ruff_db::diagnostic::{Annotation, Diagnostic, DiagnosticTag, SubDiagnosticSeverity};
use ruff_diagnostics::{Applicability, Fix};
use ruff_text_size::{Ranged, TextRange};

use crate::notebook::Cells;

/// Code that ruff prints in place of a rule's for syntax errors.
pub(crate) const SYNTAX_ERROR: &str = "invalid-syntax";

/// Codes that ruff's own language server shows as errors.
const ERRORS: [&str; 3] = [SYNTAX_ERROR, "F821", "E902"];

/// A report, in the order of the text; `cells` if it is of a notebook.
pub(crate) fn report(mut diagnostics: Vec<Diagnostic>, cells: Option<&Cells>) -> Report {
    diagnostics.sort_by_key(|it| it.range().map(TextRange::start));
    let place = Place { cells };
    let found = diagnostics.iter().map(|it| place.diagnostic(it)).collect();
    Report { cells: cells.map_or_else(Vec::new, Cells::texts), ..Report::new(found) }
}

/// Frame of reference of offsets: a file, or the cells of a notebook.
struct Place<'a> {
    cells: Option<&'a Cells>,
}

impl Place<'_> {
    fn diagnostic(&self, diagnostic: &Diagnostic) -> plugin::Diagnostic {
        let range = diagnostic.range().unwrap_or_default();
        let cell = self.cells.map(|it| it.cell_at(range));
        let code = diagnostic.secondary_code_or_id();
        plugin::Diagnostic {
            code: code.to_owned(),
            name: (code != diagnostic.name()).then(|| diagnostic.name().to_owned()),
            message: diagnostic.concise_message().to_str().into_owned(),
            severity: if ERRORS.contains(&code) { Severity::Error } else { Severity::Warning },
            cell,
            span: self.clamped(range, cell),
            tags: tags(diagnostic),
            url: diagnostic.documentation_url().map(str::to_owned),
            fixes: diagnostic.fix().and_then(|it| self.fix(it, diagnostic, cell)).into_iter().collect(),
            related: self.related(diagnostic, cell),
        }
    }

    fn fix(&self, fix: &Fix, diagnostic: &Diagnostic, cell: Option<u32>) -> Option<plugin::Fix> {
        let mut edits = Vec::with_capacity(fix.edits().len());
        for edit in fix.edits() {
            let content = edit.content().unwrap_or_default();
            let (span, replacement) = match (self.cells, cell) {
                (Some(cells), Some(cell)) => cells.edit(edit.range(), content, cell)?,
                _ => (span(edit.range()), content),
            };
            edits.push(plugin::Edit { span, replacement: replacement.to_owned() });
        }
        edits.sort_by_key(|it| (it.span.start, it.span.end));
        let apart = edits.array_windows().all(|[a, b]| a.span.end <= b.span.start);
        apart.then(|| plugin::Fix {
            message: diagnostic.first_help_text().map(str::to_owned),
            applicability: match fix.applicability() {
                Applicability::Safe => plugin::Applicability::Safe,
                Applicability::Unsafe => plugin::Applicability::Unsafe,
                Applicability::DisplayOnly => plugin::Applicability::DisplayOnly,
            },
            edits,
        })
    }

    /// Secondary annotations, and notes that point somewhere.
    fn related(&self, diagnostic: &Diagnostic, cell: Option<u32>) -> Vec<plugin::Related> {
        let main = diagnostic.secondary_annotations().filter_map(|it| self.place(it, None, cell));
        let notes = diagnostic.sub_diagnostics().iter();
        let notes = notes.filter(|it| it.severity() != SubDiagnosticSeverity::Help);
        let notes =
            notes.filter_map(|it| self.place(it.primary_annotation()?, Some(it.headline_message()), cell));
        main.chain(notes).collect()
    }

    fn place(
        &self,
        annotation: &Annotation,
        note: Option<&str>,
        cell: Option<u32>,
    ) -> Option<plugin::Related> {
        let message = note.or_else(|| annotation.get_message()).filter(|it| !it.is_empty())?;
        let range = annotation.get_span().range()?;
        if self.cells.is_some_and(|it| Some(it.cell_at(range)) != cell) {
            return None;
        }
        Some(plugin::Related { path: None, span: self.clamped(range, cell), message: message.to_owned() })
    }

    fn clamped(&self, range: TextRange, cell: Option<u32>) -> plugin::Span {
        match (self.cells, cell) {
            (Some(cells), Some(cell)) => cells.clamped(range, cell),
            _ => span(range),
        }
    }
}

fn span(range: TextRange) -> plugin::Span {
    plugin::Span { start: range.start().to_u32(), end: range.end().to_u32() }
}

fn tags(diagnostic: &Diagnostic) -> Tags {
    let tags = diagnostic.primary_tags().unwrap_or_default().iter();
    tags.fold(Tags::empty(), |all, it| match it {
        DiagnosticTag::Unnecessary => all | Tags::UNNECESSARY,
        DiagnosticTag::Deprecated => all | Tags::DEPRECATED,
    })
}
