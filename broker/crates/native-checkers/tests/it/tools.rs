//! Real tools on branches: the errors that only they know, the disk untouched, projects that do not compile.

use crate::fixture::{World, has, state_of};
use native_checkers::Checker;

fn check(world: &World, checker: &str, edits: &[(&str, &str)], files: &[&str]) -> String {
    let checker = Checker::named(checker).unwrap();
    world.check(checker, &world.branch(edits), files)
}

const ROOT: &str = "[workspace]\nmembers = ['one', 'two', 'three']\nresolver = '2'\n";

fn package(name: &str, of: &str) -> String {
    let dependency = if of.is_empty() {
        String::new()
    } else {
        format!("[dependencies]\n{of} = {{ path = '../{of}' }}\n")
    };
    format!("[package]\nname = '{name}'\nversion = '0.1.0'\nedition = '2021'\n{dependency}")
}

#[test]
fn cargo_check_finds_what_only_rustc_knows() {
    let packages = [package("one", ""), package("two", "one"), package("three", "two")];
    let world = World::new(&[
        ("Cargo.toml", ROOT),
        ("one/Cargo.toml", &packages[0]),
        ("one/src/lib.rs", "pub struct S(pub String);\npub fn take(s: S) -> usize { s.0.len() }\n"),
        ("two/Cargo.toml", &packages[1]),
        (
            "two/src/lib.rs",
            "mod inner;\npub fn two() -> usize { one::take(one::S(String::new())) + inner::inner() }\n",
        ),
        ("two/src/inner.rs", "pub fn inner() -> usize { one::take(one::S(String::new())) }\n"),
        ("three/Cargo.toml", &packages[2]),
        ("three/src/lib.rs", "pub fn three() -> usize { two::two() }\n"),
    ]);
    if !has(&world, "cargo-check") {
        return;
    }
    // Builds the workspace as the user's own cargo leaves it.
    let status = std::process::Command::new("cargo")
        .args(["check", "--workspace", "--all-targets", "--offline", "--quiet"])
        .current_dir(world.root())
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status();
    assert!(status.unwrap().success());
    let before = state_of(&world.root());
    let files = ["one/src/lib.rs", "two/src/inner.rs", "two/src/lib.rs", "three/src/lib.rs"];
    let moved =
        "pub fn inner() -> usize {\n    let s = one::S(String::new());\n    one::take(s) + s.0.len()\n}\n";
    insta::assert_snapshot!("borrow", check(&world, "cargo-check", &[("two/src/inner.rs", moved)], &files));
    let signature = "pub struct S(pub String);\npub fn take(s: S, _: u8) -> usize { s.0.len() }\n";
    insta::assert_snapshot!(
        "two_files",
        check(&world, "cargo-check", &[("one/src/lib.rs", signature)], &files)
    );
    insta::assert_snapshot!(
        "clean",
        check(&world, "cargo-check", &[("two/src/inner.rs", "pub fn inner() -> usize { 1 }\n")], &files)
    );
    let manifest = check(&world, "cargo-check", &[("one/Cargo.toml", "[package]\nname = 1\n")], &files[..1]);
    assert!(
        manifest.starts_with("one/src/lib.rs: failed: cargo-check: it ended with exit code 101"),
        "{manifest}"
    );
    let missing = format!("{}missing-crate = '1'\n", packages[1]);
    let offline = check(&world, "cargo-check", &[("two/Cargo.toml", &missing)], &files[..1]);
    assert!(offline.contains(": failed: ") && offline.contains("missing-crate"), "{offline}");
    assert_eq!(state_of(&world.root()), before);
}

#[test]
fn cargo_clippy() {
    let text = "pub fn empty(v: &Vec<u8>) -> bool {\n    return v.len() == 0;\n}\n";
    let world = World::new(&[("Cargo.toml", &package("one", "")), ("src/lib.rs", "")]);
    if has(&world, "cargo-clippy") {
        insta::assert_snapshot!(check(&world, "cargo-clippy", &[("src/lib.rs", text)], &["src/lib.rs"]));
    }
}

