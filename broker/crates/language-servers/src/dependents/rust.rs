//! A file uses each module that it names in a path, a `use` or a `mod`, wherever a module of that name is. What
//! it names at the crate's root that is no module was brought there, and stands for the root.

use std::collections::BTreeSet;

use overlay::WorkspacePath;

use super::{Files, is_of_name};

/// What stands for the module above.
const ABOVE: &str = "super";

/// Each as `name`, or as `crate::name` where it is one of the crate's root.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut before = ["", ""];
    let mut is_use = false;
    for word in words(text) {
        match word {
            ";" => is_use = false,
            "use" => is_use = true,
            ABOVE => _ = found.insert(word.to_owned()),
            "::" | "{" if before[1] == "crate" => {}
            _ if before == ["crate", "::"] => _ = found.insert(format!("crate::{word}")),
            "::" if !is_use => _ = found.insert(before[1].to_owned()),
            _ if is_use || before[1] == "mod" => _ = found.insert(word.to_owned()),
            _ => {}
        }
        before = [before[1], word];
    }
    found
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    match name.strip_prefix("crate::") {
        Some(name) => of_crate(path, name, files),
        None if name == ABOVE => parents(path, files),
        None => modules(path, name, files),
    }
}

/// Names, `::`, `{` and `;`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|it: char| is_of_name(it) || matches!(it, ':' | '{' | ';'))?;
            rest = &rest[start..];
            let end = if rest.starts_with("::") {
                2
            } else {
                rest.find(|it| !is_of_name(it)).unwrap_or(rest.len()).max(1)
            };
            let (word, after) = rest.split_at(end);
            rest = after;
            if word != ":" {
                return Some(word);
            }
        }
    })
}

fn of_crate(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    let found = modules(path, name, files);
    if found.is_empty() { roots(path, files) } else { found }
}

/// Modules of this name in the file's own crate, and the crate of this name.
fn modules(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    if !name.starts_with(is_of_name) {
        return Vec::new();
    }
    let own = files.own_crate(path);
    let ends = [format!("{name}.rs"), format!("{name}/mod.rs")];
    let of_name = ends.iter().flat_map(|it| files.ending_with(it));
    let crates = files.manifests.crates.get(name).into_iter().flatten();
    let roots = crates.filter_map(|it| files.get(it.join("src/lib.rs").ok()));
    of_name.filter(|it| files.own_crate(it) == own).chain(roots).collect()
}

/// What a `Cargo.toml` says the crate is called, as it is written in code.
pub(super) fn crate_name(text: &str) -> Option<String> {
    let name = text.lines().find_map(|it| it.trim().strip_prefix("name")?.trim().strip_prefix('='))?;
    Some(name.trim().trim_matches(['"', '\'']).replace('-', "_"))
}

fn roots(path: &WorkspacePath, files: &Files) -> Vec<WorkspacePath> {
    let Some(directory) = files.own_crate(path) else { return Vec::new() };
    ["src/lib.rs", "src/main.rs"].iter().filter_map(|it| files.get(directory.join(it).ok())).collect()
}

/// Where the module above may be.
fn parents(path: &WorkspacePath, files: &Files) -> Vec<WorkspacePath> {
    let is_mod = path.file_name() == Some("mod.rs");
    let Some(directory) = path.parent().and_then(|it| if is_mod { it.parent() } else { Some(it) }) else {
        return Vec::new();
    };
    let beside = ["mod.rs", "lib.rs", "main.rs"].map(|it| Some(directory.child(it)));
    let above = directory.parent().and_then(|it| it.join(&format!("{}.rs", directory.file_name()?)).ok());
    beside.into_iter().chain([above]).filter_map(|it| files.get(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    const CARGO: &str = "[package]\nname = \"my-crate\"\n";

    #[test]
    fn who_names_a_module() {
        let files = [
            ("Cargo.toml", CARGO),
            ("src/a.rs", "pub struct A;"),
            ("src/b.rs", "use crate::{\n    c,\n    a::A,\n};"),
            ("src/c.rs", "fn f() -> crate::a::A { todo!() }"),
            ("src/d.rs", "// nothing: a\nfn g() { let a = 1; }"),
            ("src/e.rs", "fn h() { crate::b::f() }"),
            ("other/Cargo.toml", "[package]\nname = 'other'\n"),
            ("other/src/lib.rs", "use self::a::B; mod x;"),
        ];
        check("rust-analyzer", &files, "src/a.rs", "src/b.rs src/c.rs src/e.rs");
    }

    #[test]
    fn what_is_brought_to_the_root() {
        let files = [
            ("Cargo.toml", CARGO),
            ("src/a.rs", "pub struct A;"),
            ("src/lib.rs", "mod a;\npub use a::A;"),
            ("src/b.rs", "use crate::A;"),
            ("src/c.rs", "pub fn g() {}"),
            ("other/Cargo.toml", "[package]\nname = 'other'\n"),
            ("other/src/main.rs", "fn main() { my_crate::f() }"),
        ];
        check("rust-analyzer", &files, "src/a.rs", "src/lib.rs other/src/main.rs src/b.rs");
    }

    #[test]
    fn the_module_above() {
        let files =
            [("src/a.rs", "mod b;"), ("src/a/b.rs", "use super::X;"), ("src/a/c/mod.rs", "use super::Y;")];
        check("rust-analyzer", &files, "src/a.rs", "src/a/b.rs src/a/c/mod.rs");
    }
}
