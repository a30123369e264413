//! Check of a configuration's values before sqruff reads them: it breaks off at a value of another type than it expects (by its
//! own defaults), or that it does not know.

use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;
use sqruff_lib::core::config::Value;
use sqruff_lib::utils::reflow::config::{AlignmentCoordinateSpace, LinePositionConfig};
use sqruff_lib::utils::reflow::rebreak::LinePosition;
use sqruff_lib_core::dialects::init::DialectKind;
use sqruff_lib_core::dialects::syntax::SyntaxKind;

use crate::config::{self, Values};

/// Lists of names, which may be written as a text with commas.
const LISTS: [&str; 5] = ["exclude_rules", "ignore", "rules", "sql_file_exts", "warnings"];

const TEMPLATERS: [&str; 6] = ["raw", "placeholder", "python", "jinja", "dbt", "sqlmesh"];

/// Texts of which sqruff knows only some.
const CHOICES: [(&str, &[&str]); 7] = [
    ("aliasing", &["explicit", "implicit"]),
    ("forbid_subquery_in", &["join", "from", "both"]),
    ("group_by_and_order_by_style", &["consistent", "explicit", "implicit"]),
    ("indent_unit", &["space", "tab"]),
    ("preferred_quoted_literal_style", &["consistent", "single_quotes", "double_quotes"]),
    ("preferred_type_casting_style", &["consistent", "cast", "convert", "shorthand"]),
    ("trailing_comments", &["before", "after"]),
];

static DEFAULTS: LazyLock<Values> = LazyLock::new(|| config::ready(DialectKind::default()).raw);

/// First problem in `values` at which sqruff would break off.
pub(crate) fn problem(values: &Values) -> Option<String> {
    let mut sections: Vec<_> = values.iter().collect();
    sections.sort_by_key(|it| it.0); // one of several problems, and always the same
    sections.into_iter().find_map(|(name, value)| match (name.as_str(), value) {
        (_, Value::Map(section)) if name == "core" => core(section),
        (_, Value::Map(section)) if name == "layout" => layout(section),
        ("indentation" | "rules", Value::Map(_)) => misfit(name, value, DEFAULTS.get(name)?),
        (_, Value::Map(_)) => None,
        _ => Some(format!("`{name}` is a value where a section should be")),
    })
}

fn core(section: &Values) -> Option<String> {
    let text = |key| section.get(key).and_then(Value::as_string);
    if let Some(it) = text("dialect").filter(|it| DialectKind::from_str(it).is_err()) {
        return Some(format!("sqruff does not know the dialect `{it}`"));
    }
    if let Some(it) = text("templater").filter(|it| !TEMPLATERS.contains(it)) {
        return Some(format!("sqruff does not know the templater `{it}`"));
    }
    if let Some(it) = LISTS.iter().find(|key| section.get(**key).is_some_and(|it| !is_list(it))) {
        return Some(format!("`{it}` has to be a list of names"));
    }
    if section.get("sql_file_exts").is_some_and(Value::is_none) {
        return Some("`sql_file_exts` has to be a list of names".to_owned());
    }
    if section.get("max_line_length").is_some_and(|it| it.as_int().is_none()) {
        return Some("`max_line_length` has to be a number".to_owned());
    }
    let limit = section.get("large_file_skip_byte_limit").filter(|it| it.to_bool());
    let is_number = |it: &Value| match it {
        Value::String(it) => it.trim().parse::<i64>().is_ok(),
        it => it.as_int().is_some(),
    };
    let is_wrong = limit.is_some_and(|it| !is_number(it));
    is_wrong.then(|| "`large_file_skip_byte_limit` has to be a number".to_owned())
}

fn is_list(value: &Value) -> bool {
    match value {
        Value::Array(all) => all.iter().all(|it| it.as_string().is_some()),
        Value::String(_) | Value::None => true,
        _ => false,
    }
}

