//! YAML 1.2, as lenient as the parsers that people use: syntax, keys that are there twice, anchors that are not there,
//! what a file breaks of its schema, and what is wrong in the workflows and actions of GitHub.
//!
//! Start reading at [`findings`], then [`parse`] (documents and what breaks them), [`tree`] (nodes with places, which the plugin for shell scripts reads as well),
//! [`duplicates`], [`schema`] and [`actions`].
//!
//! Left out: style; templates, which are no YAML yet ([`template`] tells them); schemas that are neither in the workspace
//! nor carried along; and what tags mean: whatever a tag of one's own (`!Ref`, `!vault`) is put on may be anything.

mod actions;
mod duplicates;
mod parse;
mod rules;
mod scalar;
mod schema;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod yamllint;

use std::path::{Path, PathBuf};

use broker_plugin_sdk::offsets::without_mark;
use broker_plugin_sdk::template::IS_TEMPLATE;
use broker_plugin_sdk::{
    Completeness, Diagnostic, Plugin, Report, Rule, Settings, SettingsError, SourceFile, samples,
};
use broker_schemas::Schemas;
use broker_yaml_tree::tree;

use parse::Joined;

/// The plugin. It remembers schemas.
pub struct Yaml {
    root: PathBuf,
    schemas: Schemas,
}

impl Yaml {
    fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf(), schemas: Schemas::new(root) }
    }
}

impl Plugin for Yaml {
    fn new() -> Self {
        let mut plugin = Self::at(Path::new("/"));
        plugin.schemas.prepare(&[
            "compose-spec",
            "dependabot",
            "github-action",
            "github-workflow",
            "gitlab-ci",
            "pre-commit-config",
        ]);
        plugin
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        self.root = settings.root().to_path_buf();
        self.schemas.move_to(&self.root);
        Ok(())
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let report = self.report(&file.path, &file.content);
        Ok(samples::unless_broken_on_purpose(file, report, rules::SYNTAX_ERROR))
    }
}

broker_plugin_sdk::plugin!(Yaml, "../broker-plugin.toml");

impl Yaml {
    fn report(&mut self, path: &str, content: &[u8]) -> Report {
        let (mark, text) = match std::str::from_utf8(content).map(without_mark) {
            Ok(it) => it,
            Err(_) if content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff") => {
                let why = "it is UTF-16, which is not looked at".to_owned();
                return Report::partial(why);
            }
            Err(error) => return not_utf8(content, error.valid_up_to()),
        };
        if template::is_of_helm(path, text, &self.root) {
            return Report::left_out(path, "it is a template of a Helm chart");
        }
        if template::is_json(path, text) || yamllint::is_off(text) {
            return Report::excluded();
        }
        self.in_text(path, text).shifted(mark)
    }

    fn in_text(&mut self, path: &str, text: &str) -> Report {
        let written = parse::stream(text);
        let joined = if written.is_broken() { parse::joined(text) } else { Joined::Nothing };
        let stream = match &joined {
            Joined::Nothing => written,
            Joined::Text(text) => parse::stream(text),
            Joined::TooMany => {
                return Report::left_out(
                    path,
                    "texts in quotes go on with less indentation in too many places",
                );
            }
        };
        if stream.is_broken() && template::is_template(text) {
            return Report::left_out(path, IS_TEMPLATE);
        }
        let mut found = stream.found;
        if !duplicates::are_wanted(path) {
            stream.documents.iter().for_each(|it| duplicates::check(it, &mut found));
        }
        yamllint::drop_suppressed(text, &mut found);
        if stream.limit.is_none() && found.iter().all(|it| it.code != rules::SYNTAX_ERROR) {
            self.of_kind(path, text, &stream.documents, &mut found);
        }
        let range = |it: &Diagnostic| (it.span.start, it.span.end);
        found.sort_by_key(range);
        // A step that several jobs have by an alias is looked at in each.
        found.dedup_by(|it, before| range(it) == range(before) && it.message == before.message);
        let completeness = stream.limit.map_or(Completeness::Complete, Completeness::Partial);
        Report { completeness, ..Report::new(found) }
    }

    /// Runs the checks for this kind of file alone.
    fn of_kind(
        &mut self,
        path: &str,
        text: &str,
        documents: &[tree::Document<'_>],
        found: &mut Vec<Diagnostic>,
    ) {
        for document in documents {
            schema::check(&mut self.schemas, path, text, document, found);
        }
        if let [document] = documents {
            actions::check(path, text, document, found);
        }
    }
}

fn not_utf8(content: &[u8], at: usize) -> Report {
    let message = format!("not valid UTF-8: byte 0x{:02X} does not belong here", content[at]);
    Report::new(vec![Diagnostic::error(rules::SYNTAX_ERROR, message, at..at + 1)])
}
