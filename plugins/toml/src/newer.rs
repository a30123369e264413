//! Syntax that is valid in TOML 1.1 and not in TOML 1.0. Looks at the parser's events, not at their meaning.

use broker_plugin_sdk::Diagnostic;
use toml_parser::Source;
use toml_parser::decoder::{Encoding, ScalarKind};
use toml_parser::parser::{Event, EventKind, parse_document};

use crate::rules::TOML_1_1;

/// Reports at most one finding for each inline table, scalar or key.
pub(crate) fn check(text: &str, found: &mut Vec<Diagnostic>) {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let mut events = Vec::new();
    // Deep nesting is refused by `syntax`, with the same limit.
    let mut collect = |event: Event| events.push(event);
    let mut guarded = toml_parser::parser::RecursionGuard::new(&mut collect, 80);
    parse_document(&tokens, &mut guarded, &mut ());
    InlineTables::default().check(&events, found);
    for event in &events {
        match event.kind() {
            EventKind::Scalar => scalar(source, event, found),
            EventKind::SimpleKey => escapes(source, event, found),
            _ => {}
        }
    }
}

fn tell(what: &str, start: usize, end: usize, found: &mut Vec<Diagnostic>) {
    let message = format!("{what}: readers of TOML 1.0 refuse the file, only TOML 1.1 has that");
    found.push(Diagnostic::new(TOML_1_1, message, start..end));
}

/// The inline tables and arrays that are open.
#[derive(Default)]
struct InlineTables {
    open: Vec<Open>,
}

struct Open {
    /// Event that opened it.
    event: Event,
    is_told: bool,
    /// The comma that nothing has followed yet.
    comma: Option<Event>,
}

impl InlineTables {
    fn check(mut self, events: &[Event], found: &mut Vec<Diagnostic>) {
        for event in events {
            match event.kind() {
                EventKind::InlineTableOpen | EventKind::ArrayOpen => self.open(event),
                EventKind::InlineTableClose | EventKind::ArrayClose => self.close(found),
                EventKind::Newline => self.tell("an inline table of several lines", None, found),
                EventKind::ValueSep => self.set_comma(Some(*event)),
                EventKind::SimpleKey | EventKind::Scalar => self.set_comma(None),
                _ => {}
            }
        }
    }

    fn open(&mut self, event: &Event) {
        self.set_comma(None);
        self.open.push(Open { event: *event, is_told: false, comma: None });
    }

    fn close(&mut self, found: &mut Vec<Diagnostic>) {
        if let Some(comma) = self.open.last().and_then(|it| it.comma) {
            self.tell("a comma at the end of an inline table", Some(comma), found);
        }
        self.open.pop();
    }

    fn set_comma(&mut self, comma: Option<Event>) {
        if let Some(open) = self.open.last_mut() {
            open.comma = comma;
        }
    }

    /// Once for each table, at `event` or where the table starts.
    fn tell(&mut self, what: &str, event: Option<Event>, found: &mut Vec<Diagnostic>) {
        let is_new = |it: &&mut Open| it.event.kind() == EventKind::InlineTableOpen && !it.is_told;
        if let Some(open) = self.open.last_mut().filter(is_new) {
            open.is_told = true;
            let at = event.unwrap_or(open.event).span();
            tell(what, at.start(), at.end(), found);
        }
    }
}

fn scalar(source: Source, event: &Event, found: &mut Vec<Diagnostic>) {
    let Some(raw) = source.get(event) else {
        return;
    };
    if event.encoding().is_some() {
        return escapes(source, event, found);
    }
    let mut decoded = std::borrow::Cow::Borrowed("");
    if raw.decode_scalar(&mut decoded, &mut ()) == ScalarKind::DateTime && !has_seconds(raw.as_str()) {
        tell("a time without seconds", event.span().start(), event.span().end(), found);
    }
}

/// Whether the time in a date and time, if any, has seconds.
fn has_seconds(text: &str) -> bool {
    match text.find(':') {
        Some(colon) => text.as_bytes().get(colon + 3) == Some(&b':'),
        None => true,
    }
}

/// `\e` and `\xHH` in a string or key.
fn escapes(source: Source, event: &Event, found: &mut Vec<Diagnostic>) {
    if !matches!(event.encoding(), Some(Encoding::BasicString | Encoding::MlBasicString)) {
        return;
    }
    let text = source.get(event).map_or("", |it| it.as_str()).as_bytes();
    let mut at = 0;
    while let Some(backslash) = text[at..].iter().position(|it| *it == b'\\').map(|it| at + it) {
        let escape = text.get(backslash + 1);
        let length = match escape {
            Some(b'e') => 2,
            Some(b'x') => 4,
            _ => {
                at = (backslash + 2).min(text.len());
                continue;
            }
        };
        let start = event.span().start() + backslash;
        let end = (start + length).min(event.span().end());
        return tell("an escape like this one", start, end, found);
    }
}
