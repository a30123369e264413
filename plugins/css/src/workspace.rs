//! Where stylelint's configuration is, as far as it is data: in the nearest `.stylelintrc`, `.stylelintrc.json`, `.yaml` or
//! `.yml`, the same in `.config/` without the dot, or `stylelint` in `package.json`; and `.stylelintignore` in the root.
//!
//! Left out: `package.yaml`; configuration that is a program (`stylelint.config.js`), and what a package says that is
//! extended, but for those that recommend (their names say so). The defaults hold instead, and the log tells.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::{Map, Value};

use crate::config::{Config, strings};

/// Where stylelint looks, in its order, and then as newer versions may.
const PLACES: [&str; 23] = [
    "package.json",
    ".stylelintrc",
    ".stylelintrc.json",
    ".stylelintrc.yaml",
    ".stylelintrc.yml",
    ".stylelintrc.js",
    ".stylelintrc.ts",
    ".stylelintrc.cjs",
    ".stylelintrc.mjs",
    ".config/stylelintrc",
    ".config/stylelintrc.json",
    ".config/stylelintrc.yaml",
    ".config/stylelintrc.yml",
    ".config/stylelintrc.js",
    ".config/stylelintrc.ts",
    ".config/stylelintrc.cjs",
    ".config/stylelintrc.mjs",
    "stylelint.config.js",
    "stylelint.config.ts",
    "stylelint.config.cjs",
    "stylelint.config.mjs",
    "stylelint.config.mts",
    "stylelint.config.cts",
];

/// Limit on files that extend each other.
const DEEPEST: usize = 8;

type Found = Result<Rc<Config>, String>;

/// Finds configurations, and remembers them.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Instead of what is found; none to read none.
    named: Option<Option<String>>,
    by_folder: HashMap<PathBuf, Found>,
    by_file: HashMap<PathBuf, Found>,
    ignored: Option<GlobSet>,
}

impl Workspace {
    pub(crate) fn new(root: PathBuf, named: Option<Option<String>>) -> Self {
        Self { root, named, by_folder: HashMap::new(), by_file: HashMap::new(), ignored: None }
    }

    pub(crate) fn config_of(&mut self, file: &Path) -> Found {
        let folder = file.parent().unwrap_or(&self.root).to_path_buf();
        if let Some(known) = self.by_folder.get(&folder) {
            return known.clone();
        }
        let found = self.file_of(file);
        let found = found.map_or_else(|| Ok(Rc::new(Config::unconfigured())), |it| self.read(&it));
        self.by_folder.insert(folder, found.clone());
        found
    }

    /// The configuration file that holds for a file.
    pub(crate) fn file_of(&self, file: &Path) -> Option<PathBuf> {
        match &self.named {
            Some(None) => None,
            Some(Some(named)) => Some(self.root.join(named)),
            None => self.nearest(file.parent().unwrap_or(&self.root)),
        }
    }

    /// Whether `.stylelintignore` leaves a file out.
    pub(crate) fn ignores(&mut self, file: &str) -> bool {
        if self.named.is_some() {
            return false;
        }
        let text = || read(&self.root.join(".stylelintignore")).unwrap_or_default();
        self.ignored.get_or_insert_with(|| ignore_patterns(&text())).is_match(file)
    }

    /// The nearest file that says something of stylelint, from a folder up to the workspace's root.
    fn nearest(&self, folder: &Path) -> Option<PathBuf> {
        let folders = folder.ancestors().take_while(|it| it.starts_with(&self.root));
        folders.flat_map(|folder| PLACES.iter().map(|it| folder.join(it))).find(|it| says_something(it))
    }

    /// What is to be said of a file is said once.
    fn read(&mut self, file: &Path) -> Found {
        if let Some(known) = self.by_file.get(file) {
            return known.clone();
        }
        let found = self.load(file, 0).map(Rc::new);
        let mut told = HashSet::new();
        for it in found.iter().flat_map(|it| &it.remarks).filter(|it| told.insert(*it)) {
            log(&format!("`{}`: {it}", self.name(file)));
        }
        self.by_file.insert(file.to_path_buf(), found.clone());
        found
    }

    fn load(&self, file: &Path, depth: usize) -> Result<Config, String> {
        if is_program(&file.to_string_lossy()) {
            return Ok(Config::unread("a program, which is not run: the defaults hold".to_owned()));
        }
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
        if depth == 0 && ["rules", "extends", "overrides"].iter().all(|it| !map.contains_key(*it)) {
            return Err(told(
                "it has no rules: give it `rules`, or `\"extends\": \"stylelint-config-recommended\"`",
            ));
        }
        let root = file.parent().unwrap_or(&self.root);
        let mut config = Config::new(root);
        let bases = |it: &Value| strings(it).iter().map(|it| self.base(it, root, depth)).collect();
        let extended: Result<Vec<Config>, String> = map.get("extends").map_or_else(|| Ok(Vec::new()), bases);
        extended?.into_iter().for_each(|it| config.extend(it));
        config.take(&map, bases).map_err(|it| if it.starts_with("cannot use") { it } else { told(&it) })?;
        Ok(config)
    }

    /// What is extended under a name.
    fn base(&self, name: &str, root: &Path, depth: usize) -> Result<Config, String> {
        if name.starts_with('.') && depth < DEEPEST {
            return self.load(&root.join(name), depth + 1);
        }
        Ok(if name.contains("recommended") || name.contains("standard") {
            Config::default()
        } else {
            Config::unread(format!(
                "what `{name}` says of rules is not known: the defaults hold in its place"
            ))
        })
    }

    fn name(&self, file: &Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).display().to_string()
    }
}

fn log(message: &str) {
    broker_plugin_sdk::log(broker_plugin_sdk::Level::Warn, message);
}

fn is_program(name: &str) -> bool {
    name.ends_with("js") || name.ends_with("ts")
}

/// Empty files, and packages that do not name stylelint, are passed over.
fn says_something(file: &Path) -> bool {
    if file.ends_with("package.json") {
        return read(file).is_ok_and(|it| it.contains("\"stylelint\"") && section(&it).is_some());
    }
    match read(file) {
        Ok(text) => !text.trim().is_empty(),
        // What is there and cannot be read is told.
        Err(error) => {
            !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !file.is_dir()
        }
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
