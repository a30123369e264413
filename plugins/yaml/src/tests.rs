//! Findings in small files.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

mod github;

use std::fs;

use super::*;

/// `code line:column text: message`, line by line, or what became of the file.
fn check(path: &str, content: impl AsRef<[u8]>) -> String {
    check_in(Path::new("/nowhere"), path, content.as_ref())
}

fn check_in(root: &Path, path: &str, content: &[u8]) -> String {
    let report = Yaml::at(root).report(path, content);
    let told = report.diagnostics.iter().map(|it| line(it, content)).collect::<Vec<_>>().join("\n");
    match report.completeness {
        Completeness::Excluded => "excluded".to_owned(),
        Completeness::Partial(why) => format!("{told}{why}"),
        Completeness::Complete => told,
    }
}

fn line(it: &Diagnostic, content: &[u8]) -> String {
    let (start, end) = (it.span.start as usize, it.span.end as usize);
    let before = &content[..start];
    let row = before.iter().filter(|it| **it == b'\n').count() + 1;
    let column = start - before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1) + 1;
    format!("{} {row}:{column} `{}`: {}", it.code, String::from_utf8_lossy(&content[start..end]), it.message)
}

const NEEDS_QUOTES: &str =
    "a key is not allowed here: a text with `: ` in it needs quotes, or the indentation is wrong";

#[test]
fn syntax() {
    for (text, want) in [
        ("a: 1\nb: [x, 'y', \"z\"]\nc: |\n  text\n", ""),
        ("", ""),
        ("# nothing\n", ""),
        ("--- a\n--- b\n...\n", ""),
        ("a: !Ref b\nc: !vault |\n  x\nd: !Sub [a, b]\n", ""),
        ("a: &a [*a, *a]\nb: *a\n", ""),
        ("a: b: c\n", &format!("syntax-error 1:5 `:`: {NEEDS_QUOTES}")),
        ("a: @b\n", "syntax-error 1:4 `@`: `@` cannot begin a value: a text that begins so needs quotes"),
        (
            "a: [1, 2\nb: 3\n",
            "syntax-error 2:2 `:`: a `:` cannot be here: a bracket before it may not be closed",
        ),
        ("a:\n\t- b\n", "syntax-error 2:2 `-`: a tab cannot be used for indentation"),
        (
            "a: 'x\n",
            "syntax-error 2:1 ``: the quotes are not closed, or the text's next line is not indented",
        ),
        ("a: 'x\ny'\nb:\n  c: \"one\n  two\n  three\"\n", ""),
        ("a: 'x\ny'\na: 1\n", "duplicate-key 3:1 `a`: the key `a` is there twice"),
        (
            "a: 'x\ny: 1\n",
            "syntax-error 2:1 `y`: the quotes are not closed, or the text's next line is not indented",
        ),
        (
            "- a\nb: 1\n",
            "syntax-error 2:1 `b`: `- ` or the end of the list is expected: the indentation may be wrong",
        ),
        (
            "a: b: c\n---\nd: e: f\n---\ng: 1\ng: 2\n",
            &format!(
                "syntax-error 1:5 `:`: {NEEDS_QUOTES}\nsyntax-error 3:5 `:`: {NEEDS_QUOTES}\n\
                 duplicate-key 6:1 `g`: the key `g` is there twice"
            ),
        ),
    ] {
        assert_eq!(check("a.yml", text), want, "{text}");
    }
}

/// Texts as Go's library writes them; more than the parser could be asked for one by one from the start of the file.
#[test]
fn quoted_texts_that_go_on_with_less_indentation() {
    let rule = format!("a:\n  b:\n    rule: 'x{}'\n", "\n  y ''z''".repeat(150));
    assert_eq!(check("a.yml", &rule), "");
    assert_eq!(check("a.yml", format!("{rule}---\n{rule}---\n{rule}")), "");
    let twice = format!("{rule}---\n{rule}a: 1\n");
    assert_eq!(check("a.yml", twice).split(": ").last(), Some("the key `a` is there twice"));
    let many = format!("a:\n  b: 'x{}'\n", "\ny".repeat(20_000));
    assert_eq!(check("a.yml", many), "excluded", "it would take too long");
}

