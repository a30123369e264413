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
    if kind == ListKind::Lines && !are_alike([&base, &ours, &theirs]) {
        return None;
    }
    let sides = [Side::new(&base, &ours)?, Side::new(&base, &theirs)?];
    let mut merged = Merged { kind, items: Vec::new() };
    for slot in 0..=base.items.len() {
        merged.insert([&sides[0], &sides[1]], &base, slot)?;
        if let Some(item) = base.items.get(slot) {
            merged.keep(item, [sides[0].of(slot), sides[1].of(slot)], depth)?;
        }
    }
    merged.has_unique_names([&base, &ours, &theirs]).then_some(())?;
    merged.written([&base, &ours, &theirs])
}

/// Whether all items have one indentation.
fn are_alike(splits: [&Split<'_>; 3]) -> bool {
    let mut all = splits.iter().flat_map(|it| &it.items).map(Item::indentation);
    let first = all.next();
    all.all(|it| Some(it) == first)
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
        let matches: Vec<_> = base.items.iter().map(|it| find(&it.key)).collect();
        if !matches.iter().flatten().is_sorted() {
            return None;
        }
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

    /// Whether a side has other items in the place of those of the base at a slot.
    fn replaces(&self, slot: usize) -> bool {
        let is_gone = |at: usize| self.matches.get(at).is_some_and(Option::is_none);
        !self.inserted[slot].is_empty() && (is_gone(slot) || slot.checked_sub(1).is_some_and(is_gone))
    }

    /// Whether the items of the base on both sides of a slot are as they were.
    fn is_unchanged_around(&self, base: &Split<'_>, slot: usize) -> bool {
        let is_same = |at: usize| {
            base.items.get(at).is_none_or(|item| self.of(at).is_some_and(|it| it.text() == item.text()))
        };
        is_same(slot) && slot.checked_sub(1).is_none_or(is_same)
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
    name: Option<&'t str>,
}

impl<'t> Merged<'t> {
    fn insert<'s: 't>(&mut self, sides: [&Side<'s, 't>; 2], base: &Split<'_>, slot: usize) -> Option<()> {
        let [ours, theirs] = sides.map(|it| it.inserted(slot).collect::<Vec<_>>());
        for [own, other] in [[sides[0], sides[1]], [sides[1], sides[0]]] {
            let is_touched = !other.inserted[slot].is_empty() || !other.is_unchanged_around(base, slot);
            if own.replaces(slot) && is_touched {
                return None;
            }
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
            self.items.push(Output {
                gap: item.gap,
                text: item.text().to_owned(),
                name: item.name.as_deref(),
            });
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
        let name = ours.name.as_deref();
        self.items.push(Output { gap, text: item([base, ours, theirs], depth)?, name });
        Some(())
    }

    /// Whether each name is there as often as in one of the versions.
    fn has_unique_names(&self, splits: [&Split<'_>; 3]) -> bool {
        let count =
            |name: &str, names: &mut dyn Iterator<Item = &str>| names.filter(|it| *it == name).count();
        let own = || self.items.iter().filter_map(|it| it.name);
        own().all(|name| {
            let of = |it: &Split<'_>| count(name, &mut it.items.iter().filter_map(|it| it.name.as_deref()));
            count(name, &mut own()) <= splits.map(of).into_iter().max().unwrap_or(0)
        })
    }

    fn written(&self, splits: [&Split<'_>; 3]) -> Option<String> {
        let mut text = choose_gap(splits.map(|it| it.head))?.to_owned();
        let usual = splits.iter().flat_map(|it| &it.items).find_map(|it| it.gap);
        let usual = usual.or((self.kind == ListKind::Commas).then_some(", "));
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                let next = || self.items.get(at + 1).and_then(|it| it.gap);
                text.push_str(item.gap.or_else(next).or(usual)?);
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
