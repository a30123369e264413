//! Files that were moved and edited: the rule is git's, half of the lines are the same.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use bytes::Bytes;
use overlay::{View, WorkspacePath};

/// Pairs of files that are compared at most: a move of a large folder is told by its files' equal texts.
const MAX_PAIRS: usize = 2_500;

/// In thousandths.
const SIMILAR: usize = 500;

/// In bytes. What is larger was hardly written by a person, and is like no other.
const LARGEST: u64 = 1 << 20;

/// Which of the files that came is most like which of those that went, as new place and old one; each is
/// of one pair at most. A file that cannot be read is like no other.
pub(super) fn pairs(
    before: &dyn View,
    gone: Vec<WorkspacePath>,
    after: &dyn View,
    come: Vec<WorkspacePath>,
) -> Vec<(WorkspacePath, WorkspacePath)> {
    if gone.len() * come.len() > MAX_PAIRS {
        return Vec::new();
    }
    let (gone, come) = (texts(before, gone), texts(after, come));
    let mut scores = Vec::new();
    for (new, (_, new_text)) in come.iter().enumerate() {
        for (old, (_, old_text)) in gone.iter().enumerate() {
            let score = similarity(old_text, new_text);
            scores.extend((score >= SIMILAR).then_some((Reverse(score), new, old)));
        }
    }
    scores.sort_unstable();
    let (mut used_new, mut used_old) = (HashSet::new(), HashSet::new());
    let is_free = |(_, new, old): &(_, usize, usize)| {
        !used_new.contains(new) && !used_old.contains(old) && used_new.insert(*new) && used_old.insert(*old)
    };
    let best = scores.into_iter().filter(is_free);
    best.map(|(_, new, old)| (come[new].0.clone(), gone[old].0.clone())).collect()
}

fn texts(view: &dyn View, paths: Vec<WorkspacePath>) -> Vec<(WorkspacePath, Bytes)> {
    let text = |it: &WorkspacePath| {
        let is_small = view.metadata(it).is_ok_and(|it| it.size <= LARGEST);
        is_small.then(|| view.read(it).ok()).flatten()
    };
    paths.into_iter().filter_map(|it| Some((text(&it)?, it))).map(|(text, it)| (it, text)).collect()
}

/// Thousandths of the longer text's bytes that are in lines of both.
fn similarity(a: &[u8], b: &[u8]) -> usize {
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    // However alike they are, it would not be enough.
    if longer.is_empty() || shorter.len() * 1000 < longer.len() * SIMILAR {
        return 0;
    }
    let lines = |text| <[u8]>::split_inclusive(text, |it: &u8| *it == b'\n');
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    lines(shorter).for_each(|line| *counts.entry(line).or_default() += 1);
    let mut same = 0;
    for line in lines(longer) {
        if let Some(count) = counts.get_mut(line).filter(|it| **it > 0) {
            *count -= 1;
            same += line.len();
        }
    }
    same * 1000 / longer.len()
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn the_most_alike_are_paired() {
        let (one, two) = ("a\nb\nc\nd\n", "p\nq\nr\ns\n");
        let before = Memory::from_files([("one", one), ("two", two), ("three", "other\n")]).unwrap();
        let edited =
            [("1", "a\nb\nc\nx\n"), ("1b", "a\nb\nx\ny\n"), ("2", "p\nq\nr\ns\nt\n"), ("new", "z\n")];
        let after = Memory::from_files(edited).unwrap();
        let paths = |all: &[&str]| all.iter().map(|it| WorkspacePath::new(it).unwrap()).collect::<Vec<_>>();
        let mut pairs =
            pairs(&before, paths(&["one", "two", "three"]), &after, paths(&["1", "1b", "2", "new", "gone"]));
        pairs.sort();
        let names: Vec<_> = pairs.iter().map(|(new, old)| format!("{new} {old}")).collect();
        assert_eq!(names, ["1 one", "2 two"]);
    }

    #[test]
    fn lines_count_as_often_as_both_have_them() {
        assert_eq!(similarity(b"a\na\na\nb\n", b"a\nb\nb\nb\n"), 500);
        assert_eq!(similarity(b"", b""), 0);
        assert_eq!(similarity(b"a\n", b"a\n"), 1000);
    }
}
