//! From shuck's diagnostics to the plugin's.

use std::ops::Range;

use broker_plugin_sdk::{self as plugin, Severity, Tags};
use shuck_linter::{Applicability, Diagnostic, Fix, Rule, ShellCheckCodeMap};

use crate::config::Config;
use crate::rules;

/// Where offsets count, and what findings are made with.
pub(crate) struct Place<'a> {
    /// What was read.
    pub(crate) text: &'a str,
    /// Where that starts in the file.
    pub(crate) offset: usize,
    pub(crate) map: &'a ShellCheckCodeMap,
    pub(crate) config: &'a Config,
}

impl Place<'_> {
    pub(crate) fn finding(&self, it: &Diagnostic) -> plugin::Diagnostic {
        let bytes = self.bytes(it.span.start.offset()..it.span.end.offset());
        let fix = it.fix.as_ref().filter(|_| self.config.fixable.contains(it.rule));
        plugin::Diagnostic {
            name: Some(rules::name(it.rule)),
            severity: severity(it.severity),
            tags: tags(it.rule),
            url: Some(rules::url(it.rule, self.map)),
            fixes: fix.and_then(|fix| self.fix(fix, it.fix_title.clone())).into_iter().collect(),
            ..plugin::Diagnostic::new(it.code(), it.message.clone(), bytes)
        }
    }

    fn fix(&self, fix: &Fix, title: Option<String>) -> Option<plugin::Fix> {
        let edit = |it: &shuck_linter::Edit| plugin::Edit {
            span: self.bytes(usize::from(it.range().start())..usize::from(it.range().end())).into(),
            replacement: it.content().to_owned(),
        };
        let mut edits: Vec<plugin::Edit> = fix.edits().iter().map(edit).collect();
        edits.sort_by_key(|it| (it.span.start, it.span.end));
        let is_apart = edits.array_windows().all(|[a, b]| a.span.end <= b.span.start);
        let applicability = match fix.applicability() {
            Applicability::Safe => plugin::Applicability::Safe,
            Applicability::Unsafe => plugin::Applicability::Unsafe,
        };
        is_apart.then_some(plugin::Fix { message: title, applicability, edits })
    }

    /// A line and a column, both from 1, as the character there; nothing where the parser knows no place.
    pub(crate) fn line_column(&self, (line, column): (usize, usize)) -> Range<usize> {
        let start: usize = self.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let rest = self.text[start..].split('\n').next().unwrap_or_default();
        let at = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.trim_end().len(), |it| it.0);
        let end = at + rest[at..].chars().next().filter(|it| !it.is_whitespace()).map_or(0, char::len_utf8);
        self.bytes(start + at..start + end)
    }

    /// On whole characters, and within the text.
    fn bytes(&self, range: Range<usize>) -> Range<usize> {
        let start = self.text.floor_char_boundary(range.start);
        let end = self.text.ceil_char_boundary(range.end.max(range.start)).max(start);
        start + self.offset..end + self.offset
    }
}

fn severity(it: shuck_linter::Severity) -> Severity {
    match it {
        shuck_linter::Severity::Error => Severity::Error,
        shuck_linter::Severity::Warning => Severity::Warning,
        shuck_linter::Severity::Hint => Severity::Hint,
    }
}

fn tags(rule: Rule) -> Tags {
    match rule {
        Rule::UnusedAssignment | Rule::UnreachableAfterExit => Tags::UNNECESSARY,
        _ => Tags::empty(),
    }
}
