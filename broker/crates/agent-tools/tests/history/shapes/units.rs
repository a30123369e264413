//! A changed function as a whole: between markers, in its class, and alone.
//!
//! Left out, as a reader could not know: names that the file has twice; comments and attributes that are gone, as
//! those that a marker hides stay; functions that are moved to another indentation; and changes of whitespace only.

use std::ops::Range;

use crate::{
    change::{Change, have_other_ends},
    definitions::{Definition, Kind},
    file::{Case, File, Group, indent, is_blank},
    random::Random,
    sketch::Sketch,
};

/// Lines of a function that a model would still write whole.
const LONGEST: usize = 150;

/// Lines of a file besides a part of it, so that it is not taken for the whole.
const REST: usize = 8;

/// A function of the file before and of the file after, with what is shown of it.
pub(crate) struct Changed<'c> {
    pub(crate) old: &'c Definition,
    pub(crate) new: &'c Definition,
    pub(crate) lines: Range<usize>,
    pub(crate) shown: Range<usize>,
}

pub(super) fn function(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let all = changed(change, random, |file, it| is_outer(file, it) && has_own_name(file, it));
    let it = random.pick(&all)?;
    let shape = if has_same_head(change, it) { "func" } else { "func, other head" };
    between_markers(change, it, shape, Group::Shape, random)
}

pub(super) fn part(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let all = changed(change, random, |file, it| is_outer(file, it) && has_own_name(file, it));
    let it = random.pick(&all)?;
    let rest = change.before.lines[..it.lines.start].iter().chain(&change.before.lines[it.lines.end..]);
    (rest.filter(|it| !is_blank(it)).count() >= REST).then_some(())?;
    let mut sketch = Sketch::drawn(&change.before, random);
    sketch.shown(&change.after.lines[it.shown.clone()]);
    let shape = if has_same_head(change, it) { "part" } else { "part, other head" };
    Some(change.before.case(Group::Shape, shape, text(change, it), sketch.text()?))
}

/// The head of the class and the method, with the closing bracket of the class or without it.
pub(super) fn of_class(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let all = changed(change, random, |file, it| {
        class(file, it).is_some_and(|class| is_only_method(file, class, it))
    });
    let it = random.pick(&all)?;
    in_class(change, it, "class", Group::Shape, random)
}

pub(crate) fn between_markers(
    change: &Change<'_>,
    it: &Changed<'_>,
    shape: &'static str,
    group: Group,
    random: &mut Random,
) -> Option<Case> {
    let mut sketch = Sketch::drawn(&change.before, random).with_blanks(random.one_in(2));
    sketch.hidden(0..it.lines.start);
    sketch.shown(&change.after.lines[it.shown.clone()]);
    sketch.hidden(it.lines.end..change.before.len());
    Some(change.before.case(group, shape, text(change, it), sketch.text()?))
}

pub(crate) fn in_class(
    change: &Change<'_>,
    it: &Changed<'_>,
    shape: &'static str,
    group: Group,
    random: &mut Random,
) -> Option<Case> {
    let (before, after) = (&change.before, &change.after);
    let (old, new) = (class(before, it.old)?, class(after, it.new)?);
    let head = &before.lines[old.start..old.body];
    (head == &after.lines[new.start..new.body] && old.body <= it.lines.start).then_some(())?;
    let mut sketch = Sketch::drawn(before, random).with_blanks(random.one_in(2));
    sketch.hidden(0..old.start);
    sketch.shown(head);
    sketch.hidden(old.body..it.lines.start);
    sketch.shown(&after.lines[it.shown.clone()]);
    close(&mut sketch, before, old, it.lines.end, random);
    Some(before.case(group, shape, text(change, it), sketch.text()?))
}

/// Adds the part after a method: the rest of the class, in half of the cases its closing bracket, and the rest of the file.
pub(crate) fn close(
    sketch: &mut Sketch<'_, '_>,
    file: &File<'_>,
    class: &Definition,
    at: usize,
    random: &mut Random,
) {
    let last = class.end - 1;
    if at <= last && has_end(file, class) && random.one_in(2) {
        sketch.hidden(at..last);
        sketch.shown(&file.lines[last..class.end]);
        sketch.hidden(class.end..file.len());
    } else {
        sketch.hidden(at..file.len());
    }
}

/// Whether the last line of a class closes it.
pub(crate) fn has_end(file: &File<'_>, class: &Definition) -> bool {
    let (head, last) = (file.lines[class.start], file.lines[class.end - 1]);
    indent(head) == indent(last) && (last.trim().starts_with('}') || last.trim() == "end")
}

fn text(change: &Change<'_>, it: &Changed<'_>) -> String {
    change.before.spliced(it.lines.clone(), &change.after.lines[it.shown.clone()])
}

