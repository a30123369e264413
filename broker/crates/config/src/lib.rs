//! `broker.toml`, rule selectors, and the user's own folders.
//!
//! For a file, every `broker.toml` (or `.broker.toml`) from the workspace's root down to the file's folder
//! counts, and what each of them extends; of keys that stand in several, the nearest counts, and a
//! `severity` is a key of its own for each rule. `overrides` of all of them hold, the nearest and
//! last first. The files are read through a view, so a branch can edit them.
//!
//! Nothing here is ever ignored: what cannot be understood is a [`ConfigError`].

mod alike;
mod effective;
mod error;
pub mod folders;
mod load;
mod model;
mod place;
pub mod root;
mod selectors;
mod show;
mod source;
mod suggest;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use lint::{LineColumn, RulePattern, Unit};
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;
use serde_json::Value;

use self::load::Layer;
pub use self::{
    alike::closest,
    effective::{Choice, Effective, Severities},
    error::{ConfigError, SetupFailure},
    model::{
        AgentSettings, CheckerDefinition, FileSettings, Glob, PluginSettings, RuleLevel, RuleSeverity,
        RunNetwork, RunSettings, ServerDefinition,
    },
    selectors::{DEFAULT, Selection, Selectors, unknown_linter},
    show::{EffectiveConfig, EffectiveValue},
    source::{Digest, Source},
    suggest::{KnownRules, Suggestion},
};

/// Bytes of a file that are checked where the configuration says nothing of it: sources are far below, and a
/// linter holds a file several times over.
pub const DEFAULT_LARGEST: u64 = 64 << 20;

/// The names of configuration files. There may be one in a folder, not both.
pub const FILE_NAMES: [&str; 2] = ["broker.toml", ".broker.toml"];

/// The configuration of every folder of a view, each read once and when first asked for.
pub struct Configs<'v> {
    /// `None`: there is no configuration.
    view: Option<&'v dyn View>,
    folders: Mutex<HashMap<WorkspacePath, Result<Arc<Config>, ConfigError>>>,
}

/// What holds in one folder.
#[derive(Debug)]
pub struct Config {
    /// The farthest first; what is extended stands before what extends it.
    layers: Vec<Arc<Layer>>,
    /// What holds for files that no override is for.
    base: Arc<Effective>,
}

/// A table `[linters.NAME]`, or an option in one.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed<T> {
    pub value: T,
    pub file: WorkspacePath,
    pub at: LineColumn,
}

/// Options of a plugin, by name. The place is that of the table in the nearest file that has one.
pub type LinterOptions = Placed<BTreeMap<String, Placed<Value>>>;

/// Which language servers are to be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// By name; `None` leaves it to what the project is made for.
    pub used: Option<Vec<String>>,
    pub defined: BTreeMap<String, ServerDefinition>,
}

impl<'v> Configs<'v> {
    pub fn new(view: &'v dyn View) -> Self {
        Self { view: Some(view), folders: Mutex::default() }
    }

    /// The defaults for every file, whatever stands in its folder.
    pub fn isolated() -> Self {
        Self { view: None, folders: Mutex::default() }
    }

    /// What holds for the file at `path`, which need not exist.
    pub fn for_file(&self, path: &WorkspacePath) -> Result<Arc<Effective>, ConfigError> {
        // Asked for each file: no path is made where the folder is known.
        let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        let config = match self.known(folder) {
            Some(known) => known,
            None => self.for_folder(&path.parent().unwrap_or_else(WorkspacePath::root)),
        };
        Ok(config?.for_file(path))
    }

    /// The files by what linters are to be asked for about them.
    pub fn by_choice(&self, units: &[Unit]) -> Result<BTreeMap<Choice, Vec<Unit>>, ConfigError> {
        let mut groups: BTreeMap<Choice, Vec<Unit>> = BTreeMap::new();
        for unit in units {
            let effective = self.for_file(&unit.path)?;
            match groups.get_mut(&effective.choice) {
                Some(group) => group.push(unit.clone()),
                None => _ = groups.insert(effective.choice.clone(), vec![unit.clone()]),
            }
        }
        Ok(groups)
    }

    /// What holds for the workspace as a whole.
    pub fn workspace(&self) -> Result<Arc<Config>, ConfigError> {
        self.for_folder(&WorkspacePath::root())
    }

    /// The rules that stand in a table `severity` of the files that were read so far, each with its file.
    pub fn graded_rules(&self) -> BTreeSet<(WorkspacePath, RulePattern)> {
        let folders = self.folders.lock();
        let layers = folders.values().flatten().flat_map(|it| &it.layers);
        layers.flat_map(|it| it.graded_rules().map(|rule| (it.file.clone(), rule.clone()))).collect()
    }

    /// The files and values that make up what holds for `path`.
    pub fn show(&self, path: &WorkspacePath) -> Result<EffectiveConfig, ConfigError> {
        let folder = path.parent().unwrap_or_else(WorkspacePath::root);
        Ok(show::show(&*self.for_folder(&folder)?, path))
    }

    /// Where `file` has the first text that `is_meant` in one of the lists `keys`, at its top or in an override.
    pub fn place_of_text(
        &self,
        file: &WorkspacePath,
        keys: &[&str],
        is_meant: impl Fn(&str) -> bool,
    ) -> Option<LineColumn> {
        let text = load::read(self.view?, file).ok()??;
        place::of_text(&text, keys, is_meant)
    }

    fn known(&self, folder: &str) -> Option<Result<Arc<Config>, ConfigError>> {
        self.folders.lock().get(folder).cloned()
    }

