//! Tests with the output of real tools, in the places of the texts that they printed it for. `tests/fixtures` has both.

#![allow(clippy::disallowed_methods, reason = "a test reads its own files")]

use std::{fs, path::PathBuf};

use lint::LineTable;
use overlay::Memory;

use super::*;
use crate::output;

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    entries.flat_map(|it| if it.is_dir() { files(&it) } else { vec![it] }).collect()
}

/// The findings of a built-in checker, each with the text that it is about.
fn printed(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let work = folder.join("work");
    let texts = files(&work)
        .into_iter()
        .map(|it| (it.strip_prefix(&work).unwrap().to_str().unwrap().to_owned(), fs::read(&it).unwrap()));
    let view = Memory::from_files(texts).unwrap();
    render(Checker::named(name).unwrap(), &view, &fs::read(folder.join("printed")).unwrap())
}

fn render(checker: &Checker, view: &Memory, printed: &[u8]) -> String {
    let project = WorkspacePath::root();
    let (root, project, asked, is_known) = (Path::new("/space"), &project, &[], &|_: &_| true);
    let ground = Ground { checker, view, root, project, asked, is_known };
    let found = match output::read(checker, printed, b"", &ground.told()) {
        Ok(printed) => found(printed, &ground),
        Err(why) => return format!("unreadable: {why}\n"),
    };
    let at = |path: &WorkspacePath, span: Span| {
        let text = view.read(path).unwrap();
        let start = LineTable::new(&text).scalar(span.start);
        let part = String::from_utf8_lossy(&text[span.start as usize..span.end as usize]).into_owned();
        format!("{}:{} {part:?}", start.line, start.column)
    };
    let mut text = String::new();
    for (path, all) in &found.files {
        for it in all {
            let severity = format!("{:?}", it.severity).to_lowercase();
            let message = it.message.replace('\n', "\n    ");
            text += &format!("{path}:{} {severity} {}: {message}\n", at(path, it.span), it.code);
            for related in &it.related {
                let path = related.path.as_ref().unwrap_or(path);
                text += &format!("  {path}:{} {}\n", at(path, related.span), related.message);
            }
            for fix in &it.fixes {
                let edits =
                    fix.edits.iter().map(|edit| format!("{} -> {:?}", at(path, edit.span), edit.replacement));
                text +=
                    &format!("  fix ({:?}): {}\n", fix.applicability, edits.collect::<Vec<_>>().join(", "));
            }
        }
    }
    if let Some(packages) = found.packages {
        let packages: Vec<_> = packages.reached.iter().map(WorkspacePath::as_str).collect();
        text += &format!("packages: {}\n", packages.join(" "));
    }
    if let Some(why) = found.partial {
        text += &format!("partial: {why}\n");
    }
    text
}

macro_rules! printed {
    ($($test:ident $name:literal,)*) => {
        $(#[test]
        fn $test() {
            insta::assert_snapshot!(printed($name));
        })*
    };
}

printed! {
    cargo_check "cargo-check",
    cargo_clippy "cargo-clippy",
    clang_tidy "clang-tidy",
    eslint "eslint-cli",
    go_build "go-build",
    go_vet "go-vet",
    mypy "mypy",
    pylint "pylint",
    pyright "pyright-cli",
    shellcheck "shellcheck",
    tsc "tsc",
}

/// Tests a checker of this output, about a text with characters of each length.
#[track_caller]
fn own(said: &str, printed: &str) -> String {
    let said = format!("command = ['own']\nglobs = ['*']\n{said}");
    let checker = Checker::defined("own", toml::from_str(&said).unwrap()).unwrap();
    let view = Memory::from_files([("a b.x", "é𐐀 = one;\nsecond line\n"), ("c.x", "third\n")]).unwrap();
    render(&checker, &view, printed.as_bytes())
}

