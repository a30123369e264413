//! Names that a text defines.

use overlay::WorkspacePath;
use syntax::Language;

use crate::code::named_definitions;

/// A function, a class or the like, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDefinition {
    pub name: String,
    /// Offsets in the text, in bytes.
    pub start: usize,
    pub end: usize,
}

/// Returns the definitions of a text, also those within others. None if its language has no grammar.
pub fn definitions(path: &WorkspacePath, text: &str) -> Vec<NamedDefinition> {
    Language::of(path).map(|it| named_definitions(it, text)).unwrap_or_default()
}
