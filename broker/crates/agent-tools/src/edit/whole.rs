//! Text without any marker: the whole file, or one piece of it.
//!
//! The text is the whole file if most of the file's lines are in it and nothing at the file's ends is left out. It is a
//! piece if it begins and ends with lines of the file, and leaves out more than half of it. Otherwise both are shown.

use std::time::Instant;

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::{
    diff::DIFF_TIME,
    outcome::{Changed, Reason, Refused},
    parser::Parser,
    sketch,
    text::{Replacement, Text, are_alike, is_blank, lines_of, squeezed},
};

/// In percent of the lines that are not blank: the share of a file from which on an edit can be all of it, and below
/// which it is none of it even if it begins where the file does.
const MOST_OF_FILE_PERCENT: usize = 50;
const LITTLE_OF_FILE_PERCENT: usize = 25;

/// Lines of a file that is large enough for an edit of its start to be clearly a part.
const LARGE_FILE_LINES: usize = 40;

pub(super) fn apply(file: &Text<'_>, edit: &str, parser: &Parser<'_>) -> Result<Changed, Refused> {
    let lines = lines_of(edit);
    if lines.iter().all(|it| is_blank(it)) {
        return Err(Reason::Empty.into());
    }
    let whole = whole_text(file, &lines);
    if file.lines().iter().all(|it| is_blank(it)) {
        return Ok(whole.into());
    }
    let sketch = match sketch::read(file.lines(), edit, parser.kind) {
        Ok(it) => it,
        Err(refused) => return Err(refused.and_reading(&before(file), "the edit is the whole file", whole)),
    };
    let cover = Cover::new(file.lines(), &trimmed(&lines));
    if cover.is_whole() {
        return Ok(whole.into());
    }
    match sketch::place(file, sketch, parser) {
        Ok(part) if part.changed.text == whole || part.is_framed || cover.is_clearly_a_part() => {
            Ok(part.changed)
        }
        Ok(part) => {
            Err(either(file, vec![("a piece of the file", part.changed.text), ("the whole file", whole)]))
        }
        Err(refused) if refused.reason == Reason::BreaksSyntax => {
            Err(either(file, vec![("the whole file", whole)]))
        }
        Err(refused) => Err(refused.and_reading(&before(file), "the edit is the whole file", whole)),
    }
}

fn before(file: &Text<'_>) -> String {
    file.replaced(&[], None)
}

fn either(file: &Text<'_>, readings: Vec<(&str, String)>) -> Refused {
    let readings = readings.into_iter().map(|(what, text)| (format!("the edit is {what}"), text)).collect();
    Refused::with_readings(Reason::WholeOrPart, &before(file), readings)
}

/// The lines without blank ones at both ends, which come from fences and templates.
fn trimmed<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let first = lines.iter().position(|it| !is_blank(it)).unwrap_or_default();
    let last = lines.iter().rposition(|it| !is_blank(it)).map_or(0, |it| it + 1);
    lines[first..last.max(first)].to_vec()
}

/// The edit in the place of what the file says: blank lines at its ends stay as they are.
fn whole_text(file: &Text<'_>, lines: &[&str]) -> String {
    let lines = trimmed(lines).iter().map(|it| (*it).to_owned()).collect();
    let is_said = |it: &&str| !is_blank(it);
    let first = file.lines().iter().position(is_said).unwrap_or_default();
    let last = file.lines().iter().rposition(is_said).map_or(file.lines().len(), |it| it + 1);
    file.replaced(&[Replacement { range: first..last, lines }], None)
}

/// Extent to which an edit covers a file.
struct Cover {
    /// Lines of the file that are not blank, and those of them that the edit has.
    lines: usize,
    kept: usize,
    /// Lines above the first and below the last common one.
    above: usize,
    below: usize,
    /// Whether the edit's lines in the place of those are much like them, and nothing else of the file is missing.
    is_complete: bool,
    is_line_for_line: bool,
}

/// Lines in a row that a whole file may leave out of the old one, where its ends say little.
const LEFT_OUT: usize = 3;

