//! Work done ahead of time, so that no instance has to do it: regular expressions and tables that ruff
//! builds on first use. Reads no files.

use std::path::Path;

use ruff_linter::linter::{ParseSource, lint_only};
use ruff_linter::settings::flags;
use ruff_linter::source_kind::SourceKind;
use ruff_python_ast::PySourceType;
use ruff_workspace::configuration::{Configuration, RuleSelection};

use crate::selection;

/// Something for most of ruff's rules to look at.
const SAMPLE: &str = include_str!("warm_up.py");

/// Lints the sample, with the default rules and with all of them.
pub(crate) fn run() {
    let all = selection::all();
    for selection in [RuleSelection::default(), all] {
        lint(selection);
    }
}

fn lint(selection: RuleSelection) {
    // No `src`: deciding whether an import is the project's own would look for files.
    let mut configuration = Configuration { src: Some(Vec::new()), ..Configuration::default() };
    configuration.lint.rule_selections.push(selection);
    let Ok(settings) = configuration.into_settings(Path::new("/")) else {
        return;
    };
    let source = SourceKind::Python { code: SAMPLE.to_owned(), is_stub: false };
    let path = Path::new("/warm_up.py");
    let (noqa, parse) = (flags::Noqa::Enabled, ParseSource::None);
    lint_only(path, None, &settings.linter, noqa, &source, PySourceType::Python, parse);
}
