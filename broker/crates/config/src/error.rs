//! What is wrong with a configuration file, and where.

use std::{fmt, ops::Range};

use lint::{LineColumn, LineTable};
use overlay::WorkspacePath;

use super::closest;

/// A configuration file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    pub file: WorkspacePath,
    /// `None` if it is about the file as such.
    pub at: Option<LineColumn>,
    pub message: String,
    pub hint: Option<String>,
}

impl ConfigError {
    pub(super) fn of_file(file: &WorkspacePath, message: impl Into<String>) -> Self {
        Self { file: file.clone(), at: None, message: message.into(), hint: None }
    }

    /// `span` is in bytes of `text`.
    pub(super) fn at(
        file: &WorkspacePath,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let start = u32::try_from(span.start).unwrap_or(u32::MAX);
        let at = LineTable::new(text.as_bytes()).scalar(start);
        Self { at: Some(at), ..Self::of_file(file, message) }
    }

    pub(super) fn of_toml(file: &WorkspacePath, text: &str, error: &toml::de::Error) -> Self {
        let (message, hint) = explain(error.message());
        let placed = match error.span() {
            Some(span) => Self::at(file, text, span, message),
            None => Self::of_file(file, message),
        };
        Self { hint, ..placed }
    }

    /// What to do about it.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// serde says "unknown field `a`, expected one of `b`, `c`"; people want to know which they meant.
fn explain(message: &str) -> (String, Option<String>) {
    let message = message.trim_end();
    if let Some(wanted) = message.strip_prefix("wanted ") {
        return (format!("expected {wanted}"), None);
    }
    let of_kind = ["invalid type: ", "invalid value: "].iter().find_map(|it| message.strip_prefix(it));
    if let Some((found, expected)) = of_kind.and_then(|it| it.rsplit_once(", expected ")) {
        return (of_type(found, expected), None);
    }
    let Some((said, expected)) = message.split_once(", expected") else { return (message.to_owned(), None) };
    let (kind, given) = match said.split_once('`') {
        Some(("unknown field ", given)) => ("key", given.trim_end_matches('`')),
        Some(("unknown variant ", given)) => ("value", given.trim_end_matches('`')),
        _ => return (message.to_owned(), None),
    };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let hint = match closest(given, known.iter().copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("there is {}", known.join(", ")),
    };
    (format!("unknown {kind} `{given}`"), Some(hint))
}

/// serde's "invalid type: string "a", expected a sequence", in the words of TOML.
fn of_type(found: &str, expected: &str) -> String {
    format!("expected {}, not {}", toml_kind(expected), toml_value(found))
}

fn toml_kind(expected: &str) -> &str {
    const NUMBERS: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "f64"];
    match expected.trim_start_matches("a ") {
        "sequence" => "a list",
        "map" => "a table",
        "boolean" => "`true` or `false`",
        it if it.starts_with("struct ") => "a table",
        it if NUMBERS.contains(&it.trim_start_matches("nonzero ")) => "a number",
        _ => expected,
    }
}

fn toml_value(found: &str) -> String {
    match found.split_once(' ') {
        Some(("integer" | "floating", number)) => {
            format!("the number {}", number.trim_start_matches("point "))
        }
        Some(("boolean", it)) => it.to_owned(),
        Some(("string", it)) => format!("the string {it}"),
        _ if found == "sequence" => "a list".to_owned(),
        _ if found == "map" => "a table".to_owned(),
        _ => found.to_owned(),
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if let Some(at) = self.at {
            write!(f, "{}:{}:", at.line, at.column)?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for ConfigError {}

/// A message for the user, with a hint; the operation was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupFailure {
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl SetupFailure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for SetupFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SetupFailure {}

impl From<ConfigError> for SetupFailure {
    fn from(error: ConfigError) -> Self {
        Self { message: error.to_string(), hint: error.hint }
    }
}
