//! Places of a text that both sides changed, and the markers that a rebase writes for them.

use std::fmt;

use diffy::{ConflictStyle, IncompleteHunkStyle, MergeOptions};

use super::Side;

/// A place that both sides changed. A side without lines deleted them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictHunk {
    /// Line in the branch's text at which it begins, from 1.
    pub line: u32,
    /// The lines before both changes.
    pub base: String,
    /// The branch's lines.
    pub ours: String,
    /// The other side's lines.
    pub theirs: String,
}

/// Length of the markers that are looked for in a merged text: no source has a line like them.
const LENGTH: usize = 97;

/// Signs of git's markers.
const SHORT: usize = 7;

/// The hunks that a merge by lines cannot decide.
pub(super) fn conflict_hunks(ancestor: &str, ours: &str, theirs: &str) -> Vec<ConflictHunk> {
    let Err(merged) = marked([ancestor, ours, theirs]) else { return Vec::new() };
    let mut reader = Reader { line: 1, part: Part::Both, hunks: Vec::new() };
    merged.split_inclusive('\n').for_each(|it| reader.read(it));
    reader.hunks
}

/// Merges `[ancestor, ours, theirs]`; the error has markers that no source has.
fn marked([ancestor, ours, theirs]: [&str; 3]) -> Result<String, String> {
    let mut options = MergeOptions::new();
    options
        .set_conflict_style(ConflictStyle::Diff3)
        .set_conflict_marker_length(LENGTH)
        .set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    options.merge(ancestor, ours, theirs)
}

/// Merges `[ancestor, ours, theirs]` with one side for each place that both sides changed.
pub(super) fn chosen(texts: [&str; 3], sides: &[Side]) -> String {
    let marked = match marked(texts) {
        Ok(merged) => return merged,
        Err(marked) => marked,
    };
    let (mut text, mut part) = (String::new(), Part::Both);
    let mut sides = sides.iter().copied();
    let mut side = None;
    for line in marked.split_inclusive('\n') {
        if let Some(next) = part_after(line) {
            part = next;
            if part == Part::Ours {
                side = sides.next();
            }
        } else if part == Part::Both || side.is_some_and(|it| part.is_of(it)) {
            text.push_str(line);
        }
    }
    // Before a marker, the last line has an end that no side has.
    if !texts[1].ends_with('\n') && !texts[2].ends_with('\n') && text.ends_with('\n') {
        text.pop();
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Both,
    Ours,
    Base,
    Theirs,
}

impl Part {
    fn is_of(self, side: Side) -> bool {
        match side {
            Side::Ours => self == Self::Ours,
            Side::Theirs => self == Self::Theirs,
            Side::Both => matches!(self, Self::Ours | Self::Theirs),
            Side::Base => self == Self::Base,
        }
    }
}

struct Reader {
    /// Line of the branch's text.
    line: u32,
    part: Part,
    hunks: Vec<ConflictHunk>,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if let Some(part) = part_after(line) {
            self.part = part;
            if part == Part::Ours {
                let (base, ours, theirs) = Default::default();
                self.hunks.push(ConflictHunk { line: self.line, base, ours, theirs });
            }
            return;
        }
        if matches!(self.part, Part::Both | Part::Ours) {
            self.line += 1;
        }
        let Some(hunk) = self.hunks.last_mut() else { return };
        match self.part {
            Part::Both => {}
            Part::Ours => hunk.ours.push_str(line),
            Part::Base => hunk.base.push_str(line),
            Part::Theirs => hunk.theirs.push_str(line),
        }
    }
}

/// The part of a merged text that begins after this line; `None` if it is no marker.
fn part_after(line: &str) -> Option<Part> {
    let parts = [('<', Part::Ours), ('|', Part::Base), ('=', Part::Theirs), ('>', Part::Both)];
    let is_marker = |sign: char| line.chars().take_while(|it| *it == sign).count() == LENGTH;
    parts.into_iter().find(|(sign, _)| is_marker(*sign)).map(|(_, part)| part)
}

/// Lines, from 1, at which markers begin as [`OnConflict::Markers`](super::OnConflict::Markers) writes them: all three of them, in their order.
pub fn marked_lines(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let (mut begun, mut is_divided) = (None, false);
    for (line, number) in text.lines().zip(1..) {
        if is_mark(line, '<') {
            (begun, is_divided) = (Some(number), false);
        } else if line.trim_end() == "=".repeat(SHORT) {
            is_divided = begun.is_some();
        } else if is_mark(line, '>')
            && is_divided
            && let Some(first) = begun.take()
        {
            found.push(first);
        }
    }
    found
}

fn is_mark(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    line.len() - rest.len() == SHORT && rest.starts_with(' ')
}

/// Lines of one side that are shown.
const SHOWN: usize = 10;

impl fmt::Display for ConflictHunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ours.lines().count() {
            0 | 1 => write!(f, "line {}", self.line)?,
            count => write!(f, "lines {}-{}", self.line, self.line as usize + count - 1)?,
        }
        for (name, text) in [("base", &self.base), ("ours", &self.ours), ("theirs", &self.theirs)] {
            let count = text.lines().count();
            write!(f, "\n{name}:{}", if count == 0 { " nothing" } else { "" })?;
            text.lines().take(SHOWN).try_for_each(|it| write!(f, "\n  {it}"))?;
            if count > SHOWN {
                write!(f, "\n  … {} more lines", count - SHOWN)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_the_lines_of_all_sides() {
        let base = "a\nb\nc\nd\ne\nf\ng\n";
        let hunks = conflict_hunks(base, "A\na\nb\nours\nd\ne\nf\n", "a\nb\ntheirs\nd\ne\nf\nchanged\n");
        let of = |line, base: &str, ours: &str, theirs: &str| ConflictHunk {
            line,
            base: base.into(),
            ours: ours.into(),
            theirs: theirs.into(),
        };
        assert_eq!(hunks, [of(4, "c\n", "ours\n", "theirs\n"), of(8, "g\n", "", "changed\n")]);
        assert_eq!(conflict_hunks(base, base, "x\n"), []);
        let shown = "line 8\nbase:\n  g\nours: nothing\ntheirs:\n  changed";
        assert_eq!(hunks[1].to_string(), shown);
        assert!(of(4, "", "a\nb\n", "").to_string().starts_with("lines 4-5\n"));
    }

    #[test]
    fn a_last_line_without_an_end_is_decided_like_others() {
        for (sides, want) in [
            (Side::Ours, "a\nours"),
            (Side::Theirs, "a\ntheirs"),
            (Side::Both, "a\nours\ntheirs"),
            (Side::Base, "a\nb"),
        ] {
            assert_eq!(chosen(["a\nb", "a\nours", "a\ntheirs"], &[sides]), want);
        }
        let hunks = conflict_hunks("a\nb", "a\nours", "a\ntheirs");
        assert_eq!(
            (hunks.len(), hunks[0].ours.trim_end(), hunks[0].theirs.trim_end()),
            (1, "ours", "theirs")
        );
    }

    #[test]
    fn markers_count_only_in_their_order() {
        let marked = "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n";
        assert_eq!(marked_lines(marked), [2]);
        assert_eq!(marked_lines(&marked.repeat(2)), [2, 8]);
        assert_eq!(marked_lines(&marked.replace('\n', "\r\n")), [2]);
        for text in [
            "<<<<<<< a\n>>>>>>> b\n",
            "=======\n>>>>>>> b\n",
            "Title\n=======\n",
            "<<<<<<<<< a\n=======\n>>>>>>> b\n",
        ] {
            assert_eq!(marked_lines(text), [], "{text}");
        }
    }
}
