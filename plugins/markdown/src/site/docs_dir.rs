//! The folder with the pages of a site that MkDocs makes: `docs_dir`, relative to the configuration file, which may be in a
//! folder beside that of the pages.
//!
//! Left out: the other options, and what `INHERIT` brings in.

use std::path::{Component, Path, PathBuf};

use broker_plugin_sdk::config::text_of;

const CONFIGS: [&str; 3] = ["mkdocs.yml", "mkdocs.yaml", "properdocs.yml"];

/// Folders besides that of the project itself with the configuration of its documentation.
const BELOW: [&str; 11] =
    ["", "support", "docs", "doc", "tools", "website", "site", "mkdocs", "config", "scripts", "build"];

/// The folders with pages of which a configuration in `folder`, or right below it, says that they are.
pub(super) fn of(folder: &Path) -> Vec<PathBuf> {
    let places = BELOW.iter().map(|it| if it.is_empty() { folder.to_path_buf() } else { folder.join(it) });
    let configs = places.flat_map(|place| CONFIGS.map(|it| (place.clone(), place.join(it))));
    configs.filter_map(|(place, config)| Some(normal(&place.join(said(&text_of(&config).ok()?)?)))).collect()
}

/// The value of `docs_dir`. Without it, the folder is called `docs`.
fn said(config: &str) -> Option<&str> {
    let value = config.lines().find_map(|it| it.strip_prefix("docs_dir:"))?;
    let value = value.split(" #").next().unwrap_or_default().trim();
    let value = value.trim_matches(|it| matches!(it, '"' | '\''));
    (!value.is_empty() && !value.starts_with('!')).then_some(value)
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!(said("a: 1\ndocs_dir: ../doc # pages\n"), Some("../doc"));
        assert_eq!(said("docs_dir: 'x y'\r\n"), Some("x y"));
        assert_eq!(said("site_name: a\n  docs_dir: b\ndocs_dir: !ENV X\n"), None);
        assert_eq!(normal(Path::new("/a/support/../doc/./x")), Path::new("/a/doc/x"));
    }
}
