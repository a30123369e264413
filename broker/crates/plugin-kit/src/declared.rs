//! Checks of a plugin's declaration: that it can be loaded, its rules, and its imports.

use std::collections::BTreeSet;

use lint::{Linter as _, RulePattern, counted};

use crate::{Check, Report, Verdict, answers::Bench};

pub(crate) fn check(bench: &Bench<'_>, report: &mut Report) {
    let imports = match bench.plugin.imports() {
        Ok(imports) => imports,
        Err(error) => return report.fail(Check::Declaration, "", error.to_string()),
    };
    let view = bench.fixtures.invalid.view();
    match bench.linter.unknown_selectors(&view) {
        Ok(unknown) => unknown.iter().for_each(|it| {
            report.fail(Check::Declaration, it, "`fixtures.toml` selects it, and no rule is called that");
        }),
        Err(error) => return report.fail(Check::Declaration, "", error.to_string()),
    }
    let rules = match bench.linter.rules(&view) {
        Ok(rules) => rules,
        Err(error) => return report.fail(Check::Declaration, "", error.to_string()),
    };
    check_rules(&rules, report);
    check_named_rules(bench, &rules, report);
    check_codes(bench, &rules, report);
    let count = rules.len();
    report.pass(
        Check::Declaration,
        format!("{}, {}: all granted", counted(count, "rule"), counted(imports.len(), "import")),
    );
}

fn check_rules(rules: &[lint::Rule], report: &mut Report) {
    if rules.is_empty() {
        report.add(Check::Declaration, Verdict::Note, "", "it has no rules");
    }
    let mut codes = BTreeSet::new();
    for rule in rules {
        let wrong = match () {
            () if !codes.insert(&rule.code) => "there are two rules with this code",
            () if rule.code.is_empty() || rule.code.contains(char::is_whitespace) => "a code is one word",
            () if rule.summary.is_empty() => "the rule has no summary",
            () if rule.summary.contains('\n') => "the rule's summary has more than one line",
            () => continue,
        };
        report.fail(Check::Declaration, &rule.code, wrong);
    }
}

/// Checks that the manifest names rules which there are.
fn check_named_rules(bench: &Bench<'_>, rules: &[lint::Rule], report: &mut Report) {
    let manifest = bench.plugin.manifest();
    let is_rule =
        |meant: &RulePattern| rules.iter().any(|it| meant.matches(&manifest.name, &it.code, Some(&it.name)));
    for (key, patterns) in
        [("syntax-errors", &manifest.syntax_errors), ("fixes-first", &manifest.fixes_first)]
    {
        for meant in patterns.iter().filter(|it| !is_rule(it)) {
            report.fail(Check::Declaration, meant.to_string(), not_called(key));
        }
    }
    // Else it is the address of a page.
    let codes = manifest.same_as.own_names().filter(|it| !it.contains("://"));
    for own in codes.filter(|it| !it.parse().is_ok_and(|it| is_rule(&it))) {
        report.fail(Check::Declaration, own, not_called("same-as"));
    }
}

fn not_called(key: &str) -> String {
    format!("the manifest has it in `{key}`, and no rule is called that")
}

/// Checks that each finding in the fixtures is of a declared rule, and lists the rules that have no fixture.
fn check_codes(bench: &Bench<'_>, rules: &[lint::Rule], report: &mut Report) {
    let known: BTreeSet<_> = rules.iter().map(|it| it.code.as_str()).collect();
    let mut found = BTreeSet::new();
    for (_, set) in bench.fixtures.sets() {
        let paths: Vec<_> = bench.wanted(&set.files).map(|(path, _)| path.clone()).collect();
        let outcomes = bench.ask(set.view(), &paths);
        found.extend(outcomes.into_iter().flat_map(|it| it.diagnostics).map(|it| it.code));
    }
    for code in found.iter().filter(|it| !known.contains(it.as_str())) {
        report.fail(Check::Declaration, code, "it is found, but `rules` does not name it");
    }
    let bare: Vec<_> = rules.iter().filter(|it| it.default && !found.contains(&it.code)).collect();
    if !bare.is_empty() && bare.len() < rules.len() {
        let codes: Vec<_> = bare.iter().map(|it| it.code.as_str()).take(5).collect();
        let message = format!("no fixture for {}: {}", counted(bare.len(), "rule"), codes.join(", "));
        report.add(Check::Declaration, Verdict::Note, "", message);
    }
}
