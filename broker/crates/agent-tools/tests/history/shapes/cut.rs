//! The last definition of a file as it is, cut off and sent as a new one.
//!
//! Left out, as a reader could not know: what the rest defines under the same name, and what is all of the file or of
//! its class.

use super::units;
use crate::{
    definitions::{Definition, Kind},
    file::{Case, File, Group, is_blank},
    random::Random,
    sketch::Sketch,
};

const LONGEST: usize = 120;

/// Lines that the rest must have.
const REST: usize = 3;

/// Whether a definition is the last thing in the lines up to `end`.
fn is_last(file: &File<'_>, it: &Definition, end: usize) -> bool {
    let size = it.end - it.lead;
    it.is_apart && size <= LONGEST && it.end <= end && file.lines[it.end..end].iter().all(is_blank)
}

/// The line from which on a definition is cut off, with the blank lines above it.
fn cut(file: &File<'_>, it: &Definition) -> usize {
    it.lead - file.lines[..it.lead].iter().rev().take_while(|it| is_blank(it)).count()
}

/// Chapters of Markdown are in the chapter of the whole file.
fn is_chapter(file: &File<'_>, it: &Definition) -> bool {
    file.language.name == "markdown" && it.parent.is_some_and(|it| file.definitions()[it].parent.is_none())
}

fn lines(file: &File<'_>, until: usize) -> usize {
    file.lines[..until].iter().filter(|it| !is_blank(it)).count()
}

pub(super) fn definition(file: &File<'_>, random: &mut Random) -> Option<Case> {
    let is_top = |it: &&Definition| it.parent.is_none() || it.kind == Kind::Section && is_chapter(file, it);
    let tops = || file.definitions().iter().filter(is_top);
    let it = tops().filter(|it| is_last(file, it, file.len())).last()?;
    let from = cut(file, it);
    let has_twin = tops().any(|other| other.start != it.start && other.name == it.name);
    (!has_twin && lines(file, from) >= REST).then_some(())?;
    let rest = file.spliced(from..file.len(), &[""; 0]);
    let before = File::new(file.path, "HEAD", &rest);
    let mut sketch = Sketch::drawn(&before, random);
    sketch.hidden(0..from);
    sketch.shown(&file.lines[it.lead..it.end]);
    let shape = if it.kind == Kind::Section { "cut, section" } else { "cut" };
    Some(before.case(Group::Shape, shape, file.text.to_owned(), sketch.text()?))
}

/// The last method of the last class, with the head of the class.
pub(super) fn method(file: &File<'_>, random: &mut Random) -> Option<Case> {
    let is_method = |it: &&Definition| {
        let Some(class) = units::class(file, it).filter(|_| it.kind == Kind::Function) else { return false };
        let inner_end = class.end - usize::from(units::has_end(file, class));
        is_last(file, it, inner_end) && class.end >= it.end && file.lines[class.end..].iter().all(is_blank)
    };
    let it = file.definitions().iter().rfind(is_method)?;
    let class = units::class(file, it)?;
    let from = cut(file, it);
    let is_alone = (class.body..from).filter(|it| !is_blank(file.lines[*it])).count() < REST;
    let is_clear = units::is_only_method(file, class, it)
        && units::has_own_name(file, class)
        && class.body <= from
        && class.parent.is_none();
    (is_clear && !is_alone).then_some(())?;
    let rest = file.spliced(from..it.end, &[""; 0]);
    let before = File::new(file.path, "HEAD", &rest);
    let mut sketch = Sketch::drawn(&before, random);
    sketch.hidden(0..class.start);
    sketch.shown(&file.lines[class.start..class.body]);
    sketch.hidden(class.body..from);
    sketch.shown(&file.lines[it.lead..it.end]);
    if units::has_end(file, class) && random.one_in(2) {
        sketch.shown(&file.lines[class.end - 1..class.end]);
    }
    Some(before.case(Group::Shape, "cut, method", file.text.to_owned(), sketch.text()?))
}
