//! Options of markdownlint's rules that rumdl has under other names, in other units or with other defaults, or not at all.
//!
//! A rule that rumdl cannot run as an option of it asks for is off, which the log says: what it would find, markdownlint
//! would not. Left out: options without which rumdl only finds less (`code_blocks` of MD009, `language_only` of MD040), and
//! that MD013 is about tables by default, of which rumdl finds lines that markdownlint lets pass.

use std::collections::BTreeSet;

use rumdl_lib::config::{ConfigLoaded, ConfigSource, SourcedConfig, SourcedValue};
use rumdl_lib::linguist_data::resolve_canonical;
use serde_json::{Map, Value};
use toml::Value as Toml;

/// The levels of headings.
const LEVELS: usize = 6;

/// What holds for a rule without an option, where rumdl has another default.
fn defaults() -> [(&'static str, &'static str, Toml); 5] {
    [
        ("MD010", "code-blocks", true.into()),
        ("MD013", "length-mode", "chars".into()),
        ("MD024", "siblings-only", false.into()),
        ("MD026", "punctuation", ".,;:!。，；：！".into()),
        ("MD036", "punctuation", ".,;:!?。，；：！？".into()),
    ]
}

/// Puts into `sourced` what the options in `rules`, by codes, mean in rumdl's words. The rules that are off for them.
pub(super) fn translate(
    rules: &Map<String, Value>,
    sourced: &mut SourcedConfig<ConfigLoaded>,
) -> BTreeSet<String> {
    let mut put = |code: &str, key: &str, value: Toml| {
        let values = &mut sourced.rules.entry(code.to_owned()).or_default().values;
        values.insert(key.to_owned(), SourcedValue::new(value, ConfigSource::ProjectConfig));
    };
    let option = |code: &str, name: &str| rules.get(code).and_then(|it| it.get(name));
    for (code, key, value) in defaults() {
        if option(code, &key.replace('-', "_")).is_none() {
            put(code, key, value);
        }
    }
    for name in ["heading_line_length", "code_block_line_length"] {
        // None, or 0: that of other lines.
        if let Some(length) = option("MD013", name).and_then(Value::as_i64).filter(|it| *it > 0) {
            put("MD013", &name.replace('_', "-"), length.into());
        }
    }
    if let Some(stern) = option("MD013", "stern").and_then(Value::as_bool) {
        let strict = option("MD013", "strict").and_then(Value::as_bool).unwrap_or_default();
        put("MD013", "strict", strict.into());
        put("MD013", "stern", stern.into());
    }
    for name in ["lines_above", "lines_below"] {
        if let Some(levels) = option("MD022", name).and_then(Value::as_array) {
            let lines = |level: usize| levels.get(level).and_then(Value::as_i64).unwrap_or(1);
            put(
                "MD022",
                &name.replace('_', "-"),
                Toml::Array((0..LEVELS).map(lines).map(Toml::from).collect()),
            );
        }
    }
    if let Some(languages) = option("MD040", "allowed_languages").and_then(Value::as_array) {
        let names = languages.iter().filter_map(Value::as_str).map(|it| resolve_canonical(it).unwrap_or(it));
        put("MD040", "allowed-languages", Toml::Array(names.map(Toml::from).collect()));
    }
    if option("MD052", "shortcut_syntax").is_some() {
        put("MD052", "shortcut-syntax", false.into());
    }
    unable(rules)
}

/// The rules with an option that rumdl cannot follow.
fn unable(rules: &Map<String, Value>) -> BTreeSet<String> {
    let option = |code: &str, name: &str| rules.get(code).and_then(|it| it.get(name));
    let mut found = BTreeSet::new();
    if option("MD004", "style").and_then(Value::as_str) == Some("sublist") {
        found.insert("MD004".to_owned());
    }
    if option("MD025", "level").is_some_and(|it| it.as_i64() != Some(1)) {
        found.insert("MD025".to_owned());
    }
    found
}

/// A rule's options, or whether it is on, as all versions of markdownlint say it. True if that is something else.
pub(super) fn normalize(value: &mut Value) -> bool {
    let is_off = match value {
        Value::Null => true,
        Value::Number(it) => it.as_f64() == Some(0.0),
        Value::String(it) => it.is_empty(),
        Value::Object(it) => it.get("enabled").is_some_and(|it| it.as_bool() == Some(false)),
        Value::Bool(_) | Value::Array(_) => false,
    };
    if is_off {
        *value = Value::Bool(false);
    }
    is_off
}
