//! Merge of a list, item by item.

use super::{
    Part, choose, choose_gap,
    item::{Item, Split, split},
    kinds::{ListKind, list_of},
    merge_parts,
};

/// Merges `[base, ours, theirs]` of one list; `None` if the nodes are no lists, or the changes do not go together.
pub(super) fn merge(parts: [Part<'_>; 3], depth: usize) -> Option<String> {
    let kinds = parts.map(|it| list_of(it.node));
    let kind = kinds[0]?;
    // A list of one entry has no comma yet.
    let kind = if kinds.contains(&Some(ListKind::Commas)) { ListKind::Commas } else { kind };
    let [base, ours, theirs] = parts.map(|it| split(it, kind));
    let (base, ours, theirs) = (base?, ours?, theirs?);
    let sides = [Side::new(&base, &ours)?, Side::new(&base, &theirs)?];
    let mut merged = Merged { kind, items: Vec::new() };
    for slot in 0..=base.items.len() {
        merged.insert([&sides[0], &sides[1]], &base, slot)?;
        if let Some(item) = base.items.get(slot) {
            merged.keep(item, [sides[0].of(slot), sides[1].of(slot)], depth)?;
        }
    }
    merged.has_no_twins().then_some(())?;
    merged.written([&base, &ours, &theirs])
}

/// A changed list beside the base.
struct Side<'s, 't> {
    split: &'s Split<'t>,
    /// Index of each item of the base; `None` if it was deleted.
    matches: Vec<Option<usize>>,
    /// Items before each item of the base, and after the last, that the base does not have.
    inserted: Vec<Vec<usize>>,
}

impl<'s, 't> Side<'s, 't> {
    /// `None` if items that both have are in another order.
    fn new(base: &Split<'_>, split: &'s Split<'t>) -> Option<Self> {
        let find = |key: &str| split.items.iter().position(|it| it.key == key);
        let mut matches: Vec<_> = base.items.iter().map(|it| find(&it.key)).collect();
        if !matches.iter().flatten().is_sorted() {
            return None;
        }
        pair_renamed(base, split, &mut matches);
        let mut inserted = vec![Vec::new(); base.items.len() + 1];
        let mut slot = 0;
        for at in 0..split.items.len() {
            match matches.iter().position(|it| *it == Some(at)) {
                Some(matched) => slot = matched + 1,
                None => inserted[slot].push(at),
            }
        }
        Some(Self { split, matches, inserted })
    }

    fn of(&self, slot: usize) -> Option<&'s Item<'t>> {
        self.matches[slot].map(|it| &self.split.items[it])
    }

    fn inserted(&self, slot: usize) -> impl Iterator<Item = &'s Item<'t>> {
        self.inserted[slot].iter().map(|it| &self.split.items[*it])
    }

    /// Whether the items of the base on both sides of a slot are as they were.
    fn is_unchanged_around(&self, base: &Split<'_>, slot: usize) -> bool {
        let is_same = |at: usize| {
            base.items.get(at).is_none_or(|item| self.of(at).is_some_and(|it| it.text() == item.text()))
        };
        is_same(slot) && slot.checked_sub(1).is_none_or(is_same)
    }
}

/// Matches items of other names where as many of the same kinds stand between the same neighbours: they were renamed, or
/// have no name.
fn pair_renamed(base: &Split<'_>, split: &Split<'_>, matches: &mut [Option<usize>]) {
    let mut start = 0;
    while start < matches.len() {
        let end = (start..matches.len()).find(|it| matches[*it].is_some()).unwrap_or(matches.len());
        let first = start.checked_sub(1).and_then(|it| matches[it]).map_or(0, |it| it + 1);
        let last = matches.get(end).copied().flatten().unwrap_or(split.items.len());
        let kinds = |items: &[Item<'_>]| items.iter().map(Item::kind).collect::<Vec<_>>();
        if end > start && kinds(&base.items[start..end]) == kinds(&split.items[first..last]) {
            (start..end).zip(first..last).for_each(|(at, item)| matches[at] = Some(item));
        }
        start = end + 1;
    }
}

struct Merged<'t> {
    kind: ListKind,
    items: Vec<Output<'t>>,
}

/// An item of the result.
struct Output<'t> {
    /// `None` if the item is the first one wherever it is.
    gap: Option<&'t str>,
    text: String,
    key: &'t str,
}

