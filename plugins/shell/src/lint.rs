//! Runs shuck over one text.

use std::path::Path;
use std::sync::Arc;

use broker_plugin_sdk::template::{Tag, on_lines, tags, unquoted};
use broker_plugin_sdk::{self as plugin, Report, Severity};
use shuck_linter::{AnalysisRequest, Diagnostic, LinterSettings, RuleSet, ShellCheckCodeMap, ShellDialect};
use shuck_parser::parser::ParseResult;

use crate::backticks::Backticks;
use crate::config::Config;
use crate::convert::Place;
use crate::dialect;
use crate::doubts::Doubts;
use crate::rules::{SYNTAX_ERROR, is_of_syntax};
use crate::script::Script;
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
    let script = Script::parse(text, shell);
    let settings = settings(path, shell, config, selection);
    let request = AnalysisRequest::from_parse_result(&script.parsed, &script.text, &settings);
    let backticks = Backticks::of(&request);
    let place = Place { text, altered: &script.altered, backticks, offset, map, config };
    let lint = || request.with_source_path(path).with_shellcheck_map(map).lint();
    let is_quiet = !config.is_of_shuck && !selection.is_chosen();
    if script.parsed.is_err() && is_quiet && shell == ShellDialect::Zsh {
        // What shuck does not know of zsh is not the script's fault.
        return left_out(path, "shuck cannot read it");
    }
    let report = if script.parsed.is_err() {
        unreadable(&script.parsed, &place, path, selection)
            .unwrap_or_else(|| broken(&script.parsed, lint(), &place, selection))
    } else {
        let doubts = Doubts::of(text, shell);
        let is_told = |it: &Diagnostic| !config.disabled.contains(it.rule) && !(is_quiet && doubts.cover(it));
        let found = lint().into_iter().filter(is_told);
        Report::new(found.map(|it| place.finding(&it)).collect())
    };
    let starts = report.diagnostics.iter().map(|it| (it.span.start as usize).saturating_sub(offset));
    if is_template(text, starts) { left_out(path, "it looks like a template") } else { report }
}

/// The rules that are on for a file.
pub(crate) fn rules_on(path: &Path, config: &Config, selection: &Selection) -> RuleSet {
    let ignored = config.settings.per_file_ignores.ignored_rules(path);
    selection.apply(config.settings.rules).subtract(&config.disabled).subtract(&ignored)
}

/// To a shell `{{` is a word, `${ … }` a variable, and `{#` part of `${#a}`.
const TAGS: [Tag; 2] = [Tag::Erb, Tag::Statement];

/// Whether a tag is on the line of a finding, outside of quotes.
fn is_template(text: &str, mut places: impl Iterator<Item = usize>) -> bool {
    let Some(first) = places.next() else { return false };
    let plain = unquoted(text.as_bytes(), b"\"'");
    on_lines(&plain, tags(&plain, &TAGS), places.chain([first])).is_some()
}

fn left_out(path: &Path, why: &str) -> Report {
    Report::left_out(&path.display().to_string(), why)
}

fn settings(path: &Path, shell: ShellDialect, config: &Config, selection: &Selection) -> LinterSettings {
    let mut settings = config.settings.clone().with_shell(shell);
    settings.rules = selection.apply(settings.rules);
    settings.analyzed_paths = Some(Arc::new([path.to_path_buf()].into_iter().collect()));
    settings
}

/// Report for a script that cannot be parsed for a reason that makes the parser's errors worthless: its line ends, or a
/// limit of the parser, which is not the script's fault.
fn unreadable(parsed: &ParseResult, place: &Place<'_>, path: &Path, selection: &Selection) -> Option<Report> {
    let first = place.text.split('\n').next().unwrap_or_default();
    if first.ends_with('\r') {
        let error = plugin::Diagnostic {
            url: Some("https://www.shellcheck.net/wiki/SC1017".to_owned()),
            ..place.syntax_error(CARRIAGE_RETURNS, first.len() - 1..first.len())
        };
        let told = Some(error).filter(|_| selection.tells_syntax_errors());
        return Some(Report::new(told.into_iter().collect()));
    }
    Some(left_out(path, &limit(parsed)?))
}

const CARRIAGE_RETURNS: &str = "lines end in CRLF, of which shells read the CR as a letter";

/// Findings for a script that cannot be parsed: what keeps it from that.
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
    let syntax_error = |it| plugin::Diagnostic {
        code: SYNTAX_ERROR.to_owned(),
        severity: Severity::Error,
        ..place.finding(it)
    };
    let mut told: Vec<plugin::Diagnostic> = found.iter().map(syntax_error).collect();
    if told.is_empty() {
        let (message, at) = problem(parsed);
        told.push(place.syntax_error(&message, place.line_column(at)));
    }
    Report::new(told)
}

/// The parser's first complaint, with its line and column.
fn problem(parsed: &ParseResult) -> (String, (usize, usize)) {
    let shuck_parser::Error::Parse { message, line, column } = parsed.strict_error();
    (message, (line, column))
}

fn limit(parsed: &ParseResult) -> Option<String> {
    let (message, at) = problem(parsed);
    // Where it names no place, it is wrong as often as not: it cannot read `f() {(`.
    let is_limit = at.0 == 0 || LIMITS.iter().any(|it| message.contains(it));
    is_limit.then(|| format!("shuck cannot read it: {message}"))
}
