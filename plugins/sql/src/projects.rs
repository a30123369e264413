//! Which configuration holds for a file: all from the root down to its folder, the nearer over the farther, as with sqruff.
//! Never looks above the root.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use broker_plugin_sdk::{Report, SourceFile};
use rustc_hash::FxHashMap;

use crate::config::{self, Config};
use crate::lint::Linter;
use crate::reach::Ignored;
use crate::rules::Selection;

/// What the user asked for on the command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) selection: Selection,
    pub(crate) isolated: bool,
    /// Relative to the root.
    pub(crate) config: Option<String>,
    /// Where no configuration names one.
    pub(crate) dialect: Option<String>,
}

/// What holds for the files of a directory.
pub(crate) struct Project {
    config: Config,
    linter: Linter,
    ignored: Rc<Ignored>,
}

impl Project {
    pub(crate) fn leaves_out(&self, file: &Path) -> bool {
        self.ignored.contains(file) || !self.config.has_extension(file)
    }

    /// Why a file of so many bytes is left out, if it is.
    pub(crate) fn is_too_large(&self, bytes: usize) -> Option<String> {
        if self.linter.reads_apart() { None } else { self.config.is_too_large(bytes) }
    }

    pub(crate) fn templater(&self) -> Option<&str> {
        self.config.templater()
    }

    pub(crate) fn codes(&self, selection: &Selection) -> Result<Vec<&'static str>, String> {
        self.linter.codes(selection)
    }

    pub(crate) fn check(
        &self,
        file: &SourceFile,
        text: &str,
        selection: &Selection,
    ) -> Result<Report, String> {
        let report = self.linter.run(&file.path, text, selection)?;
        Ok(report.unwrap_or_else(|| Report::left_out(&file.path, NO_DIALECT)))
    }
}

const NO_DIALECT: &str = "no dialect is configured, and its queries cannot be read as ANSI SQL or that of PostgreSQL, MySQL or SQLite";

/// A project, or a sentence about the configuration that should have made one.
type Found = Result<Rc<Project>, Rc<str>>;

/// A directory tree and what was found in it so far.
pub(crate) struct Projects {
    root: PathBuf,
    options: Options,
    /// For files that no configuration is about: made ahead of time.
    unconfigured: Linter,
    /// What holds for the files of a directory. (Not the standard library's map: its order is random.)
    known: FxHashMap<PathBuf, Found>,
    /// What the files in a directory and those above it say.
    read: FxHashMap<PathBuf, Result<Rc<Read>, Rc<str>>>,
}

struct Read {
    values: config::Values,
    ignored: Rc<Ignored>,
}

impl Projects {
    pub(crate) fn new() -> Self {
        let unconfigured = Linter::new(Config::default(), &Selection::default());
        Self {
            root: PathBuf::from("/"),
            options: Options::default(),
            unconfigured,
            known: FxHashMap::default(),
            read: FxHashMap::default(),
        }
    }

    pub(crate) fn warm_up(&self) {
        self.unconfigured.warm_up();
    }

    pub(crate) fn configure(&mut self, root: &Path, options: Options) {
        self.root = root.to_path_buf();
        self.options = options;
        self.known.clear();
        self.read.clear();
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn selection(&self) -> &Selection {
        &self.options.selection
    }

    /// The nearest configuration file that says something of the files beside `file`.
    pub(crate) fn file_of(&self, file: &Path) -> Option<PathBuf> {
        match &self.options.config {
            Some(config) => Some(self.root.join(config)),
            None if self.options.isolated => None,
            None => {
                let dirs = file.ancestors().skip(1).take_while(|it| it.starts_with(&self.root));
                dirs.filter_map(|it| config::file_in(it, &self.root)).next()
            }
        }
    }

    /// The project that `file` is part of.
    pub(crate) fn of(&mut self, file: &Path) -> Found {
        let dir = file.parent().unwrap_or(&self.root).to_path_buf();
        if let Some(known) = self.known.get(&dir) {
            return known.clone();
        }
        let found = self.find(&dir).map(Rc::new);
        self.known.insert(dir, found.clone());
        found
    }

    fn find(&mut self, dir: &Path) -> Result<Project, Rc<str>> {
        let read = self.read(dir)?;
        let selection = &self.options.selection;
        let config = Config::new(read.values.clone(), self.options.dialect.clone());
        let is_plain = !config.is_configured()
            && config.dialect().is_none()
            && selection.select().is_none()
            && selection.more().is_empty();
        let linter =
            if is_plain { self.unconfigured.clone() } else { Linter::new(config.clone(), selection) };
        Ok(Project { config, linter, ignored: read.ignored.clone() })
    }

    fn read(&mut self, dir: &Path) -> Result<Rc<Read>, Rc<str>> {
        if let Some(known) = self.read.get(dir) {
            return known.clone();
        }
        let found = self.read_anew(dir).map(Rc::new);
        self.read.insert(dir.to_path_buf(), found.clone());
        found
    }

    fn read_anew(&mut self, dir: &Path) -> Result<Read, Rc<str>> {
        let above = match dir.parent() {
            Some(parent) if dir != self.root && dir.starts_with(&self.root) => Some(self.read(parent)?),
            _ => None,
        };
        let mut values = above.as_ref().map(|it| it.values.clone()).unwrap_or_default();
        let ignored = above.map(|it| it.ignored.clone()).unwrap_or_default();
        if let Some(config) = &self.options.config {
            let values = config::read_file(&self.root.join(config), &self.root)?;
            return Ok(Read { values, ignored });
        }
        if self.options.isolated {
            return Ok(Read { values, ignored });
        }
        let own = config::read_folder(dir, &self.root)?;
        let ignored = ignored.with(dir, &own);
        config::add(&mut values, own);
        Ok(Read { values, ignored })
    }
}
