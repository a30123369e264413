//! Runs deno_lint over one file's bytes, as `deno lint` does over a file on disk. Knows nothing of other files.

use std::borrow::Cow;
use std::path::Path;

use broker_plugin_sdk::offsets::{not_utf8, without_mark};
use broker_plugin_sdk::{Diagnostic, Report, vendored};
use deno_ast::{MediaType, ParseDiagnostic, ParsedSource, SourceRange, StartSourcePos};
use deno_lint::diagnostic::LintDiagnostic;
use deno_lint::linter::{LintConfig, LintFileOptions, Linter, LinterOptions};
use deno_lint::rules::get_all_rules;

use crate::convert::Place;
use crate::doubts::Source;
use crate::eslint::Disabled;
use crate::rules::{ELSEWHERE, Kind, SYNTAX_ERROR};
use crate::selection::Selection;
use crate::shifts::Split;
use crate::{defaults, expression, flow, keys, meant};

/// The linter with some rules.
pub(crate) struct FileLinter {
    linter: Linter,
    kind: Kind,
    codes: Vec<&'static str>,
    jsx: LintConfig,
    /// Whether the configuration names plugins, which are JavaScript and not run here.
    has_plugins: bool,
    tells_syntax_errors: bool,
    /// Without a configuration of deno's and a selection of rules, what may be meant as it is passes.
    is_quiet: bool,
}

impl FileLinter {
    pub(crate) fn new(
        kind: Kind,
        codes: Vec<&'static str>,
        jsx: LintConfig,
        has_plugins: bool,
        selection: &Selection,
    ) -> Self {
        let all = get_all_rules();
        let all_rule_codes = all.iter().map(|it| it.code()).chain(ELSEWHERE).map(Cow::Borrowed).collect();
        let rules = all.into_iter().filter(|it| codes.contains(&it.code())).collect();
        let linter = Linter::new(LinterOptions {
            rules,
            all_rule_codes,
            custom_ignore_file_directive: None,
            custom_ignore_diagnostic_directive: None,
        });
        let tells_syntax_errors = !selection.ignores(SYNTAX_ERROR);
        let is_quiet = !kind.is_of_deno() && !selection.is_chosen();
        Self { linter, kind, codes, jsx, has_plugins, tells_syntax_errors, is_quiet }
    }

    /// The rules that are on.
    pub(crate) fn codes(&self) -> Vec<&'static str> {
        let syntax = self.tells_syntax_errors.then_some(SYNTAX_ERROR);
        self.codes.iter().copied().chain(syntax).collect()
    }

    /// What deno says of the file, which is below `root`.
    pub(crate) fn run(&self, path: &Path, text: &str, root: &Path) -> Result<Report, String> {
        let (mark, text) = without_mark(text);
        let (parsed, read) = self.parse_with_splits(path, text)?;
        if first_error(&parsed).is_some()
            && let Some(why) = self.objection(path, text, root)
        {
            let path = path.strip_prefix(root).unwrap_or(path);
            return Ok(Report::left_out(&path.display().to_string(), why));
        }
        let blanks = read.as_ref().map(|it| it.blanks().to_vec()).unwrap_or_default();
        let place = Place { text, blanks };
        let read = read.as_ref().map_or(text, |it| &it.text);
        let found = match parsed {
            Ok((parsed, mut findings)) => {
                if !self.kind.is_of_deno() {
                    keys::locate(&mut findings, &parsed);
                }
                let syntax = parsed.diagnostics().iter().filter(|_| self.tells_syntax_errors);
                let source = Source { parsed: &parsed, text: read };
                let disabled =
                    if self.kind.is_of_deno() { Disabled::nothing() } else { Disabled::of(&parsed) };
                let is_wanted = |it: &&LintDiagnostic| self.is_wanted(it) && !disabled.has(it);
                let mut rules: Vec<_> =
                    findings.iter().filter(|it| is_wanted(it) && !source.refutes(it)).collect();
                if self.is_quiet {
                    excuse(&mut rules, &source);
                    drop_vendored(&mut rules, path.strip_prefix(root).unwrap_or(path), text);
                }
                let rules = rules.into_iter();
                syntax.map(|it| place.syntax_error(it)).chain(rules.map(|it| place.finding(it))).collect()
            }
            Err(error) if self.tells_syntax_errors => vec![place.syntax_error(&error)],
            Err(_) => Vec::new(),
        };
        Ok(Report::sorted(found).shifted(mark))
    }

    /// Why a file that does not parse is likely right.
    fn objection(&self, path: &Path, text: &str, root: &Path) -> Option<&'static str> {
        if self.is_quiet && flow::is_likely(path, text, root) {
            return Some("its types are Flow's");
        }
        let is_expression = !self.kind.is_of_deno() && expression::is_one(path, text);
        is_expression.then_some("it is an expression, which another program evaluates")
    }

    /// With what was read in place of the text, if that is another.
    fn parse_with_splits(&self, path: &Path, text: &str) -> Result<(Parsed, Option<Split>), String> {
        let mut best = self.parse_and_lint(path, text)?;
        if !MediaType::from_path(path).is_typed() || first_error(&best).is_none() || !text.contains("<<") {
            return Ok((best, None));
        }
        let mut split = Split::new(text);
        while let Some(error) = first_error(&best) {
            let mut better = None;
            for attempt in split.attempts(error) {
                let parsed = self.parse_and_lint(path, &attempt.text)?;
                // The blank itself moves what follows.
                if first_error(&parsed).is_none_or(|it| it > error + 1) {
                    better = Some((parsed, attempt));
                    break;
                }
            }
            let Some((parsed, attempt)) = better else { break };
            (best, split) = (parsed, attempt);
        }
        Ok((best, Some(split)))
    }

    /// The outer error is about the path.
    fn parse_and_lint(&self, path: &Path, text: &str) -> Result<Parsed, String> {
        let specifier = deno_path_util::url_from_file_path(path).map_err(|it| it.to_string())?;
        let media_type = MediaType::from_specifier(&specifier);
        let lint = |media_type| {
            self.linter.lint_file(LintFileOptions {
                specifier: specifier.clone(),
                source_code: text.to_owned(),
                media_type,
                config: self.jsx.clone(),
                external_linter: None,
            })
        };
        let result = lint(media_type);
        // Outside Deno, other tools let `.js` have JSX.
        let may_have_jsx = !self.kind.is_of_deno() && media_type == MediaType::JavaScript;
        if first_error(&result).is_none() || !may_have_jsx {
            return Ok(result);
        }
        // The parser goes on after some of the errors that JSX makes.
        let with_jsx = lint(MediaType::Jsx);
        Ok(if first_error(&with_jsx).is_none() || result.is_err() && with_jsx.is_ok() {
            with_jsx
        } else {
            result
        })
    }

    /// The crate tells about suppression comments whether those rules are on or not.
    fn is_wanted(&self, finding: &LintDiagnostic) -> bool {
        let code = finding.details.code.as_str();
        let is_of_plugin =
            self.has_plugins && code == "ban-unknown-rule-code" && finding.details.message.contains('/');
        self.codes.contains(&code) && !is_of_plugin
    }
}

