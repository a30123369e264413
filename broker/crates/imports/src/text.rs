//! Functions that the scans share: blanks and comments as C has them, and where strings end. An unterminated comment or
//! string extends to the end of the text.

/// Returns the text without blanks at its start: whitespace, `// …`, `/* … */`, and joined lines.
pub(super) fn skip_blank(text: &str) -> &str {
    skip(text, |comment| after(comment, "*/"))
}

/// Same as [`skip_blank`], with nested comments.
pub(super) fn skip_blank_nested(text: &str) -> &str {
    skip(text, after_nested)
}

fn skip<'t>(text: &'t str, after_comment: impl Fn(&'t str) -> &'t str) -> &'t str {
    let mut rest = text;
    loop {
        let start = rest.trim_start_matches(|it: char| it.is_whitespace() || matches!(it, '\u{feff}' | '\\'));
        rest = match start.as_bytes() {
            [b'/', b'/', ..] => after(start, "\n"),
            [b'/', b'*', ..] => after_comment(&start[2..]),
            _ => return start,
        };
    }
}

fn after<'t>(text: &'t str, end: &str) -> &'t str {
    text.split_once(end).map_or("", |it| it.1)
}

/// Returns the text after the comment that has begun, with all comments in it.
fn after_nested(text: &str) -> &str {
    let (mut at, mut depth) = (0, 1);
    while let Some(pair) = text.as_bytes().get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return &text[at..];
        }
    }
    ""
}

/// The end of the string that a text starts with, which a backslash does not bring about. It may end with its line.
pub(super) fn string_end(text: &str, quote: &str, in_line: bool) -> usize {
    let mut is_escaped = false;
    for (at, it) in text[quote.len()..].char_indices().map(|(at, it)| (at + quote.len(), it)) {
        match it {
            // A line's end of two characters is escaped whole.
            _ if is_escaped => is_escaped = it == '\r',
            '\\' => is_escaped = true,
            '\n' if in_line => return at,
            _ if text[at..].starts_with(quote) => return at + quote.len(),
            _ => {}
        }
    }
    text.len()
}

/// The end of the name that a text starts with, at least of one character.
pub(super) fn word_end(text: &str) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.find(|it| !is_of_name(it)).unwrap_or(text.len()).max(first)
}

pub(super) fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}
