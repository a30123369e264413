//! Keys that a mapping has twice: YAML forbids it, and most parsers refuse the file or drop one without a word.

use std::collections::BTreeMap;

use broker_plugin_sdk::{Diagnostic, Related};

use crate::tree::{Document, Id, Kind};
use crate::{error, rules, scalar};

/// Whether the tool that reads this file wants keys to be there more than once.
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
    let mut first = BTreeMap::new();
    for (key, _) in entries {
        let node = document.node(*key);
        let Kind::Scalar { text, style, tag } = &node.kind else { continue };
        if node.is_custom || text == "<<" {
            continue;
        }
        // `1` and `"1"` are two keys.
        let kind = std::mem::discriminant(&scalar::value(text, *style, tag.as_deref()));
        let known = first.entry((text.as_ref(), format!("{kind:?}"))).or_insert_with(|| node.range.clone());
        if *known == node.range {
            continue;
        }
        let message = format!("the key `{}` is there twice", text.lines().next().unwrap_or_default());
        let related = Related { path: None, span: known.clone().into(), message: "first here".to_owned() };
        let duplicate = error(rules::DUPLICATE_KEY, message, node.range.clone());
        found.push(Diagnostic { related: vec![related], ..duplicate });
    }
}
