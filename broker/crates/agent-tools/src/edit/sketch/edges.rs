//! The edges of pieces that are no lines of the file: heads that changed, lines above the first and below the last line.

use std::collections::BTreeSet;

use super::{
    super::{
        Parser, definitions,
        outcome::{Reason, Refused},
        text::{Text, are_alike, indentation},
    },
    lines::{FileLines, PieceLines},
    parse::Sketch,
};

/// Looks at the edges of the pieces: those that are no lines of the file.
pub(super) struct Placer<'s, 'a> {
    pub(super) file: &'s Text<'a>,
    pub(super) sketch: &'s Sketch<'a>,
    pub(super) parser: &'s Parser<'s>,
    pub(super) lines: &'s mut FileLines,
    pub(super) pieces: Vec<PieceLines>,
    /// How many lines of the first piece go above the first line of the file.
    pub(super) top: usize,
    /// And how many of the last one below its last.
    pub(super) bottom: usize,
    /// Line of the file above which the last piece goes, if it only adds definitions.
    pub(super) addition: Option<usize>,
    pub(super) notes: Vec<String>,
}

impl<'s, 'a> Placer<'s, 'a> {
    pub(super) fn new(
        file: &'s Text<'a>,
        sketch: &'s Sketch<'a>,
        parser: &'s Parser<'s>,
        lines: &'s mut FileLines,
    ) -> Self {
        let pieces = sketch
            .pieces
            .iter()
            .map(|it| lines.piece(&it.lines, (it.blank_before, it.blank_after)))
            .collect();
        Self { file, sketch, parser, lines, pieces, top: 0, bottom: 0, addition: None, notes: Vec::new() }
    }

    pub(super) fn edges(&mut self) -> Result<(), Refused> {
        self.changed_ends();
        self.named_heads();
        self.insertions_at_the_ends();
        self.addition = self.addition();
        if self.addition.is_some() {
            self.pieces.pop();
        }
        for (at, (piece, lines)) in self.sketch.pieces.iter().zip(&self.pieces).enumerate() {
            let top = if at == 0 { self.top } else { 0 };
            if lines.known(self.lines) == 0 {
                return Err(Reason::NoAnchor { first: piece.line, last: piece.last() }.into());
            }
            for line in [0, lines.keys.len() - 1] {
                if self.lines.places(lines.keys[line]).is_empty() {
                    let text = piece.lines[line + top].trim().to_owned();
                    return Err(Reason::EdgeIsNew { line: piece.line + line + top, text }.into());
                }
            }
        }
        Ok(())
    }

    /// Lines at the ends of the file that are much like those that they take the place of.
    fn changed_ends(&mut self) {
        if !self.sketch.starts_open
            && let (Some(sketch), Some(piece)) = (self.sketch.pieces.first(), self.pieces.first_mut())
        {
            let (new, old) = (sketch.lines.iter().copied(), self.file.lines().iter().copied());
            let count = changed(
                new.zip(old),
                piece.keys.iter().copied(),
                self.lines.keys.iter().copied(),
                self.lines,
            );
            piece.keys[..count].copy_from_slice(&self.lines.keys[..count]);
        }
        if !self.sketch.ends_open
            && let (Some(sketch), Some(piece)) = (self.sketch.pieces.last(), self.pieces.last_mut())
        {
            let (new, old) = (sketch.lines.iter().rev().copied(), self.file.lines().iter().rev().copied());
            let (keys, file) = (piece.keys.iter().rev().copied(), self.lines.keys.iter().rev().copied());
            let count = changed(new.zip(old), keys, file, self.lines);
            let (from, upto) = (piece.keys.len() - count, self.lines.keys.len() - count);
            piece.keys[from..].copy_from_slice(&self.lines.keys[upto..]);
        }
    }

    /// Lines above the file's first line or below its last one, which are nowhere else in the file.
    fn insertions_at_the_ends(&mut self) {
        let is_new = |key: Option<&u32>| key.is_some_and(|it| self.lines.places(*it).is_empty());
        let known = |key: Option<&u32>| key.copied().filter(|it| self.lines.is_telling(*it));
        if let (Some(piece), Some(first), false) =
            (self.pieces.first_mut(), known(self.lines.keys.first()), self.sketch.starts_open)
            && is_new(piece.keys.first())
            && let Some(at) = piece.keys.iter().position(|it| *it == first)
        {
            self.top = at;
            piece.cut(at, 0);
        }
        if let (Some(piece), Some(last), false) =
            (self.pieces.last_mut(), known(self.lines.keys.last()), self.sketch.ends_open)
            && is_new(piece.keys.last())
            && let Some(at) = piece.keys.iter().rposition(|it| *it == last)
        {
            self.bottom = piece.keys.len() - 1 - at;
            piece.cut(0, self.bottom);
        }
    }

    /// Heads of definitions that changed, by their names.
    fn named_heads(&mut self) {
        let is_new = |key: &u32| self.lines.places(*key).is_empty();
        let edges: Vec<(usize, usize)> = self
            .pieces
            .iter()
            .enumerate()
            .flat_map(|(at, it)| [(at, 0), (at, it.keys.len() - 1)])
            .filter(|(at, line)| is_new(&self.pieces[*at].keys[*line]))
            .collect();
        if edges.is_empty() {
            return;
        }
        let edges: BTreeSet<_> = edges.into_iter().collect();
        let known = definitions::of_file(self.file.lines(), self.parser);
        for (at, line) in edges {
            let text = self.sketch.pieces[at].lines[line];
            let Some(found) = definitions::named_as(text, self.file.lines(), &known) else { continue };
            let key = self.lines.keys[found];
            let keys = &mut self.pieces[at].keys;
            // Otherwise the line may be the head of another definition of that name.
            let is_alone = keys.len() == 1 && indentation(text) == indentation(self.file.lines()[found]);
            let there = |line: Option<usize>| line.and_then(|it| self.lines.keys.get(it));
            let goes_on = line + 1 < keys.len() && there(Some(found + 1)) == Some(&keys[line + 1]);
            let follows = line > 0 && there(found.checked_sub(1)) == Some(&keys[line - 1]);
            let is_there = is_alone || if line == 0 { goes_on } else { follows };
            if is_there && self.lines.places(key) == [found] {
                keys[line] = key;
                let line = self.sketch.pieces[at].line + line;
                self.notes
                    .push(format!("line {line} of the edit was found by its name at line {}", found + 1));
            }
        }
    }
}

/// Changed lines at an end of the file that are looked at.
const MOST_CHANGED: usize = 3;

/// How many lines from an end on are new and much like those of the file, up to a line that the file has there.
fn changed<'a>(
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
    piece: impl Iterator<Item = u32>,
    file: impl Iterator<Item = u32>,
    lines: &FileLines,
) -> usize {
    for (count, ((new, old), (key, there))) in pairs.zip(piece.zip(file)).enumerate() {
        if key == there {
            return if lines.is_telling(key) { count } else { 0 };
        }
        let is_changed = lines.places(key).is_empty() && lines.is_telling(there) && are_alike(new, old);
        if !is_changed || count == MOST_CHANGED {
            return 0;
        }
    }
    0
}
