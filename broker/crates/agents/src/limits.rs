//! Limits for answers that a model reads: bounded sizes, with a note of what was left out.

use std::borrow::Cow;

/// Bytes of the text of an answer.
const MAX_TEXT: usize = 48 << 10;

/// Lines of a file in one answer, unless all of it is asked for.
pub(crate) const LINES: usize = 200;

/// Lines of a file in any case.
pub(crate) const MAX_LINES: usize = 5000;

/// Lines and bytes of several files in one answer.
pub(crate) const ALL_LINES: usize = 500;
pub(crate) const ALL_BYTES: usize = 40 << 10;

/// Bytes of the lines of a file in one answer.
pub(crate) const LINE_BYTES: usize = 200 << 10;

/// Symbols in the outline of a file.
pub(crate) const SYMBOLS: usize = 100;

/// Findings in one answer.
pub(crate) const FINDINGS: usize = 30;

/// Bytes of the message of a finding that are kept whole, if there are no more findings than [`WHOLE_MESSAGES`], and of one among
/// more. Of a longer one, the first line is.
pub(crate) const LONG_MESSAGE: usize = 600;
pub(crate) const MESSAGE: usize = 160;
pub(crate) const WHOLE_MESSAGES: usize = 3;

/// Matching lines in one answer.
pub(crate) const MATCHES: usize = 50;

/// Pieces of code in one answer, and lines of each.
pub(crate) const CHUNKS: usize = 8;
pub(crate) const CHUNK_LINES: usize = 12;

/// Paths in one answer.
pub(crate) const PATHS: usize = 20;

/// Places in one answer.
pub(crate) const PLACES: usize = 50;

/// Entries of a directory in one answer.
pub(crate) const ENTRIES: u32 = 500;

/// Lines of a diff in one answer, and bytes of one of them.
const DIFF_LINES: usize = 400;
const DIFF_LINE: usize = 1000;

/// Changed paths in one answer.
pub(crate) const CHANGES: usize = 200;

/// Bytes of what is searched for.
pub(crate) const MAX_QUERY: usize = 2000;

/// Bytes of the output of a command, of its end.
pub(crate) const OUTPUT: usize = 8 << 10;

/// The beginning of a text that is too long, and how much is left out.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let end = text.floor_char_boundary(MAX_TEXT);
    let rest = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n… {rest} more bytes are left out; ask for less at once"));
    text
}

/// A diff of which long lines and the end are left out, which it says.
pub(crate) fn diff(text: &str) -> String {
    let (first, more) = first_lines(text, DIFF_LINES);
    let mut shown: String = first.split_inclusive('\n').map(short_line).collect();
    if more > 0 {
        shown.push_str(&format!("… {more} more lines\n"));
    }
    cut(shown)
}

fn short_line(line: &str) -> Cow<'_, str> {
    let end = line.floor_char_boundary(DIFF_LINE);
    match line.len() - end {
        0 => Cow::Borrowed(line),
        more => Cow::Owned(format!("{}… {more} more bytes of this line\n", &line[..end])),
    }
}

/// The first lines of a text, and how many there are besides.
pub(crate) fn first_lines(text: &str, count: usize) -> (String, usize) {
    let all = text.lines().count();
    if all <= count {
        return (text.to_owned(), 0);
    }
    let first: String = text.split_inclusive('\n').take(count).collect();
    (first, all - count)
}

/// `one file`, `2 files`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        assert_eq!(cut("short".to_owned()), "short");
        let long = cut("é".repeat(MAX_TEXT));
        assert!(
            long.ends_with("… 49152 more bytes are left out; ask for less at once"),
            "{}",
            &long[long.len() - 80..]
        );
        assert_eq!(diff("+a\n"), "+a\n");
        let long = diff(&format!("+{}\n", "x".repeat(5000)).repeat(1000));
        assert!(long.len() < MAX_TEXT + 100, "{}", long.len());
        assert!(long.starts_with(&format!("+{}… 4002 more bytes of this line\n+", "x".repeat(999))));
        assert_eq!(first_lines("a\nb\nc\n", 2), ("a\nb\n".to_owned(), 1));
        assert_eq!(first_lines("a\nb", 2), ("a\nb".to_owned(), 0));
    }
}
