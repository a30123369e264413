//! `--select` and `--ignore` in rumdl's own words: codes, aliases (`line-length`) and `ALL`.

use rumdl_lib::config::{GlobalConfig, resolve_rule_name_alias};
use rumdl_lib::rule::Rule;

use crate::{defaults, rules};

/// What the user asked for, in rumdl's codes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// In place of what the configuration selects.
    select: Option<Vec<String>>,
    ignore: Vec<String>,
}

/// What holds on top of the configuration files, and the selectors that mean nothing to rumdl.
pub(crate) fn resolve(select: Option<&[String]>, ignore: &[String]) -> (Selection, Vec<String>) {
    let mut unknown = Vec::new();
    let select = select.map(|it| known(it, &mut unknown));
    let ignore = known(ignore, &mut unknown);
    (Selection { select, ignore }, unknown)
}

fn known(selectors: &[String], unknown: &mut Vec<String>) -> Vec<String> {
    let mut codes = Vec::with_capacity(selectors.len());
    for selector in selectors {
        match code(selector) {
            Some(code) => codes.push(code.to_owned()),
            None => unknown.push(selector.clone()),
        }
    }
    codes
}

fn code(selector: &str) -> Option<&'static str> {
    if selector.eq_ignore_ascii_case("ALL") {
        return Some("all");
    }
    resolve_rule_name_alias(selector).filter(|it| !rules::LEFT_OUT.contains(it))
}

impl Selection {
    /// Those of `rules` that are on under `global`. `configured`: whether a configuration file says so.
    pub(crate) fn apply(
        &self,
        rules: &[Box<dyn Rule>],
        global: &GlobalConfig,
        configured: bool,
    ) -> Vec<Box<dyn Rule>> {
        let mut wanted = match &self.select {
            Some(select) => only(select.clone()),
            None if configured => global.clone(),
            None => only(defaults::RULES.map(str::to_owned).to_vec()),
        };
        wanted.extend_disable.extend(self.ignore.iter().cloned());
        rumdl_lib::rules::filter_rules(rules, &wanted)
    }
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
