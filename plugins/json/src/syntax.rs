//! Parser: from text to a tree, or to the errors that prevent it.

use broker_plugin_sdk::template::{self, Tag};
use broker_plugin_sdk::{Diagnostic, Fix};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind as Kind};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, ParseStringErrorKind, parse_to_ast,
};
use serde::de::IgnoredAny;

use crate::dialect::Dialect;
use crate::rules;

pub(crate) enum Outcome<'a> {
    /// Errors, and the tree if there is one nevertheless.
    Parsed(Vec<Diagnostic>, Option<Value<'a>>),
    /// A file that is no JSON on purpose, and its kind.
    Other(&'static str),
    TooDeep,
}

/// Parses `text` in `dialect`. If only comments and commas after the last item are wrong, there is a tree.
pub(crate) fn parse(text: &str, dialect: Dialect) -> Outcome<'_> {
    match tree(text, options(dialect)) {
        Ok(tree) => match strictly(text, dialect, tree.is_some()) {
            None => Outcome::Parsed(Vec::new(), tree),
            Some(found) => Outcome::Parsed(vec![found], None),
        },
        Err(error) if matches!(error.kind(), Kind::NestingDepthExceeded) => Outcome::TooDeep,
        Err(error) if is_half_a_pair(error.kind()) && is_json(text) => Outcome::Parsed(Vec::new(), None),
        Err(_) if is_template(text) => Outcome::Other(template::IS_TEMPLATE),
        Err(error) if is_stream(text, error.kind()) => Outcome::Other("it is a stream of values"),
        Err(error) if dialect == Dialect::Strict => leniently(text, &error),
        Err(error) if matches!(error.kind(), Kind::ExpectedColonAfterObjectKey) => {
            let found = tree(&with_whole_words(text), options(dialect)).err().map(|it| finding(text, &it));
            Outcome::Parsed(found.into_iter().collect(), None)
        }
        Err(error) => Outcome::Parsed(vec![finding(text, &error)], None),
    }
}

/// The text with another first letter in words that begin with a keyword (`null_text`), which the parser cuts after it.
/// Places stay what they are, but not names and texts: no tree is to be made of it.
fn with_whole_words(text: &str) -> String {
    let mut whole = text.to_owned();
    let is_of_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$');
    for (at, word) in ["null", "true", "false"].iter().flat_map(|it| text.match_indices(it)) {
        if text[at + word.len()..].starts_with(is_of_word) && !text[..at].ends_with(is_of_word) {
            whole.replace_range(at..=at, "_");
        }
    }
    whole
}

/// A file that is not UTF-8, in which `at` is the first byte that does not belong.
pub(crate) fn not_utf8(content: &[u8], at: usize) -> Option<Diagnostic> {
    let what = match content {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "the file is UTF-16, but JSON is UTF-8".to_owned(),
        _ => format!("not valid UTF-8: byte 0x{:02X} does not belong here", content.get(at)?),
    };
    Some(syntax_error(what, at..at + 1))
}

fn tree(text: &str, options: ParseOptions) -> Result<Option<Value<'_>>, ParseError> {
    Ok(parse_to_ast(text, &CollectOptions::default(), &options)?.value)
}

fn options(dialect: Dialect) -> ParseOptions {
    let with_comments = dialect != Dialect::Strict;
    let json5 = dialect == Dialect::Json5;
    ParseOptions {
        allow_comments: with_comments,
        allow_trailing_commas: with_comments,
        allow_missing_commas: false,
        allow_loose_object_property_names: json5,
        allow_single_quoted_strings: json5,
        allow_hexadecimal_numbers: json5,
        allow_unary_plus_numbers: json5,
        allow_bare_decimal_point_numbers: json5,
        allow_non_finite_numbers: json5,
        allow_extended_string_escapes: json5,
    }
}

/// Returns the error that the strict reader finds and the one with a tree does not: control characters, numbers like `01`.
fn strictly(text: &str, dialect: Dialect, has_value: bool) -> Option<Diagnostic> {
    if dialect != Dialect::Strict {
        return None;
    }
    if !has_value {
        return Some(syntax_error("the file is empty; JSON has one value".to_owned(), 0..0));
    }
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    if error.to_string().starts_with("recursion limit") {
        return None;
    }
    let message = error.to_string();
    // Columns of serde_json count what was read, and a control character was not.
    let read = usize::from(!message.starts_with("control character"));
    let at = offset(text, error.line(), error.column().saturating_sub(read));
    let message = message.split(" at line ").next().unwrap_or(&message);
    Some(syntax_error(message.to_owned(), at..char_end(text, at)))
}

/// The byte at a line from 1 and a column from 0, which counts bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (start + column).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Tells all comments and commas, if they are all that is wrong; else the first error.
fn leniently<'a>(text: &'a str, error: &ParseError) -> Outcome<'a> {
    if !matches!(error.kind(), Kind::CommentsNotAllowed | Kind::TrailingCommasNotAllowed) {
        return Outcome::Parsed(vec![finding(text, error)], None);
    }
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    match parse_to_ast(text, &collect, &options(Dialect::WithComments)) {
        Ok(result) => {
            let tokens = result.tokens.unwrap_or_default();
            Outcome::Parsed(comments(&tokens).into_iter().chain(commas(&tokens)).collect(), result.value)
        }
        Err(worse) => Outcome::Parsed(vec![finding(text, error), finding(text, &worse)], None),
    }
}

