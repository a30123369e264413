//! Files that look like stylesheets and are not for browsers: those of GTK and of GNOME's shell, which have elements and
//! properties of their own, and output with colours for a terminal.

use std::path::Path;

use raffia::Syntax;

use crate::mask::Mask;

/// Folders of themes and of programs that draw with GTK or as GNOME's shell does.
const FOLDERS: [&str; 7] = ["gnome-shell", "gtk-3.0", "gtk-4.0", "swaync", "waybar", "wlogout", "wofi"];

/// Names of files in such themes.
const STEMS: [&str; 6] = ["cinnamon", "gnome-shell", "gtk", "gtk-contained", "gtk-dark", "gtk-light"];

/// Words that only GTK knows.
const WORDS: [&[u8]; 4] = [b"@define-color", b"@binding-set", b"-gtk-", b"-Gtk"];

/// Whether a stylesheet is for GTK or for GNOME's shell: by its folder, which is one in the workspace, its name or its words.
pub(crate) fn is_of_toolkit(path: &Path, text: &str, syntax: Syntax) -> bool {
    let folders = path.parent().into_iter().flat_map(Path::iter).filter_map(|it| it.to_str());
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    if STEMS.contains(&stem)
        || folders.into_iter().any(|it| FOLDERS.contains(&it) || it.starts_with("gtk-3."))
    {
        return true;
    }
    let may_have = text.contains('@') || text.contains("-gtk-") || text.contains("-Gtk");
    may_have && has_words(&Mask::of(text, syntax).bytes, syntax)
}

fn has_words(bytes: &[u8], syntax: Syntax) -> bool {
    WORDS.iter().any(|word| has_word(bytes, word))
        || syntax == Syntax::Css && (0..bytes.len()).any(|at| is_named_color(bytes, at))
}

/// Whether a name begins with a word; `.icon-gtk-plain` does not.
fn has_word(bytes: &[u8], word: &[u8]) -> bool {
    let is_name =
        |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.' | b'#') || !it.is_ascii();
    let mut windows = bytes.windows(word.len()).enumerate();
    windows.any(|(at, it)| it == word && !bytes[..at].last().is_some_and(is_name))
}

/// `@theme_fg_color` as a value or an argument, which is nothing in CSS.
fn is_named_color(bytes: &[u8], at: usize) -> bool {
    let is_name = |it: &&u8| it.is_ascii_lowercase() || it.is_ascii_digit() || **it == b'_';
    let name = bytes[at + 1..].iter().take_while(is_name);
    bytes[at] == b'@'
        && matches!(bytes[..at].trim_ascii_end().last(), Some(b':' | b',' | b'('))
        && name.filter(|it| **it == b'_').count() > 0
}

/// Whether there are sequences that set colours of a terminal, outside of strings and comments: an escape, `[`, numbers
/// and a letter.
pub(crate) fn has_terminal_colors(text: &str, syntax: Syntax) -> bool {
    text.contains("\x1b[")
        && Mask::of(text, syntax).bytes.windows(2).enumerate().any(|(at, it)| {
            let rest = &text.as_bytes()[at + 2..];
            let end = rest.iter().find(|it| !it.is_ascii_digit() && !matches!(it, b';' | b':'));
            it == b"\x1b[" && end.is_some_and(|it| matches!(it, b'm' | b'K'))
        })
}
