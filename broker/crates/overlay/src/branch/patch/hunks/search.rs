//! The nearest place at which a hunk's old lines stand, in time that grows with the distance.
//!
//! Lines become numbers, equal ones the same, and Knuth, Morris and Pratt's search goes over a stretch around
//! the stated place that doubles until something is found. Nothing here knows what a hunk does.

use std::{borrow::Cow, cell::OnceCell, collections::HashMap};

pub(super) struct Search<'t> {
    lines: &'t [&'t str],
    /// Lines by number, made when the first hunk is not at its given line.
    numbered: OnceCell<Numbered<'t>>,
    /// Lines that may still be looked through.
    budget: usize,
}

struct Numbered<'t> {
    numbers: HashMap<&'t str, u32>,
    lines: Vec<u32>,
}

/// The budget is used up.
#[derive(Debug)]
pub(super) struct TooFar;

/// Distance of the first search, in lines, for shorter hunks.
const NEAR: usize = 64;

impl<'t> Search<'t> {
    pub(super) fn new(lines: &'t [&'t str], budget: usize) -> Self {
        Self { lines, numbered: OnceCell::new(), budget }
    }

    /// The place nearest to `wanted`, not before `from`, at which `old` stands; of two as near, the later.
    pub(super) fn nearest(
        &mut self,
        old: &[Cow<'_, str>],
        from: usize,
        wanted: usize,
    ) -> Result<Option<usize>, TooFar> {
        if old.is_empty() {
            return Ok(Some(wanted));
        }
        let Some(last) = self.lines.len().checked_sub(old.len()).filter(|it| from <= *it) else {
            return Ok(None);
        };
        if (from..=last).contains(&wanted) && old.iter().zip(&self.lines[wanted..]).all(|(a, b)| a == b) {
            return Ok(Some(wanted));
        }
        let numbered = self.numbered.get_or_init(|| Numbered::new(self.lines));
        let old: Option<Vec<u32>> = old.iter().map(|it| numbered.numbers.get(&**it).copied()).collect();
        let Some(old) = old else { return Ok(None) };
        let pattern = Pattern::new(&old);
        let mut reach = old.len().max(NEAR);
        loop {
            let start = wanted.saturating_sub(reach).clamp(from, last);
            let end = wanted.saturating_add(reach).clamp(from, last);
            let stretch = &numbered.lines[start..end + old.len()];
            self.budget = self.budget.checked_sub(stretch.len()).ok_or(TooFar)?;
            let places = pattern.places(stretch).map(|it| start + it);
            // Places outside of the stretch are farther away. Among equals the last is the later one.
            if let Some(place) = places.min_by_key(|it| (it.abs_diff(wanted), *it < wanted)) {
                return Ok(Some(place));
            }
            if (start, end) == (from, last) {
                return Ok(None);
            }
            reach = reach.saturating_mul(2);
        }
    }
}

impl<'t> Numbered<'t> {
    fn new(lines: &[&'t str]) -> Self {
        let mut numbers = HashMap::new();
        let number = |line: &&'t str| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(*line).or_insert(next)
        };
        let lines = lines.iter().map(number).collect();
        Self { numbers, lines }
    }
}

struct Pattern<'p> {
    old: &'p [u32],
    /// KMP's failure table: for each length of a matched beginning of `old`, the longest shorter one that ends there, too.
    shorter: Vec<usize>,
}

impl<'p> Pattern<'p> {
    fn new(old: &'p [u32]) -> Self {
        let mut pattern = Self { old, shorter: vec![0; old.len() + 1] };
        let mut length = 0;
        for (at, line) in old.iter().enumerate().skip(1) {
            length = pattern.advance(length, *line);
            pattern.shorter[at + 1] = length;
        }
        pattern
    }

    /// Returns the length of the beginning of `old` that ends with `line`, given the `length` of the one that ended
    /// just before.
    fn advance(&self, mut length: usize, line: u32) -> usize {
        loop {
            if self.old.get(length) == Some(&line) {
                return length + 1;
            }
            if length == 0 {
                return 0;
            }
            length = self.shorter[length];
        }
    }

    /// Returns the indices in `lines` at which `old` begins, in order.
    fn places<'l>(&'l self, lines: &'l [u32]) -> impl Iterator<Item = usize> + 'l {
        let mut length = 0;
        lines.iter().enumerate().filter_map(move |(at, line)| {
            length = self.advance(length, *line);
            (length == self.old.len()).then(|| at + 1 - length)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn search(lines: &[&str], old: &[&str], from: usize, wanted: usize) -> Option<usize> {
        let old: Vec<_> = old.iter().map(|it| Cow::Borrowed(*it)).collect();
        Search::new(lines, usize::MAX).nearest(&old, from, wanted).unwrap()
    }

    /// To try each place line by line would take days.
    #[test]
    fn equal_lines_take_no_longer_than_others() {
        let mut lines = vec!["\n"; 2_000_000];
        *lines.last_mut().unwrap() = "end\n";
        let mut old = vec!["\n"; 500_000];
        assert_eq!(search(&lines, &old, 10, 0), Some(10));
        old.push("end\n");
        assert_eq!(search(&lines, &old, 0, 0), Some(1_499_999));
        old.push("\n");
        assert_eq!(search(&lines, &old, 0, 0), None);
    }

    proptest! {
        #[test]
        fn finds_what_a_look_at_every_place_finds(
            lines in prop::collection::vec(0..3_usize, 0..300),
            old in prop::collection::vec(0..3_usize, 1..5),
            from in 0..300_usize,
            wanted in 0..300_usize,
        ) {
            const TEXTS: [&str; 3] = ["a\n", "b\n", "c\n"];
            let texts = |all: &[usize]| all.iter().map(|it| TEXTS[*it]).collect::<Vec<_>>();
            let (lines, old) = (texts(&lines), texts(&old));
            let (from, wanted) = (from.min(lines.len()), wanted.clamp(from.min(lines.len()), lines.len()));
            let fits = |place: &usize| lines.get(*place..*place + old.len()) == Some(&old[..]);
            let by_distance = (0..=lines.len()).flat_map(|by| {
                [wanted.checked_add(by), wanted.checked_sub(by)].into_iter().flatten()
            });
            let want = by_distance.filter(|it| *it >= from).find(fits);
            prop_assert_eq!(search(&lines, &old, from, wanted), want);
        }
    }
}
