//! Conversion of findings to diagnostics, in the client's positions.

use std::collections::HashMap;

use broker_proto::v1 as pb;
use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location, Message, Range, TextEdit, Uri,
};
use lint::Span;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    checking::Found,
    client_traits::DiagnosticTraits,
    text::{Index, Text},
};

/// Source of diagnostics that Broker makes itself.
const SOURCE: &str = "broker";

/// The file whose findings are converted, and the texts of other files for their related places, by path. A place in a file without
/// a text is reported as the file's start.
pub(super) struct Context<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t Text,
    pub(super) others: &'t HashMap<String, Text>,
    /// URI of the document of a path.
    pub(super) uri: &'t dyn Fn(&str) -> String,
}

/// `data` of a diagnostic, which a client keeps until it asks for code actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Data {
    pub(super) rule: String,
    pub(super) fingerprint: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<FixData>,
}

/// A fix in the client's positions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FixData {
    pub(super) title: String,
    pub(super) applicability: String,
    pub(super) edits: Vec<TextEdit>,
}

/// Diagnostics for the findings of a file, and one for each linter that did not complete.
pub(super) fn diagnostics(found: &Found, context: &Context<'_>, traits: DiagnosticTraits) -> Vec<Diagnostic> {
    let index = context.text.index();
    let findings = found.findings.iter().map(|it| finding(it, &index, context, traits));
    let incomplete = found.incomplete.iter().map(|it| incomplete_check(&it.linter, &it.reason));
    findings.chain(incomplete).collect()
}

/// Warning at the file's start that a linter did not complete, so that there may be more findings.
pub(super) fn incomplete_check(linter: &str, reason: &str) -> Diagnostic {
    let who = if linter.is_empty() { String::new() } else { format!("{linter}: ") };
    Diagnostic {
        range: Range::default(),
        severity: Some(DiagnosticSeverity::Warning),
        code: Some(Code::String("incomplete".to_owned())),
        source: Some(SOURCE.to_owned()),
        message: Message::String(format!("{who}not all was checked: {reason}")),
        ..Diagnostic::default()
    }
}

fn finding(
    it: &pb::Finding,
    index: &Index<'_>,
    context: &Context<'_>,
    traits: DiagnosticTraits,
) -> Diagnostic {
    let code = if it.code.is_empty() { None } else { Some(Code::String(it.code.clone())) };
    let url = Some(&it.url).filter(|url| traits.links && !url.is_empty() && code.is_some());
    let tags: Vec<_> = it.tags().filter_map(|it| tag(it, traits.tags)).collect();
    let related: Vec<_> = it.related.iter().map(|it| related(it, index, context)).collect();
    Diagnostic {
        range: range(it, index),
        severity: Some(severity(it.severity())),
        code_description: url.map(|url| CodeDescription { href: Uri(url.clone()) }),
        code,
        source: Some(it.linter.clone()),
        message: Message::String(message(it)),
        tags: Some(tags).filter(|it| !it.is_empty()),
        related_information: Some(related).filter(|it| traits.related && !it.is_empty()),
        data: traits.data.then(|| json!(data(it, index))),
    }
}

/// Range of a finding. Those in cells of a notebook are at the file's start: the document's text is JSON, not that of the cell.
fn range(it: &pb::Finding, index: &Index<'_>) -> Range {
    match (it.cell, it.span) {
        (None, Some(span)) => index.range(Span::new(span.start, span.end)),
        (Some(_), _) | (_, None) => Range::default(),
    }
}

/// The message of a finding, with the place in a cell of a notebook.
pub(super) fn message(it: &pb::Finding) -> String {
    match it.cell {
        None => it.message.clone(),
        Some(cell) => {
            let line = it.range.and_then(|it| it.start).unwrap_or_default().line;
            format!("cell {cell}, line {line}: {}", it.message)
        }
    }
}

pub(super) fn data(it: &pb::Finding, index: &Index<'_>) -> Data {
    let fixes = if it.cell.is_some() { &[][..] } else { &it.fixes[..] };
    Data {
        rule: rule(it),
        fingerprint: it.fingerprint.clone(),
        fixes: fixes.iter().map(|it| fix(it, index)).collect(),
    }
}

/// `python/F401`
pub(super) fn rule(it: &pb::Finding) -> String {
    format!("{}/{}", it.linter, it.code)
}

fn fix(it: &pb::Fix, index: &Index<'_>) -> FixData {
    let edit = |it: &pb::TextEdit| {
        let span = it.span.unwrap_or_default();
        let range = index.range(Span::new(span.start, span.end));
        TextEdit { range, new_text: it.replacement.clone() }
    };
    let applicability = match it.applicability() {
        pb::Applicability::Safe => "safe",
        pb::Applicability::Unsafe => "unsafe",
        pb::Applicability::DisplayOnly | pb::Applicability::Unspecified => "display",
    };
    FixData {
        title: it.message.clone(),
        applicability: applicability.to_owned(),
        edits: it.edits.iter().map(edit).collect(),
    }
}

fn severity(it: pb::Severity) -> DiagnosticSeverity {
    match it {
        pb::Severity::Error | pb::Severity::Unspecified => DiagnosticSeverity::Error,
        pb::Severity::Warning => DiagnosticSeverity::Warning,
        pb::Severity::Info => DiagnosticSeverity::Information,
        pb::Severity::Hint => DiagnosticSeverity::Hint,
    }
}

fn tag(it: pb::FindingTag, [unnecessary, deprecated]: [bool; 2]) -> Option<DiagnosticTag> {
    match it {
        pb::FindingTag::Unnecessary => unnecessary.then_some(DiagnosticTag::Unnecessary),
        pb::FindingTag::Deprecated => deprecated.then_some(DiagnosticTag::Deprecated),
        pb::FindingTag::SyntaxError | pb::FindingTag::Unspecified => None,
    }
}

fn related(it: &pb::RelatedPlace, index: &Index<'_>, context: &Context<'_>) -> DiagnosticRelatedInformation {
    let span = it.span.map(|it| Span::new(it.start, it.end));
    let is_own = it.path.is_empty() || it.path == context.path;
    let range = match span {
        Some(span) if is_own => index.range(span),
        Some(span) => context.others.get(&it.path).map(|it| it.index().range(span)).unwrap_or_default(),
        None => Range::default(),
    };
    let path = if is_own { context.path } else { &it.path };
    let location = Location { uri: Uri((context.uri)(path)), range };
    DiagnosticRelatedInformation { location, message: it.message.clone() }
}

/// Result id: a hash of the diagnostics.
pub(super) fn result_id(diagnostics: &[Diagnostic]) -> String {
    let bytes = serde_json::to_vec(diagnostics).unwrap_or_default();
    blake3::hash(&bytes).to_hex()[..16].to_owned()
}
