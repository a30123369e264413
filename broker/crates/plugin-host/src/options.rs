//! Schemas in a plugin's manifest for its options in `[linters.NAME]` of `broker.toml`: a part of JSON Schema, without
//! references.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The options of a plugin, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct OptionSchemas(BTreeMap<String, OptionSchema>);

/// Schema of one option, or of a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OptionSchema {
    #[serde(rename = "type")]
    kind: Kind,
    /// Description in one sentence.
    #[serde(default)]
    pub description: String,
    /// Value that holds if the option is not set; for people.
    pub default: Option<Value>,
    /// The values that there are.
    #[serde(rename = "enum")]
    choices: Option<Vec<Value>>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    /// Schema of each element of an array.
    items: Option<Box<OptionSchema>>,
    /// Schemas of an object's values.
    #[serde(default)]
    properties: OptionSchemas,
    /// Schema of the other values of an object, which has none without this.
    additional_properties: Option<Box<OptionSchema>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

/// Error in an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadOption {
    /// The option with what it is in: `rules.max`.
    pub path: String,
    pub message: String,
    /// The name or value that there is not, and those that there are.
    pub given: String,
    pub known: Vec<String>,
}

impl OptionSchemas {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &OptionSchema)> {
        self.0.iter().map(|(name, it)| (name.as_str(), it))
    }

    /// Fails unless the plugin has this option, and it can have this value.
    pub fn check(&self, name: &str, value: &Value) -> Result<(), BadOption> {
        self.check_in("", name, value, None)
    }

    fn check_in(
        &self,
        within: &str,
        name: &str,
        value: &Value,
        others: Option<&OptionSchema>,
    ) -> Result<(), BadOption> {
        let path = format!("{within}{name}");
        match self.0.get(name).or(others) {
            Some(schema) => schema.check(&path, value),
            None => Err(BadOption {
                path,
                message: "there is no such option".to_owned(),
                given: name.to_owned(),
                known: self.0.keys().cloned().collect(),
            }),
        }
    }

    /// JSON Schema of an object with these options.
    pub fn to_json(&self) -> Value {
        let properties: Map<_, _> = self.0.iter().map(|(name, it)| (name.clone(), it.to_json())).collect();
        json!({ "type": "object", "additionalProperties": false, "properties": properties })
    }
}

impl OptionSchema {
    fn check(&self, path: &str, value: &Value) -> Result<(), BadOption> {
        let bad = |message: String| BadOption {
            path: path.to_owned(),
            message,
            given: String::new(),
            known: Vec::new(),
        };
        let wrong = |message: String| Err(bad(message));
        if !self.kind.has(value) {
            return wrong(format!("it is {}, and should be {}", name_of(value), self.kind));
        }
        if let Some(choices) = self.choices.as_ref().filter(|it| !it.contains(value)) {
            let listed: Vec<_> = choices.iter().map(shown).collect();
            let given = value.as_str().unwrap_or_default().to_owned();
            let known = choices.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            let message = format!("it is {}, and can be {}", shown(value), listed.join(", "));
            return Err(BadOption { given, known, ..bad(message) });
        }
        let number = value.as_f64().unwrap_or_default();
        if let Some(least) = self.minimum.filter(|it| number < *it as f64) {
            return wrong(format!("it is {value}, and should be {least} or more"));
        }
        if let Some(most) = self.maximum.filter(|it| number > *it as f64) {
            return wrong(format!("it is {value}, and should be {most} or less"));
        }
        let items = self
            .items
            .iter()
            .flat_map(|items| value.as_array().into_iter().flatten().map(move |it| (items, it)));
        items
            .enumerate()
            .try_for_each(|(index, (items, it))| items.check(&format!("{path}[{index}]"), it))?;
        let (within, others) = (format!("{path}."), self.additional_properties.as_deref());
        let mut inner = value.as_object().into_iter().flatten();
        inner.try_for_each(|(name, it)| self.properties.check_in(&within, name, it, others))
    }

    /// JSON Schema of the option.
    pub fn to_json(&self) -> Value {
        let mut schema = Map::from_iter([("type".to_owned(), json!(self.kind.name()))]);
        let mut put = |key: &str, value: Option<Value>| _ = value.map(|it| schema.insert(key.to_owned(), it));
        put("description", Some(json!(self.description)).filter(|_| !self.description.is_empty()));
        put("default", self.default.clone());
        put("enum", self.choices.clone().map(Value::Array));
        put("minimum", self.minimum.map(Value::from));
        put("maximum", self.maximum.map(Value::from));
        put("items", self.items.as_ref().map(|it| it.to_json()));
        if self.kind == Kind::Object {
            let others = self.additional_properties.as_ref().map(|it| it.to_json());
            let inner = self.properties.to_json();
            put("properties", inner.get("properties").cloned());
            put("additionalProperties", Some(others.unwrap_or(Value::Bool(false))));
        }
        Value::Object(schema)
    }

