//! `--select` and `--ignore` in rumdl's own words: codes, aliases (`line-length`) and `ALL`.

use broker_plugin_sdk::{Selectors, Settings};
use rumdl_lib::config::{GlobalConfig, resolve_rule_name_alias};
use rumdl_lib::rule::Rule;

use crate::markdownlint::Extras;
use crate::{defaults, rules};

/// rumdl's codes, on top of the configuration files.
pub(crate) type Selection = Selectors<String>;

/// The selection, and the selectors that mean nothing to rumdl.
pub(crate) fn resolve(settings: &Settings) -> (Selection, Vec<String>) {
    Selectors::new(settings, |it| Some(vec![code(it)?.to_owned()]))
}

fn code(selector: &str) -> Option<&'static str> {
    if selector.eq_ignore_ascii_case("ALL") {
        return Some("all");
    }
    resolve_rule_name_alias(selector).filter(|it| !rules::LEFT_OUT.contains(it))
}

/// Whose configuration says which rules are on.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Nothing,
    Rumdl,
    Markdownlint(&'a Extras),
}

/// Returns those of `rules` that are on by the selection, or else by `source`: under [`crate::defaults`] or `global`.
pub(crate) fn apply(
    selection: &Selection,
    rules: &[Box<dyn Rule>],
    global: &GlobalConfig,
    source: Source<'_>,
) -> Vec<Box<dyn Rule>> {
    let mut wanted = match (&selection.select, source) {
        (Some(select), _) => only(select.clone()),
        (None, Source::Nothing) => only(defaults::RULES.map(str::to_owned).to_vec()),
        (None, Source::Rumdl | Source::Markdownlint(_)) => global.clone(),
    };
    if let (None, Source::Markdownlint(extras)) = (&selection.select, source) {
        wanted.extend_enable.extend(extras.on_by_default().iter().map(|it| (*it).to_owned()));
    }
    wanted.extend_disable.extend(selection.ignore.iter().cloned());
    let mut on = rumdl_lib::rules::filter_rules(rules, &wanted);
    if let (None, Source::Markdownlint(extras)) = (&selection.select, source) {
        on.retain(|it| extras.has(it.name()));
    }
    let more = GlobalConfig { extend_disable: selection.ignore.clone(), ..only(selection.more.clone()) };
    let more = rumdl_lib::rules::filter_rules(rules, &more);
    let new: Vec<_> =
        more.into_iter().filter(|it| on.iter().all(|known| known.name() != it.name())).collect();
    on.extend(new);
    on
}

fn only(rules: Vec<String>) -> GlobalConfig {
    GlobalConfig { enable: rules, enable_is_explicit: true, ..GlobalConfig::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_aliases() {
        assert_eq!(code("MD013"), Some("MD013"));
        assert_eq!(code("md013"), Some("MD013"));
        assert_eq!(code("line-length"), Some("MD013"));
        assert_eq!(code("ALL"), Some("all"));
        assert_eq!(code("MD074"), None, "left out");
        assert_eq!(code("MD999"), None);
    }
}
