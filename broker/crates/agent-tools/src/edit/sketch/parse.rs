//! A sketch as its pieces.

use std::collections::HashSet;

use super::{
    super::{
        file_kind::FileKind,
        outcome::{Reason, Refused},
        text::{Text, is_blank, lines_of},
    },
    markers::{Marker, marker},
};

/// Pieces with a marker between each two.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Sketch<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    /// Whether a marker stands before the first piece, and after the last.
    pub(super) starts_open: bool,
    pub(super) ends_open: bool,
}

/// Lines without a marker between, neither the first nor the last of which is blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// The number of its first line in the edit, from 1.
    pub(super) line: usize,
    pub(super) lines: Vec<&'a str>,
    /// Blank lines above and below it.
    pub(super) blank_before: usize,
    pub(super) blank_after: usize,
}

impl Piece<'_> {
    /// The number of its last line in the edit.
    pub(super) fn last(&self) -> usize {
        self.line + self.lines.len() - 1
    }
}

/// Takes an edit apart. A line that may be a marker or not is refused, unless the file has it just so.
pub(super) fn read<'a>(file: &Text<'_>, edit: &'a str, kind: FileKind) -> Result<Sketch<'a>, Refused> {
    let lines = lines_of(edit);
    // Each line of the file, since an edit may have as many lines that are looked for.
    let known: HashSet<&str> = file.lines().iter().map(|it| it.trim()).collect();
    let is_known = |line: &str| known.contains(line.trim());
    let (mut runs, mut run, mut is_open) = (Vec::new(), Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        let refused = |unclear: bool| -> Refused {
            let (line, text) = (at + 1, line.trim().to_owned());
            if unclear { Reason::UnclearMarker { line, text } } else { Reason::MarkerInLine { line, text } }
                .into()
        };
        match (marker(line, kind), is_known(line)) {
            (Some(Marker::Clear), true) => return Err(refused(true)),
            (Some(Marker::Clear), false) => {
                is_open.push(at);
                runs.push(std::mem::take(&mut run));
            }
            (Some(Marker::Unclear), false) => return Err(refused(true)),
            (Some(Marker::InLine), false) => return Err(refused(false)),
            (None | Some(Marker::Unclear | Marker::InLine), _) => run.push((at, *line)),
        }
    }
    runs.push(run);
    let pieces: Vec<_> = runs.iter().filter_map(|it| piece(it)).collect();
    let is_blank_run = |it: Option<&Vec<(usize, &str)>>| it.is_some_and(|it| piece(it).is_none());
    if pieces.is_empty() {
        return Err(Reason::Empty.into());
    }
    let (starts_open, ends_open) = (is_blank_run(runs.first()), is_blank_run(runs.last()));
    Ok(Sketch { pieces, starts_open, ends_open })
}

fn piece<'a>(run: &[(usize, &'a str)]) -> Option<Piece<'a>> {
    let first = run.iter().position(|it| !is_blank(it.1))?;
    let last = run.iter().rposition(|it| !is_blank(it.1))?;
    let lines = run[first..=last].iter().map(|it| it.1).collect();
    Some(Piece { line: run[first].0 + 1, lines, blank_before: first, blank_after: run.len() - 1 - last })
}

/// Refuses a line that may be a marker, if the file has not just that line.
pub(in super::super) fn expect_no_marker(file: &Text<'_>, edit: &str, kind: FileKind) -> Result<(), Refused> {
    read(file, edit, kind).map(drop)
}

/// An edit without markers as one piece.
pub(in super::super) fn whole_piece(edit: &str) -> Option<Sketch<'_>> {
    let lines: Vec<_> = lines_of(edit).into_iter().enumerate().collect();
    Some(Sketch { pieces: vec![piece(&lines)?], starts_open: false, ends_open: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stand_between_markers() {
        let file = Text::new("a\n");
        let sketch = read(&file, "\n// ...\n\na\nb\n\n// ...\n// ...\nc\n", FileKind::Code).unwrap();
        let pieces: Vec<_> =
            sketch.pieces.iter().map(|it| (it.line, it.blank_before, it.lines.clone())).collect();
        assert_eq!(pieces, [(4, 1, vec!["a", "b"]), (9, 0, vec!["c"])]);
        assert_eq!((sketch.starts_open, sketch.ends_open), (true, false));
    }

    #[test]
    fn what_the_file_has_is_no_marker() {
        assert!(read(&Text::new("  ...\n"), "...\nb\n", FileKind::Code).is_ok());
        let refused = read(&Text::new("# ...\n"), "a\n# ...\nb\n", FileKind::Code).unwrap_err();
        assert_eq!(refused.reason, Reason::UnclearMarker { line: 2, text: "# ...".into() });
        assert!(
            matches!(read(&Text::new("a\n"), "a\n...\n", FileKind::Code), Err(it) if matches!(it.reason, Reason::UnclearMarker { .. }))
        );
    }
}
