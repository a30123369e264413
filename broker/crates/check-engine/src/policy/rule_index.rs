//! The rules of the linters by their names, each list made when it is first needed: to ask a plugin takes a while.

use std::{collections::HashMap, sync::Arc};

use config::KnownRules;
use lint::{Rule, RulePattern, suppress};
use parking_lot::Mutex;

/// Rules of each linter.
pub struct RuleIndex<'a> {
    rules: Box<RulesOf<'a>>,
    known: Mutex<HashMap<String, Arc<[Rule]>>>,
}

/// The rules of a linter by its name.
type RulesOf<'a> = dyn Fn(&str) -> Vec<Rule> + Send + Sync + 'a;

impl<'a> RuleIndex<'a> {
    /// `rules` gives those of the linter of this name; none if that cannot be said.
    pub fn new(rules: impl Fn(&str) -> Vec<Rule> + Send + Sync + 'a) -> Self {
        Self { rules: Box::new(rules), known: Mutex::default() }
    }

    /// Whether the linter has a rule that `meant` matches.
    pub(super) fn has(&self, linter: &str, meant: &RulePattern) -> bool {
        self.of(linter).iter().any(|it| meant.matches(linter, &it.code, Some(&it.name)))
    }

    /// Returns the message that no linter has the rule, with the one that may have been meant. `None` where a linter has it or,
    /// as it does not list its rules, may have it.
    pub(super) fn absence(&self, linters: &[&str], meant: &RulePattern) -> Option<String> {
        let any = || linters.iter().copied().chain([suppress::LINTER]).collect();
        let asked = meant.linter().map_or_else(any, |it| vec![it]);
        if asked.iter().any(|it| self.has(it, meant)) {
            return None;
        }
        let lists: Vec<_> = asked.iter().map(|it| (*it, self.of(it))).collect();
        let missing = match meant.linter() {
            Some(_) => "there is no such rule",
            // A linter that is not asked may have it.
            None => "no linter here has such a rule",
        };
        let all_say = lists.iter().all(|(_, it)| !it.is_empty());
        let rules = lists.iter().flat_map(|(linter, rules)| rules.iter().map(move |it| (*linter, it)));
        let known = KnownRules { linters: Vec::new(), rules: rules.collect(), has_open_rules: !all_say };
        let suggestion = known.suggest(&meant.to_string());
        let suggestion = suggestion.map(|it| format!("{missing}; the nearest is `{}`", it.rule));
        suggestion.or_else(|| all_say.then(|| missing.to_owned()))
    }

    fn of(&self, linter: &str) -> Arc<[Rule]> {
        let known = || self.known.lock();
        if let Some(known) = known().get(linter) {
            return Arc::clone(known);
        }
        let rules: Arc<[Rule]> = (self.rules)(linter).into();
        known().insert(linter.to_owned(), Arc::clone(&rules));
        rules
    }
}

#[cfg(test)]
mod tests {
    use lint_testkit::rule;

    use super::*;

    #[test]
    fn a_rule_that_is_not_there_is_told_with_the_nearest() {
        let index = RuleIndex::new(|linter| match linter {
            "python" => vec![rule("F401", "unused-import"), rule("E501", "line-too-long")],
            "text" => vec![rule("private-key", "private-key")],
            "broker" => suppress::rules(),
            _ => Vec::new(),
        });
        let told = |rule: &str, linters: &[&str]| index.absence(linters, &rule.parse().unwrap());
        let all = ["python", "text"];
        for known in ["F401", "F4*", "line-too-long", "python/E501", "private-key", "unused-suppression"] {
            assert_eq!(told(known, &all), None, "{known}");
        }
        let named = |it: &str| Some(format!("there is no such rule; the nearest is `{it}`"));
        assert_eq!(told("python/F4O1", &all), named("python/F401"));
        assert_eq!(told("python/nope", &all), named("python/line-too-long"), "however little alike");
        assert_eq!(told("python/F4", &all), named("python/F4*"));
        let missing = "no linter here has such a rule";
        assert_eq!(told("F4O1", &all), Some(format!("{missing}; the nearest is `F401`")));
        assert_eq!(told("nope", &all), Some(missing.to_owned()));
        // A language server does not say which rules it has.
        let with_server = ["python", "ty"];
        assert_eq!(told("nope", &with_server), None);
        assert_eq!(told("ty/nope", &with_server), None);
        assert_eq!(told("F4O1", &with_server), Some(format!("{missing}; the nearest is `F401`")));
    }
}
