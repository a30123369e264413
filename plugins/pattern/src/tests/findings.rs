//! Findings of rules, and changes by their fixes.

use super::*;

/// A rule for JavaScript: its other keys, then its rule.
fn rule(keys: &str, rule: &str) -> String {
    format!("id: it\nlanguage: JavaScript\n{keys}\nrule:\n  {rule}\n")
}

fn found(rule: &str, text: &str) -> String {
    Project::new(&[(".broker/rules/it.yml", rule), ("a.js", text)]).check("a.js")
}

fn fixed(rule: &str, text: &str) -> String {
    Project::new(&[(".broker/rules/it.yml", rule), ("a.js", text)]).fixed("a.js")
}

#[test]
fn patterns_and_metavariables() {
    let same = rule("message: \"$A twice, with $$$REST\"", "pattern: f($A, $A, $$$REST)");
    assert_eq!(found(&same, "f(x, y); f(x, x, 1, 2); f(z, z)"), "it \"f(x, x, 1, 2)\": x twice, with 1, 2");
    assert_eq!(
        found(&rule("", "kind: debugger_statement"), "debugger;"),
        "it \"debugger;\": found by the rule `it`"
    );
    let strict = rule("", "pattern: {context: 'x = {a: $V}', selector: pair, strictness: ast}");
    assert_eq!(found(&strict, "y = {a: 1, b: 2}"), "it \"a: 1\": found by the rule `it`");
}

#[test]
fn relations_go_up_down_and_aside() {
    let inside = rule("", "pattern: await $E\n  inside: {kind: for_statement, stopBy: end}");
    assert_eq!(
        found(&inside, "await a; for (;;) { if (x) { await b } }"),
        "it \"await b\": found by the rule `it`"
    );
    let nearest = rule(
        "message: in $N",
        "pattern: eval($X)\n  inside: {pattern: 'function $N() { $$$ }', stopBy: end}",
    );
    let nested = "function a() { function b() { eval(1) } }";
    assert_eq!(found(&nearest, nested), "it \"eval(1)\": in b");
    let has = rule("", "kind: function_declaration\n  has: {field: name, regex: ^x$}");
    assert_eq!(
        found(&has, "function x() {} function y() { x }"),
        "it \"function x() {}\": found by the rule `it`"
    );
    let aside = rule(
        "",
        "pattern: $A;\n  kind: expression_statement\n  follows: {pattern: begin();}\n  precedes: {pattern: end();, stopBy: end}",
    );
    assert_eq!(found(&aside, "a; begin(); b; c; end(); d"), "it \"b;\": found by the rule `it`");
    let third = rule("", "kind: number\n  nthChild: 3");
    assert_eq!(found(&third, "[1, 2, 3, 4]"), "it \"3\": found by the rule `it`");
}

#[test]
fn constraints_transforms_and_utilities() {
    let text = "constraints: {NAME: {regex: ^get}}\n\
                utils: {call: {pattern: $NAME()}}\n\
                transform: {TOLD: {replace: {source: $NAME, replace: ^get_, by: ''}}}\n\
                message: use $TOLD\nfix: this.$TOLD";
    let getter = rule(text, "matches: call");
    assert_eq!(found(&getter, "get_size(); set()"), "it \"get_size()\": use size");
    assert_eq!(fixed(&getter, "x = get_size()"), "x = this.size");
    let utility =
        ("id: is-log\nlanguage: js\nrule: {pattern: console.log($$$)}", rule("", "matches: is-log"));
    let files = [
        (".broker/rules/utils/u.yml", utility.0),
        (".broker/rules/it.yml", &utility.1),
        ("a.js", "console.log(1)"),
    ];
    assert_eq!(Project::new(&files).check("a.js"), "it \"console.log(1)\": found by the rule `it`");
}

#[test]
fn fixes_are_bytes_of_the_file() {
    let swap = rule("fix: f($B, $A)", "pattern: f($A, $B)");
    assert_eq!(
        fixed(&swap, "\u{feff}'ü'; f(é, 'ß') // 🦀\r\nf(1, 2)\r\n"),
        "\u{feff}'ü'; f('ß', é) // 🦀\r\nf(2, 1)\r\n"
    );
    let indented = rule("fix: |-\n  if ($A) {\n    $B\n  }", "pattern: $A && $B;");
    assert_eq!(
        fixed(&indented, "{\n  a && b(() => {\n    c\n  });\n}"),
        "{\n  if (a) {\n    b(() => {\n      c\n    })\n  }\n}"
    );
    let item = rule("fix: {template: '', expandEnd: {regex: ','}}", "kind: number\n  regex: ^1$");
    assert_eq!(fixed(&item, "[1, 2]"), "[ 2]");
}

#[test]
fn what_a_fix_is_called_and_how_sure_it_is() {
    let list = "fix:\n- {title: first, template: a()}\n- {title: second, template: b()}";
    let mut project = Project::new(&[(".broker/rules/it.yml", &rule(list, "pattern: f()")), ("a.js", "f()")]);
    let report = project.report("a.js");
    let told: Vec<_> =
        report.diagnostics[0].fixes.iter().map(|it| (it.message.as_deref(), it.applicability)).collect();
    assert_eq!(told, [(Some("first"), Applicability::Unsafe), (Some("second"), Applicability::Unsafe)]);
    let safe = rule("fix: g()\nmetadata: {applicability: safe}", "pattern: f()");
    let mut project = Project::new(&[(".broker/rules/it.yml", &safe), ("a.js", "f()")]);
    assert_eq!(project.report("a.js").diagnostics[0].fixes[0].applicability, Applicability::Safe);
}

