//! `#include "x.h"`: beside the file, or wherever a path ends like it, since where a compiler looks is not known.

use std::collections::BTreeSet;

use overlay::WorkspacePath;

use super::{Files, beside};

pub(super) fn names(text: &str) -> BTreeSet<String> {
    text.lines().filter_map(included).map(str::to_owned).collect()
}

fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let end = if rest.starts_with('<') { '>' } else { '"' };
    Some(rest.strip_prefix(['<', '"'])?.split_once(end)?.0)
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    let near = files.get(beside(path, name));
    let plain = name.trim_start_matches("./").trim_start_matches("../");
    near.map_or_else(|| files.ending_with(plain).collect(), |it| vec![it])
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

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
        check("clangd", &files, "inc/m/a.h", "inc/m/b.h src/d.c src/c.c");
    }
}
