//! What is said of selectors and rules that no linter knows: which there may have been meant.

use config::{SetupFailure, closest, closest_linter, nearest, with_slash};
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
        if let Some(meant) = with_slash(first, self.names.iter().map(|it| it.name.as_str())) {
            return error.hint(format!("did you mean `{meant}`?"));
        }
        let (prefix, rule) =
            first.split_once('/').map_or((None, first.as_str()), |(it, rule)| (Some(it), rule));
        let rules = || self.rules.iter().map(|(_, it)| it);
        let words =
            || rules().flat_map(|it| [it.code.as_str(), it.name.as_str()]).filter(|it| !it.is_empty());
        error.hint(match (closest(rule, words()), prefix) {
            (Some(close), Some(prefix)) => format!("did you mean `{prefix}/{close}`?"),
            (Some(close), None) => format!("did you mean `{close}`?"),
            (None, Some(prefix)) => match nearest(rule, words()) {
                Some(nearest) => format!("the nearest of its rules is `{prefix}/{nearest}`"),
                None => format!("`broker plugins` says what `{prefix}` is"),
            },
            (None, None) => format!("a language server's rule has its name before it: `SERVER/{rule}`"),
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
        let close = self.meant(&rule.to_string());
        let close = close.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
        Some(format!("{file}: `severity` names the unknown rule `{rule}`{close}"))
    }

    /// What no list has may be a rule of a linter that has none, unless it looks like a slip.
    pub(super) fn may_have(&self, it: &RulePattern, has_open_rules: bool) -> bool {
        if self.rules.iter().any(|(of, rule)| it.matches(of, &rule.code, Some(&rule.name))) {
            return true;
        }
        match it.linter() {
            Some(linter) => self.open().contains(&linter),
            None => has_open_rules && !self.is_slip(&it.to_string()),
        }
    }

    /// Typo check for codes only: rule names resemble each other without a typo.
    fn is_slip(&self, text: &str) -> bool {
        with_slash(text, self.linters()).is_some()
            || self.is_prefix(text)
            || closest(text, self.codes()).is_some()
    }

    /// What `text` may be a slip of, with a linter before it if it has one.
    pub(super) fn meant(&self, text: &str) -> Option<String> {
        let words =
            |rule: &Rule| [rule.code.clone(), rule.name.clone()].into_iter().filter(|it| !it.is_empty());
        let Some((linter, rule)) = text.split_once('/') else {
            if self.is_prefix(text) {
                return Some(format!("{text}*"));
            }
            let words: Vec<_> = self.rules.iter().flat_map(|(_, it)| words(it)).collect();
            let close = || closest(text, words.iter().map(String::as_str)).map(str::to_owned);
            return with_slash(text, self.linters()).or_else(close);
        };
        let words: Vec<_> =
            self.rules.iter().flat_map(|(of, it)| words(it).map(move |it| format!("{of}/{it}"))).collect();
        let close = closest(text, words.iter().map(String::as_str)).map(str::to_owned);
        close.or_else(|| Some(format!("{}/{rule}", closest_linter(linter, self.open().into_iter())?)))
    }

    fn codes(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter(|(_, it)| it.code != it.name).map(|(_, it)| it.code.as_str())
    }

    /// Whether it would mean something as a selector, or with a star.
    fn is_prefix(&self, text: &str) -> bool {
        self.codes().any(|it| it.starts_with(text))
    }

    /// Names of all linters, some repeated.
    fn linters(&self) -> impl Iterator<Item = &str> + Clone {
        self.rules.iter().map(|(of, _)| of.as_str()).chain(self.names.iter().map(|it| it.name.as_str()))
    }

    fn open(&self) -> Vec<&str> {
        named(self.names, RuleSet::Open)
    }
}

#[cfg(test)]
mod tests {
    use lint::FixAvailability;

    use super::*;

    fn rules() -> Vec<(String, Rule)> {
        let rule = |linter: &str, code: &str, name: &str| {
            let rule = Rule {
                code: code.to_owned(),
                name: name.to_owned(),
                summary: String::new(),
                explanation: String::new(),
                url: None,
                fix: FixAvailability::None,
                default: true,
            };
            (linter.to_owned(), rule)
        };
        vec![rule("python", "F401", "unused-import"), rule("text", "private-key", "private-key")]
    }

    /// What is told of a rule that `severity` names, where language servers are asked and where not.
    fn doubts(named: &str) -> [Option<String>; 2] {
        let names = ["ty", "pyright"].map(LinterName::open);
        let known = Known { names: &names, rules: rules() };
        [true, false].map(|has_open_rules| {
            let is_known = known.may_have(&named.parse().unwrap(), has_open_rules);
            (!is_known).then(|| known.meant(named).unwrap_or_default())
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
