//! Options of markdownlint's rules that rumdl has under other names, in other units or with other defaults, or not at all.
//!
//! A rule that rumdl cannot run as an option of it asks for is off, which the log says: what it would find, markdownlint
//! would not. Left out: options without which rumdl only finds less (`language_only` of MD040), options of rules that are
//! carried out here, and numbers in words.

use std::collections::BTreeSet;

use rumdl_lib::config::{ConfigLoaded, ConfigSource, SourcedConfig, SourcedValue};
use rumdl_lib::linguist_data::resolve_canonical;
use serde_json::{Map, Value};
use toml::Value as Toml;

/// The levels of headings.
const LEVELS: usize = 6;

/// Options that are numbers. Of those of `true`, 0 and what counts as such is as if there were none.
const NUMBERS: [(&str, &str, bool); 16] = [
    ("MD007", "indent", true),
    ("MD007", "start_indent", true),
    ("MD009", "br_spaces", false),
    ("MD010", "spaces_per_tab", false),
    ("MD012", "maximum", true),
    ("MD013", "line_length", true),
    ("MD013", "heading_line_length", true),
    ("MD013", "code_block_line_length", true),
    ("MD022", "lines_above", false),
    ("MD022", "lines_below", false),
    ("MD025", "level", true),
    ("MD030", "ul_single", true),
    ("MD030", "ol_single", true),
    ("MD030", "ul_multi", true),
    ("MD030", "ol_multi", true),
    ("MD041", "level", true),
];

/// Options that are on or off.
const FLAGS: [(&str, &str); 16] = [
    ("MD007", "start_indented"),
    ("MD009", "code_blocks"),
    ("MD009", "list_item_empty_lines"),
    ("MD009", "strict"),
    ("MD010", "code_blocks"),
    ("MD013", "strict"),
    ("MD013", "stern"),
    ("MD013", "code_blocks"),
    ("MD013", "tables"),
    ("MD013", "headings"),
    ("MD024", "siblings_only"),
    ("MD031", "list_items"),
    ("MD040", "language_only"),
    ("MD041", "allow_preamble"),
    ("MD044", "code_blocks"),
    ("MD060", "aligned_delimiter"),
];

/// Makes numbers and flags of what JavaScript takes for such. Whether something changed.
pub(super) fn coerce(rules: &mut Map<String, Value>) -> bool {
    let before = rules.clone();
    for (code, name, is_positive) in NUMBERS {
        change(rules, code, name, |it| number(it, is_positive));
    }
    for (code, name) in FLAGS {
        change(rules, code, name, |it| Some(is_truthy(it).into()));
    }
    *rules != before
}

/// Gives an option another value, or takes it out.
fn change(rules: &mut Map<String, Value>, code: &str, name: &str, new: impl Fn(&Value) -> Option<Value>) {
    let Some(options) = rules.get_mut(code).and_then(Value::as_object_mut) else { return };
    if let Some(value) = options.remove(name).and_then(|it| new(&it)) {
        options.insert(name.to_owned(), value);
    }
}

/// A whole number; lists stay as they are. None: the option is as if it were not there.
fn number(value: &Value, is_positive: bool) -> Option<Value> {
    let number = match value {
        Value::Array(_) => return Some(value.clone()),
        Value::Null | Value::Object(_) => return None,
        Value::Bool(it) => i64::from(*it),
        Value::Number(it) => it.as_i64()?,
        Value::String(it) if it.trim().is_empty() => 0,
        Value::String(it) => it.trim().parse().ok()?,
    };
    (number != 0 || !is_positive).then(|| number.into())
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::Number(it) => it.as_f64() != Some(0.0),
        Value::String(it) => !it.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Defaults of markdownlint's for options that have others in rumdl.
fn defaults() -> [(&'static str, &'static str, Toml); 4] {
    [
        ("MD010", "code-blocks", true.into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_other_types() {
        let coerced = |options: Value| {
            let Value::Object(mut rules) = options else { panic!("no rules") };
            let is_changed = coerce(&mut rules);
            (Value::Object(rules), is_changed)
        };
        let found = coerced(serde_json::json!({
            "MD012": {"maximum": " 2 "},
            "MD013": {"line_length": "100", "heading_line_length": 0, "tables": "false", "strict": 0},
            "MD009": {"br_spaces": "0", "strict": ""},
            "MD030": {"ul_single": "many"},
            "MD022": {"lines_above": [1, 2]},
        }));
        let wanted = serde_json::json!({
            "MD012": {"maximum": 2},
            "MD013": {"line_length": 100, "tables": true, "strict": false},
            "MD009": {"br_spaces": 0, "strict": false},
            "MD030": {},
            "MD022": {"lines_above": [1, 2]},
        });
        assert_eq!(found, (wanted, true));
        assert!(!coerced(serde_json::json!({"MD012": {"maximum": 2}, "MD013": false})).1);
    }
}
