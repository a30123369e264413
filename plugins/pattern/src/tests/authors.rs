//! Messages for authors of rules.

use super::*;

/// Returns the findings in a rule file.
fn told(rule: &str) -> String {
    Project::new(&[(".broker/rules/a.yml", rule)]).check(".broker/rules/a.yml")
}

#[test]
fn mistakes_are_told_where_they_are() {
    let rule = |rest: &str| told(&format!("id: a\nlanguage: js\n{rest}"));
    let wrong = |place: &str, message: &str| format!("invalid-rule {place:?}: {message}");
    assert_eq!(rule("rule: {pattern: f()}\nfix: g()\nseverity: info"), "");
    assert_eq!(rule("rule:\n  pattern: [\n"), wrong("id: a", "unclosed bracket '['"));
    let unknown = rule("rule:\n  patern: f()\n");
    assert!(unknown.starts_with(&wrong("patern: f()", "unknown field `patern`, expected one of pattern,")));
    let unknown = rule("rul: {pattern: f()}\nrule: {pattern: f()}\n");
    assert!(unknown.starts_with(&wrong("rul: {pattern: f()}", "unknown field `rul`, expected one of id,")));
    assert!(rule("message: no rule").ends_with("missing field `rule`"));
    let taken = told("id: rule-test\nlanguage: js\nrule: {pattern: f()}");
    assert!(
        taken.starts_with(&wrong("id: rule-test", "`rule-test` is what a rule about rules is called")),
        "{taken}"
    );
    let kind = "`rule` is not configured correctly: Rule contains invalid kind matcher: Invalid Kind: Kind `cal` is invalid";
    assert_eq!(rule("message: x\nrule:\n  has: {kind: cal}\n  kind: program\n"), wrong("rule:", kind));
    assert_eq!(
        rule("rule: {pattern: f($A)}\nfix: g($B)"),
        wrong("fix: g($B)", "Undefined meta var `B` used in `fix`")
    );
    let constraints = wrong("constraints:", "Undefined meta var `B` used in `constraints`");
    assert_eq!(rule("rule: {pattern: f($A)}\nconstraints:\n  B: {regex: x}"), constraints);
    let transform = wrong("transform:", "Undefined meta var `B` used in `transform`");
    let swapped = "transform:\n  C: {replace: {source: $B, replace: x, by: y}}";
    assert_eq!(rule(&format!("rule: {{pattern: f($A)}}\n{swapped}")), transform);
    assert!(rule("rule: {matches: none}").ends_with("Rule `none` is not defined"));
    assert!(rule("rule: {regex: x}").contains("must specify a set of AST kinds"));
    assert!(rule("rule: {kind: program, regex: '('}").ends_with("regex parse error: unclosed group"));
    assert!(rule("rule: {pattern: ''}").contains("No AST root is detected"));
    let glob = "error parsing glob '[': unclosed character class; missing ']'";
    assert_eq!(rule("rule: {pattern: f()}\nfiles: ['[']"), wrong("files: ['[']", glob));
    assert!(
        rule("rule: {pattern: f()}\nseverity: loud")
            .starts_with("invalid-rule \"loud\": unknown variant `loud`")
    );
    assert!(
        rule("rule: {pattern: f()}\nlabels: {X: {style: primary}}")
            .contains("meta-variable `X` must be defined")
    );
}

#[test]
fn a_language_without_a_grammar_is_no_error_elsewhere() {
    let rule = "id: a\nlanguage: haskell\nrule: {pattern: f x}\n";
    let mut project =
        Project::new(&[(".broker/rules/a.yml", rule), (".broker/rules/b.yml", NO_EVAL), ("a.js", "eval(1)")]);
    let told = project.report(".broker/rules/a.yml").diagnostics.remove(0);
    assert_eq!(
        (told.severity, told.message.as_str()),
        (Severity::Warning, "there is no grammar of the language `haskell` here")
    );
    assert_eq!(project.check("a.js"), "no-eval \"eval(1)\": do not call eval");
}

