//! Three-way merge by syntax tree, for texts whose changes a merge by lines cannot bring together.
//!
//! Each node is merged by lines first. Where that fails, a list of definitions, of imports or of entries is merged item by
//! item, and a definition child by child, as is any other node of which both sides changed a single child. Two items that both
//! sides add at one place are no conflict if their order has no meaning; statements are one. What is in doubt is a conflict:
//!
//! - items of another order or of two indentations, and an item that both replaced;
//! - a name that a scope would bind more often than in one of the versions, by definitions and imports together (`bound`);
//! - arrays, unless they are sets of names, and entries with a spread or a computed key (`sets`);
//! - a body that would be empty, and signatures of one function with another definition between them.
//!
//! The result has a tree without errors and no word that none of the changes explains.

mod bound;
mod imports;
mod item;
mod kinds;
mod list;
mod sets;
mod side;
mod text;

use std::{borrow::Cow, ops::Range};

use bytes::Bytes;
use tree_sitter::Node;

use self::text::{Format, choose_gap, is_explained};
use crate::{Language, Tree};

/// Bytes of a text. What is larger is rarely written by hand.
const MAX_BYTES: usize = 1 << 20;

/// Texts within each other that are merged by lines, of those with more than `SMALL` bytes.
const MAX_LARGE: usize = 4;
const SMALL: usize = 1 << 14;

/// Nodes within each other that are merged one by one.
const MAX_DEPTH: usize = 64;

/// Languages of which the lists and their rules are known. Others are merged by lines alone: in some, such as TOML, YAML and
/// PHP, what an entry belongs to depends on what is above it.
const LANGUAGES: [&str; 8] =
    ["go", "java", "javascript", "json", "python", "rust", "typescript", "typescriptreact"];

/// Merges both changes of a text; `None` if they are at the same place or in doubt, if one of the texts has a syntax error or
/// other ends of lines, or if the language is not known here.
pub fn merge(language: Language, base: &str, ours: &str, theirs: &str) -> Option<String> {
    let texts = [base, ours, theirs];
    if !LANGUAGES.contains(&language.name()) || texts.iter().any(|it| it.len() > MAX_BYTES) {
        return None;
    }
    let format = Format::common(texts)?;
    let bare = texts.map(|it| format.bare(it));
    let merged = merge_bare(language, bare.each_ref().map(|it| &**it))?;
    Some(format.written(merged))
}

