//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

mod libraries;
mod luacheckrc;
mod syntax;

use broker_plugin_sdk::{
    testing::{self, settings},
    *,
};

use crate::Lua;

type Repo = testing::Project<Lua>;

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

/// The findings in one file without a configuration.
fn found(name: &str, text: &str) -> Vec<Diagnostic> {
    Repo::new(&[(name, text)]).report(name, "").unwrap().diagnostics
}

/// `line:column code message` of each.
fn told(name: &str, text: &str) -> String {
    let line = |it: &Diagnostic| {
        let before = &text[..it.span.start as usize];
        let column = before.len() - before.rfind('\n').map_or(0, |it| it + 1) + 1;
        format!("{}:{column} {} {}", before.matches('\n').count() + 1, it.code, it.message)
    };
    found(name, text).iter().map(line).collect::<Vec<_>>().join("\n")
}

const MIXED: &str = "local t = { 1, x = 2, x = 3 }\nprint(t, other)\n";

#[test]
fn without_a_configuration_what_is_broken_is_told() {
    assert_eq!(told("a.lua", MIXED), "1:23 duplicate_keys key `x` is already declared");
    assert_eq!(told("a.lua", ""), "");
    let [key] = &found("a.lua", MIXED)[..] else { panic!() };
    assert_eq!(key.severity, Severity::Error);
    assert_eq!(key.related[0].message, "`x` originally declared here");
    assert_eq!(key.url.as_deref(), Some("https://kampfkarren.github.io/selene/lints/duplicate_keys.html"));
    let [unused] = &found("a.lua", "local x = 1\nf()\n")[..] else { panic!() };
    assert_eq!((unused.severity, unused.tags), (Severity::Warning, Tags::UNNECESSARY));
}

#[test]
fn what_is_left_over_in_copies_and_fixtures_is_not_told() {
    let text = "local x = 1\nif f() then\nend\n";
    for path in ["vendor/b.lua", "tests/fixtures/b.lua"] {
        assert_eq!(told(path, text), "", "{path}");
        assert_eq!(told(path, MIXED), told("a.lua", MIXED), "{path}");
    }
    assert_eq!(found("a.lua", text).len(), 2);
    let mut repo = Repo::new(&[("selene.toml", ""), ("vendor/b.lua", text)]);
    assert_eq!(repo.check("vendor/b.lua"), "unused_variable empty_if undefined_variable");
}

#[test]
fn with_one_it_is_as_selene_says() {
    let mut repo = Repo::new(&[("selene.toml", ""), ("a.lua", MIXED)]);
    assert_eq!(repo.check("a.lua"), "mixed_table duplicate_keys undefined_variable");
    let config = "exclude = ['vendor/*']\n[lints]\nmixed_table = 'allow'\nundefined_variable = 'warn'\n\
                  high_cyclomatic_complexity = 'deny'\n[config]\nhigh_cyclomatic_complexity = { maximum_complexity = 1 }\n";
    let mut repo = Repo::new(&[
        ("selene.toml", config),
        ("a.lua", MIXED),
        ("f.lua", "return function(a)\n  if a then\n    return 1\n  end\nend\n"),
        ("vendor/b.lua", MIXED),
    ]);
    let report = repo.report("a.lua", "").unwrap();
    let severities: Vec<_> = report.diagnostics.iter().map(|it| (it.code.as_str(), it.severity)).collect();
    assert_eq!(severities, [("duplicate_keys", Severity::Error), ("undefined_variable", Severity::Warning)]);
    assert_eq!(repo.check("f.lua"), "high_cyclomatic_complexity");
    assert_eq!(repo.check("vendor/b.lua"), "excluded");
    assert_eq!(
        repo.report("vendor/b.lua", "vendor/b.lua").unwrap().diagnostics.len(),
        2,
        "named by the user"
    );
}

