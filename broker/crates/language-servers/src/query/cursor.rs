//! Questions about the cursor: hover, completions, signatures, and whether the name there can be renamed.

use lsp_client::{Positions, Range};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    At, NoAnswer, TextRange,
    asker::Asker,
    location::text_range,
    wire::{Marked, TextEdit},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    PlainText,
    Markdown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkupText {
    pub markup: Markup,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    pub text: MarkupText,
    pub range: Option<TextRange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completions {
    /// Whether the server has more completions, which it offers after further typing.
    pub is_incomplete: bool,
    /// Completions in the server's order.
    pub items: Vec<Completion>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    pub kind: Option<CompletionKind>,
    pub detail: Option<String>,
    /// Documentation, only for a single completion that was asked about.
    pub documentation: Option<MarkupText>,
    pub is_deprecated: bool,
    pub is_preferred: bool,
    /// Text to sort by; `filter` is the text to match.
    pub sort: String,
    pub filter: String,
    pub insert: String,
    /// Range to replace; `None`: the word before the place.
    pub replace: Option<TextRange>,
    /// Changes elsewhere in the file: an import.
    pub more: Vec<overlay::TextEdit>,
}

/// A number of LSP's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletionKind(pub u8);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signatures {
    pub all: Vec<Signature>,
    /// The one that fits best.
    pub active: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub label: String,
    pub documentation: Option<MarkupText>,
    pub parameters: Vec<Parameter>,
    /// The one that is being typed.
    pub active: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub label: String,
    pub documentation: Option<MarkupText>,
}

/// Range and initial name of a possible rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamable {
    /// `None`: the word at the place.
    pub range: Option<TextRange>,
    /// Initial text for a new name.
    pub placeholder: Option<String>,
}

