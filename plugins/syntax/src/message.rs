//! Places in words.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Related};

use crate::places::{Place, What};

/// Limit on a piece of text that is shown, in characters.
const LONGEST: usize = 30;

pub(crate) fn diagnostic(place: &Place, text: &[u8], code: &str) -> Diagnostic {
    let range = on_one_line(text, place.range.clone());
    let message = match &place.what {
        What::Unexpected => unexpected(&text[range.clone()]),
        What::Missing { kind, is_named: true } => {
            format!("missing {}", kind.trim_matches('_').replace('_', " "))
        }
        What::Missing { kind, is_named: false } if kind.trim().is_empty() => "missing line break".to_owned(),
        What::Missing { kind, is_named: false } => format!("missing `{kind}`"),
        What::Unclosed(open) if place.range == *open => format!("{} is never closed", quoted(text, open)),
        What::Unclosed(open) => format!("missing `{}`", closing(&text[open.clone()])),
        What::Unopened => format!("{} closes nothing", quoted(text, &range)),
        What::Crossed(open) => format!("{} does not close {}", quoted(text, &range), quoted(text, open)),
    };
    let mut diagnostic = Diagnostic::new(code, message, range);
    if let What::Unclosed(open) | What::Crossed(open) = &place.what
        && place.range != *open
    {
        let message = format!("{} is opened here", quoted(text, open));
        diagnostic.related.push(Related { path: None, span: open.clone().into(), message });
    }
    diagnostic
}

fn unexpected(text: &[u8]) -> String {
    let shown = String::from_utf8_lossy(text);
    match shown.trim() {
        "" => "unexpected end".to_owned(),
        it if it.chars().count() > LONGEST => {
            format!("unexpected `{}…`", it.chars().take(LONGEST).collect::<String>())
        }
        it => format!("unexpected `{it}`"),
    }
}

fn quoted(text: &[u8], range: &Range<usize>) -> String {
    format!("`{}`", String::from_utf8_lossy(&text[range.clone()]))
}

fn closing(open: &[u8]) -> &'static str {
    match open {
        b"(" => ")",
        b"[" => "]",
        b"{" => "}",
        _ => "end",
    }
}

/// The part of a range that is on its first line.
fn on_one_line(text: &[u8], range: Range<usize>) -> Range<usize> {
    let end = memchr::memchr(b'\n', &text[range.clone()]).map_or(range.end, |it| range.start + it);
    let line = &text[range.start..end];
    range.start..range.start + line.trim_ascii_end().len()
}
