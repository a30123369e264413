//! Pieces below the head of a block, by the sketch's indentation, must lie in that block of the file.

use super::{
    super::{
        file_kind::{BELOW_HEADS, FileKind},
        outcome::{Reason, Refused},
    },
    Work,
    place::{Placement, kept},
};

/// A line of the sketch: how deep it stands, and where the file has it.
struct Line {
    level: usize,
    place: Option<usize>,
}

impl Work<'_, '_> {
    pub(super) fn expect_in_blocks(
        &self,
        places: &[&Placement],
        text: &str,
        before: &str,
    ) -> Result<(), Refused> {
        let mut above: Vec<Line> = Vec::new();
        for (at, place) in places.iter().enumerate() {
            let lines = self.sketch_lines(at, place);
            let first = lines.iter().find(|it| it.place.is_some());
            if let Some(Line { level, place: Some(there) }) = first
                && self.leaves_a_block(&above, *level, *there)
            {
                let piece = &self.sketch.pieces[at];
                let reason = Reason::OtherBlock { first: piece.line, last: piece.last() };
                let reading = ("the piece is put where its lines are".to_owned(), text.to_owned());
                return Err(Refused::with_readings(reason, before, vec![reading]));
            }
            above.extend(lines);
        }
        Ok(())
    }

    /// The lines of a piece that are not blank.
    fn sketch_lines(&self, at: usize, place: &Placement) -> Vec<Line> {
        let top = if at == 0 { self.ends.0 } else { 0 };
        let kept = kept(&self.pieces[at], self.lines, place);
        let in_file = |line: usize| {
            let found = kept.binary_search_by_key(&line.checked_sub(top)?, |it| it.0).ok()?;
            Some(kept[found].1)
        };
        let lines = self.sketch.pieces[at].lines.iter().enumerate();
        lines
            .filter_map(|(line, it)| Some(Line { level: self.parser.kind.level(it)?, place: in_file(line) }))
            .collect()
    }

    /// Whether a line of the file is outside of a block that it stands in by the lines above it in the sketch: that of the
    /// line next to the marker, or of what has definitions in it.
    fn leaves_a_block(&self, above: &[Line], mut level: usize, there: usize) -> bool {
        for (distance, it) in above.iter().rev().enumerate() {
            if it.level >= level {
                continue;
            }
            level = it.level;
            let is_named = |head: usize| distance == 0 || is_container(self.file.lines()[head]);
            if it.place.is_some_and(|it| is_named(it) && self.is_head(it) && self.is_outside(it, there)) {
                return true;
            }
        }
        false
    }

    /// Whether the lines below a line are its block.
    fn is_head(&self, line: usize) -> bool {
        let kind = self.parser.kind;
        let lines = self.file.lines();
        // Text that is indented below a paragraph or an item goes on with it.
        if kind == FileKind::Prose && kind.level(lines[line]) >= Some(BELOW_HEADS) {
            return false;
        }
        let below = lines[line + 1..].iter().filter(|it| !continues(it)).find_map(|it| kind.level(it));
        below > kind.level(lines[line])
    }

    fn is_outside(&self, head: usize, line: usize) -> bool {
        let kind = self.parser.kind;
        let lines = &self.file.lines()[head..=line.max(head)];
        let level = kind.level(lines[0]);
        let mut below = lines[1..].iter().filter(|it| !continues(it) && !kind.is_aside(it));
        line < head || below.any(|it| kind.level(it).is_some_and(|it| Some(it) <= level))
    }
}

/// Whether a line is the head of what has definitions in it.
pub(super) fn is_container(line: &str) -> bool {
    line.split_whitespace().take(3).any(|it| CONTAINERS.contains(&it.split('<').next().unwrap_or_default()))
}

const CONTAINERS: [&str; 10] =
    ["class", "struct", "impl", "interface", "trait", "enum", "module", "mod", "namespace", "object"];

/// Whether a line is part of a head above it, or a label in its block.
fn continues(line: &str) -> bool {
    let text = line.trim();
    text == "{"
        || text.starts_with([')', ']'])
        || text == "where"
        || matches!(text, "public:" | "private:" | "protected:")
}
