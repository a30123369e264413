//! The table of ruff's rules. Leaves out rules that were removed from ruff.

use std::path::Path;

use broker_plugin_sdk as plugin;
use ruff_linter::FixAvailability;
use ruff_linter::registry::Rule;
use ruff_workspace::Settings;
use ruff_workspace::configuration::Configuration;
use strum::IntoEnumIterator as _;

use crate::{convert::SYNTAX_ERROR, defaults};

/// Every rule that can be selected, ordered by code as ruff orders them.
pub(crate) fn all() -> Vec<plugin::Rule> {
    let default =
        Configuration::default().into_settings(Path::new("/")).unwrap_or_else(|_| Settings::default());
    let rules = Rule::iter().filter(|it| !it.is_removed()).map(|it| convert(it, &default));
    std::iter::once(syntax_error()).chain(rules).collect()
}

/// Pseudo rule for syntax errors, which ruff always reports and has no rule for.
fn syntax_error() -> plugin::Rule {
    plugin::Rule {
        explanation:
            "What the parser cannot read, or what the project's version of Python does not have yet."
                .to_owned(),
        ..plugin::Rule::new(SYNTAX_ERROR, "Code that does not parse")
    }
}

fn convert(rule: Rule, default: &Settings) -> plugin::Rule {
    plugin::Rule {
        code: rule.noqa_code().to_string(),
        name: rule.name().to_string(),
        summary: rule.message_formats().first().map_or_else(String::new, |it| (*it).to_owned()),
        explanation: rule.explanation().unwrap_or_default().trim().to_owned()
            + defaults::note(default.linter.rules.enabled(rule), rule),
        url: rule.url(),
        fix: match rule.fixable() {
            FixAvailability::None => plugin::FixAvailability::None,
            FixAvailability::Sometimes => plugin::FixAvailability::Sometimes,
            FixAvailability::Always => plugin::FixAvailability::Always,
        },
        default: default.linter.rules.enabled(rule) && !defaults::is_off(rule),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let rules = all();
        let rule = |code: &str| rules.iter().find(|it| it.code == code);
        let unused = rule("F401").unwrap();
        assert_eq!(unused.name, "unused-import");
        assert_eq!(unused.url.as_deref(), Some("https://docs.astral.sh/ruff/rules/unused-import"));
        assert!(unused.default && unused.explanation.starts_with("## What it does"));
        assert!(!rule("D100").unwrap().default);
        let often_wrong = rule("B018").unwrap();
        assert!(!often_wrong.default && often_wrong.explanation.contains("Off where ruff is not configured"));
        assert!(rule("F821").unwrap().explanation.contains("bound through `globals()`"));
        assert!(rule("B030").unwrap().explanation.contains("conditional expressions are not reported"));
        for harmless in ["F541", "B020", "SIM118"].map(|it| rule(it).unwrap()) {
            assert!(!harmless.default && harmless.explanation.contains("Off where ruff is not configured"));
        }
        assert!(rule("ANN101").is_none(), "removed");
        assert!(rules.len() > 800, "{}", rules.len());
        assert!(rules.iter().all(|it| !it.summary.is_empty() && !it.summary.contains('\n')));
    }
}
