//! An arrangement as the text that the file then has.

use std::{collections::HashMap, ops::Range};

use super::{
    super::{
        indents::Indents,
        text::{Replacement, Text, indentation, is_blank},
    },
    alignment::{Arrangement, Op},
    candidate::Candidates,
    definitions::Defined,
    rows::Sketch,
};

/// Blank lines between definitions where the file shows none: Python's two at the margin, and one elsewhere.
const BLANK: usize = 1;

pub(super) struct Renderer<'r, 'a> {
    pub(super) file: &'r Text<'a>,
    pub(super) sketch: &'r Sketch<'r>,
    pub(super) all: &'r Candidates<'r>,
    pub(super) is_python: bool,
}

impl Renderer<'_, '_> {
    pub(super) fn text(&self, arrangement: &Arrangement) -> String {
        self.file.replaced(&self.replacements(arrangement), None)
    }

    fn replacements(&self, arrangement: &Arrangement) -> Vec<Replacement> {
        let mut all = Vec::new();
        let mut start = 0;
        let ops = &arrangement.ops;
        for at in 0..=ops.len() {
            let is_end = ops.get(at).is_none_or(|it| matches!(it, Op::Skip { .. }));
            if is_end && at > start {
                let is_below = matches!(ops.get(at), Some(Op::Skip { from, upto }) if upto > from);
                all.push(self.piece(&ops[start..at], start > 0, is_below));
            }
            if is_end {
                start = at + 1;
            }
        }
        all
    }

    /// Renders a piece, with blank lines where it begins or ends with new lines next to lines that stay.
    fn piece(&self, ops: &[Op], follows_marker: bool, is_followed: bool) -> Replacement {
        let range = self.lines_of(ops);
        let mut lines: Vec<String> = (0..ops.len()).flat_map(|it| self.rows_of(ops, it)).collect();
        if let Some(rule) = self.moved(ops) {
            let moved: Option<Vec<_>> = lines.iter().map(|it| rule.apply(it)).collect();
            lines = moved.unwrap_or(lines);
        }
        self.keep_whitespace(&mut lines, &range);
        if let (true, Some(Op::Insert { row, .. })) = (follows_marker && range.start > 0, ops.first()) {
            let above = &self.file.lines()[..range.start];
            let there = above.iter().rev().take_while(|it| is_blank(it)).count();
            let more = self.blank_above(*row, range.start).saturating_sub(there);
            lines.splice(0..0, std::iter::repeat_n(String::new(), more));
        }
        if let (true, Some(Op::Insert { row, .. })) = (is_followed, ops.last())
            && self.file.lines().get(range.end).is_some_and(|it| !is_blank(it))
        {
            let more = self.blank_below(*row, range.end);
            lines.extend(std::iter::repeat_n(String::new(), more));
        }
        Replacement { range, lines }
    }

    /// The lines of the file that some operations take the place of.
    fn lines_of(&self, ops: &[Op]) -> Range<usize> {
        let of = |it: &Op| match it {
            Op::Skip { from, upto } | Op::Delete { from, upto } => *from..*upto,
            Op::Match { line, .. } => *line..line + 1,
            Op::Insert { before, .. } => *before..*before,
            Op::Substitution { substitution } => self.all.substitutions[*substitution].lines.clone(),
        };
        match (ops.first(), ops.last()) {
            (Some(first), Some(last)) => of(first).start..of(last).end,
            _ => 0..0,
        }
    }

    fn rows_of(&self, ops: &[Op], at: usize) -> Vec<String> {
        let row = |it: usize| self.sketch.rows[it].text.to_string();
        match ops[at] {
            Op::Skip { .. } | Op::Delete { .. } => Vec::new(),
            Op::Match { row, line } if self.is_slip(ops, at) || self.stands_alike(row, line) => {
                vec![self.file.lines()[line].to_owned()]
            }
            Op::Match { row: it, .. } | Op::Insert { row: it, .. } => vec![row(it)],
            Op::Substitution { substitution } => {
                self.all.substitutions[substitution].rows.clone().map(row).collect()
            }
        }
    }

