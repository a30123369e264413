//! URIs of files in branches: `broker-branch://BRANCH/path/from/the/root`, where `BRANCH` is the id or the name of a branch.

use lsp_client::uri::{escaped, unescaped};
use overlay::WorkspacePath;

pub(super) const SCHEME: &str = "broker-branch";

/// A file of a branch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct BranchFile {
    /// Id or name of the branch.
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
        let branch = String::from_utf8(unescaped(branch)).ok()?;
        (!branch.is_empty()).then_some(Self { branch, path })
    }

    pub(super) fn uri(&self) -> String {
        // A name may have slashes, which would end it here.
        let branch = escaped(self.branch.as_bytes()).replace('/', "%2F");
        format!("{SCHEME}://{branch}/{}", escaped(self.path.as_str().as_bytes()))
    }

    /// The start of a URI up to the path, as the client wrote it.
    pub(super) fn root_of(uri: &str) -> Option<&str> {
        let start = SCHEME.len() + "://".len();
        let length = uri.get(start..)?.find('/')?;
        uri.get(..=start + length)
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

    #[test]
    fn a_branch_may_be_named_by_any_name() {
        for (name, uri) in [
            ("try-1", "broker-branch://try-1/a.py"),
            ("fix/ü 100%", "broker-branch://fix%2F%C3%BC%20100%25/a.py"),
        ] {
            let file = BranchFile { branch: name.to_owned(), path: WorkspacePath::new("a.py").unwrap() };
            assert_eq!((&*file.uri(), BranchFile::of_uri(uri).as_ref()), (uri, Some(&file)));
            assert_eq!(BranchFile::root_of(uri), uri.strip_suffix("a.py"));
        }
        assert_eq!(BranchFile::root_of("broker-branch:"), None);
    }
}
