//! The shapes of sketches, each with what makes one of a change or of a file.

mod cut;
mod insertions;
mod patches;
mod slips;
pub(crate) mod units;

use crate::{
    adversarial,
    change::Change,
    file::{Case, File, Group},
    random::Random,
    sketch::Sketch,
};

/// Shape of cases, with the function that draws one. A drawn case has one of the names; none if the change or file allows none.
pub(crate) struct Shape<Make> {
    pub(crate) names: &'static [&'static str],
    pub(crate) make: Make,
}

type OfChange = for<'a> fn(&Change<'a>, &mut Random) -> Option<Case>;
type OfFile = for<'a> fn(&File<'a>, &mut Random) -> Option<Case>;

const fn of_change(names: &'static [&'static str], make: OfChange) -> Shape<OfChange> {
    Shape { names, make }
}

const fn of_file(names: &'static [&'static str], make: OfFile) -> Shape<OfFile> {
    Shape { names, make }
}

pub(crate) const OF_CHANGES: &[Shape<OfChange>] = &[
    of_change(&["three lines", "three lines, ambiguous"], three_lines),
    of_change(&["lines1", "lines1, ambiguous"], one_line),
    of_change(&["func", "func, other head"], units::function),
    of_change(&["class"], units::of_class),
    of_change(&["part", "part, other head"], units::part),
    of_change(&insertions::NAMES, insertions::insert),
    of_change(&["append"], insertions::append),
    of_change(&["other words"], slips::other_words),
    of_change(&["two lines of context"], slips::two_lines),
    of_change(&["no marker at the ends"], slips::without_markers_at_the_ends),
    of_change(&["indented further to the left"], slips::further_left),
    of_change(&["first line at the margin"], slips::first_line_at_the_margin),
    of_change(&["spaces for tabs"], slips::with_spaces),
    of_change(&["no whitespace at the ends of lines"], slips::trimmed),
    of_change(&["no context above"], slips::without_context_above),
    of_change(&["no context below"], slips::without_context_below),
    of_change(&["in a fence"], slips::fenced),
    of_change(&["hunks of another file"], slips::foreign),
    of_change(&["whole file"], slips::whole),
    of_change(&["lines without markers"], slips::lines_without_markers),
    of_change(&["a comma more"], slips::with_comma),
    of_change(&["head of another name", "head with another parameter"], slips::renamed_head),
    of_change(&["unified diff, wrong numbers", "unified diff without numbers"], patches::unified),
    of_change(&["codex patch"], patches::codex),
    of_change(&["SEARCH/REPLACE blocks"], patches::blocks),
    of_change(&["method of two classes"], adversarial::of_changes::method_of_two_classes),
    of_change(&["overload"], adversarial::of_changes::overload),
    of_change(&["nested function"], adversarial::of_changes::nested),
];

pub(crate) const OF_FILES: &[Shape<OfFile>] = &[
    of_file(&["cut", "cut, section"], cut::definition),
    of_file(&["cut, method"], cut::method),
    of_file(&["added, stands below"], adversarial::stretched::added),
    of_file(&["changed, stands below"], adversarial::stretched::changed),
    of_file(&["decorator added"], adversarial::of_files::decorator),
    of_file(&["similar definition added"], adversarial::of_files::similar),
    of_file(&["similar method added"], adversarial::of_files::similar_method),
    of_file(&["key of several sections"], adversarial::data::key),
    of_file(&["item of several chapters"], adversarial::data::item),
    of_file(&["arm of a match"], adversarial::of_files::arm),
];

fn three_lines(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let spans = change.spans(3, 3);
    let edit = change.sketch(Sketch::drawn(&change.before, random), &spans, |it| it)?;
    let shape = if change.is_found(&spans) { "three lines" } else { "three lines, ambiguous" };
    change.is_sayable().then(|| change.case(Group::Shape, shape, edit))
}

/// A blank line is no context: those up to the next line are shown, too.
fn one_line(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let spans = change.spans_to_said_lines();
    let edit = change.sketch(Sketch::drawn(&change.before, random), &spans, |it| it)?;
    let shape = if change.is_found(&spans) { "lines1" } else { "lines1, ambiguous" };
    change.is_sayable().then(|| change.case(Group::Shape, shape, edit))
}
