//! The words of a Rust text: names, `::`, other single characters, and strings, which begin with `"` and come without
//! their end. Comments and characters in quotes are passed over.

use super::super::text::{skip_blank_nested, string_end, word_end};

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = skip_blank_nested(rest);
        let first = rest.chars().next()?;
        let (word, after) = match first {
            '"' => plain(rest),
            '\'' => quoted(rest),
            ':' if rest.starts_with("::") => rest.split_at(2),
            _ => named(rest),
        };
        rest = after;
        Some(word)
    })
}

fn plain(text: &str) -> (&str, &str) {
    let (string, after) = text.split_at(string_end(text, "\"", false));
    (string.strip_suffix('"').filter(|it| !it.is_empty()).unwrap_or(string), after)
}

/// A character, or what begins a lifetime.
fn quoted(text: &str) -> (&str, &str) {
    let inner = text[1..].chars().next().filter(|it| *it != '\'').map_or(0, char::len_utf8);
    let end = if text[1..].starts_with('\\') {
        string_end(text, "'", true)
    } else if text[1 + inner..].starts_with('\'') {
        inner + 2
    } else {
        1
    };
    ("'", &text[end..])
}

/// A name, also one in `r#`, or a raw string.
fn named(text: &str) -> (&str, &str) {
    let (word, after) = text.split_at(word_end(text));
    let inner = after.trim_start_matches('#');
    let marks = &after[..after.len() - inner.len()];
    if !matches!(word, "r" | "br" | "cr") {
        (word, after)
    } else if let Some(string) = inner.strip_prefix('"') {
        let (string, after) = string.split_once(&format!("\"{marks}")).unwrap_or((string, ""));
        (&inner[..=string.len()], after)
    } else if marks == "#" {
        inner.split_at(word_end(inner))
    } else {
        (word, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_is_made_of() {
        let text = "a::b // c\n'\"' '\\'' 'x /* d \" */ r#e r#\"f\"g\"# b\"h\\\"i\" \"j\n//k\" l'";
        let all: Vec<_> = words(text).collect();
        assert_eq!(
            all,
            ["a", "::", "b", "'", "'", "'", "x", "e", "\"f\"g", "b", "\"h\\\"i", "\"j\n//k", "l", "'"]
        );
    }
}
