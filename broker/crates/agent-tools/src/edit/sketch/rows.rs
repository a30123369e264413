//! A sketch as its rows: lines, and markers between them.

use std::{borrow::Cow, collections::HashMap};

use super::{
    super::{
        file_kind::FileKind,
        outcome::{Reason, Refused},
        text::{is_blank, lines_of},
    },
    markers::{Marker, marker},
};

/// A sketch without the blank lines at its ends and next to its markers.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Sketch<'a> {
    pub(super) rows: Vec<Row<'a>>,
}

/// A line, or a marker, which stands for any number of lines of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) is_marker: bool,
    /// Number of the line in the edit, from 1.
    pub(super) number: usize,
    /// Blank lines that were left out above and below.
    pub(super) blank_above: usize,
    pub(super) blank_below: usize,
}

impl Row<'_> {
    pub(super) fn is_blank(&self) -> bool {
        is_blank(&self.text)
    }
}

impl Sketch<'_> {
    /// Rows between two markers.
    pub(super) fn pieces(&self) -> Vec<std::ops::Range<usize>> {
        let (mut pieces, mut start) = (Vec::new(), 0);
        let ends = self.rows.iter().enumerate().filter(|it| it.1.is_marker).map(|it| it.0);
        for end in ends.chain([self.rows.len()]) {
            if end > start {
                pieces.push(start..end);
            }
            start = end + 1;
        }
        pieces
    }

    /// Numbers of the first and the last line of some rows.
    pub(super) fn numbers(&self, rows: &std::ops::Range<usize>) -> (usize, usize) {
        (self.rows[rows.start].number, self.rows[rows.end - 1].number)
    }

    pub(super) fn has_marker(&self) -> bool {
        self.rows.iter().any(|it| it.is_marker)
    }
}

/// Takes an edit apart. A line that may be a marker or not is refused, unless the file has it just so.
pub(in super::super) fn read<'a>(
    file: &[&str],
    edit: &'a str,
    kind: FileKind,
) -> Result<Sketch<'a>, Refused> {
    let lines = lines_of(edit);
    let known = Known::new(file);
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut blank = 0;
    for (at, line) in lines.iter().enumerate() {
        let is_marker = match (marker(line, kind), known.has(line)) {
            (Some(Marker::Clear), true) if known.is_line(&lines, at) => false,
            (Some(Marker::Clear), _) => true,
            (Some(Marker::Unclear), false) => {
                return Err(Reason::UnclearMarker { line: at + 1, text: line.trim().to_owned() }.into());
            }
            (Some(Marker::InLine), false) => {
                return Err(Reason::MarkerInLine { line: at + 1, text: line.trim().to_owned() }.into());
            }
            (None | Some(Marker::Unclear | Marker::InLine), _) => false,
        };
        if is_blank(line) {
            blank += 1;
            continue;
        }
        push(
            &mut rows,
            Row { text: (*line).into(), is_marker, number: at + 1, blank_above: blank, blank_below: 0 },
        );
        blank = 0;
    }
    if let Some(last) = rows.last_mut() {
        last.blank_below = blank;
    }
    if rows.iter().all(|it| it.is_marker) {
        return Err(Reason::Empty.into());
    }
    Ok(Sketch { rows })
}

/// Adds a row. Blank lines between two lines are rows; those next to markers only say that there may be some.
fn push<'a>(rows: &mut Vec<Row<'a>>, mut row: Row<'a>) {
    let blank = row.blank_above;
    match rows.last_mut() {
        None => {}
        Some(last) if last.is_marker && row.is_marker => return,
        Some(last) if last.is_marker => {}
        Some(last) if row.is_marker => last.blank_below = blank,
        Some(last) => {
            let first = last.number + 1;
            row.blank_above = 0;
            for number in first..first + blank {
                rows.push(Row { text: "".into(), is_marker: false, number, blank_above: 0, blank_below: 0 });
            }
        }
    }
    if row.is_marker {
        row.blank_above = 0;
    }
    rows.push(row);
}

/// The lines of a file, to tell comments that look like markers from markers.
struct Known<'a> {
    file: &'a [&'a str],
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Known<'a> {
    fn new(file: &'a [&'a str]) -> Self {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        file.iter().enumerate().for_each(|(at, it)| places.entry(it.trim()).or_default().push(at));
        Self { file, places }
    }

    fn has(&self, line: &str) -> bool {
        self.places.contains_key(line.trim())
    }

    /// Whether a line of the sketch stands next to the same line as in the file.
    fn is_line(&self, lines: &[&str], at: usize) -> bool {
        let is_same = |here: Option<&&str>, there: Option<&&str>| {
            here.zip(there).is_some_and(|(a, b)| !is_blank(a) && a.trim() == b.trim())
        };
        let places = self.places.get(lines[at].trim()).into_iter().flatten();
        places.into_iter().any(|place| {
            let above = at.checked_sub(1).zip(place.checked_sub(1));
            above.is_some_and(|(a, b)| is_same(lines.get(a), self.file.get(b)))
                || is_same(lines.get(at + 1), self.file.get(place + 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(file: &str, edit: &str) -> Vec<String> {
        let file: Vec<_> = file.lines().collect();
        let sketch = read(&file, edit, FileKind::Code).unwrap();
        let row = |it: &Row<'_>| {
            let kind = if it.is_marker { "marker" } else { &it.text };
            format!("{} {kind} {} {}", it.number, it.blank_above, it.blank_below)
        };
        sketch.rows.iter().map(row).collect()
    }

    #[test]
    fn blank_lines_next_to_markers_are_no_rows() {
        let rows = shown("a", "\n// ...\n\na\n\nb\n\n// ...\n// ...\nc\n\n");
        assert_eq!(rows, ["2 marker 0 0", "4 a 1 0", "5  0 0", "6 b 0 1", "8 marker 0 0", "10 c 0 1"]);
    }

    #[test]
    fn what_the_file_has_there_is_no_marker() {
        assert_eq!(shown("a\n# ...\nb", "a\n# ...\nc\n"), ["1 a 0 0", "2 # ... 0 0", "3 c 0 0"]);
        assert_eq!(shown("a\n# ...\nb", "b\n# ...\nc\n"), ["1 b 0 0", "2 marker 0 0", "3 c 0 0"]);
        assert_eq!(shown("  ...", "...\nb\n"), ["1 ... 0 0", "2 b 0 0"]);
        let refused = read(&["a"], "a\n...\n", FileKind::Code).unwrap_err();
        assert!(matches!(refused.reason, Reason::UnclearMarker { .. }));
    }
}
