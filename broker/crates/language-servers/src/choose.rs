//! Choice of a workspace's servers by the files in its root, without running a program.
//!
//! Type checkers: one for each language, the one that the project configures, or else the
//! first that is installed of those for such a project. Whatever else a server checks, it is used only if the
//! project configures it. Projects below the root are not looked for.

use std::collections::BTreeSet;

use external_tools::is_there;
use overlay::{View, WorkspacePath};

use crate::{Checks, Profile};

/// A server that is to be asked.
#[derive(Debug, Clone, Copy)]
pub struct Pick<'p> {
    pub profile: &'p Profile,
    pub why: Reason<'p>,
}

/// The marker by which a server was chosen: a file, or a TOML file, `#` and a table in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason<'p> {
    /// The project has chosen just this server.
    Configured(&'p str),
    /// Server of a kind of project that this workspace is: the first that is installed of all servers for that kind, or
    /// else the first.
    Project(&'p str),
}

/// The servers for a workspace of these files. `is_installed` is asked only where it decides.
pub fn choose<'p>(
    profiles: &[&'p Profile],
    view: &dyn View,
    is_installed: impl Fn(&Profile) -> bool,
) -> Vec<Pick<'p>> {
    let root = RootFiles::of(view);
    let held = |markers: &'p [String]| markers.iter().find(|it| root.has(view, it)).map(String::as_str);
    let configured = |profile: &'p Profile| {
        let why = Reason::Configured(held(&profile.configured_by)?);
        Some(Pick { profile, why })
    };
    let possible = |profile: &'p Profile| {
        let why = Reason::Project(held(&profile.projects)?);
        Some(Pick { profile, why })
    };
    let lints = profiles.iter().copied().filter(|it| it.checks == Checks::Lints).filter_map(configured);
    let types: Vec<_> = profiles.iter().copied().filter(|it| it.checks == Checks::Types).collect();
    let languages: BTreeSet<_> = types.iter().flat_map(|it| &it.tool.languages).collect();
    let of_language = |language: &String| {
        let all: Vec<_> = types.iter().copied().filter(|it| it.tool.languages.contains(language)).collect();
        let first = |all: Vec<Pick<'p>>| {
            if let [only] = all[..] {
                return Some(only);
            }
            all.iter().copied().find(|it| is_installed(it.profile)).or(all.first().copied())
        };
        first(all.iter().copied().filter_map(configured).collect())
            .or_else(|| first(all.into_iter().filter_map(possible).collect()))
    };
    let mut chosen: Vec<Pick<'p>> = Vec::new();
    for it in languages.into_iter().filter_map(of_language).chain(lints) {
        if !chosen.iter().any(|other| other.profile.tool.name == it.profile.tool.name) {
            chosen.push(it);
        }
    }
    chosen
}

/// The names in the workspace's root, listed once: each check looks for some dozens of markers, of which few are there.
struct RootFiles(BTreeSet<String>);

impl RootFiles {
    fn of(view: &dyn View) -> Self {
        let listed = view.list(&WorkspacePath::root()).unwrap_or_default();
        Self(listed.entries.into_iter().map(|it| it.name).collect())
    }

    /// A marker is a file's path, or that of a TOML file, `#` and a table in it.
    fn has(&self, view: &dyn View, marker: &str) -> bool {
        let first = marker.split(['/', '#']).next().unwrap_or(marker);
        self.0.contains(first) && is_there(view, &WorkspacePath::root(), marker)
    }
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;
    use crate::profiles;

    fn all() -> Vec<&'static Profile> {
        profiles().iter().collect()
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], installed: &[&str], want: &[&str]) {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let is_installed = |it: &Profile| installed.contains(&it.tool.name.as_str());
        let chosen = choose(&all(), &view, is_installed);
        let names: Vec<_> = chosen.iter().map(|it| it.profile.tool.name.as_str()).collect();
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

    #[test]
    fn why_a_server_is_chosen() {
        let view = Memory::from_files([("pyproject.toml", "[tool.pyright]\n"), ("go.mod", "")]).unwrap();
        let chosen = choose(&all(), &view, |_| false);
        let why: Vec<_> = chosen.iter().map(|it| (it.profile.tool.name.as_str(), it.why)).collect();
        let pyright = ("pyright", Reason::Configured("pyproject.toml#tool.pyright"));
        assert_eq!(why, [("gopls", Reason::Project("go.mod")), pyright]);
    }
}