const SARIF: &str = r#"{ "version": "2.1.0", "runs": [{
  "tool": { "driver": { "name": "x", "rules": [
    { "id": "R1", "name": "first-rule", "helpUri": "https://x", "defaultConfiguration": { "level": "error" } } ] } },
  "columnKind": "unicodeCodePoints",
  "results": [
    { "ruleIndex": 0, "message": { "text": "with a default level" },
      "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a%20b.x" },
                      "region": { "startLine": 1, "startColumn": 6, "endColumn": 9 } } }],
      "relatedLocations": [{ "physicalLocation": { "artifactLocation": { "uri": "file:///space/c.x" } }, "message": { "text": "there" } }],
      "fixes": [{ "artifactChanges": [{ "artifactLocation": { "uri": "a%20b.x" },
                  "replacements": [{ "deletedRegion": { "charOffset": 5, "charLength": 3 }, "insertedContent": { "text": "two" } }] }] }] },
    { "ruleId": "R2", "level": "note", "message": { "text": "a line" },
      "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "/space/a b.x" }, "region": { "startLine": 2 } } }] },
    { "ruleId": "R3", "message": { "text": "suppressed" }, "suppressions": [{ "kind": "inSource" }],
      "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "c.x" } } }] },
    { "ruleId": "R4", "kind": "pass", "message": { "text": "passed" },
      "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "c.x" } } }] },
    { "ruleId": "R5", "message": { "text": "in no file" } },
    { "ruleId": "R6", "message": { "text": "outside" },
      "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "file:///other/c.x" } } }] }
  ] }] }"#;