#[test]
fn bytes() {
    assert_eq!(
        check("a.yml", b"a: \xff\n"),
        "syntax-error 1:4 `\u{fffd}`: not valid UTF-8: byte 0xFF does not belong here"
    );
    assert_eq!(check("a.yml", b"\xff\xfea\0"), "it is UTF-16, which is not looked at");
    assert_eq!(
        check("a.yml", "\u{feff}a: 1\r\nb: 2\r\na: 3\r\n"),
        "duplicate-key 3:1 `a`: the key `a` is there twice"
    );
    let too_deep = "it was not looked at as a whole: recursion limit exceeded";
    assert_eq!(check("a.yml", "[".repeat(10_000)), too_deep);
    assert_eq!(check("a.yml", "- ".repeat(10_000)), too_deep);
    assert_eq!(check("a.yml", format!("a: {}\n", "x".repeat(2_000_000))), "");
    let laughs = (1..30).map(|it| format!("a{it}: &a{it} [*a{0}, *a{0}]\n", it - 1)).collect::<String>();
    assert_eq!(check("compose.yaml", format!("services: {{}}\na0: &a0 x\n{laughs}")), "");
}

#[test]
fn duplicates_and_anchors() {
    assert_eq!(check("a.yml", "{x: 1, x: 2}\n"), "duplicate-key 1:8 `x`: the key `x` is there twice");
    assert_eq!(check("a.yml", "1: a\n\"1\": b\n? [x]\n: 1\n? [x]\n: 2\n"), "");
    assert_eq!(check("a.yml", "a: &a {x: 1}\n<<: *a\n<<: {y: 1}\n"), "");
    assert_eq!(check("a.yml", "!!str a: 1\na: 2\n"), "duplicate-key 2:1 `a`: the key `a` is there twice");
    assert_eq!(check(".cirrus.yml", "task: 1\ntask: 2\n"), "");
    assert_eq!(
        check("a.yml", "a: *b\n"),
        "unknown-anchor 1:4 `*b`: there is no anchor `&b` before this; a text that begins with `*` needs quotes"
    );
}

#[test]
fn yamllint_comments() {
    let twice = "duplicate-key 2:1 `a`: the key `a` is there twice";
    for (text, want) in [
        ("a: 1\na: 2 # yamllint disable-line rule:key-duplicates\n", ""),
        ("a: 1\na: 2 # yamllint disable-line\n", ""),
        ("a: 1\na: 2 # yamllint disable-line rule:colons\n", twice),
        ("a: 1 # yamllint disable-line\na: 2\n", twice),
        ("# yamllint disable rule:key-duplicates\na: 1\na: 2\n", ""),
        ("# yamllint disable-file\na: 1\na: 2\n", "excluded"),
    ] {
        assert_eq!(check("a.yml", text), want, "{text}");
    }
    let text = "# yamllint disable\na: 1\n# yamllint enable\na: 2\n# yamllint disable-line\na: 3\n";
    assert_eq!(check("a.yml", text), "duplicate-key 4:1 `a`: the key `a` is there twice");
}

#[test]
fn templates() {
    assert_eq!(check("a.yml", "a: {{ x }}\nb: {% if y %}\n"), "excluded");
    assert_eq!(check("a.yml", "{{- if .x }}\na: 1\n{{- end }}\n"), "excluded");
    assert_eq!(check("a.yml", "a: @VERSION@\nb: 1\n"), "excluded");
    assert_eq!(check("a.yml", "\"a\": {{ x }}-{{ y }}\n"), "excluded");
    let broken = format!("syntax-error 2:5 `:`: {NEEDS_QUOTES}");
    assert_eq!(check("a.yml", "a: don't {{ x }}\nb: c: d\n"), broken, "behind a quote");
    assert_eq!(check("a.yml", "a: \"{{ x }}\"\nb: c: d\n"), broken, "in quotes only");
    assert_eq!(check("a.yml", "a: ${{ x }}\nb: c: d\n"), broken, "an expression of GitHub's");
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("chart")).unwrap();
    fs::write(root.path().join("chart/Chart.yaml"), "apiVersion: v2\n").unwrap();
    let text = b"a: \"{{ .Values.x }}\"\na: 2\n";
    assert_eq!(check_in(root.path(), "chart/templates/deep/a.yaml", text), "excluded");
    let duplicate = "duplicate-key 2:1 `a`: the key `a` is there twice";
    assert_eq!(check_in(root.path(), "other/templates/a.yaml", text), duplicate);
}

