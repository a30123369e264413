//! The patches of codex: `*** Begin Patch`, a section for each file, `*** End Patch`.
//!
//! As in codex, a text whose last line is replaced ends with a line ending, and lines that are only added go to the end of
//! the file. Otherwise than there, lines that are found at several places are not taken to be the first of them.

use overlay::WorkspacePath;

use super::{
    block::{Block, Closeness, Sign, in_order},
    outcome::{Changed, Reason, Refused},
    text::{Replacement, Text, indentation, is_blank, lines_of},
    unified::is_of,
};

/// What is done to one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Section<'a> {
    Add { path: &'a str, lines: Vec<&'a str> },
    Delete { path: &'a str },
    Update { path: &'a str, to: Option<&'a str>, chunks: Vec<Chunk<'a>> },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    /// Lines that stand above it, outermost first.
    heads: Vec<&'a str>,
    block: Block<'a>,
    is_last: bool,
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

pub(super) fn is_patch(edit: &str) -> bool {
    let mut lines = edit.lines().map(str::trim).filter(|it| !it.is_empty() && !is_heredoc(it));
    lines.next() == Some(BEGIN)
}

/// The first line of a call from a shell.
fn is_heredoc(line: &str) -> bool {
    let line = line.strip_prefix("apply_patch").unwrap_or(line).trim_start();
    line.starts_with("<<")
}

/// The sections, of which there is at least one.
pub(super) fn read(edit: &str) -> Result<Vec<Section<'_>>, Refused> {
    let lines = lines_of(edit);
    let malformed =
        |line: usize, message: String| -> Refused { Reason::Malformed { line: line + 1, message }.into() };
    let begin = lines.iter().position(|it| it.trim() == BEGIN).unwrap_or_default();
    let end = lines.iter().rposition(|it| it.trim() == END);
    let end = end.ok_or_else(|| malformed(lines.len().saturating_sub(1), format!("`{END}` is missing")))?;
    let (mut sections, mut at) = (Vec::new(), begin + 1);
    while at < end {
        let head = lines[at].trim();
        at += 1;
        if let Some(path) = head.strip_prefix("*** Add File: ") {
            let added = lines[at..end].iter().map_while(|it| it.strip_prefix('+')).collect::<Vec<_>>();
            at += added.len();
            sections.push(Section::Add { path, lines: added });
        } else if let Some(path) = head.strip_prefix("*** Delete File: ") {
            sections.push(Section::Delete { path });
        } else if let Some(path) = head.strip_prefix("*** Update File: ") {
            sections.push(update(path, &lines[..end], &mut at)?);
        } else if !head.is_empty() {
            return Err(malformed(at - 1, format!("`{head}` does not say what is done to which file")));
        }
    }
    if sections.is_empty() { Err(Reason::Empty.into()) } else { Ok(sections) }
}

fn update<'a>(path: &'a str, lines: &[&'a str], at: &mut usize) -> Result<Section<'a>, Refused> {
    let to = lines.get(*at).and_then(|it| it.trim().strip_prefix("*** Move to: "));
    *at += usize::from(to.is_some());
    let mut chunks: Vec<Chunk<'a>> = Vec::new();
    while let Some(line) = lines.get(*at) {
        if is_blank(line) {
            *at += 1;
        } else if line.trim_start().starts_with("*** ") {
            break;
        } else {
            chunks.push(chunk(chunks.len() + 1, lines, at)?);
        }
    }
    if chunks.is_empty() && to.is_none() {
        let message = format!("nothing is done to `{path}`");
        return Err(Reason::Malformed { line: *at, message }.into());
    }
    Ok(Section::Update { path, to, chunks })
}

fn chunk<'a>(part: usize, lines: &[&'a str], at: &mut usize) -> Result<Chunk<'a>, Refused> {
    let mut heads = Vec::new();
    while let Some(head) = lines.get(*at).and_then(|it| it.strip_prefix("@@")) {
        heads.extend(Some(head.trim().trim_end_matches("@@").trim_end()).filter(|it| !it.is_empty()));
        *at += 1;
    }
    let (mut block, mut is_last) = (Block { part, lines: Vec::new() }, false);
    while let Some(line) = lines.get(*at) {
        let signed = match line.chars().next() {
            Some('+') => (Sign::New, &line[1..]),
            Some('-') => (Sign::Old, &line[1..]),
            Some(' ') if !line.trim_start().starts_with("*** ") => (Sign::Keep, &line[1..]),
            None => (Sign::Keep, ""),
            _ => break,
        };
        block.lines.push(signed);
        *at += 1;
    }
    if lines.get(*at).is_some_and(|it| it.trim() == END_OF_FILE) {
        is_last = true;
        *at += 1;
    }
    // Empty lines at its end separate it from the next one.
    while block.lines.last() == Some(&(Sign::Keep, "")) {
        block.lines.pop();
    }
    let next = lines.get(*at).map_or("", |it| it.trim());
    if block.lines.is_empty() || !(next.is_empty() || next.starts_with("*** ") || next.starts_with("@@")) {
        let message = "a line of a chunk begins with a space, `+` or `-`".to_owned();
        return Err(Reason::Malformed { line: *at + 1, message }.into());
    }
    Ok(Chunk { heads, block, is_last })
}