#[test]
fn sarif() {
    insta::assert_snapshot!(own("output = 'sarif'", SARIF), @r#"
    a b.x:1:6 "one" error R1: with a default level
      c.x:1:1 "" there
      fix (Unsafe): 1:6 "one" -> "two"
    a b.x:2:1 "second line" info R2: a line
    "#);
    let broken =
        r#"{ "runs": [{ "tool": { "driver": {} }, "invocations": [{ "executionSuccessful": false }] }] }"#;
    insta::assert_snapshot!(own("output = 'sarif'", broken), @"partial: own says that it did not run to the end");
}

#[test]
fn checkstyle() {
    let printed = r#"<?xml version="1.0"?><checkstyle version="4.3"><file name="a b.x">
        <error line="1" column="6" severity="warning" message="a &quot;word&quot; &amp; more" source="com.x.Rule"/>
        <error line="2" severity="info" message="a line" source="Other"></error>
        <error line="1" column="0" severity="error" message="no column"/>
        </file><file name="/other/c.x"><error line="1" message="outside"/></file><file name="c.x"/></checkstyle>"#;
    insta::assert_snapshot!(own("output = 'checkstyle'", printed), @r#"
    a b.x:1:1 "é𐐀 = one;" error error: no column
    a b.x:1:6 "one" warning Rule: a "word" & more
    a b.x:2:1 "second line" info Other: a line
    "#);
    insta::assert_snapshot!(own("output = 'checkstyle'", "Error: it broke"), @"unreadable: what it printed cannot be read: there is no element `checkstyle`: `Error: it broke`");
    insta::assert_snapshot!(own("output = 'checkstyle'", "<checkstyle><file name='c.x'>"), @"");
}

#[test]
fn rdjson() {
    let one = r#"{"message":"m","location":{"path":"a b.x","range":{"start":{"line":1,"column":10},"end":{"line":1,"column":13}}},
        "severity":"WARNING","code":{"value":"C1","url":"https://c"},
        "suggestions":[{"range":{"start":{"line":1,"column":10},"end":{"line":1,"column":13}},"text":"two"}]}"#;
    let one = one.replace('\n', "");
    insta::assert_snapshot!(own("output = 'rdjsonl'", &format!("{one}\n\n{one}\n")), @r#"
    a b.x:1:6 "one" warning C1: m
      fix (Unsafe): 1:6 "one" -> "two"
    "#);
    let whole = format!(
        r#"{{"source":{{"name":"x"}},"severity":2,"diagnostics":[{one},{{"message":"whole","location":{{"path":"c.x"}}}}]}}"#
    );
    insta::assert_snapshot!(own("output = 'rdjson'", &whole), @r#"
    a b.x:1:6 "one" warning C1: m
      fix (Unsafe): 1:6 "one" -> "two"
    c.x:1:1 "" warning warning: whole
    "#);
    insta::assert_snapshot!(own("output = 'rdjson'", "panic: it broke"), @"unreadable: what it printed cannot be read: expected value at line 1 column 1: `panic: it broke`");
}

#[test]
fn what_is_no_json_is_no_empty_answer() {
    let json = "output = 'json'\nfields = { items = 'all[]', path = 'p', message = 'm', line = 'l' }";
    insta::assert_snapshot!(own(json, r#"{ "all": [{ "p": "c.x", "m": "found", "l": "1" }] }"#), @r#"
    c.x:1:1 "third" error error: found
    "#);
    insta::assert_snapshot!(own(json, "Traceback (most recent call last):"), @"unreadable: what it printed cannot be read: expected value at line 1 column 1: `Traceback (most recent call last):`");
    insta::assert_snapshot!(own(json, r#"{ "error": "it broke" }"#), @r#"
    unreadable: what it printed cannot be read: there is no `all`: `{ "error": "it broke" }`
    "#);
    insta::assert_snapshot!(own(json, r#"{ "all": [{ "m": "without a path" }] }"#), @r#"
    unreadable: what it printed cannot be read: there is no `p`: `{ "all": [{ "m": "without a path" }] }`
    "#);
    insta::assert_snapshot!(own(json, ""), @"");
    insta::assert_snapshot!(own("output = 'cargo'", "{ \"reason\": \"compiler-message\" }"), @r#"
    unreadable: what it printed cannot be read: missing field `manifest_path`: `{ "reason": "compiler-message" }`
    "#);
}

#[test]
fn without_a_code_it_is_the_severity() {
    let said =
        "output = 'regex'\npattern = '^(?<path>.+?):(?<line>\\d+): (?<severity>\\w+): (?<message>.*)$'";
    let printed = "c.x:1: warning: one\nc.x:1: error: two\nc.x:1: note: three\n";
    insta::assert_snapshot!(own(said, printed), @r#"
    c.x:1:1 "third" warning warning: one
    c.x:1:1 "third" error error: two
    c.x:1:1 "third" info info: three
    "#);
    insta::assert_snapshot!(own(&format!("{said}\ncode = 'x'"), "c.x:1: warning: one\n"), @r#"c.x:1:1 "third" warning x: one"#);
}

#[test]
fn a_looker_that_stops_early_says_so() {
    let said = "output = 'regex'\npattern = '^(?<path>.+?):(?<line>\\d+): (?<message>.*)$'\ncut-short = 'too many \\w+'";
    insta::assert_snapshot!(own(said, "c.x:1: one\ntoo many errors\n"), @r#"
    c.x:1:1 "third" error error: one
    partial: own stopped looking: too many errors
    "#);
}

#[test]
fn where_a_printed_path_leads() {
    let files = [("p/a.c", "x"), ("a.c", "y"), ("p/dep/b.c", "z"), ("only/c.c", "z")];
    let view = Memory::from_files(files).unwrap();
    let project = WorkspacePath::new("p").unwrap();
    let ground = Ground {
        checker: Checker::named("clang-tidy").unwrap(),
        view: &view,
        root: Path::new("/w"),
        project: &project,
        asked: &[],
        is_known: &|it| !it.as_str().contains("dep"),
    };
    let file = |it: &str| ground.file_of(it).map(|it| it.to_string()).unwrap_or_default();
    let inside = ["a.c", "./a.c", "../a.c", "/w/p/a.c", "/w/a.c", "only/c.c"].map(file);
    assert_eq!(inside, ["p/a.c", "p/a.c", "a.c", "p/a.c", "a.c", "only/c.c"]);
    assert_eq!(["dep/b.c", "../../a.c", "/v/a.c", "/w2/a.c", "none.c", "/w/p"].map(file), [""; 6]);
}