type Parsed = Result<(ParsedSource, Vec<LintDiagnostic>), ParseDiagnostic>;

/// Where the first syntax error is, in bytes.
fn first_error(parsed: &Parsed) -> Option<usize> {
    let at = |it: &ParseDiagnostic| it.range().as_byte_range(StartSourcePos::START_SOURCE_POS).start;
    match parsed {
        Ok((parsed, _)) => parsed.diagnostics().iter().map(at).min(),
        Err(error) => Some(at(error)),
    }
}

/// Takes out what may be meant, names that are not used for a reason, and what control flow that the crate does not see
/// makes right.
fn excuse(findings: &mut Vec<&LintDiagnostic>, source: &Source<'_>) {
    findings.retain(|it| !source.may_be_meant(it));
    for code in ["no-unused-vars", "no-unreachable", "constructor-super"].into_iter().chain(meant::RULES) {
        let place = |it: &LintDiagnostic| {
            // Other messages about `super()` are about calls that are there.
            let is_doubtful =
                code != "constructor-super" || it.details.message.ends_with("must call super()");
            let range = it.range.as_ref().filter(|_| is_doubtful && it.details.code == code);
            range.map(|it| it.range)
        };
        let places: Vec<_> = findings.iter().filter_map(|it| place(it)).collect();
        if places.is_empty() {
            continue;
        }
        let mut excused = source.excused(code, &places);
        if code == "no-unused-vars" {
            excused.extend(source.used_in_types(&places));
        }
        excused.sort_by_key(|it| it.start);
        let is_excused = |it: SourceRange| excused.binary_search_by_key(&it.start, |it| it.start).is_ok();
        findings.retain(|it| !place(it).is_some_and(is_excused));
    }
}

/// Takes out what is no more than untidy in a file that is another project's.
fn drop_vendored(findings: &mut Vec<&LintDiagnostic>, path: &Path, text: &str) {
    let is_leftover = |it: &&LintDiagnostic| defaults::is_of_leftovers(&it.details.code);
    if findings.iter().any(is_leftover) && vendored::is_vendored(path, text) {
        findings.retain(|it| !is_leftover(it));
    }
}

/// What is said of a file that is not UTF-8.
pub(crate) fn not_text(error: std::str::Utf8Error) -> Report {
    let message = "stream did not contain valid UTF-8";
    Report::new(vec![Diagnostic::error(SYNTAX_ERROR, message, not_utf8(&error))])
}