#[test]
fn the_nearest_configuration_counts() {
    let files = [
        ("selene.toml", "std = 'mine'\n"),
        ("mine.yml", "base: lua51\nglobals:\n  other:\n    any: true\n"),
        ("a.lua", "print(other, more)\n"),
        ("in/selene.toml", "std = 'lua52+old'\n"),
        ("in/old.toml", "[[more.args]]\ntype = 'string'\n"),
        ("in/deep/a.lua", "more(1)\nprint(other, bit32.bnot(1))\n"),
    ];
    let mut repo = Repo::new(&files);
    assert_eq!(repo.check("a.lua"), "undefined_variable");
    assert_eq!(repo.check("in/deep/a.lua"), "incorrect_standard_library_use undefined_variable");
    let mut repo = Repo::new(&files).with(Settings { isolated: true, ..settings() });
    assert_eq!(repo.check("a.lua"), "");
    let mut repo =
        Repo::new(&files).with(Settings { config: Some("in/selene.toml".to_owned()), ..settings() });
    assert_eq!(repo.check("a.lua"), "undefined_variable", "`old` is found beside the configuration");
}

#[test]
fn what_is_wrong_with_a_configuration_is_told() {
    let problem = |files: &[(&str, &str)]| {
        let mut files = files.to_vec();
        files.push(("a.lua", "print(x.y)\n"));
        Repo::new(&files).check("a.lua")
    };
    assert_eq!(
        problem(&[("selene.toml", "std = 3\n")]),
        "cannot use `selene.toml`: line 1, column 7: invalid type: integer `3`, expected a string"
    );
    assert!(problem(&[("selene.toml", "lint = {}\n")]).contains("unknown field `lint`"));
    assert!(problem(&[("selene.toml", "exclude = ['a[']\n")]).contains("in `exclude`"));
    assert!(problem(&[("selene.toml", "std = 'vim'\n")]).contains("no standard library `vim`"));
    assert!(problem(&[("selene.toml", "std = 'a'\n"), ("a.yml", "base: a\n")]).contains("based on itself"));
    assert!(problem(&[("selene.toml", "std = 'a'\n"), ("a.yml", "globals: 3\n")]).contains("`a.yml`"));
    let lost = "globals:\n  x:\n    struct: Lost\n";
    assert!(problem(&[("selene.toml", "std = 'a'\n"), ("a.yml", lost)]).contains("`Lost`"));
    let lint = "[config]\nunused_variable = { ignore_pattern = '(' }\n";
    assert!(problem(&[("selene.toml", lint)]).contains("[unused_variable]"));
}

/// A file is checked completely without what is missing: no change of it could mend that.
#[test]
fn roblox_is_a_download() {
    let text = "local x = game:GetService('Players')\nreturn UDim2.new(1, 1), { a = 1, a = x, Instance.new('Part') }\n";
    let config = ("selene.toml", "std = 'roblox'\n");
    let mut repo = Repo::new(&[config, ("a.lua", text)]);
    let report = repo.report("a.lua", "").unwrap();
    let codes: Vec<_> = report.diagnostics.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["roblox_suspicious_udim2_new", "duplicate_keys", "mixed_table"]);
    assert!(matches!(report.completeness, Completeness::Complete));
    let select = |codes: &[&str]| Settings { select: Some(owned(codes)), ..settings() };
    let mut chosen =
        Repo::new(&[config, ("a.lua", text)]).with(select(&["undefined_variable", "mixed_table"]));
    assert_eq!(chosen.check("a.lua"), "mixed_table");
    let more = [
        ("selene.toml", "std = 'mine+roblox'\n"),
        ("mine.yml", "base: luau\nglobals:\n  own:\n    any: true\n"),
    ];
    let mut based = Repo::new(&[more[0], more[1], ("a.luau", "workspace.Gravity = own + game.x\n")]);
    assert_eq!(based.check("a.luau"), "");
    let own = "base: luau\nname: roblox\nglobals:\n  UDim2.new:\n    args: []\n";
    let mut repo = Repo::new(&[config, ("roblox.yml", own), ("a.lua", text)]);
    assert!(repo.check("a.lua").starts_with("undefined_variable incorrect_standard_library_use"));
    let report = repo.report("a.lua", "").unwrap();
    assert!(matches!(report.completeness, Completeness::Complete));
}

