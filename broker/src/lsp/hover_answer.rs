//! Hover of a language server, in any of the protocol's forms. The protocol's own types for the older ones are deprecated.

use gen_lsp_types::{MarkupContent, MarkupKind, Range};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) contents: Contents,
    pub(super) range: Option<Range>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Contents {
    Many(Vec<Marked>),
    One(Marked),
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Marked {
    Markdown(String),
    Code { language: String, value: String },
    Markup(MarkupContent),
}

impl Contents {
    /// All contents as one text, in Markdown for a client that takes it.
    pub(super) fn text(self, is_markdown: bool) -> String {
        match self {
            Self::One(it) => it.text(is_markdown),
            Self::Many(all) => {
                let all: Vec<_> = all.into_iter().map(|it| it.text(is_markdown)).collect();
                all.join("\n\n")
            }
        }
    }
}

impl Marked {
    fn text(self, is_markdown: bool) -> String {
        match self {
            Self::Markdown(it) => it,
            Self::Code { language, value } => block(&language, &value),
            Self::Markup(it) if is_markdown && it.kind == MarkupKind::PlainText => block("text", &it.value),
            Self::Markup(it) => it.value,
        }
    }
}

fn block(language: &str, code: &str) -> String {
    if code.is_empty() { String::new() } else { format!("```{language}\n{code}\n```") }
}
