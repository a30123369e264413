//! Recognition of files whose line breaks a tool removed. Findings in them can be fixed in their sources only, so that plugins
//! leave them out unless the user names them ([`SourceFile::is_explicit`](crate::SourceFile::is_explicit)).

use std::path::Path;

/// Length in bytes above which a line was not written by hand.
const LONG_LINE: usize = 500;

/// Number of bytes in such lines above which a file was not written by hand.
const LONG_LINES: usize = 8 * 1024;

/// Number of bytes at the end of a file that are searched for the address of a source map.
const END: usize = 256;

/// Whether a file is minified: its name is that of a minified file (`a.min.css`), or most of it is in very long lines.
#[must_use]
pub fn is_minified(file: &Path, text: &str) -> bool {
    let is_named = file.file_stem().and_then(|it| it.to_str()).is_some_and(|it| it.ends_with(".min"));
    is_named || in_long_lines(text) > (text.len() / 2).max(LONG_LINES)
}

/// Whether a file ends with the address of its source map: then a tool built it.
#[must_use]
pub fn has_source_map(text: &str) -> bool {
    text[text.floor_char_boundary(text.len().saturating_sub(END))..].contains("# sourceMappingURL=")
}

/// Number of bytes in long lines.
fn in_long_lines(text: &str) -> usize {
    text.as_bytes().split(|it| *it == b'\n').map(<[u8]>::len).filter(|it| *it > LONG_LINE).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minified() {
        let is = |name: &str, text: &str| is_minified(Path::new(name), text);
        assert!(is("/a/b.min.css", "a{}") && is("b.min.mjs", "") && is("b.min.js", ""));
        assert!(!is("b.css", "a{}") && !is("/a.min/b.js", "") && !is("min.js", ""));
        let long = "a{b:c}".repeat(2_000);
        assert!(is("a.css", &long) && is("a.css", &format!("/* by hand */\n{long}\n")));
        let short = "a{b:c}\n".repeat(2_000);
        assert!(!is("a.css", &short) && !is("a.css", &format!("{short}{long}")));
        assert!(!is("a.css", &"a{b:c}".repeat(200)), "one long line is no minified file");
    }

    #[test]
    fn source_maps() {
        assert!(has_source_map("a{}\n/*# sourceMappingURL=a.css.map */\n"));
        assert!(!has_source_map(&format!("//# sourceMappingURL=a.js.map\n{}", "é".repeat(300))));
    }
}
