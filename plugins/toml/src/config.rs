//! Which files taplo's configuration leaves out.

use std::io;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use toml::de::{DeTable, DeValue};

/// In the order in which they count.
const NAMES: [&str; 2] = [".taplo.toml", "taplo.toml"];

/// Patterns for absolute paths.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// None: all files.
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Config {
    /// The configuration in `root`; `named` is one that the user named instead, or none.
    pub(crate) fn find(root: &Path, named: Option<&Option<String>>) -> Result<Self, String> {
        let files: Vec<PathBuf> = match named {
            Some(Some(named)) => return Self::read(root, &root.join(named)),
            Some(None) => Vec::new(),
            None => NAMES.iter().map(|it| root.join(it)).collect(),
        };
        // A link that leads nowhere is no file; one that cannot be followed is told.
        let is_there =
            |it: &&PathBuf| it.metadata().map_or_else(|e| e.kind() != io::ErrorKind::NotFound, |_| true);
        files.iter().find(is_there).map_or_else(|| Ok(Self::default()), |it| Self::read(root, it))
    }

    pub(crate) fn includes(&self, file: &Path) -> bool {
        self.include.as_ref().is_none_or(|it| it.is_match(file)) && !self.exclude.is_match(file)
    }

    #[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
    fn read(root: &Path, file: &Path) -> Result<Self, String> {
        let name = file.strip_prefix(root).unwrap_or(file).display();
        let told = |problem: String| format!("cannot use `{name}`: {problem}");
        let text = std::fs::read_to_string(file).map_err(|it| told(it.to_string()))?;
        let table = DeTable::parse(&text).map_err(|it| told(problem(&text, &it)))?;
        let set =
            |key: &str| table.get_ref().get(key).map(|it| patterns(key, it.get_ref(), root)).transpose();
        let include = set("include").map_err(told)?;
        let exclude = set("exclude").map_err(|it| format!("cannot use `{name}`: {it}"))?;
        Ok(Self { include, exclude: exclude.unwrap_or_default() })
    }
}

/// `line 3: expected newline`.
fn problem(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().and_then(|it| text.get(..it.start)).map_or(1, |it| it.matches('\n').count() + 1);
    format!("line {line}: {}", error.message())
}

fn patterns(key: &str, value: &DeValue, root: &Path) -> Result<GlobSet, String> {
    let wrong = || format!("`{key}` should be an array of strings");
    let mut set = GlobSetBuilder::new();
    for pattern in value.as_array().ok_or_else(wrong)?.iter() {
        let pattern = pattern.get_ref().as_str().ok_or_else(wrong)?;
        // Patterns count from the root, where taplo would run.
        let absolute = root.join(pattern.strip_prefix("./").unwrap_or(pattern));
        let glob = Glob::new(&absolute.to_string_lossy()).map_err(|it| format!("in `{key}`: {it}"))?;
        set.add(glob);
    }
    set.build().map_err(|it| format!("in `{key}`: {it}"))
}
