//! A run of lines that an edit replaces, and where it is in a file: what SEARCH/REPLACE blocks and hunks of patches share.

use std::collections::HashSet;

pub(super) use patch::Sign;

use super::{
    indents::Indents,
    outcome::{Reason, Refused},
    text::{Replacement, Text, indentation, is_blank},
};

/// A block or hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// Counted from 1.
    pub(super) part: usize,
    pub(super) lines: Vec<(Sign, &'a str)>,
}

/// Closeness with which lines were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closeness {
    Exact,
    /// Equal but for whitespace at the ends of lines.
    Trimmed,
    /// Equal but for whitespace at their starts, too.
    Stripped,
    /// Equal but for this, and quotes, dashes and blanks that are other characters.
    Plain,
    /// Equal but for this, and the length of blanks within a line.
    Loose,
}

impl Closeness {
    /// Returns the differences in spite of which a part was found.
    pub(super) fn but_for(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::Trimmed | Self::Stripped | Self::Loose => Some("whitespace"),
            Self::Plain => Some("whitespace, quotes or dashes"),
        }
    }
}

impl<'a> Block<'a> {
    pub(super) fn old(&self) -> Vec<&'a str> {
        self.lines.iter().filter(|it| it.0 != Sign::New).map(|it| it.1).collect()
    }

    /// The block without a blank line at the end of what it replaces. `None` if there is none.
    pub(super) fn without_last_blank(&self) -> Option<Self> {
        let last = self.lines.iter().rposition(|it| it.0 != Sign::New)?;
        let mut lines = self.lines.clone();
        (self.lines[last] == (Sign::Old, "")).then(|| lines.remove(last))?;
        Some(Self { part: self.part, lines })
    }

    /// The block as a replacement at a place. `None` if its indentation there follows no rule.
    pub(super) fn at(&self, start: usize, file: &[&str]) -> Option<Replacement> {
        let old = self.old();
        let there = &file[start..start + old.len()];
        let pairs = old.iter().zip(there).filter(|it| !is_blank(it.0));
        let pairs: Vec<_> = pairs.map(|(a, b)| (indentation(a), indentation(b))).collect();
        let indents = Indents::of(&pairs)?;
        let (mut lines, mut at) = (Vec::new(), there.iter());
        for (sign, line) in &self.lines {
            match sign {
                Sign::Keep => lines.push((*at.next()?).to_owned()),
                Sign::Old => drop(at.next()),
                Sign::New => lines.push(indents.apply(line)?),
            }
        }
        Some(Replacement { range: start..start + old.len(), lines })
    }

    /// Returns the block as a replacement where the indentation follows no rule: a new line is indented as the line above
    /// it that is indented alike, or else as the nearest one above.
    pub(super) fn at_any(&self, start: usize, file: &[&'a str]) -> Replacement {
        let (mut lines, mut at) = (Vec::new(), start);
        // The indentation in the block and in the file.
        let mut above: Vec<(&str, &str)> = Vec::new();
        for (sign, line) in &self.lines {
            if *sign == Sign::New {
                lines.push(indented_as(&above, line));
                continue;
            }
            if !is_blank(line) {
                above.push((indentation(line), indentation(file[at])));
            }
            lines.extend((*sign == Sign::Keep).then(|| file[at].to_owned()));
            at += 1;
        }
        Replacement { range: start..at, lines }
    }

    /// Refuses a block that is not in a file; names it by the first line that the file has nowhere, or else by the first
    /// that is not blank.
    pub(super) fn not_found(&self, file: &[&str]) -> Refused {
        let there: HashSet<_> = file.iter().map(|it| it.trim()).collect();
        let (old, says) = (self.old(), |it: &&&str| !is_blank(it));
        let missing = old.iter().filter(says).find(|it| !there.contains(it.trim()));
        let shown = missing.or_else(|| old.iter().find(says)).map(|it| it.trim().to_owned());
        Reason::NotFound { part: self.part, text: shown.unwrap_or_default() }.into()
    }

    /// Refuses a block that fits several places; each is a reading if there are few.
    pub(super) fn found_often(&self, file: &Text<'_>, before: &str, places: &[usize]) -> Refused {
        let lines: Vec<_> = places.iter().take(SHOWN).map(|it| it + 1).collect();
        let reason = Reason::FoundOften { part: self.part, count: places.len(), lines };
        let reading = |it: &usize| {
            let text = file.replaced(&[self.at(*it, file.lines())?], None);
            Some((format!("part {} at line {}", self.part, it + 1), text))
        };
        let readings = places.iter().take(SHOWN).filter_map(reading).collect();
        Refused::with_readings(reason, before, readings)
    }
}

