//! Reads configuration files, and those that they extend.

use std::{collections::BTreeMap, io, ops::Range};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use lint::{LineTable, RulePattern};
use overlay::{View, WorkspacePath, io_reason};
use serde_json::Value;
use toml::Spanned;

use super::{
    Arc, ConfigError, FILE_NAMES, LinterOptions, Placed,
    model::{LinterTables, Override, Settings},
    place,
};

/// How many files may extend one another.
const DEEPEST: usize = 16;

/// One configuration file as it is used in one folder.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) file: WorkspacePath,
    /// What paths and globs are relative to.
    pub(super) folder: WorkspacePath,
    pub(super) settings: Settings,
    pub(super) baseline: Option<WorkspacePath>,
    /// Options of plugins, by the plugin's name.
    pub(super) linters: BTreeMap<String, LinterOptions>,
    /// As many as there are overrides.
    globs: Vec<Gitignore>,
    /// All of the file, as it was written.
    pub(super) table: toml::Table,
}

impl Layer {
    /// Rules with a configured severity.
    pub(super) fn graded_rules(&self) -> impl Iterator<Item = &RulePattern> {
        let overridden = self.settings.overrides.iter().flat_map(|it| it.severity.keys());
        self.settings.severity.keys().chain(overridden).map(|it| &it.0)
    }

    /// The overrides that are for the file at `path`, by their index; the last of them counts most.
    pub(super) fn overrides_for(&self, path: &WorkspacePath) -> impl DoubleEndedIterator<Item = usize> {
        let relative = path.strip_prefix(&self.folder).filter(|it| !it.is_empty());
        let is_for = move |it: &Gitignore| {
            relative.is_some_and(|it2| it.matched_path_or_any_parents(it2, false).is_ignore())
        };
        self.globs.iter().enumerate().filter(move |(_, it)| is_for(it)).map(|(index, _)| index)
    }
}

/// What stands in one folder, with what it extends before it; empty if there is nothing.
pub(super) fn layers(view: &dyn View, folder: &WorkspacePath) -> Result<Vec<Arc<Layer>>, ConfigError> {
    let mut found = Vec::new();
    for file in FILE_NAMES.map(|name| folder.child(name)) {
        found.extend(read(view, &file)?.map(|text| (file, text)));
    }
    let Some((file, text)) = found.pop() else { return Ok(Vec::new()) };
    if let Some((other, _)) = found.pop() {
        let message = format!("there is {other} beside it, and only one of them can count");
        return Err(ConfigError::of_file(&file, message));
    }
    let mut reader = Reader { view, folder, reading: Vec::new(), layers: Vec::new() };
    reader.add(file, &text)?;
    if folder.is_root() {
        refuse_signers_without_source(view, &reader.layers)?;
    }
    Ok(reader.layers)
}

/// Only a plugin with a source has signatures. One that is part of Broker, or that the command line names, would be used unsigned.
fn refuse_signers_without_source(view: &dyn View, layers: &[Arc<Layer>]) -> Result<(), ConfigError> {
    let plugins = || {
        let all = layers.iter().filter_map(|it| Some((it, it.settings.plugins.as_ref()?.get_ref())));
        all.flat_map(|(layer, plugins)| plugins.iter().map(move |(name, it)| (layer, name, it)))
    };
    let has_source = |name: &str| plugins().any(|(_, other, it)| other == name && it.source.is_some());
    let ignored = plugins().find(|(_, name, it)| it.signed_by.is_some() && !has_source(name));
    let Some((layer, name, _)) = ignored else { return Ok(()) };
    let message = format!("`signed-by` of plugin `{name}` has no effect: the plugin has no `source`");
    let text = read(view, &layer.file)?.unwrap_or_default();
    let at = place::of_key(&text, &["plugins", name, "signed-by"]);
    let error = ConfigError { at, ..ConfigError::of_file(&layer.file, message) };
    Err(error.hint("name its `source` beside it, whose signature is verified, or remove `signed-by`"))
}

/// `None` if there is no such file.
pub(super) fn read(view: &dyn View, file: &WorkspacePath) -> Result<Option<String>, ConfigError> {
    match view.open(file) {
        Ok(bytes) => match String::from_utf8(bytes.to_vec()) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(ConfigError::of_file(file, "it is not UTF-8")),
        },
        // What is no folder has nothing in it.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(ConfigError::of_file(file, io_reason(&error))),
    }
}

struct Reader<'a> {
    view: &'a dyn View,
    folder: &'a WorkspacePath,
    /// What extends what is being read.
    reading: Vec<WorkspacePath>,
    layers: Vec<Arc<Layer>>,
}

