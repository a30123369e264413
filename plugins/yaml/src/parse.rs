//! Parser: from text to documents. A broken document does not hide errors in the next one.

use std::ops::Range;

use broker_plugin_sdk::Diagnostic;
use broker_yaml_tree::{byte, bytes, options};
use granit_parser::{ErrorKind as Kind, Event, Parser, ScanError};

use crate::rules;
use crate::tree::{Builder, Document};

/// More broken documents are not told of in one file.
const MAX_BROKEN: usize = 20;

/// Content of a text.
pub(crate) struct Stream<'t> {
    /// Documents that are complete.
    pub(crate) documents: Vec<Document<'t>>,
    pub(crate) found: Vec<Diagnostic>,
    /// Reason why the rest was not parsed.
    pub(crate) limit: Option<String>,
}

impl Stream<'_> {
    /// Whether the text is no YAML.
    pub(crate) fn is_broken(&self) -> bool {
        !self.found.is_empty()
    }
}

/// Maximum number of bytes that are read again to join texts in one file.
const MAX_READ: usize = 32 << 20;

/// Result of joining quoted scalars that continue with less indentation than they should.
pub(crate) enum Joined {
    /// There is nothing to join, or joining does not help.
    Nothing,
    Text(String),
    /// There are so many that joining would take too long.
    TooMany,
}

/// The text with each quoted scalar whose next line is not indented on one line, where that makes it YAML: libyaml and
/// what rests on it (PyYAML, Ruby, Go) do not look at the indentation there. A line break is a space in such a scalar, so
/// that places stay what they are.
pub(crate) fn joined(text: &str) -> Joined {
    let mut joined = text.to_owned();
    let (mut from, mut read) = (0, 0);
    while let Some(error) = first_error(&joined[from..]) {
        let at = (from + byte(error.marker())).min(joined.len());
        let break_before = joined.get(..at).and_then(break_before);
        let Some(start) = break_before.filter(|_| matches!(error.kind(), Kind::InvalidQuotedScalarIndent))
        else {
            return Joined::Nothing;
        };
        read += at - from;
        if read > MAX_READ {
            return Joined::TooMany;
        }
        joined.replace_range(start..at, &" ".repeat(at - start));
        // The document is read again, but not those before it.
        from = joined[..at].rfind("\n---").map_or(0, |it| it + 1);
    }
    if joined == text { Joined::Nothing } else { Joined::Text(joined) }
}

/// Returns the position of the one line break at the end of a text, apart from indentation. An empty line in between would be a
/// line break in the scalar as well.
fn break_before(text: &str) -> Option<usize> {
    let before = text.trim_end_matches([' ', '\t']);
    let start = before.trim_end_matches(['\n', '\r']).len();
    (before[start..].matches('\n').count() == 1).then_some(start)
}

fn first_error(text: &str) -> Option<ScanError> {
    let mut parser = Parser::new_from_str_with_options(text, options());
    std::iter::from_fn(|| parser.next_event()).find_map(Result::err)
}

pub(crate) fn stream(text: &str) -> Stream<'_> {
    let mut parser = Parser::new_from_str_with_options(text, options());
    let mut stream = Stream { documents: Vec::new(), found: Vec::new(), limit: None };
    let mut builder = Builder::default();
    let mut broken = 0;
    while let Some(event) = parser.next_event() {
        match event {
            Ok((Event::UnresolvedAlias(name), span)) => {
                stream.found.push(unknown_anchor(&name, bytes(&span)));
                builder.unresolved(bytes(&span));
            }
            Ok((event, span)) => stream.documents.extend(builder.event(event, bytes(&span))),
            Err(problem) if is_limit(problem.kind()) => {
                stream.limit = Some(format!("it was not looked at as a whole: {}", problem.kind()));
                break;
            }
            Err(problem) => {
                stream.found.push(syntax_error(&problem, text));
                builder = Builder::default();
                broken += 1;
                if broken == MAX_BROKEN || !matches!(parser.proceed_next_document(), Ok(true)) {
                    break;
                }
            }
        }
    }
    stream
}

fn is_limit(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::RecursionLimitExceeded
            | Kind::InputByteLimitExceeded { .. }
            | Kind::AnchorCountOverflow
            | Kind::DirectiveByteLimitExceeded { .. }
            | Kind::TooManyReservedDirectiveParams { .. }
    )
}

fn unknown_anchor(name: &str, range: Range<usize>) -> Diagnostic {
    let message =
        format!("there is no anchor `&{name}` before this; a text that begins with `*` needs quotes");
    Diagnostic::error(rules::UNKNOWN_ANCHOR, message, range)
}

/// Points at one sign, or at the end of the line before where there is none.
fn syntax_error(problem: &ScanError, text: &str) -> Diagnostic {
    let mut start = byte(problem.marker()).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let end = start + text[start..].chars().next().filter(|it| *it != '\n').map_or(0, char::len_utf8);
    Diagnostic::error(rules::SYNTAX_ERROR, message(problem.kind()), start..end)
}

/// The parser's words, where they are clear; better ones for what people do wrong most often.
fn message(kind: &Kind) -> String {
    let fixed = match kind {
        Kind::MappingValueNotAllowed => {
            "a key is not allowed here: a text with `: ` in it needs quotes, or the indentation is wrong"
        }
        Kind::TabNotAllowed | Kind::TabInBlockIndentation | Kind::TabInIndentation => {
            "a tab cannot be used for indentation"
        }
        Kind::UnexpectedCharacter { character } => {
            return format!("`{character}` cannot begin a value: a text that begins so needs quotes");
        }
        Kind::ExpectedBlockMappingKey => {
            "a key or the end of the mapping is expected: the indentation may be wrong"
        }
        Kind::ExpectedBlockSequenceEntry => {
            "`- ` or the end of the list is expected: the indentation may be wrong"
        }
        Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => {
            "a `:` is missing after this key, or it spans lines"
        }
        Kind::InvalidQuotedScalarIndent => {
            "the quotes are not closed, or the text's next line is not indented"
        }
        Kind::InvalidColonPlacement => "a `:` cannot be here: a bracket before it may not be closed",
        other => return other.to_string(),
    };
    fixed.to_owned()
}
