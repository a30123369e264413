//! `--select` and `--ignore` in deno's words: codes of rules, tags, and `ALL`.

use broker_plugin_sdk::{Selectors, Settings};
use deno_lint::rules::{LintRule, get_all_rules};

use crate::rules::{SYNTAX_ERROR, UNRESOLVED, has_tag};

/// Codes of rules, on top of what is configured.
pub(crate) type Selection = Selectors<&'static str>;

/// The selection, and the selectors that mean nothing.
pub(crate) fn resolve(settings: &Settings) -> (Selection, Vec<String>) {
    let rules = get_all_rules();
    Selectors::new(settings, |selector| {
        if selector == SYNTAX_ERROR {
            return Some(vec![SYNTAX_ERROR]);
        }
        let named = rules.iter().filter(|it| names(selector, it.as_ref())).map(|it| it.code());
        let ours = matches!(selector, "ALL" | UNRESOLVED).then_some(UNRESOLVED);
        let named = named.chain(ours);
        Some(named.collect::<Vec<_>>()).filter(|it| !it.is_empty())
    })
}

/// Applies the selection to the rules that are `configured`.
pub(crate) fn apply(selection: &Selection, configured: &[&str]) -> Vec<&'static str> {
    let all = get_all_rules().into_iter().map(|it| it.code()).chain([UNRESOLVED]);
    all.filter(|it| selection.includes(it, configured.contains(it))).collect()
}

fn names(selector: &str, rule: &dyn LintRule) -> bool {
    selector == "ALL" || selector == rule.code() || has_tag(rule, |it| it == selector)
}

#[cfg(test)]
mod tests {
    use broker_plugin_sdk::testing::settings;

    use super::*;

    #[test]
    fn selects() {
        let owned = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let applied = |select: Option<&[&str]>, ignore: &[&str]| {
            let settings = Settings { select: select.map(owned), ignore: owned(ignore), ..settings() };
            let (selection, unknown) = resolve(&settings);
            (apply(&selection, &["no-var", "eqeqeq"]).join(" "), unknown.join(" "))
        };
        let want = |kept: &str, unknown: &str| (kept.to_owned(), unknown.to_owned());
        assert_eq!(applied(None, &[]), want("eqeqeq no-var", ""));
        assert_eq!(applied(None, &["recommended", "syntax-error"]), want("eqeqeq", ""));
        assert_eq!(applied(Some(&["workspace", "F401"]), &[]), want("no-import-prefix", "F401"));
        assert_eq!(applied(Some(&["ALL"]), &["ALL"]), want("", ""));
        assert_eq!(applied(Some(&["no-debugger", "DEFAULT"]), &["eqeqeq"]), want("no-debugger no-var", ""));
    }
}