#[derive(Deserialize)]
struct HoverReply {
    contents: Contents,
    range: Option<Range>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Contents {
    Many(Vec<Marked>),
    One(Marked),
}

pub(super) fn hover(asker: &Asker<'_>, at: At) -> Result<Option<Hover>, NoAnswer> {
    let reply: Option<HoverReply> = asker.request("textDocument/hover", &asker.at(at)?)?;
    let positions = asker.positions()?;
    Ok(reply.map(|it| Hover {
        text: match it.contents {
            Contents::One(one) => one.with(Markup::Markdown),
            Contents::Many(many) => {
                let texts: Vec<_> = many.into_iter().map(|it| it.with(Markup::Markdown).text).collect();
                MarkupText { markup: Markup::Markdown, text: texts.join("\n\n") }
            }
        },
        range: it.range.map(|it| text_range(&positions, it)),
    }))
    .map(|it| it.filter(|it: &Hover| !it.text.text.is_empty()))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CompletionReply {
    List {
        #[serde(rename = "isIncomplete", default)]
        is_incomplete: bool,
        items: Vec<Value>,
    },
    Items(Vec<Value>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompletionItem {
    label: String,
    label_details: Option<LabelDetails>,
    kind: Option<u8>,
    detail: Option<String>,
    documentation: Option<Marked>,
    #[serde(default)]
    deprecated: bool,
    #[serde(default)]
    preselect: bool,
    tags: Option<Vec<u8>>,
    sort_text: Option<String>,
    filter_text: Option<String>,
    insert_text: Option<String>,
    text_edit: Option<CompletionEdit>,
    additional_text_edits: Option<Vec<TextEdit>>,
}

#[derive(Deserialize)]
struct LabelDetails {
    detail: Option<String>,
    description: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CompletionEdit {
    Replace(TextEdit),
    #[serde(rename_all = "camelCase")]
    Either {
        new_text: String,
        replace: Range,
    },
}

/// Lists the completions in the server's own form, from which their details can be requested.
fn list(asker: &Asker<'_>, at: At) -> Result<(bool, Vec<Value>), NoAnswer> {
    let mut params = asker.at(at)?;
    params["context"] = json!({ "triggerKind": 1 });
    let reply: Option<CompletionReply> = asker.request("textDocument/completion", &params)?;
    Ok(match reply {
        None => (false, Vec::new()),
        Some(CompletionReply::Items(items)) => (false, items),
        Some(CompletionReply::List { is_incomplete, items }) => (is_incomplete, items),
    })
}

pub(super) fn completions(asker: &Asker<'_>, at: At) -> Result<Completions, NoAnswer> {
    let (is_incomplete, items) = list(asker, at)?;
    let positions = asker.positions()?;
    let items = items.into_iter().map(|it| read_item(it, &positions)).collect::<Result<_, _>>()?;
    Ok(Completions { is_incomplete, items })
}

pub(super) fn completion(asker: &Asker<'_>, at: At, label: &str) -> Result<Completion, NoAnswer> {
    let found = list(asker, at)?.1.into_iter().find(|it| it["label"] == label);
    let mut item = found.ok_or_else(|| NoAnswer::Failed(format!("nothing here is called `{label}`")))?;
    if asker.client.supports("completionItem/resolve") {
        item = asker.request("completionItem/resolve", &item)?;
    }
    read_item(item, &asker.positions()?)
}

fn read_item(item: Value, positions: &Positions<'_>) -> Result<Completion, NoAnswer> {
    let bad = |it: serde_json::Error| NoAnswer::Failed(format!("a completion is not understood: {it}"));
    let item: CompletionItem = serde_json::from_value(item).map_err(bad)?;
    let (insert, replace) = match item.text_edit {
        Some(CompletionEdit::Replace(it)) => (it.new_text, Some(it.range)),
        Some(CompletionEdit::Either { new_text, replace }) => (new_text, Some(replace)),
        None => (item.insert_text.unwrap_or_else(|| item.label.clone()), None),
    };
    let more = item.additional_text_edits.unwrap_or_default();
    let short = item.label_details.and_then(|it| it.detail.or(it.description));
    Ok(Completion {
        kind: item.kind.map(CompletionKind),
        detail: item.detail.or(short),
        documentation: item.documentation.map(|it| it.with(Markup::PlainText)),
        is_deprecated: item.deprecated || item.tags.is_some_and(|it| it.contains(&1)),
        is_preferred: item.preselect,
        sort: item.sort_text.unwrap_or_else(|| item.label.clone()),
        filter: item.filter_text.unwrap_or_else(|| item.label.clone()),
        insert,
        replace: replace.map(|it| text_range(positions, it)),
        more: super::edits::in_bytes(more, positions).map_err(NoAnswer::Failed)?,
        label: item.label,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignatureReply {
    signatures: Vec<SignatureInformation>,
    active_signature: Option<usize>,
    active_parameter: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignatureInformation {
    label: String,
    documentation: Option<Marked>,
    #[serde(default)]
    parameters: Vec<ParameterInformation>,
    active_parameter: Option<usize>,
}

#[derive(Deserialize)]
struct ParameterInformation {
    label: ParameterLabel,
    documentation: Option<Marked>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ParameterLabel {
    Text(String),
    /// Part of the signature's label; always in UTF-16.
    Part(usize, usize),
}

pub(super) fn signatures(asker: &Asker<'_>, at: At) -> Result<Option<Signatures>, NoAnswer> {
    let reply: Option<SignatureReply> = asker.request("textDocument/signatureHelp", &asker.at(at)?)?;
    Ok(reply.filter(|it| !it.signatures.is_empty()).map(|it| {
        let active = it.active_parameter;
        let all: Vec<_> = it.signatures.into_iter().map(|it| signature(it, active)).collect();
        // Out of range means the first, as LSP has it.
        let active = it.active_signature.filter(|it| *it < all.len()).unwrap_or(0);
        Signatures { all, active }
    }))
}

fn signature(it: SignatureInformation, active: Option<usize>) -> Signature {
    let label = it.label;
    let parameter = |it: ParameterInformation| Parameter {
        label: match it.label {
            ParameterLabel::Text(text) => text,
            ParameterLabel::Part(start, end) => {
                let units = label.encode_utf16().skip(start).take(end.saturating_sub(start));
                String::from_utf16_lossy(&units.collect::<Vec<_>>())
            }
        },
        documentation: it.documentation.map(|it| it.with(Markup::PlainText)),
    };
    let parameters: Vec<_> = it.parameters.into_iter().map(parameter).collect();
    let active = it.active_parameter.or(active).filter(|it| *it < parameters.len());
    let documentation = it.documentation.map(|it| it.with(Markup::PlainText));
    Signature { documentation, parameters, active, label }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RenameReply {
    Named {
        range: Range,
        placeholder: Option<String>,
    },
    Range(Range),
    Default {
        #[serde(rename = "defaultBehavior")]
        default: bool,
    },
}

pub(super) fn prepare_rename(asker: &Asker<'_>, at: At) -> Result<Option<Renamable>, NoAnswer> {
    let reply: Option<RenameReply> = asker.request("textDocument/prepareRename", &asker.at(at)?)?;
    let positions = asker.positions()?;
    let (range, placeholder) = match reply {
        None | Some(RenameReply::Default { default: false }) => return Ok(None),
        Some(RenameReply::Default { default: true }) => (None, None),
        Some(RenameReply::Range(range)) => (Some(range), None),
        Some(RenameReply::Named { range, placeholder }) => (Some(range), placeholder),
    };
    Ok(Some(Renamable { range: range.map(|it| text_range(&positions, it)), placeholder }))
}

impl CompletionKind {
    /// `None` for a number that LSP does not have.
    pub fn as_str(self) -> Option<&'static str> {
        const NAMES: [&str; 25] = [
            "text",
            "method",
            "function",
            "constructor",
            "field",
            "variable",
            "class",
            "interface",
            "module",
            "property",
            "unit",
            "value",
            "enum",
            "keyword",
            "snippet",
            "color",
            "file",
            "reference",
            "folder",
            "enum member",
            "constant",
            "struct",
            "event",
            "operator",
            "type parameter",
        ];
        NAMES.get(usize::from(self.0).wrapping_sub(1)).copied()
    }
}
