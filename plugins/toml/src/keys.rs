//! Index of the keys in a file, so that a second definition can name the first.

use std::borrow::Cow;
use std::ops::Range;

use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};

/// Maximum depth of dotted keys in the parser.
const DEEPEST: usize = 80;

/// Every key in a file, in the order of the text.
pub(crate) struct Keys(Vec<Key>);

struct Key {
    /// Path from the root. Elements of an array have their number in it.
    path: Vec<String>,
    span: Range<usize>,
}

impl Keys {
    pub(crate) fn of(text: &str) -> Self {
        let source = Source::new(text);
        let tokens = source.lex().into_vec();
        let mut events = Vec::new();
        let mut collect = |event: Event| events.push(event);
        parse_document(&tokens, &mut RecursionGuard::new(&mut collect, 80), &mut ());
        let mut walk = Walk::new(source);
        events.iter().for_each(|it| walk.event(it));
        Self(walk.keys)
    }

    /// The key at `span` as a path, and where it was defined before.
    pub(crate) fn duplicate(&self, span: &Range<usize>) -> Option<(String, Option<Range<usize>>)> {
        let key = self.0.iter().find(|it| it.span == *span)?;
        let same = |it: &&Key| it.path == key.path && it.span.start < span.start;
        let first = self.0.iter().find(same).map(|it| it.span.clone());
        Some((
            key.path.iter().filter(|it| !it.starts_with('#')).cloned().collect::<Vec<_>>().join("."),
            first,
        ))
    }
}

/// Goes through a file's events.
struct Walk<'i> {
    source: Source<'i>,
    keys: Vec<Key>,
    /// The table that a header opened.
    table: Vec<String>,
    /// Paths of the keys whose value in braces or brackets is open.
    open: Vec<Vec<String>>,
    /// The dotted key that is being read.
    dotted: Vec<String>,
    in_header: bool,
    is_array: bool,
    /// Numbers the elements of arrays.
    elements: usize,
}

impl<'i> Walk<'i> {
    fn new(source: Source<'i>) -> Self {
        Self {
            source,
            keys: Vec::new(),
            table: Vec::new(),
            open: Vec::new(),
            dotted: Vec::new(),
            in_header: false,
            is_array: false,
            elements: 0,
        }
    }

    fn event(&mut self, event: &Event) {
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => self.open_header(event.kind()),
            EventKind::StdTableClose | EventKind::ArrayTableClose => self.close_header(),
            EventKind::SimpleKey => self.key(event),
            EventKind::InlineTableOpen | EventKind::ArrayOpen => self.open_value(event.kind()),
            EventKind::InlineTableClose | EventKind::ArrayClose => self.close_value(),
            EventKind::Scalar | EventKind::Newline => self.dotted.clear(),
            EventKind::ValueSep => self.dotted.clear(),
            _ => {}
        }
    }

    fn open_header(&mut self, kind: EventKind) {
        self.open.clear();
        self.dotted.clear();
        self.table.clear();
        self.in_header = true;
        self.is_array = kind == EventKind::ArrayTableOpen;
    }

    fn close_header(&mut self) {
        self.table = std::mem::take(&mut self.dotted);
        self.in_header = false;
        if self.is_array {
            self.elements += 1;
            self.table.push(format!("#{}", self.elements));
        }
    }

    fn key(&mut self, event: &Event) {
        let Some(raw) = self.source.get(event).filter(|_| self.dotted.len() < DEEPEST) else {
            return;
        };
        let mut name = Cow::Borrowed("");
        raw.decode_key(&mut name, &mut ());
        self.dotted.push(name.into_owned());
        let mut path = self.base().to_vec();
        path.extend(self.dotted.iter().cloned());
        self.keys.push(Key { path, span: event.span().start()..event.span().end() });
    }

    /// Returns the path that the next key is below.
    fn base(&self) -> &[String] {
        match self.open.last() {
            Some(open) => open,
            None if self.in_header => &[],
            None => &self.table,
        }
    }

    fn open_value(&mut self, kind: EventKind) {
        let mut path = self.base().to_vec();
        path.append(&mut self.dotted);
        if kind == EventKind::ArrayOpen || self.open.last().is_some_and(|it| *it == path) {
            self.elements += 1;
            path.push(format!("#{}", self.elements));
        }
        self.open.push(path);
    }

    fn close_value(&mut self) {
        self.open.pop();
        self.dotted.clear();
    }
}
