//! Places of new things: definitions at the end of their scope, imports with the others.

use std::ops::Range;

use super::{
    super::definition::{Definition, Kind},
    builder::Builder,
    definitions::Defined,
    file_lines::is_closer,
};

impl Builder<'_, '_> {
    /// Columns where a row that begins new things goes: definitions to the end of their scope, imports to the others.
    pub(super) fn places(&self, new: &[bool]) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for piece in self.sketch.pieces() {
            let first = self.first_of(piece.start).filter(|it| it.is_new());
            // Lines of the file that follow fix the place.
            let is_last = |it: &Defined| {
                let mut behind = self.sketch.rows[it.it.end..piece.end].iter();
                behind.all(|it| is_closer(&it.text) || self.file.places(it.text.trim()).is_empty())
            };
            if let Some(it) = first.filter(|it| new[it.it.lead] && is_last(it)) {
                places.extend(self.ends_of_scope(&it.it).into_iter().map(|line| (piece.start, line)));
            } else if let Some(line) =
                self.end_of_imports(&piece).filter(|_| piece.end < self.sketch.rows.len())
            {
                places.push((piece.start, line));
            } else if piece.end == self.sketch.rows.len() && piece.start > 0 {
                let ends = self.blocks(piece.start).into_iter().flatten();
                places.extend(ends.map(|it| (piece.start, it.1)));
            }
        }
        places
    }

    /// Behind the last line of each block that a definition may be in.
    fn ends_of_scope(&self, it: &Definition) -> Vec<usize> {
        if let Some(end) = self.end_of_overloads(it) {
            return vec![end];
        }
        match &self.definitions.scopes[it.head] {
            // A program's entry is in no namespace.
            None if it.level == 0 && it.name == "main" => vec![self.without_blank(self.file.count())],
            None if it.level == 0 => vec![self.end_of_file()],
            None => Vec::new(),
            Some(blocks) => blocks.iter().map(|it| self.end_of_block(it)).collect(),
        }
    }

    /// Behind the last function of the same name in the scope of a new one, if all of them are in one type or file.
    fn end_of_overloads(&self, it: &Definition) -> Option<usize> {
        let definitions = &self.definitions;
        let is_overload = |there: &&Definition| {
            (&there.name, there.kind, there.level) == (&it.name, Kind::Function, it.level)
                && definitions.is_in_scope(it.head, there.head)
        };
        let all: Vec<_> = definitions.file.iter().filter(is_overload).collect();
        let is_one = all.iter().all(|it| it.parent == all[0].parent);
        all.last().filter(|_| is_one && it.kind == Kind::Function).map(|it| it.end)
    }

    /// Behind the last line of the file, but above what ends all of it: a header's guard, or a namespace of C++.
    fn end_of_file(&self) -> usize {
        let mut end = self.without_blank(self.file.count());
        if !self.parser.is(&["c", "cpp"]) {
            return end;
        }
        let is_namespace = |it: &str| it.starts_with('}') && it.contains("namespace");
        while end > 0 && (is_namespace(self.file.bare[end - 1]) || self.ends_guard(end - 1)) {
            end = self.without_blank(end - 1);
        }
        end
    }

    /// Whether a line ends a condition that begins with the first line of the file which is no comment.
    fn ends_guard(&self, line: usize) -> bool {
        let bare = &self.file.bare;
        let is_said = |it: &usize| !bare[*it].is_empty() && !bare[*it].starts_with(['/', '*']);
        let first = (0..line).find(is_said);
        let mut open = Vec::new();
        for (at, text) in bare[..line].iter().enumerate() {
            if text.starts_with("#if") {
                open.push(at);
            } else if text.starts_with("#endif") {
                open.pop();
            }
        }
        bare[line].starts_with("#endif") && open.first().copied() == first && open.len() == 1
    }

    /// First and last places of the blocks that a row is in, if the rows above name one.
    pub(super) fn blocks(&self, row: usize) -> Option<Vec<(usize, usize)>> {
        let blocks = self.definitions.named[row].as_ref()?;
        Some(blocks.iter().map(|it| (it.start, self.end_of_block(it).max(it.start))).collect())
    }

    /// Behind the last line of a block, but above what closes it.
    fn end_of_block(&self, block: &Range<usize>) -> usize {
        let closes = !self.parser.ends_by_indentation() && is_closer(self.file.bare[block.end - 1]);
        self.without_blank(if closes { block.end - 1 } else { block.end })
    }

    fn without_blank(&self, line: usize) -> usize {
        line - self.file.bare[..line].iter().rev().take_while(|it| it.is_empty()).count()
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

/// Whether a line at the margin imports something from another file.
fn is_import(line: &str) -> bool {
    const WORDS: [&str; 8] =
        ["import", "from", "use", "using", "#include", "require", "require_relative", "export"];
    let mut words = line.split_whitespace();
    let is_word = words.next().is_some_and(|it| WORDS.contains(&it));
    is_word
        && (!line.starts_with("export") || line.contains(" from "))
        && !line.starts_with(char::is_whitespace)
}
