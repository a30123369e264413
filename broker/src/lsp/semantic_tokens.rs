//! Semantic tokens of the project's language servers, converted to one legend: the protocol's predefined types and modifiers.

use std::rc::Rc;

use lint::LineColumn;
use serde_json::{Value, json};
use workspaces::{QueryItem, QueryKind, QueryRequest};

use super::{
    failure::Failure,
    queries::{no_answer, target_of},
    server::Server,
    text::Text,
};

pub(super) const FULL: &str = "textDocument/semanticTokens/full";
pub(super) const RANGE: &str = "textDocument/semanticTokens/range";

/// Token types, in the protocol's order.
pub(super) const TYPES: [&str; 24] = [
    "namespace",
    "type",
    "class",
    "enum",
    "interface",
    "struct",
    "typeParameter",
    "parameter",
    "variable",
    "property",
    "enumMember",
    "event",
    "function",
    "method",
    "macro",
    "keyword",
    "modifier",
    "comment",
    "string",
    "number",
    "regexp",
    "operator",
    "decorator",
    "label",
];

/// Token modifiers, in the protocol's order.
pub(super) const MODIFIERS: [&str; 10] = [
    "declaration",
    "definition",
    "readonly",
    "static",
    "deprecated",
    "abstract",
    "async",
    "modification",
    "documentation",
    "defaultLibrary",
];

/// All tokens of a document, or those of a range.
pub(super) async fn ask(server: &Rc<Server>, params: &Value) -> Result<Value, Failure> {
    let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default();
    let document = server.expect_document(uri)?;
    let Some((folder, target, path)) = target_of(server, uri).await? else { return Ok(Value::Null) };
    let text = document.state().text;
    let range = params.get("range").map(|it| serde_json::from_value::<gen_lsp_types::Range>(it.clone()));
    let range = range.transpose().map_err(Failure::invalid_params)?;
    let place = |at: gen_lsp_types::Position| scalar(&text, at);
    let request = QueryRequest {
        position: range.map(|it| place(it.start)),
        end: range.map(|it| place(it.end)),
        ..QueryRequest::of(target, QueryKind::SemanticTokens, path)
    };
    match folder.workspaces.query(request).await {
        Ok(answer) => Ok(json!({"data": data(&answer.items, &text)})),
        Err(error) => no_answer(server, if range.is_some() { RANGE } else { FULL }, error),
    }
}

/// The position in the daemon's unit: line and column from 1, in Unicode scalar values.
fn scalar(text: &Text, at: gen_lsp_types::Position) -> LineColumn {
    let offset = text.index().offset(at);
    lint::LineTable::new(text.as_str().as_bytes()).scalar(offset)
}

/// The protocol's encoding: five numbers a token, positions relative to the token before.
fn data(items: &[QueryItem], text: &Text) -> Vec<u32> {
    let index = text.index();
    let mut last = gen_lsp_types::Position { line: 0, character: 0 };
    let mut data = Vec::with_capacity(items.len() * 5);
    for it in items {
        let Some(span) = it.location.as_ref().and_then(|it| it.span) else { continue };
        let Some(kind) = TYPES.iter().position(|name| *name == it.kind) else { continue };
        let range = index.range(span);
        if range.start.line != range.end.line
            || (range.start.line, range.start.character) < (last.line, last.character)
        {
            continue;
        }
        let is_same_line = range.start.line == last.line;
        let start = if is_same_line { range.start.character - last.character } else { range.start.character };
        let modifiers =
            MODIFIERS.iter().enumerate().filter(|(_, name)| it.tags.iter().any(|tag| tag == *name));
        let modifiers = modifiers.fold(0, |bits, (bit, _)| bits | 1 << bit);
        let length = range.end.character - range.start.character;
        data.extend([
            range.start.line - last.line,
            start,
            length,
            u32::try_from(kind).unwrap_or(0),
            modifiers,
        ]);
        last = range.start;
    }
    data
}

#[cfg(test)]
mod tests {
    use lsp_client::PositionEncoding;
    use workspaces::QueryLocation;

    use super::*;

    #[test]
    fn tokens_are_relative_to_the_one_before() {
        let text = Text::new("𐐀 = f\nclass", PositionEncoding::Utf16);
        let token = |start: u32, end: u32, kind: &str, tags: &[&str]| QueryItem {
            kind: kind.to_owned(),
            tags: tags.iter().map(|it| (*it).to_owned()).collect(),
            location: Some(QueryLocation {
                path: String::new(),
                range: None,
                span: Some(lint::Span::new(start, end)),
            }),
            ..QueryItem::default()
        };
        let items = [
            token(0, 4, "variable", &["definition"]),
            token(7, 8, "function", &[]),
            token(7, 8, "of its own", &[]),
            token(9, 14, "keyword", &["static", "declaration"]),
        ];
        assert_eq!(data(&items, &text), [0, 0, 2, 8, 2, 0, 5, 1, 12, 0, 1, 0, 5, 15, 9]);
    }
}