#[test]
fn severities_links_and_labels() {
    let keys = "severity: error\nurl: https://example.org/it\nmessage: no\n\
                labels: {A: {style: primary, message: this one}, B: {style: secondary}}";
    let mut project =
        Project::new(&[(".broker/rules/it.yml", &rule(keys, "pattern: f($A, $B)")), ("a.js", "f(x, y)")]);
    let it = &project.report("a.js").diagnostics[0];
    assert_eq!((it.severity, it.url.as_deref()), (Severity::Error, Some("https://example.org/it")));
    let related: Vec<_> = it.related.iter().map(|it| (it.span.start, it.message.as_str())).collect();
    assert_eq!(related, [(2, "this one")]);
}

#[test]
fn suppressions_and_those_without_effect() {
    let mut project = Project::new(&[
        (".broker/rules/it.yml", NO_EVAL),
        (
            "a.js",
            "x;\n// ast-grep-ignore: no-eval\neval(1);\neval(2); // ast-grep-ignore\n// ast-grep-ignore: no-eval\ny;\n",
        ),
        ("whole.js", "// ast-grep-ignore\n\neval(1);\n"),
    ]);
    assert_eq!(
        project.check("a.js"),
        "unused-suppression \"// ast-grep-ignore: no-eval\": Unused 'ast-grep-ignore' directive."
    );
    assert_eq!(project.check("whole.js"), "");
    let mut project = project.with(select(&["no-suppress-all"])).unwrap();
    assert_eq!(
        project.check("a.js"),
        "no-suppress-all \"// ast-grep-ignore\": ast-grep-ignore must specify rule IDs."
    );
    let mut project = project.with(Settings { ignore: vec!["no-eval".to_owned()], ..settings() }).unwrap();
    assert!(!project.check("a.js").contains("ast-grep-ignore\""), "an ignored rule has run all the same");
}

#[test]
fn scripts_and_styles_in_html() {
    let css = "id: red\nlanguage: css\nmessage: no red\nrule: {kind: plain_value, regex: ^red$}";
    let page = "<p>eval(1)</p>\n<style>a { color: red }</style>\n<script>\n// ü\neval(1)\n</script>\n<script lang=\"ts\">eval(2)</script>\n";
    let files = [(".broker/rules/a.yml", NO_EVAL), (".broker/rules/b.yml", css), ("a.html", page)];
    let mut project = Project::new(&files);
    assert_eq!(project.check(".broker/rules/b.yml"), "");
    assert_eq!(project.check("a.html"), "red \"red\": no red\nno-eval \"eval(1)\": do not call eval");
    fs::write(project.root.path().join(".broker/rules/b.yml"), css.replace("plain_value", "nope")).unwrap();
    let mut project = project.with(settings()).unwrap();
    assert!(project.check("a.html").contains("partial: a rule in `.broker/rules/b.yml` is not used"));
}

#[test]
fn a_pattern_in_php_needs_no_opening() {
    let rule = "id: no-eval\nlanguage: php\nmessage: no $A\nrule: {pattern: 'eval($A)'}\nfix: run($A)\n";
    let test = "id: no-eval\nvalid: ['run($x);']\ninvalid: [{code: 'eval($x);', fixed: 'run($x);'}, '<?php eval(1);']\n";
    let files = [
        (".broker/rules/a.yml", rule),
        (".broker/rules/tests/a.yml", test),
        ("a.php", "<b>eval($y)</b><?php eval($x);"),
    ];
    let mut project = Project::new(&files);
    assert_eq!(project.check("a.php"), "no-eval \"eval($x)\": no $x");
    assert_eq!(project.check(".broker/rules/tests/a.yml"), "");
}

#[test]
fn bad_files_do_no_harm() {
    let deep = format!("{}eval(1){}", "[".repeat(10_000), "]".repeat(10_000));
    let wide = format!("{}eval(1)", "x;".repeat(100_000));
    let mut project = Project::new(&[
        (".broker/rules/it.yml", NO_EVAL),
        (
            ".broker/rules/up.yml",
            &rule("", "pattern: eval($A)\n  inside: {kind: none_such, stopBy: end}")
                .replace("none_such", "class_body"),
        ),
        ("deep.js", &deep),
        ("wide.js", &wide),
        ("empty.js", ""),
        ("cut.js", "function f( { eval(1"),
        ("late.js", "UNPARSED"),
    ]);
    assert_eq!(project.check("deep.js"), "no-eval \"eval(1)\": do not call eval");
    assert_eq!(project.check("wide.js"), "no-eval \"eval(1)\": do not call eval");
    assert_eq!(project.check("empty.js"), "");
    assert_eq!(project.check("cut.js"), "");
    assert_eq!(project.check("late.js"), "partial: it was not parsed: the time is over");
    fs::write(project.root.path().join("a.js"), b"eval(1) // \xe9\n").unwrap();
    assert_eq!(
        project.check("a.js"),
        "partial: the file is not UTF-8: invalid utf-8 sequence of 1 bytes from index 11"
    );
    fs::write(project.root.path().join("a.py"), b"eval(1) # \xe9\n").unwrap();
    assert_eq!(project.check("a.py"), "", "no rule is for it");
}
