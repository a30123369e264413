//! Parses a file for the linter: as another language or another kind of program where the first attempt has errors.

use std::path::Path;

use deno_ast::{MediaType, ParseDiagnostic, ParseParams, ParsedSource, StartSourcePos, get_syntax};
use deno_lint::diagnostic::LintDiagnostic;

use crate::lint::FileLinter;
use crate::shifts::Split;

pub(crate) type Parsed = Result<(ParsedSource, Vec<LintDiagnostic>), ParseDiagnostic>;

/// Offset of the first syntax error, in bytes.
pub(crate) fn first_error(parsed: &Parsed) -> Option<usize> {
    let at = |it: &ParseDiagnostic| it.range().as_byte_range(StartSourcePos::START_SOURCE_POS).start;
    match parsed {
        Ok((parsed, _)) => parsed.diagnostics().iter().map(at).min(),
        Err(error) => Some(at(error)),
    }
}

/// Goal of the grammar with which the file is parsed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// A module if there is an import, an export or an `await` that looks like one of a module.
    Program,
    /// Script, where `await` is a name.
    Script,
}

impl FileLinter {
    /// With what was read in place of the text, if that is another.
    pub(crate) fn parse_with_splits(
        &self,
        path: &Path,
        text: &str,
        goal: Goal,
    ) -> Result<(Parsed, Option<Split>), String> {
        let mut best = self.parse_and_lint(path, text, goal)?;
        if !MediaType::from_path(path).is_typed() || first_error(&best).is_none() || !text.contains("<<") {
            return Ok((best, None));
        }
        let mut split = Split::new(text);
        while let Some(error) = first_error(&best) {
            let mut better = None;
            for attempt in split.attempts(error) {
                let parsed = self.parse_and_lint(path, &attempt.text, goal)?;
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
    fn parse_and_lint(&self, path: &Path, text: &str, goal: Goal) -> Result<Parsed, String> {
        let specifier = deno_path_util::url_from_file_path(path).map_err(|it| it.to_string())?;
        let media_type = MediaType::from_specifier(&specifier);
        let lint = |media_type| {
            let parsed = parse(
                ParseParams {
                    specifier: specifier.clone(),
                    text: text.into(),
                    media_type,
                    capture_tokens: true,
                    scope_analysis: true,
                    maybe_syntax: Some(get_syntax(media_type)),
                },
                goal,
            )?;
            let found = self.linter.lint_with_ast(&parsed, self.jsx.clone(), None);
            Ok((parsed, found))
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
}

fn parse(params: ParseParams, goal: Goal) -> Result<ParsedSource, ParseDiagnostic> {
    match goal {
        Goal::Program => deno_ast::parse_program(params),
        Goal::Script => deno_ast::parse_script(params),
    }
}
