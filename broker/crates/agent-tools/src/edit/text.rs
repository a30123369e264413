//! A file's text as lines, which keeps what an edit does not speak of: line endings, a byte order mark, whether the
//! last line is ended.

use std::{collections::HashMap, ops::Range};

/// The lines of a text, without their endings.
pub(super) struct Text<'a> {
    mark: &'a str,
    lines: Vec<&'a str>,
    endings: Vec<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Lf,
    CrLf,
    /// That of a last line.
    None,
}

/// Lines of a text that others take the place of. An empty range is an insertion before its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) range: Range<usize>,
    pub(super) lines: Vec<String>,
}

/// U+FEFF at the start of a text.
const MARK: &str = "\u{feff}";

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let (mark, text) = match text.strip_prefix(MARK) {
            Some(rest) => (MARK, rest),
            None => ("", text),
        };
        let (lines, endings) = text.split_inclusive('\n').map(split).unzip();
        Self { mark, lines, endings }
    }

    pub(super) fn lines(&self) -> &[&'a str] {
        &self.lines
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether there is a last line without an ending.
    pub(super) fn is_open(&self) -> bool {
        self.endings.last() == Some(&Ending::None)
    }

    /// The text with these replacements, which are in order and do not overlap. It ends as before, if not said otherwise.
    pub(super) fn replaced(&self, replacements: &[Replacement], ends: Option<bool>) -> String {
        let mut built = Built { text: self.mark.to_owned(), open: None };
        let mut at = 0;
        for it in replacements {
            self.keep(at..it.range.start, &mut built);
            self.put(it, &mut built);
            at = it.range.end;
        }
        self.keep(at..self.lines.len(), &mut built);
        if ends.unwrap_or(!self.is_open()) {
            built.end();
        }
        built.text
    }

    fn keep(&self, range: Range<usize>, built: &mut Built) {
        for it in range {
            built.push(self.lines[it], self.ending_near(it));
        }
    }

    /// A line that was there before keeps its ending; a new one has that of its neighbour.
    fn put(&self, replacement: &Replacement, built: &mut Built) {
        let Range { start, end } = replacement.range;
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        (start..end).for_each(|it| places.entry(self.lines[it]).or_default().push(it));
        let mut old = start;
        for line in &replacement.lines {
            let places = places.get(&**line).map_or(&[][..], Vec::as_slice);
            if let Some(found) = places.get(places.partition_point(|it| *it < old)) {
                old = found + 1;
            }
            built.push(line, self.ending_near(old.saturating_sub(1).max(start.saturating_sub(1))));
        }
    }

    /// The ending of a line, or of the nearest one before it that has one.
    fn ending_near(&self, line: usize) -> Ending {
        let upto = self.endings.get(..=line).unwrap_or(&self.endings);
        let near = upto.iter().rev().chain(&self.endings).find(|it| **it != Ending::None);
        near.copied().unwrap_or(Ending::Lf)
    }
}

fn split(line: &str) -> (&str, Ending) {
    if let Some(line) = line.strip_suffix("\r\n") {
        (line, Ending::CrLf)
    } else if let Some(line) = line.strip_suffix('\n') {
        (line, Ending::Lf)
    } else {
        (line, Ending::None)
    }
}

struct Built {
    text: String,
    /// The ending that is due if anything follows.
    open: Option<Ending>,
}

impl Built {
    fn push(&mut self, line: &str, ending: Ending) {
        self.end();
        self.text.push_str(line);
        self.open = Some(ending);
    }

    fn end(&mut self) {
        match self.open.take() {
            Some(Ending::CrLf) => self.text.push_str("\r\n"),
            Some(Ending::Lf) => self.text.push('\n'),
            Some(Ending::None) | None => {}
        }
    }
}

/// The lines of what an agent wrote, whose endings mean nothing.
pub(super) fn lines_of(edit: &str) -> Vec<&str> {
    edit.strip_prefix(MARK).unwrap_or(edit).lines().collect()
}

pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The whitespace that a line begins with.
pub(super) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// A line without any whitespace.
pub(super) fn squeezed(line: &str) -> String {
    line.split_whitespace().collect()
}

/// A line without indentation, with one blank for each whitespace within it.
pub(super) fn collapsed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether two lines have most of their words in common.
pub(super) fn are_alike(new: &str, old: &str) -> bool {
    let words = |line: &'_ str| -> Vec<String> {
        let words = line.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        words.map(str::to_owned).collect()
    };
    let (new, mut old) = (words(new), words(old));
    let all = new.len() + old.len();
    let common = new
        .iter()
        .filter(|it| old.iter().position(|old| old == *it).map(|at| old.remove(at)).is_some())
        .count();
    common * 2 * 100 >= all * ALIKE && common > 0
}

/// In percent of the words.
const ALIKE: usize = 65;

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, range: Range<usize>, lines: &[&str]) -> String {
        let lines = lines.iter().map(|it| (*it).to_owned()).collect();
        Text::new(text).replaced(&[Replacement { range, lines }], None)
    }

    #[test]
    fn endings_and_marks_stay() {
        assert_eq!(replaced("\u{feff}a\r\nb\r\n", 1..2, &["x", "y"]), "\u{feff}a\r\nx\r\ny\r\n");
        assert_eq!(replaced("a\nb", 1..2, &["x", "y"]), "a\nx\ny");
        assert_eq!(replaced("a\nb", 2..2, &["c"]), "a\nb\nc");
        assert_eq!(replaced("", 0..0, &["a"]), "a\n");
        assert_eq!(replaced("a\nb\r\nc\n", 0..3, &["a", "b", "x", "c"]), "a\nb\r\nx\r\nc\n");
    }

    #[test]
    fn all_may_go() {
        assert_eq!(replaced("a\nb\n", 0..2, &[]), "");
        assert_eq!(replaced("a\nb\n", 0..1, &[]), "b\n");
    }
}
