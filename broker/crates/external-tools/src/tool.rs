//! Definition of an external linter, as data: the part that does not depend on its kind.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use lint::{RuleAliases, SetupError};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    names_package, outside,
    programs::{Variables, in_folders_of_path, interpreter_of},
};

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    /// Languages of its files; none for files of any kind.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The files that it checks. Each kind of tool has its own patterns.
    pub globs: Vec<String>,
    /// The program, a name or a path from the workspace's root, and its arguments.
    pub command: Vec<String>,
    /// Places where a program that is a name is looked for, in this order.
    #[serde(default = "in_path")]
    pub find: Vec<Find>,
    /// A package of npm: programs in `node_modules` count where the project names it, and not where a dependency brought them.
    #[serde(default)]
    pub package: Option<String>,
    /// Other programs that must be in `PATH`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Other programs of `PATH` that it may run.
    #[serde(default)]
    pub runs: Vec<String>,
    /// Code of the workspace that it runs.
    #[serde(default)]
    pub executes: Executes,
    /// Names that its rules share with rules of other linters that find the same.
    #[serde(default, deserialize_with = "aliases")]
    pub same_as: RuleAliases,
    /// Places outside of the workspace that decide what it finds, see [`OutsideState`](crate::OutsideState). Where they are not
    /// known, answers are used again for a short time only.
    #[serde(default)]
    pub outside: Option<Vec<String>>,
    /// Variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Instructions for installing it.
    #[serde(default = "own_documentation")]
    pub install: String,
    /// Findings that one may expect of it and that it does not report.
    #[serde(default)]
    pub limits: Option<String>,
}

/// Keys of a definition that are fields of a [`Tool`].
pub(crate) const KEYS: [&str; 14] = [
    "name",
    "languages",
    "globs",
    "command",
    "find",
    "package",
    "needs",
    "runs",
    "executes",
    "same-as",
    "outside",
    "env",
    "install",
    "limits",
];

/// Place where a program is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Find {
    Path,
    /// `node_modules/.bin` of the project, or of a folder above it.
    NodeModules,
    /// `.venv` or `venv` of the project or of a folder above it, or the active one.
    Venv,
}

/// Code of a workspace that a tool runs when it looks at files there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Executes {
    Nothing,
    /// Configuration that is code, or that names plugins which are.
    Configuration,
    /// Build scripts, macros and toolchains that the project names.
    Build,
    /// A tool that Broker does not know, whatever it does.
    #[default]
    #[serde(skip)]
    Anything,
}

/// Folders below the workspace's root in which a project with a program of its own is looked for.
const MAX_PROJECT_DEPTH: u32 = 2;

impl Tool {
    /// Fails if the definition cannot be used.
    pub fn check(&self) -> Result<(), String> {
        if self.command.is_empty() {
            return Err("`command` names no program".to_owned());
        }
        self.outside.iter().flatten().try_for_each(|it| outside::check(it))
    }

    /// The same tool for a workspace whose programs are not run: its program is one of `PATH`, and no program is asked for places
    /// outside.
    #[must_use]
    pub fn without_programs_of_workspace(&self) -> Self {
        let outside = self.outside.clone().filter(|all| !all.iter().any(|it| outside::is_command(it)));
        Self { find: in_path(), outside, ..self.clone() }
    }

    /// The arguments of its program.
    pub fn arguments(&self) -> &[String] {
        self.command.get(1..).unwrap_or_default()
    }

    /// Error for a tool whose program is not there.
    pub fn not_installed(&self) -> SetupError {
        SetupError {
            linter: self.name.clone(),
            message: format!("{} is not installed", self.name),
            hint: Some(self.install.clone()),
        }
    }

    /// The same error as one sentence.
    pub fn not_installed_sentence(&self) -> String {
        format!("not installed: {}", self.install)
    }

    /// Path of the program for a project in the folder `project` of the workspace at `root`; `None` if it, or another program
    /// that it needs, is not there.
    pub fn find(&self, root: &Path, project: &Path, variable: Variables<'_>) -> Option<PathBuf> {
        let name = self.command.first()?;
        if name.contains('/') {
            return Some(root.join(name.trim_start_matches("./"))).filter(|it| it.is_file());
        }
        let is_complete = self.needs.iter().all(|it| in_folders_of_path(it, variable).is_some());
        let find = |it: &Find| find_in(*it, name, root, project, variable);
        let is_named = || self.package.as_ref().is_none_or(|it| names_package(root, project, it));
        let places = self.find.iter().filter(|it| **it != Find::NodeModules || is_named());
        places.filter_map(find).next().filter(|_| is_complete)
    }

    /// Path of the program for the workspace as a whole, or else for the first folder near its root that has one.
    pub fn find_anywhere(&self, root: &Path, variable: Variables<'_>) -> Option<PathBuf> {
        let at_root = self.find(root, root, variable);
        let is_own = self.find.iter().any(|it| *it != Find::Path);
        at_root.or_else(|| is_own.then(|| self.find_below(root, root, MAX_PROJECT_DEPTH, variable))?)
    }

