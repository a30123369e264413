//! The lines of a file as they are compared with those of a sketch, and how much each says of where it stands.

use std::{collections::HashMap, hash::BuildHasher};

use rustc_hash::FxBuildHasher;

use super::{super::text::indentation, candidate::key};

/// Points: a line of eight letters that stands in the file once has 300.
pub(super) type Score = i32;

/// Weight from which on a line says where it stands: an anchor.
pub(super) const STRONG: Score = 130;

/// Letters and digits of a line from which on more of them say no more.
const FULL: i32 = 8;

/// Tokens of a line by which it is compared with others.
const MAX_TOKENS: usize = 500;

/// Number of a token of a text: a word, or a sign.
pub(super) type Token = u32;

/// A table by texts of the file, of which most are short.
type Table<K, V> = HashMap<K, V, FxBuildHasher>;

pub(super) struct FileLines<'a> {
    pub(super) lines: &'a [&'a str],
    /// Each line without whitespace at its ends, and the whitespace before it.
    pub(super) bare: Vec<&'a str>,
    pub(super) indents: Vec<&'a str>,
    /// Number of times that each line stands in the file with its indentation.
    times: Vec<usize>,
    by_text: Table<&'a str, Vec<usize>>,
    /// Number of times that a line stands in the file with its indentation, and that it follows another one.
    full: Table<&'a str, usize>,
    follows: Table<(&'a str, &'a str), usize>,
    /// The nearest lines above and below that are not blank.
    above: Vec<Option<usize>>,
    below: Vec<Option<usize>>,
    /// Lines at the margin by the key that they give a value to.
    keys: Table<&'a str, Vec<usize>>,
    ids: Table<&'a str, Token>,
    tokens: Vec<Vec<Token>>,
    by_token: Vec<Vec<usize>>,
}

impl<'a> FileLines<'a> {
    pub(super) fn new(lines: &'a [&'a str]) -> Self {
        let bare: Vec<_> = lines.iter().map(|it| it.trim()).collect();
        let mut all = Self {
            lines,
            above: vec![None; lines.len()],
            below: vec![None; lines.len()],
            by_text: Table::with_capacity_and_hasher(lines.len(), FxBuildHasher),
            full: Table::with_capacity_and_hasher(lines.len(), FxBuildHasher),
            follows: Table::with_capacity_and_hasher(lines.len(), FxBuildHasher),
            keys: Table::default(),
            ids: Table::default(),
            tokens: Vec::with_capacity(lines.len()),
            by_token: Vec::new(),
            indents: lines.iter().map(|it| indentation(it)).collect(),
            times: Vec::new(),
            bare,
        };
        let mut before = None;
        for at in 0..lines.len() {
            all.learn(at, before);
            if !all.bare[at].is_empty() {
                before = Some(at);
            }
        }
        all.times = lines.iter().map(|it| all.times(it)).collect();
        all
    }

    fn learn(&mut self, at: usize, before: Option<usize>) {
        let text = self.bare[at];
        self.by_text.entry(text).or_default().push(at);
        *self.full.entry(self.lines[at].trim_end()).or_default() += 1;
        if let Some(key) = key(self.lines[at]) {
            self.keys.entry(key).or_default().push(at);
        }
        self.above[at] = before;
        if let Some(before) = before.filter(|_| !text.is_empty()) {
            self.below[before] = Some(at);
            *self.follows.entry((self.bare[before], text)).or_default() += 1;
        }
        let mut tokens = Vec::new();
        for it in split(text).take(MAX_TOKENS) {
            let next = Token::try_from(self.ids.len()).unwrap_or(Token::MAX);
            let id = *self.ids.entry(it).or_insert(next);
            if id == next {
                self.by_token.push(Vec::new());
            }
            tokens.push(id);
            if is_word(it) && self.by_token[id as usize].last() != Some(&at) {
                self.by_token[id as usize].push(at);
            }
        }
        self.tokens.push(tokens);
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    /// Returns the places of a line whatever its indentation, ascending.
    pub(super) fn places(&self, text: &str) -> &[usize] {
        self.by_text.get(text).map_or(&[], |it| it)
    }

    /// The only line at the margin that gives a value to what a line gives one to.
    pub(super) fn only_value(&self, line: &str) -> Option<usize> {
        match self.keys.get(key(line)?).map(Vec::as_slice) {
            Some([it]) => Some(*it),
            _ => None,
        }
    }

    /// Number of times that a line stands in the file with its indentation.
    pub(super) fn times(&self, line: &str) -> usize {
        self.full.get(line.trim_end()).copied().unwrap_or_default()
    }

    /// Returns the weight of a line by itself.
    pub(super) fn weight(&self, text: &str) -> Score {
        weight(text, self.places(text).len().max(1), self.places(text).len())
    }

    /// Returns the weight of a line in its place between others, which are the same as well.
    pub(super) fn weight_in_context(&self, text: &str) -> Score {
        weight(text, 1, self.places(text).len())
    }

    /// Returns the weight of a line of the file next to lines of a sketch: those that are the same make it rarer.
    pub(super) fn weight_beside(
        &self,
        at: usize,
        same_indentation: bool,
        above: Option<&str>,
        below: Option<&str>,
    ) -> Score {
        let text = self.bare[at];
        let alone = self.places(text).len();
        let mut times = if same_indentation { self.times[at] } else { alone };
        if let Some(there) = self.above[at].filter(|it| above == Some(self.bare[*it])) {
            times = times.min(self.times_below(self.bare[there], text));
        }
        if let Some(there) = self.below[at].filter(|it| below == Some(self.bare[*it])) {
            times = times.min(self.times_below(text, self.bare[there]));
        }
        weight(text, times, alone)
    }

    /// Number of times that a line is the next one below another, blank lines apart.
    fn times_below(&self, above: &str, below: &str) -> usize {
        self.follows.get(&(above, below)).copied().unwrap_or(usize::MAX)
    }

    /// The tokens of a line of the sketch. Those that the file has not are told apart by their hashes.
    pub(super) fn tokens(&self, text: &str) -> Vec<Token> {
        let unknown = |it: &str| Token::MAX ^ (self.ids.hasher().hash_one(it) as Token >> 1);
        split(text)
            .take(MAX_TOKENS)
            .map(|it| self.ids.get(it).copied().unwrap_or_else(|| unknown(it)))
            .collect()
    }

    /// Whether a line differs in whitespace only, and in a comma or semicolon at its end.
    pub(super) fn is_close(&self, tokens: &[Token], at: usize) -> bool {
        let ends: Vec<_> = [",", ";"].iter().filter_map(|it| self.ids.get(it)).collect();
        let cut = |it: &'_ [Token]| match it.split_last() {
            Some((last, rest)) if ends.contains(&last) => rest.len(),
            _ => it.len(),
        };
        let there = &self.tokens[at];
        let (a, b) = (cut(tokens), cut(there));
        a > 0 && tokens.len() < MAX_TOKENS && tokens[..a] == there[..b]
    }

    /// Lines that share a word with one of the sketch that few lines have, ascending.
    pub(super) fn related(&self, tokens: &[Token]) -> Vec<usize> {
        let most = (self.lines.len() / 15).clamp(10, MAX_RELATED);
        let lists = tokens.iter().filter_map(|it| self.by_token.get(*it as usize));
        let mut all: Vec<_> = lists.filter(|it| it.len() <= most).flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Share of the tokens that two lines have in common, in hundredths (Dice).
    pub(super) fn similarity(&self, tokens: &[Token], at: usize) -> Score {
        self.similarity_of(tokens, &self.tokens[at])
    }

    pub(super) fn similarity_of(&self, tokens: &[Token], others: &[Token]) -> Score {
        let set = |it: &[Token]| {
            let mut it = it.to_vec();
            it.sort_unstable();
            it.dedup();
            it
        };
        let (a, b) = (set(tokens), set(others));
        let common = a.iter().filter(|it| b.binary_search(it).is_ok()).count();
        let all = (a.len() + b.len()).max(1);
        Score::try_from(200 * common / all).unwrap_or_default()
    }
}

