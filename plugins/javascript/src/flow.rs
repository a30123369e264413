//! Detection of files with Flow's types, which the parser cannot read, and other tools remove.

use std::path::{Path, PathBuf};

use crate::neighbours;

/// Number of bytes at the start of a file in which a pragma is looked for.
const HEAD: usize = 2_000;

/// Packages that only a project with Flow's types depends on. Of React Native itself the files are Flow's.
const PACKAGES: [&str; 7] = [
    "@babel/plugin-transform-flow-strip-types",
    "@babel/preset-flow",
    "@react-native/babel-preset",
    "babel-preset-flow",
    "flow-bin",
    "flow-enums-runtime",
    "flow-remove-types",
];

/// Whether a comment at the beginning, or the file's project, declares Flow's types.
pub(crate) fn is_likely(path: &Path, text: &str, root: &Path) -> bool {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let is_script =
        path.extension().is_some_and(|it| matches!(it.to_str(), Some("js" | "jsx" | "mjs" | "cjs")));
    head.contains("@flow") || head.contains("@noflow") || is_script && is_configured(path, root)
}

/// Whether a folder from the file's up to the root has a `.flowconfig`, or the nearest package.json one of the packages.
fn is_configured(path: &Path, root: &Path) -> bool {
    let mut folders = path.ancestors().skip(1).take_while(|it| it.starts_with(root));
    let package = folders.clone().map(|it| it.join("package.json")).find(|it| it.is_file());
    let depends =
        |it: PathBuf| neighbours::package(&it).is_some_and(|it| neighbours::depends(&it, &PACKAGES));
    folders.any(|it| it.join(".flowconfig").is_file()) || package.is_some_and(depends)
}
