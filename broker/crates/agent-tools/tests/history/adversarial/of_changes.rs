//! Changed functions whose names do not say which one they are.

use std::collections::BTreeMap;

use crate::{
    change::Change,
    definitions::{Definition, Kind},
    file::{Case, File, Group},
    random::Random,
    shapes::units::{self, Changed, between_markers, changed, in_class, is_outer},
};

/// Languages with several functions of one name.
const OVERLOADED: [&str; 7] = ["java", "kotlin", "csharp", "cpp", "typescript", "tsx", "swift"];

/// A method of a name that another class has, too, without its class.
pub(crate) fn method_of_two_classes(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let all = changed(change, random, |file, it| {
        let is_twin = |other: &Definition| {
            other.name == it.name && other.parent != it.parent && units::class(file, other).is_some()
        };
        is_outer(file, it) && units::class(file, it).is_some() && file.definitions().iter().any(is_twin)
    });
    between_markers(change, random.pick(&all)?, "method of two classes", Group::Adversarial, random)
}

/// A function within another one, without that.
pub(crate) fn nested(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let all = changed(change, random, |file, it| !is_outer(file, it));
    between_markers(change, random.pick(&all)?, "nested function", Group::Adversarial, random)
}

/// A function among several of one name, the only one that changed, with its class or without it.
pub(crate) fn overload(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    OVERLOADED.contains(&change.before.language.name).then_some(())?;
    let (old, new) = (by_name(&change.before), by_name(&change.after));
    let all: Vec<_> = old
        .iter()
        .filter_map(|(name, old)| {
            let new = new.get(name).filter(|it| it.len() == old.len() && it.len() > 1)?;
            let text = |file: &File<'_>, it: &Definition| file.lines[it.start..it.end].join("\n");
            let mut pairs =
                old.iter().zip(new).filter(|it| text(&change.before, it.0) != text(&change.after, it.1));
            let (Some((old, new)), None) = (pairs.next(), pairs.next()) else { return None };
            (old.is_apart && new.is_apart).then_some(Changed {
                old,
                new,
                lines: old.start..old.end,
                shown: new.start..new.end,
            })
        })
        .collect();
    let it = random.pick(&all)?;
    match random.one_in(2) {
        true => in_class(change, it, "overload", Group::Adversarial, random),
        false => between_markers(change, it, "overload", Group::Adversarial, random),
    }
}

/// The functions of a file by what they stand in and their names.
fn by_name<'f>(file: &'f File<'_>) -> BTreeMap<(Option<&'f str>, &'f str), Vec<&'f Definition>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for it in file.definitions().iter().filter(|it| it.kind == Kind::Function) {
        let parent = it.parent.map(|it| file.definitions()[it].name.as_str());
        found.entry((parent, it.name.as_str())).or_default().push(it);
    }
    found
}
