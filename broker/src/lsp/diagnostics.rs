//! Conversion of findings to diagnostics, in the client's positions.

use std::collections::HashMap;

use check_engine::{Finding, Fix, Related, RuleRef, pipeline::Reported};
use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location, Message, Range, TextEdit, Uri,
};
use lint::{Applicability, Severity};
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
    let incomplete = found
        .incomplete
        .iter()
        .map(|it| incomplete_check(it.linter.as_deref().unwrap_or_default(), &it.reason));
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
    reported: &Reported,
    index: &Index<'_>,
    context: &Context<'_>,
    traits: DiagnosticTraits,
) -> Diagnostic {
    let it = &reported.0;
    let code = if it.rule.code.is_empty() { None } else { Some(Code::String(it.rule.code.clone())) };
    let url = it.rule.url.as_ref().filter(|_| traits.links && code.is_some());
    let tags = tags(&it.rule, traits.tags);
    let related: Vec<_> = it.related.iter().map(|it| related(it, index, context)).collect();
    Diagnostic {
        range: range(it, index),
        severity: Some(severity(it.severity)),
        code_description: url.map(|url| CodeDescription { href: Uri(url.clone()) }),
        code,
        source: Some(it.rule.linter.to_string()),
        message: Message::String(message(reported)),
        tags: Some(tags).filter(|it| !it.is_empty()),
        related_information: Some(related).filter(|it| traits.related && !it.is_empty()),
        data: traits.data.then(|| json!(data(reported, index))),
    }
}

/// Range of a finding. Those in cells of a notebook are at the file's start: the document's text is JSON, not that of the cell.
fn range(it: &Finding, index: &Index<'_>) -> Range {
    if it.cell.is_none() { index.range(it.span) } else { Range::default() }
}

/// The message of a finding, with the place in a cell of a notebook.
pub(super) fn message(it: &Reported) -> String {
    let it = &it.0;
    match &it.cell {
        None => it.message.to_string(),
        Some(cell) => format!("cell {}, line {}: {}", cell.index + 1, it.range.start.line, it.message),
    }
}

pub(super) fn data(it: &Reported, index: &Index<'_>) -> Data {
    let (finding, fingerprint) = &**it;
    let fixes = if finding.cell.is_some() { &[][..] } else { &finding.fixes[..] };
    Data {
        rule: rule(it),
        fingerprint: fingerprint.to_string(),
        fixes: fixes.iter().map(|it| fix(it, index)).collect(),
    }
}

/// `python/F401`
pub(super) fn rule(it: &Reported) -> String {
    it.0.rule.to_string()
}

fn fix(it: &Fix, index: &Index<'_>) -> FixData {
    let edit = |it: &check_engine::Edit| TextEdit {
        range: index.range(it.span),
        new_text: it.replacement.to_string(),
    };
    let applicability = match it.applicability {
        Applicability::Safe => "safe",
        Applicability::Unsafe => "unsafe",
        Applicability::DisplayOnly => "display",
    };
    FixData {
        title: it.message.as_deref().unwrap_or_default().to_owned(),
        applicability: applicability.to_owned(),
        edits: it.edits.iter().map(edit).collect(),
    }
}

fn severity(it: Severity) -> DiagnosticSeverity {
    match it {
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Info => DiagnosticSeverity::Information,
        Severity::Hint => DiagnosticSeverity::Hint,
    }
}

fn tags(rule: &RuleRef, [unnecessary, deprecated]: [bool; 2]) -> Vec<DiagnosticTag> {
    let tags = [
        (rule.is_unnecessary && unnecessary, DiagnosticTag::Unnecessary),
        (rule.is_deprecated && deprecated, DiagnosticTag::Deprecated),
    ];
    tags.into_iter().filter(|(is_so, _)| *is_so).map(|(_, tag)| tag).collect()
}

fn related(it: &Related, index: &Index<'_>, context: &Context<'_>) -> DiagnosticRelatedInformation {
    let other = it.path.as_ref().map(|it| it.as_str()).filter(|it| *it != context.path);
    let range = match other {
        None => index.range(it.span),
        Some(path) => context.others.get(path).map(|text| text.index().range(it.span)).unwrap_or_default(),
    };
    let location = Location { uri: Uri((context.uri)(other.unwrap_or(context.path))), range };
    DiagnosticRelatedInformation { location, message: it.message.to_string() }
}

/// Result id: a hash of the diagnostics.
pub(super) fn result_id(diagnostics: &[Diagnostic]) -> String {
    let bytes = serde_json::to_vec(diagnostics).unwrap_or_default();
    blake3::hash(&bytes).to_hex()[..16].to_owned()
}
