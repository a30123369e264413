//! Conversion of ast-grep's findings to diagnostics.
//!
//! A rule's fix is its author's word, which is not proved: it is unsafe, unless the rule says
//! `metadata: {applicability: safe}` (or `display-only`).

use ast_grep_config::{Fixer, RuleConfig, Severity};
use ast_grep_core::NodeMatch;
use broker_plugin_sdk::{self as plugin, Applicability, Diagnostic, Related};

use crate::{languages::Lang, rule_file::Rule, rules, source::Source};

/// A finding of a rule, or of one of the crate's own.
pub(crate) fn diagnostic(
    rule: Option<&Rule>,
    config: &RuleConfig<Lang>,
    found: &NodeMatch<'_, Source>,
) -> Diagnostic {
    let fix = |it: &Fixer| fix(applicability(rule), config, it, found);
    Diagnostic {
        severity: severity(&config.severity),
        url: config.url.clone(),
        fixes: config.fixer.iter().map(fix).collect(),
        related: related(config, found),
        ..Diagnostic::new(config.id.clone(), message(config, found), found.range())
    }
}

fn message(config: &RuleConfig<Lang>, found: &NodeMatch<'_, Source>) -> String {
    let message = config.get_message(found);
    let message = message.trim();
    if message.is_empty() { format!("found by the rule `{}`", config.id) } else { message.to_owned() }
}

fn severity(severity: &Severity) -> plugin::Severity {
    match severity {
        Severity::Error => plugin::Severity::Error,
        Severity::Warning => plugin::Severity::Warning,
        Severity::Info => plugin::Severity::Info,
        Severity::Hint | Severity::Off => plugin::Severity::Hint,
    }
}

fn applicability(rule: Option<&Rule>) -> Applicability {
    // To take away a comment without effect is safe.
    let Some(rule) = rule else { return Applicability::Safe };
    let said = rule.metadata.as_ref().and_then(|it| it.get(rules::APPLICABILITY)?.as_str());
    match said {
        Some("safe") => Applicability::Safe,
        Some("display-only") => Applicability::DisplayOnly,
        _ => Applicability::Unsafe,
    }
}

fn fix(
    applicability: Applicability,
    config: &RuleConfig<Lang>,
    fixer: &Fixer,
    found: &NodeMatch<'_, Source>,
) -> plugin::Fix {
    let edit = found.make_edit(&config.matcher, fixer);
    let span = (edit.position..edit.position + edit.deleted_length).into();
    let replacement = String::from_utf8_lossy(&edit.inserted_text).into_owned();
    plugin::Fix {
        message: fixer.title().map(str::to_owned),
        applicability,
        edits: vec![plugin::Edit { span, replacement }],
    }
}

/// Returns the places that the rule labels with a message; labels without one add nothing to the finding.
fn related(config: &RuleConfig<Lang>, found: &NodeMatch<'_, Source>) -> Vec<Related> {
    let labels = config.get_labels(found);
    let related = labels.iter().filter_map(|it| {
        let message = it.message.filter(|it| !it.is_empty())?.to_owned();
        Some(Related { path: None, span: it.range().into(), message })
    });
    let mut related: Vec<Related> = related.collect();
    related
        .sort_by(|a, b| (a.span.start, a.span.end, &a.message).cmp(&(b.span.start, b.span.end, &b.message)));
    related
}