#[test]
fn go() {
    let world = World::new(&[
        ("go.mod", "module example.com/m\n\ngo 1.18\n"),
        ("a.go", "package m\n\nfunc F(x int) int { return x }\n"),
        ("b/b.go", "package b\n\nimport \"example.com/m\"\n\nvar X = m.F(1)\n"),
        ("c/c.go", "package c\n\nimport \"example.com/m\"\n\nvar X = m.F(2)\n"),
    ]);
    let files = ["a.go", "b/b.go", "c/c.go"];
    if has(&world, "go-build") {
        insta::assert_snapshot!(
            "go_build",
            check(
                &world,
                "go-build",
                &[("a.go", "package m\n\nfunc F(x string) int { return x }\n")],
                &files
            )
        );
        insta::assert_snapshot!(
            "go_build_2",
            check(
                &world,
                "go-build",
                &[("a.go", "package m\n\nfunc F(x string) int { return len(x) }\n")],
                &files
            )
        );
        insta::assert_snapshot!(
            "go_vet",
            check(
                &world,
                "go-vet",
                &[(
                    "a.go",
                    "package m\n\nimport \"fmt\"\n\nfunc F(x int) int { fmt.Printf(\"%s\", x); return x }\n"
                )],
                &files
            )
        );
    }
}

#[test]
fn tsc() {
    let config =
        r#"{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "include": ["src"] }"#;
    let world = World::new(&[
        ("tsconfig.json", config),
        ("src/a.ts", "export function f(x: number): number { return x; }\n"),
        ("src/b.ts", "import { f } from './a';\nexport const b = f(1);\n"),
    ]);
    if has(&world, "tsc") {
        let edit = [("src/a.ts", "export function f(x: string): number { return x; }\n")];
        insta::assert_snapshot!(check(&world, "tsc", &edit, &["src/a.ts", "src/b.ts"]));
    }
}

#[test]
fn python() {
    let world = World::new(&[
        ("a.py", "from b import f\n\nf(1)\n"),
        ("b.py", "def f(x: int) -> int:\n    return x\n"),
    ]);
    let edit = [("b.py", "def f(x: str) -> int:\n    return x\n")];
    for checker in ["mypy", "pyright-cli", "pylint"] {
        if has(&world, checker) {
            insta::assert_snapshot!(checker, check(&world, checker, &edit, &["a.py", "b.py"]));
        }
    }
    if has(&world, "mypy") {
        insta::assert_snapshot!(
            "mypy_aborted",
            check(&world, "mypy", &[("b.py", "def f(:\n")], &["a.py", "b.py"])
        );
    }
}

#[test]
fn ruff() {
    let world = World::new(&[("ruff.toml", "lint.select = ['E', 'F']\n"), ("a.py", "")]);
    if has(&world, "ruff") {
        let text = "import os\n\nx = 1\nif x == None:\n    pass\n";
        let edits = [("a.py", text), ("b.py", "def f(:\n")];
        insta::assert_snapshot!(check(&world, "ruff", &edits, &["a.py", "b.py"]));
    }
}

#[test]
fn shellcheck() {
    let world = World::new(&[("a.sh", "#!/bin/sh\necho\n")]);
    if has(&world, "shellcheck") {
        insta::assert_snapshot!(check(&world, "shellcheck", &[("a.sh", "#!/bin/sh\necho $1\n")], &["a.sh"]));
    }
}

#[test]
fn stylelint() {
    let config = r#"{ "rules": { "color-hex-length": "short", "block-no-empty": [true, { "severity": "warning" }] } }"#;
    let world =
        World::new(&[(".stylelintrc.json", config), (".stylelintignore", "c.css\n"), ("a.css", "a {}\n")]);
    if has(&world, "stylelint") {
        let edits = [
            ("a.css", "a { content: 'é'; color: #ffffff }\nb {}\n"),
            ("b.css", "a {\n"),
            ("c.css", "a {}\n"),
        ];
        insta::assert_snapshot!(check(&world, "stylelint", &edits, &["a.css", "b.css", "c.css"]));
        let alone = check(&world, "stylelint", &[("c.css", "a {}\n")], &["c.css"]);
        assert_eq!(alone, "c.css: excluded: stylelint does not look at it in this project\n");
    }
}

