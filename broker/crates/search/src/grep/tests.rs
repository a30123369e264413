//! Lines of small trees.

use std::sync::Arc;

use overlay::{Branch, Memory};

use super::*;
use crate::walk_options;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn ask(view: &dyn View, request: &GrepRequest) -> Result<GrepAnswer, GrepError> {
    grep(view, None, request, &Options { walk: &walk_options(None), threads: 2, cancel: &|| false })
}

fn shown(answer: &GrepAnswer) -> Vec<String> {
    let show = |it: &Match| format!("{}:{}:{}:{}", it.path, it.line, it.column, it.text);
    answer.matches.iter().map(show).collect()
}

fn found(view: &dyn View, query: &str) -> Vec<String> {
    shown(&ask(view, &GrepRequest::new(query)).unwrap())
}

#[test]
fn lines_are_found_as_the_branch_has_them() {
    let base = Memory::from_files([("a.rs", "let x;\r\n  let y\n"), ("b.rs", "let"), ("c.rs", "x")]).unwrap();
    let mut branch = Branch::new(Arc::new(base));
    assert_eq!(found(&branch.snapshot(), "let"), ["a.rs:1:1:let x;", "a.rs:2:3:  let y", "b.rs:1:1:let"]);
    branch.write(&path("a.rs"), "none".into()).unwrap();
    branch.remove(&path("b.rs")).unwrap();
    branch.write(&path("d.rs"), "an outlet".into()).unwrap();
    assert_eq!(found(&branch.snapshot(), "let"), ["d.rs:1:7:an outlet"]);
}

#[test]
fn what_is_hidden_ignored_or_a_link_is_not_searched() {
    let mut tree = Memory::from_files([
        (".git/HEAD", "x"),
        (".gitignore", "!.github\nbuilt\n"),
        (".github/a", "x"),
        (".env", "x"),
        ("built/a", "x"),
        ("node_modules/a.js", "x"),
        ("venv", "x"),
    ])
    .unwrap();
    tree.insert_symlink(&path("link"), "venv");
    assert_eq!(found(&tree, "x"), [".github/a:1:1:x", "node_modules/a.js:1:1:x", "venv:1:1:x"]);
}

#[test]
fn the_rest_is_counted_or_left() {
    let files = (0..30).map(|it| (format!("{it:02}"), "x\nx\n"));
    let tree = Memory::from_files(files).unwrap();
    let mut request = GrepRequest { limit: 3, ..GrepRequest::new("x") };
    let answer = ask(&tree, &request).unwrap();
    assert_eq!(shown(&answer), ["00:1:1:x", "00:2:1:x", "01:1:1:x"]);
    assert_eq!((answer.total_matches, answer.files_with_matches), (60, 30));
    assert_eq!((answer.counted, answer.truncated, answer.scanned), (Counted::All, true, 30));
    request.count_rest = false;
    let first = ask(&tree, &request).unwrap();
    assert_eq!((&first.matches, first.counted, first.truncated), (&answer.matches, Counted::AtLeast, true));
    assert!(first.total_matches < 60);
    request.limit = 0;
    let none = ask(&tree, &GrepRequest { count_rest: true, ..request }).unwrap();
    assert_eq!((none.matches.len(), none.total_matches, none.truncated), (0, 60, true));
}

#[test]
fn case_globs_and_binary_files() {
    let tree = Memory::from_files([
        ("a.rs", &b"Word"[..]),
        ("b.md", b"word"),
        ("c.bin", b"word\nmore\0word"),
        ("d.txt", b"\xff\xfew\0o\0r\0d\0"),
    ])
    .unwrap();
    let request = GrepRequest { case_sensitive: false, ..GrepRequest::new("WORD") };
    let all = ["a.rs:1:1:Word", "b.md:1:1:word", "d.txt:1:1:word"];
    assert_eq!(shown(&ask(&tree, &request).unwrap()), all);
    let request = GrepRequest { exclude: vec!["*.md".into()], ..request };
    assert_eq!(shown(&ask(&tree, &request).unwrap()), [all[0], all[2]]);
    let request = GrepRequest { include: vec!["*.{rs,md}".into()], case_sensitive: true, ..request };
    assert!(ask(&tree, &request).unwrap().matches.is_empty());
}

#[test]
fn what_is_no_pattern_is_said() {
    let tree = Memory::default();
    let error = ask(&tree, &GrepRequest::new("a(")).unwrap_err();
    assert!(error.to_string().starts_with("`a(` is no regular expression: "), "{error}");
    let request = GrepRequest { include: vec!["{".into()], ..GrepRequest::new("a") };
    assert!(matches!(ask(&tree, &request), Err(GrepError::Glob(_))));
    let options = Options { walk: &walk_options(None), threads: 1, cancel: &|| true };
    let cancelled = grep(&Memory::from_files([("a", "")]).unwrap(), None, &GrepRequest::new("a"), &options);
    assert_eq!(cancelled, Err(GrepError::Cancelled(Cancelled)));
}

#[test]
fn lines_around_belong_to_the_match_that_is_next() {
    let tree = Memory::from_files([("a", "1\n2\nx 3\n4\nx 5\n6\n7\nx 8\n")]).unwrap();
    let request = GrepRequest { context: [1, 1], limit: 2, ..GrepRequest::new("x") };
    let answer = ask(&tree, &request).unwrap();
    let around: Vec<_> =
        answer.matches.iter().map(|it| (it.line, it.before.join(","), it.after.join(","))).collect();
    assert_eq!(around, [(3, "2".into(), "4".into()), (5, String::new(), "6".into())]);
    assert_eq!((answer.total_matches, answer.files[0].lines), (3, 3));
}

#[test]
fn several_lines_match_together() {
    let tree = Memory::from_files([("a", "fn f(\n    a,\n) {}\n"), ("b", "fn g() {}\n")]).unwrap();
    assert_eq!(found(&tree, r"f\("), ["a:1:4:fn f("]);
    let request = GrepRequest { multiline: true, ..GrepRequest::new(r"f\(.*?\) \{") };
    let answer = ask(&tree, &request).unwrap();
    assert_eq!(shown(&answer), ["a:1:4:fn f(\n    a,\n) {}"]);
    assert_eq!((answer.total_matches, answer.files_with_matches), (3, 1));
}

#[test]
fn files_are_counted_whether_they_match() {
    let tree = Memory::from_files([("a.rs", "x\nx\n"), ("b.rs", "x\n"), ("c.py", "")]).unwrap();
    let options = Options { walk: &walk_options(None), threads: 1, cancel: &|| false };
    let of = |include: &str| {
        let request = GrepRequest { include: vec![include.into()], ..GrepRequest::new("x") };
        let files = ask(&tree, &request).unwrap().files;
        let files: Vec<_> = files.iter().map(|it| format!("{}:{}", it.path, it.lines)).collect();
        (files.join(" "), count_files(&tree, &request, &options).unwrap())
    };
    assert_eq!(of("*.rs"), ("a.rs:2 b.rs:1".to_owned(), 2));
    assert_eq!(of("*.py"), (String::new(), 1));
    assert_eq!(of("*.md"), (String::new(), 0));
    let request = GrepRequest { file_type: Some("py".into()), ..GrepRequest::new("x") };
    assert_eq!(count_files(&tree, &request, &options), Ok(1));
}
