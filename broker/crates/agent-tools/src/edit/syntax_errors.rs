//! The syntax errors that a change brings, by the file's grammar.

use std::time::{Duration, Instant};

use bytes::Bytes;
use overlay::ContentHash;
use syntax::{Flags, Language, Tree, Trees, WORDS};

/// A place in the changed text that its grammar has no place for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: usize,
    pub text: String,
}

/// Time after which a text counts as one without a grammar.
const PARSE_TIME: Duration = Duration::from_secs(5);

/// Errors that are shown. One slip may make the rest of a file unreadable.
const SHOWN: usize = 5;

/// None where there is no grammar, and where there were as many errors before.
pub(super) fn new_errors(
    before: &str,
    after: &str,
    language: Option<Language>,
    trees: &Trees,
) -> Vec<SyntaxError> {
    let Some(after) = language.and_then(|it| parse(it, after, trees)).filter(|it| it.has_error()) else {
        return Vec::new();
    };
    let Some(before) = language.and_then(|it| parse(it, before, trees)) else { return Vec::new() };
    let (old, new) = (errors(&before), errors(&after));
    if new.len() <= old.len() {
        return Vec::new();
    }
    let is_new = |it: &SyntaxError| !old.iter().any(|old| old.text == it.text);
    let (fresh, known): (Vec<_>, Vec<_>) = new.into_iter().partition(is_new);
    let shown = if fresh.is_empty() { known } else { fresh };
    shown.into_iter().take(SHOWN).collect()
}

/// Whether there are any, at the cost of one tree where there are none.
pub(super) fn parse(language: Language, text: &str, trees: &Trees) -> Option<std::sync::Arc<Tree>> {
    let text = Bytes::copy_from_slice(text.as_bytes());
    let hash = ContentHash::of(&text);
    let start = Instant::now();
    trees.tree(language, text, hash, &|| start.elapsed() > PARSE_TIME).ok()
}

fn errors(tree: &Tree) -> Vec<SyntaxError> {
    if !tree.has_error() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(tree.text());
    let table = tree.table();
    let nodes = table.chunks_exact(WORDS).filter(|it| it[1] & (Flags::ERROR | Flags::MISSING) != 0);
    let error = |it: &[u32]| {
        let before = text.get(..it[2] as usize).unwrap_or(&text);
        let line = before.matches('\n').count();
        SyntaxError { line: line + 1, text: text.lines().nth(line).unwrap_or_default().trim().to_owned() }
    };
    let mut errors: Vec<_> = nodes.map(error).collect();
    errors.dedup_by_key(|it| it.line);
    errors
}
