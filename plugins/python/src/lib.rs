//! The ruff linter as a Broker plugin: the crates ruff itself is made of, the project's own configuration,
//! and the answers of `ruff check`.
//!
//! Start reading at [`Python`], then [`workspace`] (which settings hold for a file), [`lint`] (run ruff) and
//! [`convert`] (say it in the plugin's words).
//!
//! Left out: `.gitignore` (the host decides which files exist), ruff's cache, its formatter, fixing until
//! stable (the host applies fixes), user-level configuration (`~/.config/ruff`), and EXE001 and EXE002,
//! which ask for file modes that the mounted file system does not have.

mod convert;
mod lint;
mod notebook;
mod problem;
mod rules;
mod selection;
#[cfg(test)]
mod tests;
mod warm_up;
mod workspace;

use std::path::Path;

use broker_plugin_sdk::{Plugin, Report, Rule, Settings, SettingsError, SourceFile};

use workspace::{Options, Workspace};

/// Where the host mounts the workspace.
const ROOT: &str = "/";

/// The plugin: a workspace with the settings found in it so far.
pub struct Python {
    workspace: Workspace,
}

impl Python {
    /// Over a directory that need not be the mount point.
    fn at(root: &Path) -> Self {
        Self { workspace: Workspace::new(root, Options::default()) }
    }
}

impl Plugin for Python {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        warm_up::run();
        Self::at(Path::new(ROOT))
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        let (selection, unknown) = selection::resolve(settings.select.as_deref(), &settings.ignore);
        let options = Options { selection, isolated: settings.isolated, config: settings.config.clone() };
        self.workspace = Workspace::new(self.workspace.root(), options);
        if unknown.is_empty() { Ok(()) } else { Err(SettingsError::UnknownSelectors(unknown)) }
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let path = self.workspace.root().join(&file.path);
        let reached = self.workspace.reach(&path, file.explicit).map_err(|it| it.to_string())?;
        let Some(settings) = reached else {
            return Ok(Report::excluded());
        };
        let package = self.workspace.package(&path, &settings.linter.namespace_packages);
        Ok(lint::run(&path, &file.content, package.as_ref(), &settings.linter))
    }
}

broker_plugin_sdk::plugin!(Python, "../broker-plugin.toml");
