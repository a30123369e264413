//! From shuck's diagnostics to the plugin's.

use std::ops::Range;

use broker_plugin_sdk::{self as plugin, Tags};
use shuck_linter::{Applicability, Diagnostic, Fix, Rule, ShellCheckCodeMap};

use crate::backticks::Backticks;
use crate::config::Config;
use crate::rules;

/// A file's text, and what findings are made with.
pub(crate) struct Place<'a> {
    /// Text of the file.
    pub(crate) text: &'a str,
    /// Offsets at which another character was parsed than the file has.
    pub(crate) altered: &'a [usize],
    pub(crate) backticks: Backticks,
    pub(crate) map: &'a ShellCheckCodeMap,
    pub(crate) config: &'a Config,
}

impl Place<'_> {
    pub(crate) fn finding(&self, it: &Diagnostic) -> plugin::Diagnostic {
        let reported = it.span.start.offset()..it.span.end.offset();
        let moved = self.backticks.moved(it.rule, self.text, &reported);
        let message = rules::message(it.rule).map_or_else(|| it.message.clone(), str::to_owned);
        let is_fixable = moved.is_none() && self.config.fixable.contains(it.rule);
        plugin::Diagnostic {
            name: Some(rules::name(it.rule)),
            severity: rules::severity(it),
            tags: tags(it.rule),
            url: Some(rules::url(it.rule, self.map)),
            fixes: it.fix.iter().filter(|_| is_fixable).filter_map(|fix| self.fix(fix, it)).collect(),
            ..plugin::Diagnostic::new(
                rules::code(it.rule, self.map),
                message,
                self.bytes(moved.unwrap_or(reported)),
            )
        }
    }

    /// Finding for a script that cannot be parsed.
    pub(crate) fn syntax_error(&self, message: &str, place: Range<usize>) -> plugin::Diagnostic {
        plugin::Diagnostic::error(rules::SYNTAX_ERROR, message, self.bytes(place))
    }

    fn fix(&self, fix: &Fix, of: &Diagnostic) -> Option<plugin::Fix> {
        let edit = |it: &shuck_linter::Edit| plugin::Edit {
            span: self.bytes(self.replaced(it, of.rule)).into(),
            replacement: it.content().to_owned(),
        };
        let mut edits: Vec<plugin::Edit> = fix.edits().iter().map(edit).collect();
        edits.sort_by_key(|it| (it.span.start, it.span.end));
        let is_apart = edits.array_windows().all(|[a, b]| a.span.end <= b.span.start);
        let applicability = match fix.applicability() {
            Applicability::Safe if !rules::fix_changes_meaning(of.rule, self.map) => {
                plugin::Applicability::Safe
            }
            Applicability::Safe | Applicability::Unsafe => plugin::Applicability::Unsafe,
        };
        (is_apart && !self.is_doubtful(fix)).then(|| plugin::Fix {
            message: of.fix_title.clone(),
            applicability,
            edits,
        })
    }

    /// Whether a fix may contain text that was parsed in place of the file's, or may have another meaning in the file.
    fn is_doubtful(&self, fix: &Fix) -> bool {
        fix.edits().iter().any(|edit| {
            let range = usize::from(edit.range().start())..usize::from(edit.range().end());
            let is_deletion = edit.content().is_empty();
            self.altered.iter().any(|at| range.contains(at))
                || !is_deletion && self.backticks.escape_in(self.text, &range)
        })
    }

    /// Range that an edit replaces. That of `grep x | wc -l; then` would take the `;` as well.
    fn replaced(&self, edit: &shuck_linter::Edit, rule: Rule) -> Range<usize> {
        let (start, end) = (usize::from(edit.range().start()), usize::from(edit.range().end()));
        match self.text.get(start..end).filter(|_| rule == Rule::GrepCountPipeline) {
            Some(command) => start..start + command.trim_end_matches([' ', '\t', ';', '&', '|']).len(),
            None => start..end,
        }
    }

    /// A line and a column, both from 1, as the character there; nothing where the parser knows no place.
    pub(crate) fn line_column(&self, (line, column): (usize, usize)) -> Range<usize> {
        let start: usize = self.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let rest = self.text[start..].split('\n').next().unwrap_or_default();
        let at = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.trim_end().len(), |it| it.0);
        let end = at + rest[at..].chars().next().filter(|it| !it.is_whitespace()).map_or(0, char::len_utf8);
        start + at..start + end
    }

    /// On whole characters, and within the text.
    fn bytes(&self, range: Range<usize>) -> Range<usize> {
        let start = self.text.floor_char_boundary(range.start);
        start..self.text.ceil_char_boundary(range.end.max(range.start)).max(start)
    }
}

fn tags(rule: Rule) -> Tags {
    match rule {
        Rule::UnusedAssignment | Rule::UnreachableAfterExit => Tags::UNNECESSARY,
        _ => Tags::empty(),
    }
}
