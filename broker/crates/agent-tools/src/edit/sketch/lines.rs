//! Lines as numbers, so that they are compared at once.

use std::collections::HashMap;

use super::super::text::squeezed;

/// What is worth to find a line again. A blank line says almost nothing, a bracket little.
pub(super) const TELLING: i32 = 40;
const BRACKET: i32 = 12;
const BLANK: i32 = 4;

/// The lines of a file. Two lines have one key if they differ in whitespace only, and in a comma or semicolon at the end.
pub(super) struct FileLines {
    pub(super) keys: Vec<u32>,
    indents: Vec<Option<usize>>,
    by_text: HashMap<String, u32>,
    /// By key. The keys of a sketch's own lines have no place.
    places: Vec<Vec<usize>>,
    weights: Vec<i32>,
}

/// The lines of a piece, with the keys of the file.
#[derive(Clone)]
pub(super) struct PieceLines {
    pub(super) keys: Vec<u32>,
    indents: Vec<Option<usize>>,
    pub(super) weights: Vec<i32>,
    /// Blank lines above and below.
    pub(super) blank: (usize, usize),
}

impl PieceLines {
    /// How many lines the file has, too.
    pub(super) fn known(&self, file: &FileLines) -> usize {
        self.keys.iter().filter(|it| !file.places(**it).is_empty()).count()
    }

    /// Without so many lines at both ends, which are placed otherwise.
    pub(super) fn cut(&mut self, top: usize, bottom: usize) {
        let upto = self.keys.len() - bottom;
        self.keys = self.keys[top..upto].to_vec();
        self.weights = self.weights[top..upto].to_vec();
        self.indents = self.indents[top..upto].to_vec();
    }

    /// The key of the line that opens what the last line, a bracket, closes.
    pub(super) fn opener(&self) -> Option<u32> {
        let last = self.keys.len() - 1;
        (self.weights[last] == BRACKET).then(|| opener(&self.indents, last).map(|it| self.keys[it])).flatten()
    }
}

impl FileLines {
    pub(super) fn new(lines: &[&str]) -> Self {
        let mut all = Self {
            keys: Vec::with_capacity(lines.len()),
            indents: lines.iter().map(|it| indent(it)).collect(),
            by_text: HashMap::new(),
            places: Vec::new(),
            weights: Vec::new(),
        };
        for (at, line) in lines.iter().enumerate() {
            let key = all.key(line);
            all.places[key as usize].push(at);
            all.keys.push(key);
        }
        all
    }

    pub(super) fn piece(&mut self, lines: &[&str], blank: (usize, usize)) -> PieceLines {
        let keys: Vec<_> = lines.iter().map(|it| self.key(it)).collect();
        let weights = keys.iter().map(|it| self.weights[*it as usize]).collect();
        PieceLines { keys, weights, indents: lines.iter().map(|it| indent(it)).collect(), blank }
    }

    /// How many lines are blank above a line, and from a line on.
    pub(super) fn blank_above(&self, line: usize) -> usize {
        self.indents[..line].iter().rev().take_while(|it| it.is_none()).count()
    }

    pub(super) fn blank_from(&self, line: usize) -> usize {
        self.indents[line..].iter().take_while(|it| it.is_none()).count()
    }

    /// The line that opens what a bracket in a line closes.
    pub(super) fn opener(&self, line: usize) -> Option<usize> {
        opener(&self.indents, line)
    }

    /// Where a line is in the file, ascending.
    pub(super) fn places(&self, key: u32) -> &[usize] {
        &self.places[key as usize]
    }

    /// Whether a line says enough to be known by, and is in the file once.
    pub(super) fn is_telling(&self, key: u32) -> bool {
        self.weights[key as usize] >= TELLING && self.places(key).len() == 1
    }

    pub(super) fn weight(&self, key: u32) -> i32 {
        self.weights[key as usize]
    }

    fn key(&mut self, line: &str) -> u32 {
        let text = bare(line);
        if let Some(key) = self.by_text.get(&text) {
            return *key;
        }
        let key = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.weights.push(weight(&text));
        self.places.push(Vec::new());
        self.by_text.insert(text, key);
        key
    }
}

/// How far a line is indented; `None` for a blank one.
fn indent(line: &str) -> Option<usize> {
    let rest = line.trim_start();
    (!rest.is_empty()).then_some(line.len() - rest.len())
}

/// The nearest line above that is indented no further than this one, if it is indented as far.
fn opener(indents: &[Option<usize>], line: usize) -> Option<usize> {
    let closer = indents[line]?;
    let above = (0..line).rev().find(|it| indents[*it].is_some_and(|it| it <= closer))?;
    (indents[above] == Some(closer)).then_some(above)
}

fn bare(line: &str) -> String {
    let mut text = squeezed(line);
    let length = text.trim_end_matches([',', ';']).len();
    if length > 0 {
        text.truncate(length);
    }
    text
}

fn weight(text: &str) -> i32 {
    let telling = text.chars().filter(|it| it.is_alphanumeric()).count();
    match telling {
        0 if text.is_empty() => BLANK,
        // `end`, `else`, `fi` and the like close blocks as brackets do.
        0..3 => BRACKET,
        _ if matches!(
            text,
            "end" | "else" | "else:" | "}else{" | "pass" | "return" | "break" | "done" | "try:"
        ) =>
        {
            BRACKET
        }
        _ => TELLING + 2 * i32::try_from(telling.min(20)).unwrap_or(20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_and_commas_do_not_count() {
        let mut file = FileLines::new(&["  a: 1", "}", "", "a : 1,", ","]);
        let piece = file.piece(&["a: 1;", "b", ","], (0, 0));
        assert_eq!(file.places(piece.keys[0]), [0, 3]);
        assert_eq!(file.places(piece.keys[1]), [0; 0]);
        assert_eq!(file.places(piece.keys[2]), [4]);
        assert_eq!(piece.known(&file), 2);
    }

    #[test]
    fn brackets_and_blank_lines_say_little() {
        let weights = ["", "});", "end", "return x", "    let something = another_thing();"]
            .map(|it| weight(&bare(it)));
        assert!(weights.is_sorted(), "{weights:?}");
        assert!(weights[2] < TELLING && weights[3] >= TELLING);
    }
}
