//! Runs deno_lint over one file's bytes, as `deno lint` does over a file on disk. Knows nothing of other files.

use std::borrow::Cow;
use std::path::Path;

use broker_plugin_sdk::offsets::{not_utf8, without_mark};
use broker_plugin_sdk::{Diagnostic, Report, vendored};
use deno_ast::{MediaType, SourceRange};
use deno_lint::diagnostic::LintDiagnostic;
use deno_lint::linter::{LintConfig, Linter, LinterOptions};
use deno_lint::rules::{LintRule, get_all_rules};

use crate::convert::Place;
use crate::eslint::Disabled;
use crate::false_positives::Source;
use crate::getters::{self, Getters};
use crate::parse::{Goal, first_error};
use crate::regexps::{self, ValidRegexps};
use crate::rules::{ELSEWHERE, Kind, SYNTAX_ERROR, UNRESOLVED};
use crate::second::{self, Reading};
use crate::selection::Selection;
use crate::setters::{self, Setters};
use crate::{convert, defaults, expression, flow, hazards, keys, loops, meant, modules, repairs, unresolved};

/// Why a file is left out whose types are Flow's.
const FLOW: &str = "its types are Flow's";

/// A file without its byte order mark, below a root.
struct File<'a> {
    path: &'a Path,
    root: &'a Path,
    text: &'a str,
}

impl File<'_> {
    fn relative(&self) -> &Path {
        self.path.strip_prefix(self.root).unwrap_or(self.path)
    }

    fn left_out(&self, why: &str) -> Report {
        Report::left_out(&self.relative().display().to_string(), why)
    }
}

/// The linter with some rules.
pub(crate) struct FileLinter {
    pub(crate) linter: Linter,
    pub(crate) kind: Kind,
    codes: Vec<&'static str>,
    pub(crate) jsx: LintConfig,
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
        let rules = all.into_iter().filter(|it| codes.contains(&it.code()));
        let rules = rules.map(|it| rule(it, kind)).collect();
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

    /// Lints the file, which is below `root`, as deno does.
    pub(crate) fn run(&self, path: &Path, text: &str, root: &Path) -> Result<Report, String> {
        let (mark, text) = without_mark(text);
        Ok(self.report(&File { path, root, text })?.shifted(mark))
    }

    fn report(&self, file: &File<'_>) -> Result<Report, String> {
        let File { path, text, .. } = *file;
        let second = self.second(file);
        if hazards::may_be_in(text)
            && let Some(errors) = second.as_ref().map(|it| &it.errors).filter(|it| !it.is_empty())
        {
            let place = Place { text, blanks: Vec::new(), may_fix: false, may_import: false };
            return Ok(self.refused(file, &place, errors));
        }
        let tame = hazards::without_references_to_nothing(text);
        let (parsed, split) = self.parse_with_splits(path, &tame, goal(path, second.as_ref()))?;
        if first_error(&parsed).is_some()
            && let Some(why) = self.objection(file, &tame, second.as_ref())
        {
            return Ok(file.left_out(why));
        }
        let blanks = split.as_ref().map(|it| it.blanks().to_vec()).unwrap_or_default();
        let may_fix = matches!(tame, Cow::Borrowed(_));
        let place = Place { text, blanks, may_fix, may_import: true };
        let read = split.as_ref().map_or(&*tame, |it| &it.text);
        Ok(Report::sorted(match parsed {
            Ok((parsed, findings)) => {
                self.told(file, Source { parsed: &parsed, text: read }, findings, place, second)
            }
            Err(error) if self.tells_syntax_errors => vec![place.syntax_error(&error)],
            Err(_) => Vec::new(),
        }))
    }

    /// The file by another parser, in a project of Deno's only where swc may not be given it.
    fn second(&self, file: &File<'_>) -> Option<Reading> {
        let is_asked = !self.kind.is_of_deno() || hazards::may_be_in(file.text);
        is_asked.then(|| second::read(file.path, file.text)).flatten()
    }

    /// Report on a file that swc is not given.
    fn refused(&self, file: &File<'_>, place: &Place<'_>, errors: &[second::Error]) -> Report {
        if self.is_of_flow(file) {
            return file.left_out(FLOW);
        }
        let errors = errors.iter().filter(|_| self.tells_syntax_errors);
        Report::sorted(errors.map(|it| place.early_error(it)).collect())
    }

