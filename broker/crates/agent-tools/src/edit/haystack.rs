//! The lines of a file, made comparable once for all parts of an edit.

use std::{borrow::Cow, cell::OnceCell, collections::HashMap};

use super::{
    block::Closeness,
    indents::Indents,
    text::{collapsed, indentation, is_blank},
};

/// Lines to find others in. An index costs as much as reading the file a few times, so that it pays for many parts only.
pub(super) struct Haystack<'a> {
    file: &'a [&'a str],
    levels: [OnceCell<Level<'a>>; 3],
    is_indexed: bool,
}

/// The lines as they are compared at one closeness.
struct Level<'a> {
    lines: Vec<Cow<'a, str>>,
    places: Option<HashMap<Cow<'a, str>, Vec<usize>>>,
}

const LEVELS: [Closeness; 3] = [Closeness::Exact, Closeness::Trimmed, Closeness::Loose];

impl<'a> Haystack<'a> {
    /// For a few parts.
    pub(super) fn new(file: &'a [&'a str]) -> Self {
        Self { file, levels: Default::default(), is_indexed: false }
    }

    /// For any number of parts.
    pub(super) fn indexed(file: &'a [&'a str]) -> Self {
        Self { is_indexed: true, ..Self::new(file) }
    }

    /// Where lines are: the closest places there are. Blank lines alone are nowhere.
    pub(super) fn places(&self, old: &[&str]) -> (Closeness, Vec<usize>) {
        if old.iter().all(|it| is_blank(it)) {
            return (Closeness::Exact, Vec::new());
        }
        let mut found = LEVELS.into_iter().map(|it| (it, self.places_at(old, it)));
        found.find(|it| !it.1.is_empty()).unwrap_or((Closeness::Exact, Vec::new()))
    }

    fn places_at(&self, old: &[&str], how: Closeness) -> Vec<usize> {
        let level = self.levels[how as usize].get_or_init(|| Level::new(self.file, how, self.is_indexed));
        let wanted: Vec<_> = old.iter().map(|it| comparable(it, how)).collect();
        let mut found = level.places(&wanted);
        if how == Closeness::Loose {
            found.retain(|it| is_regular(old, &self.file[*it..]));
        }
        found
    }
}

impl<'a> Level<'a> {
    fn new(file: &[&'a str], how: Closeness, is_indexed: bool) -> Self {
        let lines: Vec<_> = file.iter().map(|it| comparable(it, how)).collect();
        let places = is_indexed.then(|| {
            let mut places: HashMap<_, Vec<_>> = HashMap::new();
            lines.iter().enumerate().for_each(|(at, it)| places.entry(it.clone()).or_default().push(at));
            places
        });
        Self { lines, places }
    }

    fn places(&self, wanted: &[Cow<'_, str>]) -> Vec<usize> {
        let fits = |start: &usize| self.lines[*start..].starts_with(wanted);
        let Some(places) = &self.places else { return (0..self.lines.len()).filter(fits).collect() };
        // The line that is there least often leaves the fewest places to compare.
        let lists =
            wanted.iter().enumerate().map(|(at, it)| (at, places.get(&**it).map_or(&[][..], |it| it)));
        let Some((at, rarest)) = lists.min_by_key(|it| it.1.len()) else { return Vec::new() };
        rarest.iter().filter_map(|it| it.checked_sub(at)).filter(fits).collect()
    }
}

/// Whether lines have the indentation that others have by one rule.
fn is_regular(old: &[&str], there: &[&str]) -> bool {
    let pairs = old.iter().zip(there).filter(|it| !is_blank(it.0));
    let pairs: Vec<_> = pairs.map(|(a, b)| (indentation(a), indentation(b))).collect();
    Indents::of(&pairs).is_some()
}

fn comparable(line: &str, how: Closeness) -> Cow<'_, str> {
    match how {
        Closeness::Exact => line.into(),
        Closeness::Trimmed => line.trim_end().into(),
        Closeness::Loose => collapsed(&plain(line)).into(),
    }
}

/// With the signs of ASCII for those that word processors and models put in their place.
fn plain(line: &str) -> String {
    let plain = |it| match it {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        it => it,
    };
    line.chars().map(plain).collect()
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
    fn whitespace_within_a_line_may_be_longer_or_shorter_but_not_missing() {
        let file = ["s = \"a  b\"", "t = \"a b\""];
        let found = |old| Haystack::new(&file).places(&[old]);
        assert_eq!(found("  s = \"a b\""), (Closeness::Loose, vec![0]));
        assert_eq!(found("t  = \"a b\""), (Closeness::Loose, vec![1]));
        assert_eq!(found("t = \"ab\"").1, []);
        assert_eq!(found("t=\"a b\"").1, []);
    }
}