#[test]
fn schemas() {
    assert_eq!(
        check("compose.yaml", "services:\n  web:\n    ports: 80\n    privileged: yes\n    restrt: no\n"),
        "schema 3:12 `80`: should be an array, not a number\n\
         schema 5:5 `restrt`: unknown property `restrt`; did you mean `restart`?"
    );
    assert_eq!(
        check(
            "compose.yaml",
            "x-base: &base\n  restart: 1\nservices:\n  web:\n    <<: *base\n    cpu_count: ${N}\n"
        ),
        "schema 2:12 `1`: should be a string, not a number",
        "merged in, and a placeholder"
    );
    assert_eq!(
        check(".gitlab-ci.yml", "a:\n  script: !reference [b, script]\n  stage: 1\n"),
        "schema 3:10 `1`: should be a string or an array, not a number"
    );
    assert_eq!(check(".eslintrc", "root: 1\n"), "schema 1:7 `1`: should be true or false, not a number");
    assert_eq!(check(".eslintrc", "{\"root\": 1}"), "excluded", "JSON");
    assert_eq!(check(".readthedocs.yaml", "version: '2'\n"), "");
    assert_eq!(
        check(".readthedocs.yaml", "version: \"1\"\n"),
        "schema 1:10 `\"1\"`: `\"1\"` is not one of what is allowed: `2` or `\"2\"`"
    );
    assert_eq!(
        check(
            "a.yml",
            "# yaml-language-server: $schema=http://json-schema.org/draft-07/schema#\ntype: strin\n"
        ),
        "schema 2:7 `strin`: `strin` is not one of what is allowed; did you mean `string`?"
    );
    assert_eq!(check("a.yml", "# yaml-language-server: $schema=https://example.org/x.json\na: 1\n"), "");
}

#[test]
fn workflows() {
    let found = check(".github/workflows/ci.yml", include_str!("workflow.yml"));
    let want = "\
github-expression 8:15 `gihub.sha`: there is no context `gihub`; a text in an expression needs single quotes
github-needs 15:19 `missing`: there is no job `missing`
github-expression 16:9 `github.event_name == \"push\"`: this expression is broken: unexpected symbol
github-uses 19:15 `actions/setup-node`: `actions/setup-node` says no version: `@` and a tag, branch or commit are missing
github-expression 21:23 `steps.two.outputs.x`: no step of this job has the id `two`
github-expression 21:78 `needs.test.result`: this job does not wait for `test`: it is not in `needs`
github-step-id 22:13 `One`: another step has the id `one`
github-expression 25:20 `fromJson(needs.lint.outputs.a`: this expression is broken: expected `,` or `)`
github-expression 27:20 `unknown(1)`: there is no function `unknown`
schema 28:9 `name`: `uses`, `run`, `wait`, `wait-all`, `cancel` or `parallel` is missing
github-needs 32:12 `test`: `test` waits for this job, which would wait for it
schema 36:9 `wtih`: unknown property `wtih`; did you mean `with`?
github-needs 38:12 `lint`: `lint` waits for this job, which would wait for it
github-uses 43:11 `owner/repo/.github/workflows/x.yml`: `owner/repo/.github/workflows/x.yml` says no version: `@` and a tag, branch or commit are missing
github-expression 48:19 `${{`: the `}}` of this expression is missing";
    assert_eq!(found, want);
}

