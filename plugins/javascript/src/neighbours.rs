//! Whether a project is checked by another linter than deno's: ESLint, oxlint, Biome and their kin, by the names of their
//! configuration files or by package.json. What they say is not read: that is asked of their language servers.

use std::fs;
use std::path::Path;

/// Configuration files. Formatters have others.
const FILES: [&str; 22] = [
    ".eslintrc",
    ".eslintrc.cjs",
    ".eslintrc.js",
    ".eslintrc.json",
    ".eslintrc.yaml",
    ".eslintrc.yml",
    ".jshintrc",
    ".oxlintrc.json",
    ".oxlintrc.jsonc",
    ".biome.json",
    ".biome.jsonc",
    "biome.json",
    "biome.jsonc",
    "eslint.config.cjs",
    "eslint.config.cts",
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.mts",
    "eslint.config.ts",
    "oxlint.config.ts",
    "rome.json",
    "tslint.json",
];

/// Keys of package.json that hold a linter's configuration.
const KEYS: [&str; 5] = ["eslintConfig", "jshintConfig", "semistandard", "standard", "xo"];

/// Linters that are mostly used without any configuration: who depends on one runs it.
const PACKAGES: [&str; 4] = ["semistandard", "standard", "ts-standard", "xo"];

/// Whether one is configured in this folder.
pub(crate) fn has_linter(dir: &Path) -> bool {
    FILES.iter().any(|it| dir.join(it).is_file()) || package_has_linter(&dir.join("package.json"))
}

#[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
fn package_has_linter(file: &Path) -> bool {
    // What is broken says nothing; another plugin tells that.
    let Ok(text) = fs::read(file) else { return false };
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(&text) else { return false };
    let depends = |on: &&str| {
        let mut kinds = ["dependencies", "devDependencies"].iter();
        kinds.any(|kind| package.get(kind).is_some_and(|it| it.get(on).is_some()))
    };
    KEYS.iter().any(|it| package.get(it).is_some()) || PACKAGES.iter().any(depends)
}
