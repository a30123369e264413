//! The first lines of all files, whatever the order in which the files are searched.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use parking_lot::Mutex;

use super::scan::Line;

/// At most so many lines, of the first files that have any.
pub(super) struct First {
    limit: usize,
    kept: Mutex<Kept>,
    /// The first file of which no line can be among the first any more.
    end: AtomicUsize,
}

#[derive(Default)]
struct Kept {
    by_file: BTreeMap<usize, Vec<Line>>,
    count: usize,
}

impl First {
    pub(super) fn new(limit: usize) -> Self {
        let end = if limit == 0 { 0 } else { usize::MAX };
        Self { limit, kept: Mutex::default(), end: AtomicUsize::new(end) }
    }

    /// Whether lines of this file may still be among the first.
    pub(super) fn wants(&self, file: usize) -> bool {
        file < self.end.load(Relaxed)
    }

    pub(super) fn add(&self, file: usize, lines: Vec<Line>) {
        if lines.is_empty() || !self.wants(file) {
            return;
        }
        let mut kept = self.kept.lock();
        kept.count += lines.len();
        kept.by_file.insert(file, lines);
        while let Some(last) = kept.by_file.last_entry().map(|it| (*it.key(), it.get().len()))
            && kept.count - last.1 >= self.limit
        {
            kept.by_file.pop_last();
            kept.count -= last.1;
        }
        // Enough: what comes after the last file that is kept is only counted.
        if let (true, Some((last, _))) = (kept.count >= self.limit, kept.by_file.last_key_value()) {
            self.end.store(last + 1, Relaxed);
        }
    }

    /// The lines with the numbers of their files.
    pub(super) fn into_lines(self) -> impl Iterator<Item = (usize, Line)> {
        let kept = self.kept.into_inner();
        let lines = kept.by_file.into_iter().flat_map(|(file, it)| it.into_iter().map(move |it| (file, it)));
        lines.take(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64) -> Vec<Line> {
        (1..=count)
            .map(|number| Line {
                number,
                column: 1,
                text: String::new(),
                before: Vec::new(),
                after: Vec::new(),
            })
            .collect()
    }

    #[test]
    fn the_first_are_kept_in_any_order_of_the_files() {
        let first = First::new(3);
        first.add(7, lines(2));
        first.add(9, lines(2));
        assert!(first.wants(9) && !first.wants(10));
        first.add(2, lines(1));
        assert!(first.wants(7) && !first.wants(8));
        first.add(9, lines(2));
        let found: Vec<_> = first.into_lines().map(|(file, it)| (file, it.number)).collect();
        assert_eq!(found, [(2, 1), (7, 1), (7, 2)]);
    }

    #[test]
    fn none_is_kept_where_none_is_asked_for() {
        let first = First::new(0);
        assert!(!first.wants(0));
        first.add(0, lines(1));
        assert_eq!(first.into_lines().count(), 0);
    }
}
