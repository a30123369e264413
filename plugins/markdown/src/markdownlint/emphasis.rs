//! Emphasis: MD036, MD049 and MD050.

use std::ops::Range;

use rumdl_lib::rule::LintWarning;
use serde_json::Value;

use super::page::{Emphasis, Page};

pub(super) fn as_heading(page: &Page<'_>) -> Vec<LintWarning> {
    let punctuation =
        page.option("MD036", "punctuation").and_then(Value::as_str).unwrap_or(".,;:!?。，；：！？");
    let lone = page.lone_emphases.iter().filter_map(|it| {
        let words = page.text[it.clone()].trim_matches(['*', '_']);
        let is_plain = !words.contains(|it: char| "\n\\&<>[]*_`@/:".contains(it));
        let message = format!("Emphasis used instead of a heading: '{words}'");
        (is_plain && !words.ends_with(|it: char| punctuation.contains(it)))
            .then(|| page.finding("MD036", it.clone(), message))
    });
    lone.collect()
}

pub(super) fn style(page: &Page<'_>) -> Vec<LintWarning> {
    deviating(page, "MD049", false)
}

pub(super) fn strong_style(page: &Page<'_>) -> Vec<LintWarning> {
    deviating(page, "MD050", true)
}

/// Emphasis with other marks than the rule's option says, or than the first one has.
fn deviating(page: &Page<'_>, code: &str, is_strong: bool) -> Vec<LintWarning> {
    let mut wanted = match page.style(code, "consistent") {
        "asterisk" => Some('*'),
        "underscore" => Some('_'),
        _ => None,
    };
    let mut found = Vec::new();
    for Emphasis { range, .. } in page.emphases.iter().filter(|it| it.is_strong == is_strong) {
        let mark = if page.text[range.start..].starts_with('*') { '*' } else { '_' };
        let wanted = *wanted.get_or_insert(mark);
        if mark != wanted && (wanted == '*' || !is_in_word(page.text, range)) {
            found.extend(findings(page, code, range, wanted));
        }
    }
    found
}

/// Whether underscores would be part of a word.
fn is_in_word(text: &str, range: &Range<usize>) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text[..range.start].ends_with(is_word) || text[range.end..].starts_with(is_word)
}

/// Returns a finding at the start of the emphasis, with the fix, and another at its end if that is in another line.
fn findings(page: &Page<'_>, code: &str, range: &Range<usize>, wanted: char) -> Vec<LintWarning> {
    let length = if code == "MD050" { 2 } else { 1 };
    let (what, mark) = if code == "MD050" {
        ("Strong emphasis", wanted.to_string().repeat(2))
    } else {
        ("Emphasis", wanted.to_string())
    };
    let has = &page.text[range.start..range.start + length];
    let message = format!("{what} should use {mark} instead of {has}");
    let (open, close) = (range.start..range.start + length, range.end - length..range.end);
    let mut fix = page.edit(open.clone(), &mark);
    fix.additional_edits.push(page.edit(close.clone(), &mark));
    if page.line_at(open.start) == page.line_at(close.start) {
        let mut found = page.finding(code, range.clone(), message);
        found.fix = Some(fix);
        return vec![found];
    }
    let mut first = page.finding(code, open, message.clone());
    first.fix = Some(fix);
    vec![first, page.finding(code, close, message)]
}
