//! The table of rumdl's rules. rumdl's library has no longer texts than a line; its pages are linked.

use broker_plugin_sdk as plugin;
use rumdl_lib::config::Config;
use rumdl_lib::config::registry::RULE_PRIMARY_ALIAS;
use rumdl_lib::rule::{FixCapability, Rule};

use crate::defaults;

/// Rules that this plugin does not have; the crate's documentation says why.
pub(crate) const LEFT_OUT: [&str; 1] = ["MD074"];

/// Every rule of rumdl under `config`, whether on or not.
pub(crate) fn under(config: &Config) -> Vec<Box<dyn Rule>> {
    let mut rules = rumdl_lib::rules::all_rules(config);
    rules.retain(|it| !LEFT_OUT.contains(&it.name()));
    rules
}

/// Every rule, ordered by code.
pub(crate) fn all() -> Vec<plugin::Rule> {
    under(&Config::default()).iter().map(|it| convert(it.as_ref())).collect()
}

pub(crate) fn name(code: &str) -> Option<&'static str> {
    RULE_PRIMARY_ALIAS.get(code)
}

pub(crate) fn url(code: &str) -> String {
    format!("https://rumdl.dev/{}/", code.to_lowercase())
}

fn convert(rule: &dyn Rule) -> plugin::Rule {
    let code = rule.name();
    plugin::Rule {
        code: code.to_owned(),
        name: name(code).unwrap_or(code).to_owned(),
        summary: rule.description().to_owned(),
        explanation: explanation(rule),
        url: Some(url(code)),
        fix: match rule.fix_capability() {
            FixCapability::FullyFixable => plugin::FixAvailability::Always,
            FixCapability::ConditionallyFixable => plugin::FixAvailability::Sometimes,
            FixCapability::Unfixable => plugin::FixAvailability::None,
        },
        default: defaults::RULES.contains(&code),
    }
}

/// The rule's options, as they would stand in `.rumdl.toml`.
fn explanation(rule: &dyn Rule) -> String {
    let summary = rule.description().trim_end_matches('.');
    let Some((section, toml::Value::Table(options))) = rule.default_config_section() else {
        return format!("{summary}.");
    };
    if options.is_empty() {
        return format!("{summary}.");
    }
    format!(
        "{summary}.\n\nIts options in `.rumdl.toml`, as they are by default:\n\n```toml\n[{section}]\n{options}```"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let rules = all();
        let rule = |code: &str| rules.iter().find(|it| it.code == code);
        let link = rule("MD057").unwrap();
        assert_eq!(link.name, "existing-relative-links");
        assert_eq!(link.url.as_deref(), Some("https://rumdl.dev/md057/"));
        let length = rule("MD013").unwrap();
        assert!(
            !length.default && length.explanation.contains("line-length = 80\n"),
            "{}",
            length.explanation
        );
        assert!(rule("MD074").is_none(), "left out");
        assert!(rules.len() > 80, "{}", rules.len());
        assert!(rules.iter().all(|it| !it.summary.is_empty() && !it.summary.contains('\n')));
        assert!(rules.is_sorted_by(|a, b| a.code < b.code));
    }

    #[test]
    fn every_default_is_a_rule() {
        let rules = all();
        assert_eq!(rules.iter().filter(|it| it.default).count(), defaults::RULES.len());
    }
}
