//! Arguments of a call as clients send them, made into what the tool's schema says.
//!
//! Models and the clients around them send a number as `10.0` or as text, a list as text or as its only element, `null` for
//! what they leave out, and arguments that other programs' tools of the same name have. All of that has one meaning, and is
//! understood here for all tools at once; the schema that is shown stays as strict as it is. An argument that no tool knows is
//! noted in the answer, and refused only by tools whose work cannot be undone.

use std::{cell::RefCell, path::Path};

use serde_json::{Map, Number, Value};

use crate::reply::ToolError;

/// Arguments of other programs' tools that mean nothing where a tool does not have them, and the one that clients make up for
/// tools without any.
const IGNORED: [&str; 9] = [
    "explanation",
    "instructions",
    "is_background",
    "require_user_approval",
    "blocking",
    "target_directories",
    "random_string",
    "-i",
    "-n",
];

/// Other names of arguments, as tools of Cursor, Claude Code and codex have them, and what ours may call the same.
const ALIASES: [(&str, &[&str]); 10] = [
    ("relative_workspace_path", &["target_file", "paths"]),
    ("file_path", &["target_file", "paths"]),
    ("path", &["target_file", "relative_workspace_path", "paths", "include_pattern"]),
    ("pattern", &["query"]),
    ("to", &["to_revision"]),
    ("glob", &["include_pattern"]),
    ("cmd", &["command"]),
    ("-A", &["after"]),
    ("-B", &["before"]),
    ("-C", &["context"]),
];

/// Arguments that are paths or globs.
const PATHS: [&str; 5] =
    ["target_file", "paths", "relative_workspace_path", "include_pattern", "exclude_pattern"];

/// The arguments of a tool, each of the type that its schema says.
pub(crate) struct Normalised {
    pub(crate) arguments: Value,
    /// Names of arguments that the tool does not have.
    pub(crate) unknown: Vec<String>,
}

/// Makes arguments of a call into those of the tool. Paths below `root`, the workspace's folder, become relative to it.
pub(crate) fn normalised(
    tool: &str,
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
    root: &Path,
) -> Result<Normalised, ToolError> {
    let unknown = RefCell::default();
    let at = At { tool, path: String::new(), unknown: &unknown };
    let mut arguments = object(&at, schema, arguments)?;
    make_relative(root, &mut arguments);
    Ok(Normalised { arguments: Value::Object(arguments), unknown: unknown.into_inner() })
}

