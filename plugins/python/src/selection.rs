//! `--select` and `--ignore` in ruff's own words: codes, prefixes, linters, `ALL`, and rule names.
//!
//! Unlike ruff's command line, names work without preview: they are turned into codes here.

use broker_plugin_sdk::{DEFAULT, Settings};
use ruff_linter::registry::Rule;
use ruff_linter::rule_selector::RuleSelector;
use ruff_linter::{UnresolvedRuleSelector, settings::types::PreviewMode};
use ruff_workspace::configuration::RuleSelection;

/// Every rule.
pub(crate) fn all() -> RuleSelection {
    RuleSelection { select: Some(vec![UnresolvedRuleSelector::cli("ALL")]), ..RuleSelection::default() }
}

/// Codes of the rules that selectors stand for.
pub(crate) fn codes(selectors: &[UnresolvedRuleSelector]) -> Vec<String> {
    let known = selectors.iter().filter_map(|it| it.resolve(PreviewMode::Enabled).ok());
    let rules = known.flat_map(|it| it.all_rules().collect::<Vec<_>>());
    rules.map(|it| it.noqa_code().to_string()).collect()
}

/// Returns the selection to apply on top of the configuration files, and the selectors that mean nothing to ruff.
pub(crate) fn resolve(settings: &Settings) -> (RuleSelection, Vec<String>) {
    let mut unknown = Vec::new();
    let (only, more) = settings.selected();
    let select = only.map(|it| known(it, false, &mut unknown));
    let extend_select = known(more, false, &mut unknown);
    let ignore = known(&settings.ignore, true, &mut unknown);
    (RuleSelection { select, extend_select, ignore, ..RuleSelection::default() }, unknown)
}

fn known(
    selectors: &[String],
    allow_removed: bool,
    unknown: &mut Vec<String>,
) -> Vec<UnresolvedRuleSelector> {
    let mut known = Vec::with_capacity(selectors.len());
    for selector in selectors.iter().filter(|it| *it != DEFAULT) {
        match code(selector, allow_removed) {
            Some(code) => known.push(UnresolvedRuleSelector::cli(code)),
            None => unknown.push(selector.clone()),
        }
    }
    known
}

/// The selector by code. None for what ruff does not know, or knows no longer: a removed rule can be
/// ignored, but not selected.
fn code(selector: &str, allow_removed: bool) -> Option<String> {
    if let Ok(rule) = Rule::from_name(selector) {
        return (allow_removed || !rule.is_removed()).then(|| rule.noqa_code().to_string());
    }
    let resolved = UnresolvedRuleSelector::cli(selector).resolve(PreviewMode::Disabled).ok()?;
    let removed = matches!(resolved, RuleSelector::Rule { rule, .. } if rule.is_removed());
    (allow_removed || !removed).then(|| selector.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes() {
        assert_eq!(code("ALL", false).as_deref(), Some("ALL"));
        assert_eq!(code("PLR09", false).as_deref(), Some("PLR09"));
        assert_eq!(code("unused-import", false).as_deref(), Some("F401"));
        assert_eq!(code("Q0000", false), None);
        assert_eq!(code("ANN101", false), None, "removed");
        assert_eq!(code("ANN101", true).as_deref(), Some("ANN101"));
    }
}