fn merge_bare(language: Language, texts: [&str; 3]) -> Option<String> {
    let parsed = |text: &str| Tree::parse(language, Bytes::copy_from_slice(text.as_bytes()), &|| false).ok();
    let sound = |text: &str| parsed(text).filter(|it| !it.has_error());
    let trees = [sound(texts[0])?, sound(texts[1])?, sound(texts[2])?];
    let versions = [0, 1, 2].map(|it| Part::whole(&trees[it], texts[it]));
    let merged = merge_parts(versions, Around::whole(versions))?.into_owned();
    let result = sound(&merged)?;
    let bound = [&trees[0], &trees[1], &trees[2], &result].map(bound::bound_names);
    (is_explained(texts, &merged) && bound::are_bound_once(bound)).then_some(merged)
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

/// Context of a node that is merged.
#[derive(Clone, Copy)]
struct Around {
    depth: usize,
    /// The smallest text around it that does not merge by lines, in each version.
    unmerged: [(usize, usize); 3],
    /// Number of texts of more than `SMALL` bytes that may still be merged by lines.
    large: usize,
}

impl Around {
    /// The whole text was merged by lines before.
    fn whole(parts: [Part<'_>; 3]) -> Self {
        Self { depth: 0, unmerged: parts.map(|it| (it.start, it.end)), large: MAX_LARGE }
    }

    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// Returns the context of the children of a part that is merged by lines; `None` if that goes as it went for the text
    /// around it, which has no other changes, or would take long.
    fn tried(self, parts: [Part<'_>; 3]) -> Option<Self> {
        let outside = [0, 1, 2].map(|it| {
            let ((start, end), part) = (self.unmerged[it], parts[it]);
            [&part.text[start..part.start], &part.text[part.end..end]]
        });
        let is_same = outside[0] == outside[1] && outside[0] == outside[2];
        let is_large = parts.iter().any(|it| it.end - it.start > SMALL);
        let large = self.large.checked_sub(usize::from(is_large));
        let unmerged = parts.map(|it| (it.start, it.end));
        large.filter(|_| !is_same).map(|large| Self { unmerged, large, ..self })
    }
}

/// Merges `[base, ours, theirs]` of one node.
fn merge_parts(parts: [Part<'_>; 3], around: Around) -> Option<Cow<'_, str>> {
    let texts = parts.map(Part::text);
    if let Some(text) = choose(texts) {
        return Some(Cow::Borrowed(text));
    }
    let kind = parts[0].node.kind_id();
    if around.depth > MAX_DEPTH {
        return None;
    }
    if parts.iter().any(|it| it.node.kind_id() != kind) {
        return merge_wrapped(parts).map(Cow::Owned);
    }
    let tried = around.tried(parts);
    if let Some(merged) = tried.and_then(|_| merge_lines(texts)) {
        return Some(merged.into());
    }
    let around = tried.unwrap_or(around);
    let merged = match kinds::list_of(parts[0].node, parts[0].text) {
        Some(_) => list::merge(parts, around),
        None => merge_children(parts, around),
    };
    merged.map(Cow::Owned)
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

/// Merges a node whose children correspond one to one: a definition or an import, or one of which both sides changed a single
/// child, so that this one has the same context in all. Of expressions and statements, other changes rarely go together.
fn merge_children(parts: [Part<'_>; 3], around: Around) -> Option<String> {
    let [base, ours, theirs] = parts.map(Part::children);
    let have_parts = || parts.iter().all(|it| kinds::has_parts(it.node, it.text));
    if base.is_empty() || [&ours, &theirs].iter().any(|it| it.len() != base.len()) {
        return if have_parts() { merge_reshaped(parts) } else { None };
    }
    let children: Vec<_> = base.into_iter().zip(ours).zip(theirs).map(|((b, o), t)| [b, o, t]).collect();
    let is_changed = |it: &&[Part<'_>; 3]| it[1].text() != it[0].text() || it[2].text() != it[0].text();
    if children.iter().filter(is_changed).count() > 1 && !have_parts() {
        return None;
    }
    let mut merged = String::new();
    let mut ends = parts.map(|it| it.start);
    for child in children {
        let gap = [0, 1, 2].map(|it| &parts[it].text[ends[it]..child[it].start]);
        merged.push_str(choose_gap(gap)?);
        merged.push_str(&merge_parts(child, around.deeper())?);
        ends = child.map(|it| it.end);
    }
    merged.push_str(choose_gap([0, 1, 2].map(|it| &parts[it].text[ends[it]..parts[it].end]))?);
    Some(merged)
}

/// Merges a definition around which one side put something, such as a decorator, while the other changed it.
fn merge_wrapped([base, ours, theirs]: [Part<'_>; 3]) -> Option<String> {
    let put = |changed: Part<'_>, wrapped: Part<'_>| {
        let inner = Part::of(kinds::inner(wrapped.node), wrapped.text);
        let is_wrapped = inner.node != wrapped.node && inner.text() == base.text();
        let is_changed = changed.node.kind_id() == base.node.kind_id();
        let [before, after] =
            [&wrapped.text[wrapped.start..inner.start], &wrapped.text[inner.end..wrapped.end]];
        (is_wrapped && is_changed).then(|| format!("{before}{}{after}", changed.text()))
    };
    put(theirs, ours).or_else(|| put(ours, theirs))
}

/// Merges a definition to which one side added parts such as modifiers, while the other changed one child that is as it was in
/// the first.
fn merge_reshaped([base, ours, theirs]: [Part<'_>; 3]) -> Option<String> {
    put_change(base, theirs, ours).or_else(|| put_change(base, ours, theirs))
}

/// Puts the only change of `changed` into `other`.
fn put_change(base: Part<'_>, changed: Part<'_>, other: Part<'_>) -> Option<String> {
    let (before, after) = (base.children(), changed.children());
    let mut changes = before.iter().zip(&after).filter(|(before, after)| before.text() != after.text());
    let (old, new) = changes.next()?;
    if before.len() != after.len() || changes.next().is_some() {
        return None;
    }
    let is_rest_same = base.text[base.start..old.start] == changed.text[changed.start..new.start]
        && base.text[old.end..base.end] == changed.text[new.end..changed.end];
    let is_old = |it: &&Part<'_>| it.node.kind_id() == old.node.kind_id() && it.text() == old.text();
    let others = other.children();
    let place = others.iter().find(is_old).filter(|_| is_rest_same)?;
    if [&before, &others].iter().any(|it| it.iter().filter(is_old).count() > 1) {
        return None;
    }
    let text = other.text;
    Some(format!("{}{}{}", &text[other.start..place.start], new.text(), &text[place.end..other.end]))
}

#[cfg(test)]
mod tests;
