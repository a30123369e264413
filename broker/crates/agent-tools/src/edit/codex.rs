//! The patches of codex: `*** Begin Patch`, a section for each file, `*** End Patch`.
//!
//! Like in codex, a text whose last line is replaced ends with a line ending, and lines that are only added go to the end
//! of the file. Unlike there, lines that are found at several places are not taken to be the first of them.

use overlay::WorkspacePath;

pub use self::patch::CodexPatch;
pub(super) use self::section::Section;
use self::{section::Chunk, target::Target};
use super::{
    block::{Block, MAX_PLACES, Sign, in_order},
    outcome::{Changed, Reason, Refused},
    text::{Text, is_blank, lines_of},
    wrapping::{Found, Outside},
};

mod patch;
mod section;
mod target;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";

/// A patch in an edit, and what is around it.
pub(super) fn find<'a>(lines: &[&'a str]) -> Option<Found<'a>> {
    let (begin, end) = frame(lines)?;
    let end = end.unwrap_or(lines.len());
    let outside = lines.iter().enumerate().filter(|(at, it)| (*at < begin || *at > end) && !is_blank(it));
    let outside = outside.map(|(at, text)| Outside { line: at + 1, text, parts: usize::from(at > end) });
    let named = sections(lines, begin, end).unwrap_or_default().iter().map(Section::named).collect();
    Some(Found { first: begin, named, outside: outside.collect() })
}

/// The first line of a patch, which models leave out, and the last one.
fn frame(lines: &[&str]) -> Option<(usize, Option<usize>)> {
    let is_head = |it: &&str| [ADD, DELETE, UPDATE].iter().any(|head| it.starts_with(head));
    let begin = lines.iter().position(|it| it.trim() == BEGIN || is_head(it))?;
    Some((begin, lines.iter().rposition(|it| it.trim() == END).filter(|it| *it > begin)))
}

/// The sections, of which there is at least one.
pub(super) fn read(edit: &str) -> Result<Vec<Section<'_>>, Refused> {
    let lines = lines_of(edit);
    let Some((begin, end)) = frame(&lines) else { return Err(Reason::Empty.into()) };
    let end = end.ok_or_else(|| malformed(lines.len().saturating_sub(1), format!("`{END}` is missing")))?;
    let sections = sections(&lines, begin, end)?;
    if sections.is_empty() { Err(Reason::Empty.into()) } else { Ok(sections) }
}

fn sections<'a>(lines: &[&'a str], begin: usize, end: usize) -> Result<Vec<Section<'a>>, Refused> {
    let (mut sections, mut at) = (Vec::new(), begin);
    while at < end {
        let head = lines[at].trim();
        at += 1;
        if let Some(path) = head.strip_prefix(ADD) {
            let added = lines[at..end].iter().map_while(|it| it.strip_prefix('+')).collect::<Vec<_>>();
            at += added.len();
            sections.push(Section::Add { path, lines: added });
        } else if let Some(path) = head.strip_prefix(DELETE) {
            sections.push(Section::Delete { path });
        } else if let Some(path) = head.strip_prefix(UPDATE) {
            let is_only = sections.is_empty() && !lines[at..end].iter().any(|it| it.starts_with("*** "));
            let section = update(path, &lines[..end], &mut at);
            sections.push(section.map_err(|it| if is_only { it } else { it.in_file(path) })?);
        } else if !head.is_empty() && head != BEGIN && head != END {
            return Err(malformed(at - 1, format!("`{head}` does not say what is done to which file")));
        }
    }
    Ok(sections)
}

fn malformed(line: usize, message: String) -> Refused {
    Reason::Malformed { line: line + 1, message }.into()
}

