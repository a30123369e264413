//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;

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
    let [unused] = &found("a.lua", "local x = 1\n")[..] else { panic!() };
    assert_eq!((unused.severity, unused.tags), (Severity::Warning, Tags::UNNECESSARY));
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

#[test]
fn roblox_is_a_download() {
    let text = "local x = game:GetService('Players')\nreturn UDim2.new(1, 1), { a = 1, a = x, Instance.new('Part') }\n";
    let config = ("selene.toml", "std = 'roblox'\n");
    let mut repo = Repo::new(&[config, ("a.lua", text)]);
    let report = repo.report("a.lua", "").unwrap();
    let codes: Vec<_> = report.diagnostics.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["roblox_suspicious_udim2_new", "duplicate_keys", "mixed_table"]);
    assert!(matches!(report.completeness, Completeness::Partial(it) if it.contains("generate-roblox-std")));
    let own = "base: luau\nname: roblox\nglobals:\n  UDim2.new:\n    args: []\n";
    let mut repo = Repo::new(&[config, ("roblox.yml", own), ("a.lua", text)]);
    assert!(repo.check("a.lua").starts_with("undefined_variable incorrect_standard_library_use"));
    let report = repo.report("a.lua", "").unwrap();
    assert!(matches!(report.completeness, Completeness::Complete));
}

