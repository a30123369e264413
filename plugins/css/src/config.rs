//! Rules in stylelint's configuration, and the files that each part applies to.
//!
//! Left out: options of rules but `severity` and what is ignored, and `overrides` in what an override extends. Rules that
//! are not here are told in the log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use broker_plugin_sdk::Severity;
use globset::{Glob, GlobSet, GlobSetBuilder};
use regex_lite::Regex;
use serde_json::{Map, Value};

use crate::rules::{self, UNKNOWN_VALUE};

/// A pattern that fits any name.
const ANYTHING: &str = "/./";

pub(crate) type Settings = BTreeMap<String, Setting>;

/// Setting of one rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setting {
    pub(crate) is_on: bool,
    pub(crate) severity: Option<Severity>,
    /// Names that are left alone.
    ignored: Vec<Ignored>,
    /// Properties, and the words that they take besides those of CSS.
    allowed: Vec<(Ignored, Vec<Ignored>)>,
}

#[derive(Debug, Clone)]
enum Ignored {
    Name(String),
    Pattern(Regex),
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Config {
    /// None: what stylelint recommends holds.
    rules: Option<Settings>,
    overrides: Vec<(GlobSet, Settings)>,
    ignored: GlobSet,
    /// Properties and words that `languageOptions` add to CSS.
    allowed: Vec<(Ignored, Vec<Ignored>)>,
    root: PathBuf,
    /// No configuration asks for what breaks nothing.
    pub(crate) is_unconfigured: bool,
    /// For the log.
    pub(crate) remarks: Vec<String>,
}

impl Config {
    /// Nothing is on, for what lies in a folder.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), rules: Some(Settings::new()), ..Self::default() }
    }

    /// Nothing is configured: what is not broken is not told.
    pub(crate) fn unconfigured() -> Self {
        let rules = loud().into_iter().filter(|it| !rules::needs_stylelint(&it.0)).collect();
        Self { rules: Some(rules), is_unconfigured: true, ..Self::default() }
    }

    /// The defaults hold, for a reason.
    pub(crate) fn unread(remark: String) -> Self {
        Self { rules: Some(loud()), remarks: vec![remark], ..Self::default() }
    }

    /// Adds a configuration that this one extends, which counts less.
    pub(crate) fn extend(&mut self, base: Self) {
        let rules = base.rules.unwrap_or_else(defaults);
        self.rules.get_or_insert_default().extend(rules);
        self.overrides.extend(base.overrides);
        self.allowed.extend(base.allowed);
        self.remarks.extend(base.remarks);
    }

    /// Reads the settings of a file, except for those that it extends, which `bases` finds.
    pub(crate) fn take(
        &mut self,
        map: &Map<String, Value>,
        bases: impl Fn(&Value) -> Result<Vec<Config>, String>,
    ) -> Result<(), String> {
        let severity = map.get("defaultSeverity").and_then(Value::as_str).and_then(severity);
        if let Some(rules) = map.get("rules") {
            let rules = self.settings(rules, severity)?;
            self.rules.get_or_insert_default().extend(rules);
        }
        if let Some(syntax) = map.get("languageOptions").and_then(|it| it.get("syntax")) {
            let allowed = self.allowed_by_syntax(syntax);
            self.allowed.extend(allowed);
        }
        if let Some(files) = map.get("ignoreFiles") {
            self.ignored = globs(&strings(files), "ignoreFiles")?;
        }
        for it in map.get("overrides").and_then(Value::as_array).into_iter().flatten() {
            let files = it.get("files").map(strings).unwrap_or_default();
            let mut rules = Settings::new();
            for base in it.get("extends").map(&bases).transpose()?.unwrap_or_default() {
                rules.extend(base.rules.unwrap_or_else(defaults));
                self.remarks.extend(base.remarks);
            }
            if let Some(own) = it.get("rules") {
                rules.extend(self.settings(own, severity)?);
            }
            self.overrides.push((globs(&files, "overrides")?, rules));
        }
        Ok(())
    }

    fn settings(&mut self, value: &Value, default: Option<Severity>) -> Result<Settings, String> {
        let map = value.as_object().ok_or("`rules` should be a mapping of rules")?;
        let known = rules::all();
        let mut settings = Settings::new();
        for (name, it) in map {
            let setting = self.setting(it, default);
            if setting.is_on && known.iter().all(|it| it.code != *name) {
                self.remarks.push(format!("`{name}` is not checked here"));
            }
            settings.insert(name.clone(), setting);
        }
        Ok(settings)
    }

    /// `null`, `true`, or `[true, { severity: …, ignore…: … }]`.
    fn setting(&mut self, value: &Value, default: Option<Severity>) -> Setting {
        let (primary, options) = match value {
            Value::Array(all) => (all.first().unwrap_or(&Value::Null), all.get(1).and_then(Value::as_object)),
            one => (one, None),
        };
        let is_on = !matches!(primary, Value::Null | Value::Bool(false));
        let named = options.and_then(|it| it.get("severity")).and_then(Value::as_str).and_then(severity);
        let lists = options.into_iter().flatten();
        let lists = lists.filter(|it| it.0.starts_with("ignore") && it.0.len() > "ignore".len());
        let ignored = lists.flat_map(|it| strings(it.1)).filter_map(|it| self.ignored_name(it)).collect();
        let allowed = options.map(|it| self.allowed(it)).unwrap_or_default();
        Setting { is_on, severity: named.or(default), ignored, allowed }
    }

