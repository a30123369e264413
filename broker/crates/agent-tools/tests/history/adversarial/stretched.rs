//! Sketches whose last line, an added or a changed one, also stands a little further down in the file. The near place is
//! right, or a refusal; the far one deletes all that stands between.

use crate::{
    file::{Case, File, Group, indent, is_blank},
    random::Random,
    sketch::Sketch,
};

/// Lines further down in which the line is looked for.
const NEAR: usize = 14;

/// The lines of the sketch, and those of the file after it.
type Made<'a> = (Vec<&'a str>, Vec<&'a str>);

pub(crate) fn added(file: &File<'_>, random: &mut Random) -> Option<Case> {
    case(file, "added, stands below", added_at, random)
}

pub(crate) fn changed(file: &File<'_>, random: &mut Random) -> Option<Case> {
    case(file, "changed, stands below", changed_at, random)
}

fn case<'a>(
    file: &File<'a>,
    shape: &'static str,
    make: fn(&[&'a str], usize, usize) -> Option<Made<'a>>,
    random: &mut Random,
) -> Option<Case> {
    let lines = &file.lines;
    let all: Vec<_> = (2..lines.len())
        .flat_map(|it| (it + 2..lines.len().min(it + NEAR)).map(move |far| (it, far)))
        .filter_map(|(it, far)| make(lines, it, far))
        .collect();
    let (shown, after) = random.pick(&all)?;
    let mut sketch = Sketch::drawn(file, random);
    sketch.marker("");
    sketch.shown(shown);
    sketch.marker("");
    let case = file.case(Group::Adversarial, shape, file.spliced(0..file.len(), after), sketch.text()?);
    Some(Case { is_loose: true, ..case })
}

/// A line of further down, added between two lines of which the second also follows it there.
fn added_at<'a>(lines: &[&'a str], at: usize, far: usize) -> Option<Made<'a>> {
    let is_said = |it: usize| lines.get(it).is_some_and(|it| !is_blank(it));
    let is_case = is_said(at - 1)
        && is_said(at)
        && is_said(at + 1)
        && lines.get(far + 1) == Some(&lines[at + 1])
        && lines[at] != lines[far]
        && indent(lines[at]) == indent(lines[far])
        && lines[far].trim().len() > 5;
    is_case.then(|| {
        let after = [&lines[..=at], &[lines[far]], &lines[at + 1..]].concat();
        (vec![lines[at - 1], lines[at], lines[far], lines[at + 1]], after)
    })
}

/// A line with the value that its key has further down, behind the two lines above it.
fn changed_at<'a>(lines: &[&'a str], at: usize, far: usize) -> Option<Made<'a>> {
    let (old, new) = (lines[at].trim(), lines[far].trim());
    let is_case = !old.is_empty()
        && !is_blank(lines[at - 1])
        && key(old).is_some_and(|it| it.len() > 1 && key(new) == Some(it))
        && indent(lines[at]) == indent(lines[far])
        && old.trim_end_matches(',') != new.trim_end_matches(',');
    is_case.then(|| {
        let from = if is_blank(lines[at - 2]) { at - 1 } else { at - 2 };
        let after = [&lines[..at], &[lines[far]], &lines[at + 1..]].concat();
        ([&lines[from..at], &[lines[far]]].concat(), after)
    })
}

fn key(line: &str) -> Option<&str> {
    line.split_once([':', '=']).map(|it| it.0)
}
