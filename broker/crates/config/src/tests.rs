//! Configuration files in, what holds out.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use overlay::Memory;

use super::*;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn with<T>(files: &[(&str, &str)], then: impl FnOnce(&Configs<'_>) -> T) -> T {
    let view = Memory::from_files(files.iter().copied()).unwrap();
    then(&Configs::new(&view))
}

fn effective(files: &[(&str, &str)], file: &str) -> Effective {
    with(files, |it| (*it.for_file(&path(file)).unwrap()).clone())
}

/// The error and its hint, in one line.
fn refused(files: &[(&str, &str)]) -> String {
    let error = with(files, |it| it.for_file(&path("sub/a.py")).unwrap_err());
    let hint = error.hint.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    format!("{error}{hint}")
}

fn level(files: &[(&str, &str)], file: &str, rule: &str) -> Option<RuleLevel> {
    let (linter, code) = rule.split_once('/').unwrap();
    effective(files, file).severities.level(linter, code, None)
}

#[test]
fn nothing_said_is_the_default() {
    let it = effective(&[], "a.py");
    assert_eq!((it.choice.select, it.choice.ignore.len()), (None, 0));
    let want =
        lint::suppress::Options { report_unused: Some(lint::Severity::Warning), require_reason: false };
    assert_eq!(it.suppressions, want);
    with(&[], |it| {
        let config = it.workspace().unwrap();
        assert_eq!(config.baseline(), None);
    });
}

#[test]
fn the_size_of_files_is_the_workspaces() {
    let size = |files: &[(&str, &str)]| with(files, |it| it.workspace().unwrap().max_file_size());
    assert_eq!(size(&[]), 64 << 20);
    assert_eq!(size(&[("broker.toml", "max-file-size = 2\n")]), 2 << 20);
    let extended = [("broker.toml", "extends = 'x.toml'\n"), ("x.toml", "max-file-size = 256\n")];
    assert_eq!(size(&extended), 256 << 20);
    assert_eq!(
        refused(&[("sub/broker.toml", "max-file-size = 2\n")]),
        "sub/broker.toml:1:17: `max-file-size` has no effect here (it belongs in the configuration file at the \
         workspace's root)"
    );
    for wrong in ["0", "257"] {
        let refused = refused(&[("broker.toml", &format!("max-file-size = {wrong}\n"))]);
        let want = format!("files of {wrong} MiB cannot be checked: it is a number from 1 to 256");
        assert!(refused.contains(&want), "{refused}");
    }
}

#[test]
fn the_nearest_counts_for_each_key() {
    let files = [
        ("broker.toml", "select = ['F', 'E']\nignore = ['E501']\n[suppressions]\nrequire-reason = true\n"),
        ("sub/.broker.toml", "ignore = ['W']\n[suppressions]\nreport-unused = 'off'\n"),
    ];
    let it = effective(&files, "sub/deep/er/a.py");
    assert_eq!(
        (it.choice.select.unwrap(), it.choice.ignore),
        (vec!["F".to_owned(), "E".to_owned()], vec!["W".to_owned()])
    );
    assert_eq!(it.suppressions, lint::suppress::Options { report_unused: None, require_reason: true });
    assert_eq!(effective(&files, "other/a.py").choice.ignore, ["E501"]);
}

#[test]
fn what_is_selected_is_extended() {
    let select = |files: &[(&str, &str)], path: &str| {
        let choice = effective(files, path).choice;
        (choice.select.unwrap_or_default().join(" "), choice.ignore.join(" "))
    };
    let want = |select: &str, ignore: &str| (select.to_owned(), ignore.to_owned());
    let files = [
        (
            "broker.toml",
            "extend-select = ['A']\nignore = ['B', 'C']\n[[overrides]]\npaths = ['x.py']\nextend-select = ['B']\n",
        ),
        ("near/broker.toml", "extend-select = ['N']\n"),
        ("again/broker.toml", "extend-select = ['B']\n"),
        ("again/off/broker.toml", "ignore = ['B']\n"),
        ("only/broker.toml", "select = ['S']\n"),
        (
            "both/broker.toml",
            "select = ['S']\nextend-select = ['E']\n[[overrides]]\npaths = ['o.py']\nselect = ['O']\n",
        ),
    ];
    assert_eq!(select(&files, "a.py"), want("DEFAULT A", "B C"));
    assert_eq!(select(&files, "x.py"), want("DEFAULT A B", "C"));
    assert_eq!(select(&files, "near/a.py"), want("DEFAULT N", "B C"));
    assert_eq!(select(&files, "only/a.py"), want("S", ""), "what is farther is replaced");
    assert_eq!(select(&files, "both/a.py"), want("S E", ""));
    assert_eq!(select(&files, "both/o.py"), want("O", ""));
    assert_eq!(select(&files, "again/a.py"), want("DEFAULT B", "C"), "it is on again");
    assert_eq!(select(&files, "again/off/a.py"), want("DEFAULT B", "B"), "and off again");
}

#[test]
fn a_request_replaces_or_extends_what_is_configured() {
    let choice = |select: &[&str], ignore: &[&str]| {
        let texts = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        crate::Choice { select: (!select.is_empty()).then(|| texts(select)), ignore: texts(ignore) }
    };
    let configured = || choice(&["F"], &["E5", "X"]);
    assert_eq!(configured().with(&choice(&[], &["W"])), choice(&["F"], &["E5", "X", "W"]));
    assert_eq!(configured().with(&choice(&["A"], &["W"])), choice(&["A"], &["W"]));
    assert_eq!(configured().with(&choice(&["DEFAULT", "X"], &["W"])), choice(&["F", "X"], &["E5", "W"]));
    assert_eq!(choice(&[], &["X"]).with(&choice(&["A", "DEFAULT"], &[])), choice(&["DEFAULT", "A"], &["X"]));
    assert!(choice(&["DEFAULT", "A"], &[]).has_default() && choice(&[], &[]).has_default());
    assert!(!choice(&["A"], &[]).has_default() && !choice(&["DEFAULT"], &["A"]).has_default());
}

#[test]
fn options_of_plugins_are_those_of_the_root() {
    let of = |files: &[(&str, &str)]| with(files, |it| it.workspace().unwrap().linters());
    assert!(of(&[]).is_empty());
    let base = "[linters.sql]\ndialect = 'ansi'\nmore = [1, 2.5, true, 1979-05-27]\n[linters.python]\n";
    let root = "extends = 'base.toml'\n\n[linters.sql]\ndialect = 'mysql'\n";
    let all = of(&[("broker.toml", root), ("base.toml", base)]);
    let (dialect, more) = (&all["sql"].value["dialect"], &all["sql"].value["more"]);
    assert_eq!(dialect.value, "mysql");
    assert_eq!(more.value, serde_json::json!([1, 2.5, true, "1979-05-27"]));
    let places = [dialect, more].map(|it| format!("{}:{}:{}", it.file, it.at.line, it.at.column));
    assert_eq!(places, ["broker.toml:4:11", "base.toml:3:8"]);
    assert_eq!((all["sql"].file.as_str(), all["sql"].at.line), ("broker.toml", 3));
    assert!(all["python"].value.is_empty());
    insta::assert_snapshot!(refused(&[("sub/broker.toml", "[linters.sql]\n")]), @"sub/broker.toml:1:2: `linters` has no effect here (it belongs in the configuration file at the workspace's root)");
}

#[test]
fn the_nearest_signers_of_a_plugin_count() {
    let [key, other] = [
        "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH",
        "RWR4ldWMq9ywhe5/uGmYUGoP599GIo2Z06960m2CItZaMjN2qM29y5ag",
    ];
    let base = format!(
        "[plugins.a]\nsource = 'a.wasm'\nsigned-by = ['{key}']\n\
         [plugins.b]\nsource = 'b.wasm'\nsigned-by = ['{key}', '{other}']\n"
    );
    let root = format!("extends = 'base.toml'\n[plugins.a]\nsigned-by = ['{other}']\n");
    let plugins =
        with(&[("broker.toml", &root), ("base.toml", &base)], |it| it.workspace().unwrap().plugins());
    let signers = |name: &str| plugins[name].signed_by.as_ref().unwrap().to_string();
    assert_eq!(
        [signers("a"), signers("b")],
        ["key 85B0DCAB8CD59578", "key 44D1AF0A4ED93A11 or key 85B0DCAB8CD59578"]
    );
    assert!(plugins["a"].source.is_some());
    let key = format!("[plugins.a]\nsigned-by = ['{key}']\n");
    insta::assert_snapshot!(refused(&[("broker.toml", &key)]), @"broker.toml:2:13: `signed-by` of plugin `a` has no effect: the plugin has no `source` (name its `source` beside it, whose signature is verified, or remove `signed-by`)");
    let extending = "extends = 'base.toml'\n";
    let base = &refused(&[("broker.toml", extending), ("base.toml", &key)]);
    assert!(base.starts_with("base.toml:2:13: `signed-by` of plugin `a` has no effect"), "{base}");
    insta::assert_snapshot!(refused(&[("broker.toml", "[plugins.a]\nsigned-by = []\n")]), @"broker.toml:2:13: `signed-by` names no signer");
    insta::assert_snapshot!(refused(&[("broker.toml", "[plugins.a]\nsigned-by = ['RWQ']\n")]), @"broker.toml:2:14: no public key of minisign: write the line of `minisign.pub` that begins with `RW`");
}

#[test]
fn severities_go_by_the_closest_match() {
    let root = "[severity]\n'python/*' = 'hint'\nF401 = 'off'\n'F4*' = 'info'\n'text/F401' = 'error'\n";
    let files = [("broker.toml", root), ("sub/broker.toml", "[severity]\nF401 = 'warning'\n")];
    for (file, rule, want) in [
        ("a", "python/E1", Some(RuleLevel::Hint)),
        ("a", "python/F401", Some(RuleLevel::Off)),
        ("a", "python/F402", Some(RuleLevel::Info)),
        ("a", "text/F401", Some(RuleLevel::Error)),
        ("a", "text/bidi", None),
        ("sub/a", "python/F401", Some(RuleLevel::Warning)),
        ("sub/a", "python/F402", Some(RuleLevel::Info)),
    ] {
        assert_eq!(level(&files, file, rule), want, "{file} {rule}");
    }
}

#[test]
fn overrides_hold_for_their_files_the_last_first() {
    let root = "select = ['F']\nignore = ['A']\n[severity]\nF401 = 'error'\n\
        [[overrides]]\npaths = ['tests', '*.pyi']\nignore = ['S101']\nseverity = { 'python/*' = 'hint' }\n\
        [[overrides]]\npaths = ['tests/big/', '!tests/big/keep.py']\nselect = ['B']\nseverity = { F401 = 'off' }\n";
    let files = [("sub/broker.toml", root)];
    assert_eq!(level(&files, "sub/a.py", "python/F401"), Some(RuleLevel::Error));
    assert_eq!(level(&files, "sub/tests/a.py", "python/F401"), Some(RuleLevel::Hint));
    assert_eq!(level(&files, "sub/x/a.pyi", "python/F401"), Some(RuleLevel::Hint));
    assert_eq!(level(&files, "sub/tests/big/a.py", "python/F401"), Some(RuleLevel::Off));
    assert_eq!(level(&files, "sub/tests/big/a.py", "python/E"), Some(RuleLevel::Hint));
    let it = effective(&files, "sub/tests/big/a.py");
    assert_eq!(
        (it.choice.select.unwrap(), it.choice.ignore),
        (vec!["B".to_owned()], vec!["A".into(), "S101".into()])
    );
    assert_eq!(effective(&files, "sub/a.py").choice.ignore, ["A"]);
}

#[test]
fn what_is_extended_comes_first_and_sees_the_same_folder() {
    let files = [
        ("broker.toml", "select = ['ROOT']\nignore = ['ROOT']\n"),
        ("sub/broker.toml", "extends = '../shared/strict.toml'\nignore = ['NEAR']\n"),
        ("shared/strict.toml", "extends = 'base.toml'\nselect = ['STRICT']\nignore = ['STRICT']\n"),
        ("shared/base.toml", "select = ['BASE']\n[[overrides]]\npaths = ['/gen']\nignore = ['GEN']\n"),
    ];
    let it = effective(&files, "sub/gen/a.py");
    assert_eq!(
        (it.choice.select.unwrap(), it.choice.ignore),
        (vec!["STRICT".to_owned()], vec!["NEAR".into(), "GEN".into()])
    );
}

#[test]
fn what_holds_for_the_workspace() {
    let files = [
        ("broker.toml", "extends = 'etc/x.toml'\nmax-file-size = 1\n"),
        ("etc/x.toml", "max-file-size = 2\n[baseline]\nfile = 'known.json'\n"),
    ];
    with(&files, |it| {
        let config = it.workspace().unwrap();
        assert_eq!(config.baseline(), Some(&path("known.json")));
        assert_eq!(config.max_file_size(), 1 << 20);
    });
}

#[test]
fn mistakes_are_told_with_their_place() {
    let mut wrong = Vec::new();
    for (text, want) in [
        ("sevrity = {}", "broker.toml:1:1: unknown key `sevrity` (did you mean `severity`?)"),
        (
            "\n[suppressions]\nrequire-reasons = true",
            "broker.toml:3:1: unknown key `require-reasons` (did you mean `require-reason`?)",
        ),
        ("[baseline]\nx = 3", "broker.toml:2:1: unknown key `x` (there is file)"),
        ("[severity]\nF401 = 'eror'", "broker.toml:2:8: unknown value `eror` (did you mean `error`?)"),
        ("[severity]\n'F 1' = 'off'", "broker.toml:2:1: `F 1` names no rule: no rule has ' ' in its name"),
        ("select = []", "broker.toml:1:10: `select` names no rule"),
        ("select = ['F', ' ']", "broker.toml:1:10: a rule has no name"),
        ("select = 'F'", "broker.toml:1:10: expected a list, not the string \"F\""),
        ("files = 3", "broker.toml:1:9: expected a table, not the number `3`"),
        ("files = [['*'], []]", "broker.toml:1:9: expected a table, not a list"),
        ("suppressions = [true]", "broker.toml:1:16: expected a table, not a list"),
        ("overrides = [[['*']]]", "broker.toml:1:13: expected a table, not a list"),
        ("[severity]\nF = 3", "broker.toml:2:5: expected string or table"),
        ("[files]\nexclude = { a = 1 }", "broker.toml:2:11: expected a list, not a table"),
        ("[[overrides]]\nignore = []", "broker.toml:1:1: missing field `paths`"),
        ("max-file-size = -1", "broker.toml:1:17: expected a number, not the number `-1`"),
        ("extends = 'none.toml'", "broker.toml:1:11: there is no file `none.toml` to extend"),
        ("extends = '../x'", "broker.toml:1:11: `../x` leads out of the workspace"),
        ("extends = 'broker.toml'", "broker.toml:1:11: it extends itself: broker.toml -> broker.toml"),
    ] {
        let told = refused(&[("broker.toml", text)]);
        wrong.extend((told != want).then_some((told, want)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let glob = refused(&[("broker.toml", "overrides = [{ paths = ['a{b'] }]")]);
    let syntax = refused(&[("broker.toml", "select = [")]);
    assert!(
        glob.starts_with("broker.toml:1:24: ") && syntax.starts_with("broker.toml:1:11: "),
        "{glob}\n{syntax}"
    );
}

#[test]
fn what_has_no_effect_is_refused() {
    let hint = " (it belongs in the configuration file at the workspace's root)";
    let told = refused(&[("sub/broker.toml", "select = ['F']\nmax-file-size = 1\n")]);
    assert_eq!(told, format!("sub/broker.toml:2:17: `max-file-size` has no effect here{hint}"));
    let told = refused(&[("sub/broker.toml", "extends = 'x'"), ("sub/x", "[baseline]\nfile = 'y'\n")]);
    assert_eq!(told, format!("sub/x:1:1: `baseline` has no effect here{hint}"));
    // A submodule has a file in place of the folder.
    for git in ["sub/.git", "sub/.git/HEAD"] {
        let nested = "select = ['F']\nmax-file-size = 1\n[files]\nexclude = ['x']\n";
        let effective = effective(&[("sub/broker.toml", nested), (git, "")], "sub/a.py");
        assert_eq!(effective.choice.select, Some(vec!["F".to_owned()]), "{git}");
    }
    let both = refused(&[("sub/broker.toml", ""), ("sub/.broker.toml", "")]);
    assert_eq!(both, "sub/.broker.toml: there is sub/broker.toml beside it, and only one of them can count");
}

#[test]
fn files_are_grouped_by_what_is_asked_for() {
    let files = [("broker.toml", "select = ['F']"), ("sub/broker.toml", "ignore = ['F401']")];
    let units = ["a", "sub/b", "z"].map(|it| Unit { path: path(it), named: path(it) });
    let groups = with(&files, |it| it.by_choice(&units).unwrap());
    let names = |units: &Vec<Unit>| units.iter().map(|it| it.path.to_string()).collect::<Vec<_>>();
    let groups: Vec<_> = groups.iter().map(|(choice, units)| (choice.ignore.len(), names(units))).collect();
    assert_eq!(groups, [(0, vec!["a".to_owned(), "z".to_owned()]), (1, vec!["sub/b".to_owned()])]);
}

#[test]
fn who_is_isolated_reads_nothing() {
    assert_eq!(*Configs::isolated().for_file(&path("a/b")).unwrap(), effective(&[], "a/b"));
}

#[test]
fn circles_and_towers_are_refused() {
    let told = refused(&[("broker.toml", "extends = 'a'"), ("a", "extends = 'b'"), ("b", "\nextends = 'a'")]);
    assert_eq!(told, "b:2:11: it extends itself: a -> b -> a");
    let names: Vec<_> = (0..30).map(|it| (format!("f{it}"), format!("extends = 'f{}'", it + 1))).collect();
    let mut files: Vec<_> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("broker.toml", "extends = 'f0'"));
    assert_eq!(refused(&files), "f15:1:11: more than 16 files extend one another");
}

#[test]
fn files_that_cannot_be_read_are_told() {
    assert_eq!(refused(&[("broker.toml/x", "")]), "broker.toml: it is a directory");
    let mut view = Memory::default();
    view.insert_file(&path("broker.toml"), b"\xff"[..].into(), false);
    let error = Configs::new(&view).workspace().unwrap_err();
    assert_eq!(error.to_string(), "broker.toml: it is not UTF-8");
    assert_eq!(effective(&[("sub", "a file")], "sub/a.py"), effective(&[], "a.py"));
}

#[test]
fn a_bad_file_is_bad_news_for_those_below_only() {
    with(&[("sub/broker.toml", "x"), ("a.py", "")], |it| {
        assert!(it.for_file(&path("a.py")).is_ok());
        assert!(it.for_file(&path("sub/deep/a.py")).is_err());
        assert!(it.for_file(&path("sub/deep/a.py")).is_err(), "the second time as well");
    });
}

#[test]
fn it_is_shown_who_says_what() {
    let files = [
        ("broker.toml", "select = ['F']\nignore = ['A']\n[severity]\n'python/F401' = 'off'\n"),
        (
            "sub/broker.toml",
            "ignore = ['B']\n[[overrides]]\npaths = ['x.py']\n[[overrides]]\npaths = ['*.py']\nseverity.E = 'error'\n",
        ),
    ];
    let shown = with(&files, |it| it.show(&path("sub/a.py")).unwrap());
    let want = r#"# what holds for sub/a.py
ignore = ["B"]  # sub/broker.toml
select = ["F"]  # broker.toml
severity."python/F401" = "off"  # broker.toml
suppressions.report-unused = "warning"  # default
suppressions.require-reason = false  # default

# because of paths = [*.py]
severity.E = "error"  # sub/broker.toml
"#;
    assert_eq!(shown.to_string(), want);
    let json = shown.to_json();
    assert_eq!(json["files"], serde_json::json!(["broker.toml", "sub/broker.toml"]));
    assert_eq!(
        json["values"][0],
        serde_json::json!({"key": "ignore", "value": ["B"], "file": "sub/broker.toml", "paths": []})
    );
}

/// To bring the copy up to date, run this test with `UPDATE_SCHEMA=1`.
#[test]
fn the_schema_for_editors_is_up_to_date() {
    let mut schema = serde_json::to_string_pretty(&schema()).unwrap();
    schema.push('\n');
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/broker.schema.json");
        std::fs::write(path, &schema).unwrap();
    }
    assert!(schema == include_str!("../../../../docs/broker.schema.json"), "run with UPDATE_SCHEMA=1");
}

#[test]
fn what_commands_may_do_is_said_at_the_root() {
    let run = |files: &[(&str, &str)]| with(files, |it| it.workspace().unwrap().run());
    assert_eq!(run(&[]), crate::RunSettings::default());
    let text = "[run]\nallow = [['cargo'], ['npm', 'run']]\nread = ['~/x']\nnetwork = 'host'\n";
    let set = run(&[("broker.toml", text)]);
    assert_eq!(set.allow.unwrap(), [vec!["cargo"], vec!["npm", "run"]]);
    assert_eq!((set.read, set.network), (vec!["~/x".to_owned()], crate::RunNetwork::Host));
    let told = refused(&[("sub/broker.toml", "[run]\nread = []\n")]);
    assert!(told.starts_with("sub/broker.toml:1:1: `run` has no effect here"), "{told}");
    let agents =
        with(&[("broker.toml", "[agents]\nmask-secrets = true\n")], |it| it.workspace().unwrap().agents());
    assert!(agents.mask_secrets);
    let told = refused(&[("sub/broker.toml", "[agents]\nmask-secrets = true\n")]);
    assert!(told.starts_with("sub/broker.toml:1:1: `agents` has no effect here"), "{told}");
}
