//! Baselines and findings, by their marks.

use lint::{FileFindings, FindingKey, Span};
use overlay::Memory;

use super::*;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// A finding of `l/rule` about a line with this text.
fn mark(at: &str, rule: &str, line: &str) -> Mark {
    let span = Span::new(0, line.len() as u32);
    let key = FindingKey { linter: "l", code: rule, name: None, message: "m", cell: None, span };
    let file = FileFindings { text: line.as_bytes(), findings: &[key] };
    let fingerprint = Fingerprint::kinds(file.text, file.findings)[0];
    Mark { path: path(at), rule: format!("l/{rule}"), fingerprint }
}

fn checked(_: &Mark) -> Presence {
    Presence::Checked
}

#[test]
fn as_many_are_known_as_there_were() {
    let x = || mark("a", "R", "x");
    let baseline = Baseline::of([x(), x(), mark("a", "R", "y")]);
    let split = baseline.split(&[x(), x(), x(), mark("a", "S", "x"), mark("b", "R", "x")], &checked);
    assert_eq!(split.known, [true, true, false, false, false]);
    assert_eq!(split.stale, [(mark("a", "R", "y"), 1)]);
    assert_eq!(baseline.count(), 3);
}

#[test]
fn moved_files_keep_what_is_known() {
    let baseline = Baseline::of([mark("old", "R", "x"), mark("old", "R", "y"), mark("kept", "R", "z")]);
    let presence = |it: &Mark| if it.path.as_str() == "old" { Presence::Gone } else { Presence::Checked };
    let findings = [mark("new", "R", "x"), mark("new", "R", "x"), mark("new", "R", "z")];
    let split = baseline.split(&findings, &presence);
    assert_eq!(split.known, [true, false, false], "once, and only from files that are gone");
    assert_eq!(split.stale, [(mark("kept", "R", "z"), 1), (mark("old", "R", "y"), 1)]);
}

#[test]
fn what_was_not_checked_is_not_stale() {
    let baseline = Baseline::of([mark("a", "R", "x"), mark("b", "R", "x")]);
    let presence = |it: &Mark| if it.path.as_str() == "a" { Presence::Unchecked } else { Presence::Checked };
    assert_eq!(baseline.split(&[], &presence).stale, [(mark("b", "R", "x"), 1)]);
    let mut updated = baseline;
    updated.update([mark("b", "R", "new")], &presence);
    assert_eq!(updated, Baseline::of([mark("a", "R", "x"), mark("b", "R", "new")]));
}

#[test]
fn what_another_finding_hides_stays_known() {
    let hidden = mark("a", "R", "x");
    let baseline = Baseline::of([hidden.clone(), hidden.clone(), mark("a", "S", "x")]);
    let presence = |it: &Mark| if it.rule == "l/R" { Presence::Unchecked } else { Presence::Checked };
    let split = baseline.split(&[mark("a", "syntax", "x")], &presence);
    assert_eq!(split.stale, [(mark("a", "S", "x"), 1)]);
    let mut updated = baseline;
    updated.update([mark("a", "syntax", "x"), hidden.clone()], &presence);
    assert_eq!(updated, Baseline::of([hidden.clone(), hidden, mark("a", "syntax", "x")]));
}

#[test]
fn what_is_stale_is_pruned() {
    let mut baseline = Baseline::of([mark("a", "R", "x"), mark("a", "R", "x"), mark("a", "R", "y")]);
    let split = baseline.split(&[mark("a", "R", "x")], &checked);
    baseline.prune(&split.stale);
    assert_eq!(baseline, Baseline::of([mark("a", "R", "x")]));
    assert_eq!(baseline.split(&[mark("a", "R", "x")], &checked).stale, []);
}

#[test]
fn the_file_is_sorted_and_has_an_entry_per_line() {
    let it = Baseline::of([mark("b", "R", "x"), mark("a \"q\"", "S", "x"), mark("b", "R", "x")]);
    let text = it.to_json();
    let hex = |rule| mark("", rule, "x").fingerprint.to_string();
    let want = format!(
        "{{\n  \"version\": 1,\n  \"entries\": [\n    {{\"path\": \"a \\\"q\\\"\", \"rule\": \"l/S\", \"fingerprint\": \"{}\", \"count\": 1}},\n    {{\"path\": \"b\", \"rule\": \"l/R\", \"fingerprint\": \"{}\", \"count\": 2}}\n  ]\n}}\n",
        hex("S"),
        hex("R")
    );
    assert_eq!(text, want);
    for it in [it, Baseline::default()] {
        assert_eq!(Baseline::parse(&path("b.json"), it.to_json().as_bytes()), Ok(it));
    }
}

#[test]
fn entries_that_a_merge_left_twice_count_once() {
    let it = Baseline::of([mark("a", "R", "x")]);
    let text = it.to_json();
    let line = text.lines().nth(3).unwrap();
    let twice = text.replace(line, &format!("{line},\n{line}"));
    assert_eq!(Baseline::parse(&path("b.json"), twice.as_bytes()), Ok(it));
}

#[test]
fn damage_is_told() {
    let hex = "0".repeat(64);
    let entry = |path: &str, hex: &str, count: i32| {
        format!(
            "{{\"version\": 1, \"entries\": [{{\"path\": \"{path}\", \"rule\": \"r\", \"fingerprint\": \"{hex}\", \"count\": {count}}}]}}"
        )
    };
    for (text, want) in [
        ("".to_owned(), "b.json:1:0: cannot be used as a baseline: EOF while parsing a value"),
        ("{\n<<<".to_owned(), "b.json:2:1: cannot be used as a baseline: key must be a string"),
        ("{}".to_owned(), "b.json:1:2: cannot be used as a baseline: missing field `version`"),
        (
            "{\"version\": 2, \"new\": []}".to_owned(),
            "b.json: cannot be used as a baseline: it has the version 2; this broker reads version 1",
        ),
        (
            entry("../x", &hex, 1),
            "b.json: cannot be used as a baseline: entry 1: `../x` leads out of the workspace",
        ),
        (entry("x", "12", 1), "b.json: cannot be used as a baseline: entry 1: `12` is no fingerprint"),
        (entry("x", &hex, 0), "b.json: cannot be used as a baseline: entry 1: its count is 0"),
    ] {
        assert_eq!(Baseline::parse(&path("b.json"), text.as_bytes()).unwrap_err().to_string(), want);
    }
    let missing = Baseline::load(&Memory::default(), &path("b.json")).unwrap_err();
    assert_eq!(missing.message, "no such file or directory");
}
