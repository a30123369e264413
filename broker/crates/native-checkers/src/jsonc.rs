//! Configurations in JSON with comments.

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use overlay::{View, WorkspacePath};
use serde_json::Value;

/// Reads a file, or says why it cannot be understood; `None` if it is not there or no text.
pub(crate) fn read(view: &dyn View, path: &WorkspacePath) -> Option<Result<Value, String>> {
    let text = String::from_utf8(view.open(path).ok()?.to_vec()).ok()?;
    let parsed = parse_to_ast(&text, &CollectOptions::default(), &ParseOptions::default());
    let value = parsed.map(|it| it.value.map(Value::from).unwrap_or_default());
    Some(value.map_err(|error| format!("`{path}` cannot be read: {error}")))
}
