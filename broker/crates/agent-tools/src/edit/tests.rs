//! Edits of every form as agents write them, and what comes of them.

use std::fmt::Write as _;

use insta::assert_snapshot;
use overlay::WorkspacePath;
use syntax::Trees;

use super::*;

mod properties;

/// Returns the outcomes of all cases of a file. A case that has no file of its own goes on with that of the case before.
fn outcomes(cases: &str) -> String {
    let (mut file, mut shown) = (String::new(), String::new());
    for case in cases.split("=== ").skip(1) {
        let (head, body) = case.split_once('\n').unwrap();
        let path = head.rsplit_once('(').unwrap().1.trim_end_matches(')');
        let (before, edit) = body.split_once("--- edit\n").unwrap();
        if let Some(text) = before.strip_prefix("--- file\n") {
            file = text.to_owned();
        }
        let path = WorkspacePath::new(path).unwrap();
        writeln!(shown, "=== {head}").unwrap();
        shown += &outcome(apply(&path, &file, edit, None, &Trees::new(1 << 20)));
    }
    shown
}

fn outcome(outcome: Result<Applied, Refused>) -> String {
    let mut shown = String::new();
    match outcome {
        Ok(it) => {
            writeln!(shown, "applied as {}", it.form).unwrap();
            it.notes.iter().for_each(|it| writeln!(shown, "note: {it}").unwrap());
            it.new_syntax_errors
                .iter()
                .for_each(|it| writeln!(shown, "new syntax error in line {}: {}", it.line, it.text).unwrap());
            shown += &it.diff;
        }
        Err(it) => {
            writeln!(shown, "refused as {}: {it}\n{}", it.form.unwrap(), it.advice()).unwrap();
            it.readings.iter().for_each(|it| write!(shown, "reading: {}\n{}", it.what, it.diff).unwrap());
        }
    }
    shown + "\n"
}

#[test]
fn python() {
    assert_snapshot!(outcomes(include_str!("tests/cases/python.txt")));
}

#[test]
fn rust() {
    assert_snapshot!(outcomes(include_str!("tests/cases/rust.txt")));
}

#[test]
fn web() {
    assert_snapshot!(outcomes(include_str!("tests/cases/web.txt")));
}

#[test]
fn others() {
    assert_snapshot!(outcomes(include_str!("tests/cases/others.txt")));
}

#[test]
fn stretched() {
    assert_snapshot!(outcomes(include_str!("tests/cases/stretched.txt")));
}

#[test]
fn blocks() {
    assert_snapshot!(outcomes(include_str!("tests/cases/blocks.txt")));
}

#[test]
fn additions() {
    assert_snapshot!(outcomes(include_str!("tests/cases/additions.txt")));
}

#[test]
fn landing() {
    assert_snapshot!(outcomes(include_str!("tests/cases/landing.txt")));
}

#[test]
fn markers() {
    assert_snapshot!(outcomes(include_str!("tests/cases/markers.txt")));
}

#[test]
fn patches() {
    assert_snapshot!(outcomes(include_str!("tests/cases/patches.txt")));
}

#[test]
fn wrapped() {
    assert_snapshot!(outcomes(include_str!("tests/cases/wrapped.txt")));
}

#[test]
fn a_reading_is_picked_by_its_id() {
    let (path, trees) = (WorkspacePath::new("a.txt").unwrap(), Trees::new(1 << 20));
    let edit = "<<<<<<< SEARCH\nsame\n=======\nother\n>>>>>>> REPLACE\n";
    let refused = apply(&path, "same\nx\nsame\n", edit, None, &trees).unwrap_err();
    assert_eq!(refused.readings.len(), 2);
    let picked = apply(&path, "same\nx\nsame\n", edit, Some(&refused.readings[1].id), &trees).unwrap();
    assert_eq!(picked.text, "same\nx\nother\n");
    let stale = apply(&path, "same\ny\nsame\n", edit, Some(&refused.readings[1].id), &trees).unwrap_err();
    assert_eq!(stale.reason, Reason::NoSuchReading, "the id is of another text");
}

#[test]
fn a_new_file_about_blocks_is_written_as_it_is_if_that_is_picked() {
    let (path, trees) = (WorkspacePath::new("doc.md").unwrap(), Trees::new(1 << 20));
    let edit = "# Blocks\n\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n\nThat is all.\n";
    let refused = apply(&path, "", edit, None, &trees).unwrap_err();
    let whats: Vec<_> = refused.readings.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(whats, ["the blocks are applied, without the text around them", "the edit is the whole file"]);
    let picked = apply(&path, "", edit, Some(&refused.readings[1].id), &trees).unwrap();
    assert_eq!(picked.text, edit);
}

/// A file of 20,000 lines, and the 4,000 lines of it that an edit changes.
fn large() -> (String, Vec<usize>, String) {
    let line = |it: usize| format!("    let value_{it} = compute({it});\n");
    let changed = |it: usize| if it.is_multiple_of(5) { line(it).replace("let", "var") } else { line(it) };
    let (lines, changes) = (0..20_000, (0..20_000).step_by(5));
    (lines.clone().map(line).collect(), changes.collect(), lines.map(changed).collect())
}

#[test]
fn thousands_of_hunks_are_found_in_a_large_file() {
    let (before, changes, after) = large();
    let (path, trees) = (WorkspacePath::new("a.txt").unwrap(), Trees::new(1 << 20));
    let hunk = |indent: &str, it: &usize| {
        format!("@@\n-{indent}let value_{it} = compute({it});\n+{indent}var value_{it} = compute({it});\n")
    };
    for indent in ["    ", "  "] {
        let hunks: String = changes.iter().map(|it| hunk(indent, it)).collect();
        for edit in [
            format!("--- a/a.txt\n+++ b/a.txt\n{hunks}"),
            format!("*** Begin Patch\n*** Update File: a.txt\n{hunks}*** End Patch\n"),
        ] {
            assert!(apply(&path, &before, &edit, None, &trees).unwrap().text == after);
        }
    }
}

#[test]
fn parts_that_could_be_anywhere_are_refused_without_comparing_all_orders() {
    let (path, trees) = (WorkspacePath::new("a.txt").unwrap(), Trees::new(1 << 20));
    let edit = format!("--- a/a.txt\n+++ b/a.txt\n{}", "@@\n-same\n+other\n".repeat(4_000));
    let refused = apply(&path, &"same\n".repeat(20_000), &edit, None, &trees).unwrap_err();
    assert!(matches!(refused.reason, Reason::FoundOften { count: 20_000, .. }));
}
