//! Variables of loops that are never empty, so that a test of them needs no quotes to be right.

use shuck_ast::{Command, CompoundCommand, File, ForCommand, Stmt, Word, WordPart, WordPartNode};

use crate::false_positives::words;
use crate::tree::{Node, range, walk};

/// Whether a variable is that of a loop around a place, is never empty, and keeps its value up to there. Words are taken to
/// be split at blanks.
pub(crate) fn is_never_empty(name: &str, at: usize, file: &File, text: &str) -> bool {
    let mut is_found = false;
    walk(&file.body, &mut |it| {
        if let Node::Statement(Stmt { command: Command::Compound(CompoundCommand::For(it)), .. }) = it {
            is_found |=
                range(it.body.span).contains(&at) && sets(it, name, text) && keeps(it, name, at, text);
        }
    });
    is_found
}

fn sets(it: &ForCommand, name: &str, text: &str) -> bool {
    let is_target = it.targets.iter().any(|it| it.name.as_ref().is_some_and(|it| it.as_str() == name));
    is_target && it.words.as_ref().is_some_and(|it| it.iter().all(|it| has_text(it, text)))
}

/// Whether the loop's body only expands a variable before a place.
fn keeps(it: &ForCommand, name: &str, at: usize, text: &str) -> bool {
    let Some(before) = text.get(range(it.body.span).start..at) else { return false };
    words(before).filter(|it| it.1 == name).all(|(at, _)| before[..at].ends_with(['$', '{']))
}

/// Whether a word becomes words with at least one letter each, or none: splitting leaves no empty ones.
fn has_text(word: &Word, text: &str) -> bool {
    let is_literal = |it: &WordPartNode| matches!(it.kind, WordPart::Literal(_));
    let has_literal = |it: &WordPartNode| match &it.kind {
        WordPart::DoubleQuoted { parts, .. } => parts.iter().any(is_literal),
        _ => is_literal(it),
    };
    let is_empty = word.try_static_text(text).map(|it| it.is_empty());
    is_empty.map_or_else(|| !word.has_quoted_parts() || word.parts.iter().any(has_literal), |it| !it)
}