/// The functions that both files have once under their names, and that differ.
pub(crate) fn changed<'c>(
    change: &'c Change<'_>,
    random: &mut Random,
    is_wanted: impl Fn(&File<'_>, &Definition) -> bool,
) -> Vec<Changed<'c>> {
    let (before, after) = (&change.before, &change.after);
    let new: Vec<_> = after.definitions().iter().map(|it| (chain(after, it), it)).collect();
    let mut found = Vec::new();
    for old in before.definitions().iter().filter(|it| it.kind == Kind::Function && it.is_apart) {
        if !is_touched(change, old) || !is_wanted(before, old) {
            continue;
        }
        let chain = chain(before, old);
        let mut same = new.iter().filter(|it| it.0 == chain);
        let (Some((_, new)), None) = (same.next(), same.next()) else { continue };
        if before.definitions().iter().filter(|it| self::chain(before, it) == chain).count() > 1 {
            continue;
        }
        if new.is_apart && new.end - new.lead <= LONGEST {
            found.extend(compared(before, old, after, new, random.one_in(3)));
        }
    }
    found
}

fn is_touched(change: &Change<'_>, old: &Definition) -> bool {
    change.ops.iter().any(|it| it.old_range().start <= old.end && it.old_range().end >= old.lead)
}

fn compared<'c>(
    before: &File<'_>,
    old: &'c Definition,
    after: &File<'_>,
    new: &'c Definition,
    shows_lead: bool,
) -> Option<Changed<'c>> {
    let has_lead = shows_lead || before.lines[old.lead..old.start] != after.lines[new.lead..new.start];
    let (lines, shown) = match has_lead {
        true => (old.lead..old.end, new.lead..new.end),
        false => (old.start..old.end, new.start..new.end),
    };
    let (was, is) = (&before.lines[lines.clone()], &after.lines[shown.clone()]);
    let is_said = differ(was, is) && !have_other_ends(was, is);
    let is_moved = indent(before.lines[old.start]) != indent(after.lines[new.start]);
    let is_clear = !is_cut(&was[..old.body - lines.start], is);
    (is_said && is_clear && !is_moved).then_some(Changed { old, new, lines, shown })
}

/// Whether the first lines of a head are gone, such as comments and attributes. Those that a marker may hide, stay.
fn is_cut(head: &[&str], new: &[&str]) -> bool {
    let is_above = |it: &str| ["@", "[", "#", "//", "/*"].iter().any(|sign| it.trim().starts_with(sign));
    let first = new[0];
    head.iter().skip(1).any(|it| *it == first) || is_above(head[0]) && !is_above(first)
}

fn differ(was: &[&str], is: &[&str]) -> bool {
    let said = |lines: &[&str]| -> Vec<String> {
        lines.iter().filter(|it| !is_blank(it)).map(|it| it.trim_end().to_owned()).collect()
    };
    said(was) != said(is)
}

/// Returns the name of a definition, with those of the definitions around it.
fn chain<'f>(file: &'f File<'_>, it: &'f Definition) -> Vec<(&'f str, Kind)> {
    let parents = std::iter::successors(Some(it), |it| it.parent.map(|it| &file.definitions()[it]));
    parents.map(|it| (it.name.as_str(), it.kind)).collect()
}

/// Whether a definition stands in no other function.
pub(crate) fn is_outer(file: &File<'_>, it: &Definition) -> bool {
    chain(file, it).iter().skip(1).all(|it| it.1 != Kind::Function)
}

pub(crate) fn has_own_name(file: &File<'_>, it: &Definition) -> bool {
    file.definitions().iter().filter(|other| other.name == it.name && other.kind != Kind::Section).count()
        == 1
}

pub(crate) fn class<'f>(file: &'f File<'_>, it: &Definition) -> Option<&'f Definition> {
    let class = &file.definitions()[it.parent?];
    (class.kind == Kind::Class && class.is_apart && class.body < class.end).then_some(class)
}

/// Whether no other class with the same head has a method of that name, nor this one another.
pub(crate) fn is_only_method(file: &File<'_>, its: &Definition, it: &Definition) -> bool {
    let head = |it: &Definition| file.lines[it.start..it.body].iter().map(|it| it.trim()).collect::<Vec<_>>();
    let is_same = |other: &&Definition| {
        other.name == it.name && class(file, other).is_some_and(|class| head(class) == head(its))
    };
    file.definitions().iter().filter(is_same).count() == 1
}

fn has_same_head(change: &Change<'_>, it: &Changed<'_>) -> bool {
    change.before.lines[it.old.start..it.old.body] == change.after.lines[it.new.start..it.new.body]
}
