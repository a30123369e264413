//! Configuration of taplo: the files that it excludes, and the schemas that files follow.

use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::{ConfigFiles, on_line};
use globset::{Glob, GlobSet, GlobSetBuilder};
use toml::de::{DeTable, DeValue};

use crate::schema::seen_from;

/// Names of the configuration file in the order in which they count.
const NAMES: [&str; 2] = [".taplo.toml", "taplo.toml"];

/// Patterns for absolute paths.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// None: all files.
    include: Option<GlobSet>,
    exclude: GlobSet,
    root: PathBuf,
    /// Schemas for all files first, then those of each `[[rule]]`.
    schemas: Vec<Association>,
}

/// A table `[schema]`, and which files it is about.
#[derive(Debug)]
struct Association {
    include: Option<GlobSet>,
    exclude: GlobSet,
    is_enabled: bool,
    /// A path from the root, or an address.
    schema: Option<String>,
}

impl Config {
    pub(crate) fn find(files: &ConfigFiles) -> Result<Self, String> {
        let root = files.root();
        let Some(file) = files.nearest(root, &NAMES) else {
            return Ok(Self { root: root.to_path_buf(), ..Self::default() });
        };
        let text = files.read(&file)?;
        let table =
            DeTable::parse(&text).map_err(|it| on_line(&text, it.span().map(|it| it.start), it.message()));
        table.and_then(|it| Self::new(it.get_ref(), root)).map_err(|it| files.unusable(&file, it))
    }

    pub(crate) fn includes(&self, file: &Path) -> bool {
        self.include.as_ref().is_none_or(|it| it.is_match(file)) && !self.exclude.is_match(file)
    }

    /// The schema for the file at `path` (from the root), as an address or a path from the file, if there is one;
    /// none at all where schemas are switched off.
    pub(crate) fn schema(&self, path: &str) -> Option<Option<String>> {
        let file = self.root.join(path);
        let mut named = None;
        for association in self.schemas.iter().filter(|it| it.is_about(&file)) {
            if !association.is_enabled {
                return None;
            }
            named = association.schema.as_ref().or(named);
        }
        Some(named.map(|it| if it.contains("://") { it.clone() } else { seen_from(path, it) }))
    }

    fn new(table: &DeTable, root: &Path) -> Result<Self, String> {
        let all = Association::new(table, root)?;
        let Association { include, exclude, .. } = Association::new(table, root)?;
        let mut schemas = vec![Association { include: None, exclude: GlobSet::default(), ..all }];
        let rules = table.get("rule").and_then(|it| it.get_ref().as_array());
        let rules = rules.into_iter().flat_map(|it| it.iter()).filter_map(|it| it.get_ref().as_table());
        // Rules for parts of a file contain no schemas, as in taplo.
        for rule in rules.filter(|it| !it.contains_key("keys")) {
            schemas.push(Association::new(rule, root)?);
        }
        Ok(Self { include, exclude, root: root.to_path_buf(), schemas })
    }
}

impl Association {
    /// Reads a table about files and their schema.
    fn new(table: &DeTable, root: &Path) -> Result<Self, String> {
        let set = |key: &str| table.get(key).map(|it| patterns(key, it.get_ref(), root)).transpose();
        let schema = table.get("schema").and_then(|it| it.get_ref().as_table());
        let option = |key: &str| schema.and_then(|it| it.get(key)).map(|it| it.get_ref());
        let name = |key: &str| option(key).and_then(DeValue::as_str).map(str::to_owned);
        Ok(Self {
            include: set("include")?,
            exclude: set("exclude")?.unwrap_or_default(),
            is_enabled: option("enabled").and_then(DeValue::as_bool).unwrap_or(true),
            schema: name("path").or_else(|| name("url")),
        })
    }

    fn is_about(&self, file: &Path) -> bool {
        self.include.as_ref().is_none_or(|it| it.is_match(file)) && !self.exclude.is_match(file)
    }
}

fn patterns(key: &str, value: &DeValue, root: &Path) -> Result<GlobSet, String> {
    let wrong = || format!("`{key}` should be an array of strings");
    let mut set = GlobSetBuilder::new();
    for pattern in value.as_array().ok_or_else(wrong)?.iter() {
        let pattern = pattern.get_ref().as_str().ok_or_else(wrong)?;
        // Patterns count from the root, where taplo would run.
        let absolute = root.join(pattern.strip_prefix("./").unwrap_or(pattern));
        let glob = Glob::new(&absolute.to_string_lossy()).map_err(|it| format!("in `{key}`: {it}"))?;
        set.add(glob);
    }
    set.build().map_err(|it| format!("in `{key}`: {it}"))
}
