//! ESLint's comments that disable rules (`eslint-disable` and its like), or configure them as off (`/* eslint a: "off" */`).
//! A rule of the same name is not wanted from another linter, either.
//!
//! Left out: comments that turn a rule on, and projects of Deno's, where `deno lint` does not read such comments.

use deno_ast::swc::common::comments::CommentKind;
use deno_ast::{ParsedSource, SourcePos, SourceRangedForSpanned, SourceTextInfo, StartSourcePos};
use deno_lint::diagnostic::LintDiagnostic;

/// Rules that the comments of a file disable.
pub(crate) struct Disabled<'a> {
    text: Option<&'a SourceTextInfo>,
    /// By their order: the byte that it counts from, and whether it disables.
    switches: Vec<(usize, bool, Rules)>,
    /// By line, from 0.
    lines: Vec<(usize, Rules)>,
    /// Off in the whole file.
    off: Vec<String>,
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
        Self { text: None, switches: Vec::new(), lines: Vec::new(), off: Vec::new() }
    }

    pub(crate) fn of(parsed: &'a ParsedSource) -> Self {
        let mut all = Self::nothing();
        let mut configured = Vec::new();
        for comment in parsed.comments().iter_unstable() {
            let is_block = comment.kind == CommentKind::Block;
            if is_block && let Some(config) = configuration(&comment.text) {
                configured.push((comment.range().start, config));
                continue;
            }
            let Some((directive, rules)) = directive(&comment.text) else { continue };
            let text = *all.text.get_or_insert_with(|| parsed.text_info_lazy());
            let range = comment.range();
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
        configured.sort_by_key(|it| it.0);
        all.off = off(configured.into_iter().flat_map(|it| entries(it.1)));
        all
    }

    pub(crate) fn has(&self, finding: &LintDiagnostic) -> bool {
        let start = finding.range.as_ref().map(|it| it.range.start);
        self.has_at(finding.details.code.as_str(), start)
    }

    /// Whether a rule is disabled at a place, or everywhere.
    pub(crate) fn has_at(&self, code: &str, place: Option<SourcePos>) -> bool {
        if self.off.iter().any(|it| it == code) {
            return true;
        }
        let (Some(text), Some(place)) = (self.text, place) else { return false };
        let start = place.as_byte_index(StartSourcePos::START_SOURCE_POS);
        let before = self.switches.iter().take_while(|it| it.0 <= start);
        let is_off = before.filter(|it| it.2.have(code)).last().is_some_and(|it| it.1);
        let line = text.line_index(place);
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
    Some((directive, Rules(names.map(|it| bare(it).to_owned()).collect())))
}

/// The name without a plugin's.
fn bare(rule: &str) -> &str {
    rule.rsplit('/').next().unwrap_or(rule)
}

/// Text after `eslint` in a comment that configures rules, without the reason.
fn configuration(comment: &str) -> Option<&str> {
    let config = comment.trim_start().strip_prefix("eslint")?;
    let is_dashes = |it: &str| it.len() > 1 && it.bytes().all(|it| it == b'-');
    let reason = config.split_whitespace().find(|it| is_dashes(it));
    let end = reason.map_or(config.len(), |it| it.as_ptr() as usize - config.as_ptr() as usize);
    config.starts_with(char::is_whitespace).then(|| &config[..end])
}

/// The rules of a configuration, each with its severity: `a: off, "b/c": ["error", { d: 1 }]`. Commas may be missing.
fn entries(config: &str) -> Vec<(&str, &str)> {
    let is_quote = |it: char| matches!(it, '"' | '\'' | '`');
    let (mut found, mut rest) = (Vec::new(), config);
    while let Some((name, value)) = rest.split_once(':') {
        let value = value.trim_start();
        let severity = value.trim_start_matches(['[', ' ', '\t', '\r', '\n']).trim_start_matches(is_quote);
        let end = severity.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(severity.len());
        let name = name.trim_matches(|it: char| it.is_whitespace() || it == ',' || is_quote(it));
        found.push((name, &severity[..end]));
        rest = value.get(value_len(value)..).unwrap_or_default();
    }
    found
}

/// Length of a value: a list extends to its bracket, and anything else to a comma or a blank.
fn value_len(value: &str) -> usize {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, it) in value.char_indices() {
        match (quote, it) {
            (Some(open), it) if it == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(it),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, it) if depth == 0 && (it == ',' || it.is_whitespace()) => return at,
            _ => {}
        }
    }
    value.len()
}

/// The rules that are off. As with ESLint, what is said first of a rule counts.
fn off<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let (mut said, mut off) = (Vec::new(), Vec::new());
    for (name, severity) in entries {
        if said.contains(&name) {
            continue;
        }
        said.push(name);
        if severity == "off" || severity == "0" {
            off.push(bare(name).to_owned());
        }
    }
    off
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off_in(comment: &str) -> String {
        configuration(comment).map_or("none".to_owned(), |it| off(entries(it).into_iter()).join(" "))
    }

    #[test]
    fn configured_as_off() {
        assert_eq!(off_in(" eslint no-debugger: off "), "no-debugger");
        assert_eq!(off_in("eslint no-debugger:0"), "no-debugger");
        assert_eq!(off_in(" eslint a: \"off\", b: 'error', \"c/d\": 0 -- e: off "), "a d");
        assert_eq!(off_in("\n eslint\n  a: [\"off\", { x: \"y, z: off\" }],\n  b: 2,\n  c: [0]\n"), "a c");
        assert_eq!(off_in(" eslint a:0 b:2 c:0"), "a c");
        assert_eq!(off_in(" eslint a: [2, { b: off }], c: off"), "c");
        assert_eq!(off_in(" eslint a: warn, a: off"), "");
        for other in [" eslint-disable a", "* eslint a: off", " eslinta: off", " see eslint a: off"] {
            assert_eq!(off_in(other), "none", "{other}");
        }
    }
}
