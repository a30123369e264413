//! Conversion between paths and `file:` URIs.

use std::{
    ffi::OsString,
    fmt::Write as _,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use overlay::WorkspacePath;

pub fn of_folder(folder: &Path) -> String {
    let mut uri = String::from("file://");
    escape(folder.as_os_str().as_bytes(), &mut uri);
    uri
}

/// The URIs of a workspace's files.
#[derive(Debug, Clone)]
pub struct Uris {
    root: String,
    decoded: Vec<u8>,
}

impl Uris {
    pub fn new(root: &Path) -> Self {
        let decoded = root.as_os_str().as_bytes().strip_suffix(b"/").unwrap_or(root.as_os_str().as_bytes());
        let mut root = String::from("file://");
        escape(decoded, &mut root);
        Self { root, decoded: decoded.to_owned() }
    }

    pub fn of(&self, path: &WorkspacePath) -> String {
        let mut uri = format!("{}/", self.root);
        escape(path.as_str().as_bytes(), &mut uri);
        uri
    }

    /// However it is escaped; `None` for what is not in the workspace.
    pub fn path(&self, uri: &str) -> Option<WorkspacePath> {
        let bytes = unescaped(path_of(uri)?);
        let below = bytes.strip_prefix(&*self.decoded)?.strip_prefix(b"/")?;
        WorkspacePath::new(std::str::from_utf8(below).ok()?).ok()
    }
}

/// The path of a `file:` URI of this machine, in each of the forms of RFC 8089: `file:///a`, `file://localhost/a` and `file:/a`.
fn path_of(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    path.starts_with(['/', '%']).then_some(path)
}

/// The absolute path that a `file:` URI stands for.
pub fn absolute(uri: &str) -> Option<PathBuf> {
    let bytes = unescaped(path_of(uri)?);
    bytes.starts_with(b"/").then(|| PathBuf::from(OsString::from_vec(bytes)))
}

/// The text as a part of a URI; slashes stay.
pub fn escaped(bytes: &[u8]) -> String {
    let mut uri = String::new();
    escape(bytes, &mut uri);
    uri
}

fn escape(bytes: &[u8], uri: &mut String) {
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _never_fails = write!(uri, "%{byte:02X}");
        }
    }
}

/// The bytes of a part of a URI, however they are escaped.
pub fn unescaped(uri: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        let pair = tail.get(..2).filter(|_| *first == b'%').and_then(|it| std::str::from_utf8(it).ok());
        match pair.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let uris = Uris::new(Path::new("/w s/é"));
        for (path, want) in [("a b/c#.py", "a%20b/c%23.py"), ("ü%41.py", "%C3%BC%2541.py")] {
            let path = WorkspacePath::new(path).unwrap();
            let uri = uris.of(&path);
            assert_eq!(uri, format!("file:///w%20s/%C3%A9/{want}"));
            assert_eq!(uris.path(&uri), Some(path));
        }
        assert_eq!(uris.path("file:///w%20s/é/a:b"), WorkspacePath::new("a:b").ok());
        for same in ["file://localhost/w%20s/é/a", "FILE:///w%20s/é/a", "file:/w%20s/é/a"] {
            assert_eq!(uris.path(same), WorkspacePath::new("a").ok(), "{same}");
        }
        for other in [
            "file://host/w%20s/é/a",
            "http:///w%20s/é/a",
            "file:///w%20s/éa",
            "file:///other",
            "untitled:a",
            "file:///w%20s/é/../../x",
        ] {
            assert_eq!(uris.path(other), None, "{other}");
        }
    }
}
