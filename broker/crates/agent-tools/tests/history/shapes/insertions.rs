//! New lines below a line of the file, and new lines at its end.
//!
//! Left out, as a reader could not know: blank lines alone, and new lines below a blank one.

use similar::DiffOp;

use crate::{
    change::Change,
    file::{Case, File, Group, is_blank},
    random::Random,
    sketch::Sketch,
};

pub(super) const NAMES: [&str; 4] =
    ["insert", "insert, line before not unique", "insert, hunk can slide", "insert, no marker above"];

/// Place of new lines, and their range in the file after the change.
#[derive(Clone, Copy)]
struct Insertion {
    at: usize,
    new: (usize, usize),
}

fn insertions(change: &Change<'_>) -> Vec<Insertion> {
    let all = change.ops.iter().filter_map(|it| match it {
        DiffOp::Insert { old_index, new_index, new_len } => {
            Some(Insertion { at: *old_index, new: (*new_index, new_index + new_len) })
        }
        _ => None,
    });
    all.filter(|it| change.after.lines[it.new.0..it.new.1].iter().any(|it| !is_blank(it))).collect()
}

/// The line before, the new lines, and a marker.
pub(super) fn insert(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let (before, after) = (&change.before, &change.after);
    let is_below_line =
        |it: &Insertion| it.at > 0 && it.at < before.len() && !is_blank(before.lines[it.at - 1]);
    let all: Vec<_> = insertions(change).into_iter().filter(is_below_line).collect();
    let Insertion { at, new: (first, last) } = *random.pick(&all)?;
    let (above, new) = (before.lines[at - 1], &after.lines[first..last]);
    // More than the edit's size is hidden, so that a missing marker is known to be missing.
    let is_open = random.one_in(4) && at > 3 * (new.len() + 1);
    let mut sketch = Sketch::drawn(before, random);
    if !is_open {
        sketch.hidden(0..at - 1);
    }
    sketch.shown(&[above]);
    sketch.shown(new);
    sketch.hidden(at..before.len());
    let can_slide = new.first() == before.lines.get(at) || new.last() == Some(&above);
    let shape = match (can_slide, before.count(above) == 1, is_open) {
        (true, ..) => NAMES[2],
        (false, false, _) => NAMES[1],
        (false, true, true) => NAMES[3],
        (false, true, false) => NAMES[0],
    };
    Some(before.case(Group::Shape, shape, before.spliced(at..at, new), sketch.text()?))
}

/// A marker and new lines at the end of the file; half of them without the blank lines above.
pub(super) fn append(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let (before, after) = (&change.before, &change.after);
    let Insertion { at, new } = slid_down(change, *insertions(change).last()?);
    let new = &after.lines[new.0..new.1];
    (at == before.len() && !new.last().is_some_and(is_blank)).then_some(())?;
    let text = before.spliced(at..at, new);
    defines_nothing_again(before, &text, at).then_some(())?;
    let blank = new.iter().take_while(|it| is_blank(it)).count();
    let mut sketch = Sketch::drawn(before, random);
    sketch.hidden(0..at);
    sketch.shown(&new[if random.one_in(2) { blank } else { 0 }..]);
    Some(before.case(Group::Shape, "append", text, sketch.text()?))
}

/// Moves an insertion as far down as it gives the same text, as git shows it.
fn slid_down(change: &Change<'_>, mut it: Insertion) -> Insertion {
    let (before, after) = (&change.before.lines, &change.after.lines);
    while it.at < before.len()
        && after[it.new.0] == before[it.at]
        && after.get(it.new.1) == Some(&before[it.at])
    {
        it = Insertion { at: it.at + 1, new: (it.new.0 + 1, it.new.1 + 1) };
    }
    it
}

/// Whether the new lines define no name again: such a definition would take the place of the old one.
pub(crate) fn defines_nothing_again(before: &File<'_>, text: &str, from: usize) -> bool {
    let after = File::new(before.path, "", text);
    let mut new = after.definitions().iter().filter(|it| it.start >= from && it.parent.is_none());
    new.all(|it| !before.definitions().iter().any(|old| old.name == it.name && old.parent.is_none()))
}
