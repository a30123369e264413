//! Violations of the schema that a file's name or its `$schema` names.

use broker_plugin_sdk::{Diagnostic, inform};
use broker_schemas::{SchemaLookup, Schemas, Violation, place};
use jsonc_parser::ast::Value;

use crate::{rules, tree};

pub(crate) fn check(
    schemas: &mut Schemas,
    path: &str,
    text: &str,
    tree: &Value<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let declared = tree.as_object().and_then(|it| it.get_string("$schema")).map(|it| it.value.as_ref());
    if declared.is_none() && !schemas.knows(path) {
        return; // most files
    }
    let value = tree::value(tree);
    match schemas.for_file(path, declared, &value) {
        SchemaLookup::Schema(schema) => {
            found.extend(schema.check(&value).iter().map(|it| diagnostic(it, text, tree)));
        }
        SchemaLookup::Unusable(why) => inform(&format!("{path} was not checked against its schema: {why}")),
        SchemaLookup::Nothing => {}
    }
}

fn diagnostic(violation: &Violation, text: &str, tree: &Value<'_>) -> Diagnostic {
    let range = match tree::spot(tree, &violation.path) {
        Some(spot) => place::span(violation.place, &spot, text),
        None => 0..0,
    };
    Diagnostic::new(rules::SCHEMA, violation.message.clone(), range)
}
