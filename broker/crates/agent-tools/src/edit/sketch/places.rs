//! Where new things go: definitions to the end of their scope, imports to the others.

use std::ops::Range;

use super::{super::definition::Definition, definitions::Defined, maker::Maker};

impl Maker<'_, '_> {
    /// Columns where a row that begins new things goes: definitions to the end of their scope, imports to the others.
    pub(super) fn places(&self, new: &[bool]) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for piece in self.sketch.pieces() {
            let begins = |it: &&Defined| it.it.lead == piece.start && it.is_new();
            let first = self.definitions.sketch.iter().find(begins);
            if let Some(it) = first.filter(|it| new[it.it.lead]) {
                places.extend(self.ends_of_scope(&it.it).into_iter().map(|line| (piece.start, line)));
            } else if let Some(line) =
                self.end_of_imports(&piece).filter(|_| piece.end < self.sketch.rows.len())
            {
                places.push((piece.start, line));
            }
        }
        places
    }

    /// Behind the last line of each block that a definition may be in.
    fn ends_of_scope(&self, it: &Definition) -> Vec<usize> {
        let without_blank = |mut line: usize| {
            while line > 0 && self.file.bare[line - 1].is_empty() {
                line -= 1;
            }
            line
        };
        match &self.definitions.scopes[it.head] {
            None if it.level == 0 => vec![without_blank(self.file.count())],
            None => Vec::new(),
            Some(blocks) => {
                let closes = |line: usize| {
                    let text = self.file.bare[line];
                    !self.parser.ends_by_indentation()
                        && (text.starts_with(['}', ')', ']']) || text.starts_with("end"))
                };
                let end = |it: &Range<usize>| if closes(it.end - 1) { it.end - 1 } else { it.end };
                blocks.iter().map(|it| without_blank(end(it))).collect()
            }
        }
    }

    /// Behind the last import of a file, for a piece of nothing but imports that the file has not.
    fn end_of_imports(&self, piece: &Range<usize>) -> Option<usize> {
        let rows = &self.sketch.rows[piece.clone()];
        let said = || rows.iter().map(|it| &*it.text).filter(|it| !it.trim().is_empty());
        let is_new = said().all(|it| is_import(it) && self.file.places(it.trim()).is_empty());
        if !is_new || self.parser.language.is_none() {
            return None;
        }
        let word = |it: &str| it.split_whitespace().next().map(str::to_owned);
        let first = said().next().and_then(word);
        let lines = self.file.lines;
        let last = lines.iter().rposition(|it| is_import(it) && word(it) == first)?;
        Some(last + 1)
    }
}

/// Whether a line at the margin takes something in from another file.
fn is_import(line: &str) -> bool {
    const WORDS: [&str; 8] =
        ["import", "from", "use", "using", "#include", "require", "require_relative", "export"];
    let mut words = line.split_whitespace();
    let is_word = words.next().is_some_and(|it| WORDS.contains(&it));
    is_word
        && (!line.starts_with("export") || line.contains(" from "))
        && !line.starts_with(char::is_whitespace)
}
