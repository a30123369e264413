//! Which rules hold for which file.

use super::*;

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

const OPINIONS: &str = "export async function f(a: any, b: {}) {\n  if (a) { function g() {} g(); }\n}\n\
                        // @ts-ignore\nexport let c = () => {};\nlet d = 1;\nexport { d };\n\
                        export const e = /[^\\x00-\\x7F]/;\n";

const WRONG: &str = "import a from \"a\";\nexport const b = { c: 1, c: 2 };\nb = NaN === b;\n";

/// Three quarters of what deno's own set of rules finds in projects that never asked for it.
#[test]
fn opinions_are_denos() {
    let files = [("a.ts", OPINIONS), ("b.ts", WRONG)];
    let mut repo = Repo::new(&files);
    assert_eq!(repo.check("a.ts"), "");
    assert_eq!(repo.check("b.ts"), "no-unused-vars no-dupe-keys no-const-assign use-isnan");
    let mut repo = Repo::new(&[&files[..], &[("deno.json", "{}")]].concat());
    assert_eq!(
        repo.check("a.ts"),
        "require-await no-explicit-any no-unused-vars ban-types no-inner-declarations ban-ts-comment prefer-const \
         prefer-const no-control-regex"
    );
}

#[test]
fn another_linter_has_its_own_opinion() {
    let check = |files: &[(&str, &str)]| Repo::new(&[files, &[("in/b.ts", WRONG)]].concat()).check("in/b.ts");
    let (alone, beside) =
        ("no-unused-vars no-dupe-keys no-const-assign use-isnan", "no-dupe-keys no-const-assign use-isnan");
    for name in [
        "eslint.config.mjs",
        ".eslintrc.json",
        ".oxlintrc.json",
        "biome.json",
        "in/biome.jsonc",
        "tslint.json",
    ] {
        assert_eq!(check(&[(name, "")]), beside, "{name}");
    }
    assert_eq!(check(&[("package.json", r#"{"eslintConfig": {}}"#)]), beside);
    assert_eq!(check(&[("package.json", r#"{"devDependencies": {"standard": "17"}}"#)]), beside);
    assert_eq!(check(&[("package.json", r#"{"devDependencies": {"eslint": "9"}}"#)]), alone);
    assert_eq!(check(&[("package.json", "{")]), alone, "another plugin tells that");
    assert_eq!(check(&[("beside/eslint.config.mjs", "")]), alone);
    assert_eq!(check(&[("biome.json", ""), ("deno.json", "{}")]), beside, "it says nothing of linting");
    assert_eq!(check(&[("biome.json", ""), ("in/deno.json", "{}")]), beside);
    assert_eq!(check(&[("biome.json", ""), ("deno.json", r#"{"exclude": ["in"]}"#)]), "excluded");
    let deno = r#"{"lint": {"rules": {"tags": [], "include": ["no-dupe-keys"]}}}"#;
    assert_eq!(check(&[("biome.json", ""), ("deno.json", deno)]), "no-dupe-keys");
    let mut repo = Repo::new(&[("biome.json", ""), ("b.ts", WRONG)]);
    repo = repo.with(Settings { isolated: true, ..settings() });
    assert_eq!(repo.check("b.ts"), alone);
    assert_eq!(repo.with(select(&["no-unused-vars"])).check("b.ts"), "no-unused-vars");
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
    let long = format!("var a = NaN == [{}];\n", "1, ".repeat(4000));
    let mut repo = Repo::new(&[
        ("a.min.js", "a == NaN;\n"),
        ("bundle.js", &long),
        ("mixed.js", &format!("{long}{}", "var b;\n".repeat(2000))),
        ("short.js", &format!("var a = NaN == '{}';\n", "x".repeat(700))),
    ]);
    assert_eq!(repo.check("a.min.js"), "excluded");
    assert_eq!(repo.check("bundle.js"), "excluded");
    assert_eq!(repo.check("mixed.js"), "use-isnan");
    assert_eq!(repo.check("short.js"), "use-isnan");
    assert_eq!(told(repo.report("a.min.js", "a.min.js")), "use-isnan");
}

#[test]
fn user_overrides() {
    let config = r#"{"lint": {"rules": {"tags": [], "include": ["eqeqeq"]}}}"#;
    let files = [
        ("deno.json", config),
        ("a.ts", "// deno-lint-ignore no-eval\nvar a = 1 == 2;\nwindow.a;\nexport {};\n"),
    ];
    let mut repo = Repo::new(&files);
    assert_eq!(repo.check("a.ts"), "eqeqeq");
    let mut repo = Repo::new(&files).with(select(&["no-var", "no-window"]));
    assert_eq!(repo.check("a.ts"), "no-var no-window");
    let ignore = vec!["eqeqeq".to_owned()];
    let mut repo = Repo::new(&files).with(Settings { ignore, ..settings() });
    assert_eq!(repo.check("a.ts"), "");
    let mut repo = Repo::new(&files).with(Settings { isolated: true, ..settings() });
    assert_eq!(repo.check("a.ts"), "no-unused-vars", "and no project of Deno's");
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