    fn for_folder(&self, folder: &WorkspacePath) -> Result<Arc<Config>, ConfigError> {
        if let Some(known) = self.known(folder.as_str()) {
            return known;
        }
        // Without the lock: two may read the same file, and find the same in it.
        let config = self.load(folder);
        let mut folders = self.folders.lock();
        folders.insert(folder.clone(), config.clone());
        config
    }

    fn load(&self, folder: &WorkspacePath) -> Result<Arc<Config>, ConfigError> {
        let above = folder.parent().map(|it| self.for_folder(&it)).transpose()?;
        let own = self.view.map_or_else(|| Ok(Vec::new()), |it| load::layers(it, folder))?;
        match above {
            Some(above) if own.is_empty() => Ok(above),
            above => {
                let above = above.iter().flat_map(|it| it.layers.iter().cloned());
                Ok(Arc::new(Config::new(above.chain(own).collect())))
            }
        }
    }
}

impl Config {
    fn new(layers: Vec<Arc<Layer>>) -> Self {
        let base = Arc::new(Effective::of(&layers, None));
        Self { layers, base }
    }

    /// What holds for a file right in the folder.
    fn for_file(&self, path: &WorkspacePath) -> Arc<Effective> {
        let is_overridden = self.layers.iter().any(|it| it.overrides_for(path).next().is_some());
        if is_overridden { Arc::new(Effective::of(&self.layers, Some(path))) } else { Arc::clone(&self.base) }
    }

    /// Where the known findings are listed.
    pub fn baseline(&self) -> Option<&WorkspacePath> {
        self.layers.iter().rev().find_map(|it| it.baseline.as_ref())
    }

    /// Bytes of the largest file that is checked.
    pub fn max_file_size(&self) -> u64 {
        let set = self.layers.iter().rev().find_map(|it| it.settings.max_file_size.as_ref());
        set.map_or(DEFAULT_LARGEST, |it| u64::from(it.get_ref().0) << 20)
    }

    /// Which files are checked: the nearest table counts, as a whole.
    pub fn files(&self) -> FileSettings {
        let set = self.layers.iter().rev().find_map(|it| it.settings.files.as_ref());
        set.map(|it| it.get_ref().clone()).unwrap_or_default()
    }

    pub fn servers(&self) -> ServerSettings {
        let settings = || self.layers.iter().rev().filter_map(|it| it.settings.servers.as_ref());
        let mut defined = BTreeMap::new();
        for (name, definition) in settings().flat_map(|it| &it.get_ref().define) {
            defined.entry(name.clone()).or_insert_with(|| definition.clone());
        }
        let used = settings().find_map(|it| it.get_ref().used.clone());
        ServerSettings { used, defined }
    }

    /// What commands may do without a question: the nearest table counts, as a whole.
    pub fn run(&self) -> RunSettings {
        let set = self.layers.iter().rev().find_map(|it| it.settings.run.as_ref());
        set.map(|it| it.get_ref().clone()).unwrap_or_default()
    }

    /// What agents are shown: the nearest table counts, as a whole.
    pub fn agents(&self) -> AgentSettings {
        let set = self.layers.iter().rev().find_map(|it| it.settings.agents.as_ref());
        set.map(|it| it.get_ref().clone()).unwrap_or_default()
    }

    /// Commands that are linters, by name. What extends a file goes before it.
    pub fn checkers(&self) -> BTreeMap<String, CheckerDefinition> {
        let settings = self.layers.iter().filter_map(|it| it.settings.checkers.as_ref());
        settings.flat_map(|it| it.get_ref().clone()).collect()
    }

    /// Options of plugins, by the plugin's name; of each option the nearest counts.
    pub fn linters(&self) -> BTreeMap<String, LinterOptions> {
        let mut all: BTreeMap<String, LinterOptions> = BTreeMap::new();
        for (name, it) in self.layers.iter().flat_map(|it| &it.linters) {
            let mut options = it.clone();
            if let Some(farther) = all.remove(name) {
                options.value = farther.value.into_iter().chain(options.value).collect();
            }
            all.insert(name.clone(), options);
        }
        all
    }

    /// By name; of each key the nearest counts.
    pub fn plugins(&self) -> BTreeMap<String, PluginSettings> {
        let mut all: BTreeMap<String, PluginSettings> = BTreeMap::new();
        let settings = self.layers.iter().filter_map(|it| it.settings.plugins.as_ref());
        for (name, it) in settings.flat_map(|it| it.get_ref().clone()) {
            let PluginSettings { source, signed_by, grants } = it;
            let known = all.entry(name).or_default();
            known.source = source.or(known.source.take());
            known.signed_by = signed_by.or(known.signed_by.take());
            known.grants = grants.or(known.grants.take());
        }
        all
    }
}

/// The JSON Schema of `broker.toml`, for editors.
pub fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(model::Settings).to_value();
    schema["title"] = "broker.toml".into();
    without_null(&mut schema);
    schema
}

/// What may be left out may be null in JSON. In TOML there is no such thing.
fn without_null(schema: &mut Value) {
    if let Value::Array(items) = schema {
        return items.iter_mut().for_each(without_null);
    }
    let Value::Object(keys) = schema else { return };
    if keys.get("default").is_some_and(Value::is_null) {
        keys.remove("default");
    }
    if let Some(Value::Array(types)) = keys.get_mut("type") {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            keys["type"] = only.clone();
        }
    }
    if let Some(Value::Array(choices)) = keys.get_mut("anyOf") {
        choices.retain(|it| it["type"] != "null");
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            keys.remove("anyOf");
            keys.extend(only);
        }
    }
    keys.values_mut().for_each(without_null);
}
