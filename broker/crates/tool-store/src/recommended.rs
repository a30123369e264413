//! Tools that the files of a project ask for.

use std::collections::BTreeMap;

use globset::{Glob, GlobBuilder, GlobSetBuilder};
use overlay::{View, WalkOptions, WorkspacePath, walk};

use crate::{
    catalogue::{Catalogue, Tool},
    demand::demanded,
};

/// A tool, the file that asks for it, and the version that a file names.
#[derive(Debug, Clone)]
pub struct Recommendation<'c> {
    pub tool: &'c Tool,
    pub file: WorkspacePath,
    pub version: Option<String>,
}

/// The tools of a catalogue that the files of a view ask for, in the catalogue's order. Ignored files do not count. One that a plugin
/// carries is asked for where a file names another version.
pub fn recommended<'c>(catalogue: &'c Catalogue, view: &dyn View) -> Vec<Recommendation<'c>> {
    let markers =
        catalogue.tools.iter().enumerate().flat_map(|(tool, it)| it.markers.iter().map(move |it| (tool, it)));
    // Tests read all that the program carries.
    let all: Vec<_> = markers.filter_map(|(tool, it)| Some((tool, it, glob(it).ok()?))).collect();
    let mut globs = GlobSetBuilder::new();
    for (_, _, glob) in &all {
        globs.add(glob.clone());
    }
    let globs = globs.build().unwrap_or_default();
    let mut found = BTreeMap::new();
    for file in walk(view, &[WorkspacePath::root()], &WalkOptions::default()) {
        for index in globs.matches(file.as_str()) {
            let (tool, marker, _) = all[index];
            if has_key(view, &file, marker) {
                found.entry(tool).or_insert_with(|| file.clone());
            }
        }
    }
    for (index, tool) in catalogue.tools.iter().enumerate().filter(|(_, it)| it.carried.is_some()) {
        if let Some(file) =
            demanded(tool, view, &WorkspacePath::root()).and_then(|it| WorkspacePath::new(&it.file).ok())
        {
            found.insert(index, file);
        }
    }
    let is_found = |name: &String| found.keys().any(|it| catalogue.tools[*it].name == *name);
    let stays = |tool: &Tool| !tool.unless.iter().any(is_found);
    let all = found.iter().map(|(index, file)| recommendation(&catalogue.tools[*index], view, file.clone()));
    all.filter(|it| stays(it.tool) && (it.tool.carried.is_none() || it.version.is_some())).collect()
}

/// The version may be named in the root, or beside the file.
fn recommendation<'c>(tool: &'c Tool, view: &dyn View, file: WorkspacePath) -> Recommendation<'c> {
    let folders = [Some(WorkspacePath::root()), file.parent()];
    let demand = folders.iter().flatten().find_map(|it| demanded(tool, view, it));
    Recommendation { tool, version: demand.map(|it| it.version), file }
}

/// A name matches in every folder, a path from the root.
fn glob(marker: &str) -> Result<Glob, globset::Error> {
    let name = marker.split('#').next().unwrap_or(marker);
    let pattern = if name.contains('/') { name.to_owned() } else { format!("**/{name}") };
    GlobBuilder::new(&pattern).literal_separator(true).build()
}

fn has_key(view: &dyn View, file: &WorkspacePath, marker: &str) -> bool {
    let (Some((_, key)), Some(name)) = (marker.split_once('#'), file.file_name()) else { return true };
    let folder = file.parent().unwrap_or_else(WorkspacePath::root);
    external_tools::is_there(view, &folder, &format!("{name}#{key}"))
}

#[cfg(test)]
mod tests {
    //! Tools that projects ask for.

    use overlay::Memory;

    use super::*;

    fn asked(files: &[(&str, &str)]) -> String {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let all = recommended(Catalogue::own(), &view);
        let version = |it: &Option<String>| it.as_ref().map(|it| format!("@{it}")).unwrap_or_default();
        all.iter().map(|it| format!("{}{} ({})\n", it.tool.name, version(&it.version), it.file)).collect()
    }

    #[test]
    fn markers_can_be_read() {
        let markers = Catalogue::own().tools.iter().flat_map(|it| &it.markers);
        markers.for_each(|it| drop(glob(it).unwrap()));
    }

    #[test]
    fn files_ask_for_tools() {
        let files = [
            ("web/tsconfig.json", "{}"),
            ("web/eslint.config.mjs", ""),
            ("web/node_modules/a/biome.json", "{}"),
            ("docker/Dockerfile.test", ""),
            (".github/workflows/ci.yml", ""),
            ("other/.github/workflows/ci.yaml", ""),
            ("run.sh", ""),
            ("Cargo.toml", ""),
        ];
        insta::assert_snapshot!(asked(&files), @"
        typescript (web/tsconfig.json)
        eslint (web/eslint.config.mjs)
        shellcheck (run.sh)
        hadolint (docker/Dockerfile.test)
        actionlint (.github/workflows/ci.yml)
        rust-analyzer (Cargo.toml)
        ");
    }

    #[test]
    fn a_type_checker_that_is_configured_is_the_one() {
        insta::assert_snapshot!(asked(&[("pyproject.toml", "")]), @"ty (pyproject.toml)");
        insta::assert_snapshot!(asked(&[("pyproject.toml", "[tool.mypy]")]), @"mypy (pyproject.toml)");
        insta::assert_snapshot!(asked(&[("a/pyproject.toml", "[tool.pyright]\n[tool.ruff]\nrequired-version = '1'")]), @"
        pyright (a/pyproject.toml)
        ruff@1.0.0 (a/pyproject.toml)
        ");
        assert_eq!(asked(&[("a.py", "import os")]), "");
    }

    #[test]
    fn versions_that_files_name_are_recommended() {
        let hooks = |version: &str| {
            format!("- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v{version}\n")
        };
        assert_eq!(
            asked(&[(".pre-commit-config.yaml", &hooks("0.15.9"))]),
            "ruff@0.15.9 (.pre-commit-config.yaml)\n"
        );
        let carried = Catalogue::own().find("ruff").unwrap().carried.as_ref().unwrap();
        assert_eq!(asked(&[(".pre-commit-config.yaml", &hooks(carried))]), "");
        assert_eq!(asked(&[("ruff.toml", "required-version = '>=0.4'")]), "");
        let lock = r#"{"packages": {"node_modules/@biomejs/biome": {"version": "2.1.0"}}}"#;
        assert_eq!(
            asked(&[("web/biome.json", "{}"), ("package-lock.json", lock)]),
            "biome@2.1.0 (web/biome.json)\n"
        );
    }
}
