//! Detection of ECMAScript modules, to which imports may be added: an import that is put into a CommonJS module breaks it.

use std::fs;
use std::path::Path;

use deno_ast::MediaType;

use crate::false_positives::Source;

/// `is_of_deno`: in a project of Deno's, where every file is a module that does not look like another.
pub(crate) fn is_module(path: &Path, root: &Path, source: &Source<'_>, is_of_deno: bool) -> bool {
    match source.parsed.media_type() {
        MediaType::Cjs | MediaType::Cts | MediaType::Dcts => false,
        MediaType::Mjs | MediaType::Mts | MediaType::Dmts => true,
        _ if !source.parsed.compute_is_script() => true,
        _ => !source.is_common_js() && (is_of_deno || is_in_package_of_modules(path, root)),
    }
}

/// Whether the nearest package.json has the type `module`.
fn is_in_package_of_modules(path: &Path, root: &Path) -> bool {
    let mut folders = path.ancestors().skip(1).take_while(|it| it.starts_with(root));
    let package = folders.find_map(|it| Some(it.join("package.json")).filter(|it| it.is_file()));
    package.is_some_and(|it| has_type_module(&it))
}

#[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
fn has_type_module(package: &Path) -> bool {
    let Ok(text) = fs::read(package) else { return false };
    let package = serde_json::from_slice::<serde_json::Value>(&text).unwrap_or_default();
    package.get("type").is_some_and(|it| it == "module")
}
