//! Texts of others in messages for a terminal.

use std::borrow::Cow;

/// The text with characters escaped that would steer the terminal or cannot be seen: they may come from anywhere.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let escape = |it: char| if is_invisible(it) { it.escape_default().to_string() } else { it.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Escapes the same characters in a text of several lines, whose line endings and tabs stay.
pub fn printable_text(text: &str) -> Cow<'_, str> {
    let stays = |it: char| matches!(it, '\n' | '\t');
    if !text.contains(|it| is_invisible(it) && !stays(it)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (at, it) in text.char_indices() {
        let is_ending = it == '\r' && text[at + 1..].starts_with('\n');
        match is_invisible(it) && !stays(it) && !is_ending {
            true => shown.extend(it.escape_default()),
            false => shown.push(it),
        }
    }
    Cow::Owned(shown)
}

/// Whether the character is a control character, reorders others, or is invisible: texts that differ in these look alike.
pub fn is_invisible(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{2028}' | '\u{2029}')
        || ('\u{200b}'..='\u{200f}').contains(&it)
        || ('\u{202a}'..='\u{202e}').contains(&it)
        || ('\u{2060}'..='\u{206f}').contains(&it)
        || ('\u{e0000}'..='\u{e007f}').contains(&it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        let escaped =
            [("a\u{1b}[2J", "a\\u{1b}[2J"), ("x\u{200b}y", "x\\u{200b}y"), ("\u{feff}z", "\\u{feff}z")];
        for (text, want) in escaped {
            assert_eq!(printable(text), want);
        }
        assert!(matches!(printable("\u{f6} \u{4e2d}"), Cow::Borrowed(_)));
        assert_eq!(printable_text("a\tb\r\nc\rd\u{1b}[1A\n"), "a\tb\r\nc\\rd\\u{1b}[1A\n");
    }
}
