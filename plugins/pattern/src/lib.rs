//! Rules of the workspace's own, without building anything: ast-grep's YAML rules, with ast-grep's own crates, as a
//! Broker plugin.
//!
//! Start reading at [`Pattern`], then [`workspace`] (which rules there are), [`source`] (the host's trees as the
//! crates want them) and [`scan`] (run the rules).
//!
//! The crates stand in a guest, and not in the daemon, since anybody may write a rule: one that recurses too deep,
//! panics or never comes to an end costs its own instance, and neither the daemon nor another branch. Parsing is the
//! host's, so that files are parsed once for all.
//!
//! Left out: languages that the host has no grammar of (Haskell, Solidity and Markdown, of ast-grep's), and what
//! ast-grep does beside `scan` and `test`.

mod convert;
mod host;
mod languages;
mod layout;
mod problem;
mod rule_file;
mod rules;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod verify;
mod workspace;
mod yaml;

use std::collections::BTreeMap;

use broker_plugin_sdk::{
    Completeness, Diagnostic, Plugin, Report, Rule, RulesOn, Selection, Settings, SettingsError, SourceFile,
};

use crate::{
    languages::Lang,
    layout::Role,
    scan::{Builtin, Scan},
    workspace::Workspace,
};

/// The plugin: the rules of a workspace, and which of them are wanted.
#[derive(Default)]
pub struct Pattern {
    workspace: Workspace,
    selection: Selection,
    builtin: BTreeMap<Lang, Builtin>,
}

impl Plugin for Pattern {
    /// The rules are known only when the workspace is.
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        Self::default()
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        self.workspace = Workspace::new(settings);
        let unknown;
        (self.selection, unknown) = Selection::new(settings, &self.rules());
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all(&self.workspace)
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let mut report = self.scanned(file);
        report.diagnostics.extend(self.about_rules(file));
        Ok(report)
    }

    /// Returns the rules of the workspace that apply to the file.
    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let langs = self.workspace.layout.language(path).map(scan::languages).unwrap_or_default();
        let is_for = |it: &&rule_file::Rule| langs.iter().any(|lang| it.on(path, *lang).is_some());
        let own = self.workspace.rules.iter().filter(is_for);
        let on = own.filter(|it| self.selection.includes(&it.id));
        // Each stands in a file of its own, which `broker rule explain` names.
        Ok(RulesOn::new(on.map(|it| it.id.clone()), None))
    }
}

impl Pattern {
    /// Returns the findings of the rules in a file.
    fn scanned(&mut self, file: &SourceFile) -> Report {
        let Some(lang) = self.workspace.layout.language(&file.path) else { return Report::new(Vec::new()) };
        let Self { workspace, selection, builtin } = self;
        match (Scan { workspace, selection, builtin }).run(&file.path, &file.content, lang) {
            Err(why) => partial(Vec::new(), why),
            Ok(found) => match problem::incomplete(&workspace.problems, &file.path, &scan::languages(lang)) {
                Some(why) => partial(found, why),
                None => Report::new(found),
            },
        }
    }

    /// Returns the problems of the rules in a file.
    fn about_rules(&self, file: &SourceFile) -> Vec<Diagnostic> {
        let found = match self.workspace.layout.role(&file.path) {
            None => Vec::new(),
            Some(Role::Tests) => verify::run(&String::from_utf8_lossy(&file.content), &self.workspace),
            Some(Role::Rules | Role::Utilities | Role::Configuration) => {
                let here = self.workspace.problems.iter().filter(|it| it.path == file.path);
                here.map(problem::Problem::diagnostic).collect()
            }
        };
        found.into_iter().filter(|it| self.selection.includes(&it.code)).collect()
    }
}

fn partial(found: Vec<Diagnostic>, why: String) -> Report {
    Report { completeness: Completeness::Partial(why), ..Report::new(found) }
}

broker_plugin_sdk::plugin!(Pattern, "../broker-plugin.toml");
