//! Lines below a line that names a definition, by indentation alone, for the heads of hunks and chunks.

use std::{borrow::Cow, cell::OnceCell};

use super::{
    haystack::plain,
    text::{indentation, is_blank},
};

/// The lines of a file as heads and what belongs to them.
pub(super) struct Scopes<'a> {
    /// Without whitespace at both ends, in alphabetical order, with their numbers.
    sorted: Vec<(&'a str, usize)>,
    /// The lines of `sorted`, with signs of ASCII for others.
    plain: OnceCell<Vec<(Cow<'a, str>, usize)>>,
    /// For each line the next one that begins something else: it is indented no further and begins with a letter.
    ends: Vec<usize>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new(lines: &[&'a str]) -> Self {
        let mut sorted: Vec<_> = lines.iter().enumerate().map(|(at, it)| (it.trim(), at)).collect();
        sorted.sort_unstable();
        Self { sorted, plain: OnceCell::new(), ends: ends(lines) }
    }

    /// The lines that are this head, or else those that begin with it, or that do but for quotes, dashes and blanks.
    pub(super) fn heads(&self, head: &str) -> Vec<usize> {
        let head = head.trim();
        let found = beginning(&self.sorted, head);
        if !found.is_empty() {
            return found;
        }
        let plain_lines = || {
            let mut lines: Vec<_> = self.sorted.iter().map(|it| (plain(it.0), it.1)).collect();
            lines.sort_unstable();
            lines
        };
        beginning(self.plain.get_or_init(plain_lines), &plain(head))
    }

    /// Returns the heads that are within one of the heads above.
    pub(super) fn within(&self, above: &[usize], heads: &[usize]) -> Vec<usize> {
        self.belonging(above, heads, |head, end| head < end, 0)
    }

    /// Returns the places that belong to one of the heads. A place of so many lines may begin above its head, or with the
    /// next line that begins something.
    pub(super) fn below(&self, heads: &[usize], places: &[usize], length: usize) -> Vec<usize> {
        self.belonging(heads, places, |place, end| end > 0 && place <= end, length)
    }

    fn belonging(
        &self,
        heads: &[usize],
        places: &[usize],
        is_before: fn(usize, usize) -> bool,
        length: usize,
    ) -> Vec<usize> {
        let (mut heads, mut end) = (heads.iter().peekable(), 0);
        let belongs = |place: &usize| {
            while let Some(head) = heads.next_if(|it| **it < place + length) {
                end = end.max(self.ends[*head]);
            }
            is_before(*place, end)
        };
        places.iter().copied().filter(belongs).collect()
    }
}

fn beginning<T: AsRef<str>>(sorted: &[(T, usize)], head: &str) -> Vec<usize> {
    let from = sorted.partition_point(|it| it.0.as_ref() < head);
    let begins = sorted[from..].iter().take_while(|it| it.0.as_ref().starts_with(head));
    let exact: Vec<_> = begins.clone().take_while(|it| it.0.as_ref() == head).map(|it| it.1).collect();
    if !exact.is_empty() {
        return exact;
    }
    let mut found: Vec<_> = begins.map(|it| it.1).collect();
    found.sort_unstable();
    found
}

fn ends(lines: &[&str]) -> Vec<usize> {
    let mut ends = vec![lines.len(); lines.len()];
    // Lines that begin something, the nearest last; each is indented further than the one before.
    let mut next: Vec<(usize, usize)> = Vec::new();
    for (at, line) in lines.iter().enumerate().rev() {
        let indent = indentation(line).len();
        let further = next.partition_point(|it| it.0 <= indent);
        ends[at] = further.checked_sub(1).map_or(lines.len(), |it| next[it].1);
        if begins_something(line) {
            next.truncate(next.partition_point(|it| it.0 < indent));
            next.push((indent, at));
        }
    }
    ends
}

/// Whether a line begins a section, by git's rule for hunk headings, but for labels such as `public:`. Brackets, comments and
/// decorators belong to the section before.
fn begins_something(line: &str) -> bool {
    let line = line.trim();
    let is_label = line.strip_suffix(':').is_some_and(|it| it.chars().all(char::is_alphanumeric));
    !is_blank(line) && !is_label && line.starts_with(|it: char| it.is_alphabetic() || "_$".contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 9] = ["int f()", "{", "    a;", "    b;", "}", "", "class C {", "public:", "    a;"];

    #[test]
    fn a_head_ends_where_something_else_begins() {
        let scopes = Scopes::new(&LINES);
        assert_eq!(scopes.ends, [6, 6, 3, 6, 6, 6, 9, 9, 9]);
        assert_eq!(scopes.below(&[0], &[2, 8], 1), [2]);
        assert_eq!(scopes.below(&[6], &[2, 8], 1), [8]);
        assert_eq!(scopes.below(&[0, 6], &[2, 8], 1), [2, 8]);
        assert_eq!(scopes.below(&[6], &[0, 5], 2), [5], "the head is in the place");
        assert_eq!(scopes.below(&[], &[0], 1), []);
    }

    #[test]
    fn heads_may_be_cut_short() {
        let scopes = Scopes::new(&LINES);
        assert_eq!(scopes.heads("a;"), [2, 8]);
        assert_eq!(scopes.heads(" class"), [6]);
        assert_eq!(scopes.heads("int g()"), []);
        assert_eq!(Scopes::new(&["say(“a”)", "say(\"b\")"]).heads("say(\"a\")"), [0]);
    }
}
