//! Checks of TOML files, as a Broker plugin: with cargo's parser, which reports every error in a file, and taplo's configuration
//! of which files to look at.
//!
//! Start reading at [`Toml`], then [`syntax`] (what no reader takes), [`newer`] (what only readers of TOML 1.1 take),
//! [`schema`] (what the file's schema wants) and [`config`] (which files are left out).
//!
//! Taplo's own parser is not used: of toml-test's files for TOML 1.0, taplo 0.14 rejects 8 that are valid and takes 4
//! that are not; the parser used here, together with [`newer`], is right about all of them, for TOML 1.1 as well.
//!
//! Left out: templates of TOML (the log says which), schemas from the network, formatting, and taplo's configuration in other
//! places than the root: taplo looks for it from where it runs.

mod config;
mod keys;
mod newer;
mod numbers;
mod rules;
mod schema;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;

use std::cell::OnceCell;

use broker_plugin_sdk::config::ConfigFiles;
use broker_plugin_sdk::template::{self, Tag};
use broker_plugin_sdk::{
    Completeness, Diagnostic, Plugin, Report, Rule, Settings, SettingsError, SourceFile, offsets, samples,
};
use broker_schemas::Schemas;
use toml::de::DeTable;

use config::Config;

/// The plugin: where the workspace is, and what its configuration leaves out.
pub struct Toml {
    files: ConfigFiles,
    config: OnceCell<Result<Config, String>>,
    schemas: Schemas,
}

impl Plugin for Toml {
    fn new() -> Self {
        let mut schemas = Schemas::default();
        schemas.prepare(&["cargo", "pyproject"]);
        Self { files: ConfigFiles::default(), config: OnceCell::new(), schemas }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        self.files = ConfigFiles::new(settings);
        self.config.take();
        self.schemas.move_to(settings.root());
        Ok(())
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let config = self.config.get_or_init(|| Config::find(&self.files)).as_ref().map_err(Clone::clone)?;
        if !file.is_explicit() && !config.includes(&self.files.root().join(&file.path)) {
            return Ok(Report::excluded());
        }
        let mut check = |text: &str, table: &DeTable, found: &mut Vec<Diagnostic>| {
            schema::check(&mut self.schemas, config, &file.path, text, table, found);
        };
        let report = report(&file.content, &mut check);
        if is_template(&file.content, &report) {
            return Ok(Report::left_out(&file.path, template::IS_TEMPLATE));
        }
        Ok(samples::unless_broken_on_purpose(file, report, rules::INVALID_SYNTAX))
    }
}

broker_plugin_sdk::plugin!(Toml, "../broker-plugin.toml");

/// Returns the report on a file with these bytes, in the order of the text. `schema` adds the violations of its schema, if it is
/// TOML at all.
fn report(content: &[u8], schema: &mut dyn FnMut(&str, &DeTable, &mut Vec<Diagnostic>)) -> Report {
    let text = match std::str::from_utf8(content) {
        Ok(text) => text,
        Err(error) => {
            let message = "not valid UTF-8, as every TOML file has to be";
            let found = Diagnostic::error(rules::INVALID_SYNTAX, message, offsets::not_utf8(&error));
            return Report::new(vec![found]);
        }
    };
    let (mut found, completeness, table) = syntax::check(text);
    if found.is_empty() && matches!(completeness, Completeness::Complete) {
        schema(text, &table, &mut found);
    }
    newer::check(text, &mut found);
    found.sort_by_key(|it| (it.span.start, it.span.end));
    Report { completeness, ..Report::new(found) }
}

/// Whether a tag is where the text cannot be parsed, outside of quotes.
fn is_template(text: &[u8], report: &Report) -> bool {
    let is_broken = |it: &&Diagnostic| it.code == rules::INVALID_SYNTAX;
    let errors = report.diagnostics.iter().filter(is_broken).map(|it| it.span.start as usize);
    template::outside_of_quotes(text, &Tag::UNQUOTED, errors).is_some()
}
