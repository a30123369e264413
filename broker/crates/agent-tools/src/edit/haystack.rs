//! The lines of a file, made comparable once for all parts of an edit.

use std::{borrow::Cow, cell::OnceCell, collections::HashMap};

use super::{
    block::Closeness,
    indents::Indents,
    text::{collapsed, indentation, is_blank},
};

/// Lines to find others in. An index costs as much as a few searches, so that it pays for many parts only.
pub(super) struct Haystack<'a> {
    file: &'a [&'a str],
    /// `None` to search without an index.
    levels: Option<[OnceCell<Level<'a>>; LEVELS.len()]>,
    /// Whether lines may have another indentation by no rule, as codex takes them.
    is_lenient: bool,
}

/// The lines as they are compared at one closeness, and where each is.
struct Level<'a> {
    lines: Vec<Cow<'a, str>>,
    places: HashMap<Cow<'a, str>, Vec<usize>>,
}

const LEVELS: [Closeness; 5] =
    [Closeness::Exact, Closeness::Trimmed, Closeness::Stripped, Closeness::Plain, Closeness::Loose];

/// Closeness with which codex compares lines.
const CODEX: [Closeness; 2] = [Closeness::Stripped, Closeness::Plain];

impl<'a> Haystack<'a> {
    /// For a few parts.
    pub(super) fn new(file: &'a [&'a str]) -> Self {
        Self { file, levels: None, is_lenient: false }
    }

    /// For any number of parts.
    pub(super) fn indexed(file: &'a [&'a str]) -> Self {
        Self { file, levels: Some(Default::default()), is_lenient: false }
    }

    /// For the parts of a patch of codex.
    pub(super) fn lenient(file: &'a [&'a str]) -> Self {
        Self { is_lenient: true, ..Self::indexed(file) }
    }

    /// Finds the closest places of lines. Blank lines alone are nowhere.
    pub(super) fn places(&self, old: &[&str]) -> (Closeness, Vec<usize>) {
        if old.iter().all(|it| is_blank(it)) {
            return (Closeness::Exact, Vec::new());
        }
        let regular = LEVELS.into_iter().map(|it| (it, self.regular_places_at(old, it)));
        let any = CODEX.into_iter().filter(|_| self.is_lenient).map(|it| (it, self.places_at(old, it)));
        let mut found = regular.chain(any);
        found.find(|it| !it.1.is_empty()).unwrap_or((Closeness::Exact, Vec::new()))
    }

    /// Whether lines are at a place exactly.
    pub(super) fn is_at(&self, old: &[&str], place: usize) -> bool {
        !old.iter().all(|it| is_blank(it)) && self.file.get(place..).is_some_and(|it| it.starts_with(old))
    }

    fn regular_places_at(&self, old: &[&str], how: Closeness) -> Vec<usize> {
        let mut found = self.places_at(old, how);
        if how > Closeness::Trimmed {
            found.retain(|it| is_regular(old, &self.file[*it..]));
        }
        found
    }

    fn places_at(&self, old: &[&str], how: Closeness) -> Vec<usize> {
        let wanted: Vec<_> = old.iter().map(|it| comparable(it, how)).collect();
        match &self.levels {
            Some(levels) => levels[how as usize].get_or_init(|| Level::new(self.file, how)).places(&wanted),
            None => searched(self.file, &wanted, how),
        }
    }
}

