//! Location of stylelint's configuration, as far as it is data: the nearest `.stylelintrc`, `.stylelintrc.json`, `.yaml` or
//! `.yml`, the same in `.config/` without the dot, or `stylelint` in `package.json`; and `.stylelintignore` in the root.
//!
//! Left out: `package.yaml`; configuration that is a program (`stylelint.config.js`), and what a package says that is
//! extended, but for those that recommend (their names say so). The defaults hold instead, and the log tells.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broker_plugin_sdk::config::{ByFolder, ConfigFiles, is_there, text_of};
use broker_plugin_sdk::{Settings, warn};
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::{Map, Value};

use crate::config::{Config, strings};

/// Paths at which stylelint looks, in its order, and then as newer versions may.
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
#[derive(Default)]
pub(crate) struct Workspace {
    files: ConfigFiles,
    by_folder: ByFolder<Found>,
    by_file: ByFolder<Found>,
    ignored: OnceCell<GlobSet>,
}

impl Workspace {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { files: ConfigFiles::new(settings), ..Self::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.files.root()
    }

    pub(crate) fn config_of(&self, file: &Path) -> Found {
        self.by_folder.get_or(self.files.folder_of(file), || match self.file_of(file) {
            Some(it) => self.by_file.get_or(&it, || self.read(&it)),
            None => Ok(Rc::new(Config::unconfigured())),
        })
    }

    /// The configuration file that holds for a file: the nearest that says something of stylelint.
    pub(crate) fn file_of(&self, file: &Path) -> Option<PathBuf> {
        let in_folder = |it: &Path| PLACES.iter().map(|name| it.join(name)).find(|it| says_something(it));
        self.files.find(self.files.folder_of(file), in_folder)
    }

    /// Whether `.stylelintignore` leaves a file out.
    pub(crate) fn ignores(&self, file: &str) -> bool {
        if self.files.is_fixed() {
            return false;
        }
        let text = || text_of(&self.root().join(".stylelintignore")).unwrap_or_default();
        self.ignored.get_or_init(|| ignore_patterns(&text())).is_match(file)
    }

    /// Reads a configuration, and logs each remark on it once.
    fn read(&self, file: &Path) -> Found {
        let found = self.load(file, 0).map(Rc::new);
        let mut told = HashSet::new();
        for it in found.iter().flat_map(|it| &it.remarks).filter(|it| told.insert(*it)) {
            warn(&format!("`{}`: {it}", self.files.name(file)));
        }
        found
    }

    fn load(&self, file: &Path, depth: usize) -> Result<Config, String> {
        if is_program(&file.to_string_lossy()) {
            return Ok(Config::unread("a program, which is not run: the defaults hold".to_owned()));
        }
        let told = |it: &str| self.files.unusable(file, it);
        let text = self.files.read(file)?;
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
        let root = self.files.folder_of(file);
        let mut config = Config::new(root);
        let bases = |it: &Value| strings(it).iter().map(|it| self.base(it, root, depth)).collect();
        let extended: Result<Vec<Config>, String> = map.get("extends").map_or_else(|| Ok(Vec::new()), bases);
        extended?.into_iter().for_each(|it| config.extend(it));
        config.take(&map, bases).map_err(|it| if it.starts_with("cannot use") { it } else { told(&it) })?;
        Ok(config)
    }

    /// Configuration that another one extends under a name.
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
}

fn is_program(name: &str) -> bool {
    name.ends_with("js") || name.ends_with("ts")
}

/// Empty files, and packages that do not name stylelint, are passed over.
fn says_something(file: &Path) -> bool {
    if file.ends_with("package.json") {
        return text_of(file).is_ok_and(|it| it.contains("\"stylelint\"") && section(&it).is_some());
    }
    // A file that exists and cannot be read is reported.
    is_there(file) && text_of(file).map_or(true, |it| !it.trim().is_empty())
}

/// Value of `stylelint` in `package.json`.
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
