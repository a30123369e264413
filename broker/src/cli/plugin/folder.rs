//! A plugin's own folder, as its author has it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use plugin_host::Manifest;

use crate::CliError;

const MANIFEST: &str = "broker-plugin.toml";

/// A folder with a manifest.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) manifest: Manifest,
    /// As it was written.
    pub(super) manifest_text: String,
}

impl Folder {
    #[expect(clippy::disallowed_methods, reason = "a plugin's folder is no workspace")]
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let file = path.join(MANIFEST);
        let manifest_text = fs::read_to_string(&file).map_err(|error| {
            let error = match error.kind() {
                io::ErrorKind::NotFound => format!("there is no {MANIFEST} in {}", path.display()),
                _ => format!("cannot read {}: {error}", file.display()),
            };
            CliError::files(error).hint("`broker plugin new` makes the folder of a plugin")
        })?;
        let manifest =
            Manifest::parse(&file.display().to_string(), &manifest_text).map_err(CliError::plugin)?;
        Ok(Self { path: path.to_owned(), manifest, manifest_text })
    }

    /// Where the component is put when it is built.
    pub(super) fn component(&self) -> PathBuf {
        self.path.join("dist").join(format!("{}.wasm", self.manifest.name))
    }

    pub(super) fn fixtures(&self) -> PathBuf {
        self.path.join("fixtures")
    }
}
