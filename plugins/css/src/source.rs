//! From text to raffia's tree.

use raffia::ast::Stylesheet;
use raffia::token::Comment;
use raffia::{ParserBuilder, Syntax};

/// Brackets in brackets; the parser goes as deep as the text does.
const DEEPEST: usize = 256;

/// Result of the parser.
pub(crate) enum Parsed<'t> {
    Tree(Stylesheet<'t>, Vec<Comment<'t>>),
    Error(raffia::error::Error),
    TooDeep,
}

pub(crate) fn parse(text: &str, syntax: Syntax) -> Parsed<'_> {
    if depth(text) > DEEPEST {
        return Parsed::TooDeep;
    }
    let mut comments = Vec::new();
    let mut parser = ParserBuilder::new(text).syntax(syntax).comments(&mut comments).build();
    match parser.parse::<Stylesheet>() {
        Ok(tree) => Parsed::Tree(tree, comments),
        Err(error) => Parsed::Error(error),
    }
}

pub(crate) fn syntax_of(path: &str) -> Syntax {
    match path.rsplit_once('.').map(|it| it.1) {
        Some("scss") => Syntax::Scss,
        Some("less") => Syntax::Less,
        _ => Syntax::Css,
    }
}

/// Depth of the most deeply nested bracket.
fn depth(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for it in text.bytes() {
        match it {
            b'{' | b'(' | b'[' => {
                depth += 1;
                most = most.max(depth);
            }
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}
