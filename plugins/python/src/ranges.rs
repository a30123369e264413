//! Ranges of a text that lie beside or in each other, as those of a syntax tree do.

use std::cmp::Reverse;

use ruff_text_size::TextRange;

/// The outermost ranges, in their order.
#[derive(Default)]
pub(crate) struct Ranges(Vec<TextRange>);

impl Ranges {
    pub(crate) fn contain(&self, place: TextRange) -> bool {
        let after = self.0.partition_point(|it| it.start() <= place.start());
        self.0[..after].last().is_some_and(|it| it.contains_range(place))
    }
}

impl FromIterator<TextRange> for Ranges {
    fn from_iter<I: IntoIterator<Item = TextRange>>(ranges: I) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_by_key(|it| (it.start(), Reverse(it.end())));
        ranges.dedup_by(|next, kept| kept.contains_range(*next));
        Self(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u32, end: u32) -> TextRange {
        TextRange::new(start.into(), end.into())
    }

    #[test]
    fn places_in_nested_ranges_are_found() {
        let ranges: Ranges =
            [(20, 30), (2, 4), (1, 9), (5, 6), (20, 22)].map(|it| range(it.0, it.1)).into_iter().collect();
        let found = |start, end| ranges.contain(range(start, end));
        assert!(found(1, 9) && found(5, 6) && found(7, 8) && found(23, 30));
        assert!(!found(0, 1) && !found(8, 10) && !found(12, 13) && !found(29, 31));
        assert!(!Ranges::default().contain(range(0, 1)));
    }
}
