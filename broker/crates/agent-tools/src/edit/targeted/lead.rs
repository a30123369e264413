//! Comments, attributes and decorators above a definition, and those that stay when code takes its place.
//!
//! Code with a comment, or with an attribute, has its own in place of the old ones of that kind. All else above the definition stays,
//! unless the code says it elsewhere.

use super::super::parser::Parser;

/// A comment, an attribute or a decorator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'a> {
    /// Sign with which it begins; empty for anything else.
    sign: &'a str,
    pub(super) text: &'a str,
    /// Start in the text.
    pub(super) start: usize,
}

/// Signs of comments in an order in which no sign hides a longer one; with the end of one that may have several lines. GraphQL has
/// descriptions in quotes.
const COMMENTS: [(&str, Option<&str>); 10] = [
    ("\"\"\"", Some("\"\"\"")),
    ("/**", Some("*/")),
    ("/*", Some("*/")),
    ("///", None),
    ("//!", None),
    ("//", None),
    ("--[[", Some("]]")),
    ("---", None),
    ("--", None),
    ("#", None),
];

impl<'a> Part<'a> {
    /// A part of an unknown kind, from a place on; `None` for blanks.
    pub(super) fn other(text: &'a str, at: usize) -> Option<Self> {
        let start = at + text.len() - text.trim_start().len();
        let text = text.trim();
        (!text.is_empty()).then_some(Self { sign: "", text, start })
    }

    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is_comment(&self) -> bool {
        COMMENTS.iter().any(|it| it.0 == self.sign)
    }
}

/// Parts above a definition at the start of a text, up to the first text that is none.
pub(super) fn parts<'a>(text: &'a str, parser: &Parser<'_>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let Some((sign, len)) = part(&text[at..], parser) else { return parts };
        parts.push(Part { sign: &text[at..at + sign], text: text[at..at + len].trim_end(), start: at });
        at += len;
    }
}

/// Languages in which `#` begins a comment.
const HASH: [&str; 7] = ["elixir", "graphql", "php", "python", "ruby", "shellscript", "terraform"];

/// Lengths of the sign and of the part at the start of a text.
fn part(text: &str, parser: &Parser<'_>) -> Option<(usize, usize)> {
    if text.starts_with('@') {
        return (!parser.is(&["css"]) && !text.starts_with("@interface")).then(|| decorator(text, parser));
    }
    if let Some(sign) = attributes(parser).iter().find(|it| text.starts_with(**it)) {
        let open = sign.len() - 1;
        return Some((sign.len(), open + bracketed(&text[open..])?));
    }
    let (sign, end) = COMMENTS.into_iter().find(|it| text.starts_with(it.0))?;
    if sign == "#" && !parser.is(&HASH) {
        return None;
    }
    let line = || text.find('\n').unwrap_or(text.len());
    // The shortest comment is `/**/`.
    let body = if sign == "/**" { 2 } else { sign.len() };
    let closed = |end: &str| text[body..].find(end).map_or(text.len(), |it| body + it + end.len());
    Some((sign.len(), end.map_or_else(line, closed)))
}

/// Signs of attributes.
fn attributes(parser: &Parser<'_>) -> &'static [&'static str] {
    if parser.is(&["rust", "php"]) {
        &["#[", "#!["]
    } else if parser.is(&["c", "cpp", "csharp"]) {
        &["["]
    } else {
        &[]
    }
}

/// `@name(arguments)`. In Elixir, `@doc` and `@spec` are two kinds, and reach to the end of what they say.
fn decorator(text: &str, parser: &Parser<'_>) -> (usize, usize) {
    let is_name = |it: char| it.is_alphanumeric() || "_.:@".contains(it);
    let name = text.find(|it| !is_name(it)).unwrap_or(text.len());
    if parser.is(&["elixir"]) {
        let line = text.find('\n').unwrap_or(text.len());
        let quote = "\"\"\"";
        let end = text[..line].find(quote).and_then(|it| {
            let body = it + quote.len();
            text[body..].find(quote).map(|it| body + it + quote.len())
        });
        return (name, end.unwrap_or(line));
    }
    let mut end = name;
    while text[end..].starts_with(['(', '[', '<', '.'])
        && let Some(more) = bracketed(&text[end..])
    {
        end += more;
    }
    (1, end)
}

/// Length of what is in brackets at the start of a text, with the brackets, or of `.name`; brackets in strings do not count.
fn bracketed(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('.') {
        return Some(1 + rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len()));
    }
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, it) in text.char_indices() {
        match (quote, it) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if it == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(it),
            (None, '(' | '[' | '{' | '<') => depth += 1,
            (None, ')' | ']' | '}' | '>') => depth = depth.checked_sub(1)?,
            (None, _) => {}
        }
        if depth == 0 && quote.is_none() {
            return Some(at + it.len_utf8());
        }
    }
    None
}

/// Split of what stands above a definition when code takes its place.
pub(super) struct Kept<'a> {
    /// Number of parts that stay as they are, above all of the code.
    pub(super) above: usize,
    /// Parts that stay, and go below what the code has above its definition.
    pub(super) below: Vec<&'a str>,
}

/// The old parts that stay above code with new ones.
pub(super) fn kept<'a>(old: &[Part<'a>], new: &[Part<'_>], code: &str) -> Kept<'a> {
    let is_own = |it: &Part<'_>| new.iter().any(|own| own.sign == it.sign) || says(code, it.text);
    // A comment goes above attributes.
    let begins =
        |it: &Part<'_>| is_own(it) || (new.first().is_some_and(Part::is_comment) && !it.is_comment());
    let above = old.iter().position(begins).unwrap_or(old.len());
    let below = old[above..].iter().filter(|it| !is_own(it)).map(|it| it.text).collect();
    Kept { above, below }
}

/// Whether the lines of a code have all words of a part.
fn says(code: &str, part: &str) -> bool {
    let words =
        |line: &str| line.trim_matches(|it: char| it.is_whitespace() || "/*#!-\"'".contains(it)).to_owned();
    let said: Vec<_> = code.lines().map(words).collect();
    let mut wanted = part.lines().map(words).filter(|it| it.contains(char::is_alphanumeric)).peekable();
    wanted.peek().is_some() && wanted.all(|it| said.contains(&it))
}
