//! Reads schemas below the workspace's root, and nothing above it.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The JSON file at `path` below `root`.
pub(crate) fn json(root: &Path, path: &str) -> Result<Value, String> {
    let text = fs::read(root.join(path)).map_err(|it| format!("`{path}` cannot be read: {it}"))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    serde_json::from_slice(text).map_err(|it| format!("`{path}` is no JSON: {it}"))
}

/// `reference`, as a file at `path` says it, from the root; nothing if that is above the root.
pub(crate) fn relative(path: &str, reference: &str) -> Option<String> {
    let mut names: Vec<&str> = path.split('/').collect();
    names.pop();
    for name in reference.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stay_below_the_root() {
        assert_eq!(relative("a/b.json", "./c.json").as_deref(), Some("a/c.json"));
        assert_eq!(relative("a/b.json", "../c.json").as_deref(), Some("c.json"));
        assert_eq!(relative("a/b.json", "../../c.json"), None);
    }
}