    fn find_below(
        &self,
        root: &Path,
        folder: &Path,
        levels: u32,
        variable: Variables<'_>,
    ) -> Option<PathBuf> {
        let folders: Vec<_> =
            outside::children(folder).into_iter().filter(|it| may_have_projects(it)).collect();
        let here = folders.iter().find_map(|it| self.find(root, it, variable));
        here.or_else(|| {
            let below = |it: &PathBuf| self.find_below(root, it, levels - 1, variable);
            (levels > 1).then(|| folders.iter().find_map(below))?
        })
    }

    /// All programs that take part in a run of this one: those that it needs or may run, and the interpreters of scripts. A script
    /// that is not outside of the workspace names none.
    pub fn programs(
        &self,
        program: &Path,
        variable: Variables<'_>,
        is_outside: impl Fn(&Path) -> bool,
    ) -> Vec<PathBuf> {
        let mut all = self.needed(variable);
        all.push(program.to_owned());
        let scripts = all.iter().filter(|it| is_outside(it));
        let interpreters: Vec<_> = scripts.filter_map(|it| interpreter_of(it, variable)).collect();
        [all, interpreters].concat()
    }

    /// Other programs that it needs or may run, as far as they are there.
    pub fn needed(&self, variable: Variables<'_>) -> Vec<PathBuf> {
        self.needs.iter().chain(&self.runs).filter_map(|it| in_folders_of_path(it, variable)).collect()
    }
}

fn find_in(place: Find, name: &str, root: &Path, project: &Path, variable: Variables<'_>) -> Option<PathBuf> {
    let above = project.ancestors().take_while(|it| it.starts_with(root));
    match place {
        Find::Path => in_folders_of_path(name, variable),
        Find::NodeModules => above.map(|it| it.join("node_modules/.bin").join(name)).find(|it| it.is_file()),
        Find::Venv => {
            let active = variable("VIRTUAL_ENV").map(PathBuf::from);
            let own = above.flat_map(|it| [it.join(".venv"), it.join("venv")]);
            own.chain(active).map(|it| it.join("bin").join(name)).find(|it| it.is_file())
        }
    }
}

fn may_have_projects(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|it| it.to_str()).unwrap_or(".");
    !name.starts_with('.') && name != "node_modules" && name != "target" && folder.is_dir()
}

fn in_path() -> Vec<Find> {
    vec![Find::Path]
}

fn own_documentation() -> String {
    "see its own documentation".to_owned()
}

fn aliases<'de, D: Deserializer<'de>>(from: D) -> Result<RuleAliases, D::Error> {
    RuleAliases::new(&BTreeMap::deserialize(from)?).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::fs;

    use super::*;

    fn tool(definition: &str) -> Tool {
        toml::from_str(&format!("name = 'own'\nglobs = []\n{definition}")).unwrap()
    }

    #[test]
    fn programs_are_found_where_they_belong() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let file = |path: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        let variable = |name: &str| (name == "PATH").then(|| root.join("outside").into_os_string());
        let tsc = tool("command = ['tsc']\nfind = ['node-modules', 'path']");
        let (web, other) = (root.join("w/web/app"), root.join("w/other"));
        fs::create_dir_all(&other).unwrap();
        let at = |project: &Path| tsc.find(&root.join("w"), project, &variable);
        assert_eq!(at(&web), None);
        let own = file("w/web/node_modules/.bin/tsc");
        assert_eq!(at(&web), Some(own.clone()));
        assert_eq!(at(&other), None);
        assert_eq!(tsc.find_anywhere(&root.join("w"), &variable), Some(own));
        let global = file("outside/tsc");
        assert_eq!(at(&other), Some(global));
        let clippy = tool("command = ['cargo', 'clippy']\nneeds = ['cargo-clippy']");
        file("outside/cargo");
        assert_eq!(clippy.find(root, root, &variable), None, "cargo alone is not enough");
        file("outside/cargo-clippy");
        assert!(clippy.find(root, root, &variable).is_some());
        assert_eq!(clippy.needed(&variable), [root.join("outside/cargo-clippy")]);
    }

    #[test]
    fn a_command_that_is_a_path_is_seen_from_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let found = |program: &str| tool(&format!("command = ['{program}']")).find(root, root, &|_| None);
        for program in ["tools/own", "node_modules/.bin/own"] {
            assert_eq!(found(program), None);
            let file = root.join(program);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            assert_eq!(found(program), Some(file.clone()));
            assert_eq!(found(&format!("./{program}")), Some(file.clone()));
            assert_eq!(found(file.to_str().unwrap()), Some(file));
        }
        assert_eq!(found("own"), None, "a name is looked up");
    }

    #[test]
    fn without_programs_of_the_workspace() {
        let own = "command = ['own']\nfind = ['venv', 'path']\noutside = ['/a', '$(own -x)']";
        let confined = tool(own).without_programs_of_workspace();
        assert_eq!((&confined.find[..], confined.outside), (&[Find::Path][..], None));
        let places = tool("command = ['own']\noutside = ['/a']").without_programs_of_workspace().outside;
        assert_eq!(places, Some(vec!["/a".to_owned()]));
        assert_eq!(tool("command = ['own']").executes, Executes::Anything);
    }

    #[test]
    fn what_cannot_be_used_is_an_error() {
        let why = |definition: &str| tool(definition).check().unwrap_err();
        assert_eq!(why("command = []"), "`command` names no program");
        assert!(why("command = ['a']\noutside = ['$(a']").contains("`$(a`"));
    }
}
