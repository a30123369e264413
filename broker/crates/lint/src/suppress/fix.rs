//! Takes suppressions back out of a text. All of it is unsafe: a suppression has a person's words, and its rule may only be
//! off at the moment.

use super::scan::{Suppression, Suppressions};
use crate::{Applicability, Edit, Fix, RulePattern, Span, finding_key::slice};

impl Suppressions<'_> {
    /// Removes the whole comment, and its line with it if there is nothing else on that.
    pub(super) fn removal(&self, it: &Suppression) -> Fix {
        let edit = Edit { span: self.extent(it.comment), replacement: String::new() };
        fix("remove the suppression", edit)
    }

    /// Leaves only `rules` in the list.
    pub(super) fn reduction(&self, it: &Suppression, rules: &[&RulePattern]) -> Fix {
        let names: Vec<_> = rules.iter().map(ToString::to_string).collect();
        let span = it.directive.list.as_ref().map_or(it.comment, |it| it.span);
        fix("remove what is unused", Edit { span, replacement: names.join(", ") })
    }

    fn extent(&self, comment: Span) -> Span {
        let number = self.table.utf8(comment.start).line;
        let line = self.table.line_span(number).unwrap_or(comment);
        if self.is_alone(comment) {
            let next = self.table.line_start(number + 1);
            return Span::new(line.start, next.unwrap_or(line.end));
        }
        let after = slice(self.text, Span::new(comment.end, line.end));
        let blank = |length: usize, rest: usize| u32::try_from(length - rest).unwrap_or(0);
        if after.trim_ascii().is_empty() {
            let before = slice(self.text, Span::new(line.start, comment.start));
            return Span::new(comment.start - blank(before.len(), before.trim_ascii_end().len()), line.end);
        }
        Span::new(comment.start, comment.end + blank(after.len(), after.trim_ascii_start().len()))
    }
}

/// Puts a list of rules into brackets, so that less is suppressed than before.
pub(super) fn bracket(span: Span, list: String) -> Fix {
    fix("put the rules into brackets", Edit { span, replacement: list })
}

fn fix(message: &str, edit: Edit) -> Fix {
    Fix { message: Some(message.to_owned()), applicability: Applicability::Unsafe, edits: vec![edit] }
}
