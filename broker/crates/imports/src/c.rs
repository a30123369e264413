//! `#include "x.h"` and its kin: beside the file, or wherever a path ends like it, since where a compiler looks is
//! not known. Modules of C++ are named by the files that export them.
//!
//! Left out is what a macro names.

use std::{borrow::Cow, collections::BTreeSet};

use overlay::WorkspacePath;

use super::{
    DEFINES, Files, beside,
    text::{is_of_name, skip_blank, word_end},
};

const INCLUDES: [&str; 4] = ["include", "import", "include_next", "embed"];

/// Mark before the name of an included file that is looked for beside the including file first.
const NEAR: char = '"';
const FAR: char = '<';

const UNITS: [&str; 6] = ["cppm", "ixx", "cxxm", "ccm", "mpp", "cpp"];

/// Files with what stands before their names, modules by their names.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let text = joined(text);
    let mut found: BTreeSet<_> = text.lines().filter_map(included).collect();
    found.extend(text.lines().flat_map(looked_for));
    found.extend(modules(&text));
    found
}

fn joined(text: &str) -> Cow<'_, str> {
    if text.contains("\\\n") || text.contains("\\\r\n") {
        text.replace("\\\r\n", "").replace("\\\n", "").into()
    } else {
        text.into()
    }
}

/// The file that a line includes.
pub(super) fn included(line: &str) -> Option<String> {
    let start = line.find(['#', '%'])?;
    let (before, rest) = (&line[..start], line[start..].trim_start_matches("%:").trim_start_matches('#'));
    let rest = skip_blank(rest);
    let (word, rest) = rest.split_at(word_end(rest));
    // A comment may end before it.
    let before = before.trim_matches(|it: char| it.is_whitespace() || it == '\u{feff}');
    let is_first = before.is_empty() || before.ends_with("*/");
    let name = named(skip_blank(rest)).filter(|_| is_first && INCLUDES.contains(&word))?;
    Some(if word == "include_next" { name.replacen(NEAR, "<", 1) } else { name })
}

/// `"x.h"` or `<x.h>`, with what stands before it.
fn named(text: &str) -> Option<String> {
    let mark = text.chars().next().filter(|it| matches!(*it, NEAR | FAR))?;
    let name = text[1..].split_once(if mark == FAR { '>' } else { NEAR })?.0;
    Some(format!("{mark}{}", name.trim().replace('\\', "/")))
}

/// Headers in the `__has_…` expressions of a line.
fn looked_for(line: &str) -> impl Iterator<Item = String> {
    line.split("__has_")
        .skip(1)
        .filter_map(|it| named(skip_blank(skip_blank(&it[word_end(it)..]).strip_prefix('(')?)))
}

/// Modules that are imported or exported, each at the start of a line.
fn modules(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut own = String::new();
    for line in text.lines() {
        let line = skip_blank(line);
        let inner = line.strip_prefix("export").filter(|it| !it.starts_with(is_of_name)).map(skip_blank);
        let is_export = inner.is_some();
        let line = inner.unwrap_or(line);
        let (word, rest) = line.split_at(word_end(line));
        if !matches!(word, "module" | "import") {
            continue;
        }
        let rest = skip_blank(rest);
        let name: String = rest.split([';', '[']).next().unwrap_or_default().split_whitespace().collect();
        if let Some(file) = named(rest).filter(|_| word == "import") {
            found.insert(file);
        } else if !name.starts_with(|it| is_of_name(it) || it == ':') {
        } else if word == "import" {
            let of_own = if name.starts_with(':') { &own[..] } else { "" };
            found.insert([of_own, &name].concat());
        } else {
            let (module, part) = name.split_once(':').unwrap_or((&name, ""));
            own = module.to_owned();
            let is_defined = is_export || !part.is_empty();
            found.insert(if is_defined { format!("{DEFINES}{name}") } else { name });
        }
    }
    found
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    let Some(file) = name.strip_prefix([NEAR, FAR]) else { return units(name, files) };
    let near = files.get(beside(path, file)).filter(|it| it != path);
    if name.starts_with(NEAR) && near.is_some() {
        return near.into_iter().collect();
    }
    let inner = WorkspacePath::root().join(file).map(|it| it.as_str().to_owned());
    let plain = inner.unwrap_or_else(|_| file.trim_start_matches(['.', '/']).to_owned());
    files.ending_with(&plain).chain(near).collect()
}

