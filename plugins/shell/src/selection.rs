//! `--select` and `--ignore` in shuck's words (codes, prefixes, `google`, `ALL`), or by ShellCheck's codes.

use broker_plugin_sdk::{DEFAULT, Settings};
use shuck_linter::{Rule, RuleSelector, RuleSet, ShellCheckCodeMap, apply_rule_selector_layer};

use crate::extra::Extra;
use crate::rules::SYNTAX_ERROR;

/// What the user asked for, on top of what is configured.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// In place of what is configured.
    select: Option<Vec<RuleSelector>>,
    /// Besides that.
    more: Vec<RuleSelector>,
    ignore: Vec<RuleSelector>,
    ignores_syntax: bool,
    extras: Extras,
}

/// The same of the rules that shuck has not.
#[derive(Debug, Default)]
struct Extras {
    select: Option<Vec<Extra>>,
    more: Vec<Extra>,
    ignore: Vec<Extra>,
}

impl Selection {
    /// The selection, and the selectors that mean nothing.
    pub(crate) fn new(settings: &Settings, map: &ShellCheckCodeMap) -> (Self, Vec<String>) {
        let mut unknown = Vec::new();
        let mut read = |selectors: &[String]| {
            let rules = selectors.iter().filter(|it| *it != SYNTAX_ERROR && *it != DEFAULT);
            let mut found = Vec::new();
            for it in rules {
                match selectors_of(it, map) {
                    some if some.is_empty() && Extra::selected(it).is_empty() => unknown.push(it.clone()),
                    some => found.extend(some),
                }
            }
            found
        };
        let (select, more) = settings.selected();
        let extras = Extras {
            select: select.map(extras_of),
            more: extras_of(more),
            ignore: extras_of(&settings.ignore),
        };
        let (select, more) = (select.map(&mut read), read(more));
        let ignore = read(&settings.ignore);
        let ignores_syntax = settings.ignore.iter().any(|it| it == SYNTAX_ERROR);
        (Self { select, more, ignore, ignores_syntax, extras }, unknown)
    }

    /// What is left of the rules that are `configured`.
    pub(crate) fn apply(&self, configured: RuleSet) -> RuleSet {
        apply_rule_selector_layer(configured, self.select.as_deref(), &self.more, &self.ignore)
    }

    /// What is left of the rules that shuck has not.
    pub(crate) fn extras(&self, configured: &[Extra]) -> Vec<Extra> {
        let selected = self.extras.select.as_deref().unwrap_or(configured);
        let is_on = |it: &Extra| {
            (selected.contains(it) || self.extras.more.contains(it)) && !self.extras.ignore.contains(it)
        };
        Extra::ALL.into_iter().filter(is_on).collect()
    }

    /// Whether what is selected takes the place of what is configured.
    pub(crate) fn is_chosen(&self) -> bool {
        self.select.is_some()
    }

    /// Syntax errors are reported whatever is selected: nothing else can be found in such a file.
    pub(crate) fn reports_syntax_errors(&self) -> bool {
        !self.ignores_syntax
    }
}

fn extras_of(selectors: &[String]) -> Vec<Extra> {
    selectors.iter().flat_map(|it| Extra::selected(it)).collect()
}

/// The rules that a selector names; none if it means nothing.
pub(crate) fn selectors_of(selector: &str, map: &ShellCheckCodeMap) -> Vec<RuleSelector> {
    if selector.starts_with("SC") {
        return map.resolve_all(selector).into_iter().map(RuleSelector::Rule).collect();
    }
    let by_name = || Rule::iter().find(|it| crate::rules::name(*it) == selector).map(RuleSelector::Rule);
    selector.parse().ok().or_else(by_name).into_iter().collect()
}
