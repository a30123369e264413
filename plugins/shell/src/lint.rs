//! Runs shuck over one text.

use std::path::Path;
use std::sync::Arc;

use broker_plugin_sdk::{self as plugin, Completeness, Report, Severity};
use shuck_linter::{AnalysisRequest, Diagnostic, ShellCheckCodeMap};
use shuck_parser::parser::{ParseResult, ParseStatus, Parser};

use crate::config::Config;
use crate::convert::Place;
use crate::dialect;
use crate::rules::{SYNTAX_ERROR, is_of_syntax};
use crate::selection::Selection;

/// What the parser says where it gives up though the script may be right.
const LIMITS: [&str; 5] = ["too deep", "stack", "fuel", "operations", "static heredoc delimiter"];

pub(crate) fn report(
    text: &str,
    path: &Path,
    offset: usize,
    config: &Config,
    selection: &Selection,
    map: &ShellCheckCodeMap,
) -> Report {
    let Some(shell) = config.shell_of(path).or_else(|| dialect::inferred(text, path)) else {
        return Report::excluded();
    };
    let parsed = Parser::with_dialect(text, shell.parser_dialect()).parse();
    if let Some(limit) = limit(&parsed) {
        return Report { completeness: Completeness::Partial(limit), ..Report::new(Vec::new()) };
    }
    let mut settings = config.settings.clone().with_shell(shell);
    settings.rules = selection.apply(settings.rules);
    settings.analyzed_paths = Some(Arc::new([path.to_path_buf()].into_iter().collect()));
    let request = AnalysisRequest::from_parse_result(&parsed, text, &settings).with_source_path(path);
    let mut found = request.with_shellcheck_map(map).lint();
    let place = Place { text, offset, map, config };
    if parsed.is_err() {
        return broken(&parsed, found, &place, selection);
    }
    found.retain(|it| !config.disabled.contains(it.rule));
    Report::new(found.iter().map(|it| place.finding(it)).collect())
}

/// Of a script that cannot be parsed, what keeps it from that.
fn broken(
    parsed: &ParseResult,
    mut found: Vec<Diagnostic>,
    place: &Place<'_>,
    selection: &Selection,
) -> Report {
    if !selection.tells_syntax_errors() {
        return Report::new(Vec::new());
    }
    found.retain(|it| is_of_syntax(it.rule));
    let mut told: Vec<plugin::Diagnostic> = found.iter().map(|it| place.finding(it)).collect();
    told.iter_mut().for_each(|it| it.severity = Severity::Error);
    if told.is_empty() {
        let (message, at) = problem(parsed);
        let range = place.line_column(at);
        let error = plugin::Diagnostic::new(SYNTAX_ERROR, message, range);
        told.push(plugin::Diagnostic { severity: Severity::Error, ..error });
    }
    Report::new(told)
}

/// The parser's first complaint, with its line and column.
fn problem(parsed: &ParseResult) -> (String, (usize, usize)) {
    let shuck_parser::Error::Parse { message, line, column } = parsed.strict_error();
    (message, (line, column))
}

fn limit(parsed: &ParseResult) -> Option<String> {
    let (message, at) = (parsed.status != ParseStatus::Clean).then(|| problem(parsed))?;
    // Where it names no place, it is wrong as often as not: it cannot read `f() {(`.
    let is_limit = at.0 == 0 || LIMITS.iter().any(|it| message.contains(it));
    is_limit.then(|| format!("it was not looked at as a whole: {message}"))
}
