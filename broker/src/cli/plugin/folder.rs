//! A plugin's own folder, as its author has it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ignore::{DirEntry, WalkBuilder};
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
        // Without `.` and the like, which only lengthen what is told.
        let path: PathBuf = path.components().collect();
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
        Ok(Self { path, manifest, manifest_text })
    }

    /// Where the component is put when it is built.
    pub(super) fn component(&self) -> PathBuf {
        self.path.join("dist").join(format!("{}.wasm", self.manifest.name))
    }

    /// A file that the component is made of and that was changed after it was made.
    pub(super) fn newer_than(&self, component: &Path) -> Option<PathBuf> {
        let changed = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
        let built = changed(component)?;
        let made = ["dist", "fixtures", "target", "node_modules"];
        let is_source = move |it: &DirEntry| {
            !it.file_name().to_str().is_some_and(|name| made.contains(&name) || name.starts_with(['.', '_']))
        };
        let files = WalkBuilder::new(&self.path).standard_filters(false).filter_entry(is_source).build();
        let files = files.flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file()));
        files.map(DirEntry::into_path).find(|it| changed(it).is_some_and(|it| it > built))
    }

    pub(super) fn fixtures(&self) -> PathBuf {
        self.path.join("fixtures")
    }
}
