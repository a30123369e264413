//! `--fix` does no harm: what breaks a file, leads to an error or moves a suppression is not made.

use insta::assert_snapshot;

use super::Workspace;

/// Test data of each language: a file's name, the pattern's language, the kind of node, a text, and the part that makes it
/// invalid.
const LANGUAGES: [(&str, &str, &str, &str, &str); 11] = [
    ("a.py", "python", "identifier", "breakme = 1\nfixme = 2\n", "("),
    ("a.js", "javascript", "identifier", "export const breakme = 1, fixme = 2;\n", "("),
    ("a.ts", "typescript", "identifier", "export const breakme = 1, fixme = 2;\n", "("),
    ("a.css", "css", "class_name", ".breakme { color: red; }\n.fixme { color: red; }\n", "}"),
    ("a.sh", "bash", "command_name", "#!/bin/bash\nbreakme\nfixme\n", "if then"),
    ("a.lua", "lua", "string", "return \"breakme\", \"fixme\"\n", "("),
    ("Dockerfile", "dockerfile", "image_name", "FROM breakme:1\nFROM fixme:1\n", "a b c d"),
    ("a.yaml", "yaml", "plain_scalar", "a: breakme\nb: fixme\n", "["),
    ("a.json", "json", "string", "{ \"a\": \"breakme\", \"b\": \"fixme\" }\n", "}"),
    ("a.toml", "toml", "string", "a = \"breakme\"\nb = \"fixme\"\n", "="),
    ("a.rs", "rust", "identifier", "fn breakme() {}\nfn fixme() {}\n", "("),
];

#[test]
fn a_fix_that_breaks_a_file_is_taken_back_in_every_language() {
    for (file, language, kind, text, broken) in LANGUAGES {
        let good = if text.contains("\"fixme\"") { "'\"fixed\"'" } else { "fixed" };
        let rule = |id: &str, regex: &str, fix: &str| {
            format!(
                "id: {id}\nlanguage: {language}\nmessage: m\nrule: {{ kind: {kind}, regex: '^\"?{regex}\"?$' }}\nfix: {fix}\n"
            )
        };
        let rules =
            [rule("breaks", "breakme", &format!("'{broken}'")), rule("fixes", "fixme", good)].join("---\n");
        let it = Workspace::new(&[(".broker/rules/both.yml", &rules), (file, text)]);
        let said = it.told(&["--fix", "--unsafe-fixes", "--select", "pattern/ALL,ALL", file]);
        assert!(said.contains("the fix of pattern/breaks"), "{file}: {said}");
        assert_eq!(it.read(file), text.replace("fixme", "fixed"), "{file}: {said}");
    }
}

/// A file of a language without patterns: how its name ends, the beginning of a comment, and what is broken and what is not.
const WITHOUT_PATTERNS: [(&str, &str, &str, &str); 3] = [
    ("sql", "--", "SELECT ( FROM", "SELECT 2"),
    ("scss", "//", "}", "a { color: red; }"),
    ("less", "//", "}", "a { color: red; }"),
];

#[test]
fn a_fix_of_another_plugin_that_breaks_a_file_is_taken_back() {
    let plugin = tests::guest("guest_misbehaves");
    for (ending, comment, broken, good) in WITHOUT_PATTERNS {
        let text = |code: &str| format!("{comment} uncomments\n{comment} {code}\n");
        let (bad, fine) = (format!("bad.fault.{ending}"), format!("fine.fault.{ending}"));
        // Without a dialect, what cannot be parsed may be good in another one.
        let dialect = (".sqruff", "[sqruff]\ndialect = ansi\n");
        let it = Workspace::new(&[dialect, (&bad, &text(broken)), (&fine, &text(good))]);
        let said = it.told(&["--plugin", plugin.to_str().unwrap(), "--fix", &bad, &fine]);
        assert!(said.contains(&format!("the fix of misbehaves/fault in {bad} was not made")), "{said}");
        assert_eq!(it.read(&bad), text(broken), "{said}");
        assert_eq!(it.read(&fine), format!("{comment} nothing\n{good}\n"), "{said}");
    }
}

