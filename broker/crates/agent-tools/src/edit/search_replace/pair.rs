//! A block that was cut: the lines that are searched for, and those that take their place.

use super::super::{
    block::{Block, SHOWN, Sign},
    haystack::Haystack,
    outcome::{Reason, Refused},
    text::{Change, Replacement, Text},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    /// Counted from 1.
    pub(super) part: usize,
    pub(super) search: Vec<&'a str>,
    pub(super) replace: Vec<&'a str>,
}

/// Replacement of one block.
pub(super) struct Placed {
    pub(super) change: Change,
    pub(super) notes: Vec<String>,
}

impl Pair<'_> {
    /// The replacement that this block makes in a text.
    pub(super) fn find(&self, file: &Text<'_>) -> Result<Placed, Refused> {
        let part = self.part;
        if self.search.is_empty() {
            if !file.is_empty() {
                return Err(Reason::NotFound { part, text: String::new() }.into());
            }
            let lines = self.replace.iter().map(|it| (*it).to_owned()).collect();
            let change = Change::Lines(Replacement { range: 0..0, lines });
            return Ok(Placed { change, notes: Vec::new() });
        }
        let old = self.search.iter().map(|it| (Sign::Old, *it));
        let lines = old.chain(self.replace.iter().map(|it| (Sign::New, *it))).collect();
        let block = Block { part, lines };
        let (closeness, places) = Haystack::new(file.lines()).places(&block.old());
        match places[..] {
            [place] => {
                let replacement =
                    block.at(place, file.lines()).ok_or_else(|| block.not_found(file.lines()))?;
                let note = |it| format!("part {part} was found at line {} but for {it}", place + 1);
                let notes = closeness.but_for().map(note).into_iter().collect();
                Ok(Placed { change: Change::Lines(replacement), notes })
            }
            [] => self.within_line(&block, file),
            _ => Err(block.found_often(file, &file.replaced(&[], None), &places)),
        }
    }

    /// Finds a single line as a part of a line, in whole words.
    fn within_line(&self, block: &Block<'_>, file: &Text<'_>) -> Result<Placed, Refused> {
        let lines = file.lines();
        let ([search], [replace]) = (&self.search[..], &self.replace[..]) else {
            return Err(block.not_found(lines));
        };
        let starts_in = |(at, line)| whole_words(line, search).into_iter().map(move |it| (at, it));
        let starts: Vec<_> = lines.iter().copied().enumerate().flat_map(starts_in).collect();
        let [(at, start)] = starts[..] else {
            return Err(match starts.len() {
                0 => block.not_found(lines),
                count => {
                    let lines = starts.iter().take(SHOWN).map(|it| it.0 + 1).collect();
                    Reason::FoundOften { part: block.part, count, lines }.into()
                }
            });
        };
        let text = [&lines[at][..start], replace, &lines[at][start + search.len()..]].concat();
        Ok(Placed { change: Change::Line { at, text }, notes: Vec::new() })
    }
}

/// Finds the places of a text such that no word or number goes on at its ends. The places may overlap.
fn whole_words(text: &str, search: &str) -> Vec<usize> {
    let Some(first) = search.chars().next().filter(|_| !search.trim().is_empty()) else { return Vec::new() };
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text[from..].find(search).map(|it| from + it) {
        found.extend([at].into_iter().filter(|it| !is_in_word(text, *it)));
        from = at + first.len_utf8();
    }
    found.retain(|it| !is_in_word(text, it + search.len()));
    found
}

/// Whether a word or a number stands on both sides of a place: `a|b`, `$|a`, `back|-ground`, `back-|ground`, `1|.5`, `1.|5`.
fn is_in_word(text: &str, at: usize) -> bool {
    let (mut left, mut right) = (text[..at].chars().rev(), text[at..].chars());
    let (before, after) = ((left.next(), left.next()), (right.next(), right.next()));
    let is_word = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || "_$".contains(it));
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    match (before, after) {
        ((Some('-'), a), (b, _)) | ((a, _), (Some('-'), b)) => is_word(a) && is_word(b),
        ((Some('.'), a), (b, _)) | ((a, _), (Some('.'), b)) => is_digit(a) && is_digit(b),
        ((a, _), (b, _)) => is_word(a) && is_word(b),
    }
}
