//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;

use broker_plugin_sdk::*;
use tempfile::TempDir;

use crate::JavaScript;

/// A directory with files in it and the plugin over it.
struct Repo {
    root: TempDir,
    plugin: JavaScript,
}

impl Repo {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = TempDir::new().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let plugin = JavaScript::at(root.path());
        Self { root, plugin }
    }

    fn with(mut self, settings: Settings) -> Self {
        self.plugin.configure(&Settings { root: self.root(), ..settings }).unwrap();
        self
    }

    fn root(&self) -> String {
        self.root.path().to_str().unwrap().to_owned()
    }

    fn report(&mut self, path: &str, named: &str) -> Result<Report, String> {
        let content = fs::read(self.root.path().join(path)).unwrap();
        self.plugin.check(&SourceFile { path: path.to_owned(), content, named: named.to_owned() })
    }

    /// The codes found, in the order of the text; `excluded`, or what is wrong with the configuration.
    fn check(&mut self, path: &str) -> String {
        told(self.report(path, ""))
    }
}

fn told(report: Result<Report, String>) -> String {
    match report {
        Ok(Report { completeness: Completeness::Excluded, .. }) => "excluded".to_owned(),
        Ok(report) => report.diagnostics.iter().map(|it| it.code.as_str()).collect::<Vec<_>>().join(" "),
        Err(error) => error,
    }
}

fn settings() -> Settings {
    Settings { root: String::new(), select: None, ignore: Vec::new(), isolated: false, config: None }
}

fn select(selectors: &[&str]) -> Settings {
    Settings { select: Some(selectors.iter().map(|it| (*it).to_owned()).collect()), ..settings() }
}

#[test]
fn projects() {
    let imported = "import a from \"npm:a\";\nconsole.log(window.b, a);\n";
    let mut repo = Repo::new(&[
        ("plain/a.ts", imported),
        ("deno/deno.jsonc", "{ /* all defaults */ }"),
        ("deno/a.ts", imported),
        ("deno/deep/a.ts", imported),
        ("deno/quiet/deno.json", r#"{"lint": {"rules": {"tags": [], "include": ["no-window", "eqeqeq"]}}}"#),
        ("deno/quiet/a.ts", imported),
        ("package/deno.json", r#"{"name": "@a/b", "version": "1.0.0", "exports": "./a.ts"}"#),
        ("package/a.ts", "import { T } from \"./t.ts\";\nexport const t: T = 1;\n"),
    ]);
    assert_eq!(repo.check("plain/a.ts"), "", "no project of Deno's");
    let deno = "no-import-prefix no-unversioned-import no-window";
    assert_eq!(repo.check("deno/a.ts"), deno);
    assert_eq!(repo.check("deno/deep/a.ts"), deno);
    assert_eq!(repo.check("deno/quiet/a.ts"), "no-window", "the nearest configuration alone");
    assert_eq!(repo.check("package/a.ts"), "verbatim-module-syntax");
}

#[test]
fn members_of_a_workspace() {
    let root = r#"{"workspace": ["./packages/*"], "exclude": ["**/gen/"],
        "lint": {"rules": {"tags": [], "include": ["no-var", "eqeqeq"]}}}"#;
    let text = "var a = 1 == 2;\nwindow.a;\n";
    let mut repo = Repo::new(&[
        ("deno.json", root),
        ("a.ts", text),
        (
            "packages/one/deno.json",
            r#"{"lint": {"rules": {"include": ["no-window"], "exclude": ["no-var"]}}}"#,
        ),
        ("packages/one/a.ts", text),
        ("packages/one/gen/a.ts", text),
        ("packages/two/deno.json", "{}"),
        ("packages/two/a.ts", text),
    ]);
    assert_eq!(repo.check("a.ts"), "no-var eqeqeq");
    assert_eq!(repo.check("packages/one/a.ts"), "eqeqeq no-window");
    assert_eq!(repo.check("packages/one/gen/a.ts"), "excluded");
    assert_eq!(repo.check("packages/two/a.ts"), "no-var eqeqeq");
}

#[test]
fn exclusions() {
    let config = r#"{"exclude": ["gen", "!gen/keep"], "vendor": true,
        "lint": {"include": ["src/", "gen/", "vendor/", "other/*.mjs"], "exclude": ["**/*.quiet.ts", "src/old/"]}}"#;
    let files = [
        "src/a.ts",
        "src/b.quiet.ts",
        "src/old/deep/a.ts",
        "gen/a.ts",
        "gen/keep/a.ts",
        "other/a.ts",
        "other/a.mjs",
        "vendor/a.ts",
        "src/node_modules/a/a.js",
    ];
    let mut repo = Repo::new(&[("deno.json", config)]);
    for path in files {
        fs::create_dir_all(repo.root.path().join(path).parent().unwrap()).unwrap();
        fs::write(repo.root.path().join(path), "var a = 1;\n").unwrap();
    }
    let mut found = |named: &str| {
        let told = |it: &&&str| told(repo.report(it, if named == "*" { it } else { named })) != "excluded";
        files.iter().filter(told).copied().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found(""), "src/a.ts gen/keep/a.ts other/a.mjs", "as deno finds them");
    assert_eq!(found("*"), files.join(" "), "what is named is never left out");
    let mut below = |named: &str, path: &str| told(repo.report(path, named)) != "excluded";
    assert!(below("other", "other/a.ts"), "what is named takes the place of `include`");
    assert!(below("gen", "gen/a.ts"), "`exclude` leaves out what is below, not what is named");
    assert!(below("src/old", "src/old/deep/a.ts"));
    assert!(!below("src", "src/old/deep/a.ts"));
    assert!(below("src/node_modules/a", "src/node_modules/a/a.js"));
}

