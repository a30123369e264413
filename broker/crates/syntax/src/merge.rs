//! Three-way merge by syntax tree, for texts whose changes a merge by lines cannot bring together.
//!
//! Each node is merged by lines first. Where that fails, a list of definitions, of imports or of entries is merged item by
//! item, and a definition child by child. Two items that both sides add at one place are no conflict if their order has no
//! meaning; statements are one. What is in doubt is a conflict: items of another order, of two indentations or of one name, an
//! item that both replaced, a name that two imports bind, entries with a spread. The result has a tree without errors and no
//! word that none of the changes explains.

mod imports;
mod item;
mod kinds;
mod list;

use std::{borrow::Cow, collections::HashMap, ops::Range};

use bytes::Bytes;
use tree_sitter::Node;

use crate::{Language, Tree};

/// Bytes of a text. What is larger is rarely written by hand.
const MAX_BYTES: usize = 1 << 20;

/// Nodes within each other that are merged one by one.
const MAX_DEPTH: usize = 64;

/// Languages of which the lists and their rules are known. Others are merged by lines alone: in some, such as TOML, YAML and
/// PHP, what an entry belongs to depends on what is above it.
const LANGUAGES: [&str; 8] =
    ["go", "java", "javascript", "json", "python", "rust", "typescript", "typescriptreact"];

/// Merges both changes of a text; `None` if they are at the same place or in doubt, if one of the texts has a syntax error or
/// carriage returns, or if the language is not known here.
pub fn merge(language: Language, base: &str, ours: &str, theirs: &str) -> Option<String> {
    let texts = [base, ours, theirs];
    if !LANGUAGES.contains(&language.name())
        || texts.iter().any(|it| it.len() > MAX_BYTES || it.contains('\r'))
    {
        return None;
    }
    let parsed = |text: &str| Tree::parse(language, Bytes::copy_from_slice(text.as_bytes()), &|| false).ok();
    let sound = |text: &str| parsed(text).filter(|it| !it.has_error());
    let trees = [sound(base)?, sound(ours)?, sound(theirs)?];
    let versions = [0, 1, 2].map(|it| Part::whole(&trees[it], texts[it]));
    let merged = merge_parts(versions, 0)?.into_owned();
    let result = sound(&merged)?;
    let bound = [&trees[0], &trees[1], &trees[2], &result].map(imports::bound_names);
    (is_explained(texts, &merged) && imports::are_bound_once(bound)).then_some(merged)
}

/// A node of a version, with what lies between the ends of its range.
#[derive(Clone, Copy)]
struct Part<'t> {
    node: Node<'t>,
    start: usize,
    end: usize,
    /// The whole version.
    text: &'t str,
}

impl<'t> Part<'t> {
    fn whole(tree: &'t Tree, text: &'t str) -> Self {
        Self { node: tree.inner.root_node(), start: 0, end: text.len(), text }
    }

    fn of(node: Node<'t>, text: &'t str) -> Self {
        let Range { start, end } = node.byte_range();
        Self { node, start, end, text }
    }

    fn text(self) -> &'t str {
        &self.text[self.start..self.end]
    }

    fn children(self) -> Vec<Self> {
        self.node.children(&mut self.node.walk()).map(|it| Self::of(it, self.text)).collect()
    }
}

/// Merges `[base, ours, theirs]` of one node.
fn merge_parts(parts: [Part<'_>; 3], depth: usize) -> Option<Cow<'_, str>> {
    let texts = parts.map(Part::text);
    if let Some(text) = choose(texts) {
        return Some(Cow::Borrowed(text));
    }
    let kind = parts[0].node.kind_id();
    if depth > MAX_DEPTH || parts.iter().any(|it| it.node.kind_id() != kind) {
        return None;
    }
    // The whole text was merged by lines before.
    let by_lines = if depth == 0 { None } else { merge_lines(texts) };
    let by_tree = || match kinds::list_of(parts[0].node) {
        Some(_) => list::merge(parts, depth),
        None => merge_children(parts, depth),
    };
    by_lines.or_else(by_tree).map(Cow::Owned)
}

/// The version that has the only change, if there is only one.
fn choose<T: PartialEq + ?Sized>([base, ours, theirs]: [&T; 3]) -> Option<&T> {
    match () {
        () if ours == base => Some(theirs),
        () if theirs == base || theirs == ours => Some(ours),
        () => None,
    }
}

fn merge_lines(texts: [&str; 3]) -> Option<String> {
    if !texts[0].contains('\n') {
        return None;
    }
    let [base, ours, theirs] = texts.map(|it| Bytes::copy_from_slice(it.as_bytes()));
    let merged = overlay::merge_texts(&base, &ours, &theirs)?;
    String::from_utf8(merged.into()).ok()
}

/// Merges a definition or an import whose children correspond one to one. Of expressions and statements, two changes rarely go
/// together.
fn merge_children(parts: [Part<'_>; 3], depth: usize) -> Option<String> {
    if parts.iter().any(|it| !kinds::has_parts(it.node, it.text)) {
        return None;
    }
    let [base, ours, theirs] = parts.map(Part::children);
    if base.is_empty() || [&ours, &theirs].iter().any(|it| it.len() != base.len()) {
        return None;
    }
    let mut merged = String::new();
    let mut ends = parts.map(|it| it.start);
    for ((base, ours), theirs) in base.into_iter().zip(ours).zip(theirs) {
        let child = [base, ours, theirs];
        let gap = [0, 1, 2].map(|it| &parts[it].text[ends[it]..child[it].start]);
        merged.push_str(choose_gap(gap)?);
        merged.push_str(&merge_parts(child, depth + 1)?);
        ends = child.map(|it| it.end);
    }
    merged.push_str(choose_gap([0, 1, 2].map(|it| &parts[it].text[ends[it]..parts[it].end]))?);
    Some(merged)
}

/// The text between two nodes. Where both sides changed only blanks, the branch's are taken.
fn choose_gap(gaps: [&str; 3]) -> Option<&str> {
    let bare = |it: &str| it.chars().filter(|it| !it.is_whitespace()).collect::<String>();
    choose(gaps).or_else(|| (bare(gaps[1]) == bare(gaps[2])).then_some(gaps[1]))
}

/// Whether each word is in the result as often as both changes, or one of two equal ones, make it.
fn is_explained(texts: [&str; 3], merged: &str) -> bool {
    let [base, ours, theirs] = texts.map(words);
    let result = words(merged);
    let count = |counts: &HashMap<&str, i64>, word| counts.get(word).copied().unwrap_or(0);
    let all = base.keys().chain(ours.keys()).chain(theirs.keys()).chain(result.keys());
    all.into_iter().all(|word| {
        let (base, ours, theirs) = (count(&base, word), count(&ours, word), count(&theirs, word));
        let both = ours + theirs - base;
        (ours.min(theirs).min(both)..=ours.max(theirs).max(both)).contains(&count(&result, word))
    })
}

/// Number of occurrences of each word of a text. What separates entries is left out.
fn words(text: &str) -> HashMap<&str, i64> {
    let mut counts = HashMap::new();
    for word in text.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests;
