//! Where each setting comes from.

use std::{collections::BTreeMap, fmt};

use overlay::WorkspacePath;
use serde_json::json;

use super::Config;

/// Everything that holds for a file.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveConfig {
    pub path: WorkspacePath,
    /// The farthest first; what is extended stands before what extends it.
    pub files: Vec<WorkspacePath>,
    /// By key; then the overrides that are for the file, the one that counts most last.
    pub values: Vec<EffectiveValue>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveValue {
    /// As it would be written at the top of a file: `suppressions.require-reason`.
    pub key: String,
    pub value: toml::Value,
    /// The file that says so; `None` if it is the default.
    pub file: Option<WorkspacePath>,
    /// The globs of the override that says so; empty if it is none.
    pub paths: Vec<String>,
}

/// What holds if nothing is said.
const DEFAULTS: [(&str, Default); 2] =
    [("suppressions.report-unused", Default::Text("warning")), ("suppressions.require-reason", Default::No)];

enum Default {
    Text(&'static str),
    No,
}

pub(super) fn show(config: &Config, path: &WorkspacePath) -> EffectiveConfig {
    let mut values = BTreeMap::new();
    for (key, default) in DEFAULTS {
        let value = match default {
            Default::Text(text) => toml::Value::String(text.to_owned()),
            Default::No => toml::Value::Boolean(false),
        };
        values.insert(key.to_owned(), (value, None));
    }
    let mut overrides = Vec::new();
    for layer in &config.layers {
        for (key, value) in leaves(&layer.table, &["extends", "overrides"]) {
            values.insert(key, (value, Some(layer.file.clone())));
        }
        for index in layer.overrides_for(path) {
            let paths =
                layer.settings.overrides[index].paths.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
            let table = layer.table.get("overrides").and_then(|it| it.get(index)?.as_table());
            for (key, value) in table.into_iter().flat_map(|it| leaves(it, &["paths"])) {
                overrides.push(EffectiveValue {
                    key,
                    value,
                    file: Some(layer.file.clone()),
                    paths: paths.clone(),
                });
            }
        }
    }
    let plain =
        values.into_iter().map(|(key, (value, file))| EffectiveValue { key, value, file, paths: Vec::new() });
    EffectiveConfig {
        path: path.clone(),
        files: config.layers.iter().map(|it| it.file.clone()).collect(),
        values: plain.chain(overrides).collect(),
    }
}

/// What the tables in a table hold, under their full keys.
fn leaves(table: &toml::Table, without: &[&str]) -> Vec<(String, toml::Value)> {
    let entries = table.iter().filter(|(key, _)| !without.contains(&key.as_str()));
    let below = |(key, value): (&String, &toml::Value)| match value {
        toml::Value::Table(inner) => {
            let inner = leaves(inner, &[]).into_iter();
            inner.map(|(rest, value)| (format!("{}.{rest}", quoted(key)), value)).collect()
        }
        other => vec![(quoted(key), other.clone())],
    };
    entries.flat_map(below).collect()
}

/// A key as TOML wants it.
fn quoted(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|it| it.is_ascii_alphanumeric() || "-_".contains(it));
    if is_bare { key.to_owned() } else { toml::Value::String(key.to_owned()).to_string() }
}

impl EffectiveConfig {
    pub fn to_json(&self) -> serde_json::Value {
        let value = |it: &EffectiveValue| {
            json!({
                "key": it.key,
                "value": it.value,
                "file": it.file.as_ref().map(WorkspacePath::as_str),
                "paths": it.paths,
            })
        };
        json!({
            "path": self.path.as_str(),
            "files": self.files.iter().map(WorkspacePath::as_str).collect::<Vec<_>>(),
            "values": self.values.iter().map(value).collect::<Vec<_>>(),
        })
    }
}

/// For people, in the form of a configuration file.
impl fmt::Display for EffectiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# what holds for {}", self.path)?;
        let mut paths: &[String] = &[];
        for it in &self.values {
            if it.paths != paths {
                writeln!(f, "\n# because of paths = [{}]", it.paths.join(", "))?;
                paths = &it.paths;
            }
            let file = it.file.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
            writeln!(f, "{} = {}  # {file}", it.key, it.value)?;
        }
        Ok(())
    }
}
