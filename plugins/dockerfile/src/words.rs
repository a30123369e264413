//! Words, quotes and variables, as BuildKit's own little shell understands them.

use std::collections::HashMap;
use std::ops::Range;

/// A variable in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// With the dollar sign and the braces.
    pub(crate) range: Range<usize>,
    /// What follows the name in the braces: `:-default`.
    pub(crate) modifier: String,
}

/// The words of a text; white space in quotes is part of a word.
pub(crate) fn words(text: &str, escape: char) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut quote, mut is_escaped) = (None, None, false);
    for (at, it) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match (quote, it) {
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, it) if it == escape => is_escaped = true,
            (Some(open), it) if it == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(it),
            (None, it) if it.is_whitespace() => {
                found.extend(start.take().map(|it| it..at));
                continue;
            }
            (None, _) => {}
        }
        start.get_or_insert(at);
    }
    found.extend(start.map(|it| it..text.len()));
    found
}

/// A word without its quotes and escapes.
pub(crate) fn unquote(word: &str, escape: char) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut quote = None;
    let mut rest = word.chars();
    while let Some(it) = rest.next() {
        match (quote, it) {
            (Some('\''), '\'') => quote = None,
            (Some('\''), it) => plain.push(it),
            (_, it) if it == escape => plain.extend(rest.next()),
            (Some(open), it) if it == open => quote = None,
            (None, '"' | '\'') => quote = Some(it),
            (_, it) => plain.push(it),
        }
    }
    plain
}

/// The variables of a text, but those in single quotes and those whose dollar sign is escaped.
pub(crate) fn variables(text: &str, escape: char) -> Vec<Variable> {
    let mut found = Vec::new();
    let braces = braces(text);
    let mut is_raw = false;
    let mut is_quoted = false;
    let mut at = 0;
    while let Some(it) = text[at..].chars().next() {
        let next = at + it.len_utf8();
        match it {
            '\'' if !is_quoted => is_raw = !is_raw,
            _ if is_raw => {}
            '"' => is_quoted = !is_quoted,
            it if it == escape => {
                at = next + text[next..].chars().next().map_or(0, char::len_utf8);
                continue;
            }
            '$' => {
                if let Some(variable) = variable(text, at, &braces) {
                    at = variable.range.end;
                    found.push(variable);
                    continue;
                }
            }
            _ => {}
        }
        at = next;
    }
    found
}

/// The variable whose dollar sign is at a place.
fn variable(text: &str, at: usize, braces: &HashMap<usize, usize>) -> Option<Variable> {
    let rest = &text[at + 1..];
    if rest.starts_with('{') {
        let end = *braces.get(&(at + 1))?;
        let inner = &text[at + 2..end];
        let name = name(inner);
        let modifier = inner[name.len()..].to_owned();
        return (!name.is_empty()).then(|| Variable { name: name.to_owned(), range: at..end + 1, modifier });
    }
    let name = name(rest);
    let range = at..at + 1 + name.len();
    (!name.is_empty()).then(|| Variable { name: name.to_owned(), range, modifier: String::new() })
}

/// Where each brace is closed.
fn braces(text: &str) -> HashMap<usize, usize> {
    let (mut open, mut closed) = (Vec::new(), HashMap::new());
    for (at, it) in text.bytes().enumerate() {
        match it {
            b'{' => open.push(at),
            b'}' => closed.extend(open.pop().map(|open| (open, at))),
            _ => {}
        }
    }
    closed
}

/// Names begin with no digit: `$1` is nothing that a Dockerfile could define.
fn name(text: &str) -> &str {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let end = text.find(|it| !is_name(it)).unwrap_or(text.len());
    if text.starts_with(|it: char| it.is_ascii_digit()) { "" } else { &text[..end] }
}

/// Variables in the defaults of variables.
const MOST: usize = 50;

/// A word with its variables put in. `None`: it has some whose value nobody knows.
pub(crate) fn expand(word: &str, escape: char, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if word.matches("${").count() > MOST {
        return None;
    }
    let mut plain = String::new();
    let mut from = 0;
    for variable in variables(word, escape) {
        plain.push_str(&unquote(&word[from..variable.range.start], escape));
        plain.push_str(&modified(&variable.modifier, value(&variable.name), escape, value)?);
        from = variable.range.end;
    }
    plain.push_str(&unquote(&word[from..], escape));
    Some(plain)
}

fn modified(
    modifier: &str,
    value: Option<String>,
    escape: char,
    values: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let (null_counts, rest) = match modifier.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, modifier),
    };
    let is_set = value.as_ref().is_some_and(|it| !null_counts || !it.is_empty());
    match rest.chars().next() {
        None => Some(value.unwrap_or_default()),
        Some('-') if is_set => value,
        Some('-') => expand(&rest[1..], escape, values),
        Some('+') if is_set => expand(&rest[1..], escape, values),
        Some('+') => Some(String::new()),
        _ => None,
    }
}
