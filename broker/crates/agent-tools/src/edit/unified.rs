//! Unified diffs as git writes them, and as models do: with wrong line numbers, without numbers, without names.
//!
//! A hunk is found by its lines. Its number only decides between places that fit alike, and only if the head of the hunk
//! counts its lines right.

use std::cell::OnceCell;

use overlay::WorkspacePath;
use patch::Kind;

use self::file_diff::Hunk;
pub(super) use self::{
    file_diff::FileDiff,
    read::{find, read},
};
use super::{
    block::{Closeness, MAX_PLACES, in_order},
    haystack::Haystack,
    names::Named,
    outcome::{Changed, Reason, Refused},
    scopes::Scopes,
    text::{Replacement, Text},
};

mod file_diff;
mod read;

/// A diff of this one file.
pub(super) fn apply_to(path: &WorkspacePath, file: &Text<'_>, edit: &str) -> Result<Changed, Refused> {
    let files = read(edit)?;
    let [diff] = &files[..] else { return Err(Reason::SeveralFiles.into()) };
    match diff {
        _ if !diff.named.is_of(path) => {
            Err(Reason::OtherFile { named: diff.named.shown().to_owned() }.into())
        }
        FileDiff { kind: Kind::Delete, .. } | FileDiff { named: Named::Moved { .. }, .. } => {
            Err(Reason::SeveralFiles.into())
        }
        _ => change(file, &diff.hunks),
    }
}

/// A text with the hunks applied.
pub(super) fn change(file: &Text<'_>, hunks: &[Hunk<'_>]) -> Result<Changed, Refused> {
    let target = Target::new(file);
    let (mut places, mut notes, mut count) = (Vec::new(), Vec::new(), 0);
    for hunk in hunks {
        let (closeness, found) = target.places(hunk)?;
        count += found.len();
        if count > MAX_PLACES {
            return Err(target.found_often(hunk, &found));
        }
        notes
            .extend(closeness.but_for().map(|it| format!("hunk {} was found but for {it}", hunk.block.part)));
        let length = hunk.block.old().len();
        places.push(found.into_iter().map(|it| (it, it + length)).collect::<Vec<_>>());
    }
    let chosen = in_order(&places).map_err(|it| target.several(&hunks[it], &places[it]))?;
    let mut replacements = Vec::new();
    for (hunk, place) in hunks.iter().zip(chosen) {
        replacements
            .push(hunk.block.at(place, file.lines()).ok_or_else(|| hunk.block.not_found(file.lines()))?);
    }
    let ends = hunks.iter().find_map(|it| it.ends);
    Ok(Changed { text: file.replaced(&replacements, ends), notes })
}

/// A file that hunks are looked for in.
struct Target<'a> {
    file: &'a Text<'a>,
    before: String,
    haystack: Haystack<'a>,
    scopes: OnceCell<Scopes<'a>>,
}

impl<'a> Target<'a> {
    fn new(file: &'a Text<'a>) -> Self {
        let haystack = Haystack::indexed(file.lines());
        Self { file, before: file.replaced(&[], None), haystack, scopes: OnceCell::new() }
    }

    fn several(&self, hunk: &Hunk<'_>, places: &[(usize, usize)]) -> Refused {
        match places {
            [_] => hunk.block.not_found(self.file.lines()),
            _ => self.found_often(hunk, &places.iter().map(|it| it.0).collect::<Vec<_>>()),
        }
    }

    fn found_often(&self, hunk: &Hunk<'_>, places: &[usize]) -> Refused {
        hunk.block.found_often(self.file, &self.before, places)
    }

    fn places(&self, hunk: &Hunk<'_>) -> Result<(Closeness, Vec<usize>), Refused> {
        let old = hunk.block.old();
        if old.is_empty() {
            return self.inserted(hunk);
        }
        if let (Some(stated), None) = (hunk.stated.filter(|it| self.haystack.is_at(&old, *it)), hunk.heading)
        {
            return Ok((Closeness::Exact, vec![stated]));
        }
        let (closeness, places) = self.haystack.places(&old);
        let stated =
            hunk.stated.filter(|it| closeness == Closeness::Exact && places.binary_search(it).is_ok());
        let agreeing = match hunk.heading.filter(|_| places.len() > 1) {
            Some(heading) => self.below(heading, &places, old.len()),
            None => places.clone(),
        };
        match (stated, places.is_empty()) {
            (_, true) => Err(hunk.block.not_found(self.file.lines())),
            (Some(stated), _) if agreeing.binary_search(&stated).is_ok() => Ok((closeness, vec![stated])),
            (None, _) if !agreeing.is_empty() => Ok((closeness, agreeing)),
            // The heading and the number, or the heading and the lines, contradict each other.
            _ => Err(self.found_often(hunk, &places)),
        }
    }

