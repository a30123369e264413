//! Locations of a workspace's rules: `.broker/rules`, and the folders that ast-grep's own configuration names.
//!
//! Folders are read below the workspace's root only, hidden ones and `node_modules` not at all; ignore files are not
//! looked at. Left out of `sgconfig.yml` are grammars of the user's own (`customLanguages`), since there is no native
//! code here: rules in such a language are told. So are `languageInjections`.

#![expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use broker_plugin_sdk::Settings;
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::{
    languages::Lang,
    problem::{Problem, Reach},
    yaml::{self, Document},
};

/// Whose rules, utilities and tests are where.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    root: PathBuf,
    /// Folders relative to the root, `/`-separated; empty for the root itself.
    folders: Vec<(String, Role)>,
    /// The configuration file, if there is one.
    config: Option<String>,
    /// Names of files that are in another language than their ending says.
    languages: Vec<(GlobSet, Lang)>,
    problems: Vec<Problem>,
}

/// Role of a file that belongs to the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Rules,
    Utilities,
    Tests,
    Configuration,
}

/// `sgconfig.yml`, as far as it is of use here.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Configuration {
    rule_dirs: Vec<String>,
    util_dirs: Option<Vec<String>>,
    test_configs: Option<Vec<TestConfiguration>>,
    language_globs: BTreeMap<String, Vec<String>>,
    language_injections: Vec<Injection>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestConfiguration {
    test_dir: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Injection {
    host_language: String,
}

const OWN: [(&str, Role); 3] = [
    (".broker/rules", Role::Rules),
    (".broker/rules/utils", Role::Utilities),
    (".broker/rules/tests", Role::Tests),
];

/// Looked for in this order, as ast-grep does.
const CONFIGURATIONS: [&str; 2] = ["sgconfig.yml", "sgconfig.yaml"];

impl Layout {
    pub(crate) fn new(settings: &Settings) -> Self {
        let root = settings.root();
        let mut layout = Self { root: root.into(), ..Self::default() };
        match (&settings.config, settings.isolated) {
            (Some(config), _) => layout.configured(config.clone()),
            (None, true) => {}
            (None, false) => {
                layout.folders = OWN.iter().map(|(folder, role)| ((*folder).to_owned(), *role)).collect();
                let there = |it: &&&str| layout.root.join(it).is_file();
                if let Some(config) = CONFIGURATIONS.iter().find(there) {
                    layout.configured((*config).to_owned());
                }
            }
        }
        layout
    }

    /// Adds what a configuration file names.
    fn configured(&mut self, config: String) {
        let read = self.read(&config);
        self.config = Some(config.clone());
        let text = match read {
            Ok(text) => text,
            Err(message) => return self.problems.push(Problem::new(&config, 0..0, message)),
        };
        let documents = yaml::documents(&text);
        let Some(document) = documents.first() else { return };
        match document.read::<Configuration>() {
            Ok(it) => self.take(it.unwrap_or_default(), &config, document),
            Err(flaw) => self.problems.push(Problem::new(&config, flaw.span, flaw.message)),
        }
    }

    fn take(&mut self, it: Configuration, config: &str, document: &Document<'_>) {
        let base = config.rsplit_once('/').map_or("", |(folder, _)| folder);
        for folder in &it.rule_dirs {
            if !self.root.join(normal(base, folder)).is_dir() {
                let message = format!("there is no folder `{folder}`");
                self.problems.push(Problem::new(config, document.key("ruleDirs"), message));
            }
        }
        for Injection { host_language } in &it.language_injections {
            let message = format!("code in other languages inside {host_language} is not looked at here");
            let problem = Problem::new(config, document.key("languageInjections"), message);
            let reach = Lang::named(host_language).map_or(Reach::Nothing, Reach::Language);
            self.problems.push(problem.reaching(reach));
        }
        for (language, globs) in &it.language_globs {
            match (Lang::named(language), names(globs)) {
                (Some(lang), Ok(globs)) => self.languages.push((globs, lang)),
                (None, Ok(_)) => {}
                (_, Err(error)) => {
                    let span = document.key("languageGlobs");
                    self.problems.push(Problem::new(config, span, error.to_string()));
                }
            }
        }
        self.folders.extend(it.folders(base));
    }

    pub(crate) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The language of a file, if it has a grammar.
    pub(crate) fn language(&self, path: &str) -> Option<Lang> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let told = self.languages.iter().find(|(globs, _)| globs.is_match(name)).map(|it| it.1);
        told.or_else(|| Lang::of(path))
    }

    /// Returns the role of a file, if it has one. The innermost folder decides.
    pub(crate) fn role(&self, path: &str) -> Option<Role> {
        if self.config.as_deref() == Some(path) {
            return Some(Role::Configuration);
        }
        if !is_yaml(path) {
            return None;
        }
        let holds = |folder: &str| match path.strip_prefix(folder) {
            Some(rest) => (folder.is_empty() || rest.starts_with('/')) && !rest.split('/').any(is_skipped),
            None => false,
        };
        let around = self.folders.iter().filter(|(folder, _)| holds(folder));
        around.max_by_key(|(folder, role)| (folder.len(), *role)).map(|(_, role)| *role)
    }

    /// The files for something, in the order of their names.
    pub(crate) fn files(&self, role: Role) -> Vec<String> {
        let mut found = Vec::new();
        for (folder, _) in self.folders.iter().filter(|it| it.1 == role) {
            self.walk(folder, &mut found);
        }
        found.retain(|it| self.role(it) == Some(role));
        found.sort();
        found.dedup();
        found
    }

    /// Collects the files below a folder. Folders that cannot be read are skipped.
    fn walk(&self, folder: &str, found: &mut Vec<String>) {
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else { return };
        for entry in entries.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            let path = joined(folder, &name);
            match kind {
                _ if is_skipped(&name) => {}
                it if it.is_dir() => self.walk(&path, found),
                it if it.is_file() && is_yaml(&name) => found.push(path),
                _ => {}
            }
        }
    }

    /// The text of a file, or why it has none.
    pub(crate) fn read(&self, path: &str) -> Result<String, String> {
        fs::read_to_string(self.root.join(path)).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => "it is not UTF-8".to_owned(),
            io::ErrorKind::NotFound => "it is not there".to_owned(),
            _ => format!("it cannot be read: {error}"),
        })
    }
}

impl Configuration {
    fn folders(self, base: &str) -> Vec<(String, Role)> {
        let of = |folders: Vec<String>, role| folders.into_iter().map(move |it| (normal(base, &it), role));
        let tests = self.test_configs.unwrap_or_default().into_iter().map(|it| it.test_dir).collect();
        let utilities = self.util_dirs.unwrap_or_default();
        of(self.rule_dirs, Role::Rules)
            .chain(of(utilities, Role::Utilities))
            .chain(of(tests, Role::Tests))
            .collect()
    }
}

fn names(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob)?);
    }
    set.build()
}

/// `folder` as seen from `base`, relative to the root. What leads out of the root stays at it.
fn normal(base: &str, folder: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(folder.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            it => parts.push(it),
        }
    }
    parts.join("/")
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn is_yaml(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|it| it == "yml" || it == "yaml")
}

/// Hidden, another package's, or what ast-grep keeps beside its tests.
fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules" || name == "__snapshots__"
}
