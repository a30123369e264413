//! A plugin's own configuration files: finds the one that applies to a folder, reads it, and reports one that cannot be used.
//!
//! Never looks above the workspace's folder, which is the host's to choose: outside of a repository it is the current folder,
//! also where a folder below it is named.
//!
//! ```
//! use broker_plugin_sdk::{Settings, config::{ByFolder, ConfigFiles}};
//!
//! const NAMES: [&str; 2] = [".tool.toml", "tool.toml"];
//!
//! struct Workspace {
//!     files: ConfigFiles,
//!     known: ByFolder<Result<String, String>>,
//! }
//!
//! impl Workspace {
//!     fn text_for(&self, folder: &std::path::Path) -> Result<String, String> {
//!         let file = || self.files.nearest(folder, &NAMES);
//!         self.known.get_or(folder, || file().map_or(Ok(String::new()), |it| self.files.read(&it)))
//!     }
//! }
//! ```

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::Settings;

/// The configuration files that apply in a workspace.
#[derive(Debug, Clone)]
pub struct ConfigFiles {
    root: PathBuf,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    /// Files in the workspace, by their names.
    Workspace,
    /// The file that the user named, for all folders.
    Named(PathBuf),
    Nothing,
}

impl Default for ConfigFiles {
    fn default() -> Self {
        Self { root: PathBuf::from("/"), source: Source::Workspace }
    }
}

impl ConfigFiles {
    pub fn new(settings: &Settings) -> Self {
        let root = settings.root().to_path_buf();
        let source = match &settings.config {
            Some(config) => Source::Named(root.join(config)),
            None if settings.isolated => Source::Nothing,
            None => Source::Workspace,
        };
        Self { root, source }
    }

    /// The workspace's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file that the user named.
    pub fn named(&self) -> Option<&Path> {
        match &self.source {
            Source::Named(file) => Some(file),
            Source::Workspace | Source::Nothing => None,
        }
    }

    /// Whether the same configuration file, or none, applies to the whole workspace.
    pub fn is_fixed(&self) -> bool {
        !matches!(self.source, Source::Workspace)
    }

    /// Returns the nearest file with one of `names`, from `folder` up to the workspace's; in a folder, the first name counts. A
    /// file that the user named takes precedence.
    pub fn nearest(&self, folder: &Path, names: &[&str]) -> Option<PathBuf> {
        self.find(folder, |folder| first_of(folder, names))
    }

    /// Returns the first file that `find` returns for `folder` and the folders above it, up to the workspace's. A file that the
    /// user named takes precedence.
    pub fn find(&self, folder: &Path, find: impl FnMut(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
        match &self.source {
            Source::Named(file) => Some(file.clone()),
            Source::Nothing => None,
            Source::Workspace => self.folders(folder).find_map(find),
        }
    }

    /// The folder of a file.
    pub fn folder_of<'a>(&'a self, file: &'a Path) -> &'a Path {
        file.parent().unwrap_or(&self.root)
    }

    /// `folder` and those above it, up to the workspace's.
    pub fn folders<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
        folder.ancestors().take_while(|it| it.starts_with(&self.root))
    }

    /// The folder above, unless `folder` is the workspace's or outside of it.
    pub fn above<'a>(&self, folder: &'a Path) -> Option<&'a Path> {
        folder.parent().filter(|_| folder != self.root && folder.starts_with(&self.root))
    }

    /// Reads a file. The error is a sentence for the user.
    pub fn read(&self, file: &Path) -> Result<String, String> {
        text_of(file).map_err(|it| self.unusable(file, it))
    }

    /// Returns a sentence about a file that cannot be used.
    pub fn unusable(&self, file: &Path, problem: impl Display) -> String {
        format!("cannot use `{}`: {problem}", self.name(file))
    }

    /// Returns a file's path as users write it: relative to the workspace's folder.
    pub fn name(&self, file: &Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).display().to_string()
    }

    /// Makes each path in a text relative to the workspace's folder, also in addresses (`file://…`).
    pub fn with_names(&self, text: &str) -> String {
        let root = format!("{}/", self.root.to_string_lossy().trim_end_matches('/'));
        let text = text.replace("file://", "");
        let (mut told, mut rest) = (String::with_capacity(text.len()), &*text);
        while let Some(at) = rest.find(&root) {
            told.push_str(&rest[..at]);
            if ends_in_path(&told) {
                told.push_str(&root);
            }
            rest = &rest[at + root.len()..];
        }
        told + rest
    }
}

/// Whether the text ends within a path, so that what is appended continues that path.
fn ends_in_path(text: &str) -> bool {
    text.ends_with(|it: char| it.is_alphanumeric() || matches!(it, '/' | '.' | '_' | '-'))
}

/// Reads a file of the branch: a plugin has no overlay, its file system is the branch.
pub fn text_of(file: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(file)
}

/// Returns the path of the first of `names` that exists in a folder.
pub fn first_of(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|it| folder.join(it)).find(|it| is_there(it))
}

/// Whether a file exists. A link that leads nowhere does not; one that cannot be followed does, so that reading it reports why.
pub fn is_there(file: &Path) -> bool {
    file.metadata().map_or_else(
        |error| !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        |it| it.is_file(),
    )
}

/// Returns the first of the files `names` in a folder that is a link which cannot be followed, since it leads out of the
/// workspace, and the error. For linters that ignore files that they cannot read.
pub fn broken_link<'a>(
    folder: &Path,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<(PathBuf, std::io::Error)> {
    let files = names.into_iter().map(|it| folder.join(it));
    let mut broken = files.filter(|it| it.is_symlink()).filter_map(|it| Some((it.metadata().err()?, it)));
    broken.find(|(error, _)| error.kind() != ErrorKind::NotFound).map(|(error, file)| (file, error))
}

