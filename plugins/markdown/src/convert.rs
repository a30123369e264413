//! rumdl's findings in the plugin's words.

use broker_plugin_sdk::{self as plugin, Applicability, Diagnostic};
use rumdl_lib::rule::{FixCapability, LintWarning, Rule, Severity};

use crate::document::Document;
use crate::settings::Settings;
use crate::{applicability, rules};

/// In the order of the text.
pub(crate) fn findings(
    mut warnings: Vec<LintWarning>,
    document: &Document,
    settings: &Settings,
    own_rules: &[Box<dyn Rule>],
) -> Vec<Diagnostic> {
    warnings.sort_by(|a, b| (a.line, a.column, &a.rule_name).cmp(&(b.line, b.column, &b.rule_name)));
    let place = Place { document, settings, own_rules };
    warnings.iter().map(|it| place.diagnostic(it)).collect()
}

/// Document of the findings, for their ranges, and the settings that determine how they may be fixed.
struct Place<'a> {
    document: &'a Document<'a>,
    settings: &'a Settings,
    /// Rules as the file's own comments configure them.
    own_rules: &'a [Box<dyn Rule>],
}

impl Place<'_> {
    fn diagnostic(&self, warning: &LintWarning) -> Diagnostic {
        let code = code(warning);
        Diagnostic {
            name: rules::name(code).map(str::to_owned),
            severity: severity(warning.severity),
            url: rules::name(code).map(|_| rules::url(code)),
            fixes: self.fix(warning, code).into_iter().collect(),
            ..Diagnostic::new(code, warning.message.clone(), self.document.range(warning))
        }
    }

    /// None if the configuration forbids it, or if rumdl's own edits make no sense together.
    fn fix(&self, warning: &LintWarning, code: &str) -> Option<plugin::Fix> {
        let fix = warning.fix.as_ref().filter(|_| self.settings.may_fix(code))?;
        let all = std::iter::once(fix).chain(&fix.additional_edits);
        let mut edits = all.map(|it| self.edit(it)).collect::<Option<Vec<_>>>()?;
        edits.sort_by_key(|it| (it.span.start, it.span.end));
        let apart = edits.array_windows().all(|[a, b]| a.span.end <= b.span.start);
        let applicability =
            if self.is_made_by_rumdl(code) { applicability::of(code) } else { Applicability::DisplayOnly };
        (apart && !self.changes_nothing(fix)).then_some(plugin::Fix { message: None, applicability, edits })
    }

    fn edit(&self, fix: &rumdl_lib::rule::Fix) -> Option<plugin::Edit> {
        let range = self.document.original_range(&fix.range)?;
        let replacement = self.document.original_text(&fix.replacement, fix.range.start);
        Some(plugin::Edit { span: range.into(), replacement })
    }

    fn changes_nothing(&self, fix: &rumdl_lib::rule::Fix) -> bool {
        let mut all = std::iter::once(fix).chain(&fix.additional_edits);
        all.all(|it| self.document.text().get(it.range.clone()) == Some(&it.replacement))
    }

    /// Whether rumdl itself makes the fix: it offers those of some rules in editors only.
    fn is_made_by_rumdl(&self, code: &str) -> bool {
        let rule = self.own_rules.iter().chain(&self.settings.rules).find(|it| it.name() == code);
        rule.is_none_or(|it| it.fix_capability() != FixCapability::Unfixable)
    }
}

/// Code of the rule, without the name of a part of it (`MD029-style`).
fn code(warning: &LintWarning) -> &str {
    let name = warning.rule_name.as_deref().unwrap_or("rumdl");
    match name.split_once('-') {
        Some((code, _)) if code.starts_with("MD") => code,
        _ => name,
    }
}

fn severity(severity: Severity) -> plugin::Severity {
    match severity {
        Severity::Error => plugin::Severity::Error,
        Severity::Warning => plugin::Severity::Warning,
        Severity::Info => plugin::Severity::Info,
    }
}

/// A finding about the file as a whole.
pub(crate) fn whole(warning: &LintWarning) -> Diagnostic {
    let code = code(warning);
    Diagnostic {
        name: rules::name(code).map(str::to_owned),
        severity: severity(warning.severity),
        url: Some(rules::url(code)),
        ..Diagnostic::new(code, warning.message.clone(), 0..0)
    }
}
