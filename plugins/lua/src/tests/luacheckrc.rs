//! Exclusions and ignored warnings of a `.luacheckrc`.

use broker_plugin_sdk::{
    DEFAULT, Settings,
    testing::{select, settings},
};

use super::Repo;

const BROKEN: &str = "return { a = 1, a = 2 }\n";
const UNUSED: &str = "local left, kept = 1, 2\nf(kept)\nlocal right = 2\nf()\n";

#[test]
fn excluded_files() {
    let config = "std = 'min'\nlocal made = { 'x.lua' }\nexclude_files = {\n  'rocks', -- folders\n  './gen/*.lua',\n  \"**/third[0-9]?/**\",\n  [[{a}/b]],\n}\n";
    let excluded = ["rocks/in/a.lua", "gen/a.lua", "third1x/a.lua", "in/third2y/z/a.lua", "{a}/b/c.lua"];
    let checked = ["in/rocks/a.lua", "gen/in/a.lua", "third10x/a.lua", "a/b/c.lua", "x.lua"];
    let paths = excluded.iter().chain(&checked).map(|it| (*it, BROKEN));
    let files: Vec<_> = std::iter::once((".luacheckrc", config)).chain(paths).collect();
    let mut repo = Repo::new(&files);
    for path in excluded {
        assert_eq!(repo.check(path), "excluded", "{path}");
        assert_eq!(repo.check_explicit(path), "duplicate_keys", "{path}");
    }
    for path in checked {
        assert_eq!(repo.check(path), "duplicate_keys", "{path}");
    }
}

#[test]
fn included_files() {
    let check = |config: &str| {
        let files = [(".luacheckrc", config), ("src/a.lua", BROKEN), ("b.lua", BROKEN)];
        let mut repo = Repo::new(&files);
        [repo.check("src/a.lua"), repo.check("b.lua")].join(" ")
    };
    let both = "duplicate_keys duplicate_keys";
    assert_eq!(check("include_files = { 'src' }"), "duplicate_keys excluded");
    assert_eq!(
        check("return { include_files = { '*.lua' }, exclude_files = {} }"),
        "excluded duplicate_keys"
    );
    assert_eq!(check("include_files = { 'src', os.getenv('MORE') }"), both, "not known as a whole");
    assert_eq!(check("exclude_files = { 'src' }\nexclude_files = all()"), both);
    assert_eq!(check("if CI then exclude_files = { 'src' } end"), both);
    assert_eq!(check("exclude_files = { 'src' "), both, "luacheck says that it is broken");
    assert_eq!(check("exclude_files = { 's[', [2] = 'src', 'b.lua' }"), "duplicate_keys excluded");
}

#[test]
fn ignored_warnings() {
    let lines = |config: &str| Repo::new(&[(".luacheckrc", config), ("a.lua", UNUSED)]).lines("a.lua");
    let right = "3 unused_variable \"right\"";
    for all in ["'211'", "'2'", "'W211', '631'", "'right', 'left'", "'211/right'"] {
        assert_eq!(lines(&format!("ignore = {{ {all} }}")), "", "{all}");
    }
    assert_eq!(lines("unused = false"), "");
    for other in ["'212'", "'213/right'", "'left'", "'211/_.*'", "'_.*'", "'21/left'", "'21.'", "'542'", "''"]
    {
        assert_eq!(lines(&format!("ignore = {{ {other} }}")), right, "{other}");
    }
    assert_eq!(lines("unused = true"), right);
    let mut repo = Repo::new(&[(".luacheckrc", "ignore = { '21', '542/x' }"), ("a.lua", UNUSED)]);
    assert!(!repo.is_on("a.lua", "unused_variable") && repo.is_on("a.lua", "empty_if"));
    let more = [DEFAULT, "unused_variable"].map(str::to_owned).to_vec();
    let mut repo = repo.with(Settings { select: Some(more), ..settings() });
    assert!(repo.check("a.lua").contains("unused_variable"), "who asks is told");
}

#[test]
fn where_it_counts() {
    let files = [
        (".luacheckrc", "exclude_files = { 'a.lua', 'in/gen' }\nignore = { '211' }\n"),
        ("in/.luacheckrc", "exclude_files = { 'b.lua' }\n"),
        ("a.lua", BROKEN),
        ("in/a.lua", UNUSED),
        ("in/b.lua", BROKEN),
        ("in/gen/c.lua", BROKEN),
    ];
    let check = |files: &[(&str, &str)], settings: Settings| {
        let mut repo = Repo::new(files).with(settings);
        ["a.lua", "in/a.lua", "in/b.lua", "in/gen/c.lua"].map(|it| repo.check(it)).join(" ")
    };
    let all = "duplicate_keys unused_variable duplicate_keys duplicate_keys";
    assert_eq!(check(&files, settings()), "excluded  excluded excluded");
    assert_eq!(check(&files, select(&["duplicate_keys", "unused_variable"])).matches("keys").count(), 3);
    assert_eq!(check(&files, Settings { isolated: true, ..settings() }), all);
    let configured =
        [&files[..], &[("selene.toml", "std = 'lua51'\n[lints]\nundefined_variable = 'allow'\n")]];
    assert!(!check(&configured.concat(), settings()).contains("excluded"));
}
