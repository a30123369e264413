//! Files to try a plugin on: `valid/` and `invalid/`, each a workspace of its own.
//!
//! Beside a file of `invalid/`, `NAME.findings` lists the findings in it, and `NAME.fixed` holds the text when all fixes
//! are made. `fixtures.toml` may set how the plugin is asked. All other files, such as configuration files, are part of the
//! workspace.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use overlay::{Disk, Memory, View, WalkOptions, WorkspacePath, walk};
use serde::Deserialize;
use thiserror::Error;

/// Suffix of the file beside a fixture that lists the expected findings.
pub(crate) const FINDINGS: &str = ".findings";
/// Suffix of the file beside a fixture that holds the expected text after the fixes.
pub(crate) const FIXED: &str = ".fixed";
const SETTINGS: &str = "fixtures.toml";

/// Fixtures that a plugin is tried on.
pub struct Fixtures {
    /// Folder of the fixtures on the disk.
    pub(crate) folder: PathBuf,
    pub(crate) valid: Set,
    pub(crate) invalid: Set,
    pub(crate) settings: Settings,
}

/// A workspace of fixtures.
#[derive(Clone)]
pub(crate) struct Set {
    pub(crate) view: Arc<Memory>,
    /// Files to ask about: all that are not expectations.
    pub(crate) files: Vec<(WorkspacePath, Bytes)>,
}

/// Settings of the plugin for the fixtures, and limits on its cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Settings {
    /// Rules to select, like `--select`, in the plugin's own words.
    pub(crate) select: Option<Vec<String>>,
    pub(crate) ignore: Vec<String>,
    /// The variables that it sees, as if they were granted.
    pub(crate) environment: BTreeMap<String, String>,
    /// Microseconds for 1,000 bytes, at most; no limit if it is not set.
    pub(crate) max_microseconds_per_kilobyte: Option<u32>,
    /// MiB, at most; no limit if it is not set.
    pub(crate) max_memory: Option<u32>,
}

/// Error of fixtures that cannot be used.
#[derive(Debug, Error)]
pub enum Bad {
    #[error("cannot read {path}: {error}")]
    Unreadable { path: String, error: io::Error },
    #[error("{path} makes no sense: {reason}")]
    Settings { path: String, reason: String },
}

impl Fixtures {
    /// Loads the fixtures of a folder, which need not be there.
    pub fn load(folder: &Path) -> Result<Self, Bad> {
        let unreadable = |error| Bad::Unreadable { path: folder.display().to_string(), error };
        if !folder.is_dir() {
            return Ok(Self::empty(folder));
        }
        let disk = Disk::new(folder).map_err(unreadable)?;
        let settings = settings(&disk, folder)?;
        let set = |name: &str| Set::load(&disk, &WorkspacePath::root().child(name)).map_err(unreadable);
        let (valid, invalid) = (set("valid")?, set("invalid")?);
        Ok(Self { folder: folder.to_owned(), valid, invalid, settings })
    }

    fn empty(folder: &Path) -> Self {
        let set = || Set { view: Arc::default(), files: Vec::new() };
        Self { folder: folder.to_owned(), valid: set(), invalid: set(), settings: Settings::default() }
    }

    pub(crate) fn sets(&self) -> [(&'static str, &Set); 2] {
        [("valid", &self.valid), ("invalid", &self.invalid)]
    }
}

fn settings(disk: &Disk, folder: &Path) -> Result<Settings, Bad> {
    let path = || folder.join(SETTINGS).display().to_string();
    let text = match disk.read(&WorkspacePath::root().child(SETTINGS)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Settings::default()),
        Err(error) => return Err(Bad::Unreadable { path: path(), error }),
    };
    let wrong = |reason: String| Bad::Settings { path: path(), reason };
    let text = std::str::from_utf8(&text).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    toml::from_str(text).map_err(|error| wrong(error.to_string()))
}

impl Set {
    fn load(disk: &Disk, folder: &WorkspacePath) -> io::Result<Self> {
        let mut view = Memory::default();
        let mut files = Vec::new();
        match disk.metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { view: Arc::new(view), files });
            }
            there => there?,
        };
        let options =
            WalkOptions { respect_ignore_files: false, default_excludes: false, ..WalkOptions::default() };
        for path in walk(disk, std::slice::from_ref(folder), &options) {
            let bytes = disk.read(&path)?;
            let Some(Ok(inner)) = path.strip_prefix(folder).map(WorkspacePath::new) else { continue };
            view.insert_file(&inner, bytes.clone(), false);
            if !is_expectation(inner.as_str()) {
                files.push((inner, bytes));
            }
        }
        Ok(Self { view: Arc::new(view), files })
    }

    pub(crate) fn view(&self) -> Arc<dyn View> {
        Arc::clone(&self.view) as Arc<dyn View>
    }

    /// The text beside a file, if there is one.
    pub(crate) fn beside(&self, path: &WorkspacePath, ending: &str) -> Option<String> {
        let path = WorkspacePath::new(&format!("{path}{ending}")).ok()?;
        let bytes = self.view.read(&path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn is_expectation(path: &str) -> bool {
    path.ends_with(FINDINGS) || path.ends_with(FIXED)
}
