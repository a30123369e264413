//! A package is a folder, whose path `go.mod` begins. Its files see each other without an import.

use std::collections::BTreeSet;

use overlay::WorkspacePath;

use super::Files;

/// What a file calls its own package here.
const OWN: &str = ".";

/// All that stands in quotes between the first `import` and the first declaration.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let is_before =
        |it: &&str| !["func ", "type ", "var ", "const "].iter().any(|start| it.starts_with(start));
    let lines = text.lines().skip_while(|it| !it.starts_with("import")).take_while(is_before);
    let quoted = lines.filter_map(|it| Some(it.split_once('"')?.1.split_once('"')?.0));
    [OWN].into_iter().chain(quoted).map(str::to_owned).collect()
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    let own = path.parent().filter(|_| name == OWN);
    let imported = files.manifests.modules.iter().filter_map(|(module, root)| directory(root, module, name));
    own.into_iter().chain(imported).flat_map(|it| files.within(&it)).cloned().collect()
}

/// The folder of a package, if it is of this module.
fn directory(root: &WorkspacePath, module: &str, name: &str) -> Option<WorkspacePath> {
    let below = name.strip_prefix(module)?;
    let is_below = below.is_empty() || below.starts_with('/');
    is_below.then(|| root.join(below.trim_start_matches('/')).ok())?
}

/// What a `go.mod` says the module is called.
pub(super) fn module(text: &str) -> Option<String> {
    let name = text.lines().find_map(|it| it.trim().strip_prefix("module "))?;
    Some(name.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn packages_are_folders() {
        let files = [
            ("go.mod", "module example.com/m\n\ngo 1.21\n"),
            ("p/a.go", "package p"),
            ("p/b.go", "package p"),
            ("c.go", "package m\n\nimport (\n\t\"fmt\"\n\tq \"example.com/m/p\"\n)\n"),
            ("d.go", "package m\n"),
            ("e/e.go", "package e\n\nimport \"example.com/m\"\n"),
            ("f/f.go", "package f\n\nimport \"example.com/other/p\"\n"),
            ("sub/go.mod", "module \"example.com/s\"\n"),
            ("sub/p/g.go", "package p\n\nimport \"example.com/s/p\"\n"),
        ];
        check("gopls", &files, "p/a.go", "c.go p/b.go d.go e/e.go");
    }
}
