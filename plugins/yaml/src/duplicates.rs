//! Keys that a mapping has twice: YAML forbids it, and most parsers refuse the file or drop one without a word.

use std::collections::BTreeMap;
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Related};

use crate::tree::{Document, Id, Kind};
use crate::{rules, scalar};

/// Whether the tool that reads this file expects keys to occur more than once.
pub(crate) fn are_wanted(path: &str) -> bool {
    path.rsplit('/').next() == Some(".cirrus.yml")
}

/// Looks at every mapping. `<<` may be there as often as one likes; keys that are no scalars are not compared.
pub(crate) fn check(document: &Document<'_>, found: &mut Vec<Diagnostic>) {
    for node in document.nodes() {
        if let Kind::Map(entries) = &node.kind {
            in_map(document, entries, found);
        }
    }
}

fn in_map(document: &Document<'_>, entries: &[(Id, Id)], found: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<&str, Vec<Id>> = BTreeMap::new();
    for (key, _) in entries {
        let node = document.node(*key);
        let Kind::Scalar { text, .. } = &node.kind else { continue };
        if node.is_custom || text == "<<" {
            continue;
        }
        let alike = seen.entry(text).or_default();
        match alike.iter().find(|it| are_same(document, **it, *key)) {
            None => alike.push(*key),
            Some(first) => found.push(duplicate(text, &document.node(*first).range, &node.range)),
        }
    }
}

/// Whether two keys are the same: `1` and `"1"` are not, although their text is.
fn are_same(document: &Document<'_>, one: Id, other: Id) -> bool {
    let value = |it: Id| match &document.node(it).kind {
        Kind::Scalar { text, style, tag } => Some(scalar::value(text, *style, tag.as_deref())),
        _ => None,
    };
    value(one) == value(other)
}

fn duplicate(text: &str, first: &Range<usize>, range: &Range<usize>) -> Diagnostic {
    let message = format!("the key `{}` is there twice", text.lines().next().unwrap_or_default());
    let related = Related { path: None, span: first.clone().into(), message: "first here".to_owned() };
    Diagnostic { related: vec![related], ..Diagnostic::error(rules::DUPLICATE_KEY, message, range.clone()) }
}
