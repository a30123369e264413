//! Which configuration holds for a file: all from the root down to its folder, the nearer over the farther, as with sqruff.
//! Never looks above the root.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use broker_plugin_sdk::config::{ByFolder, ConfigFiles};
use broker_plugin_sdk::{Report, SourceFile};

use crate::config::{self, Config};
use crate::lint::Linter;
use crate::reach::Ignored;
use crate::rules::Selection;

/// Options from the command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) selection: Selection,
    pub(crate) files: ConfigFiles,
    /// Dialect of files for which no configuration names one.
    pub(crate) dialect: Option<String>,
}

/// Configuration and linter for the files of a directory.
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
    options: Options,
    /// For files that no configuration is about: made ahead of time.
    unconfigured: Linter,
    known: ByFolder<Found>,
    /// Configuration files of a directory and of those above it.
    read: ByFolder<Result<Rc<Read>, Rc<str>>>,
}

struct Read {
    values: config::Values,
    ignored: Rc<Ignored>,
}

impl Projects {
    pub(crate) fn new() -> Self {
        let unconfigured = Linter::new(Config::default(), &Selection::default());
        Self {
            options: Options::default(),
            unconfigured,
            known: ByFolder::default(),
            read: ByFolder::default(),
        }
    }

    pub(crate) fn warm_up(&self) {
        self.unconfigured.warm_up();
    }

    pub(crate) fn configure(&mut self, options: Options) {
        self.options = options;
        self.known.clear();
        self.read.clear();
    }

    pub(crate) fn root(&self) -> &Path {
        self.files().root()
    }

    pub(crate) fn selection(&self) -> &Selection {
        &self.options.selection
    }

    /// The nearest configuration file that says something of the files beside `file`.
    pub(crate) fn file_of(&self, file: &Path) -> Option<PathBuf> {
        self.files().find(self.files().folder_of(file), |it| config::file_in(it, self.files()))
    }

    fn files(&self) -> &ConfigFiles {
        &self.options.files
    }

    /// The project that `file` is part of.
    pub(crate) fn of(&self, file: &Path) -> Found {
        let dir = self.files().folder_of(file);
        self.known.get_or(dir, || self.find(dir).map(Rc::new))
    }

    fn find(&self, dir: &Path) -> Result<Project, Rc<str>> {
        let read = self.read(dir)?;
        let selection = &self.options.selection;
        let config = Config::new(read.values.clone(), self.options.dialect.clone());
        let is_plain = !config.is_configured()
            && config.dialect().is_none()
            && !selection.is_chosen()
            && selection.more.is_empty();
        let linter =
            if is_plain { self.unconfigured.clone() } else { Linter::new(config.clone(), selection) };
        Ok(Project { config, linter, ignored: read.ignored.clone() })
    }

    fn read(&self, dir: &Path) -> Result<Rc<Read>, Rc<str>> {
        self.read.get_or(dir, || self.read_anew(dir).map(Rc::new))
    }

    fn read_anew(&self, dir: &Path) -> Result<Read, Rc<str>> {
        let above = self.files().above(dir).map(|it| self.read(it)).transpose()?;
        let mut values = above.as_ref().map(|it| it.values.clone()).unwrap_or_default();
        let ignored = above.map(|it| it.ignored.clone()).unwrap_or_default();
        if let Some(config) = self.files().named() {
            let values = config::read_file(config, self.files())?;
            return Ok(Read { values, ignored });
        }
        if self.files().is_fixed() {
            return Ok(Read { values, ignored });
        }
        let own = config::read_folder(dir, self.files())?;
        let ignored = ignored.with(dir, &own);
        config::add(&mut values, own);
        Ok(Read { values, ignored })
    }
}
