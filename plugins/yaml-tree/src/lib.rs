//! Documents of YAML as nodes with places ([`tree`]), and the parts of GitHub's workflows and actions that more than one
//! plugin looks at ([`github`]).
//!
//! Left out: findings, and what a broken text may mean.

pub mod github;
pub mod tree;

use std::ops::Range;

use granit_parser::{Event, Marker, Options, Parser, Span};

use tree::{Builder, Document};

/// The document of a text that is whole and has just one.
#[must_use]
pub fn document(text: &str) -> Option<Document<'_>> {
    let mut parser = Parser::new_from_str_with_options(text, options());
    let (mut builder, mut documents) = (Builder::default(), Vec::new());
    while let Some(event) = parser.next_event() {
        match event.ok()? {
            (Event::UnresolvedAlias(_), span) => builder.unresolved(bytes(&span)),
            (event, span) => documents.extend(builder.event(event, bytes(&span))),
        }
    }
    documents.pop().filter(|_| documents.is_empty())
}

/// An alias to nothing is an event like others.
#[must_use]
pub fn options() -> Options {
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    options
}

/// The bytes of a span; the parser has them for all texts in memory.
#[must_use]
pub fn bytes(span: &Span) -> Range<usize> {
    byte(&span.start)..byte(&span.end).max(byte(&span.start))
}

#[must_use]
pub fn byte(marker: &Marker) -> usize {
    marker.byte_offset().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_whole_document() {
        let read = document("a: &x [1, two]\nb: *x\n").unwrap();
        let b = read.get(0, "b").unwrap();
        let items: Vec<_> = read.items(b).iter().filter_map(|it| read.text(*it)).collect();
        assert_eq!(items, ["1", "two"]);
        assert!(document("a: *none\n").is_some());
        for text in ["", "a: [\n", "a: 1\n---\nb: 2\n"] {
            assert!(document(text).is_none(), "{text:?}");
        }
    }
}