/// A value that is not of the kind of sqruff's default for it.
fn misfit(path: &str, value: &Value, default: &Value) -> Option<String> {
    let key = path.rsplit(':').next().unwrap_or(path);
    let wanted = match (default, value) {
        (Value::Map(known), Value::Map(section)) => {
            let mut keys: Vec<_> = section.iter().collect();
            keys.sort_by_key(|it| it.0);
            let inner = |key: &str, value| misfit(&format!("{path}:{key}"), value, known.get(key)?);
            return keys.into_iter().find_map(|(key, value)| inner(key, value));
        }
        (Value::Map(_), _) => "a section".to_owned(),
        // Anything else than a text is none there.
        _ if key.starts_with("skip_") => return None,
        (Value::Bool(_), value) => value.as_bool().is_none().then(|| "true or false".to_owned())?,
        (Value::Int(_), Value::Int(0..)) => return None,
        (Value::Int(_), _) => "a number".to_owned(),
        (Value::String(_), value) => text_wanted(key, value.as_string())?,
        (Value::None, value) => list_wanted(key, value)?,
        _ => return None,
    };
    Some(format!("`{path}` has to be {wanted}"))
}

fn text_wanted(key: &str, text: Option<&str>) -> Option<String> {
    let Some(text) = text else { return Some("a text".to_owned()) };
    let (_, all) = CHOICES.iter().find(|it| it.0 == key && !it.1.contains(&text))?;
    Some(format!("one of `{}`", all.join("`, `")))
}

/// Expected type of a list for which sqruff has no default, if `value` is of another.
fn list_wanted(key: &str, value: &Value) -> Option<String> {
    let is_pattern = |it: &Value| it.as_string().is_some_and(|it| Regex::new(it).is_ok());
    let all = value.as_array().unwrap_or_default();
    let (is_right, wanted) = match key {
        "ignore_words" | "blocked_words" => (is_list(value), "a list of words"),
        _ if key.ends_with("_regex") => (is_list(value) && all.iter().all(is_pattern), "regular expressions"),
        "additional_allowed_characters" | "quoted_identifiers_policy" => {
            (matches!(value, Value::String(_) | Value::None), "a text")
        }
        _ => return None,
    };
    (!is_right).then(|| wanted.to_owned())
}

fn layout(section: &Values) -> Option<String> {
    let Value::Map(types) = section.get("type")? else {
        return Some("`layout:type` has to be a section".to_owned());
    };
    let mut types: Vec<_> = types.iter().collect();
    types.sort_by_key(|it| it.0);
    types.into_iter().find_map(|(name, value)| {
        let path = format!("layout:type:{name}");
        match value {
            _ if SyntaxKind::from_str(name).is_err() => Some(format!("sqruff does not know `{path}`")),
            Value::Map(rules) => {
                let mut wrong: Vec<_> =
                    rules.iter().filter(|it| !is_layout(it.0, it.1)).map(|it| it.0).collect();
                wrong.sort();
                wrong.first().map(|key| format!("sqruff does not know the value of `{path}:{key}`"))
            }
            _ => Some(format!("`{path}` has to be a section")),
        }
    })
}

fn is_layout(key: &str, value: &Value) -> bool {
    let is = |test: fn(&str) -> bool| value.as_string().is_some_and(test);
    match key {
        "spacing_before" | "spacing_after" | "spacing_within" => is(is_spacing),
        "line_position" => is(|it| LinePositionConfig::from_str(it).is_ok()),
        "keyword_line_position" => is(|it| {
            it.eq_ignore_ascii_case("none") || it.split(':').all(|it| LinePosition::from_str(it).is_ok())
        }),
        "keyword_line_position_exclusions" => is(|_| true),
        "align_within" | "align_scope" => is(is_kind),
        "alignment_coordinate_space" => is(|it| AlignmentCoordinateSpace::from_str(it).is_ok()),
        _ => true,
    }
}

fn is_spacing(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("align:") else {
        return matches!(text, "single" | "touch" | "touch:inline" | "single:inline" | "any" | "align");
    };
    let mut parts = rest.splitn(4, ':');
    parts.by_ref().take(3).all(is_kind)
        && parts.next().is_none_or(|it| AlignmentCoordinateSpace::from_str(it).is_ok())
}

fn is_kind(text: &str) -> bool {
    SyntaxKind::from_str(text).is_ok()
}
