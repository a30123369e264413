//! Messages about selectors and rules that no linter knows.

use config::{KnownRules, SetupFailure, Suggestion};
use lint::{Rule, RulePattern};
use overlay::WorkspacePath;

use super::named;
use crate::provider::{LinterName, RuleSet};

/// All that there is to be meant.
pub(super) struct Known<'n> {
    pub(super) names: &'n [LinterName],
    /// With the names of their linters.
    pub(super) rules: Vec<(String, Rule)>,
}

impl Known<'_> {
    /// For selectors that mean nothing to any linter that they are for.
    pub(super) fn no_rule(&self, selectors: &[String]) -> SetupFailure {
        let quoted: Vec<_> = selectors.iter().map(|it| format!("`{it}`")).collect();
        let what = if selectors.len() == 1 { "selector" } else { "selectors" };
        let error = SetupFailure::new(format!("unknown rule {what} {}", quoted.join(", ")));
        let first = &selectors[0];
        if self.names.iter().any(|it| it.name == *first) {
            return error.hint(format!("did you mean `{first}/ALL`?"));
        }
        if let Some(suggestion) = self.suggest(first, false) {
            return error.hint(suggestion.hint());
        }
        error.hint(match first.split_once('/') {
            Some((linter, _)) => format!("`broker plugin list` says what `{linter}` is"),
            None => format!("a language server's rule has its name before it: `SERVER/{first}`"),
        })
    }

    /// For a rule that the configuration `file` names, if no linter has it. `has_open_rules` says whether linters are for the
    /// workspace that do not list their rules.
    pub(super) fn doubt(
        &self,
        file: &WorkspacePath,
        rule: &RulePattern,
        has_open_rules: bool,
    ) -> Option<String> {
        if self.may_have(rule, has_open_rules) {
            return None;
        }
        let hint = self.suggest(&rule.to_string(), has_open_rules);
        let hint = hint.map_or_else(String::new, |it| format!("; {}", it.hint()));
        Some(format!("{file}: `severity` names the unknown rule `{rule}`{hint}"))
    }

    /// Whether a linter may have the rule. A rule that is in no list may be one of a linter without a list, unless it looks
    /// like a typo.
    pub(super) fn may_have(&self, it: &RulePattern, has_open_rules: bool) -> bool {
        if self.rules.iter().any(|(of, rule)| it.matches(of, &rule.code, Some(&rule.name))) {
            return true;
        }
        match it.linter() {
            Some(linter) => self.open().contains(&linter),
            None => has_open_rules && self.suggest(&it.to_string(), has_open_rules).is_none(),
        }
    }

    fn suggest(&self, text: &str, has_open_rules: bool) -> Option<Suggestion> {
        let linters = self.names.iter().map(|it| it.name.as_str()).collect();
        let rules = self.rules.iter().map(|(linter, rule)| (linter.as_str(), rule)).collect();
        KnownRules { linters, rules, has_open_rules }.suggest(text)
    }

    fn open(&self) -> Vec<&str> {
        named(self.names, RuleSet::Open)
    }
}

#[cfg(test)]
mod tests {
    use lint_testkit::rule;

    use super::*;

    fn rules() -> Vec<(String, Rule)> {
        vec![
            ("python".to_owned(), rule("F401", "unused-import")),
            ("text".to_owned(), rule("private-key", "private-key")),
        ]
    }

    /// Suggestions for a rule that `severity` names, where language servers are asked and where not.
    fn doubts(named: &str) -> [Option<String>; 2] {
        let names = ["ty", "pyright"].map(LinterName::open);
        let known = Known { names: &names, rules: rules() };
        [true, false].map(|has_open_rules| {
            let is_known = known.may_have(&named.parse().unwrap(), has_open_rules);
            let suggestion = || known.suggest(named, has_open_rules).map(|it| it.rule);
            (!is_known).then(|| suggestion().unwrap_or_default())
        })
    }

    #[test]
    fn any_rule_may_be_that_of_a_server() {
        let meant = |it: &str| Some(it.to_owned());
        for known in ["F401", "python/unused-import", "F4*", "ty/unresolved-reference", "pyright/*"] {
            assert_eq!(doubts(known), [None, None], "{known}");
        }
        assert_eq!(doubts("reportMissingImports"), [None, meant("")]);
        assert_eq!(
            doubts("unusd-import"),
            [None, meant("unused-import")],
            "they may have names of that kind"
        );
        assert_eq!(doubts("F4O1"), [meant("F401"), meant("F401")]);
        assert_eq!(doubts("F4"), [meant("F4*"), meant("F4*")]);
        assert_eq!(doubts("ty:some"), [meant("ty/some"), meant("ty/some")]);
        assert_eq!(doubts("tyy/some"), [meant("ty/some"), meant("ty/some")]);
        assert_eq!(doubts("python/F4O1"), [meant("python/F401"), meant("python/F401")]);
    }
}
