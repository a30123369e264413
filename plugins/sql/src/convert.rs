//! sqruff's violations in the plugin's words.

use std::ops::Range;

use broker_plugin_sdk::{Applicability, Diagnostic, Edit, Fix, Severity};
use sqruff_lib::core::rules::{ErasedRule, LintResult};
use sqruff_lib_core::dialects::syntax::SyntaxKind;
use sqruff_lib_core::errors::SQLBaseError;
use sqruff_lib_core::lint_fix::LintFix;
use sqruff_lib_core::parser::segments::ErasedSegment;

use crate::engine::Parsed;
use crate::rules;

/// sqruff's word for it.
pub(crate) const UNPARSABLE: &str = "Unparsable section";

const LINE_END: [char; 2] = ['\r', '\n'];

/// Change that a rule makes to a range.
struct Change {
    at: Range<usize>,
    new: String,
    /// Offsets in `new` at which comments end that go to the end of their line.
    comments: Vec<usize>,
}

/// Text that offsets refer to.
pub(crate) struct Place<'a> {
    /// Text that sqruff was given, before it normalized the line ends.
    pub(crate) text: &'a str,
    /// Offset of the text in the file.
    pub(crate) offset: usize,
}

impl Place<'_> {
    pub(crate) fn syntax_error(
        &self,
        violation: &SQLBaseError,
        code: &str,
        dialect: &str,
        parsed: &Parsed,
    ) -> Diagnostic {
        let at = self.first_line(self.bytes(&violation.source_slice, parsed));
        let message = match violation.description.as_str() {
            UNPARSABLE => format!("sqruff cannot parse this as {dialect}"),
            told => told.trim_end_matches('.').to_owned(),
        };
        let name = rules::name_of(code).to_owned();
        Diagnostic { severity: Severity::Error, name: Some(name), ..Diagnostic::new(code, message, at) }
    }

    /// None for what has no place.
    pub(crate) fn finding(
        &self,
        result: LintResult,
        rule: &ErasedRule,
        parsed: &Parsed,
    ) -> Option<Diagnostic> {
        let fixes = self.fix(&result.fixes, rule, parsed).into_iter().collect();
        let violation: SQLBaseError = result.to_linting_error(rule)?.into();
        let at = self.bytes(&violation.source_slice, parsed);
        let mut message = violation.description.trim_end_matches('.').to_owned();
        if rule.code() == "AL05" {
            // An alias in capitals may be nowhere in the file.
            let name = &self.text[at.start - self.offset..at.end - self.offset];
            message = message.replace(&format!("'{}'", name.to_uppercase()), &format!("'{name}'"));
        }
        Some(Diagnostic {
            name: Some(rule.name().to_owned()),
            url: Some(rules::url(rule)),
            fixes,
            ..Diagnostic::new(rule.code(), message, at)
        })
    }

    /// None where a placeholder stands for something: the edits are for what sqruff put there. None, either, where
    /// something does not parse, as with sqruff: what a rule sees there is not what is there. And none that makes code
    /// part of a comment, as sqruff's of LT09 can.
    fn fix(&self, fixes: &[LintFix], rule: &ErasedRule, parsed: &Parsed) -> Option<Fix> {
        if fixes.is_empty() || !parsed.is_plain() || !parsed.is_sound() {
            return None;
        }
        let mut edits = fixes.iter().map(|it| self.change(it, parsed)).collect::<Option<Vec<_>>>()?;
        edits.retain(|it| self.text.get(it.at.clone()) != Some(&it.new));
        edits.sort_by_key(|it| (it.at.start, it.at.end)); // stable: what is put in one place stays in order
        let apart = edits.array_windows().all(|[a, b]| a.at.end <= b.at.start);
        if edits.is_empty() || !apart || self.joins_comment(&edits, &parsed.line_comments) {
            return None;
        }
        let is_layout = edits.iter().all(|it| is_blank(&self.text[it.at.clone()]) && is_blank(&it.new));
        let edit = |it: Change| Edit {
            span: (it.at.start + self.offset..it.at.end + self.offset).into(),
            replacement: it.new,
        };
        Some(Fix {
            message: None,
            applicability: applicability(rule, is_layout),
            edits: edits.into_iter().map(edit).collect(),
        })
    }

    /// Converts a fix to the range in the text and its new content.
    fn change(&self, fix: &LintFix, parsed: &Parsed) -> Option<Change> {
        let at = fix.anchor().get_position_marker()?.source_slice.clone();
        let (at, new) = match fix {
            LintFix::Delete { .. } => (at, &[][..]),
            LintFix::Replace { edit, .. } => (at, &edit[..]),
            LintFix::CreateBefore { edit, .. } => (at.start..at.start, &edit[..]),
            LintFix::CreateAfter { edit, .. } => (at.end..at.end, &edit[..]),
        };
        let mut change =
            Change { at: parsed.newlines.to_original_range(at), new: String::new(), comments: Vec::new() };
        self.text.get(change.at.clone())?;
        for segment in new.iter().flat_map(ErasedSegment::get_raw_segments) {
            let raw = segment.raw();
            change.new +=
                &if self.text.contains("\r\n") { raw.replace('\n', "\r\n") } else { raw.to_string() };
            if segment.is_type(SyntaxKind::InlineComment) {
                change.comments.push(change.new.len());
            }
        }
        Some(change)
    }

    /// Whether code would come after a comment that goes to the end of its line; `comments` are the ends of those in the
    /// text.
    fn joins_comment(&self, edits: &[Change], comments: &[usize]) -> bool {
        let stays = |end: usize| !edits.iter().any(|it| it.at.start < end && end <= it.at.end);
        let after = |end: usize| &edits[edits.partition_point(|it| it.at.start < end)..];
        let put = edits
            .iter()
            .enumerate()
            .flat_map(|(number, it)| it.comments.iter().map(move |end| (number, *end)));
        comments.iter().any(|end| stays(*end) && !self.ends_line(*end, after(*end)))
            || put.into_iter().any(|(number, end)| match &edits[number].new[end..] {
                "" => !self.ends_line(edits[number].at.end, &edits[number + 1..]),
                rest => !rest.starts_with(LINE_END),
            })
    }

    /// Whether a line ends at `at`, after `edits`, of which the first may be there.
    fn ends_line(&self, mut at: usize, edits: &[Change]) -> bool {
        for edit in edits {
            match edit.new.is_empty() {
                _ if edit.at.start > at => break,
                true => at = edit.at.end,
                false => return edit.new.starts_with(LINE_END),
            }
        }
        self.text[at..].is_empty() || self.text[at..].starts_with(LINE_END)
    }

    /// Never outside, or between the bytes of a character.
    fn bytes(&self, at: &Range<usize>, parsed: &Parsed) -> Range<usize> {
        let at = parsed.newlines.to_original_range(at.clone());
        let start = self.text.floor_char_boundary(at.start.min(self.text.len()));
        let end = self.text.ceil_char_boundary(at.end.clamp(start, self.text.len()));
        start + self.offset..end + self.offset
    }

    /// sqruff gives up the rest of the file with a statement; who reads wants to know where.
    fn first_line(&self, at: Range<usize>) -> Range<usize> {
        let told = &self.text[at.start - self.offset..at.end - self.offset];
        let line = told.lines().next().unwrap_or_default().trim_end();
        at.start..at.start + line.len()
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Safe is what changes blanks alone, or how words of SQL itself are written. The others change names, what a query is
/// made of, or what it gives.
fn applicability(rule: &ErasedRule, is_layout: bool) -> Applicability {
    match rule.code() {
        _ if is_layout => Applicability::Safe,
        "CP01" | "CP04" | "CP05" => Applicability::Safe,
        _ => Applicability::Unsafe,
    }
}