/// A patch of this one file.
pub(super) fn apply_to(path: &WorkspacePath, file: &Text<'_>, edit: &str) -> Result<Changed, Refused> {
    let edit = super::form::unfenced(path, edit);
    let sections = read(&edit)?;
    let [section] = &sections[..] else { return Err(Reason::SeveralFiles.into()) };
    match section {
        Section::Update { path: named, .. }
        | Section::Add { path: named, .. }
        | Section::Delete { path: named }
            if !is_of(named, path) =>
        {
            Err(Reason::OtherFile { named: (*named).to_owned() }.into())
        }
        Section::Update { to: None, chunks, .. } => change(file, chunks),
        Section::Add { lines, .. } if file.is_empty() => Ok(added(lines).into()),
        _ => Err(Reason::SeveralFiles.into()),
    }
}

/// The text of a new file.
pub(super) fn added(lines: &[&str]) -> String {
    lines.iter().flat_map(|it| [it, "\n"]).collect()
}

/// A text with the chunks applied.
pub(super) fn change(file: &Text<'_>, chunks: &[Chunk<'_>]) -> Result<Changed, Refused> {
    let before = file.replaced(&[], None);
    let (mut places, mut notes) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let (closeness, found) = found(file, &before, chunk)?;
        if closeness != Closeness::Exact {
            notes.push(format!("part {} was found but for whitespace", chunk.block.part));
        }
        let length = chunk.block.old().len();
        places.push(found.into_iter().map(|it| (it, it + length)).collect::<Vec<_>>());
    }
    let several = |it: usize| match &places[it][..] {
        [_] => chunks[it].block.not_found(),
        places => {
            chunks[it].block.found_often(file, &before, &places.iter().map(|it| it.0).collect::<Vec<_>>())
        }
    };
    let chosen = in_order(&places).map_err(several)?;
    let replacements = chunks.iter().zip(chosen).map(|(it, place)| it.block.at(place, file.lines()));
    let replacements: Option<Vec<Replacement>> = replacements.collect();
    let replacements = replacements.ok_or_else(|| chunks[0].block.not_found())?;
    let is_end_replaced = replacements.last().is_some_and(|it| it.range.end == file.lines().len());
    Ok(Changed { text: file.replaced(&replacements, is_end_replaced.then_some(true)), notes })
}

fn found(file: &Text<'_>, before: &str, chunk: &Chunk<'_>) -> Result<(Closeness, Vec<usize>), Refused> {
    let below = below_heads(file.lines(), &chunk.heads).ok_or_else(|| -> Refused {
        let text = chunk.heads.join(" / ");
        Reason::NotFound { part: chunk.block.part, text }.into()
    })?;
    if chunk.block.old().is_empty() {
        return added_only(file, before, chunk, &below).map(|it| (Closeness::Exact, it));
    }
    let (closeness, places) = chunk.block.places(file.lines());
    let length = chunk.block.old().len();
    let ends = |it: &usize| file.lines()[it + length..].iter().all(|it| is_blank(it));
    let at_end: Vec<_> = places.iter().copied().filter(|it| chunk.is_last && ends(it)).collect();
    let places = if at_end.is_empty() { places } else { at_end };
    let places = if chunk.heads.is_empty() { places } else { nearest(file.lines(), &below, &places) };
    if places.is_empty() { Err(chunk.block.not_found()) } else { Ok((closeness, places)) }
}

