//! Files that become YAML (or are JSON) only when something else has been done with them.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;
use std::path::Path;

use broker_plugin_sdk::template::{Tag, tags, unquoted};

/// Whether broken YAML is a template: there is a tag outside of quotes.
pub(crate) fn is_template(text: &str) -> bool {
    tags(&unquoted(text.as_bytes(), b"\"'"), &Tag::UNQUOTED).next().is_some()
}

/// Whether the file is a template of a Helm chart, even if it looks like YAML.
pub(crate) fn is_of_helm(path: &str, text: &str, root: &Path) -> bool {
    if !text.contains("{{") {
        return false;
    }
    let mut above = Path::new(path).ancestors().skip(1);
    let templates = above.find(|it| it.file_name().is_some_and(|it| it == "templates"));
    let chart = templates.and_then(Path::parent).map(|it| root.join(it).join("Chart.yaml"));
    chart.is_some_and(|it| fs::metadata(it).is_ok())
}

/// Whether the file, whose name allows both, is JSON with comments.
pub(crate) fn is_json(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".eslintrc", ".prettierrc"].contains(&name)
        && matches!(text.trim_start().bytes().next(), None | Some(b'{' | b'/'))
}
