//! Parser: from text to a tree, or to all errors in it.

use broker_plugin_sdk::{Completeness, Diagnostic, Related, Report};
use full_moon::ast::{Ast, AstError};
use full_moon::tokenizer::{Lexer, LexerResult, Token, TokenType, TokenizerErrorType};
use full_moon::{Error, LuaVersion};

use crate::rules::{self, Selection};
use crate::{lenient, luau};

/// After so many errors the rest says nothing new.
const MAX_ERRORS: usize = 50;

/// The tree, or the errors in the order of the text.
pub(crate) fn parse(text: &str, version: LuaVersion) -> Result<Ast, Vec<Diagnostic>> {
    let text = lenient::start(text);
    let parsed = tree(&text, version).or_else(|errors| match lenient::body(&text, version) {
        Some(text) => tree(&text, version),
        None => Err(errors),
    });
    parsed.map_err(|mut errors| {
        errors.sort_by_key(|it| it.span.start);
        errors.dedup_by(|a, b| a.span.start == b.span.start && a.message == b.message);
        errors
    })
}

fn tree(text: &str, version: LuaVersion) -> Result<Ast, Vec<Diagnostic>> {
    let found = if version.has_luau() { luau::objections(text, version) } else { backticks(text, version) };
    if !found.is_empty() {
        return Err(found);
    }
    let parsed = full_moon::parse_fallible(text, version).into_result();
    parsed.map_err(|errors| errors.iter().map(|it| error(it, text)).collect())
}

/// Strings between backticks, which only Luau has: for other versions full_moon 2.2.0 does not come back from one.
fn backticks(text: &str, version: LuaVersion) -> Vec<Diagnostic> {
    if !text.contains('`') {
        return Vec::new();
    }
    let tokens = match Lexer::new(text, version.with_luau()).collect() {
        LexerResult::Ok(tokens) | LexerResult::Recovered(tokens, _) => tokens,
        LexerResult::Fatal(errors) => {
            let at = errors.first().map_or(0, |it| it.position().bytes());
            return vec![wrong("unexpected character `".to_owned(), at..at, text)];
        }
    };
    let is_one = |it: &&Token| matches!(it.token_type(), TokenType::InterpolatedString { .. });
    let start = |it: &Token| it.start_position().bytes();
    let found = tokens.iter().filter(is_one).filter(|it| text[start(it)..].starts_with('`'));
    found.map(|it| wrong("unexpected character `".to_owned(), start(it)..start(it) + 1, text)).collect()
}

/// Converts an error of full_moon to a diagnostic.
pub(crate) fn error(error: &Error, text: &str) -> Diagnostic {
    match error {
        Error::AstError(error) => unexpected(error, text),
        Error::TokenizerError(error) => {
            let at = error.position().bytes();
            let message = match error.error() {
                TokenizerErrorType::UnclosedComment => "unclosed comment".to_owned(),
                TokenizerErrorType::UnclosedString => "unclosed string".to_owned(),
                TokenizerErrorType::InvalidNumber => "invalid number".to_owned(),
                TokenizerErrorType::UnexpectedToken(it) => format!("unexpected character {it}"),
                TokenizerErrorType::InvalidSymbol(it) => format!("invalid symbol {it}"),
            };
            wrong(message, at..at, text)
        }
    }
}

fn unexpected(error: &AstError, text: &str) -> Diagnostic {
    let token = error.token();
    let at = token.start_position().bytes()..token.end_position().bytes();
    let start = error.range().0.bytes();
    let related = (start < at.start).then(|| Related {
        path: None,
        span: clamp(start..start, text).into(),
        message: "it starts here".to_owned(),
    });
    let message = match token.to_string().trim() {
        "" => format!("unexpected end of the file: {}", error.error_message()),
        _ if error.error_message().starts_with("unexpected") => error.error_message().to_owned(),
        token => format!("unexpected token `{}`: {}", short(token), error.error_message()),
    };
    Diagnostic { related: related.into_iter().collect(), ..wrong(message, at, text) }
}

/// The first line of a token, which may be a text of many.
fn short(token: &str) -> &str {
    let line = token.lines().next().unwrap_or_default();
    &line[..line.floor_char_boundary(60)]
}

pub(crate) fn wrong(message: String, at: std::ops::Range<usize>, text: &str) -> Diagnostic {
    Diagnostic::error(rules::PARSE_ERROR, message, clamp(at, text))
}

fn clamp(at: std::ops::Range<usize>, text: &str) -> std::ops::Range<usize> {
    let start = text.floor_char_boundary(at.start.min(text.len()));
    start..text.ceil_char_boundary(at.end.clamp(start, text.len()))
}

/// Returns the report on a file that does not parse. Its errors are reported whatever is selected: nothing else can be found in
/// it.
pub(crate) fn report(mut errors: Vec<Diagnostic>, selection: &Selection) -> Report {
    if selection.ignores(rules::PARSE_ERROR) {
        return Report::new(Vec::new());
    }
    if errors.len() <= MAX_ERRORS {
        return Report::new(errors);
    }
    errors.truncate(MAX_ERRORS);
    let why = format!("there are more than {MAX_ERRORS} syntax errors");
    Report { completeness: Completeness::Partial(why), ..Report::new(errors) }
}
