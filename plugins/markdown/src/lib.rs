//! The rumdl linter as a Broker plugin: the crate itself, the project's own configuration (rumdl's or
//! markdownlint's), and the answers of `rumdl check`.
//!
//! Start reading at [`Markdown`], then [`workspace`] (which settings hold for a file), [`lint`] (run rumdl),
//! [`links`] (what needs other files) and [`convert`] (say it in the plugin's words).
//!
//! Without a configuration file, only the rules of [`defaults`] are on, which report broken text rather than matters of taste,
//! and in pages of documentation frameworks and parts of pages still less ([`site`], [`fragments`]). As soon as there is one, rumdl's own defaults hold, or, where
//! it is markdownlint's, the rules that markdownlint has ([`markdownlint`]).
//!
//! Left out: MD074, which tells of `mkdocs.yml` in whichever file comes first, so that its answer depends on the
//! order of files; code-block tools, which are programs (a file that has work for them is `partial`); Markdown in
//! the comments of Rust files; user-level configuration; `.editorconfig` (a project that wants it read has `partial` answers); `.gitignore` (the host decides which files exist); and
//! rumdl's cache.

mod anchors;
mod applicability;
mod convert;
mod defaults;
mod document;
mod emphasis;
mod excerpt;
mod footnotes;
mod fragments;
mod labels;
mod links;
mod lint;
mod markdownlint;
mod nesting;
mod purpose;
mod reach;
#[cfg(any(target_family = "wasm", test))]
mod real_path;
mod references;
mod reversed;
mod rules;
mod selection;
mod settings;
mod shown;
mod site;
#[cfg(test)]
mod tests;
mod warm_up;
mod workspace;

use broker_plugin_sdk::config::ConfigFiles;
use broker_plugin_sdk::{Completeness, Plugin, Report, Rule, RulesOn, Settings, SettingsError, SourceFile};

use rumdl_lib::rules::filter_rules_for_file;
use selection::Selection;
use workspace::Workspace;

const UNREAD: &str =
    "the configuration has `editorconfig = true`, and what `.editorconfig` says is not read here";

/// The plugin: a workspace with the settings found in it so far.
pub struct Markdown {
    workspace: Workspace,
}

impl Plugin for Markdown {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        warm_up::run();
        Self { workspace: Workspace::new(ConfigFiles::default(), Selection::default()) }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        let (selection, unknown) = selection::resolve(settings);
        // rumdl takes the folder it runs in for the project's. Without files (a question about rules) there is
        // nothing that could count.
        #[cfg(target_family = "wasm")]
        drop(std::env::set_current_dir(settings.root()));
        self.workspace = Workspace::new(ConfigFiles::new(settings), selection);
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let path = self.workspace.root().join(&file.path);
        let named = self.workspace.root().join(&file.named);
        let reached = self.workspace.reach(&path, &named).map_err(|it| it.to_string())?;
        let Some(settings) = reached else {
            return Ok(Report::excluded());
        };
        let mut report = lint::run(&path, &file.content, &settings, &mut self.workspace)?;
        let unread = settings.unresolved.as_deref();
        let unread = unread.or_else(|| settings.config.global.editorconfig.then_some(UNREAD));
        if let Some(why) = unread
            && matches!(report.completeness, Completeness::Complete)
        {
            report.completeness = Completeness::Partial(why.to_owned());
        }
        Ok(report)
    }

    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let path = self.workspace.root().join(path);
        // The file counts as named by the user, since such a file is never left out.
        let reached = self.workspace.reach(&path, &path).map_err(|it| it.to_string())?;
        let Some(settings) = reached else { return Ok(RulesOn::default()) };
        let on = filter_rules_for_file(&settings.rules, &settings.config, settings.relative(&path));
        Ok(RulesOn::new(on.iter().map(|it| it.name()), settings.file.as_deref()))
    }
}

broker_plugin_sdk::plugin!(Markdown, "../broker-plugin.toml");
