//! Names that the imports of a text bind.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::kinds;
use crate::Tree;

/// Names by the number of imports that bind them.
pub(super) type Bound = BTreeMap<String, usize>;

/// Returns the names that a text's imports bind: what stands last in each part of one.
pub(super) fn bound_names(tree: &Tree) -> Bound {
    let mut bound = Bound::new();
    let text = str::from_utf8(tree.text()).unwrap_or_default();
    let mut waiting = vec![tree.inner.root_node()];
    while let Some(node) = waiting.pop() {
        if kinds::is_import(node) {
            names(node, text).into_iter().for_each(|it| *bound.entry(it).or_default() += 1);
        } else {
            waiting.extend(node.children(&mut node.walk()).filter(|it| it.child_count() > 0));
        }
    }
    bound
}

/// Whether no name of `[base, ours, theirs, merged]` is bound more often in the last than in each of the others.
pub(super) fn are_bound_once([base, ours, theirs, merged]: [Bound; 4]) -> bool {
    let count = |bound: &Bound, name: &str| bound.get(name).copied().unwrap_or(0);
    merged.iter().all(|(name, number)| {
        let most = [&base, &ours, &theirs].map(|it| count(it, name)).into_iter().max().unwrap_or(0);
        *number <= most
    })
}

/// The words before a separator, before `from`, and at the end.
fn names(import: Node<'_>, text: &str) -> Vec<String> {
    let text = text.get(import.byte_range()).unwrap_or_default();
    let mut names = Vec::new();
    let mut word = String::new();
    let mut last = String::new();
    for it in text.chars().chain([';']) {
        if it.is_alphanumeric() || it == '_' || it == '$' {
            word.push(it);
            continue;
        }
        if !word.is_empty() {
            if word == "from" && !last.is_empty() {
                names.push(std::mem::take(&mut last));
            }
            last = std::mem::take(&mut word);
        }
        if ",;})\"'\n".contains(it) && !last.is_empty() {
            names.push(std::mem::take(&mut last));
        }
    }
    names.retain(|it| !["import", "from", "use", "type", "as"].contains(&it.as_str()));
    names
}
