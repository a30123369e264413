//! Type of a scalar: a text, or by its form something else (YAML 1.2, core schema).

use granit_parser::ScalarStyle;
use serde_json::Value;

/// The value of a scalar with its tag.
pub(crate) fn value(text: &str, style: ScalarStyle, tag: Option<&str>) -> Value {
    match tag {
        Some("str" | "binary" | "timestamp") => return text.into(),
        Some("null") => return Value::Null,
        Some("int" | "float" | "bool") => return plain(text),
        _ => {}
    }
    if style == ScalarStyle::Plain { plain(text) } else { text.into() }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => number(text).unwrap_or_else(|| text.into()),
    }
}

fn number(text: &str) -> Option<Value> {
    if !text.starts_with(|it: char| it.is_ascii_digit() || matches!(it, '-' | '+' | '.')) {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16).ok().map(Value::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return i64::from_str_radix(digits, 8).ok().map(Value::from);
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    let is_number = text.chars().all(|it| it.is_ascii_digit() || matches!(it, '-' | '+' | '.' | 'e' | 'E'));
    let number: f64 = text.parse().ok().filter(|_| is_number)?;
    Some(serde_json::Number::from_f64(number)?.into())
}

/// Whether readers differ about the value: YAML 1.1 has more words for true and false, and other numbers and dates; and a
/// placeholder in it is first replaced by a tool.
pub(crate) fn is_ambiguous(text: &str, style: ScalarStyle) -> bool {
    let has_placeholder =
        ["${", "{{", "<<", "$(", "{%"].iter().any(|it| text.contains(it)) || text.starts_with('$');
    has_placeholder || style == ScalarStyle::Plain && (is_old_bool(text) || is_old_number(text))
}

fn is_old_bool(text: &str) -> bool {
    ["y", "n", "yes", "no", "on", "off"].iter().any(|it| it.eq_ignore_ascii_case(text))
}

fn is_old_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|it: char| it.is_ascii_digit() || it == '.')
        && digits.len() > 1
        && digits.chars().all(|it| {
            it.is_ascii_hexdigit() || matches!(it, '_' | ':' | '.' | 'x' | 'o' | '-' | '+' | 'T' | 'Z')
        })
        && digits.chars().any(|it| matches!(it, '_' | ':' | '-' | 'x'))
        || digits.starts_with('0') && digits.len() > 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn core_schema() {
        for (text, want) in [
            ("1", json!(1)),
            ("-1.5e3", json!(-1500.0)),
            ("0x1F", json!(31)),
            ("true", json!(true)),
            ("yes", json!("yes")),
            ("~", json!(null)),
            ("1.2.3", json!("1.2.3")),
            ("infinity", json!("infinity")),
            ("2024-01-01", json!("2024-01-01")),
            ("-", json!("-")),
        ] {
            assert_eq!(value(text, ScalarStyle::Plain, None), want, "{text}");
        }
        assert_eq!(value("1", ScalarStyle::DoubleQuoted, None), json!("1"));
        assert_eq!(value("1", ScalarStyle::Plain, Some("str")), json!("1"));
    }

    #[test]
    fn what_readers_differ_about() {
        for text in ["yes", "Off", "12:30:45", "1_000", "0777", "2024-01-01", "${PORT}", "$PORT"] {
            assert!(is_ambiguous(text, ScalarStyle::Plain), "{text}");
        }
        for text in ["1", "12", "true", "text", "a:b"] {
            assert!(!is_ambiguous(text, ScalarStyle::Plain), "{text}");
        }
        assert!(!is_ambiguous("yes", ScalarStyle::SingleQuoted));
    }
}
