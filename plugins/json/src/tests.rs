//! Findings in small files.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use broker_plugin_sdk::{Applicability, Completeness, Diagnostic};

use super::*;

/// `code start-end message`, line by line, or what became of the file.
fn check(path: &str, content: impl AsRef<[u8]>) -> String {
    let report = report(&mut Schemas::default(), path, content.as_ref());
    match report.completeness {
        Completeness::Excluded => "excluded".to_owned(),
        Completeness::Partial(why) => why,
        Completeness::Complete => {
            let line =
                |it: &Diagnostic| format!("{} {}-{} {}", it.code, it.span.start, it.span.end, it.message);
            report.diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn syntax() {
    for (text, want) in [
        ("{\"a\": [1, -2.5e3, true, null, \"\\u00e9\"]}\n", ""),
        ("{\"a\" 1}", "syntax-error 5-6 a colon is missing after the key"),
        ("{\"a\": 1 \"b\": 2}", "syntax-error 7-8 a comma is missing"),
        ("{\"a\": }", "syntax-error 6-7 unexpected close brace"),
        ("[1, 2", "syntax-error 0-5 the array is not closed"),
        ("{'a': 1}", "syntax-error 1-2 a text should be in double quotes"),
        ("{a: 1}", "syntax-error 1-2 a key should be in double quotes"),
        ("[01]", "syntax-error 2-3 a comma is missing"),
        ("[\"a\tb\"]", "syntax-error 3-4 control character (\\u0000-\\u001F) found while parsing a string"),
        ("[NaN]", "syntax-error 1-4 unexpected token"),
        ("", "syntax-error 0-0 the file is empty; JSON has one value"),
        ("\u{feff}[1,,]", "syntax-error 6-7 unexpected comma"),
        ("[\"\\ud800\", \"\\udead\"]", ""),
        ("{}\nx", "syntax-error 3-4 nothing should follow the value"),
    ] {
        assert_eq!(check("a.json", text), want, "{text}");
    }
}

#[test]
fn bytes() {
    assert_eq!(
        check("a.json", b"[\"\xff\"]"),
        "syntax-error 2-3 not valid UTF-8: byte 0xFF does not belong here"
    );
    assert_eq!(check("a.json", b"\xff\xfe[\0]\0"), "syntax-error 0-1 the file is UTF-16, but JSON is UTF-8");
    assert_eq!(check("a.json", "[".repeat(10_000)), "it is nested too deep to be looked at");
    let deep = format!("{}{}", "{\"a\":".repeat(200), "[".repeat(100));
    assert!(check("a.json", deep).starts_with("syntax-error"));
    assert_eq!(
        check("a.json", "{\r\n\"a\": 1,\r\n\"a\": 2\r\n}\r\n"),
        "duplicate-key 12-15 the key `a` is there twice; only the last counts"
    );
    assert_eq!(check("a.json", format!("[\"{}\"]", "x".repeat(2_000_000))), "");
}

#[test]
fn dialects() {
    let text = "// c\n{\"a\": [1,], /* d */}";
    assert_eq!(
        check("a.json", text),
        "comment 0-4 JSON has no comments; there are 2 in this file\n\
         trailing-comma 13-14 JSON has no comma after the last item\n\
         trailing-comma 15-16 JSON has no comma after the last item"
    );
    for path in ["a.jsonc", "tsconfig.build.json", ".vscode/settings.json", ".devcontainer/devcontainer.json"]
    {
        assert_eq!(check(path, text), "", "{path}");
    }
    assert_eq!(check("a.jsonc", "{a: 1}"), "syntax-error 1-2 a key should be in double quotes");
    assert_eq!(check("a.json5", "{a: 'x', b: +.5, c: 0xF, d: Infinity, /**/}"), "");
    assert_eq!(check("tsconfig.json", "// nothing\n"), "");
    assert_eq!(check("a.json5", "{null_a: 1, trueish : null, 'b': {falsé: true, null$: 'c'}, null: 1}"), "");
    assert_eq!(check("a.json5", "{null_a: 1, b 2}"), "syntax-error 14-15 a colon is missing after the key");
    assert_eq!(check("a.json5", "{null_a 1}"), "syntax-error 8-9 a colon is missing after the key");
    assert_eq!(check("a.json5", "{null_a: nullish}"), "syntax-error 9-16 unexpected token");
}

#[test]
fn commas_are_fixed() {
    let report = report(&mut Schemas::default(), "a.json", b"\xef\xbb\xbf[1 , ]");
    let fix = &report.diagnostics[0].fixes[0];
    assert_eq!((fix.edits[0].span.start, fix.edits[0].span.end), (6, 7));
    assert_eq!((fix.applicability, fix.edits[0].replacement.as_str()), (Applicability::Safe, ""));
}

#[test]
fn what_is_no_json_on_purpose() {
    assert_eq!(check("a.json", "{\"a\": {{ value }}}"), "excluded");
    assert_eq!(check("a.json", "{% if x %}{}{% endif %}"), "excluded");
    assert_eq!(check("a.json", "---\nlayout: null\n---\n{\"a\": 1}\n"), "excluded", "front matter");
    assert_eq!(check("a.json", "{\"a\": @VERSION@}"), "excluded");
    assert_eq!(check("a.json", "{{\"a\": 1}}"), "syntax-error 1-2 unexpected token in object", "no template");
    assert_eq!(check("docs/_includes/a.json", "\n"), "excluded", "a part of other files");
    assert_eq!(check("docs/_includes/a.json", "\"a\": 1,\n"), "excluded");
    assert_eq!(check("a.json", "{\"a\": 1}\n{\"a\": 2}\n"), "excluded", "a stream");
    assert_eq!(check("a.json", "[] []"), "syntax-error 3-4 nothing should follow the value");
    assert_eq!(check(".eslintrc", "extends: x\n"), "excluded", "YAML");
    assert_eq!(check(".eslintrc", "{\"root\": true, // c\n}"), "");
    assert_eq!(check("a.json", "{\"a\": \"{{ x }}\",}").lines().count(), 1, "in a text only");
}

#[test]
fn duplicate_keys() {
    let text = "{\"a\": 1, \"b\": {\"a\": 2, \"a\": 3}, \"\\u0061\": 4, \"//\": 1, \"//\": 2}";
    let report = report(&mut Schemas::default(), "a.json", text.as_bytes());
    let told: Vec<_> =
        report.diagnostics.iter().map(|it| (it.span.start, it.related[0].span.start)).collect();
    assert_eq!(told, [(23, 15), (32, 1)]);
}

#[test]
fn schemas() {
    assert_eq!(
        check("package.json", "{\n  \"name\": \"a\",\n  \"scripts\": {\"test\": 1},\n  \"files\": {\n  }\n}"),
        "schema 39-40 should be a string, not a number\nschema 45-52 should be an array, not an object"
    );
    assert_eq!(
        check("tsconfig.json", "{\"compilerOptions\": {\"strct\": true}} // c"),
        "schema 21-28 unknown property `strct`; did you mean `strict`?"
    );
    let of_today = "{\"packageManager\": \"bun@1.1.0\", \"workspaces\": {\"catalog\": {\"a\": \"1\"}}, \"prettier\": \"@a/b\"}";
    assert_eq!(check("package.json", of_today), "");
    assert_eq!(check("a.json", "{\"$schema\": \"https://example.org/x\", \"a\": 1}"), "");
    assert_eq!(
        check("a.json", "{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"type\": 1}"),
        "schema 63-64 should be a string or an array, not a number"
    );
}

#[test]
fn rules_have_unique_codes() {
    let mut codes: Vec<_> = rules::all().into_iter().map(|it| it.code).collect();
    codes.dedup();
    assert_eq!(codes.len(), 5);
}

/// Cut anywhere, or with a sign changed, a file is still answered, and every finding is about a part of it.
#[test]
fn broken_anywhere() {
    let mut schemas = Schemas::default();
    let whole = "\u{feff}{\r\n  \"name\": \"Größe \\u00e9\", // ✓\n  \"scripts\": {\"a\": [1, -2e3, tru, {},],},\n  \"name\": 1}\n";
    for at in 0..whole.len() {
        for sign in ["", "\u{0}", "\t", "'", "é", "{{", "\\u12", "}"] {
            let cut = [&whole.as_bytes()[..at], sign.as_bytes()].concat();
            let changed = [&cut, &whole.as_bytes()[at + 1..]].concat();
            for (path, content) in [("package.json", &cut), ("package.json", &changed), ("a.json5", &changed)]
            {
                for it in &report(&mut schemas, path, content).diagnostics {
                    let range = it.span.start as usize..it.span.end as usize;
                    let is_part = match std::str::from_utf8(content) {
                        Ok(text) => text.get(range).is_some(),
                        Err(_) => range.end <= content.len(),
                    };
                    assert!(is_part, "{it:?}");
                }
            }
        }
    }
}

#[test]
fn what_other_readers_take() {
    let commented = "{\n  // a comment\n  \"version\": 1\n}\n";
    for path in ["asv.conf.json", "benchmarks/asv.conf.dev.json", "angular.json", "tslint.base.json"] {
        assert_eq!(check(path, commented), "", "{path}");
    }
    assert!(check("other.json", commented).starts_with("comment "));
    let flow = "{\n  root: true, # as it should be\n  rules: {semi: [2, always]}\n}\n";
    assert_eq!(check(".eslintrc", flow), "excluded", "YAML in braces");
    assert_eq!(check(".eslintrc.json", flow), "syntax-error 4-8 a key should be in double quotes");
}

#[test]
fn an_empty_name_is_told_once() {
    assert_eq!(check("package.json", "{\"name\": \"\"}"), "schema 9-11 should not be empty");
}

#[test]
fn what_editors_and_others_read_where_it_is_kept() {
    let commented = "{\n  // a comment\n  \"version\": \"1\",\n}\n";
    for path in [
        "editors/vscode/launch.json",
        "dotfiles/Code/User/keybindings.json",
        "config/code/User/profiles/work/tasks.json",
        "code/code/User/mcp.json",
        "home/Code - OSS/argv.json",
        "packages/a/.vscode/shared/extensions.json",
        "docs/VSCode/settings.linux.json",
        "home/zed/keymap.json",
        ".neoconf.json",
        "nvim/neoconf.json",
        "dotfiles/.vim/coc-settings.json",
        "sub/.vimspector.json",
        "Windows Terminal/settings.json",
        "web/.codesandbox/tasks.json",
        "web.tsconfig.json",
        "jest.config.unit.json",
        "config/rig.json",
    ] {
        assert_eq!(check(path, commented), "", "{path}");
    }
    for path in [
        "vscode/package.json",
        "settings.json",
        "codes/tasks.json",
        "code/server/launch.json",
        "Code/tasks.json",
        "code/server/User/mcp.json",
        "src/User/code/extensions.json",
        ".codesandbox/sandbox.json",
        "zed/launch.json",
        "neoconf/settings.json",
        "terminal/settings.json",
    ] {
        assert!(check(path, commented).starts_with("comment "), "{path}");
    }
}

#[test]
fn what_is_broken_on_purpose() {
    let mut plugin = Json { schemas: Schemas::default() };
    let mut told = |path: &str, named: &str, content: &str| {
        let file = SourceFile { path: path.to_owned(), content: content.into(), named: named.to_owned() };
        let report = plugin.check(&file).unwrap();
        (matches!(report.completeness, Completeness::Excluded), report.diagnostics.len())
    };
    let broken = "{ \"a\": }\n";
    for path in ["spec/fixtures/a.json", "tests/invalid-manifests/a.json", "pkg/testdata/a.json"] {
        assert_eq!(told(path, "", broken), (true, 0), "{path}");
    }
    assert_eq!(told("src/a.json", "", broken), (false, 1));
    assert_eq!(told("spec/fixtures/a.json", "spec/fixtures/a.json", broken), (false, 1), "it is named");
    assert_eq!(told("fixtures/a.json", "", "{\"a\": 1, \"a\": 2}\n"), (false, 1), "it can be read");
}