    fn below(&self, heading: &str, places: &[usize], length: usize) -> Vec<usize> {
        let scopes = self.scopes.get_or_init(|| Scopes::new(self.file.lines()));
        scopes.below(&scopes.heads(heading), places, length)
    }

    /// A hunk without context has its number only, which is believed of an empty file.
    fn inserted(&self, hunk: &Hunk<'_>) -> Result<(Closeness, Vec<usize>), Refused> {
        if self.file.is_empty() {
            return Ok((Closeness::Exact, vec![0]));
        }
        let line = hunk.stated.filter(|it| *it <= self.file.lines().len());
        let reading = line.map(|it| {
            let lines = hunk.block.lines.iter().map(|it| it.1.to_owned()).collect();
            let text = self.file.replaced(&[Replacement { range: it..it, lines }], hunk.ends);
            (format!("part {} is inserted after line {it}", hunk.block.part), text)
        });
        let reason = Reason::NotFound { part: hunk.block.part, text: "(no line)".to_owned() };
        Err(Refused::with_readings(reason, &self.before, reading.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(before: &str, edit: &str) -> Result<String, Reason> {
        let path = WorkspacePath::new("src/a.py").unwrap();
        apply_to(&path, &Text::new(before), edit).map(|it| it.text).map_err(|it| it.reason)
    }

    #[test]
    fn hunks_are_found_by_their_lines() {
        let edit = "--- a/src/a.py\n+++ b/src/a.py\n@@ -90,2 +90,2 @@ def f():\n a\n-b\n+c\n@@\n d\n+e\n\n";
        assert_eq!(applied("x\na\nb\nd\n", edit).unwrap(), "x\na\nc\nd\ne\n");
    }

    #[test]
    fn a_number_decides_only_if_the_head_counts_right() {
        let edit = |head: &str| format!("--- a/src/a.py\n+++ b/src/a.py\n{head}\n-a\n+b\n");
        assert_eq!(applied("a\na\n", &edit("@@ -2 +2 @@")).unwrap(), "a\nb\n");
        assert!(matches!(applied("a\na\n", &edit("@@ -2,7 +2,7 @@")), Err(Reason::FoundOften { .. })));
        assert!(matches!(applied("a\na\n", &edit("@@ -9 +9 @@")), Err(Reason::FoundOften { .. })));
    }

    #[test]
    fn a_heading_must_agree_where_several_places_fit() {
        let f = |name: &str| format!("def {name}():\n    a\n    b\n");
        let before = f("f1") + "\n" + &f("f2") + "\n" + &f("f3");
        let edit = |head: &str| format!("{head}\n     a\n-    b\n+    c\n");
        let changed = before.replacen(&f("f2"), &f("f2").replace("    b", "    c"), 1);
        for head in
            ["@@ -6,2 +6,2 @@ def f2():", "@@ def f2():", "@@ -60,2 +60,2 @@ def f2", "@@ ... @@ def f2():"]
        {
            assert_eq!(applied(&before, &edit(head)).as_ref(), Ok(&changed), "{head}");
        }
        for head in ["@@ -2,2 +2,2 @@ def f2():", "@@ -6,2 +6,2 @@ def f4():", "@@ def f4():", "@@"] {
            assert!(matches!(applied(&before, &edit(head)), Err(Reason::FoundOften { .. })), "{head}");
        }
        assert!(applied(&f("f1"), &edit("@@ -6,2 +6,2 @@ def f4():")).is_ok(), "there is one place only");
    }

    #[test]
    fn lines_that_look_like_names_are_text_where_they_are_counted() {
        let edit = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n";
        assert_eq!(applied("-- x\nz\n", edit).unwrap(), "++ y\nz\n");
    }

    #[test]
    fn the_end_of_the_file_changes_only_if_the_diff_says_so() {
        let edit = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        assert_eq!(applied("a", edit).unwrap(), "b\n");
        assert_eq!(applied("a", "@@ -1 +1 @@\n-a\n+b\n").unwrap(), "b");
    }

    #[test]
    fn another_file_is_refused() {
        let edit = "--- a/src/b.py\n+++ b/src/b.py\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(applied("a\n", edit), Err(Reason::OtherFile { named: "src/b.py".into() }));
        assert_eq!(applied("a\n", &(edit.to_owned() + edit)), Err(Reason::SeveralFiles));
    }
}
