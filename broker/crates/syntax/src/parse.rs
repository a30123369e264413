//! From a text to a tree.
//!
//! A tree is made from the one of an earlier text of the same file where that helps. What tree-sitter recovers from
//! an error may depend on that earlier text, so a tree with errors is made anew from nothing: the same text has the
//! same tree, whatever was there before.

use std::{cell::RefCell, ops::ControlFlow};

use bytes::Bytes;
use thiserror::Error;
use tree_sitter::{InputEdit, ParseOptions, ParseState, Parser, Point};

use crate::Language;

/// A text and its tree.
pub struct Tree {
    language: Language,
    text: Bytes,
    pub(crate) inner: tree_sitter::Tree,
}

/// Why a text has no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unparsed {
    #[error("the text has {bytes} bytes; {LARGEST} are the most that is parsed")]
    TooLarge { bytes: usize },
    #[error("nobody wants the tree any more, or it took too long")]
    GivenUp,
    /// The grammar was made for another version of tree-sitter.
    #[error("the grammar of {} cannot be used", .0.name())]
    NoGrammar(Language),
}

/// Bytes. What is larger is generated, and its tree would take hundreds of times the memory.
const LARGEST: usize = 16 << 20;

impl Tree {
    /// The tree of a text; `before` is one of another text that is much the same. Asks now and then whether to give
    /// up.
    pub(crate) fn parse(
        language: Language,
        text: Bytes,
        before: Option<&Self>,
        give_up: &dyn Fn() -> bool,
    ) -> Result<Self, Unparsed> {
        if text.len() > LARGEST {
            return Err(Unparsed::TooLarge { bytes: text.len() });
        }
        let edited = before.filter(|it| it.language == language).map(|it| it.edited(&text));
        let mut inner = parse(language, &text, edited.as_ref(), give_up)?;
        if edited.is_some() && inner.root_node().has_error() {
            inner = parse(language, &text, None, give_up)?;
        }
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

    pub(crate) fn count(&self) -> usize {
        self.inner.root_node().descendant_count()
    }

    /// The tree with its places moved to where they are in `text`.
    fn edited(&self, text: &[u8]) -> tree_sitter::Tree {
        let (start, old_end, new_end) = difference(&self.text, text);
        let edit = InputEdit {
            start_byte: start,
            old_end_byte: old_end,
            new_end_byte: new_end,
            start_position: point(&self.text, start),
            old_end_position: point(&self.text, old_end),
            new_end_position: point(text, new_end),
        };
        let mut tree = self.inner.clone();
        tree.edit(&edit);
        tree
    }
}

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

fn parse(
    language: Language,
    text: &[u8],
    before: Option<&tree_sitter::Tree>,
    give_up: &dyn Fn() -> bool,
) -> Result<tree_sitter::Tree, Unparsed> {
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&language.grammar()).map_err(|_| Unparsed::NoGrammar(language))?;
        // What was given up before would be gone on with.
        parser.reset();
        let mut look =
            |_: &ParseState| if give_up() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let options = ParseOptions::new().progress_callback(&mut look);
        let mut read = |at: usize, _: Point| text.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut read, before, Some(options)).ok_or(Unparsed::GivenUp)
    })
}

/// Where two texts begin to differ, and where in each they stop to.
fn difference(old: &[u8], new: &[u8]) -> (usize, usize, usize) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let same = ends.take_while(|(a, b)| a == b).count();
    (start, old.len() - same, new.len() - same)
}

/// Lines and bytes in the line, both from 0.
fn point(text: &[u8], at: usize) -> Point {
    let before = &text[..at];
    let line_start = before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    Point { row: before.iter().filter(|it| **it == b'\n').count(), column: at - line_start }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(text: &str, before: Option<&Tree>) -> Tree {
        let python = Language::named("python").unwrap();
        Tree::parse(python, text.to_owned().into(), before, &|| false).unwrap()
    }

    proptest! {
        /// Pieces of Python, put together anyhow: often wrong, sometimes right.
        #[test]
        fn a_tree_depends_on_its_text_only(
            old in proptest::collection::vec(0..PIECES.len(), 0..12),
            new in proptest::collection::vec(0..PIECES.len(), 0..12),
        ) {
            let text = |pieces: &[usize]| pieces.iter().map(|it| PIECES[*it]).collect::<String>();
            let (old, new) = (text(&old), text(&new));
            let before = tree(&old, None);
            let (fresh, reused) = (tree(&new, None), tree(&new, Some(&before)));
            prop_assert_eq!(fresh.inner.root_node().to_sexp(), reused.inner.root_node().to_sexp());
            prop_assert_eq!(fresh.table(), reused.table());
        }
    }

    const PIECES: [&str; 12] = [
        "def f(x):\n",
        "    return x\n",
        "\n",
        "class C:\n",
        "    y = (1,\n",
        "  2)\n",
        "if x: pass\n",
        "é = 'ü'\n",
        "'''\n",
        "x = [\n",
        "]\n",
        "else:\n",
    ];

    #[test]
    fn what_nobody_wants_is_given_up() {
        let python = Language::named("python").unwrap();
        let text = Bytes::from("x = 1\n".repeat(100_000));
        let given_up = Tree::parse(python, text, None, &|| true);
        assert_eq!(given_up.err(), Some(Unparsed::GivenUp));
        assert!(!tree("x = 1\n", None).has_error(), "the next is not hurt");
        let large = Tree::parse(python, vec![b' '; LARGEST + 1].into(), None, &|| false);
        assert_eq!(large.err(), Some(Unparsed::TooLarge { bytes: LARGEST + 1 }));
    }
}
