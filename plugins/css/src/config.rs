//! stylelint's configuration, as far as it is data: the nearest `.stylelintrc`, `.stylelintrc.json`, `.yaml`, `.yml`, or
//! `stylelint` in `package.json`; and `.stylelintignore` in the root.
//!
//! Left out: configuration that is a program (`stylelint.config.js`), which the log tells; what a package says that is
//! extended, but for those that recommend (their names say so); and options of rules but `severity` and what is ignored.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broker_plugin_sdk::{Level, Severity};
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::{Map, Value};

use crate::rules;

const DATA: [&str; 4] = [".stylelintrc", ".stylelintrc.json", ".stylelintrc.yaml", ".stylelintrc.yml"];
const PROGRAMS: [&str; 6] = [
    "stylelint.config.js",
    "stylelint.config.mjs",
    "stylelint.config.cjs",
    ".stylelintrc.js",
    ".stylelintrc.mjs",
    ".stylelintrc.cjs",
];

/// Of files that extend each other.
const DEEPEST: usize = 8;

/// What holds of one rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Setting {
    pub(crate) is_on: bool,
    pub(crate) severity: Option<Severity>,
    /// Names that are left alone; `/…/` is a pattern, of which only the beginning and the end count.
    pub(crate) ignored: Vec<String>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Config {
    /// None: nothing is configured, and the defaults hold.
    rules: Option<BTreeMap<String, Setting>>,
    overrides: Vec<(GlobSet, BTreeMap<String, Setting>)>,
    ignored: GlobSet,
    root: PathBuf,
}

/// Finds configurations, and remembers them by folder.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Instead of what is found; none to read none.
    named: Option<Option<String>>,
    known: HashMap<PathBuf, Result<Rc<Config>, String>>,
    ignored: Option<GlobSet>,
}

impl Workspace {
    pub(crate) fn new(root: PathBuf, named: Option<Option<String>>) -> Self {
        Self { root, named, known: HashMap::new(), ignored: None }
    }

    pub(crate) fn config_of(&mut self, file: &Path) -> Result<Rc<Config>, String> {
        let folder = file.parent().unwrap_or(&self.root).to_path_buf();
        if let Some(known) = self.known.get(&folder) {
            return known.clone();
        }
        let found = self.read(&folder).map(Rc::new);
        self.known.insert(folder, found.clone());
        found
    }

    /// Whether `.stylelintignore` leaves a file out.
    pub(crate) fn ignores(&mut self, file: &str) -> bool {
        if self.named.is_some() {
            return false;
        }
        let text = || read(&self.root.join(".stylelintignore")).unwrap_or_default();
        self.ignored.get_or_insert_with(|| ignore_patterns(&text())).is_match(file)
    }

    fn read(&self, folder: &Path) -> Result<Config, String> {
        let file = match &self.named {
            Some(None) => return Ok(Config::default()),
            Some(Some(named)) => Some(self.root.join(named)),
            None => self.nearest(folder),
        };
        file.map_or_else(|| Ok(Config::default()), |it| self.load(&it, 0))
    }

    /// The nearest file that says something of stylelint, from a folder up to the workspace's root.
    fn nearest(&self, folder: &Path) -> Option<PathBuf> {
        let is_there = |it: &PathBuf| {
            it.metadata().map_or_else(|e| e.kind() != io::ErrorKind::NotFound, |it| it.is_file())
        };
        for folder in folder.ancestors().take_while(|it| it.starts_with(&self.root)) {
            let package = folder.join("package.json");
            if read(&package).is_ok_and(|it| it.contains("\"stylelint\"") && section(&it).is_some()) {
                return Some(package);
            }
            if let Some(found) = DATA.iter().map(|it| folder.join(it)).find(is_there) {
                return Some(found);
            }
            if let Some(program) = PROGRAMS.iter().map(|it| folder.join(it)).find(is_there) {
                let name = self.name(&program);
                broker_plugin_sdk::log(
                    Level::Warn,
                    &format!("`{name}` is a program, which is not run: the defaults hold"),
                );
                return None;
            }
        }
        None
    }

    fn load(&self, file: &Path, depth: usize) -> Result<Config, String> {
        let told = |it: &str| format!("cannot use `{}`: {it}", self.name(file));
        let text = read(file).map_err(|it| told(&it.to_string()))?;
        let is_package = file.file_name().is_some_and(|it| it == "package.json");
        let value = if is_package {
            section(&text).unwrap_or_default()
        } else {
            data(&text).map_err(|it| told(&it))?
        };
        let Value::Object(map) = value else {
            return Err(told("it should be a mapping of options"));
        };
        let root = file.parent().unwrap_or(&self.root);
        let mut config =
            Config { root: root.to_path_buf(), rules: Some(BTreeMap::new()), ..Config::default() };
        for it in map.get("extends").map(strings).unwrap_or_default() {
            self.extend(&mut config, &it, root, depth)?;
        }
        config.take(&map).map_err(|it| told(&it))?;
        Ok(config)
    }

    fn extend(&self, config: &mut Config, name: &str, root: &Path, depth: usize) -> Result<(), String> {
        let rules = config.rules.get_or_insert_default();
        if name.starts_with('.') && !name.ends_with("js") && depth < DEEPEST {
            let base = self.load(&root.join(name), depth + 1)?;
            rules.extend(base.rules.unwrap_or_default());
            config.overrides.extend(base.overrides);
        } else if name.contains("recommended") || name.contains("standard") {
            for rule in rules::all() {
                rules.insert(rule.code, Setting { is_on: true, ..Setting::default() });
            }
        } else {
            broker_plugin_sdk::log(
                Level::Warn,
                &format!("what `{name}` says of rules is not known: it is not read"),
            );
        }
        Ok(())
    }

