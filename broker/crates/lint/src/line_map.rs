//! Mapping of the lines of a text to those of a later version of it.

use std::{collections::HashMap, ops::Range};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::{LineTable, finding_key::slice};

/// Beyond this many lines that are not alike at both ends, nothing is compared: the time would grow with
/// the square.
const MAX_LINES: usize = 10_000;

/// The edit script between two texts, by lines counted from 1.
pub(crate) struct LineMap {
    /// Runs of unchanged lines: before, after, how many; ascending.
    kept: Vec<(u32, u32, u32)>,
    replaced: Vec<Replaced>,
}

impl LineMap {
    pub(crate) fn new(before: &[u8], after: &[u8]) -> Self {
        if before == after {
            return Self { kept: vec![(1, 1, u32::MAX)], replaced: Vec::new() };
        }
        let mut interner = HashMap::new();
        let before = ids(before, &mut interner);
        let after = ids(after, &mut interner);
        let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let rest = before.len().min(after.len()) - head;
        let tail = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
        let middle = (&before[head..before.len() - tail], &after[head..after.len() - tail]);
        let mut map = Self { kept: Vec::new(), replaced: Vec::new() };
        map.keep(0, 0, head);
        map.compare(middle.0, middle.1, head);
        map.keep(before.len() - tail, after.len() - tail, tail);
        map
    }

    /// Number of an unchanged line in the later text; `None` for a line that is not there.
    pub(crate) fn after(&self, line: u32) -> Option<u32> {
        let next = self.kept.partition_point(|(before, ..)| *before <= line);
        let (before, after, count) = *self.kept.get(next.checked_sub(1)?)?;
        (line - before < count).then(|| after + (line - before))
    }

    /// Index of the replacement that removed this line.
    pub(crate) fn replaced(&self, line: u32) -> Option<usize> {
        holding(&self.replaced, line, |it| &it.0)
    }

    /// Index of the replacement that added this line of the later text.
    pub(crate) fn replacing(&self, line: u32) -> Option<usize> {
        holding(&self.replaced, line, |it| &it.1)
    }

    fn compare(&mut self, before: &[u32], after: &[u32], head: usize) {
        if before.len() + after.len() > MAX_LINES {
            return;
        }
        for op in capture_diff_slices(Algorithm::Myers, before, after) {
            match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    self.keep(head + old_index, head + new_index, len);
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    let range = |start, len| number(head + start)..number(head + start + len);
                    self.replaced.push((range(old_index, old_len), range(new_index, new_len)));
                }
                DiffOp::Delete { .. } | DiffOp::Insert { .. } => {}
            }
        }
    }

    /// The indices count from 0.
    fn keep(&mut self, before: usize, after: usize, count: usize) {
        if count > 0 {
            self.kept.push((number(before), number(after), u32::try_from(count).unwrap_or(u32::MAX)));
        }
    }
}

/// Lines that took the place of others.
type Replaced = (Range<u32>, Range<u32>);

/// The index of what holds `line`; both sides ascend.
fn holding(replaced: &[Replaced], line: u32, side: impl Fn(&Replaced) -> &Range<u32>) -> Option<usize> {
    let index = replaced.partition_point(|it| side(it).end <= line);
    replaced.get(index).filter(|it| side(it).contains(&line)).map(|_| index)
}

/// A line's number, by its index.
fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// A number for each line; equal lines have equal numbers, whatever ends them.
fn ids<'t>(text: &'t [u8], interner: &mut HashMap<&'t [u8], u32>) -> Vec<u32> {
    let table = LineTable::new(text);
    let lines = (1..=table.line_count()).filter_map(|line| table.line_span(line));
    let mut id = |line| {
        let next = u32::try_from(interner.len()).unwrap_or(u32::MAX);
        *interner.entry(slice(text, line)).or_insert(next)
    };
    lines.map(&mut id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(before: &str, after: &str) -> Vec<Option<u32>> {
        let map = LineMap::new(before.as_bytes(), after.as_bytes());
        (1..=LineTable::new(before.as_bytes()).line_count()).map(|line| map.after(line)).collect()
    }

    #[test]
    fn unchanged_lines_are_followed() {
        assert_eq!(after("a\nb\nc", "a\nb\nc"), [Some(1), Some(2), Some(3)]);
        assert_eq!(after("a\nb\nc", "x\na\nc"), [Some(2), None, Some(3)]);
        assert_eq!(after("a\r\nb", "a\nx\ny\nb"), [Some(1), Some(4)]);
        assert_eq!(after("a\na", "a"), [Some(1), None]);
        assert_eq!(after("a", ""), [None]);
    }

    #[test]
    fn replaced_lines_are_known() {
        let map = LineMap::new(b"a\nb\nc", b"a\nx\ny\nc");
        assert_eq!([1, 2, 3].map(|line| map.replaced(line)), [None, Some(0), None]);
        assert_eq!([1, 2, 3, 4].map(|line| map.replacing(line)), [None, Some(0), Some(0), None]);
    }

    #[test]
    fn of_too_much_only_the_ends_are_compared() {
        let text = |middle: &str| format!("first\n{}last", format!("{middle}\nsame\n").repeat(MAX_LINES));
        let (before, later) = (text("a"), text("b"));
        let map = LineMap::new(before.as_bytes(), later.as_bytes());
        assert_eq!((map.after(1), map.after(3)), (Some(1), None));
        let last = LineTable::new(before.as_bytes()).line_count();
        assert_eq!(map.after(last), Some(last));
    }
}
