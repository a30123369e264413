//! `import a.b`, `from a.b import c`, `from ..a import b`. Where packages start is not known: a module is each
//! file whose path ends like its name. To import a module runs the packages around it.

use std::collections::BTreeSet;

use overlay::WorkspacePath;

use super::{Files, beside, is_of_name};

/// Each as `module`, or as `module:name,name`.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    while let Some((line, after)) = next_line(rest) {
        rest = after;
        let line = line.trim_start();
        if let Some(modules) = line.strip_prefix("import ") {
            found.extend(modules.split(',').filter_map(|it| it.split_whitespace().next()).map(str::to_owned));
        } else if let Some((from, names)) = line.strip_prefix("from ").and_then(|it| it.split_once(" import"))
        {
            // In brackets there may be several lines.
            let is_open = names.contains('(') && !names.contains(')');
            let (more, after) = if is_open { rest.split_once(')').unwrap_or((rest, "")) } else { ("", rest) };
            rest = after;
            let words = [names, more].map(|it| it.split(|it| !is_of_name(it)).filter(|it| !it.is_empty()));
            let words: Vec<_> = words.into_iter().flatten().collect();
            found.insert(format!("{}:{}", from.trim(), words.join(",")));
        }
    }
    found
}

fn next_line(text: &str) -> Option<(&str, &str)> {
    (!text.is_empty()).then(|| text.split_once('\n').unwrap_or((text, "")))
}

/// A module, and what may be modules in it.
pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    let (name, within) = name.split_once(':').unwrap_or((name, ""));
    let plain = name.trim_start_matches('.');
    let up = name.len() - plain.len();
    let parts: Vec<_> = plain.split('.').filter(|it| !it.is_empty()).collect();
    let first = usize::from(up == 0);
    let around = (first..=parts.len()).map(|it| parts[..it].to_vec());
    let within = within.split(',').filter(|it| !it.is_empty()).map(|it| [&parts[..], &[it]].concat());
    around.chain(within).flat_map(|it| module(path, up, &it, files)).collect()
}

/// Where a module may be, as seen from a file if the name begins with `up` dots.
fn module(path: &WorkspacePath, up: usize, parts: &[&str], files: &Files) -> Vec<WorkspacePath> {
    let module = parts.join("/");
    let package = if module.is_empty() { String::new() } else { format!("{module}/") };
    let mut ends = vec![format!("{package}__init__.py"), format!("{package}__init__.pyi")];
    if !module.is_empty() {
        ends.extend([format!("{module}.py"), format!("{module}.pyi")]);
    } else if up == 0 {
        return Vec::new();
    }
    let parents = "../".repeat(up.saturating_sub(1));
    let found = |end: &String| match up {
        0 => files.ending_with(end).collect(),
        _ => Vec::from_iter(files.get(beside(path, &format!("{parents}{end}")))),
    };
    ends.iter().flat_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn each_way_to_import() {
        let files = [
            ("src/p/__init__.py", ""),
            ("src/p/m.py", ""),
            ("a.py", "import os, p.m as q"),
            ("b.py", "def f():\n    from p import m"),
            ("c.py", "from p import (\n    n,\n    m,\n)\n"),
            ("src/p/d.py", "from . import m"),
            ("src/p/q/e.py", "from ..m import x"),
            ("f.py", "import m2\nfrom m3 import m\n"),
        ];
        check("ty", &files, "src/p/m.py", "a.py b.py c.py src/p/d.py src/p/q/e.py");
        check("ty", &files, "src/p/__init__.py", "a.py b.py c.py src/p/d.py src/p/q/e.py");
    }
}
