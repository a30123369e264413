//! Runs shuck over one text.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use broker_plugin_sdk::template::{self, Tag};
use broker_plugin_sdk::{Diagnostic as Finding, Report, Severity};
use shuck_linter::{
    AnalysisRequest, Diagnostic, LinterSettings, Rule, RuleSet, ShellCheckCodeMap, ShellDialect,
};
use shuck_parser::parser::ParseResult;

use crate::backticks::Backticks;
use crate::brackets;
use crate::config::Config;
use crate::continuations;
use crate::convert::Place;
use crate::dialect;
use crate::ends::ends_before;
use crate::extra::{self, Directive, Extra};
use crate::false_positives::FalsePositives;
use crate::rules::{SYNTAX_ERROR, is_of_syntax};
use crate::script::Script;
use crate::selection::Selection;
use crate::wanted;

/// Number of first lines among which Autoconf names itself.
const AUTOCONF_LINES: usize = 5;

/// Parts of the parser's messages for its own limits, at which the script may be right.
const LIMITS: [&str; 5] = ["too deep", "stack", "fuel", "operations", "static heredoc delimiter"];

pub(crate) fn report(
    text: &str,
    path: &Path,
    config: &Config,
    selection: &Selection,
    map: &ShellCheckCodeMap,
) -> Report {
    let Some(shell) = config.shell_of(path).or_else(|| dialect::inferred(text, path)) else {
        return Report::excluded();
    };
    let check = Check { text, path, config, selection, map, shell, without: &[], is_file: true };
    check.run().unwrap_or_else(|why| Report::left_out(&path.display().to_string(), &why))
}

/// A script, and what decides which findings it has.
pub(crate) struct Check<'a> {
    pub(crate) text: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) config: &'a Config,
    pub(crate) selection: &'a Selection,
    pub(crate) map: &'a ShellCheckCodeMap,
    pub(crate) shell: ShellDialect,
    /// ShellCheck's codes of rules that do not hold where the script is.
    pub(crate) without: &'a [&'a str],
    /// Whether the text is a file, which other scripts may read.
    pub(crate) is_file: bool,
}