fn make_relative(root: &Path, arguments: &mut Map<String, Value>) {
    for (name, value) in arguments {
        match value {
            Value::String(text) if PATHS.contains(&&**name) => *text = relative(root, text),
            Value::Array(all) => {
                for item in all {
                    match item {
                        Value::String(text) if PATHS.contains(&&**name) => *text = relative(root, text),
                        Value::Object(fields) => make_relative(root, fields),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

fn relative(root: &Path, text: &str) -> String {
    let inside = Path::new(text).strip_prefix(root).ok().and_then(Path::to_str);
    inside.map_or_else(|| text.to_owned(), |it| if it.is_empty() { ".".to_owned() } else { it.to_owned() })
}

/// Place of a value: a path within the arguments of a tool.
struct At<'a> {
    tool: &'a str,
    path: String,
    unknown: &'a RefCell<Vec<String>>,
}

impl At<'_> {
    fn field(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { tool: self.tool, path, unknown: self.unknown }
    }

    fn item(&self, index: usize) -> Self {
        Self { tool: self.tool, path: format!("{}[{index}]", self.path), unknown: self.unknown }
    }

    fn error(&self, message: &str) -> ToolError {
        ToolError::new(format!("arguments of `{}`: {message}", self.tool))
    }

    fn wrong(&self, value: &Value, kind: Kind) -> ToolError {
        let shown = value.to_string();
        let shown = match shown.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown,
        };
        let (wanted, remedy) = kind.wanted();
        self.error(&format!("`{}` is `{shown}`, but has to be {wanted}", self.path)).hint(remedy)
    }
}

/// Characters of a wrong value that are shown.
const MAX_SHOWN: usize = 60;

/// The types of our schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Boolean,
    Text,
    List,
    Object,
}

impl Kind {
    fn of(schema: &Value) -> Option<Self> {
        match schema["type"].as_str()? {
            "integer" => Some(Self::Integer),
            "boolean" => Some(Self::Boolean),
            "string" => Some(Self::Text),
            "array" => Some(Self::List),
            "object" => Some(Self::Object),
            _ => None,
        }
    }

    /// Name of the kind for an error message, and the remedy.
    fn wanted(self) -> (&'static str, &'static str) {
        match self {
            // All of them count something.
            Self::Integer => ("a whole number from 0 on", "send a number, such as 10"),
            Self::Boolean => ("true or false", "send true or false, or leave it out"),
            Self::Text => ("text", "send a string"),
            Self::List => ("a list", "send a list, in brackets"),
            Self::Object => ("an object", "send an object, as the tool's input schema says"),
        }
    }
}

fn object(
    at: &At<'_>,
    schema: &Map<String, Value>,
    mut given: Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let none = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    rename(fields, &mut given);
    given.retain(|name, value| !value.is_null() && (fields.contains_key(name) || !is_ignored(name)));
    let (given, unknown): (Map<_, _>, Map<_, _>) =
        given.into_iter().partition(|(name, _)| fields.contains_key(name));
    at.unknown.borrow_mut().extend(unknown.into_iter().map(|(name, _)| at.field(&name).path));
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<_> = required.filter_map(Value::as_str).collect();
    if let Some(name) = required.iter().find(|it| !given.contains_key(**it)) {
        let wanted = Kind::of(&fields[*name]).map_or("as the input schema says", |it| it.wanted().0);
        let remedy = format!("it cannot be left out, and has to be {wanted}");
        return Err(at.error(&format!("`{}` is missing", at.field(name).path)).hint(remedy));
    }
    let mut taken = Map::new();
    for (name, given) in given {
        // Without a text, a replacement deletes.
        let may_be_empty = required.contains(&&*name) || name == "new_string";
        if let Some(value) = value(&at.field(&name), &fields[&name], given, may_be_empty)? {
            taken.insert(name, value);
        }
    }
    Ok(taken)
}

fn is_ignored(name: &str) -> bool {
    IGNORED.contains(&name) || name == "relative_workspace_path"
}

/// Gives arguments the tool's own names, unless these are given as well.
fn rename(fields: &Map<String, Value>, given: &mut Map<String, Value>) {
    for (alias, names) in ALIASES {
        if fields.contains_key(alias) {
            continue;
        }
        let is_free = |it: &&&str| given.get(**it).is_none_or(Value::is_null);
        let Some(name) = names.iter().find(|it| fields.contains_key(**it)).filter(is_free) else { continue };
        if let Some(value) = given.remove(alias) {
            given.insert((*name).to_owned(), value);
        }
    }
}

/// A value of the type that the schema says. `None` if nothing was meant by it.
fn value(at: &At<'_>, schema: &Value, given: Value, may_be_empty: bool) -> Result<Option<Value>, ToolError> {
    let Some(kind) = Kind::of(schema) else { return Ok(Some(given)) };
    // Clients that show a form send what was not filled in.
    if given == "" && !may_be_empty {
        return Ok(None);
    }
    let wrong = |given: &Value| at.wrong(given, kind);
    match kind {
        Kind::Integer => integer(&given).map(Value::Number).ok_or_else(|| wrong(&given)),
        Kind::Boolean => boolean(&given).map(Value::Bool).ok_or_else(|| wrong(&given)),
        Kind::Text if given.is_string() => Ok(given),
        Kind::Text => Err(wrong(&given)),
        Kind::List => {
            let items = list(&schema["items"], given).map_err(|it| wrong(&it))?;
            let item =
                |(index, it)| Ok(value(&at.item(index), &schema["items"], it, true)?.unwrap_or_default());
            items.into_iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::Array)
        }
        Kind::Object => match (schema.as_object(), parsed(&given)) {
            (Some(schema), Value::Object(given)) if schema.contains_key("properties") => {
                object(at, schema, given).map(Value::Object)
            }
            // Its names are the caller's own, such as paths.
            (_, given @ Value::Object(_)) => Ok(given),
            _ => Err(wrong(&given)),
        },
    }
    .map(Some)
}

fn integer(given: &Value) -> Option<Number> {
    match given {
        Value::Number(it) if it.is_f64() => whole(it.as_f64()?),
        Value::Number(it) => it.as_u64().map(Number::from),
        Value::String(text) => {
            let text = text.trim();
            text.parse::<u64>().ok().map(Number::from).or_else(|| whole(text.parse().ok()?))
        }
        _ => None,
    }
}

/// A number without a fraction, if it is small enough to be exact.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and small")]
fn whole(number: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then(|| Number::from(number as u64))
}

fn boolean(given: &Value) -> Option<bool> {
    match given {
        Value::Bool(it) => Some(*it),
        Value::String(text) => text.trim().to_lowercase().parse().ok(),
        _ => None,
    }
}

/// The elements of a list: as it is, as text, or the only one in its place. The value itself if it is none.
fn list(items: &Value, given: Value) -> Result<Vec<Value>, Value> {
    let is_text = Kind::of(items) == Some(Kind::Text);
    match parsed(&given) {
        // A name may look like a list: `[id]`, `[1]`.
        Value::Array(list) if !given.is_string() || !is_text || list.iter().all(Value::is_string) => Ok(list),
        one @ Value::Object(_) if Kind::of(items) == Some(Kind::Object) => Ok(vec![one]),
        _ if is_text && given.is_string() => Ok(vec![given]),
        _ => Err(given),
    }
}

/// Parses a text that holds a JSON list or object; any other value is returned as it is.
fn parsed(given: &Value) -> Value {
    let text = given.as_str().map(str::trim).filter(|it| it.starts_with(['[', '{']));
    let found = text.and_then(|it| serde_json::from_str(it).ok());
    found.unwrap_or_else(|| given.clone())
}

#[cfg(test)]
mod tests;
