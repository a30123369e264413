//! Types that several of LSP's answers contain.

use lsp_client::Range;
use serde::Deserialize;

use super::cursor::{Markup, MarkupText};

#[derive(Debug, Deserialize)]
pub(super) struct LspLocation {
    pub(super) uri: String,
    pub(super) range: Range,
}

impl From<LspLocation> for (String, Option<Range>) {
    fn from(it: LspLocation) -> Self {
        (it.uri, Some(it.range))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextEdit {
    pub(super) range: Range,
    pub(super) new_text: String,
    pub(super) annotation_id: Option<String>,
    pub(super) insert_text_format: Option<u8>,
}

/// `MarkupContent`, `MarkedString`, or a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Marked {
    Text(String),
    Code { language: String, value: String },
    Markup { kind: String, value: String },
}

impl Marked {
    /// A text alone means Markdown where a `MarkedString` may be, and itself in a documentation.
    pub(super) fn with(self, of_text: Markup) -> MarkupText {
        match self {
            Self::Text(text) => MarkupText { markup: of_text, text },
            Self::Code { language, value } => {
                MarkupText { markup: Markup::Markdown, text: format!("```{language}\n{value}\n```") }
            }
            Self::Markup { kind, value } if kind == "markdown" => {
                MarkupText { markup: Markup::Markdown, text: value }
            }
            Self::Markup { value, .. } => MarkupText { markup: Markup::PlainText, text: value },
        }
    }
}
