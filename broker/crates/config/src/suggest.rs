//! Suggestion of the rule that was meant by a name that no linter has. The one place that decides it.

use lint::Rule;

use crate::{
    alike::{closest, closest_linter, nearest},
    selectors::with_slash,
};

/// Rules that may have been meant.
#[derive(Default)]
pub struct KnownRules<'r> {
    /// Names of the linters, of those without a listed rule, too.
    pub linters: Vec<&'r str>,
    /// Each with the name of its linter.
    pub rules: Vec<(&'r str, &'r Rule)>,
    /// Whether linters are asked that do not list their rules: then any readable name may be one of theirs, and only
    /// codes are taken for mistyped.
    pub has_open_rules: bool,
}

/// A rule, or a pattern of rules, that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub rule: String,
    /// Else it is only the least different one.
    pub is_close: bool,
}

impl Suggestion {
    fn close(rule: String) -> Self {
        Self { rule, is_close: true }
    }

    /// The suggestion in words.
    pub fn hint(&self) -> String {
        match self.is_close {
            true => format!("did you mean `{}`?", self.rule),
            false => format!("the nearest of its rules is `{}`", self.rule),
        }
    }

    /// Whether it is one rule, and not all that begin alike.
    pub fn is_one_rule(&self) -> bool {
        !self.rule.ends_with('*')
    }
}

impl KnownRules<'_> {
    /// The rule that `text` may stand for, which is the name of a rule, with or without its linter.
    pub fn suggest(&self, text: &str) -> Option<Suggestion> {
        if let Some(rule) = with_slash(text, self.linters()) {
            return Some(Suggestion::close(rule));
        }
        match text.split_once('/') {
            Some((linter, rule)) => self.of_linter(linter, rule),
            None => self.of_any(text),
        }
    }

    fn of_linter(&self, given: &str, rule: &str) -> Option<Suggestion> {
        let is_known = |it: &&str| *it == given;
        let linter = self.linters().find(is_known).or_else(|| closest_linter(given, self.linters()))?;
        let rules: Vec<_> = self.rules.iter().filter(|it| it.0 == linter).map(|it| it.1).collect();
        let in_linter = |rule: &str| format!("{linter}/{rule}");
        if rules.is_empty() || words(&rules).any(|it| it == rule) {
            return (linter != given).then(|| Suggestion::close(in_linter(rule)));
        }
        if is_prefix(&rules, rule) {
            return Some(Suggestion::close(in_linter(&format!("{rule}*"))));
        }
        let close = closest(rule, words(&rules)).map(|it| Suggestion::close(in_linter(it)));
        let any =
            || nearest(rule, words(&rules)).map(|it| Suggestion { rule: in_linter(it), is_close: false });
        close.or_else(any)
    }

    fn of_any(&self, text: &str) -> Option<Suggestion> {
        let rules: Vec<_> = self.rules.iter().map(|it| it.1).collect();
        if is_prefix(&rules, text) {
            return Some(Suggestion::close(format!("{text}*")));
        }
        let found =
            if self.has_open_rules { closest(text, codes(&rules)) } else { closest(text, words(&rules)) };
        found.map(|it| Suggestion::close(it.to_owned()))
    }

    /// Names of all linters, some repeated.
    fn linters(&self) -> impl Iterator<Item = &str> + Clone {
        self.rules.iter().map(|it| it.0).chain(self.linters.iter().copied())
    }
}

/// Codes and readable names.
fn words<'r>(rules: &[&'r Rule]) -> impl Iterator<Item = &'r str> {
    rules.iter().flat_map(|it| [it.code.as_str(), it.name.as_str()]).filter(|it| !it.is_empty())
}

/// Codes that are not readable names, too: those resemble each other without a typo.
fn codes<'r>(rules: &[&'r Rule]) -> impl Iterator<Item = &'r str> {
    rules.iter().filter(|it| it.code != it.name).map(|it| it.code.as_str())
}

/// Whether it would mean rules if it had a star.
fn is_prefix(rules: &[&Rule], text: &str) -> bool {
    codes(rules).any(|it| it.starts_with(text))
}

#[cfg(test)]
mod tests {
    use lint_testkit::rule;

    use super::*;

    /// The hint, where linters are asked that do not list their rules and where not.
    #[track_caller]
    fn check(text: &str, want: [&str; 2]) {
        let (import, length) = (rule("F401", "unused-import"), rule("E501", "line-too-long"));
        let key = rule("private-key", "private-key");
        let hints = [true, false].map(|has_open_rules| {
            let rules = vec![("python", &import), ("python", &length), ("text", &key)];
            let known = KnownRules { linters: vec!["python", "ty"], rules, has_open_rules };
            known.suggest(text).map(|it| it.hint()).unwrap_or_default()
        });
        assert_eq!(hints, want, "{text}");
    }

    #[test]
    fn slips_of_rules() {
        check("F4O1", ["did you mean `F401`?"; 2]);
        check("F4", ["did you mean `F4*`?"; 2]);
        check("unusd-import", ["", "did you mean `unused-import`?"]);
        check("nope", [""; 2]);
    }

    #[test]
    fn slips_with_a_linter() {
        check("python/F4O1", ["did you mean `python/F401`?"; 2]);
        check("python/unusd-import", ["did you mean `python/unused-import`?"; 2]);
        check("python/F4", ["did you mean `python/F4*`?"; 2]);
        check("python/nope", ["the nearest of its rules is `python/line-too-long`"; 2]);
        check("pyton/F401", ["did you mean `python/F401`?"; 2]);
        check("tyy/some", ["did you mean `ty/some`?"; 2]);
        check("ty:some", ["did you mean `ty/some`?"; 2]);
        check("ty/some", [""; 2]);
        check("nothing/F401", [""; 2]);
    }

    #[test]
    fn a_pattern_is_not_one_rule() {
        assert!(Suggestion::close("F401".to_owned()).is_one_rule());
        assert!(!Suggestion::close("F4*".to_owned()).is_one_rule());
    }
}
