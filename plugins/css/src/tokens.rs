//! The words of a value, as far as rules ask for them. Not a whole tokenizer: escapes are kept as they are written.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    /// A number with a unit; the range is the unit's.
    Unit,
    Number,
    /// `#` and what follows.
    Hash,
    String,
    /// A name and the bracket after it; the range is the name's.
    Function,
    Open,
    Close,
    Comma,
    /// Any other sign.
    Sign,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
}

/// The tokens of a text; `//` begins a comment if `lines` is set. Addresses in `url()` without quotes are left out.
pub(crate) fn tokens(text: &str, lines: bool) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(it) = text[at..].chars().next() {
        let rest = &text[at..];
        let end = match it {
            it if it.is_whitespace() => at + it.len_utf8(),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(text.len(), |it| at + it + 2),
            '/' if lines && rest.starts_with("//") => rest.find('\n').map_or(text.len(), |it| at + it),
            '"' | '\'' => string(text, at, it),
            _ => {
                let (kind, range, end) = token(text, at, it);
                found.push(Token { kind, range });
                end
            }
        };
        if matches!(it, '"' | '\'') {
            found.push(Token { kind: Kind::String, range: at..end });
        }
        at = end;
    }
    found
}

fn string(text: &str, start: usize, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, it) in text[start + 1..].char_indices() {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            it if it == quote => return start + 1 + at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A token, its range, and where what follows it begins.
fn token(text: &str, at: usize, first: char) -> (Kind, Range<usize>, usize) {
    let next = text[at + first.len_utf8()..].chars().next().unwrap_or(' ');
    let is_number = first.is_ascii_digit()
        || (first == '.' && next.is_ascii_digit())
        || (matches!(first, '+' | '-') && (next.is_ascii_digit() || next == '.'));
    if is_number {
        return number(text, at);
    }
    if first == '#' {
        let end = name_end(text, at + 1);
        return (Kind::Hash, at..end, end);
    }
    if is_name(first) {
        let end = name_end(text, at);
        if !text[end..].starts_with('(') {
            return (Kind::Ident, at..end, end);
        }
        let is_raw = text[at..end].eq_ignore_ascii_case("url")
            && !text[end + 1..].trim_start().starts_with(['"', '\'']);
        let after = if is_raw { text[end..].find(')').map_or(text.len(), |it| end + it) } else { end + 1 };
        return (Kind::Function, at..end, after);
    }
    let kind = match first {
        '(' => Kind::Open,
        ')' => Kind::Close,
        ',' => Kind::Comma,
        _ => Kind::Sign,
    };
    (kind, at..at + first.len_utf8(), at + first.len_utf8())
}

fn number(text: &str, start: usize) -> (Kind, Range<usize>, usize) {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while bytes.get(at).is_some_and(|it| it.is_ascii_digit() || *it == b'.') {
        at += 1;
    }
    let is_exponent = matches!(bytes.get(at), Some(b'e' | b'E'))
        && bytes.get(at + 1).is_some_and(|it| {
            it.is_ascii_digit()
                || matches!(it, b'+' | b'-') && bytes.get(at + 2).is_some_and(u8::is_ascii_digit)
        });
    if is_exponent {
        at += 2;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
    }
    let end = name_end(text, at);
    if end > at { (Kind::Unit, at..end, end) } else { (Kind::Number, start..at, at) }
}

fn is_name(it: char) -> bool {
    it.is_ascii_alphabetic() || matches!(it, '_' | '-' | '\\') || !it.is_ascii()
}

fn name_end(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(it) = text[at..].chars().next().filter(|it| is_name(*it) || it.is_ascii_digit()) {
        at += it.len_utf8();
        if it == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    at
}
