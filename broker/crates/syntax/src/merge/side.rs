//! A changed list beside the one that it came from.

use std::collections::HashMap;

use super::item::{Item, Split};

pub(super) struct Side<'s, 't> {
    split: &'s Split<'t>,
    /// Index of each item of the base; `None` if it was deleted.
    matches: Vec<Option<usize>>,
    /// Whether an item of the base was matched by its place alone.
    is_rewritten: Vec<bool>,
    /// Items before each item of the base, and after the last, that the base does not have.
    inserted: Vec<Vec<usize>>,
}

impl<'s, 't> Side<'s, 't> {
    /// `None` if items that both have are in another order.
    pub(super) fn new(base: &Split<'_>, split: &'s Split<'t>) -> Option<Self> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (at, item) in split.items.iter().enumerate().rev() {
            places.insert(&item.key, at);
        }
        let mut matches: Vec<_> = base.items.iter().map(|it| places.get(&*it.key).copied()).collect();
        if !matches.iter().flatten().is_sorted() {
            return None;
        }
        let is_gone: Vec<_> = matches.iter().map(Option::is_none).collect();
        pair_renamed(base, split, &mut matches);
        let is_new = |at: usize| is_gone[at] && matches[at].is_some() && base.items[at].name.is_none();
        let is_rewritten = (0..base.items.len()).map(is_new).collect();
        let mut inserted = vec![Vec::new(); base.items.len() + 1];
        let mut next = 0;
        let mut slot = 0;
        for (at, matched) in matches.iter().enumerate().filter_map(|(at, it)| Some((at, (*it)?))) {
            inserted[slot].extend(next..matched);
            (next, slot) = (matched + 1, at + 1);
        }
        inserted[slot].extend(next..split.items.len());
        Some(Self { split, matches, is_rewritten, inserted })
    }

    pub(super) fn of(&self, slot: usize) -> Option<&'s Item<'t>> {
        self.matches[slot].map(|it| &self.split.items[it])
    }

    pub(super) fn inserted(&self, slot: usize) -> impl Iterator<Item = &'s Item<'t>> {
        self.inserted[slot].iter().map(|it| &self.split.items[*it])
    }

    pub(super) fn has_inserted(&self, slot: usize) -> bool {
        !self.inserted[slot].is_empty()
    }

    /// Whether a side has other items in the place of those of the base at a slot.
    pub(super) fn replaces(&self, slot: usize) -> bool {
        let is_gone = |at: usize| self.matches.get(at).is_some_and(Option::is_none);
        self.has_inserted(slot) && (is_gone(slot) || slot.checked_sub(1).is_some_and(is_gone))
    }

    /// Whether a side has another statement in the place of one of the base, and the other side changed what is beside it, but
    /// not this one.
    pub(super) fn is_rewritten_beside(&self, base: &Split<'_>, slot: usize, other: &Self) -> bool {
        let is_as_before = || other.of(slot).is_some_and(|it| it.text() == base.items[slot].text());
        let is_touched = |at: usize| other.has_inserted(at) || !other.is_unchanged_around(base, at);
        self.is_rewritten[slot] && is_as_before() && (is_touched(slot) || is_touched(slot + 1))
    }

    /// Whether the items of the base on both sides of a slot are as they were.
    pub(super) fn is_unchanged_around(&self, base: &Split<'_>, slot: usize) -> bool {
        let is_same = |at: usize| {
            base.items.get(at).is_none_or(|item| self.of(at).is_some_and(|it| it.text() == item.text()))
        };
        is_same(slot) && slot.checked_sub(1).is_none_or(is_same)
    }
}

/// Matches items that were changed so that their keys are others: between two that are matched, as many of the same kinds, one
/// by one.
fn pair_renamed(base: &Split<'_>, split: &Split<'_>, matches: &mut [Option<usize>]) {
    let (mut start, mut next) = (0, 0);
    for at in 0..=matches.len() {
        let end = match matches.get(at) {
            Some(None) => continue,
            Some(Some(matched)) => *matched,
            None => split.items.len(),
        };
        let (old, new) = (&base.items[start..at], &split.items[next..end]);
        let are_pairs = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| may_be_one(old, new));
        if are_pairs {
            matches[start..at].iter_mut().zip(next..).for_each(|(matched, at)| *matched = Some(at));
        }
        (start, next) = (at + 1, end + 1);
    }
}

/// Whether two items are statements without names, or methods of one name with other parameters.
fn may_be_one(old: &Item<'_>, new: &Item<'_>) -> bool {
    let (Some(before), Some(after)) = (old.part, new.part) else { return false };
    let method = |it: &Item<'_>| {
        it.name.as_ref().map(|it| it.strip_suffix(')').and_then(|it| Some(it.split_once('(')?.0.to_owned())))
    };
    let (was, is) = (method(old), method(new));
    before.node.kind_id() == after.node.kind_id() && was == is && was != Some(None)
}
