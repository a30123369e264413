//! selene's findings in the plugin's words. selene has no fixes.

use broker_plugin_sdk::{self as plugin, Diagnostic, Related, Tags};
use selene_lib::CheckerDiagnostic;
use selene_lib::lints::{Label, Severity};

use crate::rules::{self, Selection};

/// Converts a finding of selene; `None` if its lint is not selected.
pub(crate) fn finding(found: CheckerDiagnostic, text: &str, selection: &Selection) -> Option<Diagnostic> {
    let CheckerDiagnostic { diagnostic, severity } = found;
    let severity = match severity {
        _ if !selection.includes(diagnostic.code, true) => return None,
        Severity::Error => plugin::Severity::Error,
        Severity::Warning => plugin::Severity::Warning,
        // Off, unless the user asked for it by name.
        Severity::Allow if selection.includes(diagnostic.code, false) => rules::severity(diagnostic.code),
        Severity::Allow => return None,
    };
    let related = diagnostic.secondary_labels.iter().map(|it| Related {
        path: None,
        span: bytes(it, text).into(),
        message: it.message.clone().unwrap_or_else(|| "see this".to_owned()),
    });
    Some(Diagnostic {
        severity,
        url: Some(rules::url(diagnostic.code)),
        tags: tags(diagnostic.code),
        related: related.collect(),
        ..Diagnostic::new(
            diagnostic.code,
            message(&diagnostic.message, &diagnostic.notes),
            bytes(&diagnostic.primary_label, text),
        )
    })
}

/// The message with the notes that selene prints below it, but for those of several lines, which are about selene.
fn message(message: &str, notes: &[String]) -> String {
    let notes = notes.iter().filter(|it| !it.contains('\n'));
    let notes = notes.map(|it| it.strip_prefix("help: ").unwrap_or(it));
    let all = std::iter::once(message).chain(notes).collect::<Vec<_>>().join("; ");
    all.replace(" but 1 arguments were ", " but 1 argument was ")
}

/// Clamps the range of a label, which some lints compute themselves, to the text and to the boundaries of characters.
fn bytes(label: &Label, text: &str) -> std::ops::Range<usize> {
    let start = text.floor_char_boundary((label.range.0 as usize).min(text.len()));
    start..text.ceil_char_boundary((label.range.1 as usize).clamp(start, text.len()))
}

fn tags(code: &str) -> Tags {
    match code {
        "unused_variable" => Tags::UNNECESSARY,
        "deprecated" => Tags::DEPRECATED,
        _ => Tags::empty(),
    }
}
