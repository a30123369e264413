//! ESLint's comments that disable rules. A rule of the same name is not wanted from another linter, either.
//!
//! Left out: rules that are configured in a comment (`/* eslint no-debugger: "off" */`), and projects of Deno's, where
//! `deno lint` does not read such comments.

use deno_ast::swc::common::comments::CommentKind;
use deno_ast::{ParsedSource, SourceRangedForSpanned, SourceTextInfo, StartSourcePos};
use deno_lint::diagnostic::LintDiagnostic;

/// What the comments of a file disable.
pub(crate) struct Disabled<'a> {
    text: Option<&'a SourceTextInfo>,
    /// By their order: the byte that it counts from, and whether it disables.
    switches: Vec<(usize, bool, Rules)>,
    /// By line, from 0.
    lines: Vec<(usize, Rules)>,
}

/// Rules by name, or all.
struct Rules(Vec<String>);

impl Rules {
    fn have(&self, code: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|it| it == code)
    }
}

impl<'a> Disabled<'a> {
    pub(crate) fn nothing() -> Self {
        Self { text: None, switches: Vec::new(), lines: Vec::new() }
    }

    pub(crate) fn of(parsed: &'a ParsedSource) -> Self {
        let mut all = Self::nothing();
        for comment in parsed.comments().iter_unstable() {
            let Some((directive, rules)) = directive(&comment.text) else { continue };
            let text = *all.text.get_or_insert_with(|| parsed.text_info_lazy());
            let range = comment.range();
            let is_block = comment.kind == CommentKind::Block;
            match directive {
                "eslint-disable" | "eslint-enable" if is_block => {
                    let start = range.as_byte_range(StartSourcePos::START_SOURCE_POS).start;
                    all.switches.push((start, directive == "eslint-disable", rules));
                }
                "eslint-disable-line" => all.lines.push((text.line_index(range.start), rules)),
                "eslint-disable-next-line" => all.lines.push((text.line_index(range.end) + 1, rules)),
                _ => {}
            }
        }
        all.switches.sort_by_key(|it| it.0);
        all
    }

    pub(crate) fn has(&self, finding: &LintDiagnostic) -> bool {
        let (Some(text), Some(range)) = (self.text, &finding.range) else { return false };
        let code = finding.details.code.as_str();
        let start = range.range.as_byte_range(StartSourcePos::START_SOURCE_POS).start;
        let before = self.switches.iter().take_while(|it| it.0 <= start);
        let is_off = before.filter(|it| it.2.have(code)).last().is_some_and(|it| it.1);
        let line = text.line_index(range.range.start);
        is_off || self.lines.iter().any(|it| it.0 == line && it.1.have(code))
    }
}

/// `eslint-disable-line a, plugin/b -- reason`; a plugin's rule is mostly a variant of the rule with its name.
fn directive(comment: &str) -> Option<(&str, Rules)> {
    let is_dashes = |it: &&str| it.len() > 1 && it.bytes().all(|it| it == b'-');
    let mut words = comment.split_whitespace().take_while(|it| !is_dashes(it));
    let directive = words.next().filter(|it| it.starts_with("eslint-"))?;
    let names = words.collect::<Vec<_>>().join(" ");
    let names = names.split(',').map(str::trim).filter(|it| !it.is_empty());
    Some((directive, Rules(names.map(|it| it.rsplit('/').next().unwrap_or(it).to_owned()).collect())))
}
