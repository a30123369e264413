//! From a text to a tree.
//!
//! Always from nothing. tree-sitter could make a tree from the one of an earlier text in a sixth of the time, but where a
//! grammar is ambiguous it then keeps what the earlier text decided: of C++, JavaScript and TSX, texts without any error
//! were found that have another tree once something was typed and taken back. One text must have one tree.

use std::{
    cell::RefCell,
    ops::{ControlFlow, Range},
};

use bytes::Bytes;
use thiserror::Error;
use tree_sitter::{InputEdit, ParseOptions, ParseState, Parser, Point};

use crate::Language;

/// A text and its tree.
pub struct Tree {
    language: Language,
    pub(crate) text: Bytes,
    pub(crate) inner: tree_sitter::Tree,
}

/// Error of a text that has no tree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unparsed {
    #[error("the text has {bytes} bytes; {LARGEST} are the most that is parsed")]
    TooLarge { bytes: usize },
    #[error("nobody wants the tree any more, or it took too long")]
    GivenUp,
    #[error("the grammar of {} cannot be used: {reason}", .language.name())]
    NoGrammar { language: Language, reason: String },
}

/// Bytes. What is larger is generated, and its tree would take hundreds of times the memory.
const LARGEST: usize = 16 << 20;

impl Tree {
    /// The kinds of its nodes, as [`Language::kinds`] has them.
    pub fn kinds(&self) -> Vec<(String, bool)> {
        self.language.kinds().unwrap_or_default()
    }

    /// The names of its fields, as [`Language::fields`] has them.
    pub fn fields(&self) -> Vec<String> {
        self.language.fields().unwrap_or_default()
    }

    /// The tree of a text. Asks now and then whether to give up.
    pub fn parse(language: Language, text: Bytes, give_up: &dyn Fn() -> bool) -> Result<Self, Unparsed> {
        if text.len() > LARGEST {
            return Err(Unparsed::TooLarge { bytes: text.len() });
        }
        let inner = PARSER.with_borrow_mut(|it| parse(it, language, &text, None, give_up))?;
        Ok(Self { language, text, inner })
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// Whether some of the text does not fit the grammar.
    pub fn has_error(&self) -> bool {
        self.inner.root_node().has_error()
    }

    /// Whether another text, which shares most of its bytes with this one, fits the grammar. This takes a fraction of the
    /// time of its tree. If it returns false, only the tree is certain.
    pub fn fits(&self, text: &[u8], give_up: &dyn Fn() -> bool) -> bool {
        if text.len() > LARGEST {
            return false;
        }
        let mut old = self.inner.clone();
        old.edit(&difference(&self.text, text));
        let new = PARSER.with_borrow_mut(|it| parse(it, self.language, text, Some(&old), give_up));
        new.is_ok_and(|it| !it.root_node().has_error())
    }

    /// Whether all of `range`, in bytes, is inside of a comment.
    pub fn is_comment(&self, range: Range<usize>) -> bool {
        let mut node = self.inner.root_node().descendant_for_byte_range(range.start, range.end);
        while let Some(it) = node {
            if it.kind().contains("comment") {
                return true;
            }
            node = it.parent();
        }
        false
    }

    pub(crate) fn count(&self) -> usize {
        self.inner.root_node().descendant_count()
    }
}

/// The bytes in the middle that two texts do not share.
fn difference(old: &[u8], new: &[u8]) -> InputEdit {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let same = |(a, b): &(&u8, &u8)| a == b;
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same).count();
    InputEdit {
        start_byte: start,
        old_end_byte: old.len() - end,
        new_end_byte: new.len() - end,
        start_position: point(old, start),
        old_end_position: point(old, old.len() - end),
        new_end_position: point(new, new.len() - end),
    }
}

fn point(text: &[u8], at: usize) -> Point {
    let above = text[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    Point { row: text[..above].iter().filter(|it| **it == b'\n').count(), column: at - above }
}

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

fn parse(
    parser: &mut Parser,
    language: Language,
    text: &[u8],
    old: Option<&tree_sitter::Tree>,
    give_up: &dyn Fn() -> bool,
) -> Result<tree_sitter::Tree, Unparsed> {
    let no_grammar = |reason| Unparsed::NoGrammar { language, reason };
    let grammar = language.grammar().map_err(no_grammar)?;
    let is_set = parser.set_language(&grammar);
    is_set.map_err(|_| no_grammar("it is of another version of tree-sitter".to_owned()))?;
    // A parser that was given up on would otherwise resume the earlier text.
    parser.reset();
    let mut look =
        |_: &ParseState| if give_up() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut look);
    let mut read = |at: usize, _: Point| text.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, old, Some(options)).ok_or(Unparsed::GivenUp)
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
