//! A file's text as lines, which keeps what an edit does not speak of: line endings, a byte order mark, whether the
//! last line is ended.

use std::{collections::HashMap, ops::Range, time::Instant};

use bumpalo::Bump;
use similar::{Algorithm, capture_diff_slices_deadline};

use super::diff::DIFF_TIME;

/// The lines of a text, without their endings.
#[derive(Clone)]
pub(super) struct Text<'a> {
    mark: &'a str,
    lines: Vec<&'a str>,
    endings: Vec<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Lf,
    CrLf,
    /// End of a last line without a line ending.
    None,
}

/// Lines of a text that others take the place of. An empty range is an insertion before its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) range: Range<usize>,
    pub(super) lines: Vec<String>,
}

/// A change of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Lines(Replacement),
    /// A line has another text, and keeps its ending.
    Line {
        at: usize,
        text: String,
    },
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
            self.put(it).for_each(|(line, ending)| built.push(line, ending));
            at = it.range.end;
        }
        self.keep(at..self.lines.len(), &mut built);
        if ends.unwrap_or(!self.is_open()) {
            built.end();
        }
        built.text
    }

    /// The text with one change.
    pub(super) fn changed(&self, change: Change) -> String {
        let new = Bump::new();
        let mut changed = Text::clone(self);
        changed.change(change, &new);
        changed.replaced(&[], None)
    }

    /// Makes a change. It ends as before.
    pub(super) fn change(&mut self, change: Change, new: &'a Bump) {
        match change {
            Change::Line { at, text } => self.lines[at] = new.alloc_str(&text),
            Change::Lines(it) => self.replace(&it, new),
        }
    }

    fn replace(&mut self, replacement: &Replacement, new: &'a Bump) {
        let (range, is_open) = (replacement.range.clone(), self.is_open());
        let (lines, endings): (Vec<&'a str>, Vec<_>) =
            self.put(replacement).map(|(line, ending)| (&*new.alloc_str(line), ending)).unzip();
        if let Some(last) = self.endings.len().checked_sub(1) {
            self.endings[last] = self.ending_near(last);
        }
        self.lines.splice(range.clone(), lines);
        self.endings.splice(range, endings);
        if let Some(last) = self.endings.last_mut().filter(|_| is_open) {
            *last = Ending::None;
        }
    }

    fn keep(&self, range: Range<usize>, built: &mut Built) {
        for it in range {
            built.push(self.lines[it], self.ending_near(it));
        }
    }

    /// The new lines with their endings. A line that was there before keeps its ending; a new one has that of its neighbour.
    fn put<'r>(&'r self, replacement: &'r Replacement) -> impl Iterator<Item = (&'r str, Ending)> {
        let Range { start, end } = replacement.range;
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        (start..end).for_each(|it| places.entry(self.lines[it]).or_default().push(it));
        let mut old = start;
        replacement.lines.iter().map(move |line| {
            let places = places.get(&**line).map_or(&[][..], Vec::as_slice);
            if let Some(found) = places.get(places.partition_point(|it| *it < old)) {
                old = found + 1;
            }
            (&**line, self.ending_near(old.saturating_sub(1).max(start.saturating_sub(1))))
        })
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

/// A text whose lines end in LF.
pub(super) fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A later text of a file, whose lines end in LF, with the file's endings: a line that stays keeps its own, one in the place of
/// another has that one's, and a new one has that of its neighbour.
pub(super) fn with_endings_of(file: &str, after: &str) -> String {
    if !file.contains("\r\n") {
        return after.to_owned();
    }
    let file = Text::new(file);
    let after = after.strip_prefix(MARK).unwrap_or(after);
    let lines: Vec<_> = after.split_inclusive('\n').map(|it| it.strip_suffix('\n').unwrap_or(it)).collect();
    let deadline = Some(Instant::now() + DIFF_TIME);
    let mut built = Built { text: file.mark.to_owned(), open: None };
    for it in capture_diff_slices_deadline(Algorithm::Myers, file.lines(), &lines, deadline) {
        let old = it.old_range();
        let last = old.end.saturating_sub(1);
        for new in it.new_range() {
            let at =
                if new + 1 == it.new_range().end { last } else { old.start + new - it.new_range().start };
            built.push(lines[new], file.ending_near(at.min(last)));
        }
    }
    if after.ends_with('\n') {
        built.end();
    }
    built.text
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
    fn a_later_text_has_the_endings_of_the_file() {
        for (file, after, want) in [
            ("a\nb\n", "a\nx\nb\n", "a\nx\nb\n"),
            ("a\r\nb\r\n", "x\na\nb\ny\n", "x\r\na\r\nb\r\ny\r\n"),
            ("\u{feff}a\r\nb", "a\nb\nc", "\u{feff}a\r\nb\r\nc"),
            ("a\r\nb\r\n", "", ""),
            ("a\nb\r\nc\n", "a\nx\nc\n", "a\nx\r\nc\n"),
            ("a\nb\r\n\nc\n", "a\nb\n\nnew\n\nc\n", "a\nb\r\n\nnew\n\nc\n"),
            ("a\nb\r\nc\n", "a\nb\nnew\nnew\nc", "a\nb\r\nnew\r\nnew\r\nc"),
            ("a\r\r\nb\n", "a\r\nx\n", "a\r\r\nx\n"),
        ] {
            assert_eq!(with_endings_of(file, after), want, "{file:?} {after:?}");
        }
    }

    #[test]
    fn all_may_go() {
        assert_eq!(replaced("a\nb\n", 0..2, &[]), "");
        assert_eq!(replaced("a\nb\n", 0..1, &[]), "b\n");
    }

    /// All ranges of texts with all kinds of endings, each changed twice.
    #[test]
    fn changes_in_place_make_the_same_text() {
        for text in ["", "\u{feff}a\r\nb\r\n", "a\nb\r\nc", "a\r\nb\nc\n", "a"] {
            let count = Text::new(text).lines().len();
            let ranges = (0..=count).flat_map(|start| (start..=count).map(move |end| start..end));
            for (range, lines) in ranges.flat_map(|it| [(it.clone(), vec![]), (it, vec!["x", "b"])]) {
                let once = replaced(text, range.clone(), &lines);
                let lines: Vec<_> = lines.into_iter().map(str::to_owned).collect();
                let (new, mut file) = (Bump::new(), Text::new(text));
                file.change(Change::Lines(Replacement { range, lines }), &new);
                assert_eq!(file.replaced(&[], None), once);
                let end = file.lines().len();
                let last = Change::Lines(Replacement { range: end..end, lines: vec!["y".to_owned()] });
                file.change(last, &new);
                assert_eq!(file.replaced(&[], None), replaced(&once, end..end, &["y"]));
            }
        }
        let line = |text| Text::new(text).changed(Change::Line { at: 1, text: "x".to_owned() });
        assert_eq!([line("a\nb\r\nc"), line("a\nb")], ["a\nx\r\nc", "a\nx"]);
    }
}
