//! URIs of files in branches: `broker-branch://BRANCH/path/from/the/root`.

use lsp_client::uri::{escaped, unescaped};
use overlay::WorkspacePath;

pub(super) const SCHEME: &str = "broker-branch";

/// A file of a branch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct BranchFile {
    /// Id of the branch.
    pub(super) branch: String,
    pub(super) path: WorkspacePath,
}

impl BranchFile {
    /// Parses a URI; `None` for any other document.
    pub(super) fn of_uri(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(SCHEME)?.strip_prefix("://")?;
        let (branch, path) = rest.split_once('/')?;
        // Editors may add a query of their own, for example to distinguish two views of one document.
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let path = String::from_utf8(unescaped(path)).ok()?;
        let path = WorkspacePath::new(&path).ok().filter(|it| !it.is_root())?;
        (!branch.is_empty()).then(|| Self { branch: branch.to_owned(), path })
    }

    pub(super) fn uri(&self) -> String {
        format!("{SCHEME}://{}/{}", self.branch, escaped(self.path.as_str().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let file =
            BranchFile { branch: "0f.1a".to_owned(), path: WorkspacePath::new("a b/ü#?.py").unwrap() };
        let uri = file.uri();
        assert_eq!(uri, "broker-branch://0f.1a/a%20b/%C3%BC%23%3F.py");
        assert_eq!(BranchFile::of_uri(&uri), Some(file.clone()));
        assert_eq!(BranchFile::of_uri(&format!("{uri}?left")), Some(file));
        for other in [
            "file:///a",
            "broker-branch://a",
            "broker-branch:///a",
            "broker-branch://a/",
            "broker-branch://a/../b",
        ] {
            assert_eq!(BranchFile::of_uri(other), None, "{other}");
        }
    }
}
