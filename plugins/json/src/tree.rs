//! The tree as a value to check, and where in the text a part of it is.

use broker_schemas::Segment;
use broker_schemas::place::Spot;
use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::Ranged;

use crate::syntax::bytes;

/// Returns the value that readers get from the tree. If a key occurs twice, the last one counts.
pub(crate) fn value(tree: &Value<'_>) -> serde_json::Value {
    match tree {
        Value::StringLit(it) => it.value.clone().into_owned().into(),
        Value::NumberLit(it) => number(it.value),
        Value::BooleanLit(it) => it.value.into(),
        Value::NullKeyword(_) => serde_json::Value::Null,
        Value::Array(it) => it.elements.iter().map(value).collect(),
        Value::Object(it) => {
            it.properties.iter().map(|it| (it.name.as_str().to_owned(), value(&it.value))).collect()
        }
    }
}

/// JSON5 has numbers that a value cannot have; what they are does not matter here, but that they are numbers.
fn number(text: &str) -> serde_json::Value {
    let parsed = serde_json::from_str(text).or_else(|_| serde_json::from_str(text.trim_start_matches('+')));
    parsed.unwrap_or_else(|_| 0.into())
}

/// Returns the place of the part at `path`.
pub(crate) fn spot(tree: &Value<'_>, path: &[Segment]) -> Option<Spot> {
    let mut at = tree;
    let mut key = None;
    for step in path {
        (key, at) = match (step, at) {
            (Segment::Key(name), Value::Object(object)) => {
                let property = object.properties.iter().rev().find(|it| it.name.as_str() == name)?;
                (Some(key_range(property)), &property.value)
            }
            (Segment::Index(index), Value::Array(array)) => (None, array.elements.get(*index)?),
            _ => return None,
        };
    }
    Some(Spot { key, value: bytes(at) })
}

/// The key with its quotes.
pub(crate) fn key_range(property: &ObjectProp<'_>) -> std::ops::Range<usize> {
    let range = match &property.name {
        ObjectPropName::String(it) => it.range(),
        ObjectPropName::Word(it) => it.range(),
    };
    range.start..range.end
}
