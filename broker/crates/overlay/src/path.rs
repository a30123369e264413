//! Paths inside a workspace. Knows nothing of the disk: no path here is ever looked up.

use std::{borrow::Borrow, fmt, sync::Arc};

/// A UTF-8 path relative to the workspace root, `/`-separated and normalised.
///
/// Contains no empty, `.` or `..` component and no NUL, and cannot name anything above the root. The root itself is
/// the empty path. Cloning shares the text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspacePath(Arc<str>);

/// Error of a text that is not a workspace path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("`{0}` is absolute; workspace paths are relative to the workspace root")]
    Absolute(String),
    #[error("`{0}` leads out of the workspace")]
    Escapes(String),
    #[error("`{}` contains a NUL character", .0.escape_debug())]
    Nul(String),
}

impl WorkspacePath {
    /// The workspace root.
    pub fn root() -> Self {
        Self("".into())
    }

    /// Normalises `path`: `.` and empty components go, `..` takes the component before it away.
    pub fn new(path: &str) -> Result<Self, PathError> {
        if path.starts_with('/') {
            return Err(PathError::Absolute(path.to_owned()));
        }
        Self::root().join(path)
    }

    /// `path` seen from this directory. An absolute `path` is an error, as is one that leads out.
    pub fn join(&self, path: &str) -> Result<Self, PathError> {
        if path.starts_with('/') {
            return Err(PathError::Absolute(path.to_owned()));
        }
        if path.contains('\0') {
            return Err(PathError::Nul(path.to_owned()));
        }
        let mut parts: Vec<&str> = self.components().collect();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| PathError::Escapes(path.to_owned()))?;
                }
                name => parts.push(name),
            }
        }
        Ok(Self(parts.join("/").into()))
    }

    /// The entry `name` of this directory. `name` must be a single normal component.
    pub fn child(&self, name: &str) -> Self {
        debug_assert!(!name.is_empty() && !name.contains('/') && name != "." && name != "..");
        if self.is_root() { Self(name.into()) } else { Self([&*self.0, "/", name].concat().into()) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The directory that holds this path; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(self.0.rsplit_once('/').map_or_else(Self::root, |(dir, _)| Self(dir.into())))
    }

    /// The last component; `None` for the root.
    pub fn file_name(&self) -> Option<&str> {
        (!self.is_root()).then(|| self.0.rsplit_once('/').map_or(&*self.0, |(_, name)| name))
    }

    /// Returns the part after the last dot of the file name, as `std::path::Path::extension` does.
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.file_name()?.rsplit_once('.')?;
        (!stem.is_empty()).then_some(extension)
    }

    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// Yields this directory and all above it, nearest first, the root last.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    /// Whether this path is `dir` or lies below it.
    pub fn starts_with(&self, dir: &Self) -> bool {
        self.strip_prefix(dir).is_some()
    }

    /// Returns this path relative to `dir`; empty if it is `dir` itself, `None` if it is not below it.
    pub fn strip_prefix(&self, dir: &Self) -> Option<&str> {
        if dir.is_root() {
            return Some(&self.0);
        }
        let rest = self.0.strip_prefix(&*dir.0)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl fmt::Debug for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Borrow<str> for WorkspacePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(path: &str) -> Result<String, PathError> {
        WorkspacePath::new(path).map(|it| it.as_str().to_owned())
    }

    #[test]
    fn normalises() {
        for (given, want) in
            [("a/b", "a/b"), ("./a//b/", "a/b"), ("a/../b", "b"), ("", ""), (".", ""), ("a/b/..", "a")]
        {
            assert_eq!(normal(given).as_deref(), Ok(want), "{given}");
        }
    }

    #[test]
    fn cannot_escape() {
        assert_eq!(normal("../a"), Err(PathError::Escapes("../a".into())));
        assert_eq!(normal("a/../../b"), Err(PathError::Escapes("a/../../b".into())));
        assert_eq!(normal("/etc/passwd"), Err(PathError::Absolute("/etc/passwd".into())));
        assert_eq!(normal("a\0b"), Err(PathError::Nul("a\0b".into())));
    }

    #[test]
    fn takes_apart() {
        let path = WorkspacePath::new("src/.config/mod.test.rs").unwrap();
        assert_eq!(path.file_name(), Some("mod.test.rs"));
        assert_eq!(path.extension(), Some("rs"));
        assert_eq!(path.parent().unwrap().extension(), None, "a dot file has no extension");
        let above: Vec<_> = path.ancestors().map(|it| it.to_string()).collect();
        assert_eq!(above, ["src/.config/mod.test.rs", "src/.config", "src", "."]);
        assert_eq!(path.strip_prefix(&WorkspacePath::new("src").unwrap()), Some(".config/mod.test.rs"));
        assert_eq!(path.strip_prefix(&WorkspacePath::new("sr").unwrap()), None);
    }
}