impl<'a> Level<'a> {
    fn new(file: &[&'a str], how: Closeness) -> Self {
        let lines: Vec<_> = file.iter().map(|it| comparable(it, how)).collect();
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        lines.iter().enumerate().for_each(|(at, it)| places.entry(it.clone()).or_default().push(at));
        Self { lines, places }
    }

    fn places(&self, wanted: &[Cow<'_, str>]) -> Vec<usize> {
        let place_of = |it: &Cow<'_, str>| self.places.get(&**it).map_or(&[][..], |it| it);
        // The line that is there least often leaves the fewest places to compare.
        let rarest = wanted.iter().map(place_of).enumerate().min_by_key(|it| it.1.len());
        let Some((at, rarest)) = rarest else { return Vec::new() };
        if rarest.len().saturating_mul(wanted.len()) > self.lines.len().saturating_mul(2) {
            return occurrences(self.lines.len(), wanted, |line, at| self.lines[line] == wanted[at]);
        }
        let starts = rarest.iter().filter_map(|it| it.checked_sub(at));
        starts.filter(|it| self.lines[*it..].starts_with(wanted)).collect()
    }
}

fn searched(file: &[&str], wanted: &[Cow<'_, str>], how: Closeness) -> Vec<usize> {
    let is_same: fn(&str, &str) -> bool = match how {
        Closeness::Exact => |line, wanted| line == wanted,
        Closeness::Trimmed => |line, wanted| line.trim_end() == wanted,
        Closeness::Stripped => |line, wanted| line.trim() == wanted,
        Closeness::Plain => |line, wanted| line.trim().chars().map(plain_char).eq(wanted.chars()),
        Closeness::Loose => is_loosely,
    };
    occurrences(file.len(), wanted, |line, at| is_same(file[line], &wanted[at]))
}

/// Finds the wanted lines among `count` lines, in linear time (Knuth, Morris and Pratt 1977). `is_same` compares a line
/// with one of the wanted ones, by number.
fn occurrences(count: usize, wanted: &[Cow<'_, str>], is_same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    // Failure function: for each prefix, the length of the longest proper prefix that is also its suffix.
    let mut overlaps = vec![0; wanted.len()];
    for at in 1..wanted.len() {
        let mut length: usize = overlaps[at - 1];
        while length > 0 && wanted[at] != wanted[length] {
            length = overlaps[length - 1];
        }
        overlaps[at] = length + usize::from(wanted[at] == wanted[length]);
    }
    let (mut found, mut length) = (Vec::new(), 0);
    for line in 0..count {
        while length > 0 && !is_same(line, length) {
            length = overlaps[length - 1];
        }
        length += usize::from(is_same(line, length));
        if length == wanted.len() {
            found.push(line + 1 - length);
            length = overlaps[length - 1];
        }
    }
    found
}

/// Whether a line matches one that was made comparable, without making it comparable itself.
fn is_loosely(line: &str, wanted: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_next = |wanted: &str| words.next().is_some_and(|it| it.chars().map(plain_char).eq(wanted.chars()));
    wanted.split_whitespace().all(is_next) && words.next().is_none()
}

/// Whether one rule leads from the indentation of some lines to that of the others.
fn is_regular(old: &[&str], there: &[&str]) -> bool {
    let pairs = old.iter().zip(there).filter(|it| !is_blank(it.0));
    let pairs: Vec<_> = pairs.map(|(a, b)| (indentation(a), indentation(b))).collect();
    Indents::of(&pairs).is_some()
}

fn comparable(line: &str, how: Closeness) -> Cow<'_, str> {
    match how {
        Closeness::Exact => line.into(),
        Closeness::Trimmed => line.trim_end().into(),
        Closeness::Stripped => line.trim().into(),
        Closeness::Plain => plain(line.trim()),
        Closeness::Loose => collapsed(&plain(line)).into(),
    }
}

/// A line in which signs of ASCII stand for those that word processors and models put in their place.
pub(super) fn plain(line: &str) -> Cow<'_, str> {
    match line.is_ascii() {
        true => line.into(),
        false => line.chars().map(plain_char).collect(),
    }
}

fn plain_char(it: char) -> char {
    match it {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        it => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_finds_what_a_search_finds() {
        let file = ["a", " a", "a ", "", "b  c", "a", "", "b c"];
        let (plain, indexed) = (Haystack::new(&file), Haystack::indexed(&file));
        for old in [&["a"][..], &["a", ""], &["", "b c"], &["b", "c"], &["b c"], &["  a"], &["", ""], &["x"]]
        {
            assert_eq!(plain.places(old), indexed.places(old), "{old:?}");
        }
    }

    #[test]
    fn lines_that_are_the_same_are_found_wherever_they_are() {
        let file: Vec<_> = "aabaaabaaaabab".split_terminator("").skip(1).collect();
        for length in 1..6 {
            for old in file.windows(length).chain([&["a", "a", "b", "b"][..], &["b", "b"]]) {
                let all = file.windows(old.len()).enumerate().filter(|it| it.1 == old);
                let want: Vec<_> = all.map(|it| it.0).collect();
                assert_eq!(Haystack::new(&file).places(old).1, want, "{old:?}");
                assert_eq!(Haystack::indexed(&file).places(old).1, want, "{old:?}");
            }
        }
    }

    #[test]
    fn whitespace_within_a_line_may_be_longer_or_shorter_but_not_missing() {
        let file = ["s = \"a  b\"", "t = \"a b\""];
        let found = |old| Haystack::new(&file).places(&[old]);
        assert_eq!(found("  s = \"a b\""), (Closeness::Loose, vec![0]));
        assert_eq!(found("t  = \"a b\""), (Closeness::Loose, vec![1]));
        assert_eq!(found("t = \"ab\"").1, []);
        assert_eq!(found("t=\"a b\"").1, []);
    }

    #[test]
    fn the_closest_of_many_ways_counts() {
        let file = ["say(“a – b”)", "  say(\"a - b\")", "say(\"a  -  b\")", "say(\"a - b\") "];
        let places = |upto: usize, old: &str| Haystack::new(&file[..upto]).places(&[old]);
        assert_eq!(places(4, "say(\"a - b\")"), (Closeness::Trimmed, vec![3]));
        assert_eq!(places(3, "say(\"a - b\")"), (Closeness::Stripped, vec![1]));
        assert_eq!(places(1, "say(\"a - b\")"), (Closeness::Plain, vec![0]));
        assert_eq!(places(1, "say(‘a — b’)").1, [], "one kind of quotes is not the other");
        assert_eq!(places(1, "say(„a\u{a0}— b‟)"), (Closeness::Plain, vec![0]));
    }

    #[test]
    fn codex_takes_lines_with_any_indentation() {
        let (file, old) = (["if a:", "      b", "  c"], ["  if a:", "  b", " c"]);
        assert_eq!(Haystack::indexed(&file).places(&old).1, []);
        assert_eq!(Haystack::lenient(&file).places(&old), (Closeness::Stripped, vec![0]));
    }
}
