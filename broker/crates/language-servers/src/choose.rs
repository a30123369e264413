//! Which servers a workspace is made for, told from the files in its root: what no program needs to be run for.
//!
//! Of those that check types there is one for each language: the one that the project configures, or else the
//! first that is installed of those for such a project. Whatever else a server checks, it is used only if the
//! project configures it. Projects below the root are not looked for.

use std::collections::BTreeSet;

use overlay::{View, WorkspacePath};

use crate::{Checks, Profile};

/// The servers for a workspace of these files. `is_installed` is asked only where it decides.
pub fn choose<'p>(
    profiles: &'p [Profile],
    view: &dyn View,
    is_installed: impl Fn(&Profile) -> bool,
) -> Vec<&'p Profile> {
    let holds = |markers: &[String]| markers.iter().any(|it| is_there(view, it));
    let configured = |it: &&Profile| holds(&it.configured_by);
    let lints = profiles.iter().filter(|it| it.checks == Checks::Lints).filter(configured);
    let types: Vec<_> = profiles.iter().filter(|it| it.checks == Checks::Types).collect();
    let languages: BTreeSet<_> = types.iter().flat_map(|it| &it.languages).collect();
    let of_language = |language: &&String| {
        let all: Vec<_> = types.iter().copied().filter(|it| it.languages.contains(language)).collect();
        let first =
            |all: Vec<&'p Profile>| all.iter().copied().find(|it| is_installed(it)).or(all.first().copied());
        first(all.iter().copied().filter(configured).collect())
            .or_else(|| first(all.into_iter().filter(|it| holds(&it.projects)).collect()))
    };
    let mut chosen: Vec<&Profile> = Vec::new();
    for profile in languages.iter().filter_map(of_language).chain(lints) {
        if !chosen.iter().any(|it| it.name == profile.name) {
            chosen.push(profile);
        }
    }
    chosen
}

/// A marker is a file's name, or that of a TOML file, `#` and a table in it.
fn is_there(view: &dyn View, marker: &str) -> bool {
    let (file, table) = marker.split_once('#').map_or((marker, None), |(file, table)| (file, Some(table)));
    let Ok(file) = WorkspacePath::new(file) else { return false };
    let Some(table) = table else { return view.resolve(&file).is_ok_and(|it| view.metadata(&it).is_ok()) };
    let text = view.open(&file).ok().and_then(|it| String::from_utf8(it.to_vec()).ok());
    let Some(Ok(toml)) = text.map(|it| it.parse::<toml::Table>()) else { return false };
    let mut value = Some(&toml);
    for key in table.split('.') {
        value = value.and_then(|it| it.get(key)).and_then(toml::Value::as_table);
    }
    value.is_some()
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;
    use crate::profiles;

    #[track_caller]
    fn check(files: &[(&str, &str)], installed: &[&str], want: &[&str]) {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let is_installed = |it: &Profile| installed.contains(&it.name.as_str());
        let names: Vec<_> =
            choose(profiles(), &view, is_installed).iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, want, "{files:?} {installed:?}");
    }

    #[test]
    fn one_for_the_types_of_each_language() {
        check(&[("a.txt", "")], &["ty"], &[]);
        check(&[("setup.py", "")], &[], &["ty"]);
        check(&[("setup.py", "")], &["pyright"], &["pyright"]);
        check(&[("setup.py", "")], &["pyright", "ty"], &["ty"]);
        let both = [("Cargo.toml", ""), ("go.mod", "")];
        check(&both, &["gopls"], &["gopls", "rust-analyzer"]);
    }

    #[test]
    fn what_is_configured_goes_first() {
        let pyright = [("pyproject.toml", "[tool.pyright]\nstrict = []\n")];
        check(&pyright, &["ty"], &["pyright"]);
        check(&[("pyproject.toml", "[tool.ruff]\n")], &["pyright"], &["pyright"]);
        check(&[("pyproject.toml", "[tool.ty.rules]\n")], &["pyright"], &["ty"]);
        check(&[("pyproject.toml", "not toml")], &["ty"], &["ty"]);
    }

    #[test]
    fn other_checks_only_where_they_are_configured() {
        check(&[("package.json", ""), ("index.js", "")], &["eslint", "biome"], &[]);
        let two = [("biome.json", ""), (".oxlintrc.json", ""), ("tsconfig.json", "{}")];
        check(&two, &["biome"], &["typescript", "biome", "oxlint"]);
        check(&two, &["typescript-language-server"], &["typescript-language-server", "biome", "oxlint"]);
    }
}
