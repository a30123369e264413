//! The properties that a schema has a word for in any of its branches, be it that a branch does not hold.
//!
//! If one member of an object does not match, the branch that it belongs to does not hold, and `unevaluatedProperties` names all
//! members of that branch. Those are known nevertheless.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Keywords whose schemas apply to the same value: one schema, a list of them, or one by name.
const ONE: [&str; 4] = ["if", "then", "else", "not"];
const LIST: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Properties that any branch names.
#[derive(Default)]
pub(crate) struct Known<'a> {
    names: BTreeSet<&'a str>,
    patterns: BTreeSet<&'a str>,
    /// Whether a branch accepts any name, or cannot be resolved.
    is_open: bool,
}

impl<'a> Known<'a> {
    /// Collects from `schema` and from all that it refers to in `root`.
    pub(crate) fn of(root: &'a Value, schema: &'a Value) -> Self {
        let mut known = Self::default();
        let mut seen = Vec::new();
        let mut left = branches(root, schema, &mut known.is_open);
        known.add_names(schema);
        while let Some(branch) = left.pop() {
            if seen.iter().any(|it| std::ptr::eq(*it, branch)) {
                continue;
            }
            seen.push(branch);
            known.add_names(branch);
            known.is_open |= ["additionalProperties", "unevaluatedProperties"]
                .iter()
                .any(|it| branch.get(it).is_some_and(|it| *it != json!(false)));
            left.extend(branches(root, branch, &mut known.is_open));
        }
        known
    }

    fn add_names(&mut self, schema: &'a Value) {
        let keys = |of: &str| schema.get(of).and_then(Value::as_object).into_iter().flat_map(|it| it.keys());
        self.names.extend(keys("properties").map(String::as_str));
        self.patterns.extend(keys("patternProperties").map(String::as_str));
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        let is_like = |it: &&str| jsonschema::is_valid(&json!({ "pattern": it }), &json!(key));
        self.is_open || self.names.contains(key) || self.patterns.iter().any(is_like)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.names.iter().map(|it| (*it).to_owned()).collect()
    }
}

/// The schemas next to this one for the same value. What is referred to elsewhere than in `root` may be anything.
fn branches<'a>(root: &'a Value, schema: &'a Value, is_open: &mut bool) -> Vec<&'a Value> {
    let mut found: Vec<&Value> = ONE.iter().filter_map(|it| schema.get(it)).collect();
    found.extend(LIST.iter().filter_map(|it| schema.get(it)?.as_array()).flatten());
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
    found.extend(dependent.into_iter().flat_map(|it| it.values()));
    for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
        let Some(reference) = schema.get(keyword) else { continue };
        let pointer = reference.as_str().and_then(|it| it.strip_prefix('#')).filter(|_| keyword == "$ref");
        match pointer.and_then(|it| root.pointer(it)) {
            Some(target) => found.push(target),
            None => *is_open = true,
        }
    }
    found
}