    /// Kind of the values in words: `string`, `one of "a", "b"`.
    pub fn kind(&self) -> String {
        match (&self.choices, &self.items) {
            (Some(choices), _) => {
                format!("one of {}", choices.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            (None, Some(items)) => format!("array of {}", items.kind()),
            (None, None) => self.kind.name().to_owned(),
        }
    }
}

impl Kind {
    fn has(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// In a sentence, in TOML's words.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "`true` or `false`",
            Self::Array => "an array",
            Self::Object => "a table",
        })
    }
}

fn name_of(value: &Value) -> String {
    let kinds = [Kind::String, Kind::Integer, Kind::Number, Kind::Boolean, Kind::Array, Kind::Object];
    kinds.into_iter().find(|it| it.has(value)).map_or_else(
        || "nothing".to_owned(),
        |it| match it {
            Kind::Boolean => format!("`{value}`"),
            other => other.to_string(),
        },
    )
}

fn shown(value: &Value) -> String {
    format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMAS: &str = r#"
        words = { type = "array", items = { type = "string" }, description = "What is not to stay", default = ["TODO"] }
        most = { type = "integer", minimum = 0, maximum = 9 }
        style = { type = "string", enum = ["plain", "fancy"] }
        by-file = { type = "object", additionalProperties = { type = "boolean" } }
        limits = { type = "object", properties = { lines = { type = "integer" } } }
    "#;

    fn check(options: Value) -> String {
        let schemas: OptionSchemas = toml::from_str(SCHEMAS).unwrap();
        match options.as_object().unwrap().iter().try_for_each(|(name, it)| schemas.check(name, it)) {
            Ok(()) => "ok".to_owned(),
            Err(BadOption { path, message, known, .. }) => {
                format!("{path}: {message} {}", known.join("|")).trim().to_owned()
            }
        }
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(
            check(json!({ "words": ["TODO"], "most": 9, "style": "fancy", "by-file": { "a.c": true } })),
            "ok"
        );
        assert_eq!(check(json!({})), "ok");
        insta::assert_snapshot!(check(json!({ "word": 1 })), @"word: there is no such option by-file|limits|most|style|words");
        insta::assert_snapshot!(check(json!({ "words": "TODO" })), @"words: it is a string, and should be an array");
        insta::assert_snapshot!(check(json!({ "words": ["a", true] })), @"words[1]: it is `true`, and should be a string");
        insta::assert_snapshot!(check(json!({ "most": 10 })), @"most: it is 10, and should be 9 or less");
        insta::assert_snapshot!(check(json!({ "most": -1 })), @"most: it is -1, and should be 0 or more");
        insta::assert_snapshot!(check(json!({ "most": 1.5 })), @"most: it is a number, and should be an integer");
        insta::assert_snapshot!(check(json!({ "style": "plane" })), @"style: it is `plane`, and can be `plain`, `fancy` plain|fancy");
        insta::assert_snapshot!(check(json!({ "by-file": { "a.c": 1 } })), @"by-file.a.c: it is an integer, and should be `true` or `false`");
        insta::assert_snapshot!(check(json!({ "limits": { "line": 1 } })), @"limits.line: there is no such option lines");
    }

    #[test]
    fn is_json_schema() {
        let schemas: OptionSchemas = toml::from_str(SCHEMAS).unwrap();
        let schema = schemas.to_json();
        assert_eq!(schema["properties"]["words"]["items"], json!({ "type": "string" }));
        assert_eq!(schema["properties"]["by-file"]["additionalProperties"], json!({ "type": "boolean" }));
        assert_eq!(schema["properties"]["limits"]["additionalProperties"], json!(false));
        assert_eq!(
            schemas.iter().map(|(_, it)| it.kind()).collect::<Vec<_>>().join("; "),
            "object; object; integer; one of `plain`, `fancy`; array of string"
        );
    }

    #[test]
    fn keywords_that_are_not_known_are_mistakes() {
        let error = toml::from_str::<OptionSchemas>("a = { type = 'string', pattern = 'x' }").unwrap_err();
        assert!(error.message().starts_with("unknown field `pattern`"), "{error}");
    }
}
