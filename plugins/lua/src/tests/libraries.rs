//! Names and arguments that exist by the standard library that a project names.

use super::*;

/// The findings about names in a file of a project with this standard library.
fn misused(std: &str, text: &str) -> String {
    let config = format!(
        "std = '{std}'\n[lints]\nmust_use = 'allow'\nunused_variable = 'allow'\nmultiple_statements = 'allow'\n"
    );
    let report = Repo::new(&[("selene.toml", &config), ("a.lua", text)]).report("a.lua", "").unwrap();
    report.diagnostics.into_iter().map(|it| it.message).collect::<Vec<_>>().join("\n")
}

#[test]
fn standard_libraries_are_those_of_the_manuals() {
    let all = "print(_VERSION:match('%d'), next({}, 'a'), getmetatable(''), collectgarbage('step', 9))\n\
               error({ code = 1 })\nio.stdout:setvbuf('no')\nio.stderr:write(io.read(), package.config:byte())\n\
               io.input('a')\nfor line in io.lines() do print(line) end\nlocal f = io.open('a', 'w+b')\n\
               print(f, io.type(3), os.setlocale(nil), select('#'))\ndebug.sethook()\ndebug.setmetatable(1, nil)\n";
    for std in ["lua51", "lua52", "lua53"] {
        assert_eq!(misused(std, all), "", "{std}");
    }
    let newer = "load('return 1', 'x', 't', {})\nprint(('x'):rep(2), string.rep('a', 3, ','), table.pack(), rawlen('a'))\n\
                 print(package.searchpath('a', package.path), package.searchers[1], _ENV.x)\nos.exit(true, true)\n";
    assert_eq!(misused("lua52", newer), "");
    assert_eq!(misused("lua53", newer), "");
    assert_eq!(misused("lua51", newer).lines().count(), 9, "{}", misused("lua51", newer));
    let newest = "print(math.type(1), math.maxinteger, math.atan(1, 2), utf8.offset('a', 1), utf8.charpattern:len())\n\
                  assert(x.y, { 1 })\nprint(coroutine.isyieldable())\n";
    assert_eq!(misused("lua53", newest), "`x` is not defined");
    assert_eq!(
        misused("lua53", "print(utf8.offest('a', 1))\npackage.config = 'x'\nio.open('a', 'x')\n")
            .lines()
            .count(),
        3,
        "what is wrong stays wrong"
    );
}

#[test]
fn luau_has_what_it_took_over() {
    assert_eq!(misused("luau", "print(next({}, 'a'), getmetatable(''), _VERSION:sub(1))\n"), "");
    assert!(misused("luau", "print(package.config)\n").contains("`config`"));
    let settings = Settings {
        select: Some(owned(&["undefined_variable", "incorrect_standard_library_use"])),
        ..settings()
    };
    let text = "warn('a', 'b')\nmath.randomseed()\nprint(math.atan(1, 2), setfenv, table.clone({}), string.rep('a', 1, 'b'))\n";
    assert_eq!(Repo::new(&[("a.lua", text)]).with(settings).check("a.lua"), "");
}

/// The findings in a file of a project whose standard library, `editor`, is this.
fn with_library(library: &str, text: &str) -> String {
    let files = [("selene.toml", "std = 'editor'\n"), ("editor.yml", library), ("lua/a/b.lua", text)];
    Repo::new(&files).check("lua/a/b.lua")
}

#[test]
fn escapes_are_those_of_the_versions_that_a_library_names() {
    let text = "return { '\\x1b[0m', '\\z  a', '\\u{e0b0}' }\n";
    let bad = |times: usize| vec!["bad_string_escape"; times].join(" ");
    assert_eq!(with_library("base: lua51\n", text), bad(3));
    assert_eq!(with_library("base: lua52\n", text), bad(1));
    for library in ["base: lua53\n", "base: luau\n", "base: lua51\nlua_versions: [luajit]\n"] {
        assert_eq!(with_library(library, text), "", "{library}");
    }
    assert_eq!(with_library("base: lua51\nlua_versions: [luajit]\n", "return '\\x1 \\q'\n"), bad(2));
    let settings = Settings { select: Some(owned(&["bad_string_escape"])), ..settings() };
    assert_eq!(Repo::new(&[("a.lua", text)]).with(settings).check("a.lua"), "", "any version");
}

#[test]
fn programs_that_run_luajit() {
    let text = "for i = 1, 9 do\n  if i > 2 then\n    goto next\n  end\n  print('\\x80', 0x10ULL)\n  ::next::\nend\n";
    for global in ["vim", "vim.api", "jit.version", "ngx"] {
        let library = format!("base: lua51\nglobals:\n  {global}:\n    any: true\n");
        assert_eq!(with_library(&library, text), "", "{global}");
    }
    let other = with_library("base: lua51\nglobals:\n  vimish:\n    any: true\n", text);
    assert!(other.starts_with("parse_error"), "{other}");
}