    /// Findings and syntax errors of a file that was parsed.
    fn told(
        &self,
        file: &File<'_>,
        source: Source<'_>,
        mut findings: Vec<LintDiagnostic>,
        mut place: Place<'_>,
        second: Option<Reading>,
    ) -> Vec<Diagnostic> {
        let (parsed, is_of_deno) = (source.parsed, self.kind.is_of_deno());
        if !is_of_deno {
            keys::locate(&mut findings, parsed);
        }
        let disabled = if is_of_deno { Disabled::nothing() } else { Disabled::of(parsed) };
        let is_wanted = |it: &&LintDiagnostic| self.is_wanted(it) && !disabled.has(it);
        let mut rules: Vec<_> = findings.iter().filter(|it| is_wanted(it) && !source.refutes(it)).collect();
        if self.is_quiet {
            excuse(&mut rules, &source);
            drop_vendored(&mut rules, file.relative(), file.text);
        }
        if rules.iter().any(|it| convert::imports(&it.details.code)) {
            place.may_import = modules::is_module(file.path, file.root, &source, is_of_deno);
        }
        let repairs = repairs::repairs(&rules, &source);
        let mut found: Vec<_> = rules.into_iter().map(|it| place.finding(it, &repairs)).collect();
        let imports = second.as_ref().map(|it| &*it.imports).filter(|_| self.codes.contains(&UNRESOLVED));
        let imports = imports.unwrap_or_default();
        found.extend(unresolved::findings(file.path, file.root, file.text, imports, &disabled));
        if self.tells_syntax_errors {
            let errors = parsed.diagnostics().iter().map(|it| place.syntax_error(it));
            let is_asked =
                parsed.diagnostics().is_empty() && !is_of_deno && !parsed.media_type().is_declaration();
            let early = second.filter(|_| is_asked).map(|it| it.errors).unwrap_or_default();
            let early = early.iter().map(|it| place.early_error(it)).filter(|it| !is_told(it, &found));
            let all: Vec<_> = errors.chain(early).collect();
            found.extend(all);
        }
        found
    }

    /// Why a file that does not parse is likely right. `tame` is its text as swc may be given it.
    fn objection(&self, file: &File<'_>, tame: &str, second: Option<&Reading>) -> Option<&'static str> {
        if self.is_of_flow(file) {
            return Some(FLOW);
        }
        if !self.kind.is_of_deno() && expression::is_one(file.path, tame) {
            return Some("it is an expression, which another program evaluates");
        }
        let is_valid = !self.kind.is_of_deno() && second.is_some_and(|it| it.is_valid);
        is_valid.then_some("its parser, swc, cannot read it, and another one can")
    }

    fn is_of_flow(&self, file: &File<'_>) -> bool {
        self.is_quiet && flow::is_likely(file.path, file.text, file.root)
    }

    /// The crate tells about suppression comments whether those rules are on or not.
    fn is_wanted(&self, finding: &LintDiagnostic) -> bool {
        let code = finding.details.code.as_str();
        let is_of_plugin =
            self.has_plugins && code == "ban-unknown-rule-code" && finding.details.message.contains('/');
        self.codes.contains(&code) && !is_of_plugin
    }
}

/// Rules about what engines refuse as well.
const REFUSED: [&str; 2] = ["constructor-super", "no-dupe-args"];

/// Whether one of the findings of these rules reports the same as an early error.
fn is_told(error: &Diagnostic, found: &[Diagnostic]) -> bool {
    let is_at = |it: &Diagnostic| it.span.start < error.span.end && error.span.start < it.span.end;
    found.iter().any(|it| REFUSED.contains(&it.code.as_str()) && is_at(it))
}

/// A rule of the crate's, or what is run in place of it.
fn rule(rule: Box<dyn LintRule>, kind: Kind) -> Box<dyn LintRule> {
    match rule.code() {
        regexps::CODE => Box::new(ValidRegexps::in_place_of(&*rule)),
        getters::CODE => Box::new(Getters(rule)),
        setters::CODE if !kind.is_of_deno() => Box::new(Setters(rule)),
        _ => rule,
    }
}

/// Goal with which swc is to parse the file. TypeScript never is a script, as `import a =` makes no module of it.
fn goal(path: &Path, second: Option<&Reading>) -> Goal {
    let is_script = !MediaType::from_path(path).is_typed() && second.is_some_and(|it| it.names_await);
    if is_script { Goal::Script } else { Goal::Program }
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
            excused.extend(loops::assigned(source.parsed, &places));
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

/// Report on a file that is not UTF-8.
pub(crate) fn not_text(error: std::str::Utf8Error) -> Report {
    let message = "stream did not contain valid UTF-8";
    Report::new(vec![Diagnostic::error(SYNTAX_ERROR, message, not_utf8(&error))])
}
