//! Three lines of context in other words, and with the slips of models.

use similar::DiffOp;

use crate::{
    change::{Change, Span},
    file::{Case, Group, indent, is_blank},
    random::Random,
    sketch::{Sketch, WORDINGS},
};

fn usual<'f, 'a>(change: &'f Change<'a>) -> Sketch<'f, 'a> {
    Sketch::worded(&change.before, WORDINGS[0])
}

fn form(change: &Change<'_>, shape: &'static str, edit: String) -> Option<Case> {
    Some(change.case(Group::Form, shape, edit))
}

/// The text with three lines of context, each piece as `shape` makes it.
fn plain(change: &Change<'_>, shape: impl FnMut(Vec<String>) -> Vec<String>) -> Option<String> {
    change.sketch(usual(change), &change.spans(3, 3), shape)
}

pub(super) fn other_words(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let sketch = Sketch::worded(&change.before, WORDINGS[random.below(WORDINGS.len())]);
    form(change, "other words", change.sketch(sketch, &change.spans(3, 3), |it| it)?)
}

pub(super) fn two_lines(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    form(change, "two lines of context", change.sketch(usual(change), &change.spans(2, 2), |it| it)?)
}

pub(super) fn without_markers_at_the_ends(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let text = plain(change, |it| it)?;
    let is_marker = |it: &&&str| it.contains(WORDINGS[0]);
    let lines: Vec<_> = text.lines().collect();
    let first = usize::from(lines.first().filter(is_marker).is_some());
    let last = lines.len() - usize::from(lines.last().filter(is_marker).is_some());
    form(change, "no marker at the ends", lines[first..last].join("\n"))
}

pub(super) fn further_left(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let moved = |lines: Vec<String>| {
        let least =
            lines.iter().filter(|it| !is_blank(it)).map(|it| indent(it).len()).min().unwrap_or_default();
        lines.iter().map(|it| it.get(least..).unwrap_or_default().to_owned()).collect()
    };
    form(change, "indented further to the left", plain(change, moved)?)
}

pub(super) fn first_line_at_the_margin(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let moved = |mut lines: Vec<String>| {
        lines.iter_mut().take(1).for_each(|it| *it = it.trim_start().to_owned());
        lines
    };
    form(change, "first line at the margin", plain(change, moved)?)
}

/// Tabs at the start of lines as four spaces.
pub(super) fn with_spaces(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let spaced = |it: &String| {
        let rest = it.trim_start_matches('\t');
        "    ".repeat(it.len() - rest.len()) + rest
    };
    // The unit of a level cannot be known where the file has none, or both.
    let has = |sign: &str| change.before.lines.iter().any(|it| it.starts_with(sign));
    (has("\t") && !has("    ")).then_some(())?;
    form(change, "spaces for tabs", plain(change, |it| it.iter().map(spaced).collect())?)
}

pub(super) fn trimmed(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let mut added = change.ops.iter().flat_map(|it| &change.after.lines[it.new_range()]);
    // Whitespace that is cut from new lines cannot be known.
    added.all(|it| it.trim_end() == *it).then_some(())?;
    let trim = |it: Vec<String>| it.iter().map(|it| it.trim_end().to_owned()).collect();
    form(change, "no whitespace at the ends of lines", plain(change, trim)?)
}

/// Whether the change removes lines, which an edit without context does not show.
fn has_removal(change: &Change<'_>) -> bool {
    change.ops.iter().any(|it| !matches!(it, DiffOp::Insert { .. }))
}

/// Whether new lines are the same as those next to them, for which they are taken without context.
fn has_repetition(change: &Change<'_>) -> bool {
    let before = &change.before.lines;
    change.ops.iter().any(|it| {
        let (new, old) = (&change.after.lines[it.new_range()], it.old_range());
        !new.is_empty() && (before[old.end..].starts_with(new) || before[..old.start].ends_with(new))
    })
}

pub(super) fn without_context_above(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    (!has_removal(change)).then_some(())?;
    form(change, "no context above", change.sketch(usual(change), &change.spans(0, 3), |it| it)?)
}

pub(super) fn without_context_below(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    (!has_removal(change) && !has_repetition(change)).then_some(())?;
    form(change, "no context below", change.sketch(usual(change), &change.spans(3, 0), |it| it)?)
}

pub(super) fn fenced(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let (text, language) = (plain(change, |it| it)?, change.before.language.name);
    form(change, "in a fence", format!("```{language}\n{text}```"))
}

/// The hunks of another file go on behind those of this one. Nothing is right but a refusal.
pub(super) fn foreign(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let text = plain(change, |it| it)?;
    // No definition: that would be added.
    let other =
        "total_of_another_file += call_that_is_nowhere(17);\nforget_it_again(total_of_another_file);\n";
    let mut sketch = usual(change);
    sketch.marker("");
    let marker = sketch.text()?;
    let case =
        change.case(Group::Form, "hunks of another file", format!("{text}{marker}\n{other}\n{marker}"));
    Some(Case { after: None, ..case })
}

pub(super) fn whole(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    (change.after.len() <= 200).then_some(())?;
    form(change, "whole file", change.after.text.to_owned())
}

pub(super) fn lines_without_markers(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let spans: Vec<Span> = change.spans(3, 3);
    let [span] = &spans[..] else { return None };
    form(change, "lines without markers", change.shown(span).join("\n"))
}

/// The last item of a list with a comma that the file has not, and a new one.
pub(super) fn with_comma(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let file = &change.before;
    let has_lists = ["javascript", "typescript", "tsx", "rust", "go", "php"].contains(&file.language.name);
    let line = (0..file.len()).filter(|_| has_lists).find(|it| is_last_item(&file.lines, *it))?;
    let item = file.lines[line];
    let new = [format!("{item},"), format!("{}a_new_item_of_the_list: 1,", indent(item))];
    let mut sketch = usual(change);
    sketch.marker("");
    sketch.shown(&file.lines[line.saturating_sub(2)..line]);
    sketch.shown(&new);
    sketch.shown(&file.lines[line + 1..(line + 3).min(file.len())]);
    sketch.marker("");
    Some(file.case(Group::Form, "a comma more", file.spliced(line..line + 1, &new), sketch.text()?))
}

fn is_last_item(lines: &[&str], at: usize) -> bool {
    let (it, next) = (lines[at].trim(), lines.get(at + 1).map_or("", |it| it.trim()));
    let is_item = it.len() > 8 && it.contains(':') && it.ends_with(|it: char| it.is_alphanumeric());
    is_item && next.starts_with('}')
}

/// The head of a definition with another name or parameter, alone between two markers or with lines below it.
pub(super) fn renamed_head(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let file = &change.before;
    let starts = ["def ", "fn ", "pub fn ", "func ", "function ", "public "];
    let is_head = |it: &usize| {
        let line = file.lines[*it].trim();
        starts.iter().any(|start| line.starts_with(start)) && line.contains(')') && line.contains('(')
    };
    let heads: Vec<_> = (0..file.len()).filter(is_head).collect();
    let at = *random.pick(&heads)?;
    let (shape, new) = match random.one_in(2) {
        true => ("head of another name", "_renamed("),
        false => ("head with another parameter", "(a_new_parameter, "),
    };
    let head = [file.lines[at].replacen('(', new, 1)];
    let mut sketch = usual(change);
    sketch.marker("");
    sketch.shown(&head);
    sketch.shown(&file.lines[at + 1..(at + 1 + random.below(3)).min(file.len())]);
    sketch.marker("    ");
    Some(file.case(Group::Form, shape, file.spliced(at..at + 1, &head), sketch.text()?))
}
