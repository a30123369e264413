//! Selection of rules: `--extend-select`, `broker rule list --file`, and options of plugins.

use insta::assert_snapshot;
use serde_json::Value;

use super::{Workspace, told};

const TEXT: &str = "import os\nx = [] == None\nassert x\n";

#[test]
fn more_rules_are_checked_besides_those_that_are_configured() {
    let it = Workspace::new(&[("a.py", TEXT), ("a.js", "debugger;\n")]);
    assert_snapshot!(it.told(&["--extend-select", "S101"]), @"
    exit 1
    a.js:1:1: warning javascript/no-debugger `debugger` statement is not allowed: Remove the `debugger` statement
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    a.py:2:11: warning python/E711 Comparison to `None` should be `cond is None`
    a.py:3:1: warning python/S101 Use of `assert` detected
    4 findings in 3 files (4 warnings, 1 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--select", "F", "--extend-select", "S101,no-debugger"]), @"
    exit 1
    a.js:1:1: warning javascript/no-debugger `debugger` statement is not allowed: Remove the `debugger` statement
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    a.py:3:1: warning python/S101 Use of `assert` detected
    3 findings in 3 files (3 warnings, 1 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--extend-select", "S1O1"]), @"
    exit 2
    -- stderr
    error: unknown rule selector `S1O1`
    hint: did you mean `S101`?
    ");
}

#[test]
fn the_configuration_selects_more() {
    let config = "extend-select = ['S101']\nignore = ['F401']\n[[overrides]]\npaths = ['sub']\nextend-select = ['F401']\n\
                  [[overrides]]\npaths = ['only']\nselect = ['E711']\n";
    let files = [("broker.toml", config), ("a.py", TEXT), ("sub/a.py", TEXT), ("only/a.py", TEXT)];
    let it = Workspace::new(&files);
    assert_snapshot!(it.told(&[]), @"
    exit 1
    a.py:2:11: warning python/E711 Comparison to `None` should be `cond is None`
    a.py:3:1: warning python/S101 Use of `assert` detected
    only/a.py:2:11: warning python/E711 Comparison to `None` should be `cond is None`
    sub/a.py:1:8: warning python/F401 [*] `os` imported but unused
    sub/a.py:2:11: warning python/E711 Comparison to `None` should be `cond is None`
    sub/a.py:3:1: warning python/S101 Use of `assert` detected
    6 findings in 5 files (6 warnings, 1 fixable).
    -- stderr
    ");
    // Rules named on the command line are no longer ignored.
    assert_snapshot!(it.told(&["--extend-select", "F401", "a.py", "only/a.py"]), @"
    exit 1
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    a.py:2:11: warning python/E711 Comparison to `None` should be `cond is None`
    a.py:3:1: warning python/S101 Use of `assert` detected
    only/a.py:1:8: warning python/F401 [*] `os` imported but unused
    only/a.py:2:11: warning python/E711 Comparison to `None` should be `cond is None`
    5 findings in 2 files (5 warnings, 2 fixable).
    -- stderr
    ");
}

/// Rules with what turns them on or off.
fn because(it: &Workspace, arguments: &[&str]) -> String {
    let output = it.run(&[&["rule", "list", "--json", "--file"], arguments].concat());
    let rules: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
    let line = |it: &Value| {
        let on = if it["enabled"] == true { "on" } else { "off" };
        let severity = it["severity"].as_str().map(|it| format!(" {it}")).unwrap_or_default();
        format!(
            "{} {on}{severity}: {}\n",
            it["rule"].as_str().unwrap(),
            it["because"].as_str().unwrap_or("-")
        )
    };
    rules.as_array().unwrap().iter().map(line).collect()
}

#[test]
fn rules_that_are_on_for_a_file_and_why() {
    let config = "extend-select = ['S101', 'no-console']\nignore = ['E711', 'text/bidi-control']\n\
                  [files]\nexclude = ['*.ts']\n[severity]\nF401 = 'off'\n'F8*' = 'hint'\n\
                  [[overrides]]\npaths = ['only']\nselect = ['E711']\n";
    let it = Workspace::new(&[("broker.toml", config), ("sub/ruff.toml", "lint.select = ['D100']\n")]);
    let rules = ["F401", "F811", "E711", "S101", "D100", "bidi-control"];
    let of = |path: &str| because(&it, &[&[path], &rules[..]].concat());
    assert_snapshot!(of("a.py"), @"
    python/S101 on: extend-select in broker.toml
    python/E711 off: ignore in broker.toml
    python/D100 off: pyproject.toml
    python/F401 off: severity in broker.toml
    python/F811 on hint: pyproject.toml
    text/bidi-control off: ignore in broker.toml
    ");
    assert_snapshot!(of("sub/a.py"), @"
    python/S101 on: extend-select in broker.toml
    python/E711 off: sub/ruff.toml
    python/D100 on: sub/ruff.toml
    python/F401 off: sub/ruff.toml
    python/F811 off hint: sub/ruff.toml
    text/bidi-control off: ignore in broker.toml
    ");
    assert_snapshot!(of("only/a.py"), @"
    python/S101 off: select in broker.toml
    python/E711 off: ignore in broker.toml
    python/D100 off: select in broker.toml
    python/F401 off: select in broker.toml
    python/F811 off hint: select in broker.toml
    text/bidi-control off: select in broker.toml
    ");
    assert_snapshot!(because(&it, &["a.ts", "no-debugger", "no-console", "no-var"]), @"
    javascript/no-console on: extend-select in broker.toml
    javascript/no-debugger on: default
    javascript/no-var off: default
    ");
    assert_snapshot!(told(&it.run(&["rule", "list", "--file", "a.ts", "javascript/no-c", "text"])), @"
    exit 0
    javascript/no-case-declarations        off: default                  no-case-declarations
    javascript/no-class-assign             off: default                  no-class-assign
    javascript/no-compare-neg-zero         default                       no-compare-neg-zero
    javascript/no-cond-assign              default                       no-cond-assign
    javascript/no-console                  extend-select in broker.toml  no-console
    javascript/no-const-assign             default                       no-const-assign
    javascript/no-constant-condition       off: default                  no-constant-condition
    javascript/no-control-regex            off: default                  no-control-regex
    text/bidi-control                      off: ignore in broker.toml    bidi-control
    text/invalid-utf8                      default                       invalid-utf8
    text/merge-conflict                    default                       merge-conflict
    text/mixed-line-endings           [*]  default                       mixed-line-endings
    text/private-key                       default                       private-key
    text/sample-private-key                off: default                  sample-private-key
    text/service-token                     default                       service-token
    -- stderr
    a.ts: 4 of 8 rules of javascript are on, 5 of 7 of text.
    `exclude` in `[files]` leaves it out, unless it is named.
    ");
    assert_snapshot!(told(&it.run(&["rule", "list", "--file", "a.unknown", "F401"])), @"
    exit 2
    -- stderr
    error: no rule of a linter that looks at a.unknown is called `F401`, nor do codes begin so
    hint: `broker rule list` lists all of them, `broker plugin list` those who have them
    ");
}

#[test]
fn plugins_have_options() {
    let it = Workspace::new(&[
        ("a.sql", "SELEKT a FROM b\n"),
        ("broker.toml", "[linters.sql]\ndialect = 'postgres'\n"),
    ]);
    assert_snapshot!(it.told(&["a.sql"]), @"
    exit 1
    a.sql:1:1: error sql/PRS sqruff cannot parse this as postgres
    1 finding in 1 file (1 error).
    -- stderr
    ");
    assert_snapshot!(it.told(&["a.sql", "--isolated"]), @"
    exit 1
    a.sql:1:1: error sql/PRS `SELEKT` begins no statement: `SELECT` is meant
    1 finding in 1 file (1 error).
    -- stderr
    ");
    let with = |config: &str| {
        it.write("broker.toml", config);
        it.told(&["a.sql"])
    };
    assert_snapshot!(with("[linters.sql]\ndialect = 'postgre'\n"), @"
    exit 2
    -- stderr
    error: broker.toml:2:11: [linters.sql] `dialect`: it is `postgre`, and can be `ansi`, `athena`, `bigquery`, `clickhouse`, `databricks`, `db2`, `doris`, `duckdb`, `exasol`, `flink`, `greenplum`, `hive`, `impala`, `mariadb`, `materialize`, `mysql`, `oracle`, `postgres`, `redshift`, `snowflake`, `sparksql`, `sqlite`, `starrocks`, `teradata`, `trino`, `tsql`, `vertica`
    hint: did you mean `postgres`?
    ");
    assert_snapshot!(with("[linters.sql]\ndialekt = 'postgres'\n"), @"
    exit 2
    -- stderr
    error: broker.toml:2:11: [linters.sql] `dialekt`: there is no such option
    hint: did you mean `dialect`?
    ");
    assert_snapshot!(with("[linters.sgl]\ndialect = 'postgres'\n"), @"
    exit 2
    -- stderr
    error: broker.toml:1:1: [linters.sgl]: no plugin named `sgl`
    hint: did you mean `sql`?
    ");
    assert_snapshot!(with("[linters.text]\na = 1\n"), @"
    exit 2
    -- stderr
    error: broker.toml:2:5: [linters.text] `a`: there is no such option
    hint: the plugin `text` has no options
    ");
    it.write("broker.toml", "");
    assert_snapshot!(it.told(&["a.sql"]), @"
    exit 1
    a.sql:1:1: error sql/PRS `SELEKT` begins no statement: `SELECT` is meant
    1 finding in 1 file (1 error).
    -- stderr
    ");
}
