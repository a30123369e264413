//! Which settings hold for a file, and whether rumdl's walk would reach it.
//!
//! The nearest configuration counts, rumdl's before markdownlint's in one directory, as rumdl decides it. Never
//! looks above the root.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broker_plugin_sdk::config::{ByFolder, ConfigFiles, broken_link, on_one_line};
use rumdl_lib::config::{MARKDOWNLINT_CONFIG_FILES, RUMDL_CONFIG_FILES, SourcedConfig};
use rumdl_lib::workspace_index::FileIndex;
use rustc_hash::FxHashMap;

use crate::reach::{Gate, IgnoreFiles};
use crate::selection::Selection;
use crate::settings::Settings;
use crate::shown::Shown;
use crate::site::Sites;

/// Settings, or a sentence about the configuration that should have given them.
type Resolved = Result<Rc<Settings>, Rc<str>>;

/// A directory tree and the settings found in it so far.
pub(crate) struct Workspace {
    files: ConfigFiles,
    selection: Selection,
    /// Settings for the files of a directory.
    settings: ByFolder<Resolved>,
    gate: OnceCell<Rc<Gate>>,
    ignore_files: IgnoreFiles,
    pub(crate) sites: Sites,
    pub(crate) shown: Shown,
    /// Link targets in other files; none for files that are not Markdown that rumdl would look at.
    pub(crate) indexes: FxHashMap<PathBuf, Option<FileIndex>>,
}

impl Workspace {
    pub(crate) fn new(files: ConfigFiles, selection: Selection) -> Self {
        Self {
            files,
            selection,
            settings: ByFolder::default(),
            gate: OnceCell::new(),
            ignore_files: IgnoreFiles::default(),
            sites: Sites::default(),
            shown: Shown::default(),
            indexes: FxHashMap::default(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.files.root()
    }

    /// The settings for `file`, which was found at or below `named`; none if rumdl would leave it out. A file that was named is
    /// never left out.
    pub(crate) fn reach(&mut self, file: &Path, named: &Path) -> Result<Option<Rc<Settings>>, Rc<str>> {
        let settings = self.directory(self.files.folder_of(file))?;
        if file != named && self.is_left_out(file, named, &settings)? {
            return Ok(None);
        }
        Ok(Some(settings))
    }

    fn is_left_out(&mut self, file: &Path, named: &Path, settings: &Settings) -> Result<bool, Rc<str>> {
        // rumdl's walk follows no links; what they lead to is checked where it is.
        if file.is_symlink() {
            return Ok(true);
        }
        let gate = self.gate()?;
        Ok(!gate.lets_through(file, named, self.root())
            || settings.config.is_cli2_ignored(file)
            || self.ignore_files.name(file, self.files.root()))
    }

    /// The root's configuration decides which files of all are looked at.
    fn gate(&self) -> Result<Rc<Gate>, Rc<str>> {
        let settings = self.directory(self.root())?;
        Ok(self.gate.get_or_init(|| Rc::new(Gate::new(&settings))).clone())
    }

    fn directory(&self, dir: &Path) -> Resolved {
        self.settings.get_or(dir, || self.resolve(dir))
    }

    fn resolve(&self, dir: &Path) -> Resolved {
        let above = self.files.above(dir);
        if self.files.is_fixed() {
            return if above.is_none() { self.fixed() } else { self.directory(self.root()) };
        }
        if let Some(problem) = self.unreadable_config(dir) {
            return Err(problem);
        }
        if let Some(config) = SourcedConfig::discover_config_for_dir(dir, dir) {
            let project = self.project(dir, above.is_none())?;
            let sourced = SourcedConfig::load_sourced_for_path(&config, &project);
            return self.finish(sourced, &config);
        }
        match above {
            Some(above) => self.directory(above),
            None => Ok(Rc::new(Settings::new(SourcedConfig::default(), &self.selection, self.root()))),
        }
    }

    /// Folder that patterns in the configuration of `dir` are relative to: the root, if that has one of its own.
    fn project(&self, dir: &Path, is_root: bool) -> Result<PathBuf, Rc<str>> {
        let above = !is_root && self.directory(self.root())?.is_configured;
        Ok(if above { self.root() } else { dir }.to_path_buf())
    }

    /// rumdl passes silently over a configuration that it cannot look at, which here may just be a link that
    /// leads out of the workspace.
    fn unreadable_config(&self, dir: &Path) -> Option<Rc<str>> {
        let names = RUMDL_CONFIG_FILES.iter().chain(MARKDOWNLINT_CONFIG_FILES);
        let (file, error) = broken_link(dir, names.copied())?;
        Some(self.sentence(&format!("a link that cannot be followed: {error}"), &file))
    }

    /// The one configuration that holds for the whole workspace.
    fn fixed(&self) -> Resolved {
        let root = self.root();
        let Some(config) = self.files.named() else {
            return self.finish(Ok::<_, &str>(SourcedConfig::default()), root);
        };
        let name = config.to_string_lossy();
        self.finish(SourcedConfig::load_for_directory(root, Some(&name), false, root), config)
    }

    fn finish<E: ToString>(&self, sourced: Result<SourcedConfig, E>, config: &Path) -> Resolved {
        let sourced = sourced.map_err(|it| self.sentence(&it.to_string(), config))?;
        Ok(Rc::new(Settings::new(sourced, &self.selection, self.root())))
    }

    /// Message of one sentence for a broken configuration, with paths as the user knows them.
    fn sentence(&self, problem: &str, config: &Path) -> Rc<str> {
        self.files.unusable(config, on_one_line(&self.files.with_names(problem))).into()
    }
}
