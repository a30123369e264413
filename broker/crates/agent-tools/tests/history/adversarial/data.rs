//! Keys and items that stand in several sections, with the section named.

use crate::{
    file::{Case, File, Group, indent, is_blank},
    random::Random,
    sketch::Sketch,
};

use super::mutated;

/// A line with the line of the section that it stands in.
struct Member {
    head: usize,
    at: usize,
}

/// A key of YAML or TOML that several sections have, with another value.
pub(crate) fn key(file: &File<'_>, random: &mut Random) -> Option<Case> {
    let head = match file.language.name {
        "yaml" => parent_of_yaml,
        "toml" => parent_of_toml,
        _ => return None,
    };
    let key = |at: usize| file.lines[at].split_once([':', '=']).filter(|it| !is_blank(it.1)).map(|it| it.0);
    let all = members(file, head, |at| key(at).filter(|it| is_key(it.trim())));
    let Member { head, at } = *random.pick(&all)?;
    let (key, value) = file.lines[at].split_at(key(at)?.len());
    let new = [format!("{key}{}", mutated(value)?)];
    case(file, "key of several sections", head, at, &new, random)
}

/// An item below another one that several chapters of a Markdown file have.
pub(crate) fn item(file: &File<'_>, random: &mut Random) -> Option<Case> {
    (file.language.name == "markdown").then_some(())?;
    let item = |at: usize| Some(file.lines[at]).filter(|it| it.starts_with("- ") || it.starts_with("* "));
    let all = members(file, chapter, item);
    let Member { head, at } = *random.pick(&all)?;
    let sign = &file.lines[at][..2];
    let new = [file.lines[at].to_owned(), format!("{sign}A new item that no other chapter has")];
    case(file, "item of several chapters", head, at, &new, random)
}

/// The heading above a line that is not in a block of code.
fn chapter(lines: &[&str], at: usize) -> Option<usize> {
    let is_fence = |it: &&&str| it.trim().starts_with("```");
    let in_code = |at: usize| lines[..at].iter().filter(is_fence).count() % 2 == 1;
    (!in_code(at)).then_some(())?;
    (0..at).rev().find(|it| lines[*it].starts_with('#')).filter(|it| !in_code(*it))
}

fn case(
    file: &File<'_>,
    shape: &'static str,
    head: usize,
    at: usize,
    new: &[String],
    random: &mut Random,
) -> Option<Case> {
    let mut sketch = Sketch::drawn(file, random);
    sketch.hidden(0..head);
    sketch.shown(&file.lines[head..=head]);
    sketch.hidden(head + 1..at);
    sketch.shown(new);
    sketch.hidden(at + 1..file.len());
    Some(file.case(Group::Adversarial, shape, file.spliced(at..at + 1, new), sketch.text()?))
}

/// Lines whose `name` stands in two sections, once in its own, and whose section has a head that stands once.
fn members<'a>(
    file: &File<'a>,
    head: fn(&[&str], usize) -> Option<usize>,
    name: impl Fn(usize) -> Option<&'a str>,
) -> Vec<Member> {
    let all: Vec<_> =
        (0..file.len()).filter_map(|at| Some((head(&file.lines, at)?, at, name(at)?))).collect();
    let is_case = |(head, at, name): &(usize, usize, &str)| {
        let same = |it: &&(usize, usize, &str)| it.2 == *name && it.1 != *at;
        all.iter().any(|it| same(&it) && it.0 != *head)
            && !all.iter().any(|it| same(&it) && it.0 == *head)
            && file.count(file.lines[*head]) == 1
    };
    all.iter().filter(|it| is_case(it)).map(|it| Member { head: it.0, at: it.1 }).collect()
}

fn is_key(it: &str) -> bool {
    !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || "_-.".contains(it))
}

/// The next line above that is less indented, if it is a key of its own.
fn parent_of_yaml(lines: &[&str], at: usize) -> Option<usize> {
    let is_less = |it: &usize| !is_blank(lines[*it]) && indent(lines[*it]).len() < indent(lines[at]).len();
    let head = (0..at).rev().find(is_less)?;
    lines[head].trim().strip_suffix(':').is_some_and(is_key).then_some(head)
}

fn parent_of_toml(lines: &[&str], at: usize) -> Option<usize> {
    (!lines[at].starts_with([' ', '\t', '['])).then_some(())?;
    (0..at).rev().find(|it| lines[*it].starts_with('['))
}
