//! Offsets of findings, in bytes from the start of the file, a byte order mark included. Most parsers count from after it.

use std::ops::Range;
use std::str::Utf8Error;

use crate::{Diagnostic, Report};

/// UTF-8's byte order mark.
const MARK: &str = "\u{feff}";

/// Returns the length of the byte order mark that a text begins with, or 0, and the text after it.
#[must_use]
pub fn without_mark(text: &str) -> (usize, &str) {
    text.strip_prefix(MARK).map_or((0, text), |it| (MARK.len(), it))
}

/// Returns the range of the first bytes that are not UTF-8.
#[must_use]
pub fn not_utf8(error: &Utf8Error) -> Range<usize> {
    let start = error.valid_up_to();
    start..start + error.error_len().unwrap_or(1)
}

impl Diagnostic {
    /// Moves all ranges in the file itself by `by` bytes.
    fn shift(&mut self, by: u32) {
        let related = self.related.iter_mut().filter(|it| it.path.is_none()).map(|it| &mut it.span);
        let edits = self.fixes.iter_mut().flat_map(|it| &mut it.edits).map(|it| &mut it.span);
        for span in related.chain(edits).chain([&mut self.span]) {
            span.start += by;
            span.end += by;
        }
    }
}

impl Report {
    /// Moves the report on a text that begins `by` bytes after the start of the file.
    #[must_use]
    pub fn shifted(mut self, by: usize) -> Self {
        let by = u32::try_from(by).unwrap_or(u32::MAX);
        self.diagnostics.iter_mut().for_each(|it| it.shift(by));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fix, Related, Severity};

    #[test]
    fn marks() {
        assert_eq!(without_mark("\u{feff}\u{feff}a"), (3, "\u{feff}a"));
        assert_eq!(without_mark("a\u{feff}"), (0, "a\u{feff}"));
    }

    #[test]
    fn bytes_that_are_no_text() {
        let place = |bytes: &[u8]| not_utf8(&str::from_utf8(bytes).unwrap_err());
        assert_eq!(place(b"a\xe2\x82z"), 1..3);
        assert_eq!(place(b"a\xe2\x82"), 1..2, "an unfinished end");
    }

    #[test]
    fn every_place_in_the_file_moves() {
        let related = |path: Option<&str>| Related {
            path: path.map(str::to_owned),
            span: (1..2).into(),
            message: String::new(),
        };
        let found = Diagnostic {
            related: vec![related(None), related(Some("b"))],
            ..Diagnostic::error("a", "", 0..1)
        };
        let report = Report::new(vec![found.with_fix(Fix::safe("", 4..6, ""))]).shifted(3);
        let it = &report.diagnostics[0];
        let range = |span: crate::Span| span.start..span.end;
        assert_eq!((range(it.span), it.severity), (3..4, Severity::Error));
        assert_eq!(range(it.fixes[0].edits[0].span), 7..9);
        assert_eq!(
            [range(it.related[0].span), range(it.related[1].span)],
            [4..5, 1..2],
            "another file's stay"
        );
    }
}
