//! Whether a tool wrote a stylesheet: what is found there can be mended in its source alone. Told by its name, as most of it
//! is in very long lines (as the `javascript` plugin tells it), or as it ends with the address of its source map.

use std::path::Path;

/// A line that is longer than this was not written by hand…
const LONG_LINE: usize = 500;

/// …and a file with so much in such lines was not, either.
const LONG_LINES: usize = 8 * 1024;

/// How much of the end is looked at for the address of a source map.
const END: usize = 256;

pub(crate) fn is_built(file: &Path, text: &str) -> bool {
    let name = file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let end = &text[text.floor_char_boundary(text.len().saturating_sub(END))..];
    name.ends_with(".min.css")
        || end.contains("# sourceMappingURL=")
        || in_long_lines(text) > (text.len() / 2).max(LONG_LINES)
}

/// How many bytes are in long lines.
fn in_long_lines(text: &str) -> usize {
    text.lines().map(str::len).filter(|it| *it > LONG_LINE).sum()
}
