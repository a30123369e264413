//! The plugin over small workspaces on disk, with a host of the tests' own.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

mod authors;
mod findings;
pub(crate) mod host;
mod places;

use std::fs;

use broker_plugin_sdk::*;
use tempfile::TempDir;

use crate::Pattern;

/// A folder with files in it and the plugin over it.
struct Project {
    root: TempDir,
    plugin: Pattern,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = TempDir::new().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { root, plugin: Pattern::new() }.with(settings()).unwrap()
    }

    fn with(mut self, settings: Settings) -> Result<Self, SettingsError> {
        let root = self.root.path().to_str().unwrap().to_owned();
        self.plugin.configure(&Settings { root, ..settings })?;
        Ok(self)
    }

    fn report(&mut self, path: &str) -> Report {
        let content = fs::read(self.root.path().join(path)).unwrap();
        host::serve(path, &String::from_utf8_lossy(&content));
        self.plugin.check(&SourceFile { path: path.to_owned(), content, named: path.to_owned() }).unwrap()
    }

    /// Returns each finding on a line with its text, and the reason why there may be more.
    fn check(&mut self, path: &str) -> String {
        let report = self.report(path);
        let text = fs::read_to_string(self.root.path().join(path)).unwrap_or_default();
        let line = |it: &Diagnostic| {
            let about = &text[it.span.start as usize..it.span.end as usize];
            format!("{} {about:?}: {}", it.code, it.message)
        };
        let why = match report.completeness {
            Completeness::Partial(why) => Some(format!("partial: {why}")),
            _ => None,
        };
        report.diagnostics.iter().map(line).chain(why).collect::<Vec<_>>().join("\n")
    }

    /// The file's text with the first fix of each finding applied.
    fn fixed(&mut self, path: &str) -> String {
        let report = self.report(path);
        let mut text = fs::read_to_string(self.root.path().join(path)).unwrap();
        for diagnostic in report.diagnostics.iter().rev() {
            let edit = &diagnostic.fixes[0].edits[0];
            text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
        }
        text
    }
}

fn settings() -> Settings {
    Settings { root: String::new(), select: None, ignore: Vec::new(), isolated: false, config: None }
}

fn select(selectors: &[&str]) -> Settings {
    Settings { select: Some(selectors.iter().map(|it| (*it).to_owned()).collect()), ..settings() }
}

/// A rule for JavaScript that finds calls of `eval`.
const NO_EVAL: &str = "id: no-eval\nlanguage: js\nmessage: do not call eval\nrule: {pattern: eval($$$)}\n";