impl Check<'_> {
    /// The findings, or why the script is left out.
    pub(crate) fn run(&self) -> Result<Report, Cow<'static, str>> {
        if self.is_quiet() && is_of_autoconf(self.text) {
            return Err("Autoconf made it".into());
        }
        let script = Script::parse(self.text, self.shell);
        if script.parsed.is_err() && self.is_quiet() && self.shell == ShellDialect::Zsh {
            // Syntax of zsh that shuck does not know is not the script's fault.
            return Err("shuck cannot read it".into());
        }
        let report = self.report(&script)?;
        self.reason_to_leave_out(&script, &report).map_or(Ok(report), |why| Err(why.into()))
    }

    /// Whether shuck is neither configured nor selected.
    fn is_quiet(&self) -> bool {
        !self.config.is_of_shuck && !self.selection.is_chosen()
    }

    fn report(&self, script: &Script<'_>) -> Result<Report, Cow<'static, str>> {
        let is_read = script.parsed.is_ok();
        let false_positives = is_read.then(|| FalsePositives::of(self, &script.parsed.file));
        let settings = self.settings(false_positives.as_ref());
        let request = AnalysisRequest::from_parse_result(&script.parsed, &script.text, &settings);
        let place = Place {
            text: self.text,
            altered: &script.altered,
            backticks: Backticks::of(&request),
            map: self.map,
            config: self.config,
        };
        let directives = Directive::all(&request, &script.text, self.map);
        let lint = || request.with_source_path(self.path).with_shellcheck_map(self.map).lint();
        let Some(false_positives) = false_positives else {
            return unreadable(&script.parsed, &place, self.selection)
                .unwrap_or_else(|| Ok(broken(&script.parsed, lint(), &place, self.selection)));
        };
        let mut found = self.findings(lint(), &false_positives, &place);
        found.extend(self.extra_findings(script, &directives));
        found.sort_by_key(|it| it.span.start);
        Ok(Report::new(found))
    }

    fn settings(&self, false_positives: Option<&FalsePositives<'_>>) -> LinterSettings {
        let mut settings = settings(self.path, self.shell, self.config, self.selection);
        settings.rules = settings.rules.subtract(&rules_named(self.without, self.map));
        wanted::narrow(&mut settings, |it| {
            false_positives.map_or_else(
                || !is_of_syntax(it),
                |false_positives| self.is_quiet() && false_positives.cover_all(it),
            )
        });
        settings
    }

    /// Converts those of shuck's findings that are reported.
    fn findings(
        &self,
        mut found: Vec<Diagnostic>,
        false_positives: &FalsePositives<'_>,
        place: &Place<'_>,
    ) -> Vec<Finding> {
        let is_suppressed = |it: &Diagnostic| {
            self.config.disabled.contains(it.rule) || self.is_quiet() && false_positives.cover(it)
        };
        found.retain(|it| !is_suppressed(it));
        let is_said = |it: &Diagnostic| {
            brackets::is_said(it, &found, false_positives)
                || self.is_quiet() && continuations::is_said(it, &found, self.text)
        };
        let is_first = |it: &&Diagnostic| !is_duplicate(it, &found) && !is_said(it);
        let finding = |it: &Diagnostic| {
            let glued = brackets::glued(it, &found, false_positives).map(|it| place.finding(it));
            let finding = continuations::reworded(place.finding(it), it, self.text);
            glued.into_iter().fold(finding, brackets::joined)
        };
        found.iter().filter(is_first).map(finding).collect()
    }

    /// Findings of the rules that shuck does not have; none for zsh, whose words and options differ.
    fn extra_findings(&self, script: &Script<'_>, directives: &[Directive]) -> Vec<Finding> {
        if self.shell == ShellDialect::Zsh {
            return Vec::new();
        }
        let mut on = extras_on(self.config, self.selection);
        on.retain(|it| !self.without.contains(&it.code()));
        let found = extra::check(&script.parsed.file, &script.text, &on, directives);
        found.into_iter().map(extra::finding).collect()
    }

    /// Why a report is worthless: the file may not be the script that it seems to be.
    fn reason_to_leave_out(&self, script: &Script<'_>, report: &Report) -> Option<&'static str> {
        let starts = || report.diagnostics.iter().map(|it| it.span.start as usize);
        let has_ended = |at| ends_before(&script.parsed.file, &script.text, at);
        if script.parsed.is_err() && self.is_quiet() && starts().min().is_some_and(has_ended) {
            return Some("it cannot be read after an `exit` or `exec`, where it need not be a script");
        }
        template::outside_of_quotes(self.text.as_bytes(), &TAGS, starts()).map(|_| template::IS_TEMPLATE)
    }
}

/// Whether another finding is more precise about the same code: `[ $a > 5 ]` is a comparison, and no odd redirection (SC2210);
/// `$@/x` lacks quotes first, and only then is part of a string (SC2145); `${a[@]}` is first of all an array that `sh` has not.
fn is_duplicate(it: &Diagnostic, found: &[Diagnostic]) -> bool {
    let by = match it.rule {
        Rule::BadRedirectionFdOrder => Rule::GreaterThanInTest,
        Rule::PositionalArgsInString => Rule::UnquotedArrayExpansion,
        _ => return false,
    };
    found.iter().any(|other| other.rule == by && other.span.start == it.span.start)
}

fn is_of_autoconf(text: &str) -> bool {
    text.lines().take(AUTOCONF_LINES).any(|it| it.starts_with("# Generated by GNU Autoconf"))
}

/// The rules that are on for a file.
pub(crate) fn rules_on(path: &Path, config: &Config, selection: &Selection) -> RuleSet {
    let ignored = config.settings.per_file_ignores.ignored_rules(path);
    selection.apply(config.settings.rules).subtract(&config.disabled).subtract(&ignored)
}

/// Returns the rules that are on of those that shuck does not have.
pub(crate) fn extras_on(config: &Config, selection: &Selection) -> Vec<Extra> {
    let configured: &[Extra] = if config.is_of_shuck { &[] } else { &Extra::ALL };
    let mut on = selection.extras(configured);
    on.retain(|it| !config.disabled_extras.contains(it));
    on
}

/// To a shell `{{` is a word, `${ … }` a variable, and `{#` part of `${#a}`.
const TAGS: [Tag; 2] = [Tag::Erb, Tag::Statement];

/// The rules that codes of ShellCheck name.
pub(crate) fn rules_named(codes: &[&str], map: &ShellCheckCodeMap) -> RuleSet {
    codes.iter().flat_map(|it| map.resolve_all(it)).collect()
}

fn settings(path: &Path, shell: ShellDialect, config: &Config, selection: &Selection) -> LinterSettings {
    let mut settings = config.settings.clone().with_shell(shell);
    settings.rules = selection.apply(settings.rules);
    settings.analyzed_paths = Some(Arc::new([path.to_path_buf()].into_iter().collect()));
    settings
}

/// Report for a script that cannot be parsed for a reason that makes the parser's errors worthless: its line ends, or a
/// limit of the parser, which is not the script's fault.
fn unreadable(
    parsed: &ParseResult,
    place: &Place<'_>,
    selection: &Selection,
) -> Option<Result<Report, Cow<'static, str>>> {
    let first = place.text.split('\n').next().unwrap_or_default();
    if first.ends_with('\r') {
        let error = Finding {
            url: Some("https://www.shellcheck.net/wiki/SC1017".to_owned()),
            ..place.syntax_error(CARRIAGE_RETURNS, first.len() - 1..first.len())
        };
        let reported = Some(error).filter(|_| selection.reports_syntax_errors());
        return Some(Ok(reported.into_iter().collect()));
    }
    limit(parsed).map(|it| Err(it.into()))
}

const CARRIAGE_RETURNS: &str = "lines end in CRLF, of which shells read the CR as a letter";

/// Findings for a script that cannot be parsed: what keeps it from that.
fn broken(
    parsed: &ParseResult,
    mut found: Vec<Diagnostic>,
    place: &Place<'_>,
    selection: &Selection,
) -> Report {
    if !selection.reports_syntax_errors() {
        return Report::new(Vec::new());
    }
    found.retain(|it| is_of_syntax(it.rule));
    let syntax_error =
        |it| Finding { code: SYNTAX_ERROR.to_owned(), severity: Severity::Error, ..place.finding(it) };
    let mut reported: Vec<Finding> = found.iter().map(syntax_error).collect();
    if reported.is_empty() {
        let (message, at) = problem(parsed);
        reported.push(place.syntax_error(&message, place.line_column(at)));
    }
    Report::new(reported)
}

/// The parser's first complaint, with its line and column.
fn problem(parsed: &ParseResult) -> (String, (usize, usize)) {
    let shuck_parser::Error::Parse { message, line, column } = parsed.strict_error();
    (message, (line, column))
}

fn limit(parsed: &ParseResult) -> Option<String> {
    let (message, at) = problem(parsed);
    // An error without a place is wrong as often as not: the parser cannot read `f() {(`.
    let is_limit = at.0 == 0 || LIMITS.iter().any(|it| message.contains(it));
    is_limit.then(|| format!("shuck cannot read it: {message}"))
}