/// The lines that the heads lead to: each head below the one before. `None` if one is missing.
fn below_heads(lines: &[&str], heads: &[&str]) -> Option<Vec<usize>> {
    let mut found: Vec<usize> = Vec::new();
    for (depth, head) in heads.iter().enumerate() {
        let is_head = |it: &usize| lines[*it].trim() == head.trim();
        let exact: Vec<_> = (0..lines.len()).filter(is_head).collect();
        let begins = |it: &usize| lines[*it].trim().starts_with(head.trim());
        let all = if exact.is_empty() { (0..lines.len()).filter(begins).collect() } else { exact };
        let is_below = |it: &usize| depth == 0 || found.iter().any(|above| above < it);
        found = all.into_iter().filter(is_below).collect();
        if found.is_empty() {
            return None;
        }
    }
    Some(found)
}

/// Below each head the first place, and the others that belong to the same head.
fn nearest(lines: &[&str], heads: &[usize], places: &[usize]) -> Vec<usize> {
    let mut near = Vec::new();
    for head in heads {
        let mut below = places.iter().copied().filter(|it| it >= head);
        near.extend(below.next());
        let deeper = |it: &&str| is_blank(it) || indentation(it).len() > indentation(lines[*head]).len();
        near.extend(below.take_while(|it| lines[head + 1..*it].iter().all(&deeper)));
    }
    near.sort_unstable();
    near.dedup();
    near
}

/// Lines without any context go to the end of the file; with a head above them they may as well go below it.
fn added_only(
    file: &Text<'_>,
    before: &str,
    chunk: &Chunk<'_>,
    heads: &[usize],
) -> Result<Vec<usize>, Refused> {
    let end = file.lines().len();
    if heads.is_empty() {
        return Ok(vec![end]);
    }
    let lines: Vec<_> = chunk.block.lines.iter().map(|it| it.1.to_owned()).collect();
    let at = |it: usize| file.replaced(&[Replacement { range: it..it, lines: lines.clone() }], None);
    let below = heads.iter().map(|it| (format!("the lines are added below line {}", it + 1), at(it + 1)));
    let readings =
        below.chain([("the lines are added to the end of the file".to_owned(), at(end))]).collect();
    let reason = Reason::SeveralPlaces { first: chunk.block.part, last: chunk.block.part };
    Err(Refused::with_readings(reason, before, readings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(before: &str, body: &str) -> Result<String, Reason> {
        let edit = format!("{BEGIN}\n*** Update File: a.py\n{body}{END}\n");
        let path = WorkspacePath::new("a.py").unwrap();
        apply_to(&path, &Text::new(before), &edit).map(|it| it.text).map_err(|it| it.reason)
    }

    #[test]
    fn a_head_decides_between_places() {
        let before = "class A:\n    x = 1\nclass B:\n    x = 1\n";
        assert_eq!(
            applied(before, "@@ class B:\n-    x = 1\n+    x = 2\n").unwrap(),
            "class A:\n    x = 1\nclass B:\n    x = 2\n"
        );
        assert!(matches!(applied(before, "@@\n-    x = 1\n+    x = 2\n"), Err(Reason::FoundOften { .. })));
        assert!(matches!(
            applied(before, "@@ class C:\n-    x = 1\n+    x = 2\n"),
            Err(Reason::NotFound { .. })
        ));
    }

    #[test]
    fn two_places_below_one_head_are_refused() {
        let before = "def f():\n    a\n    a\ndef g():\n    a\n";
        assert!(matches!(
            applied(before, "@@ def f():\n-    a\n+    b\n"),
            Err(Reason::FoundOften { count: 2, .. })
        ));
        assert!(applied(before, "@@ def g():\n-    a\n+    b\n").is_ok());
    }

    #[test]
    fn added_lines_go_to_the_end() {
        assert_eq!(applied("a\n", "@@\n+b\n").unwrap(), "a\nb\n");
        assert!(matches!(applied("a\nb\n", "@@ a\n+c\n"), Err(Reason::SeveralPlaces { .. })));
    }
}
