//! Names that a text defines.

use std::{cmp::Reverse, time::Instant};

use bytes::Bytes;
use overlay::WorkspacePath;
use syntax::{Language, Tree};

use super::{
    definitions::{Definition, Grammar, definitions},
    learn::{LARGEST, PARSING},
};

/// A function, a class or the like, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDefinition {
    pub name: String,
    /// Offsets in the text, in bytes.
    pub start: usize,
    pub end: usize,
}

/// Returns the definitions of a text, each before those within it. None of a text that is too large, or in a language without a
/// grammar.
pub fn named_definitions(path: &WorkspacePath, text: &str) -> Vec<NamedDefinition> {
    let Some(language) = Language::of(path).filter(|_| text.len() <= LARGEST) else { return Vec::new() };
    let started = Instant::now();
    let give_up = || started.elapsed() > PARSING;
    let text = Bytes::copy_from_slice(text.as_bytes());
    let Ok(tree) = Tree::parse(language, text, &give_up) else { return Vec::new() };
    let mut named = Vec::new();
    let mut waiting = definitions(&tree, &Grammar::of(language));
    while let Some(Definition { start, end, name, inner }) = waiting.pop() {
        named.push(NamedDefinition { name, start, end });
        waiting.extend(inner);
    }
    named.sort_by_key(|it| (it.start, Reverse(it.end)));
    named
}