/// The files that are called like a module: one that is gone says no longer what it was.
fn units(name: &str, files: &Files) -> Vec<WorkspacePath> {
    let names = [name.replace(':', "-"), name.replace(['.', ':'], "/")];
    let ends = names.iter().flat_map(|it| UNITS.iter().map(move |end| format!("{it}.{end}")));
    ends.flat_map(|it| files.ending_with(&it).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, check_each};

    #[test]
    fn what_is_included_through_others() {
        let files = [
            ("inc/m/a.h", ""),
            ("inc/m/b.h", "#pragma once\n  #  include \"a.h\" // near\n"),
            ("src/c.c", "#include <m/b.h>\n#include <stdio.h>\n"),
            ("src/d.c", "#include \"../inc/m/a.h\"\n"),
            ("src/e.c", "// #include \"a.h\"\n#define include \"a.h\"\n"),
            ("src/a.h", ""),
            ("src/f.c", "#include \"a.h\"\n"),
        ];
        check("c", &files, "inc/m/a.h", "inc/m/b.h src/d.c src/c.c");
    }

    #[test]
    fn each_way_to_include() {
        let texts = [
            "#include\"m/a.h\"",
            "#\tinclude\t<m/a.h>\r\n",
            "# include < m/a.h >",
            "#include \"../q/../inc/m/a.h\"",
            "#include <q/../m/a.h>",
            "#include \"m\\a.h\"",
            "#include \\\n \"m/a.h\"",
            "#inc\\\r\nlude \"m/a.h\"",
            "#include /* c */ \"m/a.h\"",
            "# /* c */ include \"m/a.h\"",
            "/* c\n */ #include \"m/a.h\"",
            "%:include \"m/a.h\"",
            "\u{feff}#include \"m/a.h\"",
            "#import \"m/a.h\"",
            "#include_next <m/a.h>",
            "#include_next \"m/a.h\"",
            "#embed \"m/a.h\"",
            "#if defined(X) && __has_include(\"m/a.h\")",
            "#elif !__has_include ( <m/a.h> )",
            "#if __has_include_next(<m/a.h>)",
            "import \"m/a.h\";",
            "export import <m/a.h>;",
        ];
        check_each("c", &[("inc/m/a.h", "")], "src/x.cpp", &texts, "inc/m/a.h");
        let over = [("inc/a.h", ""), ("src/a.h", "#include_next <a.h>"), ("src/b.c", "#include <a.h>")];
        check("c", &over, "inc/a.h", "src/a.h src/b.c");
    }

    #[test]
    fn through_fragments() {
        let files = [("a.h", ""), ("b.inl", "#include \"a.h\""), ("c.h", "#include \"b.inl\"")];
        check("c", &files, "a.h", "b.inl c.h");
    }

    #[test]
    fn modules_by_name() {
        let unit = ("src/unit.cpp", "module;\n#include <x>\nexport module m.n; // it\n");
        let texts = ["import m.n;", "export import m.n ;", "  import /* c */ m.n [[x]];", "module m.n;"];
        check_each("c", &[unit], "x.cpp", &texts, "src/unit.cpp");
        let part = ("p.cpp", "export module m.n:part;");
        let texts = ["export module m.n;\nexport import :part;", "module m.n;\nimport : part;"];
        check_each("c", &[part], "x.cpp", &texts, "p.cpp");
        check("c", &[("x.cpp", "import m.n;")], "src/m.n.cppm", "x.cpp");
    }
}
