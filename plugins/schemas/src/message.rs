//! Messages on violations.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

use crate::known::Known;
use crate::place::{self, Segment, ViolationPart};
use crate::{Violation, causes, nearest};

/// Number of the allowed words that a message lists.
const MAX_OPTIONS: usize = 8;

/// Longer texts of the file are cut.
const LONGEST: usize = 40;

/// Tells what breaks `schema`.
pub(crate) struct Teller<'a> {
    pub(crate) schema: &'a Value,
    /// The whole file.
    pub(crate) value: &'a Value,
    /// Path in the file of the part that the schema is for.
    pub(crate) before: &'a [Segment],
}

impl Teller<'_> {
    /// Tells what is wrong with a value by all that is found in it.
    pub(crate) fn tell_all(&self, errors: &[ValidationError<'_>], found: &mut Vec<Violation>) {
        for error in causes::apart(errors) {
            match error.kind() {
                Kind::UnevaluatedProperties { unexpected } => {
                    self.unevaluated(error, unexpected, has_others(error, errors), found);
                }
                // Items after one that does not fit count as not looked at.
                Kind::UnevaluatedItems { .. } if has_others(error, errors) => {}
                _ => self.tell(error, found),
            }
        }
    }

    fn tell(&self, error: &ValidationError<'_>, found: &mut Vec<Violation>) {
        let instance: &Value = error.instance();
        match error.kind() {
            Kind::AdditionalProperties { unexpected } => {
                let known = self.known_properties(error);
                unexpected.iter().for_each(|it| self.unknown(error, it, &known, found));
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                nearest::tell(self, error, context, found);
            }
            Kind::PropertyNames { error: inner } if !matches!(inner.kind(), Kind::Format { .. }) => {
                let key = inner.instance().as_str().unwrap_or_default().to_owned();
                let message =
                    format!("as a key, {}", simple(inner.kind(), inner.instance(), self.schema_of(inner)));
                self.push(error, Some(&key), ViolationPart::Key, message, found);
            }
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                self.push(error, None, ViolationPart::Whole, format!("`{name}` is missing"), found);
            }
            // Only drafts of JSON Schema check it, and people write patterns for other engines than this one.
            Kind::Format { .. } | Kind::PropertyNames { .. } => {}
            Kind::FalseSchema => {
                self.push(error, None, ViolationPart::Key, "this is not allowed here".to_owned(), found)
            }
            kind => {
                let message = simple(kind, instance, self.schema_of(error));
                self.push(error, None, ViolationPart::Value, message, found);
            }
        }
    }

    /// Properties that no branch of the schema took. Where more is wrong with the object, a branch may have failed for that
    /// reason, and only what none of them has a word for is unknown.
    fn unevaluated(
        &self,
        error: &ValidationError<'_>,
        unexpected: &[String],
        has_others: bool,
        found: &mut Vec<Violation>,
    ) {
        let known = self.schema_of(error).map(|it| Known::of(self.schema, it));
        let names = known.as_ref().map(Known::names).unwrap_or_default();
        let is_known = |it: &&String| known.as_ref().is_none_or(|known| known.has(it));
        for key in unexpected.iter().filter(|it| !has_others || !is_known(it)) {
            self.unknown(error, key, &names, found);
        }
    }

    fn unknown(&self, error: &ValidationError<'_>, key: &str, known: &[String], found: &mut Vec<Violation>) {
        let message = match known.iter().any(|it| it == key) {
            true => format!("`{key}` is not allowed here"), // by the branch that holds
            false => format!("unknown property `{key}`{}", did_you_mean(key, known)),
        };
        self.push(error, Some(key), ViolationPart::Key, message, found);
    }

    pub(crate) fn push(
        &self,
        error: &ValidationError<'_>,
        key: Option<&str>,
        place: ViolationPart,
        message: String,
        found: &mut Vec<Violation>,
    ) {
        let part = self.before.iter().try_fold(self.value, |at, step| match step {
            Segment::Key(key) => at.get(key),
            Segment::Index(index) => at.get(index),
        });
        let steps = part.map(|it| place::segments(error.instance_path().as_str(), it)).unwrap_or_default();
        let key = key.map(|it| Segment::Key(it.to_owned()));
        let path = self.before.iter().cloned().chain(steps).chain(key).collect();
        found.push(Violation { path, place, message });
    }

    /// The schema object that the broken keyword stands in.
    fn schema_of(&self, error: &ValidationError<'_>) -> Option<&Value> {
        let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(parent)
    }

    fn known_properties(&self, error: &ValidationError<'_>) -> Vec<String> {
        let properties = self.schema_of(error).and_then(|it| it.get("properties")?.as_object());
        properties.into_iter().flat_map(|it| it.keys().cloned()).collect()
    }
}