#[test]
fn what_programs_wrote() {
    let long = format!("var a = [{}];\n", "1, ".repeat(4000));
    let mut repo = Repo::new(&[
        ("a.min.js", "var a = 1;\n"),
        ("bundle.js", &long),
        ("mixed.js", &format!("{long}{}", "var b;\n".repeat(2000))),
        ("short.js", &format!("var a = '{}';\n", "x".repeat(700))),
    ]);
    assert_eq!(repo.check("a.min.js"), "excluded");
    assert_eq!(repo.check("bundle.js"), "excluded");
    assert!(repo.check("mixed.js").starts_with("no-var"));
    assert!(repo.check("short.js").starts_with("no-var"));
    assert_eq!(told(repo.report("a.min.js", "a.min.js")), "no-var no-unused-vars");
}

#[test]
fn user_overrides() {
    let config = r#"{"lint": {"rules": {"tags": [], "include": ["eqeqeq"]}}}"#;
    let files =
        [("deno.json", config), ("a.ts", "// deno-lint-ignore no-eval\nvar a = 1 == 2;\nwindow.a;\n")];
    let mut repo = Repo::new(&files);
    assert_eq!(repo.check("a.ts"), "eqeqeq");
    let mut repo = Repo::new(&files).with(select(&["no-var", "no-window"]));
    assert_eq!(repo.check("a.ts"), "no-var no-window");
    let ignore = vec!["eqeqeq".to_owned()];
    let mut repo = Repo::new(&files).with(Settings { ignore, ..settings() });
    assert_eq!(repo.check("a.ts"), "");
    let mut repo = Repo::new(&files).with(Settings { isolated: true, ..settings() });
    assert_eq!(repo.check("a.ts"), "no-var no-unused-vars", "and no project of Deno's");
    let mut repo = Repo::new(&files).with(select(&["ALL"]));
    assert_eq!(repo.check("a.ts"), "ban-unused-ignore no-var no-unused-vars eqeqeq no-window");
}

