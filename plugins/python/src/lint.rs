//! Runs ruff over one file's bytes, as `ruff check` does over a file on disk. Knows nothing of other files.

use std::io;
use std::path::Path;
use std::rc::Rc;

use broker_plugin_sdk::{self as plugin, Report, Severity, SourceFile};
use ruff_db::diagnostic::Diagnostic;
use ruff_linter::linter::{ParseSource, lint_only};
use ruff_linter::registry::Rule;
use ruff_linter::settings::{LinterSettings, flags};
use ruff_linter::source_kind::SourceKind;
use ruff_linter::toml::lint_toml;
use ruff_notebook::{Notebook, NotebookError, RawNotebook};
use ruff_python_ast::{PySourceType, SourceType};
use ruff_text_size::TextRange;

use crate::false_positives::{self, Checked};
use crate::notebook::Cells;
use crate::purpose::Purpose;
use crate::workspace::{Applied, Package};
use crate::{convert, python2};

/// Runs ruff on the file.
///
/// # Errors
///
/// If the file cannot be read and the rule for that (E902) is not selected, for which ruff has a warning. The error is the
/// reason.
pub(crate) fn run(
    path: &Path,
    file: &SourceFile,
    package: Option<&Rc<Package>>,
    applied: &Applied,
    purposes: &[Purpose],
) -> Result<Report, String> {
    let content = &*file.content;
    let settings = &applied.settings.linter;
    let source_type = settings.extension.get_source_type(path);
    let SourceType::Python(source_type) = source_type else {
        return other(path, content, source_type, settings);
    };
    let source = match source(content, source_type) {
        Ok(Some(source)) => source,
        Ok(None) => return Ok(Report::new(Vec::new())), // a notebook in another language
        Err(problem) => return unreadable(problem, settings),
    };
    let package = package.map(|it| it.root());
    let noqa = flags::Noqa::Enabled;
    let result = lint_only(path, package, settings, noqa, &source, source_type, ParseSource::None);
    let mut found = result.diagnostics;
    if applied.is_default {
        if is_python_2(&found, &source, source_type) {
            if python2::is_declared(content, source_type) {
                return Ok(Report::left_out(&file.path, "it is for Python 2"));
            }
            keep_first_syntax_error(&mut found);
        }
        let oldest = settings.resolve_target_version(path).linter_version();
        false_positives::suppress(
            &mut found,
            &Checked { path, source: &source, source_type, oldest, purposes },
        );
    }
    Ok(convert::report(found, source.as_ipy_notebook().map(Cells::new).as_ref()))
}

/// Whether a file that does not parse is Python 2, of which nothing else is worth reporting.
fn is_python_2(found: &[Diagnostic], source: &SourceKind, source_type: PySourceType) -> bool {
    found.iter().any(Diagnostic::is_invalid_syntax) && python2::is_written_in(source, source_type)
}

fn keep_first_syntax_error(found: &mut Vec<Diagnostic>) {
    found.retain(Diagnostic::is_invalid_syntax);
    found.sort_by_key(|it| it.range().map(TextRange::start));
    found.truncate(1);
}

fn other(
    path: &Path,
    content: &[u8],
    source_type: SourceType,
    settings: &LinterSettings,
) -> Result<Report, String> {
    let SourceType::Toml(source_type) = source_type else {
        return Ok(Report::new(Vec::new())); // ruff formats Markdown, but lints nothing in it
    };
    match io::read_to_string(content) {
        Ok(text) => Ok(convert::report(lint_toml(path, &text, settings, source_type), None)),
        Err(error) => unreadable(Problem::Io(error.to_string()), settings),
    }
}

/// Reason why a file could not be read.
enum Problem {
    Io(String),
    Syntax(String),
}

fn source(content: &[u8], source_type: PySourceType) -> Result<Option<SourceKind>, Problem> {
    if !source_type.is_ipynb() {
        // Through `io` for the very message that ruff prints.
        let code = io::read_to_string(content).map_err(|it| Problem::Io(it.to_string()))?;
        return Ok(Some(SourceKind::Python { code, is_stub: source_type.is_stub() }));
    }
    let notebook = notebook(content).map_err(|it| match it {
        NotebookError::Io(_) | NotebookError::Json(_) => Problem::Io(it.to_string()),
        _ => Problem::Syntax(it.to_string()),
    })?;
    Ok(notebook.is_python_notebook().then(|| SourceKind::ipy_notebook(notebook)))
}

fn notebook(content: &[u8]) -> Result<Notebook, NotebookError> {
    match std::str::from_utf8(content) {
        Ok(text) => Notebook::from_source_code(text),
        // Ends in the reader's own error about the encoding.
        Err(_) => match serde_json::from_reader::<_, RawNotebook>(content) {
            Ok(raw) => Notebook::from_raw_notebook(raw, false),
            Err(error) => Err(NotebookError::InvalidJson(error)),
        },
    }
}

fn unreadable(problem: Problem, settings: &LinterSettings) -> Result<Report, String> {
    let diagnostic = match problem {
        Problem::Io(message) if !settings.rules.enabled(Rule::IOError) => return Err(message),
        Problem::Io(message) => plugin::Diagnostic {
            name: Some(Rule::IOError.name().to_string()),
            url: Rule::IOError.url(),
            ..plugin::Diagnostic::new(Rule::IOError.noqa_code().to_string(), message, 0..0)
        },
        Problem::Syntax(message) => plugin::Diagnostic::new(convert::SYNTAX_ERROR, message, 0..0),
    };
    Ok(Report::new(vec![plugin::Diagnostic { severity: Severity::Error, ..diagnostic }]))
}
