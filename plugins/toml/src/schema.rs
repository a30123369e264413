//! Violations of a file's schema: the one that it names itself (`#:schema`, `$schema`), that taplo's configuration names, or that
//! goes with its name. Leaves out schemas that only the network has.

use std::path::Path;

use broker_plugin_sdk::{Diagnostic, inform};
use broker_schemas::{SchemaLookup, Schemas, Violation, place};
use toml::de::DeTable;

use crate::config::Config;
use crate::{rules, tree};

/// `path` is from the root.
pub(crate) fn check(
    schemas: &mut Schemas,
    config: &Config,
    path: &str,
    text: &str,
    table: &DeTable,
    found: &mut Vec<Diagnostic>,
) {
    let Some(configured) = config.schema(path) else {
        return; // switched off
    };
    let declared = directive(text).or_else(|| field(table)).map(str::to_owned).or(configured);
    if declared.is_none() && !schemas.knows(path) {
        return; // most files
    }
    let value = tree::value(table);
    match schemas.for_file(path, declared.as_deref(), &value) {
        SchemaLookup::Schema(schema) => {
            found.extend(schema.check(&value).iter().map(|it| diagnostic(it, text, table)))
        }
        SchemaLookup::Unusable(why) => inform(&format!("{path} was not checked against its schema: {why}")),
        SchemaLookup::Nothing => {}
    }
}

/// Returns the address in a comment before everything else: `#:schema ADDRESS`.
fn directive(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}');
    let header = text.lines().map(str::trim).take_while(|it| it.is_empty() || it.starts_with('#'));
    let mut named = header.filter_map(|it| it.strip_prefix("#:schema")).map(str::trim);
    named.find(|it| !it.is_empty())
}

fn field<'a>(table: &'a DeTable) -> Option<&'a str> {
    table.get("$schema").and_then(|it| it.get_ref().as_str())
}

fn diagnostic(violation: &Violation, text: &str, table: &DeTable) -> Diagnostic {
    let range = match tree::spot(table, &violation.path) {
        Some(spot) => place::span(violation.place, &spot, text),
        None => 0..0,
    };
    Diagnostic::new(rules::SCHEMA, violation.message.clone(), range)
}

/// A path from the root as the file at `path` would name it.
pub(crate) fn seen_from(path: &str, target: &str) -> String {
    let depth = Path::new(path).components().count().saturating_sub(1);
    format!("{}{}", "../".repeat(depth), target.strip_prefix("./").unwrap_or(target))
}