#[test]
fn comments_decide() {
    let text = "-- selene: allow(unused_variable)\nlocal x = 1\nlocal y = 1\nf()\n";
    assert_eq!(told("a.lua", text), "3:7 unused_variable y is assigned a value, but never used");
    let text = "--# selene: deny(undefined_variable)\nprint(x)\n";
    assert_eq!(told("a.lua", text), "2:7 undefined_variable `x` is not defined");
    assert_eq!(
        told("a.lua", "-- selene: allow(everything)\nprint()\n"),
        "1:1 invalid_lint_filter no lint named `everything` exists"
    );
}

#[test]
fn selectors() {
    let check = |select: Option<&[&str]>, ignore: &[&str], text: &str| {
        let settings = Settings { select: select.map(owned), ignore: owned(ignore), ..settings() };
        Repo::new(&[("a.lua", text)]).with(settings).check("a.lua")
    };
    assert_eq!(check(Some(&["undefined_variable"]), &[], MIXED), "undefined_variable");
    assert_eq!(check(Some(&["ALL"]), &["mixed_table"], MIXED), "duplicate_keys undefined_variable");
    assert_eq!(check(None, &["duplicate_keys"], MIXED), "");
    assert_eq!(check(Some(&["mixed_table"]), &[], "x ="), "parse_error");
    assert_eq!(check(None, &["parse_error"], "x ="), "");
    let settings = Settings { select: Some(owned(&["F401", "shadowing"])), ..settings() };
    let unknown = Lua::new().configure(&settings);
    assert!(matches!(unknown, Err(SettingsError::UnknownSelectors(it)) if it == ["F401"]));
}

#[test]
fn global_variables_may_be_used_elsewhere() {
    let text = "admins = {}\nfunction f() end\nlocal a = 1\nx = 1\nx = 2\n";
    assert_eq!(told("a.lua", text), "3:7 unused_variable a is assigned a value, but never used");
    let settings = Settings { select: Some(owned(&["unused_variable"])), ..settings() };
    assert!(
        Repo::new(&[("a.lua", text)])
            .with(settings)
            .check("a.lua")
            .contains("unused_variable unused_variable")
    );
    let found = Repo::new(&[("selene.toml", ""), ("a.lua", "admins = 1\n")]).check("a.lua");
    assert_eq!(found, "unscoped_variables unused_variable");
}

#[test]
fn unused_variables_that_something_asks_for() {
    let all = "local function f(a, b, ...)\n  local c = 1\n  return b\nend\n\
               for i = 1, 2 do f() end\nfor k, v in pairs({}) do f(v) end\nlocal ok, value = pcall(f)\nprint(value)\n\
               local d, e = f()\nreturn function(event) end\n";
    let without = "2:9 unused_variable c is assigned a value, but never used\n\
                   9:10 unused_variable e is defined, but never used";
    assert_eq!(told("a.lua", all), without, "of `d` and `e` neither is used");
    assert_eq!(told("a.lua", "local ok, why = f()\nreturn ok\n"), "");
    assert_eq!(told("a.lua", "local ok, why = ...\nreturn ok\n"), "");
    assert_eq!(
        told("a.lua", "local a, b = f(), g()\nreturn a\n"),
        "1:10 unused_variable b is assigned a value, but never used"
    );
    assert_eq!(told("a.lua", "-- to be included\nlocal function f(a)\n  return a\nend\n"), "");
    assert_eq!(told("a.lua", "local f <close> = g()\nreturn 1\n"), "");
    let count = |files: &[(&str, &str)], settings: Settings| {
        Repo::new(files).with(settings).check("a.lua").matches("unused_variable").count()
    };
    assert_eq!(count(&[("a.lua", all), ("selene.toml", "")], settings()), 9, "selene's own");
    let select = Settings { select: Some(owned(&["unused_variable"])), ..settings() };
    assert_eq!(count(&[("a.lua", all)], select), 9, "who asks is told");
}

