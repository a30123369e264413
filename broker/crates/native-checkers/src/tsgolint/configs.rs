//! Configurations of TypeScript as `tsc --noEmit` takes them: what a build writes, and where to, is nothing to report.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use overlay::{View, WorkspacePath};
use serde_json::{Value, json};

use super::question::SourceOverrides;
use crate::jsonc;

/// Returns the texts of these configurations with `noEmit`. Those that others refer to stay as they are: a project that another
/// one builds on must emit.
pub(crate) fn without_emit<'p>(
    view: &dyn View,
    paths: impl IntoIterator<Item = &'p WorkspacePath>,
    root: &Path,
) -> SourceOverrides {
    let configs: BTreeMap<_, _> = paths
        .into_iter()
        .filter(|it| is_config(it))
        .filter_map(|it| Some((it, jsonc::read(view, it)?.ok()?)))
        .collect();
    let referred: BTreeSet<_> = configs.iter().flat_map(|(path, it)| references(path, it)).collect();
    let ends = configs.into_iter().filter(|(path, _)| !referred.contains(*path));
    let told = ends.filter_map(|(path, mut it)| {
        let options = it.as_object_mut()?.entry("compilerOptions").or_insert_with(|| json!({}));
        options.as_object_mut()?.insert("noEmit".to_owned(), json!(true));
        Some((root.join(path.as_str()), it.to_string()))
    });
    told.collect()
}

fn is_config(path: &WorkspacePath) -> bool {
    let name = path.file_name().unwrap_or_default();
    (name.starts_with("tsconfig") || name.starts_with("jsconfig")) && name.ends_with(".json")
}

/// Configurations that one refers to, each by its path or by that of its folder.
fn references(path: &WorkspacePath, config: &Value) -> Vec<WorkspacePath> {
    let all = config["references"].as_array().into_iter().flatten();
    let referred = all.filter_map(|it| {
        let path = path.parent()?.join(it["path"].as_str()?).ok()?;
        Some(if path.as_str().ends_with(".json") { path } else { path.child("tsconfig.json") })
    });
    referred.collect()
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn configurations_that_no_other_refers_to() {
        let files = [
            (
                "tsconfig.json",
                "{ // All of it.\n \"files\": [], \"references\": [{ \"path\": \"./a\" }, { \"path\": \"b/tsconfig.x.json\" }], }",
            ),
            ("a/tsconfig.json", r#"{ "compilerOptions": { "composite": true } }"#),
            ("b/tsconfig.x.json", "{}"),
            ("c/tsconfig.base.json", r#"{ "compilerOptions": { "noEmit": false, "strict": true } }"#),
            ("d/tsconfig.json", "["),
            ("e/package.json", "{}"),
        ];
        let view = Memory::from_files(files).unwrap();
        let paths: Vec<_> = files.iter().map(|(path, _)| WorkspacePath::new(path).unwrap()).collect();
        let told = without_emit(&view, &paths, Path::new("/w"));
        let told: Vec<_> =
            told.iter().map(|(path, it)| (path.to_str().unwrap(), it.parse::<Value>().unwrap())).collect();
        let base = json!({ "compilerOptions": { "noEmit": true, "strict": true } });
        let references = json!([{ "path": "./a" }, { "path": "b/tsconfig.x.json" }]);
        let root = json!({ "compilerOptions": { "noEmit": true }, "files": [], "references": references });
        assert_eq!(told, [("/w/c/tsconfig.base.json", base), ("/w/tsconfig.json", root)]);
    }
}