    /// The rule by which all lines of a piece that the file has are indented otherwise there.
    fn moved(&self, ops: &[Op]) -> Option<Indents> {
        let pairs = ops.iter().filter_map(|it| match it {
            Op::Match { row, line } => Some((&*self.sketch.rows[*row].text, self.file.lines()[*line])),
            _ => None,
        });
        let same = pairs.filter(|(a, b)| a.trim() == b.trim() && a.chars().any(char::is_alphanumeric));
        let pairs: Vec<_> = same.map(|(a, b)| (indentation(a), indentation(b))).collect();
        let rule = Indents::of(&pairs)?;
        (pairs.len() > 1 && pairs.iter().all(|it| it.0 != it.1)).then_some(rule)
    }

    /// Whether a line of the file stands as deep in it by other whitespace, with tabs of four.
    fn stands_alike(&self, row: usize, line: usize) -> bool {
        let (new, old) = (&*self.sketch.rows[row].text, self.file.lines()[line]);
        let width = |it: &str| {
            indentation(it).chars().fold(0, |at, it| if it == '\t' { at / 4 * 4 + 4 } else { at + 1 })
        };
        new.trim() == old.trim() && width(new) == width(old)
    }

    /// Whether a bracket is indented otherwise than in the file, though the lines next to it are not.
    fn is_slip(&self, ops: &[Op], at: usize) -> bool {
        let moves = |op: Option<&Op>| match op {
            Some(Op::Match { row, line }) => {
                indentation(&self.sketch.rows[*row].text) != indentation(self.file.lines()[*line])
            }
            _ => false,
        };
        let Op::Match { row, line } = ops[at] else { return false };
        let (new, old) = (&self.sketch.rows[row].text, self.file.lines()[line]);
        let is_bracket = new.trim() == old.trim() && !new.chars().any(char::is_alphanumeric);
        let above = at.checked_sub(1).and_then(|it| ops.get(it));
        is_bracket && moves(Some(&ops[at])) && !moves(above) && !moves(ops.get(at + 1))
    }

    /// Gives lines that differ from the file's in whitespace at their ends only what the file has there.
    fn keep_whitespace(&self, lines: &mut [String], range: &Range<usize>) {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for at in range.clone() {
            places.entry(self.file.lines()[at].trim_end()).or_default().push(at);
        }
        let mut next = range.start;
        for line in lines {
            let known = places.get(line.trim_end()).map_or(&[][..], Vec::as_slice);
            if let Some(at) = known.get(known.partition_point(|it| *it < next)) {
                self.file.lines()[*at].clone_into(line);
                next = at + 1;
            }
        }
    }

    fn blank_above(&self, row: usize, line: usize) -> usize {
        let written = self.sketch.rows[row].blank_above;
        let Some(new) = self.new_definition(|it| it.it.lead == row) else { return written };
        let is_first = line.checked_sub(1).is_some_and(|above| {
            self.all
                .definitions
                .file
                .iter()
                .any(|it| it.end > line && (it.head..=it.head + 1).contains(&above))
                && self.file.lines()[above].trim_end().ends_with(['{', ':'])
        });
        if is_first { written } else { self.usual(new) }
    }

    fn blank_below(&self, row: usize, line: usize) -> usize {
        let written = self.sketch.rows[row].blank_below;
        let is_followed = self.all.definitions.file.iter().any(|it| it.lead == line);
        match self.new_definition(|it| it.it.end == row + 1).filter(|_| is_followed && written == 0) {
            Some(new) => self.usual(new),
            None => written,
        }
    }

    fn new_definition(&self, is_it: impl Fn(&&Defined) -> bool) -> Option<&Defined> {
        self.all.definitions.sketch.iter().filter(|it| it.is_new()).find(is_it)
    }

    fn usual(&self, new: &Defined) -> usize {
        let found = self.all.definitions.blank_between(new.it.level, self.file.lines());
        found.unwrap_or(if self.is_python && new.it.level == 0 { 2 } else { BLANK })
    }
}
