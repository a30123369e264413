//! One block that was cut: what is searched for, and what takes its place.

use super::super::{
    block::{Block, SHOWN, Sign},
    haystack::Haystack,
    outcome::{Changed, Reason, Refused},
    text::{Replacement, Text},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    /// Counted from 1.
    pub(super) part: usize,
    pub(super) search: Vec<&'a str>,
    pub(super) replace: Vec<&'a str>,
}

impl Pair<'_> {
    /// A text with this block applied.
    pub(super) fn apply(&self, before: &str) -> Result<Changed, Refused> {
        let (file, part) = (Text::new(before), self.part);
        if self.search.is_empty() {
            if !file.is_empty() {
                return Err(Reason::NotFound { part, text: String::new() }.into());
            }
            let lines = self.replace.iter().map(|it| (*it).to_owned()).collect();
            return Ok(file.replaced(&[Replacement { range: 0..0, lines }], None).into());
        }
        let old = self.search.iter().map(|it| (Sign::Old, *it));
        let lines = old.chain(self.replace.iter().map(|it| (Sign::New, *it))).collect();
        let block = Block { part, lines };
        let (closeness, places) = Haystack::new(file.lines()).places(&block.old());
        match places[..] {
            [place] => {
                let replacement =
                    block.at(place, file.lines()).ok_or_else(|| block.not_found(file.lines()))?;
                let mut changed = Changed::from(file.replaced(&[replacement], None));
                let note = |it| format!("part {part} was found at line {} but for {it}", place + 1);
                changed.notes.extend(closeness.but_for().map(note));
                Ok(changed)
            }
            [] => self.within_line(&block, before),
            _ => Err(block.found_often(&file, before, &places)),
        }
    }

    /// One line may be searched for as a part of a line, in whole words.
    fn within_line(&self, block: &Block<'_>, before: &str) -> Result<Changed, Refused> {
        let ([search], [replace]) = (&self.search[..], &self.replace[..]) else {
            return Err(block.not_found(Text::new(before).lines()));
        };
        let starts = whole_words(before, search);
        let [start] = starts[..] else {
            let line = |at: &usize| before[..*at].matches('\n').count() + 1;
            return Err(match starts.len() {
                0 => block.not_found(Text::new(before).lines()),
                count => {
                    let lines = starts.iter().take(SHOWN).map(line).collect();
                    Reason::FoundOften { part: block.part, count, lines }.into()
                }
            });
        };
        let text = [&before[..start], replace, &before[start + search.len()..]].concat();
        Ok(Changed { text, notes: vec![format!("part {} was found within a line", block.part)] })
    }
}

/// Where a text is found such that no word or number goes on at its ends. The places may overlap.
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