#[test]
fn a_fix_that_breaks_a_file_is_taken_back_where_the_error_is_off() {
    let rule = "id: breaks\nlanguage: python\nmessage: m\nrule: { pattern: breakme }\nfix: (\n";
    let text = "breakme = 1\n";
    for (path, config) in [
        ("broker.toml", "[severity]\n\"invalid-syntax\" = \"off\"\n"),
        ("broker.toml", "[severity]\n\"python/*\" = \"off\"\n"),
    ] {
        let it = Workspace::new(&[(".broker/rules/a.yml", rule), ("a.py", text), (path, config)]);
        it.told(&["--fix", "--unsafe-fixes", "a.py"]);
        assert_eq!(it.read("a.py"), text, "{config}");
    }
    let suppressed = "# broker: ignore-file[invalid-syntax]\nbreakme = 1\n";
    let config = ("broker.toml", "[suppressions]\nreport-unused = \"off\"\n");
    let it = Workspace::new(&[(".broker/rules/a.yml", rule), ("a.py", suppressed), config]);
    it.told(&["--fix", "--unsafe-fixes", "a.py"]);
    assert_eq!(it.read("a.py"), suppressed);
}

#[test]
fn fixes_that_need_each_others_import_do_not_undo_each_other() {
    let rule = "id: naive\nlanguage: python\nmessage: naive\nrule: { pattern: datetime.utcnow() }\n\
                fix: datetime.now(timezone.utc)\n";
    let text = "import os\nfrom datetime import datetime, timezone\n\nprint(datetime.utcnow())\n";
    let it = Workspace::new(&[(".broker/rules/a.yml", rule), ("a.py", text)]);
    assert_snapshot!(it.told(&["--fix", "--unsafe-fixes", "a.py"]), @r#"
exit 0
No findings in 1 file (2 fixed).
-- stderr
"#);
    assert_snapshot!(it.read("a.py"), @r#"
from datetime import datetime, timezone

print(datetime.now(timezone.utc))
"#);
    // Without the import there is no way to make the fix.
    let text = "from datetime import datetime\n\nprint(datetime.utcnow())\n";
    it.write("a.py", text);
    assert_snapshot!(it.told(&["--fix", "--unsafe-fixes", "a.py"]), @"
    exit 1
    a.py:3:7: hint pattern/naive naive
    1 finding in 1 file (1 hint).
    -- stderr
    warning: the fix of pattern/naive in a.py was not made: it would lead to python/F821: Undefined name `timezone`
    ");
    assert_eq!(it.read("a.py"), text);
}

#[test]
fn a_fix_leaves_the_ends_of_a_range_where_they_are() {
    let text =
        "import sys\n# broker: disable[F401] generated\nimport os\n# broker: enable[F401]\n\nprint(sys)\n";
    let config = "[tool.ruff.lint]\nselect = [\"I\", \"F401\"]\n";
    let it = Workspace::new(&[("pyproject.toml", config), ("a.py", text)]);
    assert_snapshot!(it.told(&["--fix", "--unsafe-fixes", "a.py"]), @"
    exit 1
    a.py:1:1: warning python/I001 Import block is un-sorted or un-formatted
    1 finding in 1 file (1 warning, 1 suppressed).
    -- stderr
    ");
    assert_eq!(it.read("a.py"), text);
    it.write("a.py", text.replace("# broker", "# another"));
    assert!(it.told(&["--fix", "--unsafe-fixes", "a.py"]).contains("fixed"));
}

#[test]
fn a_fix_takes_no_suppression_with_it_unasked() {
    let long = "documented elsewhere, at length, so that this line is longer than lines are to be";
    let text = format!("import os  # broker: ignore[E501] {long}\nimport sys  # noqa: E501\n");
    let it = Workspace::new(&[("a.py", &text)]);
    assert_snapshot!(it.told(&["--fix", "a.py"]), @"
    exit 1
    a.py:1:8: warning python/F401 `os` imported but unused
    1 finding in 1 file (1 warning, 1 fixed, 1 suppressed).
    -- stderr
    ");
    assert_eq!(it.read("a.py"), text.lines().next().unwrap().to_owned() + "\n");
    it.told(&["--fix", "--unsafe-fixes", "a.py"]);
    assert_eq!(it.read("a.py"), "");
}
