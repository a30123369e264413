//! JSON in its dialects: syntax, keys that are there twice, and what a file breaks of its schema.
//!
//! Start reading at [`findings`], then [`dialect`] (who reads a file with which name, and how strictly), [`syntax`],
//! [`duplicates`] and [`schema`].
//!
//! Left out: style, which formatters settle; schemas that are neither in the workspace nor carried along (nothing is
//! fetched; the log says which files were not checked against theirs); templates of JSON, which are no JSON yet; and
//! streams of many values in one file, of which only the syntax of each is looked at.

mod dialect;
mod duplicates;
mod rules;
mod schema;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;

use std::path::Path;

use broker_plugin_sdk::offsets::without_mark;
use broker_plugin_sdk::{Plugin, Report, Rule, Settings, SettingsError, SourceFile, samples, template};
use broker_schemas::Schemas;

use dialect::Dialect;
use syntax::Outcome;

/// The plugin. It remembers schemas.
pub struct Json {
    schemas: Schemas,
}

impl Plugin for Json {
    fn new() -> Self {
        let mut schemas = Schemas::default();
        schemas.prepare(&["eslintrc", "package", "tsconfig"]);
        Self { schemas }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        let root = settings.root();
        self.schemas.move_to(root);
        Ok(())
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let report = report(&mut self.schemas, &file.path, &file.content);
        Ok(samples::unless_broken_on_purpose(file, report, rules::SYNTAX_ERROR))
    }
}

broker_plugin_sdk::plugin!(Json, "../broker-plugin.toml");

fn report(schemas: &mut Schemas, path: &str, content: &[u8]) -> Report {
    match std::str::from_utf8(content).map(without_mark) {
        Ok((mark, text)) => in_text(schemas, path, text).shifted(mark),
        Err(error) => syntax::not_utf8(content, error.valid_up_to()).into_iter().collect(),
    }
}

fn in_text(schemas: &mut Schemas, path: &str, text: &str) -> Report {
    let Some(dialect) = Dialect::of(path, text) else {
        return Report::excluded();
    };
    let (mut found, tree) = match syntax::parse(text, dialect) {
        // Their readers take all of YAML, which is more than is looked at here.
        Outcome::Parsed(_, None) if Dialect::may_be_yaml(path) => return Report::excluded(),
        Outcome::Parsed(_, None) if template::is_include(Path::new(path)) => {
            return Report::left_out(path, template::IS_PART);
        }
        Outcome::Parsed(found, tree) => (found, tree),
        Outcome::Other(why) => return Report::left_out(path, why),
        Outcome::TooDeep => {
            let why = "it is nested too deep to be looked at".to_owned();
            return Report::partial(why);
        }
    };
    if let Some(tree) = tree {
        duplicates::check(&tree, &mut found);
        schema::check(schemas, path, text, &tree, &mut found);
    }
    found.sort_by_key(|it| (it.span.start, it.span.end));
    Report::new(found)
}
