//! Errors that every reader of TOML reports, as cargo's parser has them.

use std::ops::Range;

use broker_plugin_sdk::{Completeness, Diagnostic, Related, Severity};
use toml::de::DeTable;

use crate::keys::Keys;
use crate::numbers;
use crate::rules::{DUPLICATE_KEY, INVALID_SYNTAX};

/// After so many errors the rest says nothing new.
const MAX_ERRORS: usize = 50;

/// Message of the parser for a key that exists already.
const DUPLICATE: &str = "duplicate key";

/// Message of the parser for a missing or unquoted value.
const NO_QUOTES: &str = "string values must be quoted";

/// Message of the parser for nesting that is too deep.
const TOO_DEEP: &str = "recursion limit";

/// The errors in `text`, whether these are all, and what is in the file.
pub(crate) fn check(text: &str) -> (Vec<Diagnostic>, Completeness, DeTable<'_>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut found = Errors { text, told: Vec::new(), last_line: 0 };
    let is_too_deep = errors.iter().any(|it| it.message().contains(TOO_DEEP));
    let errors = errors.iter().filter(|it| !it.message().contains(TOO_DEEP));
    let mut errors: Vec<_> = errors.map(|it| (it.span().unwrap_or_default(), it.message())).collect();
    let mut numbers = Vec::new();
    numbers::invalid(table.get_ref(), &mut numbers);
    errors.extend(numbers.into_iter().map(|it| (it, "not a number")));
    if !errors.is_empty() {
        // The parser has a pass over the tokens before the one over what they mean.
        errors.sort_by_key(|(at, _)| at.start);
        let keys = Keys::of(text);
        errors.into_iter().for_each(|(at, message)| found.add(message, at, &keys));
    }
    let mut completeness = Completeness::Complete;
    if is_too_deep {
        let why = "arrays and tables are nested more than 80 levels deep, where cargo's parser gives up";
        completeness = Completeness::Partial(why.to_owned());
    } else if found.told.len() > MAX_ERRORS {
        completeness = Completeness::Partial(format!("there are more than {MAX_ERRORS} errors"));
    }
    found.told.truncate(MAX_ERRORS);
    (found.told, completeness, table.into_inner())
}

/// Errors found so far.
struct Errors<'a> {
    text: &'a str,
    told: Vec<Diagnostic>,
    /// End of the line that the last error was on.
    last_line: usize,
}

impl Errors<'_> {
    /// Further errors on a line are mostly the consequence of the first.
    fn add(&mut self, message: &str, at: Range<usize>, keys: &Keys) {
        let at = visible(self.text, at);
        let message =
            if self.is_blank(&at) && message.starts_with(NO_QUOTES) { "a value is missing" } else { message };
        if self.told.len() > MAX_ERRORS || (message != DUPLICATE && at.start < self.last_line) {
            return;
        }
        self.last_line = self.text[at.start..].find('\n').map_or(usize::MAX, |it| at.start + it + 1);
        self.told.push(diagnostic(message, at, keys));
    }

    fn is_blank(&self, at: &Range<usize>) -> bool {
        self.text[at.clone()].trim().is_empty()
    }
}

fn diagnostic(message: &str, at: Range<usize>, keys: &Keys) -> Diagnostic {
    let (code, message, related) = match message {
        DUPLICATE => match keys.duplicate(&at) {
            Some((key, first)) => {
                let message = format!("`{key}` is defined already");
                let related = first.map(|it| Related {
                    path: None,
                    span: it.into(),
                    message: "defined here".to_owned(),
                });
                (DUPLICATE_KEY, message, related)
            }
            None => (DUPLICATE_KEY, message.to_owned(), None),
        },
        _ => (INVALID_SYNTAX, message.to_owned(), None),
    };
    Diagnostic {
        severity: Severity::Error,
        related: related.into_iter().collect(),
        ..Diagnostic::new(code, message, at)
    }
}

/// The parser points between characters where something is missing; a person sees the character there, or what
/// comes before the end of the file.
fn visible(text: &str, at: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(at.start.min(text.len()));
    let end = text.ceil_char_boundary(at.end.clamp(start, text.len()));
    if start < end {
        return start..end;
    }
    match text[start..].chars().next() {
        Some(it) if it != '\n' && it != '\r' => start..start + it.len_utf8(),
        _ => start..start,
    }
}
