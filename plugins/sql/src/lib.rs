//! The sqruff linter as a Broker plugin: the crate itself, the project's own configuration (sqruff's or sqlfluff's), and
//! the answers of `sqruff lint`.
//!
//! Start reading at [`Sql`], then [`projects`] (which configuration holds), [`reach`] (whether it leaves the file out),
//! [`template`] (whether the file is SQL at all), [`lint`], [`apart`] and [`engine`] (run sqruff) and [`convert`] (say it in the plugin's words).
//!
//! Not as sqruff does it, each where sqruff's way would be of no use here:
//! - Where nothing is configured, a file is read statement by statement, each as the first of a few dialects that can
//!   ([`apart`]), and only those in which a rule can find something ([`statements`], [`tables`]). Statements of no dialect are
//!   passed over, and the log says how many; a file with none that can be read is left out. sqruff takes all for ANSI SQL, and
//!   finds fault with each line of what is none.
//! - Where only the dialect is missing, a file is of the first of these that it can be parsed as ([`defaults`]), and left out
//!   if it is of none, but for a first word that is misspelled ([`misspelled`]).
//! - Where nothing is configured, only what is a mistake in any database is told ([`defaults`], [`false_positives`]).
//! - Two of sqruff's findings are wrong, and not told: AL05 for an alias with a list of columns, whose fix would break the
//!   query, and RF01 for a function in FROM that is referred to by its own name.
//! - Where a dialect is configured, what cannot be parsed is told, as it is by `sqruff lint --parsing-errors`.
//! - A value in the configuration that sqruff breaks off at, or that means nothing to it, is told ([`values`]), and the file
//!   not linted.
//! - Where something is configured, but no limit, files are read up to 50,000 bytes; sqruff's own limit is 20,000. Where
//!   nothing is, the length of a file does not matter, but only that of a query.
//! - Commands of sqlite3's shell, MySQL's client and psql are read as comments ([`client`]).
//! - Files with templates in them are not linted as if they were SQL, since the templaters `jinja`, `dbt`, `python` and
//!   `sqlmesh` need Python: they are left out, and the log says so. Files without are linted, whatever templater is configured, and all are with `templater = raw`.
//! - Fixes are told violation by violation, as the rule gives them, but for those that make code part of a comment. sqruff
//!   makes them all, again and again.
//!
//! Left out: `setup.cfg` and `tox.ini`, which sqruff does not read, either; configuration above the workspace and in the
//! home folder; `warn_unused_ignores`. A string with `{{ a }}` in it is taken for a template where no templater is
//! configured. An expression of thousands of operators takes longer than a plugin may, and the host tells that.

mod apart;
mod client;
mod complete;
mod config;
mod convert;
mod defaults;
mod engine;
mod false_positives;
mod inline;
mod lint;
mod misspelled;
mod projects;
mod reach;
mod renamed;
mod rules;
mod statements;
mod tables;
mod template;
#[cfg(test)]
mod tests;
mod values;

use broker_plugin_sdk::config::ConfigFiles;
use broker_plugin_sdk::{Plugin, Report, Rule, RulesOn, Settings, SettingsError, SourceFile, linter_options};

use projects::{Options, Projects};

/// The plugin: a workspace with the configurations found in it so far.
pub struct Sql {
    projects: Projects,
}

impl Plugin for Sql {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        let projects = Projects::new();
        // Natively there are only tests, which have no use for it.
        if cfg!(target_family = "wasm") {
            projects.warm_up();
        }
        Self { projects }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        let (selection, unknown) = rules::selection(settings);
        let told = linter_options().and_then(|it| serde_json::from_str::<serde_json::Value>(&it).ok());
        let dialect = told.and_then(|it| Some(it.get("dialect")?.as_str()?.to_owned()));
        self.projects.configure(Options { selection, files: ConfigFiles::new(settings), dialect });
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let path = self.projects.root().join(&file.path);
        let project = self.projects.of(&path).map_err(|it| it.to_string())?;
        if !file.is_explicit() && project.leaves_out(&path) {
            return Ok(Report::excluded());
        }
        if let Some(why) = project.is_too_large(file.content.len()) {
            return Ok(Report::left_out(&file.path, &why));
        }
        let text = match std::str::from_utf8(&file.content) {
            Ok(text) => text,
            Err(error) => return Ok(lint::not_text(error, self.projects.selection())),
        };
        match template::objection(text, project.templater()) {
            // A template cannot be fixed in the file, so it does not make the report incomplete for ever.
            Some(why) => Ok(Report::left_out(&file.path, &why)),
            None => project.check(file, text, self.projects.selection()),
        }
    }

    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let path = self.projects.root().join(path);
        let project = self.projects.of(&path).map_err(|it| it.to_string())?;
        let file = self.projects.file_of(&path);
        Ok(RulesOn::new(project.codes(self.projects.selection())?, file.as_deref()))
    }
}

broker_plugin_sdk::plugin!(Sql, "../broker-plugin.toml");
