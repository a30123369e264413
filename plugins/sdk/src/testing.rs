//! Helpers for native tests of a plugin: a workspace on the disk, and the plugin over it. Functions of the host, such as syntax
//! trees, are not available.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::{cell::RefCell, fs};

use tempfile::TempDir;

use crate::{Completeness, Diagnostic, Plugin, Report, Settings, SettingsError, SourceFile};

thread_local! {
    static OPTIONS: RefCell<Option<String>> = const { RefCell::new(None) };
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn record(line: &str) {
    LOG.with(|it| it.borrow_mut().push(line.to_owned()));
}

/// Returns the lines logged in this thread since the last call.
#[must_use]
pub fn logged() -> Vec<String> {
    LOG.with(RefCell::take)
}

/// Sets what [`linter_options`](crate::linter_options) returns in this thread: a JSON object.
pub fn set_linter_options(json: Option<&str>) {
    OPTIONS.with(|it| *it.borrow_mut() = json.map(str::to_owned));
}

pub(crate) fn linter_options() -> Option<String> {
    OPTIONS.with(|it| it.borrow().clone())
}

/// Folder with files and a plugin that is configured for it.
pub struct Project<P> {
    pub root: TempDir,
    pub plugin: P,
}

impl<P: Plugin> Project<P> {
    /// Makes the folder, and configures the plugin with default settings.
    #[must_use]
    pub fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().expect("there is a temporary folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written");
        }
        Self { root, plugin: P::new() }.with(settings())
    }

    /// Configures the plugin with settings that it must accept; their root is set to the folder.
    #[must_use]
    pub fn with(self, settings: Settings) -> Self {
        self.try_with(settings).expect("the settings make sense")
    }

    pub fn try_with(mut self, settings: Settings) -> Result<Self, SettingsError> {
        self.plugin.configure(&Settings { root: self.root(), ..settings })?;
        Ok(self)
    }

    #[must_use]
    pub fn root(&self) -> String {
        self.root.path().to_str().expect("a temporary folder has a plain name").to_owned()
    }

    /// Checks a file; `named` is the path that the user named and that led to it.
    pub fn report(&mut self, path: &str, named: &str) -> Result<Report, String> {
        let content = fs::read(self.root.path().join(path)).expect("the file is there");
        self.plugin.check(&SourceFile { path: path.to_owned(), content, named: named.to_owned() })
    }

    /// Checks a file. Returns the codes found, separated by blanks, `excluded`, or the reason why the report is partial or
    /// missing.
    pub fn check(&mut self, path: &str) -> String {
        told(self.report(path, ""))
    }

    /// Checks a file. Returns `line code "text it is about"` of each finding, or the same as [`Project::check`] if the report is
    /// not complete.
    pub fn lines(&mut self, path: &str) -> String {
        let bytes = fs::read(self.root.path().join(path)).expect("the file is there");
        let line = |it: &Diagnostic| {
            let (start, end) = (it.span.start as usize, it.span.end as usize);
            let number = bytes[..start].iter().filter(|it| **it == b'\n').count() + 1;
            format!("{number} {} {:?}", it.code, String::from_utf8_lossy(&bytes[start..end]))
        };
        match self.report(path, "") {
            Ok(Report { completeness: Completeness::Complete, diagnostics, .. }) => {
                diagnostics.iter().map(line).collect::<Vec<_>>().join(", ")
            }
            other => told(other),
        }
    }

    /// Whether a rule is on for a file.
    pub fn is_on(&mut self, path: &str, code: &str) -> bool {
        let on = self.plugin.rules_on(path).expect("the configuration makes sense");
        on.codes.iter().any(|it| it == code)
    }

    /// Returns the configuration file that applies to a file, relative to the folder.
    pub fn config(&mut self, path: &str) -> Option<String> {
        let on = self.plugin.rules_on(path).expect("the configuration makes sense");
        on.config.map(|it| it.trim_start_matches(&self.root()).trim_start_matches('/').to_owned())
    }

    /// Like [`Project::check`], for a file that the user named itself.
    pub fn check_explicit(&mut self, path: &str) -> String {
        told(self.report(path, path))
    }
}

/// Returns the codes of a report, `excluded`, or the reason why it is partial or missing.
#[must_use]
pub fn told(report: Result<Report, String>) -> String {
    match report {
        Ok(Report { completeness: Completeness::Excluded, .. }) => "excluded".to_owned(),
        Ok(Report { completeness: Completeness::Partial(why), .. }) => format!("partial: {why}"),
        Ok(report) => report.diagnostics.iter().map(|it| it.code.as_str()).collect::<Vec<_>>().join(" "),
        Err(error) => error,
    }
}

#[must_use]
pub fn settings() -> Settings {
    Settings { root: String::new(), select: None, ignore: Vec::new(), isolated: false, config: None }
}

#[must_use]
pub fn select(selectors: &[&str]) -> Settings {
    Settings { select: Some(selectors.iter().map(|it| (*it).to_owned()).collect()), ..settings() }
}
