//! The table of rules: BuildKit's by their names, hadolint's by their codes. Rules that both have are BuildKit's.

mod table;

use broker_plugin_sdk::{FixAvailability, Rule, Severity};

use table::ALL;

pub(crate) const SYNTAX: &str = "syntax-error";

/// Condition under which a rule is on if it is not selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Always,
    /// On if hadolint is configured: the findings are true, but the build works.
    WithHadolint,
    Never,
}

/// A rule, and what hadolint calls the same.
pub(crate) struct Entry {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    on: On,
    is_fixed: bool,
    hadolint: &'static [&'static str],
    summary: &'static str,
    explanation: &'static str,
}

pub(crate) fn entry(code: &str) -> Option<&'static Entry> {
    ALL.iter().find(|it| it.code == code)
}

/// The rules that a name means: their own, or hadolint's for the same.
pub(crate) fn named(name: &str) -> Vec<&'static str> {
    ALL.iter().filter(|it| it.code == name || it.hadolint.contains(&name)).map(|it| it.code).collect()
}

/// Whether a rule is on only where hadolint is configured.
pub(crate) fn needs_hadolint(code: &str) -> bool {
    entry(code).is_some_and(|it| it.on == On::WithHadolint)
}

pub(crate) fn all() -> Vec<Rule> {
    ALL.iter().map(Entry::rule).collect()
}

impl Entry {
    fn rule(&self) -> Rule {
        let mut explanation = self.explanation.to_owned();
        if !self.hadolint.is_empty() {
            explanation.push_str(&format!("\n\nhadolint's {} is part of it.", self.hadolint.join(", ")));
        }
        if self.on == On::WithHadolint {
            explanation.push_str("\n\nOff, unless there is a `.hadolint.yaml`.");
        }
        Rule {
            explanation,
            url: Some(self.url()),
            default: matches!(self.on, On::Always),
            fix: if self.is_fixed { FixAvailability::Sometimes } else { FixAvailability::None },
            ..Rule::new(self.code, self.summary)
        }
    }

    pub(crate) fn url(&self) -> String {
        if self.code.starts_with("DL") {
            return format!("https://github.com/hadolint/hadolint/wiki/{}", self.code);
        }
        if self.code.starts_with("SC") {
            return format!("https://www.shellcheck.net/wiki/{}", self.code);
        }
        if self.code == SYNTAX {
            return "https://docs.docker.com/reference/dockerfile/".to_owned();
        }
        format!("https://docs.docker.com/reference/build-checks/{}/", hyphenated(self.code))
    }
}

/// `FromAsCasing` as `from-as-casing`, `JSONArgs` as `json-args`.
fn hyphenated(code: &str) -> String {
    let signs: Vec<char> = code.chars().collect();
    let mut made = String::new();
    for (at, it) in signs.iter().enumerate() {
        let after_small = at > 0 && signs[at - 1].is_lowercase();
        let before_small = at > 0 && signs.get(at + 1).is_some_and(|it| it.is_lowercase());
        if it.is_uppercase() && (after_small || before_small) {
            made.push('-');
        }
        made.push(it.to_ascii_lowercase());
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let url = |code: &str| entry(code).unwrap().url();
        assert!(url("JSONArgsRecommended").ends_with("/json-args-recommended/"));
        assert!(url("SecretsUsedInArgOrEnv").ends_with("/secrets-used-in-arg-or-env/"));
        assert_eq!(named("DL4003"), ["MultipleInstructionsDisallowed"]);
    }
}
