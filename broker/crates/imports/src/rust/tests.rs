//! Each way to import in Rust, and what only looks like one.

use super::super::tests::{check, check_each};

const CARGO: (&str, &str) = ("Cargo.toml", "[package]\nname = \"my-crate\"\n");

#[test]
fn who_names_a_module() {
    let files = [
        CARGO,
        ("src/a.rs", "pub struct A;"),
        ("src/b.rs", "use crate::{\n    c,\n    a::A,\n};"),
        ("src/c.rs", "fn f() -> crate::a::A { todo!() }"),
        ("src/d.rs", "// nothing: a\nfn g() { let a = 1; }"),
        ("src/e.rs", "fn h() { crate::b::f() }"),
        ("other/Cargo.toml", "[package]\nname = 'other'\n"),
        ("other/src/lib.rs", "use self::a::B; mod x;"),
    ];
    check("rs", &files, "src/a.rs", "src/b.rs src/c.rs src/e.rs");
}

#[test]
fn each_way_to_name_it() {
    let texts = [
        "mod a;",
        "mod /* the first */ a;",
        "mod r#a;",
        "pub(crate) mod a;",
        "use crate:: // see\n  a::A;",
        "use crate::{b, r#a::{self}};",
        "let u = \"http://x\"; crate::a::f();",
        "let u = ('\"', '\\'', 'x'); crate::a::f();",
        "let u = r#\"it's \" \"#; crate::a::f();",
        "let u = \"two\nlines\"; crate::a::f();",
        "/* a /* comment */ \" in a comment */ use crate::a::A;",
        "fn f<'x>() { $crate::a::m!() }",
        "#[path = \"a.rs\"]\nmod b;",
        "#[cfg_attr(unix, path = \"../src/a.rs\")] mod b;",
        "include!(\"a.rs\");",
        "const A: &str = include_str!(\"./a.rs\");",
        "const A: &[u8] = include_bytes!(r\"a.rs\");",
        "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/src/a.rs\"));",
    ];
    check_each("rs", &[CARGO, ("src/a.rs", "")], "src/x.rs", &texts, "src/a.rs");
    let texts = ["#[path = \"../src/a.rs\"] mod b;", "fn main() { t(\"src/a.rs\") }"];
    for at in ["build.rs", "tests/x.rs", "examples/x.rs", "benches/x.rs", "src/bin/x.rs"] {
        check_each("rs", &[CARGO, ("src/a.rs", "")], at, &texts[1..], "src/a.rs");
        check_each("rs", &[CARGO, ("src/lib.rs", "")], at, &["use my_crate::A;"], "src/lib.rs");
    }
    check_each("rs", &[CARGO, ("src/a.rs", "")], "tests/x.rs", &texts, "src/a.rs");
}

#[test]
fn the_root() {
    let texts = [
        "use crate::*;",
        "use crate::{A, b};",
        "use crate as c;",
        "pub use crate::A;",
        "fn f() { crate::m!() }",
        "fn f() { crate::parse() }",
        "use super::*;",
        "mod tests { use super::super::A; }",
    ];
    let files = [CARGO, ("src/lib.rs", ""), ("src/deep/parse.rs", "")];
    check_each("rs", &files, "src/x.rs", &texts, "src/lib.rs");
    check_each("rs", &[("lib.rs", "")], "x/y.rs", &texts[..4], "lib.rs");
    let placed = ("Cargo.toml", "[package]\nname = 'c'\n[lib]\npath = 'src/it.rs'\n[[bin]]\npath = 'b/m.rs'");
    check_each("rs", &[placed, ("src/it.rs", "")], "src/x.rs", &texts, "src/it.rs");
    check_each("rs", &[placed, ("b/m.rs", "")], "b/x.rs", &["use crate::A;"], "b/m.rs");
    let main = ("src/bin/n/main.rs", "");
    check_each("rs", &[CARGO, main], "src/bin/n/x.rs", &texts[..4], main.0);
    check_each("rs", &[CARGO, ("tests/t.rs", "")], "tests/common/mod.rs", &texts[..4], "tests/t.rs");
}

#[test]
fn what_is_brought_to_the_root() {
    let files = [
        CARGO,
        ("src/a.rs", "pub struct A;"),
        ("src/lib.rs", "mod a;\npub use a::A;"),
        ("src/b.rs", "use crate::A;"),
        ("src/c.rs", "pub fn g() {}"),
        ("other/Cargo.toml", "[package]\nname = 'other'\n"),
        ("other/src/main.rs", "fn main() { my_crate::f() }"),
    ];
    check("rs", &files, "src/a.rs", "src/lib.rs other/src/main.rs src/b.rs");
}

#[test]
fn the_modules_above() {
    let files =
        [("src/a.rs", "mod b;"), ("src/a/b.rs", "use super::X;"), ("src/a/c/mod.rs", "use super::Y;")];
    check("rs", &files, "src/a.rs", "src/a/b.rs src/a/c/mod.rs");
    check_each("rs", &[("src/a.rs", "")], "src/a/b/c.rs", &["use super::super::X;"], "src/a.rs");
}

#[test]
fn crates_by_their_names() {
    let library = ("l/Cargo.toml", "[lib]\nname = \"mine\"\n[package]\nname = \"my-lib\"\n");
    let user = (
        "u/Cargo.toml",
        "[package]\nname = 'u'\n[target.'cfg(unix)'.dependencies]\nyours = { package = \"my-lib\", path = '../l' }\n",
    );
    let files = [library, user, ("l/src/lib.rs", "")];
    let texts = [
        "use mine::A;",
        "extern crate mine;",
        "fn f() { ::mine::f() }",
        "use yours::*;",
        "#[yours::m] mod x {}",
    ];
    check_each("rs", &files, "u/src/x.rs", &texts, "l/src/lib.rs");
    let workspace = ("Cargo.toml", "[workspace.dependencies.ours]\npackage = 'my-lib'\npath = 'l'\n");
    let files = [workspace, library, ("l/src/lib.rs", "")];
    check_each("rs", &files, "u/src/x.rs", &["ours::f!();"], "l/src/lib.rs");
}

#[test]
fn macros_without_a_path() {
    let files =
        [CARGO, ("src/m.rs", "macro_rules! make { () => {} }"), ("n/Cargo.toml", ""), ("n/x.rs", "make!()")];
    check_each("rs", &files, "src/x.rs", &["make! {}", "fn f() { make!(1) }"], "src/m.rs");
}
