//! Texts in, texts with comments out.

use overlay::WorkspacePath;

use super::*;

fn edited(text: &str, edits: Result<Vec<Edit>, String>) -> String {
    let edits = match edits {
        Ok(edits) => edits,
        Err(why) => return format!("error: {why}"),
    };
    let mut text = text.to_owned();
    for it in edits.iter().rev() {
        text.replace_range(it.span.start as usize..it.span.end as usize, &it.replacement);
    }
    text
}

fn on_line(path: &str, text: &str, line: u32) -> String {
    let (path, rules) = (WorkspacePath::new(path).unwrap(), ["a/B".to_owned()]);
    edited(text, suppression(&path, text.as_bytes(), line, &rules, "so it is"))
}

fn in_file(path: &str, text: &str) -> String {
    let (path, rules) = (WorkspacePath::new(path).unwrap(), ["a/B".to_owned()]);
    edited(text, file_suppression(&path, text.as_bytes(), &rules, "so it is"))
}

#[test]
fn a_comment_follows_its_line_or_goes_before_it() {
    for (path, text, line, want) in [
        ("a.py", "f()\ng()\n", 2, "f()\ng()  # broker: ignore[a/B] so it is\n"),
        (
            "a.py",
            "def f():\n    '''a\n    b'''\n",
            2,
            "def f():\n    # broker: ignore[a/B] so it is\n    '''a\n    b'''\n",
        ),
        ("Dockerfile", "FROM a\nRUN b\n", 2, "FROM a\n# broker: ignore[a/B] so it is\nRUN b\n"),
        ("a.yaml", "a: |\n  b\nc: 1", 3, "a: |\n  b\nc: 1  # broker: ignore[a/B] so it is"),
        (
            "a.jsx",
            "x = (\n  <a>\n    <b />\n  </a>\n);\n",
            3,
            "x = (\n  <a>\n    {/* broker: ignore-next-line[a/B] so it is */}\n    <b />\n  </a>\n);\n",
        ),
    ] {
        assert_eq!(on_line(path, text, line), want, "{path}");
    }
}

#[test]
fn where_there_is_no_place_that_is_told() {
    for (path, text, line, want) in [
        ("a.py", "x = '''\na\n'''\n", 2, NO_PLACE),
        ("a.sh", "a \\\n  b \\\n  c\n", 2, NO_PLACE),
        ("a.py", "a\n", 3, NO_PLACE),
        ("a.json", "{}\n", 1, NO_COMMENTS),
        ("a.sql", "SELECT 1\n", 1, NO_GRAMMAR),
        ("a.unknown", "a\n", 1, NO_COMMENTS),
    ] {
        assert_eq!(on_line(path, text, line), format!("error: {want}"), "{path}");
    }
}

#[test]
fn a_file_has_its_comment_as_far_up_as_may_be() {
    const HASH: &str = "# broker: ignore-file[a/B] so it is\n";
    const SLASHES: &str = "// broker: ignore-file[a/B] so it is\n";
    for (path, top, comment, rest) in [
        ("a.py", "", HASH, "import a\n"),
        ("a.py", "#!/usr/bin/python\n# -*- coding: latin-1 -*-\n", HASH, "# coding is fun\n"),
        ("Dockerfile", "# syntax = docker/dockerfile:1\n# escape=`\n", HASH, "FROM a\n"),
        ("a.css", "@charset \"utf-8\";\n", "/* broker: ignore-file[a/B] so it is */\n", "a {}\n"),
        ("a.html", "<!doctype html>\n", "<!-- broker: ignore-file[a/B] so it is -->\n", "<p>\n"),
        ("a.md", "---\na: 1\n---\n", "<!-- broker: ignore-file[a/B] so it is -->\n", "# a\n"),
        ("a.yaml", "", HASH, "---\na: 1\n"),
        ("a.js", "#!/usr/bin/env node\r\n", "// broker: ignore-file[a/B] so it is\r\n", "f();\r\n"),
        ("a.ts", "", SLASHES, "// a\n"),
        ("a.ts", "\u{feff}", SLASHES, "f();\n"),
        ("a.py", "#!/bin/python", "\n# broker: ignore-file[a/B] so it is\n", ""),
        ("a.sql", "", "-- broker: ignore-file[a/B] so it is\n", "SELECT 1\n"),
        ("a.py", "", HASH, ""),
    ] {
        assert_eq!(in_file(path, &format!("{top}{rest}")), format!("{top}{comment}{rest}"), "{path}");
    }
    assert_eq!(in_file("a.json", "{}"), format!("error: {NO_COMMENTS}"));
}

#[test]
fn without_a_reason_rules_join_the_list_that_is_there() {
    let text = "# broker: ignore-file[a/A] old\nf()\n";
    let (path, rules) = (WorkspacePath::new("a.py").unwrap(), ["a/A".to_owned(), "a/B".to_owned()]);
    let joined = file_suppression(&path, text.as_bytes(), &rules, "");
    assert_eq!(edited(text, joined), "# broker: ignore-file[a/A, a/B] old\nf()\n");
    let other = file_suppression(&path, text.as_bytes(), &rules, "new");
    assert_eq!(edited(text, other), format!("# broker: ignore-file[a/A, a/B] new\n{text}"));
}

#[test]
fn many_lines_are_tried_at_once() {
    let text = "x = '''\na\n'''\ny = 1\n";
    let wanted = [2, 4].map(|line| (line, vec!["a/B".to_owned()])).into();
    let path = WorkspacePath::new("a.py").unwrap();
    let placed = place(&path, text.as_bytes(), &wanted, "so it is").unwrap();
    assert_eq!((placed.lines, placed.refused), (vec![4], vec![(2, NO_PLACE)]));
    assert_eq!(
        String::from_utf8(placed.with.text).unwrap(),
        "x = '''\na\n'''\ny = 1  # broker: ignore[a/B] so it is\n"
    );
}
