//! The ruff linter as a Broker plugin: the crates ruff itself is made of, the project's own configuration,
//! and the answers of `ruff check`. Without a configuration, [`defaults`] takes some rules out of ruff's, by what a
//! file is for ([`purpose`]), [`false_positives`]
//! suppresses findings that may be no mistake, and what the project's configuration of flake8 leaves out is left out
//! ([`flake8`]).
//!
//! Start reading at [`Python`], then [`workspace`] (which settings hold for a file), [`lint`] (run ruff) and
//! [`convert`] (say it in the plugin's words).
//!
//! Left out: `.gitignore` (the host decides which files exist), ruff's cache, its formatter, fixing until
//! stable (the host applies fixes), user-level configuration (`~/.config/ruff`), and EXE001 and EXE002,
//! which ask for file modes that the mounted file system does not have.

mod ambient;
mod caught;
mod convert;
mod defaults;
mod expected;
mod exports;
mod false_positives;
mod flake8;
mod handled;
mod lint;
mod namespace;
mod notebook;
mod per_file;
mod problem;
mod purpose;
mod python2;
mod ranges;
mod redefined;
mod rules;
mod selection;
mod submodules;
#[cfg(test)]
mod tests;
mod unreached;
mod version;
mod warm_up;
mod workspace;

use std::path::Path;

use broker_plugin_sdk::config::ConfigFiles;
use broker_plugin_sdk::{Plugin, Report, Rule, RulesOn, Settings, SettingsError, SourceFile, linter_options};

use workspace::{Options, Workspace};

/// The plugin: a workspace with the settings found in it so far.
pub struct Python {
    workspace: Workspace,
}

impl Plugin for Python {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        warm_up::run();
        Self { workspace: Workspace::new(Options::default()) }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        let (selection, unknown) = selection::resolve(settings);
        let files = ConfigFiles::new(settings);
        let mut options = Options { selection, files, ..Options::default() };
        if let Some(json) = linter_options() {
            options.read(&json);
        }
        // Patterns of a configuration file that the user named count from here, as ruff's from where it runs.
        // Without files (a question about rules) there is nothing that could count.
        #[cfg(target_family = "wasm")]
        drop(std::env::set_current_dir(settings.root()));
        self.workspace = Workspace::new(options);
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let path = self.workspace.root().join(&file.path);
        let named = self.workspace.root().join(&file.named);
        let reached = self.workspace.reach(&path, &named).map_err(|it| it.to_string())?;
        let Some(applied) = reached else {
            return Ok(Report::excluded());
        };
        let package = self.workspace.package(&path, &applied.settings.linter.namespace_packages);
        let mut purposes = purpose::of(Path::new(&file.path));
        let mut report = lint::run(&path, file, package.as_ref(), &applied, &purposes)?;
        if !report.diagnostics.is_empty() {
            purposes.extend(purpose::of_text(&String::from_utf8_lossy(&file.content)));
            let ignores = applied.ignoring(&path, &purposes);
            report.diagnostics.retain(|it| !ignores(&it.code));
        }
        Ok(report)
    }

    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let purposes = purpose::of(Path::new(path));
        let path = self.workspace.root().join(path);
        let (applied, config) = self.workspace.holding_for(&path).map_err(|it| it.to_string())?;
        let ignored = config.as_deref().map(|it| per_file::ignored(&path, it)).unwrap_or_default();
        let on = applied.settings.linter.rules.iter_enabled().filter(|it| !ignored.contains(*it));
        let codes = on.map(|it| it.noqa_code().to_string()).chain([convert::SYNTAX_ERROR.to_owned()]);
        let ignores = applied.ignoring(&path, &purposes);
        let codes = codes.filter(|it| !ignores(it));
        Ok(RulesOn::new(codes, config.as_deref().or(applied.flake8_file())))
    }
}

broker_plugin_sdk::plugin!(Python, "../broker-plugin.toml");
