//! Violations of the schema that the file's name or the file itself names.

use broker_plugin_sdk::{Diagnostic, inform};
use broker_schemas::place::{self, Spot};
use broker_schemas::{SchemaLookup, Schemas, Segment, Violation, ViolationPart};

use crate::tree::{Document, Id, Kind};
use crate::{rules, scalar, value};

/// Prefixes of comments that editors read: they precede the document and name its schema.
const MODELINES: [&str; 2] = ["# yaml-language-server: $schema=", "# $schema: "];

pub(crate) fn check(
    schemas: &mut Schemas,
    path: &str,
    text: &str,
    document: &Document<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let Some(root) = document.root() else { return };
    let inside = document.get(root, "$schema").and_then(|it| document.text(it));
    let declared = modeline(text).or(inside);
    if declared.is_none() && !schemas.knows(path)
        || document.entries(root).is_empty() && is_empty(document, root)
    {
        return; // most files
    }
    let Some(value) = value::of(document) else {
        return inform(&format!(
            "{path} was not checked against its schema: with its aliases it is too large or too deep"
        ));
    };
    match schemas.for_file(path, declared, &value) {
        SchemaLookup::Schema(schema) => {
            let all = schema.check(&value);
            found.extend(all.iter().filter_map(|it| diagnostic(it, text, document, root)));
        }
        SchemaLookup::Unusable(why) => inform(&format!("{path} was not checked against its schema: {why}")),
        SchemaLookup::Nothing => {}
    }
}

fn is_empty(document: &Document<'_>, root: Id) -> bool {
    document.text(root).is_some_and(str::is_empty)
}

fn modeline(text: &str) -> Option<&str> {
    let comments = text.lines().take_while(|it| it.starts_with('#') || it.trim().is_empty() || *it == "---");
    let mut named = comments.flat_map(|line| MODELINES.iter().filter_map(|it| line.strip_prefix(it)));
    named.next().map(str::trim).filter(|it| !it.is_empty() && *it != "none")
}

/// Converts a violation; `None` if a reader may get another value than the one written.
fn diagnostic(violation: &Violation, text: &str, document: &Document<'_>, root: Id) -> Option<Diagnostic> {
    let way = way(document, root, &violation.path)?;
    let last = *way.last()?;
    let is_open = |it: Id| document.node(it).is_custom;
    let parts = document.items(last.value).iter().chain(document.entries(last.value).iter().map(|it| &it.1));
    if way.iter().any(|it| is_open(it.value)) || parts.into_iter().any(|it| is_open(document.resolved(*it))) {
        return None;
    }
    let is_said_of_value = violation.place == ViolationPart::Value;
    if is_said_of_value && is_ambiguous(document, last.value) {
        return None;
    }
    let key = last.key.map(|it| document.node(it).range.clone());
    let spot = Spot { key, value: document.node(last.value).range.clone() };
    Some(Diagnostic::new(rules::SCHEMA, violation.message.clone(), place::span(violation.place, &spot, text)))
}

fn is_ambiguous(document: &Document<'_>, id: Id) -> bool {
    match &document.node(id).kind {
        Kind::Scalar { text, style, tag } => {
            // `key:` and nothing after it is no value to most tools, be it that the schema wants one.
            scalar::value(text, *style, tag.as_deref()).is_null() || scalar::is_ambiguous(text, *style)
        }
        Kind::Unknown => true,
        _ => false,
    }
}

/// A value and the key before it.
#[derive(Clone, Copy)]
struct Step {
    key: Option<Id>,
    value: Id,
}

/// The nodes on the way to the part at `path`, through aliases and merges.
fn way(document: &Document<'_>, root: Id, path: &[Segment]) -> Option<Vec<Step>> {
    let mut way = vec![Step { key: None, value: document.resolved(root) }];
    for segment in path {
        let at = way.last()?.value;
        let step = match segment {
            Segment::Index(index) => Step { key: None, value: *document.items(at).get(*index)? },
            Segment::Key(key) => entry(document, at, key, 0)?,
        };
        way.push(Step { value: document.resolved(step.value), ..step });
    }
    Some(way)
}

fn entry(document: &Document<'_>, map: Id, key: &str, depth: usize) -> Option<Step> {
    let entries = document.entries(map);
    let own = entries.iter().rev().find(|it| document.text(it.0) == Some(key));
    if let Some((key, value)) = own {
        return Some(Step { key: Some(*key), value: *value });
    }
    let merged = entries.iter().filter(|it| depth < 20 && document.text(it.0) == Some("<<"));
    merged.into_iter().find_map(|(_, from)| {
        let list = document.items(*from);
        let all = if list.is_empty() { std::slice::from_ref(from) } else { list };
        all.iter().find_map(|it| entry(document, *it, key, depth + 1))
    })
}