/// Whether the value of `error`, or a part of it, has errors other than left-over properties and items.
fn has_others(error: &ValidationError<'_>, all: &[ValidationError<'_>]) -> bool {
    let at = error.instance_path().as_str();
    all.iter().any(|it| {
        let rest = it.instance_path().as_str().strip_prefix(at);
        let is_left_over =
            matches!(it.kind(), Kind::UnevaluatedProperties { .. } | Kind::UnevaluatedItems { .. });
        rest.is_some_and(|it| it.starts_with('/') || it.is_empty() && !is_left_over)
    })
}

/// Returns the message that a value alone allows.
fn simple(kind: &Kind, instance: &Value, schema: Option<&Value>) -> String {
    let value = short(instance);
    match kind {
        Kind::Type { kind } => format!("should be {}, not {}", types(type_set(kind)), type_of(instance)),
        Kind::Enum { options } => not_one_of(instance, &words(options)),
        Kind::Constant { expected_value } => format!("should be {}, not {value}", short(expected_value)),
        // Often said by `minLength` as well; told alike, one of the two is dropped.
        Kind::Pattern { .. } if instance.as_str() == Some("") => "should not be empty".to_owned(),
        Kind::Pattern { pattern } => format!("{value} does not match the pattern `{pattern}`"),
        Kind::Minimum { limit } => format!("{value} is less than {limit}"),
        Kind::Maximum { limit } => format!("{value} is more than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("{value} is not more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("{value} is not less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("{value} is not a multiple of {multiple_of}"),
        Kind::MinLength { limit: 1 } => "should not be empty".to_owned(),
        Kind::MinLength { limit } => format!("{value} is shorter than {limit} characters"),
        Kind::MaxLength { limit } => format!("{value} is longer than {limit} characters"),
        Kind::MinItems { limit: 1 } => "should have at least one item".to_owned(),
        Kind::MinItems { limit } => format!("should have at least {limit} items"),
        Kind::MaxItems { limit } => format!("should have at most {limit} items"),
        Kind::AdditionalItems { limit } => format!("should have at most {limit} items"),
        Kind::MinProperties { limit: 1 } => "should not be empty".to_owned(),
        Kind::MinProperties { limit } => format!("should have at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("should have at most {limit} properties"),
        Kind::UniqueItems => "has an item more than once".to_owned(),
        Kind::Contains => "has none of the items that it should have".to_owned(),
        Kind::Custom { message, .. } => message.clone(),
        Kind::OneOfMultipleValid { .. } => {
            "has several forms at once, of which only one is allowed".to_owned()
        }
        Kind::Not { .. } => not(schema),
        other => format!("does not fit the schema (`{}`)", other.keyword()),
    }
}

/// Returns the message on a violated `not`: for properties that exclude each other it is more specific than for the rest.
fn not(schema: Option<&Value>) -> String {
    let required = schema.and_then(|it| it.pointer("/not/required")?.as_array());
    match required.map(|it| it.iter().filter_map(Value::as_str).map(code).collect::<Vec<_>>()) {
        Some(names) if names.len() > 1 => format!("should not have {} together", list(&names, "and")),
        Some(names) if names.len() == 1 => format!("should not have {} here", names[0]),
        _ => "is not allowed here".to_owned(),
    }
}

/// `should be one of …`, with what is most like the value.
pub(crate) fn not_one_of(instance: &Value, options: &[String]) -> String {
    if options.len() == 1 {
        return format!("should be {}, not {}", code(&options[0]), short(instance));
    }
    let given = instance.as_str().unwrap_or_default();
    let hint = did_you_mean(given, options);
    let mut told: Vec<String> = options.iter().take(MAX_OPTIONS).map(code).collect();
    match options.len() - told.len() {
        0 => {}
        more => told.push(format!("{more} more")),
    }
    let told = if hint.is_empty() { format!(": {}", list(&told, "or")) } else { hint };
    format!("{} is not one of what is allowed{told}", short(instance))
}

/// `; did you mean `x`?`, where something is like it.
pub fn did_you_mean(given: &str, known: &[String]) -> String {
    let lower = given.to_lowercase();
    let distance = |it: &String| strsim::damerau_levenshtein(&lower, &it.to_lowercase());
    let most = (given.chars().count() / 3).min(3);
    let nearest = known.iter().map(|it| (distance(it), it)).min();
    match nearest {
        Some((distance, it)) if distance <= most && !given.is_empty() => {
            format!("; did you mean {}?", code(it))
        }
        _ => String::new(),
    }
}

/// The words of an `enum`.
pub(crate) fn words(options: &Value) -> Vec<String> {
    options.as_array().map(|it| it.iter().map(word).collect()).unwrap_or_default()
}

/// `a`, `b` or `c`.
pub(crate) fn list(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}

pub(crate) fn code(word: impl AsRef<str>) -> String {
    format!("`{}`", word.as_ref())
}

/// A value as it is told: text has its quotes where it would read as a number, `true`, `false`, `null` or nothing
/// without them.
fn word(value: &Value) -> String {
    let is_other = |it: &str| {
        serde_json::from_str::<Value>(it).is_ok_and(|it| it.is_number() || it.is_boolean() || it.is_null())
    };
    match value.as_str() {
        Some(text) if !text.is_empty() && !is_other(text) => text.to_owned(),
        _ => value.to_string(),
    }
}

/// The value, where it is short enough to be told.
pub(crate) fn short(value: &Value) -> String {
    if value.is_array() || value.is_object() {
        return type_of(value).to_owned();
    }
    let text = word(value);
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        None if line.len() == text.len() => code(text),
        None => format!("`{line}…`"),
        Some((end, _)) => format!("`{}…`", &line[..end]),
    }
}

pub(crate) fn type_set(kind: &TypeKind) -> JsonTypeSet {
    match kind {
        TypeKind::Single(it) => JsonTypeSet::empty().insert(*it),
        TypeKind::Multiple(it) => *it,
    }
}

pub(crate) fn types(set: JsonTypeSet) -> String {
    let table = [
        (JsonType::String, "a string"),
        (JsonType::Boolean, "true or false"),
        (JsonType::Integer, "a whole number"),
        (JsonType::Number, "a number"),
        (JsonType::Array, "an array"),
        (JsonType::Object, "an object"),
        (JsonType::Null, "null"),
    ];
    let is_in = |it: &&(JsonType, &str)| {
        set.contains(it.0) && !(it.0 == JsonType::Integer && set.contains(JsonType::Number))
    };
    let told: Vec<String> = table.iter().filter(is_in).map(|it| it.1.to_owned()).collect();
    list(&told, "or")
}

pub(crate) fn json_type(value: &Value) -> JsonType {
    match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Boolean,
        Value::Number(_) => JsonType::Number,
        Value::String(_) => JsonType::String,
        Value::Array(_) => JsonType::Array,
        Value::Object(_) => JsonType::Object,
    }
}

pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
