//! Packages of npm that a project names itself, beside those that its dependencies bring.

use std::path::Path;

use serde_json::Value;

/// The most bytes of a `package.json`.
const MOST: u64 = 4 << 20;

const DEPENDENCIES: [&str; 4] =
    ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Whether a `package.json` in the folder `project`, or in one above it up to `root`, names the package; also where there is no
/// such file.
pub fn names_package(root: &Path, project: &Path, package: &str) -> bool {
    let folders = project.ancestors().take_while(|it| it.starts_with(root));
    let mut manifests = folders.filter_map(manifest).peekable();
    let is_named = |it: Value| DEPENDENCIES.iter().any(|kind| it[kind].get(package).is_some());
    manifests.peek().is_none() || manifests.any(is_named)
}

/// The version of the package in a folder; `None` if that is not known.
pub fn version_of_package(folder: &Path) -> Option<String> {
    manifest(folder)?["version"].as_str().map(str::to_owned)
}

fn manifest(folder: &Path) -> Option<Value> {
    let bytes = overlay::read_regular(&folder.join("package.json"), MOST).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::fs;

    use super::*;

    #[test]
    fn packages_that_a_project_names() {
        let folder = tempfile::tempdir().unwrap();
        let (root, project) = (folder.path(), folder.path().join("packages/a"));
        fs::create_dir_all(&project).unwrap();
        let is_named = |it: &str| names_package(root, &project, it);
        assert!(is_named("typescript"), "nothing says what the project names");
        fs::write(root.join("package.json"), r#"{ "devDependencies": { "astro": "1" } }"#).unwrap();
        assert!(is_named("astro") && !is_named("typescript"));
        fs::write(
            project.join("package.json"),
            r#"{ "version": "2.0.0", "peerDependencies": { "typescript": "7" } }"#,
        )
        .unwrap();
        assert!(is_named("typescript") && !names_package(root, root, "typescript"));
        assert_eq!(version_of_package(&project).as_deref(), Some("2.0.0"));
    }
}
