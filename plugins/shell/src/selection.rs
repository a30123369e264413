//! `--select` and `--ignore` in shuck's words (codes, prefixes, `google`, `ALL`), or by ShellCheck's codes.

use broker_plugin_sdk::{Selectors, Settings};
use shuck_linter::{Rule, RuleSelector, RuleSet, ShellCheckCodeMap, apply_rule_selector_layer};

use crate::extra::Extra;
use crate::rules::SYNTAX_ERROR;

/// The user's selection of rules, on top of the configuration.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    rules: Selectors<RuleSelector>,
    /// Rules that shuck has not.
    extras: Selectors<Extra>,
    ignores_syntax: bool,
}

impl Selection {
    /// The selection, and the selectors that mean nothing.
    pub(crate) fn new(settings: &Settings, map: &ShellCheckCodeMap) -> (Self, Vec<String>) {
        let is_other = |it: &str| it == SYNTAX_ERROR || !Extra::selected(it).is_empty();
        let (rules, unknown) = Selectors::new(settings, |it| {
            Some(selectors_of(it, map)).filter(|found| !found.is_empty() || is_other(it))
        });
        let (extras, _) = Selectors::new(settings, |it| Some(Extra::selected(it)));
        let ignores_syntax = settings.ignore.iter().any(|it| it == SYNTAX_ERROR);
        (Self { rules, extras, ignores_syntax }, unknown)
    }

    /// Applies the selection to the rules of shuck that are `configured`.
    pub(crate) fn apply(&self, configured: RuleSet) -> RuleSet {
        let Selectors { select, more, ignore } = &self.rules;
        apply_rule_selector_layer(configured, select.as_deref(), more, ignore)
    }

    /// Applies the selection to the `configured` rules that shuck does not have.
    pub(crate) fn extras(&self, configured: &[Extra]) -> Vec<Extra> {
        let is_on = |it: &Extra| self.extras.includes(it, configured.contains(it));
        Extra::ALL.into_iter().filter(is_on).collect()
    }

    /// Whether the selection replaces the configuration.
    pub(crate) fn is_chosen(&self) -> bool {
        self.rules.is_chosen()
    }

    /// Syntax errors are reported whatever is selected: nothing else can be found in such a file.
    pub(crate) fn reports_syntax_errors(&self) -> bool {
        !self.ignores_syntax
    }
}

/// The rules that a selector names; none if it means nothing.
pub(crate) fn selectors_of(selector: &str, map: &ShellCheckCodeMap) -> Vec<RuleSelector> {
    if selector.starts_with("SC") {
        return map.resolve_all(selector).into_iter().map(RuleSelector::Rule).collect();
    }
    let by_name = || Rule::iter().find(|it| crate::rules::name(*it) == selector).map(RuleSelector::Rule);
    selector.parse().ok().or_else(by_name).into_iter().collect()
}