/// Reports one finding for all comments: an author who writes one means it.
fn comments(tokens: &[TokenAndRange<'_>]) -> Option<Diagnostic> {
    let is_comment =
        |it: &&TokenAndRange<'_>| matches!(it.token, Token::CommentLine(_) | Token::CommentBlock(_));
    let mut all = tokens.iter().filter(is_comment);
    let first = all.next()?;
    let message = match all.count() {
        0 => "JSON has no comments".to_owned(),
        more => format!("JSON has no comments; there are {} in this file", more + 1),
    };
    Some(Diagnostic::error(rules::COMMENT, message, first.range.start..first.range.end))
}

fn commas<'t>(tokens: &'t [TokenAndRange<'_>]) -> impl Iterator<Item = Diagnostic> + 't {
    let is_comment =
        |it: &&TokenAndRange<'_>| matches!(it.token, Token::CommentLine(_) | Token::CommentBlock(_));
    let own: Vec<_> = tokens.iter().filter(|it| !is_comment(it)).collect();
    let pairs: Vec<_> = own.windows(2).map(|it| (it[0], it[1])).collect();
    pairs.into_iter().filter_map(|(comma, next)| {
        let is_last = matches!(next.token, Token::CloseBrace | Token::CloseBracket);
        (comma.token == Token::Comma && is_last).then(|| {
            let range = comma.range.start..comma.range.end;
            let fix = Fix::safe("Remove the comma", range.clone(), "");
            let message = "JSON has no comma after the last item";
            Diagnostic::error(rules::TRAILING_COMMA, message, range).with_fix(fix)
        })
    })
}

/// JSON has their signs in texts only.
const TAGS: [Tag; 7] =
    [Tag::Value, Tag::Statement, Tag::Comment, Tag::Erb, Tag::Php, Tag::Variable, Tag::Placeholder];

fn is_template(text: &str) -> bool {
    let plain = template::unquoted(text.as_bytes(), b"\"");
    template::front_matter(text.as_bytes()).is_some() || template::tags(&plain, &TAGS).next().is_some()
}

/// Values one after the other, each on lines of its own.
fn is_stream(text: &str, kind: &Kind) -> bool {
    if !matches!(kind, Kind::MultipleRootJsonValues) {
        return false;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    while let Some(value) = values.next() {
        let rest = &text[values.byte_offset()..];
        let between = &rest[..rest.len() - rest.trim_start().len()];
        if value.is_err() || !between.contains('\n') && between.len() < rest.len() {
            return false;
        }
    }
    true
}

/// Half of a surrogate pair (`\ud800`), which the RFC leaves open and most readers take, but no tree can hold.
fn is_half_a_pair(kind: &Kind) -> bool {
    matches!(kind, Kind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn finding(text: &str, error: &ParseError) -> Diagnostic {
    let range = error.range();
    let end = if range.end > range.start { range.end } else { char_end(text, range.start) };
    let end = text[range.start..end].find('\n').map_or(end, |it| range.start + it);
    syntax_error(message(error.kind()), range.start..end.max(range.start))
}

fn message(kind: &Kind) -> String {
    let fixed = match kind {
        Kind::ExpectedColonAfterObjectKey => "a colon is missing after the key",
        Kind::ExpectedComma => "a comma is missing",
        Kind::ExpectedObjectValue => "a value is missing after the colon",
        Kind::ExpectedStringObjectProperty => "a key should be in double quotes",
        Kind::CommentsNotAllowed => "JSON has no comments",
        Kind::TrailingCommasNotAllowed => "JSON has no comma after the last item",
        Kind::SingleQuotedStringsNotAllowed => "a text should be in double quotes",
        Kind::HexadecimalNumbersNotAllowed => "JSON has no hexadecimal numbers",
        Kind::UnaryPlusNumbersNotAllowed => "JSON has no plus sign before a number",
        Kind::BareDecimalPointNumbersNotAllowed => "a number should have digits on both sides of the point",
        Kind::NonFiniteNumbersNotAllowed => "JSON has neither NaN nor Infinity",
        Kind::MultipleRootJsonValues => "nothing should follow the value",
        Kind::UnterminatedArray => "the array is not closed",
        Kind::UnterminatedObject => "the object is not closed",
        Kind::UnterminatedCommentBlock => "the comment is not closed",
        other => return lower_case(&other.to_string()),
    };
    fixed.to_owned()
}

fn lower_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|it| it.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn char_end(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|it| it.chars().next()).map_or(0, char::len_utf8)
}

fn syntax_error(message: String, range: std::ops::Range<usize>) -> Diagnostic {
    Diagnostic::error(rules::SYNTAX_ERROR, message, range)
}

/// The bytes of a part of the tree.
pub(crate) fn bytes(it: &impl Ranged) -> std::ops::Range<usize> {
    let range = it.range();
    range.start..range.end
}
