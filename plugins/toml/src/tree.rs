//! A parsed file as the value that a schema is about, and where its parts are.

use broker_schemas::Segment;
use broker_schemas::place::Spot;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// `table` as JSON. Dates and times are strings; what JSON has no number for is zero.
pub(crate) fn value(table: &DeTable) -> Value {
    let entries = table.iter().map(|(key, it)| (key.get_ref().clone().into_owned(), part(it.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn part(value: &DeValue) -> Value {
    match value {
        DeValue::String(it) => Value::String(it.clone().into_owned()),
        DeValue::Integer(it) => Value::Number(integer(it)),
        DeValue::Float(it) => {
            Value::Number(it.as_str().parse().ok().and_then(Number::from_f64).unwrap_or(0.into()))
        }
        DeValue::Boolean(it) => Value::Bool(*it),
        DeValue::Datetime(it) => Value::String(it.to_string()),
        DeValue::Array(it) => it.iter().map(|it| part(it.get_ref())).collect(),
        DeValue::Table(it) => self::value(it),
    }
}

fn integer(it: &DeInteger) -> Number {
    i64::from_str_radix(it.as_str(), it.radix()).unwrap_or_default().into()
}

/// Returns the place of the value at `path`.
pub(crate) fn spot(table: &DeTable, path: &[Segment]) -> Option<Spot> {
    let (first, rest) = path.split_first()?;
    let Segment::Key(name) = first else {
        return None;
    };
    let (key, value) = table.get_key_value(name.as_str())?;
    within(value, Some(key.span()), rest)
}

fn within(value: &Spanned<DeValue>, key: Option<std::ops::Range<usize>>, path: &[Segment]) -> Option<Spot> {
    match (path, value.get_ref()) {
        ([], _) => Some(Spot { key, value: value.span() }),
        ([Segment::Index(index), rest @ ..], DeValue::Array(array)) => within(array.get(*index)?, None, rest),
        (path, DeValue::Table(table)) => spot(table, path),
        _ => None,
    }
}
