//! The syntax errors that a change brings, by the file's grammar.

use syntax::Tree;

use super::parser::{Parser, errors};

/// A place in the changed text that its grammar has no place for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: usize,
    pub text: String,
}

/// Errors that are shown. One slip may make the rest of a file unreadable.
const SHOWN: usize = 5;

/// None where there is no grammar, and where there were as many errors before.
pub(super) fn new_errors(before: &str, after: &str, parser: &Parser<'_>) -> Vec<SyntaxError> {
    let Some(before) = parser.tree(before).filter(|_| !parser.fits(after)) else { return Vec::new() };
    let Some(after) = parser.tree(after) else { return Vec::new() };
    let (old, new) = (shown(&before), shown(&after));
    if new.len() <= old.len() {
        return Vec::new();
    }
    let is_new = |it: &SyntaxError| !old.iter().any(|old| old.text == it.text);
    let (fresh, known): (Vec<_>, Vec<_>) = new.into_iter().partition(is_new);
    let shown = if fresh.is_empty() { known } else { fresh };
    shown.into_iter().take(SHOWN).collect()
}

fn shown(tree: &Tree) -> Vec<SyntaxError> {
    let text = String::from_utf8_lossy(tree.text());
    let error = |at: usize| {
        let line = text.get(..at).unwrap_or(&text).matches('\n').count();
        SyntaxError { line: line + 1, text: text.lines().nth(line).unwrap_or_default().trim().to_owned() }
    };
    let mut shown: Vec<_> = errors(tree).into_iter().map(error).collect();
    shown.dedup_by_key(|it| it.line);
    shown
}