    fn name(&self, file: &Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).display().to_string()
    }
}

#[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
fn read(file: &Path) -> io::Result<String> {
    std::fs::read_to_string(file)
}

/// What `package.json` says of stylelint.
fn section(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.get("stylelint").cloned()
}

/// JSON, or YAML.
fn data(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let json = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let is_json = text.trim_start().starts_with('{') && !text.contains("//") && !text.contains('#');
    match serde_saphyr::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) if is_json => Err(json.to_string()),
        Err(error) => Err(error.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

impl Config {
    fn take(&mut self, map: &Map<String, Value>) -> Result<(), String> {
        let severity = map.get("defaultSeverity").and_then(Value::as_str).and_then(severity);
        if let Some(rules) = map.get("rules") {
            let rules = settings(rules, severity)?;
            self.rules.get_or_insert_default().extend(rules);
        }
        if let Some(files) = map.get("ignoreFiles") {
            self.ignored = globs(&strings(files), "ignoreFiles")?;
        }
        for it in map.get("overrides").and_then(Value::as_array).into_iter().flatten() {
            let files = it.get("files").map(strings).unwrap_or_default();
            let rules = it.get("rules").map(|it| settings(it, severity)).transpose()?.unwrap_or_default();
            self.overrides.push((globs(&files, "overrides")?, rules));
        }
        Ok(())
    }

    pub(crate) fn leaves_out(&self, file: &Path) -> bool {
        self.ignored.is_match(file.strip_prefix(&self.root).unwrap_or(file))
    }

    /// What holds of a rule in a file.
    pub(crate) fn setting(&self, rule: &str, file: &Path) -> Setting {
        let Some(rules) = &self.rules else { return Setting { is_on: true, ..Setting::default() } };
        let path = file.strip_prefix(&self.root).unwrap_or(file);
        let fits =
            |it: &&(GlobSet, BTreeMap<String, Setting>)| it.1.contains_key(rule) && it.0.is_match(path);
        let by_file = self.overrides.iter().rfind(fits).and_then(|it| it.1.get(rule));
        by_file.or_else(|| rules.get(rule)).cloned().unwrap_or_default()
    }
}

impl Setting {
    /// Whether a name is one of those that are left alone.
    pub(crate) fn ignores(&self, name: &str) -> bool {
        self.ignored.iter().any(|it| {
            let Some(pattern) = it.strip_prefix('/').and_then(|it| it.rsplit_once('/')).map(|it| it.0) else {
                return it.eq_ignore_ascii_case(name);
            };
            let (at_start, rest) = pattern.strip_prefix('^').map_or((false, pattern), |it| (true, it));
            let (at_end, rest) = rest.strip_suffix('$').map_or((false, rest), |it| (true, it));
            let rest = rest.trim_start_matches(".*").trim_end_matches(".*").trim_end_matches(".+");
            match (at_start, at_end) {
                (true, true) => name == rest,
                (true, false) => name.starts_with(rest),
                (false, true) => name.ends_with(rest),
                (false, false) => name.contains(rest),
            }
        })
    }
}

fn settings(value: &Value, default: Option<Severity>) -> Result<BTreeMap<String, Setting>, String> {
    let map = value.as_object().ok_or("`rules` should be a mapping of rules")?;
    Ok(map.iter().map(|(name, it)| (name.clone(), setting(it, default))).collect())
}

/// `null`, `true`, or `[true, { severity: …, ignore…: … }]`.
fn setting(value: &Value, default: Option<Severity>) -> Setting {
    let (primary, options) = match value {
        Value::Array(all) => (all.first().unwrap_or(&Value::Null), all.get(1).and_then(Value::as_object)),
        one => (one, None),
    };
    let is_on = !matches!(primary, Value::Null | Value::Bool(false));
    let named = options.and_then(|it| it.get("severity")).and_then(Value::as_str).and_then(severity);
    let lists =
        options.into_iter().flatten().filter(|it| it.0.starts_with("ignore") && it.0.len() > "ignore".len());
    let ignored = lists.flat_map(|it| strings(it.1)).collect();
    Setting { is_on, severity: named.or(default), ignored }
}

fn severity(name: &str) -> Option<Severity> {
    match name {
        "error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        _ => None,
    }
}

/// A string or several.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(it) => vec![it.clone()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Patterns without a slash are for names.
fn globs(patterns: &[String], key: &str) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for it in patterns {
        let pattern = it.strip_prefix("./").unwrap_or(it);
        let pattern = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        set.add(Glob::new(&pattern).map_err(|it| format!("in `{key}`: {it}"))?);
    }
    set.build().map_err(|it| format!("in `{key}`: {it}"))
}

/// Lines as in a `.gitignore`; what brings files back is not read.
fn ignore_patterns(text: &str) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for line in text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with(['#', '!'])) {
        let is_anchored = line.trim_end_matches('/').contains('/');
        let plain = line.trim_matches('/');
        let start = if is_anchored { "" } else { "**/" };
        for pattern in [format!("{start}{plain}"), format!("{start}{plain}/**")] {
            if let Ok(glob) = Glob::new(&pattern) {
                set.add(glob);
            }
        }
    }
    set.build().unwrap_or_default()
}