fn update<'a>(path: &'a str, lines: &[&'a str], at: &mut usize) -> Result<Section<'a>, Refused> {
    let to = lines.get(*at).and_then(|it| it.trim().strip_prefix(MOVE));
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
    let sections = read(edit)?;
    let [section] = &sections[..] else { return Err(Reason::SeveralFiles.into()) };
    let named = section.named();
    match section {
        _ if !named.is_of(path) => Err(Reason::OtherFile { named: named.shown().to_owned() }.into()),
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
    let target = Target::new(file);
    let (mut placed, mut places, mut notes, mut added) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut count = 0;
    for chunk in chunks {
        if chunk.block.old().is_empty() {
            added.push(target.added(chunk)?);
            if chunks.len() > 1 {
                notes.push(format!("part {} is added to the end of the file", chunk.block.part));
            }
            continue;
        }
        let (block, closeness, found) = target.fitting(chunk)?;
        count += found.len();
        if count > MAX_PLACES {
            return Err(target.found_often(&block, &found));
        }
        notes.extend(closeness.but_for().map(|it| format!("part {} was found but for {it}", block.part)));
        let length = block.old().len();
        placed.push(block);
        places.push(found.into_iter().map(|it| (it, it + length)).collect::<Vec<_>>());
    }
    let chosen = in_order(&places).map_err(|it| target.several(&placed[it], &places[it]))?;
    let mut replacements = Vec::new();
    for (block, place) in placed.iter().zip(chosen) {
        replacements.push(block.at(place, file.lines()).unwrap_or_else(|| block.at_any(place, file.lines())));
    }
    replacements.extend(added);
    let is_end_replaced = replacements.last().is_some_and(|it| it.range.end == file.lines().len());
    Ok(Changed { text: file.replaced(&replacements, is_end_replaced.then_some(true)), notes })
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
    fn a_head_that_contradicts_the_places_is_refused() {
        let class = |name, body| format!("class {name}:\n    {body}\n");
        let before = class("A", "y = 1") + &class("B", "x = 1") + &class("C", "x = 1");
        let edit = |heads| format!("{heads}-    x = 1\n+    x = 2\n");
        for heads in ["@@ class A:\n", "@@ class A:\n@@ class B:\n@@ x = 1\n"] {
            assert!(applied(&before, &edit(heads)).is_err(), "{heads}");
        }
        assert_eq!(
            applied(&before, &edit("@@ class C:\n")).unwrap(),
            class("A", "y = 1") + &class("B", "x = 1") + &class("C", "x = 2")
        );
        let before = class("A", "y = 1") + &class("B", "x = 1");
        assert!(applied(&before, &edit("@@ class A:\n")).is_ok(), "there is one place only");
    }

    #[test]
    fn heads_are_within_each_other() {
        let class = |name, body| format!("class {name}:\n    def {body}\n");
        let before = class("A", "f():\n        a") + &class("B", "g():\n        b\n        a");
        let edit = "@@ class A:\n@@ def g():\n-        a\n+        c\n";
        assert!(matches!(applied(&before, edit), Err(Reason::NotFound { .. })));
        let edit = edit.replace("class A", "class B");
        assert_eq!(applied(&before, &edit).unwrap(), before.replace("b\n        a", "b\n        c"));
    }

    #[test]
    fn added_lines_go_to_the_end() {
        assert_eq!(applied("a\n", "@@\n+b\n").unwrap(), "a\nb\n");
        // Codex appends such lines, whatever else the patch has.
        assert_eq!(applied("a\nb\n", "@@\n+x\n+y\n@@\n a\n-b\n+c\n").unwrap(), "a\nc\nx\ny\n");
        assert_eq!(applied("a\nb\n", "@@\n-a\n@@\n+x\n@@\n-b\n+c\n@@\n+y\n").unwrap(), "c\nx\ny\n");
        assert!(matches!(applied("a\nb\n", "@@ a\n+c\n"), Err(Reason::SeveralPlaces { .. })));
    }

    #[test]
    fn what_codex_forgives_is_forgiven() {
        let before = "def f():\n\n    say(“a – b”)  \n    return 1\n";
        let edit = "@@ def f():\n say(\"a - b\")\n-return 1\n+return 2\n";
        assert_eq!(applied(before, edit).unwrap(), before.replace("1", "2"));
        // Indentation by no rule: new lines stand as those above them.
        let before = "if a:\n\tb\n        c\nd\n";
        let edit = "@@\n   if a:\n-   b\n+   x\n     c\n+    y\n+      z\n";
        assert_eq!(applied(before, edit).unwrap(), "if a:\n\tx\n        c\n        y\n          z\nd\n");
        // A blank line that the end of the file has not.
        assert_eq!(applied("a\nb\n", "@@\n-b\n-\n+c\n").unwrap(), "a\nc\n");
        assert_eq!(applied("a\nb\n\nd\n", "@@\n-b\n-\n+c\n").unwrap(), "a\nc\nd\n");
        assert_eq!(applied("a “b”\nc\n", "@@ a \"b\"\n-c\n+d\n").unwrap(), "a “b”\nd\n");
    }
}
