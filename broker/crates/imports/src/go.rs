//! A package is a folder, whose path `go.mod` begins, or one below `vendor`. Its files see each other without an
//! import, also those of `package x_test`. Where no `go.mod` is around, the path may begin outside.

use std::collections::BTreeSet;

use overlay::WorkspacePath;

use super::{
    Files, beside, c,
    text::{skip_blank, string_end, word_end},
};

/// Name for a file's own package here.
pub(super) const OWN: &str = ".";

/// Returns all quoted strings before the first declaration, and the headers that C is given.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let is_before = |it: &&str| !matches!(*it, "func" | "type" | "var" | "const");
    let quoted = words(text).take_while(is_before).filter(|it| it.starts_with(['"', '`']));
    let mut found: BTreeSet<_> = quoted.map(|it| it.trim_matches(['"', '`']).to_owned()).collect();
    if found.contains("C") {
        let lines = text.lines().map(|it| it.trim_start().trim_start_matches("//").trim_start_matches("/*"));
        found.extend(lines.filter_map(c::included).filter(|it| it.starts_with('"')));
    }
    found.insert(OWN.to_owned());
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = skip_blank(rest);
        let first = rest.chars().next()?;
        let is_quote = matches!(first, '"' | '`');
        let end = if is_quote { string_end(rest, &rest[..1], first == '"') } else { word_end(rest) };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    if let Some(header) = name.strip_prefix('"') {
        return files.get(beside(path, header)).into_iter().collect();
    }
    let own = path.parent().filter(|_| name == OWN);
    let modules = &files.manifests.modules;
    let imported = modules.iter().filter_map(|(module, root)| directory(root, module, name));
    let vendored = files.vendors.iter().filter_map(|it| it.join(name).ok());
    let is_outside = name != OWN && !modules.iter().any(|(_, root)| path.starts_with(root));
    let outside = ends(name).filter(|_| is_outside).filter_map(|it| WorkspacePath::new(it).ok());
    let all = own.into_iter().chain(imported).chain(vendored).chain(outside);
    all.flat_map(|it| files.within(&it)).cloned().collect()
}

/// The folder of a package, if it is of this module.
fn directory(root: &WorkspacePath, module: &str, name: &str) -> Option<WorkspacePath> {
    let below = name.strip_prefix(module)?;
    let is_below = below.is_empty() || below.starts_with('/');
    is_below.then(|| root.join(below.trim_start_matches('/')).ok())?
}

/// `a/b/c`, `b/c`, `c`.
fn ends(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |it| it.split_once('/').map(|it| it.1))
}

/// Name of the module in a `go.mod`.
pub(super) fn module(text: &str) -> Option<String> {
    let words = text.lines().filter_map(|it| it.split("//").next()).flat_map(str::split_whitespace);
    let name = words.filter(|it| *it != "(").skip_while(|it| *it != "module").nth(1)?;
    Some(name.trim_matches(['"', '`']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, check_each};

    const MODULE: (&str, &str) = ("go.mod", "// of module x\nmodule\texample.com/m // v1\n\ngo 1.21\n");

    #[test]
    fn packages_are_folders() {
        let files = [
            MODULE,
            ("p/a.go", "package p"),
            ("p/b.go", "package p"),
            ("p/b_test.go", "package p_test"),
            ("c.go", "package m\n\nimport (\n\t\"fmt\"\n\tq \"example.com/m/p\"\n)\n"),
            ("d.go", "package m\n"),
            ("e/e.go", "package e\n\nimport \"example.com/m\"\n"),
            ("f/f.go", "package f\n\nimport \"example.com/other/p\"\n"),
            ("sub/go.mod", "module (\n\t\"example.com/s\"\n)\n"),
            ("sub/p/g.go", "package p\n\nimport \"example.com/s/p\"\n"),
        ];
        check("go", &files, "p/a.go", "c.go p/b.go p/b_test.go d.go e/e.go");
        check(
            "go",
            &[MODULE, ("i/g.go", "import \"example.com/s/p\""), files[7], files[8]],
            "sub/p/g.go",
            "i/g.go",
        );
    }

    #[test]
    fn each_way_to_import() {
        let texts = [
            "package m; import \"example.com/m/internal/p\"",
            "package m\n /* in */ import . \"example.com/m/internal/p\"",
            "package m\nimport _ \"example.com/m/internal/p\"",
            "package m\nimport q`example.com/m/internal/p`",
            "package m\nimport (\"fmt\"; \"example.com/m/internal/p\")",
            "package m\nimport \"fmt\"; import \"example.com/m/internal/p\"",
            "package m\nimport (\r\n\t// see \"b\n\t\"fmt\" /*\nfunc x\n*/\r\n\t\"example.com/m/internal/p\"\r\n)",
            "/*\nimport of\ntype x\n*/\npackage m\nimport \"example.com/m/internal/p\"",
        ];
        check_each("go", &[MODULE, ("internal/p/a.go", "")], "x.go", &texts, "internal/p/a.go");
    }

    #[test]
    fn modules_of_elsewhere() {
        let text = "package m\nimport \"example.com/v/p\"";
        check_each(
            "go",
            &[MODULE, ("vendor/example.com/v/p/a.go", "")],
            "x.go",
            &[text],
            "vendor/example.com/v/p/a.go",
        );
        check_each("go", &[("p/a.go", "")], "x.go", &[text], "p/a.go");
    }

    #[test]
    fn headers_of_cgo() {
        let texts = [
            "// #include \"a.h\"\nimport \"C\"",
            "/*\n#include <stdio.h>\n#include \"a.h\"\n*/\nimport \"C\"",
        ];
        check_each("go", &[], "x.go", &texts, "a.h");
    }
}
