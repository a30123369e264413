//! Detection of other linters than deno's: ESLint, oxlint, Biome and their kin, by the names of their configuration files or by
//! package.json. Their findings are not read here: their language servers report them.

use std::path::Path;

use broker_plugin_sdk::config::text_of;
use serde_json::Value;

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

/// Whether another linter is configured in this folder.
pub(crate) fn has_linter(dir: &Path) -> bool {
    FILES.iter().any(|it| dir.join(it).is_file()) || package_has_linter(&dir.join("package.json"))
}

fn package_has_linter(file: &Path) -> bool {
    let has_linter = |it: Value| KEYS.iter().any(|key| it.get(key).is_some()) || depends(&it, &PACKAGES);
    package(file).is_some_and(has_linter)
}

/// A package.json. One that is broken says nothing; another plugin reports that.
pub(crate) fn package(file: &Path) -> Option<Value> {
    serde_json::from_str(&text_of(file).ok()?).ok()
}

/// Whether a package depends on one of some others.
pub(crate) fn depends(package: &Value, others: &[&str]) -> bool {
    let kinds = ["dependencies", "devDependencies"].iter().filter_map(|it| package.get(it));
    kinds.into_iter().any(|kind| others.iter().any(|it| kind.get(it).is_some()))
}
