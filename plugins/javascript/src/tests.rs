//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

mod configuration;
mod findings;

use std::fs;

use broker_plugin_sdk::*;
use tempfile::TempDir;

use crate::JavaScript;

/// A directory with files in it and the plugin over it.
struct Repo {
    root: TempDir,
    plugin: JavaScript,
}

impl Repo {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = TempDir::new().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let plugin = JavaScript::at(root.path());
        Self { root, plugin }
    }

    fn with(mut self, settings: Settings) -> Self {
        self.plugin.configure(&Settings { root: self.root(), ..settings }).unwrap();
        self
    }

    fn root(&self) -> String {
        self.root.path().to_str().unwrap().to_owned()
    }

    fn report(&mut self, path: &str, named: &str) -> Result<Report, String> {
        let content = fs::read(self.root.path().join(path)).unwrap();
        self.plugin.check(&SourceFile { path: path.to_owned(), content, named: named.to_owned() })
    }

    /// The codes found, in the order of the text; `excluded`, or what is wrong with the configuration.
    fn check(&mut self, path: &str) -> String {
        told(self.report(path, ""))
    }
}

fn told(report: Result<Report, String>) -> String {
    match report {
        Ok(Report { completeness: Completeness::Excluded, .. }) => "excluded".to_owned(),
        Ok(report) => report.diagnostics.iter().map(|it| it.code.as_str()).collect::<Vec<_>>().join(" "),
        Err(error) => error,
    }
}

fn settings() -> Settings {
    Settings { root: String::new(), select: None, ignore: Vec::new(), isolated: false, config: None }
}

fn select(selectors: &[&str]) -> Settings {
    Settings { select: Some(selectors.iter().map(|it| (*it).to_owned()).collect()), ..settings() }
}