#[test]
fn hadolint() {
    let world = World::new(&[(".hadolint.yaml", "ignored: [DL3008]\n"), ("Dockerfile", "FROM debian:12\n")]);
    if has(&world, "hadolint") {
        let text = "FROM debian\nRUN apt-get install -y foo && cd /tmp && echo $x\n";
        let edits = [("Dockerfile", text), ("a.dockerfile", "FROM debian:12\nRUNN x\n")];
        insta::assert_snapshot!(check(&world, "hadolint", &edits, &["Dockerfile", "a.dockerfile"]));
    }
}

#[test]
fn markdownlint() {
    let world =
        World::new(&[(".markdownlint.json", r#"{ "MD013": false }"#), ("a.md", "# A\n"), ("b.md", "# B\n")]);
    if has(&world, "markdownlint-cli2") {
        let edits = [("a.md", "# é: A\n# Again\n\ntext  \n*\tlist\n")];
        insta::assert_snapshot!(check(&world, "markdownlint-cli2", &edits, &["a.md", "b.md"]));
    }
}

#[test]
fn sqlfluff() {
    let world = World::new(&[(".sqlfluff", "[sqlfluff]\ndialect = ansi\n"), ("a.sql", "SELECT a FROM b\n")]);
    if has(&world, "sqlfluff") {
        let edits = [("a.sql", "SELECT 'é',a FROM b\n"), ("b.sql", "SELECT FROM FROM\n")];
        insta::assert_snapshot!(check(&world, "sqlfluff", &edits, &["a.sql", "b.sql"]));
    }
}

#[test]
fn typos() {
    let config = "[files]\nextend-exclude = ['c.txt']\n";
    let world = World::new(&[("typos.toml", config), ("a.txt", "fine\n")]);
    if has(&world, "typos") {
        let edits = [("a.txt", "é recieve\n"), ("recieve/b.txt", "fine\n"), ("c.txt", "recieve\n")];
        insta::assert_snapshot!(check(&world, "typos", &edits, &["a.txt", "recieve/b.txt", "c.txt"]));
    }
}

/// The engine is actionlint's own, the command is not: `tests/checkers/actionlint` stands in for it.
#[test]
fn actionlint() {
    let workflow = ".github/workflows/a.yml";
    let clean = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make\n";
    let world = World::new(&[(workflow, clean), ("b.yml", "on: [\n")]);
    if has(&world, "actionlint") {
        let of = |text: &str| check(&world, "actionlint", &[(workflow, text)], &[workflow]);
        assert_eq!(of(clean), format!("{workflow}: complete\n"));
        let steps = "      - run: echo äöü ${{ foo }}\n      - run: |\n          echo ä\n\n          echo ${{ bar }}\n        \
                     env: { A: '${{ github.nothing }}' }\n        with: 1\n";
        insta::assert_snapshot!(of(&clean.replace("      - run: make\n", steps)));
        // Exit code 3, though its reason is the stand-in's.
        assert!(
            of("on: [\n").starts_with(&format!("{workflow}: failed: actionlint: it ended with exit code 3"))
        );
        let wrong = Checker::defined("actionlint", toml::from_str("command = ['actionlint', '-x']").unwrap());
        let said = world.check(&wrong.unwrap(), &world.disk(), &[workflow]);
        assert!(
            said.starts_with(&format!("{workflow}: failed: actionlint: it ended with exit code 2")),
            "{said}"
        );
    }
}

#[test]
fn eslint() {
    let config = "export default [{ rules: { eqeqeq: 'error', 'prefer-const': 'error' } }];\n";
    let world = World::new(&[("eslint.config.mjs", config), ("a.js", "")]);
    if has(&world, "eslint-cli") {
        let edit = [("a.js", "let a = 1;\nif (a == 2) { alert(); }\n")];
        insta::assert_snapshot!(check(&world, "eslint-cli", &edit, &["a.js"]));
        let broken = check(&world, "eslint-cli", &[("eslint.config.mjs", "export default [{")], &["a.js"]);
        assert!(broken.starts_with("a.js: failed: eslint-cli: it ended with exit code 2"), "{broken}");
    }
}

#[test]
fn clang_tidy() {
    let world = World::new(&[("a.c", ""), (".clang-tidy", "Checks: 'bugprone-*'\n")]);
    let commands = format!(
        r#"[{{ "directory": "{}", "file": "a.c", "command": "cc -c a.c" }}]"#,
        world.root().display()
    );
    world.write("compile_commands.json", &commands);
    if has(&world, "clang-tidy") {
        let edit = [("a.c", "int f(int x) {\n  if (x = 1) return \"a\";\n  return 0;\n}\n")];
        insta::assert_snapshot!(check(&world, "clang-tidy", &edit, &["a.c"]));
    }
}

/// The states of files with what is said of each, without findings.
fn states(text: &str) -> String {
    text.lines().filter(|it| !it.starts_with(' ')).map(|it| format!("{it}\n")).collect()
}

#[test]
fn cargo_check_looks_at_what_targets_take_in() {
    let files = [
        ("Cargo.toml", &*package("one", "")),
        ("src/lib.rs", "mod taken;\npub fn one() { taken::taken() }\n"),
        ("src/taken.rs", "pub fn taken() {}\n"),
        ("src/alone.rs", "this is no Rust\n"),
        ("build.rs", "#[path = 'build/more.rs']\nmod more;\nfn main() { more::more() }\n"),
        ("build/more.rs", "pub fn more() {}\n"),
        ("other/Cargo.toml", &package("other", "")),
        ("other/src/lib.rs", ""),
    ];
    let files = files.map(|(path, text)| (path, text.replace("'build/more.rs'", "\"build/more.rs\"")));
    let world = World::new(&files.each_ref().map(|(path, text)| (*path, text.as_str())));
    if has(&world, "cargo-check") {
        let asked = ["src/alone.rs", "src/lib.rs", "src/taken.rs", "build.rs", "build/more.rs"];
        let edit = [("src/taken.rs", "pub fn taken() { let x = 1; }\n")];
        insta::assert_snapshot!(states(&check(&world, "cargo-check", &edit, &asked)), @r"
        src/alone.rs: excluded: cargo-check does not look at it: no target of the package in the root takes it in
        src/lib.rs: complete
        src/taken.rs: complete
        build.rs: complete
        build/more.rs: complete
        ");
        let edit = [("src/taken.rs", "pub fn taken() -> u8 {}\n")];
        insta::assert_snapshot!(states(&check(&world, "cargo-check", &edit, &asked[1..3])), @r"
        src/lib.rs: complete, aborted
        src/taken.rs: complete, aborted
        ");
    }
}

#[test]
fn go_looks_at_what_build_tags_let_in() {
    let world = World::new(&[
        ("go.mod", "module example.com/m\n\ngo 1.18\n"),
        ("a.go", "package m\n\nfunc F() {}\n"),
        ("a_test.go", "package m\n\nfunc G() {}\n"),
        ("w.go", "//go:build windows\n\npackage m\n\nfunc H() { undefined() }\n"),
        ("testdata/x.go", "package x\n\nvar X = undefined\n"),
    ]);
    let files = ["a.go", "a_test.go", "testdata/x.go", "w.go"];
    if has(&world, "go-build") {
        insta::assert_snapshot!(check(&world, "go-build", &[], &files), @r"
        a.go: complete
        a_test.go: excluded: go-build does not look at it in this project
        testdata/x.go: excluded: go-build does not look at it in this project
        w.go: excluded: go-build does not look at it in this project
        ");
        insta::assert_snapshot!(check(&world, "go-vet", &[], &files), @r"
        a.go: complete
        a_test.go: complete
        testdata/x.go: excluded: go-vet does not look at it in this project
        w.go: excluded: go-vet does not look at it in this project
        ");
        let missing = [("a.go", "package m\n\nimport \"github.com/x/y\"\n\nvar X = y.Y\n")];
        for checker in ["go-build", "go-vet"] {
            let said = check(&world, checker, &missing, &files[..1]);
            assert!(
                said.starts_with(&format!("a.go: partial: {checker}: {checker} stopped looking: ")),
                "{said}"
            );
        }
        // The package that others import does not compile: an error, not a finding of an analyzer.
        let broken = [
            ("a.go", "package m\n\nfunc F() int { return \"\" }\n"),
            ("b/b.go", "package b\n\nimport \"example.com/m\"\n\nvar X = m.F()\n"),
        ];
        let said = check(&world, "go-vet", &broken, &["a.go"]);
        assert!(said.starts_with("a.go: complete, aborted\n") && said.contains(" error vet: "), "{said}");
    }
}

#[test]
fn tsc_looks_at_what_its_configuration_includes() {
    let config = r#"{ "compilerOptions": { "noEmit": true, "types": [] }, "exclude": ["old"] }"#;
    let world = World::new(&[
        ("tsconfig.json", config),
        ("src/a.ts", "export const a: number = 1;\n"),
        ("old/b.ts", "export const b: number = '';\n"),
        ("old/c.ts", "export const c: number = 1;\n"),
    ]);
    if has(&world, "tsc") {
        let edit = [("src/a.ts", "import { c } from '../old/c';\nexport const a: string = c;\n")];
        insta::assert_snapshot!(check(&world, "tsc", &edit, &["old/b.ts", "old/c.ts", "src/a.ts"]), @r#"
        old/b.ts: excluded: tsc does not look at it in this project
        old/c.ts: complete
        src/a.ts: complete
          2:14 "a" error TS2322: Type 'number' is not assignable to type 'string'.
        "#);
    }
}

#[test]
fn mypy_and_eslint_look_at_what_their_configuration_leaves() {
    let eslint = "export default [{ ignores: ['old/**'] }, { rules: { eqeqeq: 'error' } }];\n";
    let world = World::new(&[
        ("mypy.ini", "[mypy]\nexclude = old/\n"),
        ("a.py", "x: int = 1\n"),
        ("old/b.py", "x: int = ''\n"),
        ("eslint.config.mjs", eslint),
        ("a.js", "a === 1;\n"),
        ("old/b.js", "a == 1;\n"),
    ]);
    if has(&world, "mypy") {
        for text in ["x: int = 2\n", "x: int = 3\n"] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(check(&world, "mypy", &[("a.py", text)], &["a.py", "old/b.py"]), @r"
                a.py: complete
                old/b.py: excluded: mypy does not look at it in this project
                ");
            }
        }
    }
    if has(&world, "eslint-cli") {
        insta::assert_snapshot!(check(&world, "eslint-cli", &[], &["a.js", "old/b.js"]), @r"
        a.js: complete
        old/b.js: excluded: eslint-cli does not look at it in this project
        ");
    }
}

#[test]
fn clang_tidy_tells_of_headers_where_they_are_included() {
    let world = World::new(&[
        ("a.c", "#include \"a.h\"\nint g(int x) { return f(x); }\n"),
        ("a.h", "static int f(int x) { return x; }\n"),
        (".clang-tidy", "Checks: 'bugprone-assignment-in-if-condition'\nHeaderFilterRegex: '.*'\n"),
    ]);
    let commands = format!(
        r#"[{{ "directory": "{}", "file": "a.c", "command": "cc -c a.c" }}]"#,
        world.root().display()
    );
    world.write("compile_commands.json", &commands);
    if has(&world, "clang-tidy") {
        let warning = "static int f(int x) {\n  if ((x = 1)) return 2;\n  return 0;\n}\n";
        let of = |text| check(&world, "clang-tidy", &[("a.h", text)], &["a.c"]);
        let said = of(warning);
        assert!(said.contains("1:1 \"#include \\\"a.h\\\"\" warning bugprone"), "{said}");
        assert!(said.contains("in `a.h`, line 2: ") && said.contains("    a.h:2:"), "{said}");
        let said = of("static int f(int x) {\n  return y;\n}\n");
        assert!(
            said.starts_with("a.c: complete\n") && said.contains("use of undeclared identifier 'y'"),
            "{said}"
        );
    }
}
