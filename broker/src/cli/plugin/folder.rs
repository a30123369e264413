//! A plugin's own folder, as its author has it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use config::folders;
use ignore::{DirEntry, WalkBuilder};
use overlay::{ContentHash, WorkspacePath};
use plugin_host::Manifest;

use crate::CliError;

const MANIFEST: &str = "broker-plugin.toml";

const FIXTURES: &str = "fixtures";

/// Folders that tools make.
const MADE: [&str; 4] = ["dist", "target", "node_modules", "__pycache__"];

/// A folder with a manifest.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) manifest: Manifest,
    /// Text of the manifest's file.
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

    /// Path of the component after a build.
    pub(super) fn component(&self) -> PathBuf {
        self.path.join("dist").join(format!("{}.wasm", self.manifest.name))
    }

    /// A file that the component is made of and that was changed after it was made.
    pub(super) fn newer_than(&self, component: &Path) -> Option<PathBuf> {
        let changed = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
        let built = changed(component)?;
        let fixtures = self.fixtures();
        let mut sources = written_by_hand(&self.path).filter(|it| !it.starts_with(&fixtures));
        sources.find(|it| changed(it).is_some_and(|it| it > built))
    }

    pub(super) fn fixtures(&self) -> PathBuf {
        self.path.join(FIXTURES)
    }
}

/// The contents of the files that the author writes, by their paths in the plugin's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files(BTreeMap<PathBuf, ContentHash>);

impl Files {
    pub(super) fn of(folder: &Path) -> Self {
        let known = |it: PathBuf| {
            // A file that cannot be read fails the build, which gives the reason.
            let content = ContentHash::of(&folders::read(&it).ok()?);
            Some((it.strip_prefix(folder).ok()?.to_owned(), content))
        };
        Self(written_by_hand(folder).filter_map(known).collect())
    }

    /// Takes files that a build may have written as they are now.
    pub(super) fn take_what_builds_write(&mut self, folder: &Path) {
        let now = Self::of(folder).0;
        self.0.retain(|it, _| !is_written_by_builds(it));
        self.0.extend(now.into_iter().filter(|(it, _)| is_written_by_builds(it)));
    }

    /// Returns the files that only one of the sets has, or that have another content in it.
    pub(super) fn differing(&self, other: &Self) -> BTreeSet<WorkspacePath> {
        let only_in = |one: &Self, other: &Self| {
            let differ = one.0.iter().filter(|(path, content)| other.0.get(*path) != Some(*content));
            differ.filter_map(|(path, _)| WorkspacePath::new(path.to_str()?).ok()).collect::<Vec<_>>()
        };
        only_in(self, other).into_iter().chain(only_in(other, self)).collect()
    }

    /// Whether the files differ in a way that makes a build produce another component.
    pub(super) fn differ_in_sources(&self, other: &Self) -> bool {
        self.differing(other).iter().any(|it| it.components().next() != Some(FIXTURES))
    }
}

/// Cargo writes it where it is missing or old, and authors change it by `cargo update`.
fn is_written_by_builds(path: &Path) -> bool {
    path == Path::new("Cargo.lock")
}

/// Lists all fixtures, and the other files without what tools make and without hidden ones, but for cargo's configuration.
fn written_by_hand(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let fixtures = folder.join(FIXTURES);
    let is_by_hand = move |it: &DirEntry| {
        let name = it.file_name().to_string_lossy();
        let is_hidden = name.starts_with('.') && name != ".cargo";
        let is_made = is_hidden || MADE.contains(&&*name) || name.ends_with('~');
        it.depth() == 0 || it.path().starts_with(&fixtures) || !is_made
    };
    let files = WalkBuilder::new(folder).standard_filters(false).filter_entry(is_by_hand).build();
    let files = files.flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file()));
    files.map(DirEntry::into_path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn what_an_author_writes_is_told_from_what_tools_write() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let shown = |now: &Files, before: &Files| -> Vec<String> {
            now.differing(before).iter().map(ToString::to_string).collect()
        };
        write("src/lib.rs", "1");
        let mut first = Files::of(folder.path());
        for made in
            ["dist/a.wasm", "target/a", "node_modules/a/b.js", ".venv/a", "src/__pycache__/a", "src/a~"]
        {
            write(made, "made");
        }
        assert_eq!(shown(&Files::of(folder.path()), &first), [""; 0]);
        write("Cargo.lock", "1");
        first.take_what_builds_write(folder.path());
        assert_eq!(Files::of(folder.path()), first);
        write("fixtures/valid/.tool.toml", "1");
        let second = Files::of(folder.path());
        assert_eq!(shown(&second, &first), ["fixtures/valid/.tool.toml"]);
        assert!(!second.differ_in_sources(&first));
        write("Cargo.lock", "2");
        write("src/_inner/__init__.py", "1");
        write(".cargo/config.toml", "1");
        fs::remove_file(folder.path().join("src/lib.rs")).unwrap();
        let third = Files::of(folder.path());
        let want = [".cargo/config.toml", "Cargo.lock", "src/_inner/__init__.py", "src/lib.rs"];
        assert_eq!(shown(&third, &second), want);
        assert!(third.differ_in_sources(&second));
    }
}