impl Cover {
    fn new(file: &[&str], edit: &[&str]) -> Self {
        let keys = |lines: &[&str]| lines.iter().map(|it| squeezed(it)).collect::<Vec<_>>();
        let (old, new) = (keys(file), keys(edit));
        let said = |lines: &[String]| lines.iter().filter(|it| !it.is_empty()).count();
        let ops =
            capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(Instant::now() + DIFF_TIME));
        let removed = ops.iter().filter_map(|it| match *it {
            DiffOp::Delete { old_index, old_len, .. } => Some(said(&old[old_index..old_index + old_len])),
            _ => None,
        });
        let most_removed = removed.max().unwrap_or_default();
        let equal = ops.into_iter().filter_map(|it| match it {
            DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
            _ => None,
        });
        let equal: Vec<_> = equal.filter(|it| said(&old[it.0..it.0 + it.2]) > 0).collect();
        let kept = equal.iter().map(|it| said(&old[it.0..it.0 + it.2])).sum();
        let first = equal.first().copied().unwrap_or((old.len(), new.len(), 0));
        let last = equal.last().map_or((0, 0), |it| (it.0 + it.2, it.1 + it.2));
        let ends = (&file[..first.0], &edit[..first.1], &file[last.0..], &edit[last.1..]);
        let are_alike =
            pairwise(ends.0.iter(), ends.1.iter()) && pairwise(ends.2.iter().rev(), ends.3.iter().rev());
        Self {
            lines: said(&old),
            kept,
            above: said(&old[..first.0]),
            below: said(&old[last.0..]),
            is_complete: are_alike && most_removed <= LEFT_OUT,
            is_line_for_line: said(&old) == 1 && said(&new) == 1,
        }
    }

    fn share(&self) -> usize {
        self.kept * 100 / self.lines.max(1)
    }

    /// Whether the lines at the ends that are left out have similar ones in their place; or one line replaces the only one.
    fn is_whole(&self) -> bool {
        (self.share() >= MOST_OF_FILE_PERCENT && self.is_complete) || self.is_line_for_line
    }

    fn is_clearly_a_part(&self) -> bool {
        let both = self.above > 0 && self.below > 0;
        (both && self.share() < MOST_OF_FILE_PERCENT)
            || (self.lines >= LARGE_FILE_LINES && self.share() < LITTLE_OF_FILE_PERCENT)
    }
}

/// Whether each line that is not blank has one like it at its place.
fn pairwise<'a>(old: impl Iterator<Item = &'a &'a str>, new: impl Iterator<Item = &'a &'a str>) -> bool {
    let mut new = new.filter(|it| !is_blank(it));
    old.filter(|it| !is_blank(it)).all(|old| new.next().is_some_and(|new| are_alike(new, old)))
}

#[cfg(test)]
mod tests {
    use overlay::WorkspacePath;
    use syntax::Trees;

    use super::{super::toolkit::Toolkit, *};

    fn applied(file: &str, edit: &str) -> Result<String, Reason> {
        let trees = Trees::new(1 << 20);
        let parser = Parser::of(&WorkspacePath::new("a").unwrap(), file, Toolkit::new(&trees));
        apply(&Text::new(file), edit, &parser).map(|it| it.text).map_err(|it| it.reason)
    }

    #[test]
    fn blank_lines_at_the_ends_stay() {
        let whole = |file, edit| whole_text(&Text::new(file), &lines_of(edit));
        assert_eq!(whole("\none\ntwo\n\n", "\none\nnew\n"), "\none\nnew\n\n");
        assert_eq!(whole("one\ntwo\n", "\none\nnew\n\n"), "one\nnew\n");
        assert_eq!(whole("\n\n", "one\n"), "one\n");
    }

    #[test]
    fn the_only_line() {
        assert_eq!(applied("x = 1\n", "y = f(2)").unwrap(), "y = f(2)\n");
        assert!(applied("x = 1\n", "y = 2\nz = 3").is_err());
        assert!(applied("x = 1\ny = 1\n", "z = 2").is_err());
    }

    #[test]
    fn the_whole_file_is_known_by_its_ends() {
        assert_eq!(applied("one\ntwo\nthree\n", "one\nnew\nthree\n").unwrap(), "one\nnew\nthree\n");
        assert_eq!(applied("", "one\n").unwrap(), "one\n");
        assert_eq!(
            applied("the one\ntwo\nthree\nfour", "the new one\ntwo\nthree\nfour\n").unwrap(),
            "the new one\ntwo\nthree\nfour"
        );
    }

    #[test]
    fn a_piece_from_the_middle_is_a_part() {
        let file: String = (0..90).map(|it| format!("line number {it}\n")).collect();
        let text = applied(&file, "line number 40\nnew\nline number 41\n").unwrap();
        assert_eq!(text, file.replace("number 40\n", "number 40\nnew\n"));
    }

    #[test]
    fn a_part_is_not_stretched_over_the_end_of_a_block() {
        let pads = |name: &str| -> String {
            (0..15).map(|it| format!("def {name}{it}():\n    return {it}\n\n\n")).collect()
        };
        let middle =
            "def a(x):\n    begin(x)\n    return 1\n\n\ndef b(x):\n    flush(x)\n    commit(x)\n\n\n";
        let file = pads("pad") + middle + &pads("pod");
        let refused = applied(&file, "def a(x):\n    begin(x)\n    commit(x)\n").unwrap_err();
        assert!(matches!(refused, Reason::SeveralPlaces { .. } | Reason::LargeDeletion { .. }), "{refused}");
    }

    #[test]
    fn what_may_be_both_is_refused() {
        let open = applied("one\ntwo\nthree\nfour\n", "one\nnew\ntwo\nthree\n");
        assert!(open.is_err());
        assert!(applied("one\ntwo\nthree\nfour\n", "something else\n").is_err());
    }
}
