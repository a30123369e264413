//! sqruff's violations in the plugin's words.

use std::ops::Range;

use broker_plugin_sdk::{Applicability, Diagnostic, Edit, Fix, Severity};
use sqruff_lib::core::rules::{ErasedRule, LintResult};
use sqruff_lib_core::errors::SQLBaseError;
use sqruff_lib_core::lint_fix::LintFix;
use sqruff_lib_core::parser::segments::ErasedSegment;

use crate::engine::Parsed;
use crate::rules;

/// sqruff's word for it.
pub(crate) const UNPARSABLE: &str = "Unparsable section";

/// Where offsets count.
pub(crate) struct Place<'a> {
    /// What sqruff read, before it made one line end of another.
    pub(crate) text: &'a str,
    /// Where that starts in the file.
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
        let name = rules::all_own(code);
        Diagnostic { severity: Severity::Error, name, ..Diagnostic::new(code, message, at) }
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
        Some(Diagnostic {
            name: Some(rule.name().to_owned()),
            url: Some(rules::url(rule)),
            fixes,
            ..Diagnostic::new(
                rule.code(),
                violation.description.trim_end_matches('.').to_owned(),
                self.bytes(&violation.source_slice, parsed),
            )
        })
    }

    /// None where a placeholder stands for something: the edits are for what sqruff put there. None, either, where
    /// something does not parse, as with sqruff: what a rule sees there is not what is there.
    fn fix(&self, fixes: &[LintFix], rule: &ErasedRule, parsed: &Parsed) -> Option<Fix> {
        if fixes.is_empty() || !parsed.is_plain() || !parsed.is_sound() {
            return None;
        }
        let mut edits = fixes.iter().map(|it| self.edit(it, parsed)).collect::<Option<Vec<_>>>()?;
        edits.retain(|(at, new)| self.text.get(at.clone()) != Some(new));
        edits.sort_by_key(|(at, _)| (at.start, at.end)); // stable: what is put in one place stays in order
        let apart = edits.array_windows().all(|[(a, _), (b, _)]| a.end <= b.start);
        let is_safe = |at: &Range<usize>, new: &str| {
            is_blank(&self.text[at.clone()]) && is_blank(new) && !self.joins_comment(at, new)
        };
        let is_layout = edits.iter().all(|(at, new)| is_safe(at, new));
        let edit = |(at, replacement): (Range<usize>, String)| Edit {
            span: (at.start + self.offset..at.end + self.offset).into(),
            replacement,
        };
        (apart && !edits.is_empty()).then(|| Fix {
            message: None,
            applicability: applicability(rule, is_layout),
            edits: edits.into_iter().map(edit).collect(),
        })
    }

    /// Whether what comes after a comment would become part of it.
    fn joins_comment(&self, at: &Range<usize>, new: &str) -> bool {
        let before = &self.text[..at.start];
        let line = &before[before.rfind('\n').map_or(0, |it| it + 1)..];
        self.text[at.clone()].contains('\n') && !new.contains('\n') && line.contains(['-', '#'])
    }

    /// Where in the text, and what is there then.
    fn edit(&self, fix: &LintFix, parsed: &Parsed) -> Option<(Range<usize>, String)> {
        let at = fix.anchor().get_position_marker()?.source_slice.clone();
        let (at, new) = match fix {
            LintFix::Delete { .. } => (at, String::new()),
            LintFix::Replace { edit, .. } => (at, raw(edit)),
            LintFix::CreateBefore { edit, .. } => (at.start..at.start, raw(edit)),
            LintFix::CreateAfter { edit, .. } => (at.end..at.end, raw(edit)),
        };
        let at = parsed.newlines.to_original_range(at);
        self.text.get(at.clone())?;
        Some((at, if self.text.contains("\r\n") { new.replace('\n', "\r\n") } else { new }))
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

fn raw(segments: &[ErasedSegment]) -> String {
    segments.iter().map(|it| it.raw().as_str()).collect()
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
