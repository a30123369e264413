//! Marks that an editor shows in a text: semantic tokens, inlay hints, folding ranges.

use lint::LineColumn;
use lsp_client::{Position, Range};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    NoAnswer, Part, TextRange,
    asker::Asker,
    cursor::{Markup, MarkupText},
    edits::in_bytes,
    location::text_range,
    wire::{Marked, TextEdit},
};

/// Semantic token: kind of a word, such as `function`, and its modifiers, such as `async`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub range: TextRange,
    pub kind: String,
    pub modifiers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Place in bytes; `at` is the same as line and column.
    pub offset: u32,
    pub at: LineColumn,
    pub label: String,
    pub kind: HintKind,
    pub tooltip: Option<MarkupText>,
    /// Edits that write the hint into the text.
    pub edits: Vec<overlay::TextEdit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintKind {
    /// Another kind, or none given.
    Other,
    Type,
    Parameter,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    pub range: TextRange,
    /// `comment`, `imports`, `region`.
    pub kind: Option<String>,
}

#[derive(Deserialize)]
struct TokensReply {
    data: Vec<u32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Legend {
    token_types: Vec<String>,
    token_modifiers: Vec<String>,
}

const TOKENS: &str = "textDocument/semanticTokens";

pub(super) fn tokens(asker: &Asker<'_>, part: Option<&Part>) -> Result<Vec<Token>, NoAnswer> {
    let [full, by_range] = ["full", "range"].map(|it| format!("{TOKENS}/{it}"));
    let mut params = json!({ "textDocument": asker.document()? });
    let can_part = asker.client.supports(&by_range);
    let reply: Option<TokensReply> = match part {
        Some(part) if can_part => {
            params["range"] = json!(asker.range(part)?);
            asker.request(&by_range, &params)?
        }
        None if can_part && !asker.client.supports(&full) => {
            params["range"] = json!(asker.range_or_all(None)?);
            asker.request(&by_range, &params)?
        }
        _ => asker.request(&full, &params)?,
    };
    let wanted = asker.positions()?.span(asker.range_or_all(part)?);
    let legend =
        asker.client.options(TOKENS).into_iter().find_map(|mut it| it.get_mut("legend").map(Value::take));
    let legend: Legend = serde_json::from_value(legend.unwrap_or_default()).unwrap_or_default();
    let all = decode(asker, &reply.map_or_else(Vec::new, |it| it.data), &legend)?;
    let is_wanted = |it: &Token| it.range.span.start < wanted.end && wanted.start < it.range.span.end;
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// Decodes the tokens, each of which is relative to the one before.
fn decode(asker: &Asker<'_>, data: &[u32], legend: &Legend) -> Result<Vec<Token>, NoAnswer> {
    let positions = asker.positions()?;
    let mut start = Position { line: 0, character: 0 };
    let mut tokens = Vec::with_capacity(data.len() / 5);
    for five in data.chunks_exact(5) {
        let [lines, characters, length, kind, modifiers] = [0, 1, 2, 3, 4].map(|it| five[it]);
        let before = if lines == 0 { start.character } else { 0 };
        let character = before.saturating_add(characters);
        start = Position { line: start.line.saturating_add(lines), character };
        let end = Position { character: character.saturating_add(length), ..start };
        let named = |(bit, name): (usize, &String)| (modifiers >> bit & 1 == 1).then(|| name.clone());
        tokens.push(Token {
            range: text_range(&positions, Range { start, end }),
            kind: legend.token_types.get(kind as usize).cloned().unwrap_or_default(),
            modifiers: legend.token_modifiers.iter().take(32).enumerate().filter_map(named).collect(),
        });
    }
    Ok(tokens)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HintReply {
    position: Position,
    label: Label,
    kind: Option<u8>,
    tooltip: Option<Marked>,
    text_edits: Option<Vec<TextEdit>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Label {
    Text(String),
    Parts(Vec<LabelPart>),
}

#[derive(Deserialize)]
struct LabelPart {
    value: String,
}

pub(super) fn hints(asker: &Asker<'_>, part: Option<&Part>) -> Result<Vec<Hint>, NoAnswer> {
    let params = json!({ "textDocument": asker.document()?, "range": asker.range_or_all(part)? });
    let found: Option<Vec<HintReply>> = asker.request("textDocument/inlayHint", &params)?;
    let positions = asker.positions()?;
    let hint = |it: HintReply| {
        let offset = positions.offset(it.position);
        Ok(Hint {
            offset,
            at: positions.line_column(offset),
            label: match it.label {
                Label::Text(text) => text,
                Label::Parts(parts) => parts.into_iter().map(|it| it.value).collect(),
            },
            kind: match it.kind {
                Some(1) => HintKind::Type,
                Some(2) => HintKind::Parameter,
                _ => HintKind::Other,
            },
            tooltip: it.tooltip.map(|it| it.with(Markup::PlainText)),
            edits: in_bytes(it.text_edits.unwrap_or_default(), &positions).map_err(NoAnswer::Failed)?,
        })
    };
    found.unwrap_or_default().into_iter().map(hint).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoldReply {
    start_line: u32,
    start_character: Option<u32>,
    end_line: u32,
    end_character: Option<u32>,
    kind: Option<String>,
}

pub(super) fn folds(asker: &Asker<'_>) -> Result<Vec<Fold>, NoAnswer> {
    let params = json!({ "textDocument": asker.document()? });
    let found: Option<Vec<FoldReply>> = asker.request("textDocument/foldingRange", &params)?;
    let positions = asker.positions()?;
    let fold = |it: FoldReply| {
        // Without a character it is the line's end.
        let at = |line, character: Option<u32>| Position { line, character: character.unwrap_or(u32::MAX) };
        let (start, end) = (at(it.start_line, it.start_character), at(it.end_line, it.end_character));
        Fold { range: text_range(&positions, Range { start, end }), kind: it.kind }
    };
    Ok(found.unwrap_or_default().into_iter().map(fold).collect())
}
