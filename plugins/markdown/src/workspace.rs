//! Which settings hold for a file, and whether rumdl's walk would reach it.
//!
//! The nearest configuration counts, rumdl's before markdownlint's in one directory, as rumdl decides it. Never
//! looks above the root.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rumdl_lib::config::{MARKDOWNLINT_CONFIG_FILES, RUMDL_CONFIG_FILES, SourcedConfig};
use rumdl_lib::workspace_index::FileIndex;
use rustc_hash::FxHashMap;

use crate::reach::{Gate, IgnoreFiles};
use crate::selection::Selection;
use crate::settings::Settings;
use crate::shown::Shown;
use crate::site::Sites;

/// What the user asked for on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) selection: Selection,
    pub(crate) isolated: bool,
    /// Relative to the root.
    pub(crate) config: Option<String>,
}

/// Settings, or a sentence about the configuration that should have given them.
type Resolved = Result<Rc<Settings>, Rc<str>>;

/// A directory tree and the settings found in it so far.
pub(crate) struct Workspace {
    root: PathBuf,
    options: Options,
    /// What holds for the files of a directory.
    settings: FxHashMap<PathBuf, Resolved>,
    gate: Option<Rc<Gate>>,
    ignore_files: IgnoreFiles,
    pub(crate) sites: Sites,
    pub(crate) shown: Shown,
    /// What other files have that links may lead to; none for what is not Markdown that rumdl would look at.
    pub(crate) indexes: FxHashMap<PathBuf, Option<FileIndex>>,
}

impl Workspace {
    pub(crate) fn new(root: &Path, options: Options) -> Self {
        Self {
            root: root.to_path_buf(),
            options,
            settings: FxHashMap::default(),
            gate: None,
            ignore_files: IgnoreFiles::default(),
            sites: Sites::default(),
            shown: Shown::default(),
            indexes: FxHashMap::default(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The settings for `file`, which was found at or below `named`; none if rumdl would leave it out. What was
    /// named is never left out.
    pub(crate) fn reach(&mut self, file: &Path, named: &Path) -> Result<Option<Rc<Settings>>, Rc<str>> {
        let directory = file.parent().unwrap_or(&self.root).to_path_buf();
        let settings = self.directory(&directory)?;
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
        Ok(!gate.lets_through(file, named, &self.root)
            || settings.config.is_cli2_ignored(file)
            || self.ignore_files.name(file, &self.root))
    }

    /// The root's configuration decides which files of all are looked at.
    fn gate(&mut self) -> Result<Rc<Gate>, Rc<str>> {
        if let Some(gate) = &self.gate {
            return Ok(gate.clone());
        }
        let root = self.root.clone();
        let gate = Rc::new(Gate::new(&*self.directory(&root)?));
        self.gate = Some(gate.clone());
        Ok(gate)
    }

    fn directory(&mut self, dir: &Path) -> Resolved {
        if let Some(known) = self.settings.get(dir) {
            return known.clone();
        }
        let found = self.resolve(dir);
        self.settings.insert(dir.to_path_buf(), found.clone());
        found
    }

    fn resolve(&mut self, dir: &Path) -> Resolved {
        let is_root = dir == self.root || !dir.starts_with(&self.root);
        if self.options.isolated || self.options.config.is_some() {
            return if is_root { self.fixed() } else { self.directory(&self.root.clone()) };
        }
        if let Some(problem) = self.unreadable_config(dir) {
            return Err(problem);
        }
        if let Some(config) = SourcedConfig::discover_config_for_dir(dir, dir) {
            let project = self.project(dir, is_root)?;
            let sourced = SourcedConfig::load_sourced_for_path(&config, &project);
            return self.finish(sourced, &config);
        }
        match dir.parent() {
            Some(parent) if !is_root => self.directory(parent),
            _ => Ok(Rc::new(Settings::new(SourcedConfig::default(), &self.options.selection, &self.root))),
        }
    }

    /// What patterns in the configuration of `dir` are relative to: the root, if that has one of its own.
    fn project(&mut self, dir: &Path, is_root: bool) -> Result<PathBuf, Rc<str>> {
        let root = self.root.clone();
        let above = !is_root && self.directory(&root)?.is_configured;
        Ok(if above { root } else { dir.to_path_buf() })
    }

    /// rumdl passes silently over a configuration that it cannot look at, which here may just be a link that
    /// leads out of the workspace.
    fn unreadable_config(&self, dir: &Path) -> Option<Rc<str>> {
        let names = RUMDL_CONFIG_FILES.iter().chain(MARKDOWNLINT_CONFIG_FILES);
        let files = names.map(|name| dir.join(name));
        let mut broken = files.filter(|it| it.is_symlink()).filter_map(|it| Some((it.metadata().err()?, it)));
        let (error, file) = broken.find(|(error, _)| error.kind() != io::ErrorKind::NotFound)?;
        Some(self.sentence(&format!("a link that cannot be followed: {error}"), &file))
    }

    /// The one configuration that holds for the whole workspace.
    fn fixed(&self) -> Resolved {
        let Some(config) = &self.options.config else {
            return self.finish(Ok::<_, &str>(SourcedConfig::default()), &self.root);
        };
        let path = self.root.join(config);
        let name = path.to_string_lossy();
        self.finish(SourcedConfig::load_for_directory(&self.root, Some(&name), false, &self.root), &path)
    }

    fn finish<E: ToString>(&self, sourced: Result<SourcedConfig, E>, config: &Path) -> Resolved {
        let sourced = sourced.map_err(|it| self.sentence(&it.to_string(), config))?;
        Ok(Rc::new(Settings::new(sourced, &self.options.selection, &self.root)))
    }

    /// One sentence for a broken configuration, with paths as the user knows them.
    fn sentence(&self, problem: &str, config: &Path) -> Rc<str> {
        let root = self.root.to_string_lossy();
        let told = problem.replace(&format!("{}/", root.trim_end_matches('/')), "");
        let excerpt = |line: &&str| {
            line.trim_start_matches(|it: char| it.is_ascii_digit() || it == ' ').starts_with('|')
        };
        let lines: Vec<&str> =
            told.lines().filter(|it| !excerpt(it)).map(str::trim).filter(|it| !it.is_empty()).collect();
        let config = config.strip_prefix(&self.root).unwrap_or(config);
        format!("cannot use `{}`: {}", config.display(), lines.join(": ")).into()
    }
}
