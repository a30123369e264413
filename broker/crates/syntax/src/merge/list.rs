//! Merge of a list, item by item.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{
    Around, Part, choose, choose_gap,
    item::{Item, Split, split},
    kinds::{ListKind, list_of},
    merge_parts, sets,
    side::Side,
};

/// Merges `[base, ours, theirs]` of one list; `None` if the nodes are no lists, or the changes do not go together.
pub(super) fn merge(parts: [Part<'_>; 3], around: Around) -> Option<String> {
    let [base, ours, theirs] = parts.map(|it| list_of(it.node, it.text));
    let kinds = [base?, ours?, theirs?];
    // A list of one entry has no comma yet.
    let kind = if kinds.contains(&ListKind::Commas) { ListKind::Commas } else { kinds[0] };
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
            let [ours, theirs] = &sides;
            if ours.is_rewritten_beside(&base, slot, theirs) || theirs.is_rewritten_beside(&base, slot, ours)
            {
                return None;
            }
            merged.keep(item, [sides[0].of(slot), sides[1].of(slot)], around)?;
        }
    }
    let splits = [&base, &ours, &theirs];
    if merged.is_sound(splits) { merged.written(splits) } else { None }
}

/// Whether all items have one indentation.
fn are_alike(splits: [&Split<'_>; 3]) -> bool {
    let mut all = splits.iter().flat_map(|it| &it.items).map(Item::indentation);
    let first = all.next();
    all.all(|it| Some(it) == first)
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
    /// The item that it is, or one of those that were merged.
    item: &'t Item<'t>,
}

impl<'t> Merged<'t> {
    fn insert(&mut self, sides: [&Side<'t, 't>; 2], base: &Split<'_>, slot: usize) -> Option<()> {
        let [ours, theirs] = sides.map(|it| it.inserted(slot).collect::<Vec<_>>());
        for [own, other] in [[sides[0], sides[1]], [sides[1], sides[0]]] {
            let is_touched = other.has_inserted(slot) || !other.is_unchanged_around(base, slot);
            if own.replaces(slot) && is_touched {
                return None;
            }
        }
        let is_free = |it: &&Item<'_>| self.kind == ListKind::Commas || it.is_definition();
        let is_alone = |own: &[&Item<'_>], other: &Side<'_, '_>| {
            let is_touched = other.has_inserted(slot) || !other.is_unchanged_around(base, slot);
            !is_touched || own.iter().all(is_free)
        };
        let is_same = || are_same(&ours, &theirs);
        let goes = is_same()
            || (is_alone(&ours, sides[1])
                && is_alone(&theirs, sides[0])
                && (self.kind == ListKind::Lines || sets::are_comparable(&ours, &theirs)));
        if !goes {
            return None;
        }
        let next = base.items.get(slot).and_then(|it| it.name.as_ref());
        let stays_before = |items: &[&'t Item<'t>]| next.is_some() && last_name(items) == next;
        let [first, second] =
            if stays_before(&ours) && !stays_before(&theirs) { [theirs, ours] } else { [ours, theirs] };
        let twins: HashSet<_> = first.iter().map(|it| it.text()).collect();
        let others = second.iter().filter(|it| !twins.contains(it.text()));
        self.items.extend(first.iter().chain(others).map(|it| Output::of(it)));
        Some(())
    }

    fn keep(&mut self, base: &'t Item<'t>, sides: [Option<&'t Item<'t>>; 2], around: Around) -> Option<()> {
        let (ours, theirs) = match sides {
            [None, None] => return Some(()),
            [Some(one), None] | [None, Some(one)] => return (one.text() == base.text()).then_some(()),
            [Some(ours), Some(theirs)] => (ours, theirs),
        };
        let gap = match (base.gap, ours.gap, theirs.gap) {
            (Some(base), Some(ours), Some(theirs)) => choose_gap([base, ours, theirs]),
            (base, ours, theirs) => ours.or(theirs).or(base),
        };
        self.items.push(Output { gap, text: item([base, ours, theirs], around)?, ..Output::of(ours) });
        Some(())
    }

    /// Whether the result can be one: a body keeps an item, names of entries are as many as in one of the versions, and what
    /// stands together because of its name does so.
    fn is_sound(&self, splits: [&Split<'_>; 3]) -> bool {
        let own = self.items.iter().map(|it| it.item);
        let of = splits.map(|it| it.items.iter());
        match self.kind {
            ListKind::Commas => {
                are_at_most(occurrences(own.map(name)), of.map(|it| occurrences(it.map(name))))
            }
            ListKind::Lines => {
                let has_nodes = |it: &&Split<'_>| it.items.iter().any(|it| it.part.is_some());
                let is_emptied =
                    !self.items.iter().any(|it| it.item.part.is_some()) && splits.iter().all(has_nodes);
                let joins = |it: &[Output<'_>]| it[0].item.joins(it[1].item);
                !is_emptied && !self.items.windows(2).any(joins) && are_at_most(runs(own), of.map(runs))
            }
        }
    }

    /// The text between items where there was none between any.
    fn first_gap(&self, item: &Item<'_>) -> Cow<'static, str> {
        match self.kind {
            ListKind::Lines => format!("\n{}", item.indentation()).into(),
            ListKind::Commas => ", ".into(),
        }
    }

    fn written(&self, splits: [&Split<'_>; 3]) -> Option<String> {
        let mut text = choose_gap(splits.map(|it| it.head))?.to_owned();
        let usual = splits.iter().flat_map(|it| &it.items).find_map(|it| it.gap);
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                let next = || self.items.get(at + 1).and_then(|it| it.gap);
                let gap = item.gap.or_else(next).or(usual).map(Cow::Borrowed);
                text.push_str(&gap.unwrap_or_else(|| self.first_gap(item.item)));
            }
            text.push_str(&item.text);
        }
        text.push_str(choose_gap(splits.map(|it| it.tail))?);
        Some(text)
    }
}

impl<'t> Output<'t> {
    fn of(item: &'t Item<'t>) -> Self {
        Self { gap: item.gap, text: item.text().to_owned(), item }
    }
}

fn last_name<'t>(items: &[&'t Item<'_>]) -> Option<&'t String> {
    items.last().and_then(|it| it.name.as_ref())
}

fn are_same(ours: &[&Item<'_>], theirs: &[&Item<'_>]) -> bool {
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| ours.text() == theirs.text())
}

/// Whether no name of the result has a higher number than in each of the versions.
fn are_at_most(result: HashMap<&str, usize>, versions: [HashMap<&str, usize>; 3]) -> bool {
    let is_as_before = |(name, number): (&str, usize)| {
        number <= 1 || versions.iter().filter_map(|it| it.get(name)).any(|it| number <= *it)
    };
    result.into_iter().all(is_as_before)
}

fn occurrences<'n>(names: impl Iterator<Item = Option<&'n str>>) -> HashMap<&'n str, usize> {
    let mut numbers = HashMap::new();
    names.flatten().for_each(|it| *numbers.entry(it).or_default() += 1);
    numbers
}

/// Number of places in which a definition of each name stands, once or several times in a row. Signatures of one function are
/// one place. Imports may stand apart.
fn runs<'i>(items: impl Iterator<Item = &'i Item<'i>>) -> HashMap<&'i str, usize> {
    let mut last = None;
    let names = items.map(|it| name(it).filter(|_| it.is_definition() && !it.is_import()));
    occurrences(names.filter(|it| std::mem::replace(&mut last, *it) != *it))
}

fn name<'i>(item: &'i Item<'_>) -> Option<&'i str> {
    item.name.as_deref()
}

/// Merges an item that all three have.
fn item(items: [&Item<'_>; 3], around: Around) -> Option<String> {
    let texts = items.map(Item::text);
    if let Some(text) = choose(texts) {
        return Some(text.to_owned());
    }
    let [base, ours, theirs] = items.map(|it| Some((it.part?, it.around()?)));
    let versions = [base?, ours?, theirs?];
    let [before, after] = [0, 1].map(|end| choose_gap(versions.map(|it| it.1[end])));
    Some(format!("{}{}{}", before?, merge_parts(versions.map(|it| it.0), around.deeper())?, after?))
}
