//! A second opinion on Rust by syn, a parser of what rustc compiles.
//!
//! tree-sitter's grammar finds fault with code that compiles: attributes in patterns, macros that stand for types, what is
//! between the brackets of a macro. Only what both cannot read is an error.
//!
//! Left out: texts that are nested so deeply, or have statements so long, that syn's recursion might not come back. What
//! is wrong in them is not told, unless it is their brackets.

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Block, Expr, File, parse::Parser};

/// Whether a text is Rust, or may be: a file, or statements or an expression of a file made for `include!`.
pub(crate) fn is_readable(text: &str) -> bool {
    let text = without_shebang(text.strip_prefix('\u{feff}').unwrap_or(text));
    let Ok(tokens) = text.parse::<TokenStream>() else { return false };
    is_too_deep(&tokens)
        || syn::parse2::<File>(tokens.clone()).is_ok()
        || Block::parse_within.parse2(tokens.clone()).is_ok()
        || syn::parse2::<Expr>(tokens).is_ok()
}

/// `#![…]` is an attribute.
fn without_shebang(text: &str) -> &str {
    let is_script = text.starts_with("#!") && !text[2..].trim_ascii_start().starts_with('[');
    if is_script { text.find('\n').map_or("", |end| &text[end..]) } else { text }
}

/// The most tokens on the way down to one, without those of statements and values that ended before it: each call of
/// syn's that is under way has taken one of them at least.
const DEEPEST: usize = 1_000;

/// A group that is being walked.
struct Level {
    rest: IntoIter,
    is_block: bool,
    /// Tokens since the last statement or value ended.
    run: usize,
}

impl Level {
    fn new(tokens: TokenStream, delimiter: Delimiter) -> Self {
        Self { rest: tokens.into_iter(), is_block: delimiter == Delimiter::Brace, run: 0 }
    }
}

fn is_too_deep(tokens: &TokenStream) -> bool {
    let mut way = vec![Level::new(tokens.clone(), Delimiter::None)];
    let mut deep = 0;
    while let Some(level) = way.last_mut() {
        let next = level.rest.next();
        let is_end = matches!(&next, Some(TokenTree::Punct(it)) if matches!(it.as_char(), ';' | ','));
        if is_end {
            deep -= std::mem::take(&mut level.run);
            continue;
        }
        level.run += 1;
        deep += 1;
        match next {
            Some(TokenTree::Group(group)) => way.push(Level::new(group.stream(), group.delimiter())),
            Some(_) => {}
            None => {
                deep -= level.run;
                let was_block = level.is_block;
                way.pop();
                if let Some(outer) = way.last_mut().filter(|_| was_block) {
                    deep -= std::mem::take(&mut outer.run);
                }
            }
        }
        if deep > DEEPEST {
            return true;
        }
    }
    false
}
