//! Places outside of the workspace that a server registers to watch, and whether something changed there since. It is
//! not notified of such changes, but started again.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use external_tools::OutsideState;
use lint::Cancel;
use lsp_client::{Client, uri::absolute};
use overlay::ContentHash;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

pub(crate) const METHOD: &str = "workspace/didChangeWatchedFiles";

/// Watched places of a server's current process. Shared by the server's thread and those that ask for answers.
#[derive(Default)]
pub(crate) struct Watched {
    inner: Mutex<Inner>,
    outside: OutsideState,
}

#[derive(Default)]
struct Inner {
    /// Their state when the process registered the watch.
    seen: BTreeMap<PathBuf, ContentHash>,
    /// Ends the leases of its answers.
    revoked: Cancel,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Watcher {
    glob_pattern: Glob,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Glob {
    Pattern(String),
    #[serde(rename_all = "camelCase")]
    Relative {
        base_uri: Base,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Base {
    Uri(String),
    Folder { uri: String },
}

impl Watched {
    /// Notes that there is another process, or none. The answers of the one before are not given again.
    pub(crate) fn begin(&self) -> Cancel {
        let mut inner = self.inner.lock();
        inner.revoked.cancel();
        *inner = Inner::default();
        inner.revoked.clone()
    }

    /// Takes in what the server has said lately.
    pub(crate) fn learn(&self, client: &Client, root: &Path) {
        let options = client.options(METHOD);
        let mut inner = self.inner.lock();
        for place in options.iter().flat_map(|it| outside(it, root)) {
            inner.seen.entry(place).or_insert_with_key(|it| self.outside.seen_at(it));
        }
    }

    /// Looks whether it is as it was. If not, no answer of the process is given again.
    pub(crate) fn look(&self) {
        let (places, revoked) = {
            let inner = self.inner.lock();
            (inner.seen.clone(), inner.revoked.clone())
        };
        if !revoked.is_cancelled() && places.iter().any(|(it, seen)| self.outside.seen_at(it) != *seen) {
            revoked.cancel();
        }
    }

    /// Whether a watched place has changed.
    pub(crate) fn is_outdated(&self) -> bool {
        self.inner.lock().revoked.is_cancelled()
    }
}

/// The places of a registration that are neither in the workspace nor above it.
fn outside(options: &Value, root: &Path) -> Vec<PathBuf> {
    let watchers: Vec<Watcher> = options["watchers"]
        .as_array()
        .map(|all| all.iter().filter_map(|it| Watcher::deserialize(it).ok()).collect())
        .unwrap_or_default();
    let place = |it: Watcher| match it.glob_pattern {
        Glob::Pattern(pattern) => Some(PathBuf::from(fixed(&pattern))).filter(|it| it.is_absolute()),
        Glob::Relative { base_uri: Base::Uri(uri) | Base::Folder { uri } } => absolute(&uri),
    };
    let is_outside = |it: &PathBuf| !it.starts_with(root) && !root.starts_with(it);
    watchers.into_iter().filter_map(place).filter(is_outside).collect()
}

/// The folders before the first wildcard.
fn fixed(pattern: &str) -> &str {
    match pattern.find(['*', '?', '[', '{']) {
        Some(at) => pattern[..at].rsplit_once('/').map_or("", |it| it.0),
        None => pattern,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_neither_within_nor_above() {
        let watchers = json!({ "watchers": [
            { "globPattern": "**/*.py" },
            { "globPattern": "/w/src/**" },
            { "globPattern": "/opt/lib/{a,b}/*.py" },
            { "globPattern": { "baseUri": "file:///opt/site%20packages", "pattern": "**" } },
            { "globPattern": { "baseUri": { "uri": "file:///w/x", "name": "x" }, "pattern": "**" } },
            { "globPattern": { "baseUri": "file:///", "pattern": "**" } },
            { "globPattern": 7 },
        ] });
        let found = outside(&watchers, Path::new("/w"));
        assert_eq!(found, ["/opt/lib", "/opt/site packages"].map(PathBuf::from));
        assert!(outside(&json!(true), Path::new("/w")).is_empty());
    }
}