impl<'t> Merged<'t> {
    fn insert<'s: 't>(&mut self, sides: [&Side<'s, 't>; 2], base: &Split<'_>, slot: usize) -> Option<()> {
        let [ours, theirs] = sides.map(|it| it.inserted(slot).collect::<Vec<_>>());
        // Both have replaced the same item.
        let is_replaced =
            slot.checked_sub(1).is_some_and(|it| sides.iter().all(|side| side.of(it).is_none()));
        if is_replaced && !ours.is_empty() && !theirs.is_empty() {
            return None;
        }
        let is_free = |it: &&Item<'_>| self.kind == ListKind::Commas || it.is_definition();
        let (ours_free, theirs_free) = (ours.iter().all(is_free), theirs.iter().all(is_free));
        let is_alone = |own: &[&Item<'_>], is_free: bool, other: &Side<'_, '_>, others: &[&Item<'_>]| {
            own.is_empty() || is_free || (others.is_empty() && other.is_unchanged_around(base, slot))
        };
        let goes = ours == theirs
            || (is_alone(&ours, ours_free, sides[1], &theirs)
                && is_alone(&theirs, theirs_free, sides[0], &ours));
        if !goes {
            return None;
        }
        let is_twin = |it: &&Item<'_>| ours.iter().any(|own| own == it);
        let others = theirs.iter().filter(|it| !is_twin(it));
        for item in ours.iter().chain(others) {
            self.items.push(Output { gap: item.gap, text: item.text().to_owned(), key: &item.key });
        }
        Some(())
    }

    fn keep<'s: 't>(
        &mut self,
        base: &'s Item<'t>,
        sides: [Option<&'s Item<'t>>; 2],
        depth: usize,
    ) -> Option<()> {
        let (ours, theirs) = match sides {
            [None, None] => return Some(()),
            [Some(one), None] | [None, Some(one)] => return (one.text() == base.text()).then_some(()),
            [Some(ours), Some(theirs)] => (ours, theirs),
        };
        let gap = match (base.gap, ours.gap, theirs.gap) {
            (Some(base), Some(ours), Some(theirs)) => choose_gap([base, ours, theirs]),
            (base, ours, theirs) => ours.or(theirs).or(base),
        };
        let key = if ours.key == base.key { &theirs.key } else { &ours.key };
        self.items.push(Output { gap, text: item([base, ours, theirs], depth)?, key });
        Some(())
    }

    /// Whether no two items have one name that no single version has twice.
    fn has_no_twins(&self) -> bool {
        let named = |it: &&Output<'_>| it.key.starts_with("name ");
        let names: Vec<_> = self.items.iter().filter(named).map(|it| it.key).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        unique.len() == names.len()
    }

    fn written(&self, splits: [&Split<'_>; 3]) -> Option<String> {
        let mut text = choose_gap(splits.map(|it| it.head))?.to_owned();
        let usual = splits.iter().flat_map(|it| &it.items).find_map(|it| it.gap);
        let usual = usual.unwrap_or(if self.kind == ListKind::Commas { ", " } else { "\n\n" });
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                let next = || self.items.get(at + 1).and_then(|it| it.gap);
                text.push_str(item.gap.or_else(next).unwrap_or(usual));
            }
            text.push_str(&item.text);
        }
        text.push_str(choose_gap(splits.map(|it| it.tail))?);
        Some(text)
    }
}

impl PartialEq for Item<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// Merges an item that all three have.
fn item(items: [&Item<'_>; 3], depth: usize) -> Option<String> {
    let texts = items.map(Item::text);
    if let Some(text) = choose(texts) {
        return Some(text.to_owned());
    }
    let [base, ours, theirs] = items.map(|it| Some((it.part?, it.around()?)));
    let versions = [base?, ours?, theirs?];
    let [before, after] = [0, 1].map(|end| choose_gap(versions.map(|it| it.1[end])));
    Some(format!("{}{}{}", before?, merge_parts(versions.map(|it| it.0), depth + 1)?, after?))
}
