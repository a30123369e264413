//! Text that cannot be parsed: whether that is the file's fault, and the place of the error.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Severity, template};
use raffia::Syntax;
use raffia::error::Error;
use raffia::token::Comment;

use crate::mask::{self, Mask, Unclosed};
use crate::rules::{DOUBLE_SLASH, SYNTAX};

/// Finding for the place at which the parser failed. The error is why there is none.
pub(crate) fn verdict(text: &str, error: &Error, mask: &Mask, syntax: Syntax) -> Result<Diagnostic, String> {
    let at = text.floor_char_boundary(error.span.start.min(text.len()));
    if mask.is_template() || mask::has_quoting_tag(text, at) {
        return Err(template::IS_TEMPLATE.to_owned());
    }
    let slashes = slashes(text, at).filter(|_| syntax == Syntax::Css);
    let open = open(mask);
    let severity = if matches!(open, Open::Nothing) { Severity::Warning } else { Severity::Error };
    let found = match (open, slashes) {
        (Open::Comment(at), _) => return Ok(unclosed_comment(at)),
        (_, Some(range)) => {
            Diagnostic::new(DOUBLE_SLASH, "`//` begins no comment in CSS: use `/* … */`", range)
        }
        // The end of the file, where the parser notices, is no help.
        (Open::Bracket(at), None) if text[error.span.start.min(text.len())..].trim().is_empty() => {
            return Ok(unclosed(text, at));
        }
        (Open::Nothing, None) if syntax != Syntax::Css => return fault(text, error, mask, at, syntax),
        _ => Diagnostic::new(SYNTAX, message(error), range(text, error, at)),
    };
    Ok(Diagnostic { severity, ..found })
}

/// Error that the parser accepts: an unclosed comment or bracket, or a stray one.
pub(crate) fn overlooked(text: &str, comments: &[Comment<'_>], mask: &Mask) -> Option<Diagnostic> {
    let last = comments.iter().rfind(|it| it.kind.is_block());
    if let Some(it) = last.filter(|it| !is_closed(&text[it.span.start..it.span.end])) {
        return Some(unclosed_comment(it.span.start));
    }
    match open(mask) {
        Open::Bracket(at) => Some(unclosed(text, at)),
        Open::Stray(at) => Some(error(format!("`{}` closes nothing", &text[at..=at]), at..at + 1)),
        Open::Nothing | Open::Comment(_) | Open::Other => None,
    }
}

/// In SCSS and Less, where all is closed. Only what no parser can read is the file's fault: raffia lacks some of both.
fn fault(text: &str, told: &Error, mask: &Mask, at: usize, syntax: Syntax) -> Result<Diagnostic, String> {
    if let Some(words) = mask.no_statement(syntax) {
        return Ok(error("this is neither a declaration nor a rule: is there a `:` missing?", words));
    }
    let message = message(told);
    let is_line = text[line_of(text, at).start..at].trim().is_empty();
    if is_line && message.starts_with("expect token `;`") {
        return Ok(error(message, range(text, told, at)));
    }
    let line = text[..at].matches('\n').count() + 1;
    Err(format!("the parser does not know what is in line {line} ({message})"))
}

fn error(message: impl Into<String>, range: Range<usize>) -> Diagnostic {
    Diagnostic::error(SYNTAX, message, range)
}

fn unclosed(text: &str, at: usize) -> Diagnostic {
    error(format!("`{}` is never closed", &text[at..=at]), at..at + 1)
}

fn unclosed_comment(at: usize) -> Diagnostic {
    error("the comment is never closed: all that follows belongs to it", at..at + 2)
}

fn is_closed(comment: &str) -> bool {
    comment.len() >= 4 && comment.ends_with("*/")
}

/// Range from the place at which the parser failed to the end of the line at most.
fn range(text: &str, error: &Error, at: usize) -> Range<usize> {
    let end = text.ceil_char_boundary(error.span.end.clamp(at, text.len()));
    at..text[at..end].find('\n').map_or(end, |it| at + it)
}

/// The parser's words in those of people.
fn message(error: &Error) -> String {
    let told = error.kind.to_string();
    let told = told.trim_end_matches('.').replace("<eof>", "the end of the file");
    told.replace(['<', '>'], "`").replace("``", "`")
}

/// Range of the comment if `//` begins the line of an error, or the line before.
fn slashes(text: &str, at: usize) -> Option<Range<usize>> {
    let here = line_of(text, at);
    let before = line_of(text, here.start.saturating_sub(1));
    [here, before].into_iter().find_map(|line| {
        let lead = text[line.clone()].len() - text[line.clone()].trim_start().len();
        let start = line.start + lead;
        text[start..].starts_with("//").then(|| start..line.start + text[line].trim_end().len())
    })
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at..].find('\n').map_or(text.len(), |it| at + it);
    start..end
}

/// Unclosed or stray part of a text.
#[derive(Debug, Clone, Copy)]
enum Open {
    Nothing,
    /// The bracket there, and nothing else is wrong with brackets, strings and comments.
    Bracket(usize),
    /// Bracket that closes nothing, or another kind of bracket.
    Stray(usize),
    Comment(usize),
    Other,
}

/// Finds out whether all brackets, strings and comments are closed: then a browser reads on after what it does not know.
fn open(mask: &Mask) -> Open {
    match mask.unclosed {
        Some(Unclosed::Comment(at)) => return Open::Comment(at),
        Some(Unclosed::String(_)) => return Open::Other,
        None => {}
    }
    let mut open = Vec::new();
    for (at, it) in mask.bytes.iter().enumerate() {
        let partner = match it {
            b'{' | b'(' | b'[' => {
                open.push((*it, at));
                continue;
            }
            b'}' => b'{',
            b')' => b'(',
            b']' => b'[',
            _ => continue,
        };
        if open.pop().is_none_or(|it| it.0 != partner) {
            return Open::Stray(at);
        }
    }
    open.last().map_or(Open::Nothing, |it| Open::Bracket(it.1))
}
