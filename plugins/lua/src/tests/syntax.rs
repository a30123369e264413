//! Texts that are Lua, and texts that are not.

use super::*;

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
    assert_eq!(told("a.lua", ";;\nlocal x\nf()"), "2:7 unused_variable x is defined, but never used");
    assert!(told("a.lua", "return 1;;").contains("parse_error"), "nor does Lua");
    assert!(told("a.lua", "local é = 1").contains("parse_error"), "of LuaJIT, left out");
    assert_eq!(
        Repo::new(&[("selene.toml", "std = 'lua51'\n"), ("a.lua", "f();;")]).check("a.lua"),
        "parse_error"
    );
}

#[test]
fn byte_order_marks() {
    let mut repo = Repo::new(&[("bom.lua", "\u{feff}local é = 1\r\nlocal x\r\n")]);
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