fn indented_as(above: &[(&str, &str)], line: &str) -> String {
    let (indent, text) = (indentation(line), line.trim_start());
    let alike = above.iter().rev().find(|it| it.0 == indent).map(|it| it.1.to_owned());
    let further = || {
        let (from, to) = above.last()?;
        Some([to, indent.strip_prefix(from)?].concat())
    };
    match alike.or_else(further) {
        Some(indent) if !is_blank(line) => indent + text,
        _ => line.to_owned(),
    }
}

/// Places of all parts of an edit from which on their order is not looked at: each part could be nearly anywhere.
pub(super) const MAX_PLACES: usize = 1 << 21;

/// Places that a refusal shows.
pub(super) const SHOWN: usize = 4;

/// Chooses one of several places for each block, in order and without overlaps, if there is one way only. Each place is a
/// start and an end. The error is the number of the first block that can be at several places, or at none.
pub(super) fn in_order(places: &[Vec<(usize, usize)>]) -> Result<Vec<usize>, usize> {
    let mut first = Vec::with_capacity(places.len());
    let mut from = 0;
    for (at, of) in places.iter().enumerate() {
        let next = of.iter().filter(|it| it.0 >= from).min_by_key(|it| it.1).ok_or(at)?;
        from = next.1;
        first.push(next.0);
    }
    let mut upto = usize::MAX;
    for (at, of) in places.iter().enumerate().rev() {
        let last = of.iter().filter(|it| it.1 <= upto).max_by_key(|it| it.0).ok_or(at)?;
        upto = last.0;
        if last.0 != first[at] {
            return Err(at);
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::{super::haystack::Haystack, *};

    fn block(lines: &[(Sign, &'static str)]) -> Block<'static> {
        Block { part: 1, lines: lines.to_vec() }
    }

    #[test]
    fn the_closest_places_count() {
        let it = block(&[(Sign::Old, "a"), (Sign::New, "b")]);
        let places = |file: &[&str]| Haystack::new(file).places(&it.old());
        assert_eq!(places(&["  a", "a", "a "]), (Closeness::Exact, vec![1]));
        assert_eq!(places(&["  a", "a "]), (Closeness::Trimmed, vec![1]));
        assert_eq!(places(&["  a"]), (Closeness::Stripped, vec![0]));
        assert_eq!(it.at(0, &["  a"]).unwrap().lines, ["  b"]);
    }

    #[test]
    fn context_stays_as_the_file_has_it() {
        let it = block(&[
            (Sign::Keep, "if x:"),
            (Sign::Old, "    a"),
            (Sign::New, "    b"),
            (Sign::New, "        c"),
        ]);
        let replaced = it.at(1, &["", "\tif x: ", "\t\ta"]).unwrap();
        assert_eq!(
            replaced,
            Replacement { range: 1..3, lines: vec!["\tif x: ".into(), "\t\tb".into(), "\t\t\tc".into()] }
        );
    }

    #[test]
    fn order_makes_places_unique() {
        assert_eq!(in_order(&[vec![(0, 1), (5, 6)], vec![(3, 4)]]), Ok(vec![0, 3]));
        assert_eq!(in_order(&[vec![(0, 1), (2, 3)], vec![(3, 4)]]), Err(0));
        assert_eq!(in_order(&[vec![(4, 5)], vec![(3, 4)]]), Err(1));
    }
}
