//! Findings as diagnostics of LSP, in the client's positions.

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

/// What stands for the linter where something could not be computed.
const SOURCE: &str = "broker";

/// The texts that places are told in, by path; one that is not there is told by its start.
pub(super) struct Places<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t Text,
    pub(super) others: &'t HashMap<String, Text>,
    /// From a path to the document's name.
    pub(super) uri: &'t dyn Fn(&str) -> String,
}

/// What is kept with a diagnostic between its publication and a code action.
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

/// All that was found of a file, and what could not be found out.
pub(super) fn diagnostics(found: &Found, places: &Places<'_>, traits: DiagnosticTraits) -> Vec<Diagnostic> {
    let index = places.text.index();
    let findings = found.findings.iter().map(|it| finding(it, &index, places, traits));
    let incomplete = found.incomplete.iter().map(|it| missing(&it.linter, &it.reason));
    findings.chain(incomplete).collect()
}

/// Says at the start of a file that there may be more to find in it.
pub(super) fn missing(linter: &str, reason: &str) -> Diagnostic {
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

fn finding(it: &pb::Finding, index: &Index<'_>, places: &Places<'_>, traits: DiagnosticTraits) -> Diagnostic {
    let code = if it.code.is_empty() { None } else { Some(Code::String(it.code.clone())) };
    let url = Some(&it.url).filter(|url| traits.links && !url.is_empty() && code.is_some());
    let tags: Vec<_> = it.tags().filter_map(tag).collect();
    let related: Vec<_> = it.related.iter().map(|it| related(it, index, places)).collect();
    Diagnostic {
        range: range(it, index),
        severity: Some(severity(it.severity())),
        code_description: url.map(|url| CodeDescription { href: Uri(url.clone()) }),
        code,
        source: Some(it.linter.clone()),
        message: Message::String(message(it)),
        tags: Some(tags).filter(|it| traits.tags && !it.is_empty()),
        related_information: Some(related).filter(|it| traits.related && !it.is_empty()),
        data: traits.data.then(|| json!(data(it, index))),
    }
}

/// Where it is; the start of the file for a cell of a notebook, whose text a document in JSON does not have.
fn range(it: &pb::Finding, index: &Index<'_>) -> Range {
    match (it.cell, it.span) {
        (None, Some(span)) => index.range(Span::new(span.start, span.end)),
        (Some(_), _) | (_, None) => Range::default(),
    }
}

fn message(it: &pb::Finding) -> String {
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

fn tag(it: pb::FindingTag) -> Option<DiagnosticTag> {
    match it {
        pb::FindingTag::Unnecessary => Some(DiagnosticTag::Unnecessary),
        pb::FindingTag::Deprecated => Some(DiagnosticTag::Deprecated),
        pb::FindingTag::SyntaxError | pb::FindingTag::Unspecified => None,
    }
}

fn related(it: &pb::RelatedPlace, index: &Index<'_>, places: &Places<'_>) -> DiagnosticRelatedInformation {
    let span = it.span.map(|it| Span::new(it.start, it.end));
    let is_own = it.path.is_empty() || it.path == places.path;
    let range = match span {
        Some(span) if is_own => index.range(span),
        Some(span) => places.others.get(&it.path).map(|it| it.index().range(span)).unwrap_or_default(),
        None => Range::default(),
    };
    let path = if is_own { places.path } else { &it.path };
    let location = Location { uri: Uri((places.uri)(path)), range };
    DiagnosticRelatedInformation { location, message: it.message.clone() }
}

/// Names what was found: equal if it is the same.
pub(super) fn result_id(diagnostics: &[Diagnostic]) -> String {
    let bytes = serde_json::to_vec(diagnostics).unwrap_or_default();
    blake3::hash(&bytes).to_hex()[..16].to_owned()
}