#[test]
fn comments_decide() {
    let text = "-- selene: allow(unused_variable)\nlocal x = 1\nlocal y = 1\n";
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
fn syntax_errors_are_told_all() {
    let text = "local x = = 1\nf(\nif x the y() end\nreturn '\n";
    let lines: Vec<_> =
        told("a.lua", text).lines().map(|it| it.split(' ').next().unwrap().to_owned()).collect();
    assert!(
        lines.len() > 2 && lines.contains(&"1:11".to_owned()) && lines.contains(&"4:8".to_owned()),
        "{lines:?}"
    );
    assert_eq!(
        told("a.lua", "function f()\n  g()\n"),
        "3:1 parse_error unexpected end of the file: expected `end` to close function body block"
    );
    assert_eq!(
        told("a.lua", "x = 'é' = 2\n"),
        "1:10 parse_error unexpected token, this needs to be a statement"
    );
    let mut repo = Repo::new(&[("selene.toml", ""), ("a.lua", "local a = `b` .. 'c`'\n")]);
    let backtick = repo.report("a.lua", "").unwrap().diagnostics;
    assert_eq!((backtick[0].message.as_str(), backtick[0].span.start), ("unexpected character `", 10));
    let found = found("a.lua", "x = (((\n");
    assert!(found.iter().all(|it| it.severity == Severity::Error));
}

#[test]
fn versions() {
    let jit = "goto l\n::l::\nlocal a = 0x1LL // 2 & 3\nlocal b <const> = '\\z' .. a\nreturn b\n";
    assert_eq!(told("a.lua", jit), "");
    let luau = "local a: number = if x then 1 else 2\na += 1\nreturn `{a}`\n";
    assert_eq!(told("a.luau", luau), "");
    assert_eq!(told("a.lua", luau), "");
    let check = |std: &str, text| {
        let config = format!("std = '{std}'\n[lints]\nbad_string_escape = 'allow'\n");
        Repo::new(&[
            ("selene.toml", &config),
            ("a.lua", text),
            ("five.yml", "base: lua53\nlua_versions: [lua54]\n"),
        ])
        .check("a.lua")
    };
    assert!(check("lua51", "goto l\n::l::\n").contains("parse_error"));
    assert_eq!(check("lua52", "goto l\n::l::\n"), "");
    assert!(check("lua52", "return 1 // 2\n").contains("parse_error"));
    assert_eq!(check("lua53", "return 1 // 2\n"), "");
    assert_eq!(check("five", "local b <const> = 1\nreturn b\n"), "");
    assert_eq!(check("luau", "local a: number = 1\nreturn a\n"), "");
    assert_eq!(check("lua51", "return '`', [[`]] -- `\n"), "");
}

/// In Luau they are in types alone, and elsewhere no reason to break off.
#[test]
fn signs_of_unions_and_intersections() {
    for text in ["if a && b then return 1 end", "return a || b", "x = 6 |= 3", "x |= 3", "return a & | b"] {
        assert!(told("a.lua", text).contains("parse_error"), "{text}");
        assert!(told("a.luau", text).contains("parse_error"), "{text}");
    }
    assert_eq!(told("a.lua", "return a & b | c"), "", "of Lua 5.3");
    assert_eq!(
        told("a.luau", "type A = B<C<D>> | E\nlocal goto = f(a | b)\nreturn goto"),
        "2:18 parse_error unexpected token `|`: Luau has it in types alone"
    );
    let types = "export type A = { a: B<C<D>>, goto: (| 'x' | nil) & typeof(f(1)), }\n\
                 local function g(x: A | B, ...: C & D): (E | F, G<H<nil>>?)\n  return x :: A & B, ..., `{x :: A | B}`\nend\n\
                 local goto = g\ngoto(1)\nreturn goto, '|' --[[ & ]]\n";
    assert_eq!(told("a.luau", types), "");
    let luau = |text: &str| Repo::new(&[("selene.toml", "std = 'luau'\n"), ("a.lua", text)]).check("a.lua");
    let places = "x = {$}; x[$] = 1; f{$}; x:f($); x = `{$}`; x = if $ then $ else $; x = -a | b; x += $; repeat until $; \
                  for i = $, 2 do end; for i in $ do end; while $ do end; x = function(): A | B return $ end; x = a.b[1]{$}.c; \
                  local x: typeof($) = 1; x = ($) :: A | B; x = a :: A + 1 | b; type A = typeof($) | B; return 1 | 2; \
                  local function f<A>(x: A | B, y: typeof($)) end; @native function f() return $ end; x = 'a' .. $ ^ 2; \
                  type function f(x) return $ end; ::l:: x = $; x = a ~ b | c; x = f(a || b)";
    for place in places.split("; ") {
        let text = place.replace('$', "a & b");
        assert!(luau(&text).starts_with("parse_error"), "{text}");
    }
}

#[test]
fn what_lua_reads_and_full_moon_does_not() {
    for text in [
        "local x = 1;; return x",
        "if a then ; f() end",
        ";return 1",
        "while true do break print(1) end",
        "\u{feff}#!/bin/lua\nf()",
        "# text [[\nf()",
        "f()\u{c}\n\u{b}g()",
        "function f() ; end",
    ] {
        assert_eq!(told("a.lua", text), "", "{text}");
    }
    assert_eq!(told("a.lua", ";;\nlocal x"), "2:7 unused_variable x is defined, but never used");
    assert!(told("a.lua", "return 1;;").contains("parse_error"), "nor does Lua");
    assert!(told("a.lua", "local é = 1").contains("parse_error"), "of LuaJIT, left out");
    assert_eq!(
        Repo::new(&[("selene.toml", "std = 'lua51'\n"), ("a.lua", "f();;")]).check("a.lua"),
        "parse_error"
    );
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
fn bytes_that_are_no_text() {
    let mut repo = Repo::new(&[("bom.lua", "\u{feff}local é = 1\r\nlocal x\r\n"), ("latin.lua", "")]);
    fs::write(repo.root.path().join("latin.lua"), b"print('\xff')\n").unwrap();
    let report = repo.report("latin.lua", "").unwrap();
    assert_eq!((report.diagnostics[0].code.as_str(), report.diagnostics[0].span.start), ("parse_error", 7));
    assert!(repo.check("bom.lua").starts_with("parse_error"), "no name in Lua has an accent");
    let text = "\u{feff}-- é\r\nlocal x\r\nreturn 'é' \r\n";
    assert_eq!(told("a.lua", text), "2:7 unused_variable x is defined, but never used");
}

/// Whatever a text is cut to, there is an answer, and its places are in the text.
#[test]
fn truncated_texts() {
    let text = "local a, b = `x{1}`, [==[é]==] -- [[ c\nlocal function f(x: {[string]: any}?, ...)\n  for i, v in ipairs(x) do\n\
                if v then goto e elseif #x == 0 then return '\\u{e9}' else x.y[i]:z{1} end ::e::\n  end\nend\n\
                type T<A> = (A) -> typeof(f) & B<C<D>>\nrepeat local x <const> = 0xffLL // 2 until a & b | c ~= b\nreturn f(if a then b else 1)\n";
    let mut repo = Repo::new(&[]);
    for end in (0..text.len()).filter(|it| text.is_char_boundary(*it)) {
        for path in ["a.lua", "a.luau"].map(str::to_owned) {
            let content = text.as_bytes()[..end].to_vec();
            let report = repo.plugin.check(&SourceFile { path, content, named: String::new() }).unwrap();
            for it in report.diagnostics {
                assert!(
                    text[..end].get(it.span.start as usize..it.span.end as usize).is_some(),
                    "{end} {it:?}"
                );
            }
        }
    }
}

/// Whatever signs stand in a row, nothing breaks off.
#[test]
fn signs_in_a_row() {
    let words: Vec<_> =
        "& | & | a b 1 'x' ( ) { } [ ] < > >> :: : , = ; ~ .. + - not if then else end function local type \
                         goto return ` `{ }` typeof -> ? ... break do while $ é 1x @"
            .split(' ')
            .collect();
    let mut repo = Repo::new(&[
        ("luau/selene.toml", "std = 'luau'\n"),
        ("both/selene.toml", "std = 'lua53+luau'\n"),
        ("old/selene.toml", "std = 'lua51'\n"),
    ]);
    let mut seed = 7_u32;
    for round in 0..20_000 {
        let mut text = ["x = a ", "type T = A ", "local x: A "][round % 3].to_owned();
        for _ in 0..3 + round % 9 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(words[(seed >> 16) as usize % words.len()]);
            text.push_str(["", " "][(seed >> 9) as usize % 2]);
        }
        for path in ["a.lua", "luau/a.lua", "both/a.lua", "old/a.lua"].map(str::to_owned) {
            let file = SourceFile { path, content: text.as_bytes().to_vec(), named: String::new() };
            let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| repo.plugin.check(&file)));
            assert!(told.is_ok(), "{} {text}", file.path);
        }
    }
}

#[test]
fn rules() {
    let rules = Lua::new().rules();
    assert_eq!(rules.len(), 34);
    assert!(rules[1..].iter().all(|it| selene_lib::lint_exists(&it.code)));
    assert!(rules[1..].is_sorted_by(|a, b| a.code < b.code));
    assert_eq!(rules.iter().filter(|it| !it.default).count(), 11);
    assert!(rules.iter().all(|it| it.fix == FixAvailability::None && !it.summary.is_empty()));
}

#[test]
fn the_sample_is_read_to_its_end() {
    let settings = Settings { select: Some(owned(&["ALL"])), ..settings() };
    let mut repo = Repo::new(&[("a.lua", include_str!("warm_up.lua"))]).with(settings);
    let found = repo.check("a.lua");
    assert!(found.contains("ifs_same_cond") && found.split(' ').count() > 15, "{found}");
}