#[test]
fn one_mistake_leaves_the_others_alone() {
    let file = format!(
        "{NO_EVAL}---\n# only a comment\n---\n{NO_EVAL}---\nid: b\nlanguage: py\nrule: {{kind: nope}}\n"
    );
    let mut project = Project::new(&[
        (".broker/rules/a.yml", &file),
        ("a.js", "eval(1)"),
        ("a.py", "eval(1)"),
        ("a.css", "a {}"),
    ]);
    let twice = "there is a rule `no-eval` already, in `.broker/rules/a.yml`";
    let kind = "`rule` is not configured correctly: Rule contains invalid kind matcher: Invalid Kind: Kind `nope` is invalid";
    let both =
        format!("invalid-rule \"id: no-eval\": {twice}\ninvalid-rule \"rule: {{kind: nope}}\": {kind}");
    assert_eq!(project.check(".broker/rules/a.yml"), both);
    let partial = |why: &str| format!("partial: a rule in `.broker/rules/a.yml` is not used: {why}");
    assert_eq!(project.check("a.js"), format!("no-eval \"eval(1)\": do not call eval\n{}", partial(twice)));
    assert_eq!(project.check("a.py"), partial(kind));
    assert_eq!(project.check("a.css"), "", "no rule is for it");
}

#[test]
fn utilities_that_are_wrong() {
    let utility = |id: &str, rule: &str| format!("id: {id}\nlanguage: js\nrule: {rule}\n");
    let mut project = Project::new(&[
        (".broker/rules/utils/a.yml", &utility("a", "{any: [{matches: b}, {pattern: f()}]}")),
        (".broker/rules/utils/b.yml", &utility("b", "{matches: a}")),
        (".broker/rules/utils/c.yml", &utility("c", "{kind: none}")),
        (".broker/rules/utils/d.yml", &utility("d", "{pattern: eval($A)}")),
        (".broker/rules/utils/e.yml", &utility("d", "{pattern: eval($A)}")),
        (".broker/rules/x.yml", &utility("x", "{matches: d}")),
        ("a.js", "eval(1)"),
    ]);
    let mut told = |name: &str| project.check(&format!(".broker/rules/utils/{name}.yml"));
    assert_eq!((told("a"), told("d")), (String::new(), String::new()));
    assert!(told("b").contains("has a cyclic dependency"), "{}", told("b"));
    assert!(told("c").ends_with("Kind `none` is invalid"));
    assert!(told("e").ends_with("there is a utility rule `d` already, in `.broker/rules/utils/d.yml`"));
    let found = project.check("a.js");
    assert!(
        found.starts_with(
            "x \"eval(1)\": found by the rule `x`\npartial: a rule in `.broker/rules/utils/c.yml`"
        )
    );
    assert!(found.ends_with("(and 2 more)"), "{found}");
}

#[test]
fn tests_of_rules() {
    let rules =
        format!("{NO_EVAL}---\nid: swap\nlanguage: js\nrule: {{pattern: 'f($A, $B)'}}\nfix: f($B, $A)\n");
    let tests = "\
id: no-eval
valid:
  - f(1)
  - |
    eval('ü');
invalid:
  - eval(2)
  - eva(3)
---
id: swap
invalid:
- {code: 'f(1, 2); f(3, 4)', fixed: 'f(2, 1); f(4, 3)'}
- code: f(f(1, 2), 3)
  fixed: f(3, f(1, 2))
- {code: 'f(1, 2)', fixed: 'f(1, 2)'}
---
id: none
valid: [f()]
---
id: no-eval
invalid: [{code: eval(1), fixed: ''}]
---
id: no-eval
invald: []
";
    let mut project = Project::new(&[(".broker/rules/a.yml", &rules), (".broker/rules/tests/a.yml", tests)]);
    let want = "\
rule-test \"eval('ü');\": rule `no-eval`: finds something in this, which is said to be valid
rule-test \"eva(3)\": rule `no-eval`: finds nothing in this, which is said to be invalid
rule-test \"{code: 'f(1, 2)', fixed: 'f(1, 2)'}\": rule `swap`: the fix makes `f(2, 1)` of this, and not `f(1, 2)`
rule-test \"none\": there is no rule `none`
rule-test \"{code: eval(1), fixed: ''}]\": rule `no-eval`: has no fix
rule-test \"invald: []\": unknown field `invald`, expected one of id, valid, invalid";
    assert_eq!(project.check(".broker/rules/tests/a.yml"), want);
}

#[test]
fn a_rule_file_that_is_not_text() {
    let mut project = Project::new(&[(".broker/rules/a.yml", NO_EVAL), ("a.js", "eval(1)")]);
    fs::write(project.root.path().join(".broker/rules/b.yml"), b"id: \xff").unwrap();
    let mut project = {
        project.plugin = Pattern::new();
        project.with(settings()).unwrap()
    };
    let report = project.report(".broker/rules/b.yml");
    assert_eq!(report.diagnostics[0].message, "it is not UTF-8");
    assert!(
        project
            .check("a.js")
            .ends_with("partial: a rule in `.broker/rules/b.yml` is not used: it is not UTF-8")
    );
}