#[test]
fn what_is_meant_as_it_is() {
    assert_eq!(told("a.lua", "local inf = 1/0\nlocal a, b = inf\nreturn a, b\n"), "");
    assert_eq!(
        told("a.lua", "if x then\n  -- nothing to do\nelse\n  f()\nend\nwhile x do -- wait\nend\n"),
        ""
    );
    assert_eq!(told("a.lua", "if x then\nelse\n  f()\nend\n").split(' ').nth(1), Some("empty_if"));
    assert_eq!(
        told("a.lua", "local unpack = function(t) return unpack(t, 1, t.n) end\nreturn unpack\n"),
        "",
        "an outer one"
    );
    let own = "local f\nf = function(t) return f(t, 1) end\nlocal g = function(t) end\ng(1, 2)\nreturn f\n";
    assert!(told("a.lua", own).contains("4:1 mismatched_arg_count"), "{}", told("a.lua", own));
}

#[test]
fn templates_are_left_out() {
    let text = "{% for n in range(3) %}\nt[{{n}}] = 1\n{% endfor %}\n";
    assert_eq!(Repo::new(&[("a.lua", text)]).check("a.lua"), "excluded");
    assert!(Repo::new(&[("a.lua", text), ("selene.toml", "")]).check("a.lua").starts_with("parse_error"));
    let engine = "local tag = '{% raw %}'\nreturn (\n";
    assert_eq!(
        Repo::new(&[("a.lua", engine)]).check("a.lua"),
        "parse_error",
        "a tag in a text, and a mistake"
    );
    assert_eq!(
        told("a.lua", "if a then\n  f()\nelseif b then\n  f()\nend\n"),
        "",
        "two reasons for the same"
    );
}

/// Values that a variable was given may take more arguments than the functions that can be seen.
#[test]
fn calls_of_what_is_no_function_here() {
    assert_eq!(told("a.lua", "local f = os.clock\nif X then f = function() return 1 end end\nf(2)\n"), "");
    assert_eq!(told("a.lua", "local h = function() end\nh = X.y\nh(1)\n"), "");
    assert_eq!(told("a.lua", "local a, h = g()\nif a then h = function() end end\nh(1)\n"), "");
    assert_eq!(told("a.lua", "return function(h)\n  if X then h = function() end end\n  h(1)\nend\n"), "");
    let own = "local h\nif X then h = function() end else h = function(a) end end\nh(1, 2)\nlocal k, n = function() end, 1\nk(n)\n";
    let lines = told("a.lua", own);
    assert_eq!(lines.matches("mismatched_arg_count").count(), 2, "{lines}");
    assert!(lines.ends_with("takes 0 arguments but 1 argument was supplied"), "{lines}");
}

/// `...` and a call at the end of the arguments may have no value.
#[test]
fn calls_whose_last_argument_may_have_no_value() {
    let called = |definition: &str, call: &str| {
        let text = format!("{definition}\nreturn function(...)\n  {call}\nend\n");
        told("a.lua", &text).matches("mismatched_arg_count").count()
    };
    let (none, two) = ("local function open() end", "local open = function(a, b) print(a, b) end");
    for call in ["open(...)", "open(os.clock())", "open(X:all())", "open((open)())", "open(X.y 'z')"] {
        assert_eq!(called(none, call), 0, "{call}");
    }
    for call in ["open(1, 2, ...)", "open(..., 2, X.y())", "open(1, ...)"] {
        assert_eq!(called(two, call), 0, "{call}");
    }
    for call in ["open(1)", "open((...))", "open((X.y()))", "open(1, ...)", "open(..., nil)", "open 'a'"] {
        assert_eq!(called(none, call), 1, "{call}");
    }
    for call in ["open(1, 2, 3, ...)", "open(1, ..., 3)", "open(1, 2, (...))"] {
        assert_eq!(called(two, call), 1, "{call}");
    }
}

