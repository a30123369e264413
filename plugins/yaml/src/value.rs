//! A document as a value to check: aliases and merges put in.

use serde_json::{Map, Value};

use crate::scalar;
use crate::tree::{Document, Id, Kind};

/// No document that a person wrote is larger; one that is full of aliases of aliases may be.
const MAX_NODES: usize = 500_000;

const DEEPEST: usize = 200;

/// Returns the value that readers get from the document; `None` if it is too large or too deep with its aliases expanded.
pub(crate) fn of(document: &Document<'_>) -> Option<Value> {
    let mut left = MAX_NODES;
    value(document, document.root()?, 0, &mut left)
}

fn value(document: &Document<'_>, id: Id, depth: usize, left: &mut usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    if depth > DEEPEST {
        return None;
    }
    match &document.node(id).kind {
        Kind::Scalar { text, style, tag } => Some(scalar::value(text, *style, tag.as_deref())),
        Kind::Unknown => Some(Value::Null),
        Kind::Alias(target) => value(document, *target, depth + 1, left),
        Kind::List(items) => items.iter().map(|it| value(document, *it, depth + 1, left)).collect(),
        Kind::Map(entries) => map(document, entries, depth, left),
    }
}

fn map(document: &Document<'_>, entries: &[(Id, Id)], depth: usize, left: &mut usize) -> Option<Value> {
    let mut made = Map::new();
    for (key, it) in entries {
        let it = value(document, *it, depth + 1, left)?;
        match document.text(*key) {
            Some("<<") => merge(&mut made, it),
            Some(key) => drop(made.insert(key.to_owned(), it)),
            None => {} // A key that is no scalar: JSON has none such.
        }
    }
    Some(made.into())
}

/// Merges into a mapping: its own entries take precedence over merged ones, and a later key replaces an earlier one.
fn merge(made: &mut Map<String, Value>, merged: Value) {
    match merged {
        Value::Object(merged) => {
            for (key, it) in merged {
                made.entry(key).or_insert(it);
            }
        }
        Value::Array(all) => all.into_iter().for_each(|it| merge(made, it)),
        _ => {}
    }
}
