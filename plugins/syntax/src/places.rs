//! Conversion of a tree that has errors to the places that a person would look at.
//!
//! When a text stops to fit, tree-sitter puts an error around what it cannot make sense of, and that may begin long
//! before the place. What it had read until then is in the error, whole; the rest are the words and signs that it
//! skipped. So the place is behind the last whole part.

use std::ops::Range;

use broker_plugin_sdk::syntax::{Node, Tree};

use crate::brackets::{self, Kind, Token};

/// Place of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) range: Range<usize>,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// The text there does not fit.
    Unexpected,
    /// The grammar wants a node of this kind.
    Missing { kind: String, is_named: bool },
    /// The bracket there is never closed; the place is where it should have been, or the bracket itself.
    Unclosed(Range<usize>),
    /// A bracket closes nothing.
    Unopened,
    /// A bracket should close the one there, of another kind.
    Crossed(Range<usize>),
}

/// Limit on the findings of one file, of which a person looks at the first.
const MAX_FINDINGS: usize = 10;

/// The same, before those that follow from others are left out.
const ENOUGH: usize = 1_000;

/// Lines between two errors that are not taken for one.
const APART: usize = 3;

/// The places in a tree; `bracket` is the one that [`of_brackets`] found.
pub(crate) fn find(tree: &Tree, text: &[u8], bracket: Option<Place>) -> Vec<Place> {
    let mut found = visit(tree, text);
    found.sort_by_key(|it| it.range.start);
    match bracket {
        // All that follows may be understood wrongly.
        Some(bracket) => vec![first(found, bracket)],
        None => apart(found, text),
    }
}

/// Brackets that do not match, as a place.
pub(crate) fn of_brackets(tokens: &[(Token, Range<usize>)], text: &[u8]) -> Option<Place> {
    let brackets::Lone { bracket: range, kind } = brackets::lone(tokens, text)?;
    let (range, what) = match kind {
        Kind::Open { end: None } => (range.clone(), What::Unclosed(range)),
        Kind::Open { end: Some(end) } => (before(text, end), What::Unclosed(range)),
        Kind::Close => (range, What::Unopened),
        Kind::Crossed { open } => (range, What::Crossed(open)),
    };
    Some(Place { range, what })
}

/// The tree knows best, unless the indentation shows earlier that something is not closed.
fn first(found: Vec<Place>, bracket: Place) -> Place {
    let is_shown = matches!(&bracket.what, What::Unclosed(open) if *open != bracket.range);
    match found.into_iter().next() {
        Some(it) if !is_shown || it.range.start <= bracket.range.start => it,
        _ => bracket,
    }
}

/// Drops places that seem to be consequences of the one before.
fn apart(mut found: Vec<Place>, text: &[u8]) -> Vec<Place> {
    let mut last: Option<usize> = None;
    found.retain(|it| {
        let at = it.range.start;
        let is_apart = last.is_none_or(|last| lines(text, last.min(at)..at) > APART);
        last = Some(at);
        is_apart
    });
    found.truncate(MAX_FINDINGS);
    found
}

/// All places, each error once, whatever is in it. Without recursion: the depth of trees has no limit.
fn visit(tree: &Tree, text: &[u8]) -> Vec<Place> {
    let (mut found, mut open) = (Vec::new(), Vec::<Node<'_>>::new());
    let (mut at, end) = (0, tree.root().end_number());
    while at < end && found.len() < ENOUGH {
        let node = tree.node(at);
        while open.last().is_some_and(|it| it.end_number() <= at) {
            open.pop();
        }
        at = node.end_number();
        if node.is_missing() {
            found.push(missing(node, open.last().copied(), text));
        } else if node.is_error() {
            found.push(unexpected(node, text));
        } else if node.has_error() {
            at = node.number() + 1;
            open.push(node);
        }
    }
    found
}

fn missing(node: Node<'_>, parent: Option<Node<'_>>, text: &[u8]) -> Place {
    let place = before(text, node.range().start);
    let opening = opening(node.kind());
    let open = parent.and_then(|it| it.children().find(|it| Some(it.kind()) == opening)).map(|it| it.range());
    let Some(open) = open.filter(|it| lines(text, it.start..place.start.max(it.start)) > 0) else {
        let what = What::Missing { kind: node.kind().to_owned(), is_named: node.is_named() };
        return Place { range: place, what };
    };
    let end = brackets::end_by_indent(text, open.start).filter(|it| *it < place.start);
    Place { range: end.map_or(place, |it| before(text, it)), what: What::Unclosed(open) }
}

fn opening(closing: &str) -> Option<&'static str> {
    match closing {
        ")" => Some("("),
        "]" => Some("["),
        "}" => Some("{"),
        _ => None,
    }
}

fn unexpected(error: Node<'_>, text: &[u8]) -> Place {
    let (mut inner, mut parent) = (error, None);
    while let Some(next) = inner.children().find(|it| it.has_error() || it.is_error() || it.is_missing()) {
        (inner, parent) = (next, Some(inner));
    }
    if inner.is_missing() {
        missing(inner, parent, text)
    } else {
        Place { range: tail(inner, text), what: What::Unexpected }
    }
}

/// Returns the text after the last whole part of an error, in it or on the rest of its line; else the end of that part.
fn tail(error: Node<'_>, text: &[u8]) -> Range<usize> {
    let mut tail = None;
    for child in error.children().filter(|it| !it.is_extra()) {
        let is_whole = child.children().next().is_some();
        tail = if is_whole { None } else { tail.or(Some(child.range())) };
    }
    let leaves = || error.descendants().filter(|it| it.children().next().is_none());
    let last = || leaves().map(Node::range).filter(|it| !it.is_empty()).last();
    tail.or_else(|| next(text, error.range().end)).or_else(last).unwrap_or(error.range())
}

/// The word or sign that follows on the same line.
fn next(text: &[u8], from: usize) -> Option<Range<usize>> {
    let start = from + text[from..].iter().position(|it| !matches!(it, b' ' | b'\t'))?;
    let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_' || !it.is_ascii();
    let length = text[start..].iter().take_while(|it| is_word(it)).count().max(1);
    (!text[start].is_ascii_whitespace()).then_some(start..start + length)
}

fn lines(text: &[u8], range: Range<usize>) -> usize {
    memchr::memchr_iter(b'\n', &text[range]).count()
}

/// Returns the place of something missing: after the text before it, not before the text that follows.
fn before(text: &[u8], at: usize) -> Range<usize> {
    let end = text[..at].trim_ascii_end().len();
    end..end
}
