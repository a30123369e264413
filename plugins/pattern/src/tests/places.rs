//! Rules that exist, and files on which they run.

use super::*;

const NO_EXEC: &str = "id: no-exec\nlanguage: python\nrule: {pattern: exec($A)}\n";

fn codes(project: &mut Project, path: &str) -> String {
    project.report(path).diagnostics.iter().map(|it| it.code.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn nothing_without_rules() {
    let mut project = Project::new(&[("a.js", "eval(1)")]);
    assert!(project.plugin.rules().is_empty());
    assert_eq!(project.check("a.js"), "");
}

#[test]
fn rules_are_told_as_their_files_say() {
    let quiet = "id: quiet\nlanguage: js\nseverity: off\nnote: |\n  Because.\nurl: https://example.org\n\
                 metadata: {cwe: [1, 2], by: us}\nfix: ''\nrule: {pattern: f()}\n";
    let project = Project::new(&[(".broker/rules/js.yml", &format!("{NO_EVAL}---\n{quiet}"))]);
    let rules = project.plugin.rules();
    let codes: Vec<_> = rules.iter().map(|it| (it.code.as_str(), it.default)).collect();
    let own = [
        ("invalid-rule", true),
        ("rule-test", true),
        ("unused-suppression", true),
        ("no-suppress-all", false),
    ];
    assert_eq!(codes, [&[("no-eval", true), ("quiet", false)][..], &own].concat());
    assert_eq!((rules[0].summary.as_str(), rules[0].fix), ("do not call eval", FixAvailability::None));
    assert_eq!((rules[1].summary.as_str(), rules[1].fix), ("quiet", FixAvailability::Always));
    assert_eq!(rules[1].url.as_deref(), Some("https://example.org"));
    let want = "Because.\n\nA rule for javascript, in `.broker/rules/js.yml`.\n\n```yaml\nby: us\ncwe:\n- 1\n- 2\n```";
    assert_eq!(rules[1].explanation, want);
}

#[test]
fn rules_are_selected_by_id() {
    let off = "id: off\nlanguage: js\nseverity: off\nrule: {pattern: f()}\n";
    let files = [(".broker/rules/a.yml", NO_EVAL), (".broker/rules/b.yml", off), ("a.js", "eval(1); f()")];
    assert_eq!(codes(&mut Project::new(&files), "a.js"), "no-eval");
    assert_eq!(codes(&mut Project::new(&files).with(select(&["off"])).unwrap(), "a.js"), "off");
    assert_eq!(codes(&mut Project::new(&files).with(select(&["ALL"])).unwrap(), "a.js"), "no-eval off");
    let isolated = Settings { isolated: true, ..settings() };
    assert_eq!(codes(&mut Project::new(&files).with(isolated).unwrap(), "a.js"), "");
    let Err(SettingsError::UnknownSelectors(unknown)) =
        Project::new(&files).with(select(&["no-eval", "none"]))
    else {
        panic!("`none` is no rule");
    };
    assert_eq!(unknown, ["none"]);
}

#[test]
fn folders_and_languages() {
    let mut project = Project::new(&[
        (".broker/rules/deep/er/js.yaml", NO_EVAL),
        (".broker/rules/py.yml", NO_EXEC),
        (".broker/rules/notes.txt", "no YAML: ["),
        (".broker/rules/.hidden.yml", "no YAML: ["),
        ("a.js", "eval(1); exec(1)"),
        ("a.py", "eval(1); exec(1)"),
        ("a.txt", "eval(1); exec(1)"),
    ]);
    assert_eq!(codes(&mut project, "a.js"), "no-eval");
    assert_eq!(codes(&mut project, "a.py"), "no-exec");
    assert_eq!(codes(&mut project, "a.txt"), "");
}

#[test]
fn globs_of_a_rule() {
    let some = format!(
        "{NO_EVAL}files: ['src/**', {{glob: '*.JS', caseInsensitive: true}}]\nignores: ['**/test/*']\n"
    );
    let mut project = Project::new(&[
        (".broker/rules/a.yml", &some),
        ("src/x/a.js", "eval(1)"),
        ("lib/a.js", "eval(1)"),
        ("src/test/a.js", "eval(1)"),
        ("a.js", "eval(1)"),
    ]);
    let mut at = |path: &str| codes(&mut project, path);
    assert_eq!([at("src/x/a.js"), at("a.js")], ["no-eval", "no-eval"]);
    assert_eq!(at("src/test/a.js"), "");
    assert_eq!(at("lib/a.js"), "no-eval", "a star stands for slashes too, as in ast-grep");
}

#[test]
fn what_ast_greps_configuration_names() {
    let sgconfig = "ruleDirs: [./lint/rules]\nutilDirs: [lint/utils]\ntestConfigs: [{testDir: lint/tests}]\n\
                    languageGlobs: {python: ['BUILD', '*.special']}\n";
    let files = [
        ("sgconfig.yml", sgconfig),
        ("lint/rules/a.yml", "language: js\nrule: {matches: call}\n"),
        ("lint/utils/call.yml", "id: call\nlanguage: js\nrule: {pattern: eval($A)}\n"),
        ("lint/tests/a.yml", "id: a\ninvalid: ['f()']\n"),
        ("lint/tests/__snapshots__/a-snapshot.yml", "id: a\nsnapshots: {}\n"),
        (".broker/rules/py.yml", NO_EXEC),
        ("a.js", "eval(1)"),
        ("x/BUILD", "exec(1)"),
    ];
    let mut project = Project::new(&files);
    assert_eq!(codes(&mut project, "a.js"), "a", "named after its file");
    assert_eq!(codes(&mut project, "x/BUILD"), "no-exec");
    assert_eq!(project.check("sgconfig.yml"), "");
    assert_eq!(codes(&mut project, "lint/tests/a.yml"), "rule-test");
    assert_eq!(codes(&mut project, "lint/tests/__snapshots__/a-snapshot.yml"), "");
    let other = Settings { config: Some("sgconfig.yml".to_owned()), ..settings() };
    let mut project = project.with(other).unwrap();
    assert_eq!(
        (codes(&mut project, "a.js"), codes(&mut project, "x/BUILD")),
        ("a".to_owned(), String::new())
    );
}

#[test]
fn a_configuration_that_is_wrong_is_told() {
    let sgconfig =
        "ruleDirs: [none]\nlanguageInjections:\n- {hostLanguage: js, rule: {pattern: x}, injected: css}\n";
    let mut project =
        Project::new(&[("sgconfig.yml", sgconfig), (".broker/rules/a.yml", NO_EVAL), ("a.js", "eval(1)")]);
    let want = "invalid-rule \"ruleDirs: [none]\": there is no folder `none`\n\
                invalid-rule \"languageInjections:\": code in other languages inside js is not looked at here";
    assert_eq!(project.check("sgconfig.yml"), want);
    let want = "no-eval \"eval(1)\": do not call eval\n\
                partial: a rule in `sgconfig.yml` is not used: there is no folder `none` (and 1 more)";
    assert_eq!(project.check("a.js"), want);
}
