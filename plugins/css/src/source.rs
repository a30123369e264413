//! From text to raffia's tree.

use raffia::ast::Stylesheet;
use raffia::token::Comment;
use raffia::{ParserBuilder, Syntax};

/// Brackets in brackets; the parser goes as deep as the text does.
const DEEPEST: usize = 256;

/// What the parser says.
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

/// How deep brackets are in each other at most.
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

/// The text with what browsers of old were told by `*property: value` as the plain property, as long as the text was.
/// `None`: there is nothing of that.
pub(crate) fn without_hacks(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut last = b'{';
    for at in 0..bytes.len() {
        let it = bytes[at];
        if it == b'*' && matches!(last, b'{' | b';') && is_property(&bytes[at + 1..]) {
            bytes[at] = b' ';
        } else if !it.is_ascii_whitespace() {
            last = it;
        }
    }
    (bytes != text.as_bytes()).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Whether a name and a colon follow, and then no selector.
fn is_property(rest: &[u8]) -> bool {
    let length = rest.iter().take_while(|it| it.is_ascii_alphabetic() || **it == b'-').count();
    let end = rest.iter().position(|it| matches!(it, b'{' | b'}' | b';'));
    length > 0 && rest.get(length) == Some(&b':') && end.is_none_or(|it| rest[it] != b'{')
}
