//! Keys of `broker.toml`, their descriptions and values, from its JSON schema.

use std::sync::OnceLock;

use serde_json::Value;

/// The schema, generated once.
fn root() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(config::schema)
}

/// A key of a table, with its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) description: String,
}

/// The keys of the table at `path`.
pub(super) fn keys(path: &[String]) -> Vec<Key> {
    let mut keys = Vec::new();
    for node in with_items(at(path)) {
        let Some(properties) = node.get("properties").and_then(Value::as_object) else { continue };
        keys.extend(
            properties.iter().map(|(name, node)| Key { name: name.clone(), description: description(node) }),
        );
    }
    keys.retain(|it| it.name != "$schema");
    keys
}

/// Description of the key at `path`; empty if the key is unknown.
pub(super) fn meaning(path: &[String]) -> String {
    let Some((name, table)) = path.split_last() else { return String::new() };
    keys(table).into_iter().find(|it| it.name == *name).map(|it| it.description).unwrap_or_default()
}

/// Values that the schema lists for the key at `path`.
pub(super) fn values(path: &[String]) -> Vec<String> {
    let nodes = with_items(at(path));
    let listed = |it: &Value| {
        let of_enum = it.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
        of_enum.into_iter().chain(it.get("const").cloned())
    };
    let all = nodes.into_iter().flat_map(listed);
    all.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// Whether strings in the value at `path` are names of rules.
pub(super) fn names_rules(path: &[String]) -> bool {
    let last = path.last().map(String::as_str).unwrap_or_default();
    last.ends_with("select") || last == "ignore"
}

/// Schemas of the value at `path`.
fn at(path: &[String]) -> Vec<&'static Value> {
    let mut nodes = expanded(root());
    for name in path {
        let step = |node: &'static Value| {
            let property = node.get("properties").and_then(|it| it.get(name));
            property.or_else(|| node.get("additionalProperties").filter(|it| it.is_object()))
        };
        nodes = with_items(nodes).into_iter().filter_map(step).flat_map(expanded).collect();
    }
    nodes
}

/// The schemas, and those of the items of their lists.
fn with_items(mut nodes: Vec<&'static Value>) -> Vec<&'static Value> {
    let items: Vec<_> = nodes.iter().filter_map(|it| it.get("items")).flat_map(expanded).collect();
    nodes.extend(items);
    nodes
}

/// A schema, and those that it refers to by `$ref`, `anyOf`, `oneOf` or `allOf`.
fn expanded(node: &'static Value) -> Vec<&'static Value> {
    let mut nodes = vec![node];
    let mut next = 0;
    while let Some(node) = nodes.get(next).copied() {
        next += 1;
        if let Some(pointer) = node.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#')) {
            nodes.extend(root().pointer(pointer));
        }
        for several in ["anyOf", "oneOf", "allOf"] {
            nodes.extend(node.get(several).and_then(Value::as_array).into_iter().flatten());
        }
    }
    nodes
}

fn description(node: &'static Value) -> String {
    let nodes = expanded(node);
    let told = nodes.iter().find_map(|it| it.get("description").and_then(Value::as_str));
    told.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(it: &[&str]) -> Vec<String> {
        it.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn keys_are_found_in_tables_of_any_depth() {
        let names = |of: &[&str]| keys(&path(of)).into_iter().map(|it| it.name).collect::<Vec<_>>();
        assert!(names(&[]).contains(&"select".to_owned()));
        assert!(names(&["files"]).contains(&"exclude".to_owned()));
        assert!(names(&["checkers", "anything"]).contains(&"command".to_owned()));
        assert!(names(&["overrides"]).iter().any(|it| it == "severity"), "{:?}", names(&["overrides"]));
        assert!(names(&["nothing", "here"]).is_empty());
    }

    #[test]
    fn values_are_those_of_the_schema() {
        let severities = values(&path(&["severity", "python/F401"]));
        assert!(severities.contains(&"error".to_owned()), "{severities:?}");
        assert!(!meaning(&path(&["select"])).is_empty());
    }
}
