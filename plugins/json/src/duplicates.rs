//! Keys that an object has twice: most readers take the last and say nothing.

use std::collections::BTreeMap;

use broker_plugin_sdk::{Diagnostic, Related};
use jsonc_parser::ast::{Object, Value};

use crate::{rules, tree};

pub(crate) fn check(value: &Value<'_>, found: &mut Vec<Diagnostic>) {
    match value {
        Value::Array(it) => it.elements.iter().for_each(|it| check(it, found)),
        Value::Object(it) => {
            in_object(it, found);
            it.properties.iter().for_each(|it| check(&it.value, found));
        }
        _ => {}
    }
}

/// Points at each key that was there before. `//` and `_comment` are comments by custom, of which there may be many.
fn in_object(object: &Object<'_>, found: &mut Vec<Diagnostic>) {
    let mut first = BTreeMap::new();
    for property in &object.properties {
        let name = property.name.as_str();
        let range = tree::key_range(property);
        let Some(before) = first.insert(name, range.clone()) else { continue };
        first.insert(name, before.clone());
        if name == "//" || name == "_comment" {
            continue;
        }
        let message = format!("the key `{name}` is there twice; only the last counts");
        let related = Related { path: None, span: before.into(), message: "first here".to_owned() };
        found.push(Diagnostic {
            related: vec![related],
            ..Diagnostic::new(rules::DUPLICATE_KEY, message, range)
        });
    }
}