    /// `ignoreProperties: { property: [word, …] }`, and `propertiesSyntax`, whose properties may take anything.
    fn allowed(&mut self, options: &Map<String, Value>) -> Vec<(Ignored, Vec<Ignored>)> {
        let pairs = options.get("ignoreProperties").and_then(Value::as_object).into_iter().flatten();
        let pairs: Vec<_> = pairs.map(|it| (it.0.clone(), strings(it.1))).collect();
        let own = options.get("propertiesSyntax").and_then(Value::as_object).into_iter().flatten();
        let own = own.map(|it| (it.0.clone(), vec![ANYTHING.to_owned()]));
        pairs.into_iter().chain(own).filter_map(|it| self.allowed_pair(it)).collect()
    }

    fn allowed_by_syntax(&mut self, syntax: &Value) -> Vec<(Ignored, Vec<Ignored>)> {
        let own = syntax.get("properties").and_then(Value::as_object).into_iter().flatten();
        let own = own.map(|it| (it.0.clone(), vec![ANYTHING.to_owned()]));
        let words = syntax.get("cssWideKeywords").map(|it| (ANYTHING.to_owned(), strings(it)));
        own.chain(words).filter_map(|it| self.allowed_pair(it)).collect()
    }

    fn allowed_pair(&mut self, (property, words): (String, Vec<String>)) -> Option<(Ignored, Vec<Ignored>)> {
        let words = words.into_iter().filter_map(|it| self.ignored_name(it)).collect();
        Some((self.ignored_name(property)?, words))
    }

    /// A name, or a pattern as `/…/` or `/…/i`.
    fn ignored_name(&mut self, name: String) -> Option<Ignored> {
        let pattern = name.strip_prefix('/').and_then(|it| match it.strip_suffix("/i") {
            Some(pattern) => Some(format!("(?i){pattern}")),
            None => it.strip_suffix('/').map(str::to_owned),
        });
        let Some(pattern) = pattern else { return Some(Ignored::Name(name)) };
        match Regex::new(&pattern) {
            Ok(pattern) => Some(Ignored::Pattern(pattern)),
            Err(_) => {
                self.remarks.push(format!("the pattern `{name}` is not known here: it ignores nothing"));
                None
            }
        }
    }

    /// Whether the configuration allows a word as a value of a property.
    pub(crate) fn allows_value(&self, property: &str, word: &str, file: &Path) -> bool {
        let own = self.setting_of(UNKNOWN_VALUE, file).allowed;
        let mut allowed = own.iter().chain(&self.allowed);
        allowed.any(|(names, words)| names.fits(property) && words.iter().any(|it| it.fits(word)))
    }

    pub(crate) fn leaves_out(&self, file: &Path) -> bool {
        self.ignored.is_match(file.strip_prefix(&self.root).unwrap_or(file))
    }

    /// Setting of a rule for a file.
    pub(crate) fn setting_of(&self, rule: &str, file: &Path) -> Setting {
        let Some(rules) = &self.rules else { return Setting::on() };
        let path = file.strip_prefix(&self.root).unwrap_or(file);
        let fits = |it: &&(GlobSet, Settings)| it.1.contains_key(rule) && it.0.is_match(path);
        let by_file = self.overrides.iter().rfind(fits).and_then(|it| it.1.get(rule));
        by_file.or_else(|| rules.get(rule)).cloned().unwrap_or_default()
    }
}

impl Setting {
    fn on() -> Self {
        Self { is_on: true, ..Self::default() }
    }

    /// Whether the configuration has the rule ignore a name.
    pub(crate) fn ignores(&self, name: &str) -> bool {
        self.ignored.iter().any(|it| it.fits(name))
    }
}

impl Ignored {
    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Name(it) => it.eq_ignore_ascii_case(name),
            Self::Pattern(it) => it.is_match(name),
        }
    }
}

/// All rules.
fn defaults() -> Settings {
    rules::all().into_iter().map(|it| (it.code, Setting::on())).collect()
}

/// All rules but those that a configuration must ask for.
fn loud() -> Settings {
    defaults().into_iter().filter(|it| !rules::is_quiet(&it.0)).collect()
}

fn severity(name: &str) -> Option<Severity> {
    match name {
        "error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        _ => None,
    }
}

/// A string or several.
pub(crate) fn strings(value: &Value) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_read_is_remarked() {
        let map = json!({
            "rules": {
                "block-no-empty": true,
                "color-named": "never",
                "scss/x": null,
                "unit-no-unknown": [true, { "ignoreUnits": ["/(?=x)/", "/^(px|em)$/i"] }],
            },
            "overrides": [{ "files": "*.css", "extends": "x" }],
        });
        let mut config = Config::new(Path::new("/"));
        let bases = |_: &Value| Ok(vec![Config::unread("x is not known".to_owned())]);
        config.take(map.as_object().unwrap(), bases).unwrap();
        config.remarks.sort();
        assert_eq!(
            config.remarks,
            [
                "`color-named` is not checked here",
                "the pattern `/(?=x)/` is not known here: it ignores nothing",
                "x is not known"
            ]
        );
        let setting = config.setting_of("unit-no-unknown", Path::new("/a.scss"));
        assert!(setting.ignores("EM") && !setting.ignores("rem"));
        assert!(config.setting_of("no-empty-source", Path::new("/a.css")).is_on);
    }
}