/// Lines that a word is in from which on it says nothing, however large the file is.
const MAX_RELATED: usize = 60;

/// Returns the weight of a text that stands so many times where it could be meant, and so many times in the file.
fn weight(text: &str, times: usize, alone: usize) -> Score {
    let letters =
        Score::try_from(text.chars().filter(|it| it.is_alphanumeric()).take(8).count()).unwrap_or(FULL);
    let times = Score::try_from(times.max(1)).unwrap_or(Score::MAX);
    match letters {
        0 if text.is_empty() => 0,
        0 if times == 1 => {
            if alone <= 1 {
                150
            } else {
                80
            }
        }
        0 => 30,
        _ => {
            let weight = letters * (100 + 200 / times) / FULL;
            if times == 1 { weight.max(150) } else { weight }
        }
    }
}

/// Whether a line only closes what stands above it.
pub(super) fn is_closer(text: &str) -> bool {
    let text = text.trim().trim_end_matches([';', ',', ')']);
    !text.chars().any(char::is_alphanumeric) || matches!(text, "end" | "fi" | "done" | "esac")
}

fn is_word(token: &str) -> bool {
    token.starts_with(|it: char| it.is_alphanumeric() || it == '_')
}

/// Words and single signs.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let length = if is_part(first) {
            rest.find(|it| !is_part(it)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_lines_say_more() {
        let lines = ["let alpha = 1;", "}", "", "return x", "}", "return x", "done()", "return x"];
        let file = FileLines::new(&lines);
        assert_eq!(["let alpha = 1;", "return x", "}", ""].map(|it| file.weight(it)), [300, 145, 30, 0]);
        assert_eq!(file.weight_beside(7, true, Some("done()"), None), 262, "it stands below that line once");
        assert_eq!(file.weight_beside(4, true, None, None), 30);
    }

    #[test]
    fn lines_are_compared_by_tokens() {
        let file = FileLines::new(&["call(alpha, beta);", "a: 1", "other"]);
        let tokens = file.tokens("call(alpha, gamma)");
        assert_eq!(file.related(&tokens), [0]);
        assert_eq!(file.similarity(&tokens, 0), 76);
        assert!(file.is_close(&file.tokens("a : 1,"), 1) && !file.is_close(&file.tokens("a: 2"), 1));
    }
}