#[test]
fn what_works_by_its_condition_or_its_function() {
    assert_eq!(told("a.lua", "while f() do end\nrepeat until f.x:g()\nfor _ in f() do end\n"), "");
    assert_eq!(told("a.lua", "while x do end\n"), "1:1 empty_loop empty loop block");
    assert_eq!(told("a.lua", "string.gsub(s, 'a', function() end)\nstring.gsub(s, 'a', t)\n"), "");
    assert_eq!(told("a.lua", "math.random()\nos.tmpname()\ncollectgarbage()\ntostring(f)\n"), "");
    let text = "string.gsub(s, 'a', 'b')\nstring.upper(s)\n";
    let lines = told("a.lua", text);
    assert_eq!(lines.matches("must_use").count(), 2, "{lines}");
}

#[test]
fn what_only_some_versions_call_deprecated() {
    let text = "table.foreach(t, print)\nprint(table.getn(t))\n";
    assert_eq!(told("a.lua", text), "");
    assert!(!Lua::new().rules().iter().any(|it| it.code == "deprecated" && it.default));
}

#[test]
fn comments_for_luacheck() {
    let unused = |text: &str| told("a.lua", text).matches("unused_variable").count();
    assert_eq!(
        unused("f()\nlocal a = 1 -- luacheck: ignore\nlocal b = 1 -- luacheck: no unused\nlocal c = 1\n"),
        1
    );
    assert_eq!(unused("f()\n-- luacheck: ignore 211/a b\nlocal a = 1\nlocal b = 1\nlocal c = 1\n"), 1);
    assert_eq!(unused("f(function()\n  -- luacheck: no unused\n  local a = 1\nend)\nlocal b = 1\n"), 1);
    let severe = "local t = { a = 1, a = 2 } -- luacheck: no unused\nreturn t\n";
    assert_eq!(told("a.lua", severe), "1:20 duplicate_keys key `a` is already declared");
}

/// Lua reads bytes. That they are no UTF-8, another plugin tells.
#[test]
fn bytes_that_are_no_text() {
    let mut repo = Repo::new(&[("a.lua", "")]);
    let mut check = |content: &[u8]| {
        std::fs::write(repo.root.path().join("a.lua"), content).unwrap();
        repo.check("a.lua")
    };
    assert_eq!(check(b"return '\xff'\n"), "");
    assert_eq!(check(b"-- caf\xe9\nlocal x = 1\nf()\n"), "unused_variable");
    assert_eq!(check(b"return { ['\xe9'] = 1, ['\xe8'] = 2 }\n"), "", "not the same key");
    assert_eq!(check(b"return { '\xe9', a = 1, a = 2 }\n"), "duplicate_keys");
    assert_eq!(check(b"return '\xe9\n"), "parse_error");
}

#[test]
fn rules() {
    let rules = Lua::new().rules();
    assert_eq!(rules.len(), 34);
    assert!(rules[1..].iter().all(|it| selene_lib::lint_exists(&it.code)));
    assert!(rules[1..].is_sorted_by(|a, b| a.code < b.code));
    assert_eq!(rules.iter().filter(|it| !it.default).count(), 15);
    assert!(rules.iter().all(|it| it.fix == FixAvailability::None && !it.summary.is_empty()));
}

#[test]
fn the_sample_is_read_to_its_end() {
    let settings = Settings { select: Some(owned(&["ALL"])), ..settings() };
    let mut repo = Repo::new(&[("a.lua", include_str!("warm_up.lua"))]).with(settings);
    let found = repo.check("a.lua");
    assert!(found.contains("ifs_same_cond") && found.split(' ').count() > 15, "{found}");
}