#[test]
fn what_github_takes() {
    let text = "on: push\njobs:\n  a:\n    runs-on: x\n    name: 2024\n    steps:\n      - run: true\n      \
                - uses: $/.github/actions/x\n        with: {a: 1}\n      - run: 5\n        shell: [1]\n  b:\n    \
                uses: $/.github/workflows/x.yml\n";
    assert_eq!(
        check(".github/workflows/ci.yml", text),
        "schema 11:16 `[1]`: should be a string, not an array",
        "only scalars become texts"
    );
    assert_eq!(
        check("compose.yaml", "services:\n  a:\n    image: true\n").lines().count(),
        1,
        "others take none"
    );
}

/// The event and the snapshots of custom images, by the grammar of GitHub's runner.
#[test]
fn custom_images() {
    let with = |on: &str, snapshot: &str| {
        let text = format!(
            "on: {on}\njobs:\n  a:\n    runs-on: x\n    snapshot: {snapshot}\n    steps:\n      - run: true\n"
        );
        check(".github/workflows/ci.yml", &text)
    };
    for (on, snapshot) in [
        ("[push, image_version]", "my"),
        ("{image_version: {names: [A], versions: [1.*]}}", "{image-name: my, version: 2.*}"),
        ("{image_version: {names: A}}", "{image-name: my, if: \"${{ github.ref == 'x' }}\"}"),
    ] {
        assert_eq!(with(on, snapshot), "", "{on} {snapshot}");
    }
    assert_eq!(with("push", "{version: 2.*}").lines().count(), 1, "the name is missing");
}

#[test]
fn actions() {
    let text = "name: a\ndescription: b\nruns:\n  using: composite\n  steps:\n    - id: x\n      \
                run: echo ${{ steps.y.outputs.z }}\n      shell: bash\n    - uses: actions/checkout\n";
    assert_eq!(
        check("tools/action.yml", text),
        "github-expression 7:21 `steps.y.outputs.z`: no step of this job has the id `y`\n\
         github-uses 9:13 `actions/checkout`: `actions/checkout` says no version: `@` and a tag, branch or commit are missing"
    );
    assert_eq!(check("tools/action.yml", "verb: run\n"), "", "no action of GitHub's");
}

#[test]
fn steps_side_by_side() {
    let steps = "      - parallel:\n          - id: a\n            run: x\n          - parallel:\n              - \
                 id: b\n                uses: actions/checkout\n      - id: A\n        run: echo ${{ steps.a.outputs.x \
                 }} ${{ steps.b.outputs.x }} ${{ steps.c.outputs.x }}\n";
    let text = format!("on: push\njobs:\n  j:\n    runs-on: x\n    steps:\n{steps}");
    assert_eq!(
        check(".github/workflows/ci.yml", &text),
        "github-uses 11:23 `actions/checkout`: `actions/checkout` says no version: `@` and a tag, branch or commit are missing\n\
         github-step-id 12:13 `A`: another step has the id `a`\n\
         github-expression 13:73 `steps.c.outputs.x`: no step of this job has the id `c`"
    );
    let endless = "on: push\njobs:\n  j:\n    runs-on: x\n    steps: &all\n      - parallel: *all\n";
    check(".github/workflows/ci.yml", endless);
}

/// Cut anywhere, or with a sign changed, a file is still answered, and every finding is about a part of it.
#[test]
fn broken_anywhere() {
    let mut plugin = Yaml::at(Path::new("/nowhere"));
    let whole = include_str!("workflow.yml").replace("name: CI", "name: \"Größe \\u00e9\" # ✓\r");
    for at in (0..whole.len()).step_by(7) {
        for sign in ["", "\u{0}", "\t", "*", "'", "é: ", "{{", "\n---\n"] {
            let cut = [&whole.as_bytes()[..at], sign.as_bytes()].concat();
            let changed = [&cut, &whole.as_bytes()[at + 1..]].concat();
            for content in [&cut, &changed] {
                let report = plugin.report(".github/workflows/ci.yml", content);
                for it in &report.diagnostics {
                    assert!(is_part(it, content), "{it:?}");
                }
            }
        }
    }
}

fn is_part(it: &Diagnostic, content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else {
        return (it.span.end as usize) <= content.len();
    };
    text.get(it.span.start as usize..it.span.end as usize).is_some()
}
