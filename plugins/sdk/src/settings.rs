//! Access to a plugin's settings.

use std::io::ErrorKind;
use std::path::Path;

use crate::{Settings, SettingsError};

impl Settings {
    /// Returns the workspace's folder; `/` if there are no files, as for a question about rules.
    pub fn root(&self) -> &Path {
        Path::new(if self.root.is_empty() { "/" } else { &self.root })
    }

    /// Reads the plugin's configuration file, which `config-files` of the manifest names as well: the file `name` in the
    /// workspace's folder, or the one that the user named. `None` if there is none, or if none is to be read.
    #[allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
    pub fn options(&self, name: &str) -> Result<Option<String>, SettingsError> {
        if self.isolated {
            return Ok(None);
        }
        let path = self.config.as_deref().unwrap_or(name);
        let invalid =
            |error: &dyn std::fmt::Display| SettingsError::Invalid(format!("cannot read {path}: {error}"));
        let bytes = match std::fs::read(format!("{}/{path}", self.root)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let missing = || SettingsError::Invalid(format!("there is no {path}"));
                return if self.config.is_some() { Err(missing()) } else { Ok(None) };
            }
            Err(error) => return Err(invalid(&error)),
        };
        String::from_utf8(bytes).map(Some).map_err(|_| invalid(&"it is not UTF-8"))
    }
}

impl SettingsError {
    /// Returns the error that names `selectors`, unless there are none.
    pub fn unless_known(selectors: Vec<String>) -> Result<(), Self> {
        if selectors.is_empty() { Ok(()) } else { Err(Self::UnknownSelectors(selectors)) }
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;
    use crate::testing;

    #[test]
    fn options_are_those_that_the_user_means() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in
            [("own.toml", "own ä".as_bytes()), ("other.toml", b"other"), ("odd.toml", b"\xff")]
        {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let root = folder.path().to_str().unwrap().to_owned();
        let settings = |config: Option<&str>, isolated| Settings {
            root: root.clone(),
            config: config.map(str::to_owned),
            isolated,
            ..testing::settings()
        };
        let asked = |name: &str, config, isolated| match settings(config, isolated).options(name) {
            Ok(text) => text.unwrap_or_else(|| "none".to_owned()),
            Err(SettingsError::Invalid(why)) => why,
            Err(SettingsError::UnknownSelectors(_)) => unreachable!("nothing is selected"),
        };
        assert_eq!(asked("own.toml", None, false), "own ä");
        assert_eq!(asked("none.toml", None, false), "none");
        assert_eq!(asked("own.toml", None, true), "none");
        assert_eq!(asked("own.toml", Some("other.toml"), false), "other");
        assert_eq!(asked("own.toml", Some("none.toml"), false), "there is no none.toml");
        assert_eq!(asked("odd.toml", None, false), "cannot read odd.toml: it is not UTF-8");
    }
}