/// Joins the lines of a message, without the excerpt of the source that it may have (`3 | a = 1`).
#[must_use]
pub fn on_one_line(message: &str) -> String {
    let is_excerpt =
        |it: &&str| it.trim_start_matches(|it: char| it.is_ascii_digit() || it == ' ').starts_with('|');
    let lines = message.lines().filter(|it| !is_excerpt(it)).map(str::trim).filter(|it| !it.is_empty());
    lines.collect::<Vec<_>>().join(": ")
}

/// Prefixes a message with the line of a position in a text: `line 3: expected newline`.
#[must_use]
pub fn on_line(text: &str, at: Option<usize>, message: &str) -> String {
    let before = at.and_then(|it| text.get(..it)).unwrap_or_default();
    format!("line {}: {message}", before.matches('\n').count() + 1)
}

/// Cache of one value for each folder.
///
/// The hashes are the same in every run: a plugin should not ask for random numbers while it is initialised ahead of time.
#[derive(Debug)]
pub struct ByFolder<T>(RefCell<HashMap<PathBuf, T, BuildHasherDefault<DefaultHasher>>>);

impl<T> Default for ByFolder<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone> ByFolder<T> {
    /// Returns the cached value of a folder, or calls `find` and caches its result. `find` may ask about other folders.
    pub fn get_or(&self, folder: &Path, find: impl FnOnce() -> T) -> T {
        if let Some(known) = self.0.borrow().get(folder) {
            return known.clone();
        }
        let found = find();
        self.0.borrow_mut().insert(folder.to_path_buf(), found.clone());
        found
    }

    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::testing::settings;

    fn workspace(files: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in files.iter().map(|it| folder.path().join(it)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        folder
    }

    fn files(folder: &TempDir, config: Option<&str>, isolated: bool) -> ConfigFiles {
        let root = folder.path().to_str().unwrap().to_owned();
        ConfigFiles::new(&Settings { root, config: config.map(str::to_owned), isolated, ..settings() })
    }

    #[test]
    fn nearest_file_counts() {
        let folder = workspace(&["a.toml", "x/.a.toml", "x/a.toml", "x/y/a.toml/file", "other.toml"]);
        let nearest = |config, isolated, below: &str| {
            let files = files(&folder, config, isolated);
            let found = files.nearest(&folder.path().join(below), &[".a.toml", "a.toml"]);
            found.map_or_else(|| "none".to_owned(), |it| files.name(&it))
        };
        assert_eq!(nearest(None, false, ""), "a.toml");
        assert_eq!(nearest(None, false, "x/y/z"), "x/.a.toml", "a folder is no file");
        assert_eq!(nearest(None, true, "x"), "none");
        assert_eq!(nearest(Some("other.toml"), true, "x"), "other.toml");
        let below = ConfigFiles::new(&Settings {
            root: folder.path().join("x/y").to_str().unwrap().to_owned(),
            ..settings()
        });
        assert_eq!(below.nearest(&folder.path().join("x/y"), &["a.toml"]), None, "never above the root");
        assert_eq!(below.above(&folder.path().join("x/y")), None);
    }

    #[cfg(unix)]
    #[test]
    fn links() {
        let folder = workspace(&["a"]);
        for (target, name) in [("a", "good"), ("none", "nowhere"), ("loop", "loop")] {
            std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
        }
        let there = |name: &str| is_there(&folder.path().join(name));
        assert_eq!(["good", "nowhere", "loop", "a/b"].map(there), [true, false, true, false]);
        let (file, _) = broken_link(folder.path(), ["a", "good", "nowhere", "loop"]).unwrap();
        assert!(file.ends_with("loop"));
    }

    #[test]
    fn sentences() {
        let folder = workspace(&["a"]);
        let files = files(&folder, None, false);
        let file = folder.path().join("x/none.toml");
        assert_eq!(files.unusable(&file, "no"), "cannot use `x/none.toml`: no");
        assert!(files.read(&file).unwrap_err().starts_with("cannot use `x/none.toml`: "));
        assert_eq!(files.read(&folder.path().join("a")).as_deref(), Ok("text"));
        let text = "TOML parse error at line 2\n  |\n2 | a = 1\n  | ^\nunknown field `a`\n";
        assert_eq!(on_one_line(text), "TOML parse error at line 2: unknown field `a`");
        assert_eq!(on_line("a\nb", Some(2), "no"), "line 2: no");
        assert_eq!(on_line("a\nb", None, "no"), "line 1: no");
    }

    #[test]
    fn names_in_texts() {
        let told = |root: &str, text: &str| {
            ConfigFiles { root: PathBuf::from(root), ..ConfigFiles::default() }.with_names(text)
        };
        assert_eq!(
            told("/w", "from `/w/a/b` to file:///w/c, /w/d and x/w/e"),
            "from `a/b` to c, d and x/w/e"
        );
        assert_eq!(told("/", "from `/a/b` to file:///c"), "from `a/b` to c", "slashes within paths stay");
    }

    #[test]
    fn folders_are_asked_once() {
        let (known, asked) = (ByFolder::default(), RefCell::new(0));
        let find = |folder: &str, value: u8| {
            known.get_or(Path::new(folder), || {
                *asked.borrow_mut() += 1;
                value
            })
        };
        assert_eq!((find("/a", 1), find("/a", 2), find("/b", 3)), (1, 1, 3));
        assert_eq!(known.get_or(Path::new("/c"), || find("/d", 4)), 4, "one may ask about another");
        assert_eq!(*asked.borrow(), 3);
    }
}