impl Reader<'_> {
    fn add(&mut self, file: WorkspacePath, text: &str) -> Result<(), ConfigError> {
        let of_toml = |error| ConfigError::of_toml(&file, text, &error);
        let table: toml::Table = toml::from_str(text).map_err(of_toml)?;
        refuse_lists(&file, text, &table)?;
        let settings: Settings = toml::from_str(text).map_err(of_toml)?;
        self.refuse_without_effect(&file, text, &settings)?;
        if let Some(extends) = &settings.extends {
            self.extend(&file, text, extends)?;
        }
        let baseline = match &settings.baseline {
            Some(it) => Some(path(self.folder, &file, text, &it.get_ref().file)?),
            None => None,
        };
        let linters =
            settings.linters.as_ref().map(|it| linters(it.get_ref(), &file, text)).unwrap_or_default();
        let globs = settings.overrides.iter().map(matcher).collect();
        let folder = self.folder.clone();
        self.layers.push(Arc::new(Layer { file, folder, settings, baseline, linters, globs, table }));
        Ok(())
    }

    fn extend(
        &mut self,
        file: &WorkspacePath,
        text: &str,
        extends: &Spanned<String>,
    ) -> Result<(), ConfigError> {
        let error = |message: String| ConfigError::at(file, text, extends.span(), message);
        let folder = file.parent().unwrap_or_else(WorkspacePath::root);
        let other = path(&folder, file, text, extends)?;
        self.reading.push(file.clone());
        if let Some(start) = self.reading.iter().position(|it| *it == other) {
            let circle: Vec<_> =
                self.reading[start..].iter().chain([&other]).map(ToString::to_string).collect();
            return Err(error(format!("it extends itself: {}", circle.join(" -> "))));
        }
        if self.reading.len() > DEEPEST {
            return Err(error(format!("more than {DEEPEST} files extend one another")));
        }
        let Some(base) = read(self.view, &other)? else {
            return Err(error(format!("there is no file `{other}` to extend")));
        };
        self.add(other, &base)?;
        self.reading.pop();
        Ok(())
    }

    /// What holds for the workspace cannot be said by a folder in it. In a repository of its own, such as a submodule, it is said of
    /// that, and passed over.
    fn refuse_without_effect(
        &self,
        file: &WorkspacePath,
        text: &str,
        settings: &Settings,
    ) -> Result<(), ConfigError> {
        let baseline = settings.baseline.as_ref().map(|it| ("baseline", it.span()));
        let servers = settings.servers.as_ref().map(|it| ("servers", it.span()));
        let checkers = settings.checkers.as_ref().map(|it| ("checkers", it.span()));
        let plugins = settings.plugins.as_ref().map(|it| ("plugins", it.span()));
        let linters = settings.linters.as_ref().map(|it| ("linters", it.span()));
        let run = settings.run.as_ref().map(|it| ("run", it.span()));
        let agents = settings.agents.as_ref().map(|it| ("agents", it.span()));
        let size = settings.max_file_size.as_ref().map(|it| ("max-file-size", it.span()));
        let files = settings.files.as_ref().map(|it| ("files", it.span()));
        let named =
            baseline.or(files).or(servers).or(checkers).or(plugins).or(linters).or(run).or(agents).or(size);
        let is_repository = || self.view.metadata(&self.folder.child(".git")).is_ok();
        match named.filter(|_| !self.folder.is_root() && !is_repository()) {
            Some((key, span)) => {
                let message = format!("`{key}` has no effect here");
                let error = ConfigError::at(file, text, span, message);
                Err(error.hint("it belongs in the configuration file at the workspace's root"))
            }
            None => Ok(()),
        }
    }
}

/// A path that `file` names, seen from `folder`.
fn path(
    folder: &WorkspacePath,
    file: &WorkspacePath,
    text: &str,
    path: &Spanned<String>,
) -> Result<WorkspacePath, ConfigError> {
    folder.join(path.get_ref()).map_err(|error| ConfigError::at(file, text, path.span(), error.to_string()))
}

/// Options of plugins with their places in `file`.
fn linters(all: &LinterTables, file: &WorkspacePath, text: &str) -> BTreeMap<String, LinterOptions> {
    let lines = LineTable::new(text.as_bytes());
    let at = |span: Range<usize>| lines.scalar(u32::try_from(span.start).unwrap_or(u32::MAX));
    let option = |(name, it): (&String, &Spanned<toml::Value>)| {
        (name.clone(), Placed { value: json(it.get_ref()), file: file.clone(), at: at(it.span()) })
    };
    let table = |(name, it): (&String, &Spanned<BTreeMap<_, _>>)| {
        let value = it.get_ref().iter().map(option).collect();
        (name.clone(), Placed { value, file: file.clone(), at: at(it.span()) })
    };
    all.iter().map(table).collect()
}

/// A value as JSON, in which points in time are texts.
fn json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(it) => it.as_str().into(),
        toml::Value::Integer(it) => (*it).into(),
        toml::Value::Float(it) => (*it).into(),
        toml::Value::Boolean(it) => (*it).into(),
        toml::Value::Datetime(it) => it.to_string().into(),
        toml::Value::Array(all) => all.iter().map(json).collect(),
        toml::Value::Table(all) => all.iter().map(|(key, it)| (key.clone(), json(it))).collect(),
    }
}

/// Refuses a list in place of a table of settings, which serde takes by the order of the keys.
fn refuse_lists(file: &WorkspacePath, text: &str, table: &toml::Table) -> Result<(), ConfigError> {
    const TABLES: [&str; 6] = ["files", "suppressions", "baseline", "servers", "run", "agents"];
    let is_wrong = |(key, value): &(&String, &toml::Value)| match value {
        toml::Value::Array(_) if TABLES.contains(&key.as_str()) => true,
        toml::Value::Array(all) if *key == "overrides" => all.iter().any(toml::Value::is_array),
        _ => false,
    };
    let Some((key, _)) = table.iter().find(is_wrong) else { return Ok(()) };
    // Parsed once more for the place alone.
    let placed = toml::from_str::<BTreeMap<String, Spanned<toml::Value>>>(text);
    let span = placed.ok().and_then(|it| Some(it.get(key)?.span())).unwrap_or_default();
    Err(ConfigError::at(file, text, span, "expected a table, not a list"))
}

/// Globs were tried when they were parsed.
fn matcher(it: &Override) -> Gitignore {
    let mut globs = GitignoreBuilder::new("");
    for glob in &it.paths {
        let _was_tried = globs.add_line(None, &glob.0);
    }
    globs.build().unwrap_or_else(|_| Gitignore::empty())
}
