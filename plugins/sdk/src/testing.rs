//! For native tests of a plugin: a workspace on the disk, and the plugin over it. What the host gives, such as syntax
//! trees, is not there.

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

/// What was logged in this thread since it was asked last.
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

/// A folder with files in it and the plugin over it.
pub struct Project<P> {
    pub root: TempDir,
    pub plugin: P,
}

impl<P: Plugin> Project<P> {
    /// With default settings.
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

    /// With settings that make sense; their root is the folder.
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

    /// What is said of a file; `named` is what the user named, and led to it.
    pub fn report(&mut self, path: &str, named: &str) -> Result<Report, String> {
        let content = fs::read(self.root.path().join(path)).expect("the file is there");
        self.plugin.check(&SourceFile { path: path.to_owned(), content, named: named.to_owned() })
    }

    /// The codes found, in the order of the text; `excluded`, or why there may be more.
    pub fn check(&mut self, path: &str) -> String {
        told(self.report(path, ""))
    }

    /// `line code "text it is about"` of each finding, or as with [`Project::check`] if the answer is not whole.
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

    /// The configuration file that holds for a file, relative to the folder.
    pub fn config(&mut self, path: &str) -> Option<String> {
        let on = self.plugin.rules_on(path).expect("the configuration makes sense");
        on.config.map(|it| it.trim_start_matches(&self.root()).trim_start_matches('/').to_owned())
    }

    /// As [`Project::check`], of a file that the user named itself.
    pub fn check_explicit(&mut self, path: &str) -> String {
        told(self.report(path, path))
    }
}

/// The codes of a report, or what became of the file.
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
