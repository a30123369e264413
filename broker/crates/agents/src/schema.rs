//! JSON schemas of arguments and results, short enough that a model can be given all of them.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The shape of a tool's arguments.
pub(crate) fn of_input<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = generated::<T>();
    prune(&mut schema);
    schema
}

/// Fields that most results have, and that the instructions tell of once.
const COMMON: [&str; 2] = ["branch", "revision"];

/// The shape of a tool's result: the names of its own fields, which say what they are.
pub(crate) fn of_output<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = generated::<T>();
    prune(&mut schema);
    // Results leave out fields that are empty or unknown.
    for key in ["description", "required"] {
        schema.remove(key);
    }
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| !COMMON.contains(&&**name));
        fields.values_mut().for_each(|it| *it = Value::Object(Map::new()));
    }
    schema
}

fn generated<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// Takes out what says nothing to a client that sends what is described.
fn prune(schema: &mut Map<String, Value>) {
    for key in ["$schema", "additionalProperties", "title", "format", "default", "minimum", "maximum"] {
        schema.remove(key);
    }
    // `null` stands for a field that is not there.
    if let Some(Value::Array(types)) = schema.get("type") {
        let only: Vec<_> = types.iter().filter(|it| *it != "null").cloned().collect();
        if let [only] = only.as_slice() {
            schema.insert("type".to_owned(), only.clone());
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|it| !it.is_null());
    }
    if let Some(Value::Array(options)) = schema.get("anyOf") {
        let only: Vec<_> = options.iter().filter(|it| it["type"] != "null").cloned().collect();
        if let [Value::Object(only)] = only.as_slice() {
            schema.remove("anyOf");
            schema.extend(only.clone());
        }
    }
    for (key, value) in schema {
        match value {
            // The names of fields are no keywords.
            Value::Object(fields) if key == "properties" => fields.values_mut().for_each(walk),
            value => walk(value),
        }
    }
}

fn walk(value: &mut Value) {
    match value {
        Value::Object(schema) => prune(schema),
        Value::Array(values) => values.iter_mut().for_each(walk),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Named {
        title: String,
        format: Option<u32>,
    }

    #[test]
    fn results_have_names_alone() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its shape is looked at")]
        struct Answer {
            branch: String,
            total: u32,
        }
        let schema = Value::Object(of_output::<Answer>());
        insta::assert_snapshot!(schema, @r#"{"properties":{"total":{}},"type":"object"}"#);
    }

    #[test]
    fn fields_may_be_named_as_keywords() {
        let schema = Value::Object(of_input::<Named>());
        insta::assert_snapshot!(schema, @r#"{"properties":{"format":{"type":"integer"},"title":{"type":"string"}},"required":["title"],"type":"object"}"#);
    }
}