#[test]
fn one_configuration_for_all() {
    let mut repo = Repo::new(&[
        ("deno.json", "nonsense"),
        ("ci/strict.json", r#"{"lint": {"rules": {"tags": [], "include": ["eqeqeq"]}}}"#),
        ("pkg/deno.json", "{}"),
        ("pkg/a.ts", "var a = 1 == 2;\nexport default a;\n"),
    ])
    .with(Settings { config: Some("ci/strict.json".to_owned()), ..settings() });
    assert_eq!(repo.check("pkg/a.ts"), "eqeqeq");
}

#[test]
fn unknown_selectors_are_told_and_the_others_hold() {
    let mut repo = Repo::new(&[("a.ts", "var a = 1;\n")]);
    let wanted = Settings { ignore: vec!["NOPE".to_owned()], root: repo.root(), ..select(&["no-var", "Z9"]) };
    let Err(SettingsError::UnknownSelectors(unknown)) = repo.plugin.configure(&wanted) else {
        panic!("should be told");
    };
    assert_eq!(unknown, ["Z9", "NOPE"]);
    assert_eq!(repo.check("a.ts"), "no-var");
}

#[test]
fn broken_configurations() {
    let told = |config: &str| {
        let mut repo = Repo::new(&[("pkg/deno.json", config), ("pkg/a.ts", ""), ("b.ts", "")]);
        assert_eq!(repo.check("b.ts"), "", "elsewhere nothing is wrong");
        repo.check("pkg/a.ts")
    };
    assert_eq!(told("{"), "cannot use `pkg/deno.json`: Unterminated object on line 1 column 2");
    assert!(told("[]").starts_with("cannot use `pkg/deno.json`: invalid length 0"));
    let rules = "unknown field `rulez`, expected one of `rules`, `include`, `exclude`";
    let wrong = format!("cannot use `pkg/deno.json`: Failed to parse \"lint\" configuration: {rules}");
    assert!(told(r#"{"lint": {"rulez": {}}}"#).starts_with(&wrong));
    assert!(told(r#"{"exclude": 1}"#).starts_with("cannot use `pkg/deno.json`: "));
    assert!(
        told(r#"{"workspace": ["../away"]}"#).contains("Workspace member must be nested"),
        "{}",
        told(r#"{"workspace": ["../away"]}"#)
    );
    let mut repo =
        Repo::new(&[("a.ts", "")]).with(Settings { config: Some("gone.json".to_owned()), ..settings() });
    assert_eq!(repo.check("a.ts"), "cannot use `gone.json`: No such file or directory (os error 2)");
}

#[test]
fn suppressions() {
    let mut repo = Repo::new(&[
        ("file.ts", "// deno-lint-ignore-file\nvar a = 1;\n"),
        ("code.ts", "// deno-lint-ignore-file no-var -- old code\nvar a = 1;\n"),
        ("line.ts", "// deno-lint-ignore no-var, no-unused-vars\nvar a = 1;\n"),
        ("unused.ts", "// deno-lint-ignore no-var no-slow-types\nexport const a = 1;\n"),
        ("unknown.ts", "// deno-lint-ignore nonsense\nexport const a = 1;\n"),
        ("untagged.ts", "// deno-lint-ignore\nvar a = 1;\n"),
        ("off.ts", "// deno-lint-ignore no-window\nexport const a = 1;\n"),
        ("plugins/deno.json", r#"{"lint": {"plugins": ["./mine.ts"]}}"#),
        ("plugins/a.ts", "// deno-lint-ignore mine/rule\nexport const a = 1;\n"),
        ("excluded/deno.json", r#"{"lint": {"rules": {"exclude": ["ban-unused-ignore"]}}}"#),
        ("excluded/a.ts", "// deno-lint-ignore no-var\nexport const a = 1;\n"),
    ]);
    assert_eq!(repo.check("file.ts"), "");
    assert_eq!(repo.check("code.ts"), "no-unused-vars");
    assert_eq!(repo.check("line.ts"), "");
    assert_eq!(repo.check("unused.ts"), "ban-unused-ignore");
    assert_eq!(repo.check("unknown.ts"), "ban-unknown-rule-code");
    assert_eq!(repo.check("untagged.ts"), "ban-untagged-ignore no-var no-unused-vars");
    assert_eq!(repo.check("off.ts"), "", "not on here, so nobody can say that it is not used");
    assert_eq!(repo.check("plugins/a.ts"), "", "it may be a plugin's, and those are not run");
    assert_eq!(repo.check("excluded/a.ts"), "", "deno tells it all the same");
}

#[test]
fn syntax_errors() {
    let mut repo = Repo::new(&[
        ("fatal.ts", "const é = 1;\nlet x = ;\n"),
        ("early.ts", "export const a;\n"),
        ("flow.js", "// @flow\ntype A = {| a: number |};\n"),
        ("view.js", "export default () => <div key={1} />;\n"),
        ("deno/deno.json", "{}"),
        ("deno/view.js", "export default () => <div key={1} />;\n"),
        ("half.js", "function f( {\n  if (a"),
    ]);
    let report = repo.report("fatal.ts", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!((found.code.as_str(), found.severity), ("syntax-error", Severity::Error));
    assert_eq!((found.span.start, found.span.end), (22, 23), "{found:?}");
    assert_eq!(found.message, "Expression expected");
    assert_eq!(repo.check("early.ts"), "syntax-error");
    assert_eq!(repo.check("flow.js"), "syntax-error");
    assert_eq!(repo.check("view.js"), "", "outside Deno, tools let `.js` have JSX");
    assert_eq!(repo.check("deno/view.js"), "syntax-error", "Deno does not");
    assert_eq!(repo.check("half.js"), "syntax-error");
    let mut repo = repo.with(select(&["no-window"]));
    assert_eq!(repo.check("half.js"), "syntax-error", "whatever is selected");
    let mut repo = repo.with(Settings { ignore: vec!["syntax-error".to_owned()], ..settings() });
    assert_eq!(repo.check("half.js"), "");
}

#[test]
fn kinds_of_files() {
    let text = "import type { T } from \"./t.ts\";\nexport type S = T;\n";
    let mut repo = Repo::new(&[
        ("a.mts", text),
        ("a.cts", "import fs = require(\"fs\");\nexport = fs;\n"),
        ("a.d.ts", "declare namespace a {\n  const b: number;\n}\n"),
        ("a.ts", "namespace a {\n  export const b = 1;\n}\nexport default a;\n"),
        ("a.cjs", "module.exports = 010;\nreturn;\n"),
        ("a.mjs", "export const a = await 1;\n"),
        ("a.jsx", "export default () => <a b={true} />;\n"),
        ("empty.ts", ""),
    ]);
    assert_eq!(repo.check("a.mts"), "");
    assert_eq!(repo.check("a.cts"), "");
    assert_eq!(repo.check("a.d.ts"), "");
    assert_eq!(repo.check("a.ts"), "no-namespace");
    assert_eq!(repo.check("a.cjs"), "no-octal");
    assert_eq!(repo.check("a.mjs"), "");
    assert_eq!(repo.check("a.jsx"), "jsx-boolean-value");
    assert_eq!(repo.check("empty.ts"), "");
}

#[test]
fn spans_are_bytes_of_the_file() {
    let text = "\u{feff}const ä = \"ß😀\"; var ö;\r\n\tvar 𝒳 = ä;\r\n";
    let mut repo = Repo::new(&[("a.ts", text)]).with(select(&["no-var", "no-unused-vars"]));
    let report = repo.report("a.ts", "").unwrap();
    let spans = report.diagnostics.iter().map(|it| &text[it.span.start as usize..it.span.end as usize]);
    assert_eq!(spans.collect::<Vec<_>>(), ["var", "ö", "var", "𝒳"]);
    fs::write(repo.root.path().join("latin.js"), b"// caf\xe9\n").unwrap();
    let report = repo.report("latin.js", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!((found.code.as_str(), found.severity), ("syntax-error", Severity::Error));
    assert_eq!((found.span.start, found.span.end), (6, 7));
}

#[test]
fn messages_tags_and_links() {
    let mut repo = Repo::new(&[("a.ts", "const a = 1;\n")]);
    let report = repo.report("a.ts", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    let hint = "If this is intentional, prefix it with an underscore like `_a`";
    assert_eq!(found.message, format!("`a` is never used: {hint}"));
    assert_eq!((found.severity, found.tags), (Severity::Warning, Tags::UNNECESSARY));
    assert_eq!(found.url.as_deref(), Some("https://docs.deno.com/lint/rules/no-unused-vars"));
}

/// The text after the fix of its only finding, or why there is none.
fn fixed(text: &str) -> String {
    let path = "a.tsx";
    let mut repo = Repo::new(&[(path, text), ("deno.json", "{}")]).with(select(&[
        "jsx",
        "no-window",
        "no-process-global",
    ]));
    let report = repo.report(path, "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    let Some(fix) = found.fixes.first() else { return "no fix".to_owned() };
    let mut text = text.to_owned();
    for edit in fix.edits.iter().rev() {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
    }
    format!("{:?} {text}", fix.applicability)
}

#[test]
fn fixes() {
    assert_eq!(fixed("<a ä b={true} />"), "Applicability::Safe <a ä b />");
    assert_eq!(fixed("\u{feff}<a>ä ></a>"), "Applicability::Safe \u{feff}<a>ä &gt;</a>");
    assert_eq!(fixed("<a b={'c'} />"), "Applicability::Safe <a b=\"c\" />");
    assert_eq!(fixed(r#"<a b={'"'} />"#), "no fix", "a quote would end the attribute");
    assert_eq!(fixed(r#"<a>{"&lt;"}</a>"#), "no fix", "an entity would be read as one");
    assert_eq!(fixed(r#"<a>{"b"}</a>"#), "Applicability::Safe <a>b</a>");
    assert_eq!(fixed("<a {...b} {...b} />"), "Applicability::Safe <a {...b} />");
    assert_eq!(fixed("<a {...b} { ...b } />"), "no fix", "the crate's would leave a brace behind");
    assert_eq!(fixed("window.a;"), "Applicability::Unsafe globalThis.a;");
    assert_eq!(
        fixed("process.exit();"),
        "Applicability::Unsafe import process from \"node:process\";\nprocess.exit();"
    );
}

#[test]
fn jsx_factories() {
    let text = "import React from \"react\";\nimport { h } from \"preact\";\nexport default <a />;\n";
    let config = |jsx: &str| format!(r#"{{"compilerOptions": {{"jsx": "{jsx}", "jsxFactory": "h"}}}}"#);
    let mut repo = Repo::new(&[
        ("plain/a.tsx", text),
        ("classic/deno.json", &config("react")),
        ("classic/a.tsx", text),
        ("automatic/deno.json", &config("react-jsx")),
        ("automatic/a.tsx", text),
        ("broken/deno.json", r#"{"compilerOptions": {"jsxFactory": "h("}}"#),
        ("broken/a.tsx", text),
    ]);
    let mut unused = |path: &str| {
        let report = repo.report(path, "").unwrap();
        let spans = report.diagnostics.iter().map(|it| &text[it.span.start as usize..it.span.end as usize]);
        spans.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(unused("plain/a.tsx"), "h");
    assert_eq!(unused("classic/a.tsx"), "React");
    assert_eq!(unused("automatic/a.tsx"), "React h");
    assert_eq!(unused("broken/a.tsx"), "h");
}

#[test]
fn nesting() {
    let deep = |levels: usize| format!("export default {}1{};\n", "[".repeat(levels), "]".repeat(levels));
    let mut repo = Repo::new(&[("deep.js", &deep(10_000)), ("flat.js", &"(a); ".repeat(10_000))]);
    let report = repo.report("deep.js", "deep.js").unwrap();
    let Completeness::Partial(why) = &report.completeness else { panic!("{report:?}") };
    assert_eq!(why, "not parsed, as it is nested more than 4000 levels deep");
    assert_eq!(told(repo.report("flat.js", "flat.js")), "");
}

#[test]
fn one_file_has_no_say_in_another() {
    let mut repo = Repo::new(&[("a.ts", "// deno-lint-ignore-file\n"), ("b.ts", "var a = 1;\n")]);
    let alone = repo.check("b.ts");
    assert_eq!(repo.check("a.ts"), "");
    assert_eq!(repo.check("b.ts"), alone);
}
