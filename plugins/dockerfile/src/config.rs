//! Configuration from `.hadolint.yaml` in the workspace's root, where hadolint would run.
//!
//! Left out is what is about output (`format`, `no-color`) and about exit codes (`failure-threshold`, `no-fail`), which
//! are not a plugin's business, and of `label-schema` the types but `text`: the log says that they are not checked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use broker_plugin_sdk::config::ConfigFiles;
use broker_plugin_sdk::{Severity, warn};
use serde_json::{Map, Value};

use crate::rules;

const NAMES: [&str; 2] = [".hadolint.yaml", ".hadolint.yml"];

/// Keys that hadolint reads; the log names those that are not here.
const KNOWN: [&str; 12] = [
    "ignored",
    "override",
    "trustedRegistries",
    "label-schema",
    "strict-labels",
    "disable-ignore-pragma",
    "failure-threshold",
    "format",
    "no-color",
    "no-fail",
    "verbose",
    "color",
];

#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) file: Option<PathBuf>,
    /// Codes of this plugin.
    pub(crate) ignored: Vec<&'static str>,
    pub(crate) severities: BTreeMap<&'static str, Severity>,
    pub(crate) trusted: Vec<String>,
    /// Names of labels, and what kind of text they have.
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) strict_labels: bool,
    /// Whether comments that ignore rules have no effect.
    pub(crate) no_pragmas: bool,
    /// For the log.
    pub(crate) remarks: Vec<String>,
}

impl Config {
    pub(crate) fn find(files: &ConfigFiles) -> Result<Self, String> {
        let Some(file) = files.nearest(files.root(), &NAMES) else { return Ok(Self::default()) };
        let config = Self::parse(&files.read(&file)?).map_err(|it| files.unusable(&file, it))?;
        for remark in &config.remarks {
            warn(&format!("`{}`: {remark}", files.name(&file)));
        }
        Ok(Self { file: Some(file), ..config })
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.lines().all(|it| it.trim().is_empty() || it.trim_start().starts_with('#')) {
            return Ok(Self::default());
        }
        let read = serde_saphyr::from_str(text);
        let value: Value = read.map_err(|it| it.to_string().lines().next().unwrap_or_default().to_owned())?;
        let Value::Object(map) = value else {
            return Err("it should be a mapping of options".to_owned());
        };
        let mut config = Self::default();
        // The order of the map depends on features of other crates in the build: it may be the file's or not.
        let sorted: BTreeMap<_, _> = map.iter().collect();
        for (key, value) in sorted {
            config.option(key, value)?;
        }
        Ok(config)
    }

    fn option(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let wrong = |what: &str| format!("`{key}` should be {what}");
        match key {
            _ if value.is_null() => {}
            "ignored" => {
                for code in strings(value).ok_or_else(|| wrong("a list of codes"))? {
                    let codes = self.codes(code);
                    self.ignored.extend(codes);
                }
            }
            "trustedRegistries" => {
                let names = strings(value).ok_or_else(|| wrong("a list of registries"))?;
                self.trusted = names.into_iter().map(str::to_owned).collect();
            }
            "override" => self.severities(value).ok_or_else(|| wrong("lists of codes by severity"))?,
            "label-schema" => self.labels(value.as_object().ok_or_else(|| wrong("a mapping of labels"))?)?,
            "strict-labels" => self.strict_labels = value.as_bool().ok_or_else(|| wrong("true or false"))?,
            "disable-ignore-pragma" => {
                self.no_pragmas = value.as_bool().ok_or_else(|| wrong("true or false"))?;
            }
            _ if KNOWN.contains(&key) => {}
            _ => self.remarks.push(format!("hadolint has no option `{key}`")),
        }
        Ok(())
    }

    fn severities(&mut self, value: &Value) -> Option<()> {
        for (name, codes) in value.as_object()? {
            let severity = match &**name {
                "error" => Severity::Error,
                "warning" => Severity::Warning,
                "info" => Severity::Info,
                "style" => Severity::Hint,
                // hadolint passes over it, too.
                _ => {
                    self.remarks.push(format!("`override` has no severity `{name}`"));
                    continue;
                }
            };
            for code in if codes.is_null() { Vec::new() } else { strings(codes)? } {
                for code in self.codes(code) {
                    self.severities.insert(code, severity);
                }
            }
        }
        Some(())
    }

    fn labels(&mut self, schema: &Map<String, Value>) -> Result<(), String> {
        for (name, kind) in schema {
            match kind.as_str() {
                Some("" | "text") => {}
                Some("email" | "hash" | "rfc3339" | "semver" | "spdx" | "url") => {
                    let kind = kind.as_str().unwrap_or_default();
                    self.remarks.push(format!(
                        "whether the label `{name}` is of the type `{kind}` is not checked here"
                    ));
                }
                _ => return Err(format!("`label-schema` has no type {kind}")),
            }
            self.labels.push((name.clone(), kind.as_str().unwrap_or_default().to_owned()));
        }
        self.labels.sort();
        Ok(())
    }

    /// Codes of this plugin for one of hadolint's. The log names what has none, but for ShellCheck's codes.
    fn codes(&mut self, code: &str) -> Vec<&'static str> {
        let codes = rules::named(code);
        if codes.is_empty() && !code.starts_with("SC") {
            self.remarks.push(format!("`{code}` is not checked here"));
        }
        codes
    }
}

fn strings(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}
