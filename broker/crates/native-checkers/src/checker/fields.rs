//! Paths of values in what a checker prints as JSON.

use serde::Deserialize;

/// Paths of values in JSON: names of members with dots between them. `[]` stands for each element of an array. A path that begins
/// with `^` is in the object that holds the array.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fields {
    /// The findings. Without it the value itself is one.
    #[serde(default)]
    pub items: String,
    pub path: String,
    pub line: Option<String>,
    pub column: Option<String>,
    pub end_line: Option<String>,
    pub end_column: Option<String>,
    pub severity: Option<String>,
    pub code: Option<String>,
    pub name: Option<String>,
    pub message: String,
    /// Text that is added to the message.
    pub hint: Option<String>,
    pub url: Option<String>,
    pub fix: Option<FixFields>,
    /// The files that were looked at, be it without findings, from the whole value.
    pub listed: Option<String>,
}

/// Paths of the edits of a fix: by lines and columns, or by a range of offsets from the start of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FixFields {
    /// The edits. Without it the finding has one at most.
    pub edits: Option<String>,
    /// An array of two.
    pub range: Option<String>,
    pub line: Option<String>,
    pub column: Option<String>,
    pub end_line: Option<String>,
    pub end_column: Option<String>,
    pub text: String,
    /// Whether the fix is `safe`; `unsafe` without it. Any other word makes it no fix.
    pub applicability: Option<String>,
}
