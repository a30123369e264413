//! Texts of others in messages for a terminal.

use std::borrow::Cow;

/// The text without characters that would steer the terminal: they may come from anywhere.
pub fn printable(text: &str) -> Cow<'_, str> {
    let steers =
        |it: char| it.is_control() || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let escape = |it: char| if steers(it) { it.escape_default().to_string() } else { it.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}
