//! `--select` and `--ignore` in deno's words: codes of rules, tags, and `ALL`.

use broker_plugin_sdk::{DEFAULT, Settings};
use deno_lint::rules::{LintRule, get_all_rules};

use crate::rules::{SYNTAX_ERROR, has_tag};

/// What the user asked for, on top of what is configured.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// In place of what is configured.
    select: Option<Vec<&'static str>>,
    /// Besides what is configured.
    more: Vec<&'static str>,
    ignore: Vec<&'static str>,
    ignores_syntax: bool,
}

impl Selection {
    /// The selection, and the selectors that mean nothing.
    pub(crate) fn new(settings: &Settings) -> (Self, Vec<String>) {
        let rules = get_all_rules();
        let (select, more) = settings.selected();
        let ignore = &settings.ignore;
        let selectors = select.unwrap_or_default().iter().chain(more).chain(ignore);
        let selectors = selectors.filter(|it| *it != SYNTAX_ERROR && *it != DEFAULT);
        let unknown = selectors.filter(|it| !rules.iter().any(|rule| names(it, rule.as_ref())));
        let expand = |selectors: &[String]| -> Vec<&'static str> {
            let named = rules.iter().filter(|rule| selectors.iter().any(|it| names(it, rule.as_ref())));
            named.map(|it| it.code()).collect()
        };
        let unknown = unknown.cloned().collect();
        let ignores_syntax = ignore.iter().any(|it| it == SYNTAX_ERROR);
        let (select, more) = (select.map(expand), expand(more));
        (Self { select, more, ignore: expand(ignore), ignores_syntax }, unknown)
    }

    /// What is left of the rules that are `configured`.
    pub(crate) fn apply(&self, configured: Vec<&'static str>) -> Vec<&'static str> {
        let mut wanted = self.select.clone().unwrap_or(configured);
        wanted.extend(self.more.iter().filter(|it| !wanted.contains(it)).copied().collect::<Vec<_>>());
        wanted.into_iter().filter(|it| !self.ignore.contains(it)).collect()
    }

    /// Whether what is selected takes the place of what is configured.
    pub(crate) fn is_chosen(&self) -> bool {
        self.select.is_some()
    }

    /// Syntax errors are told whatever is selected: nothing else can be found in such a file.
    pub(crate) fn tells_syntax_errors(&self) -> bool {
        !self.ignores_syntax
    }
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
            let (selection, unknown) = Selection::new(&settings);
            (selection.apply(vec!["no-var", "eqeqeq"]).join(" "), unknown.join(" "))
        };
        let want = |kept: &str, unknown: &str| (kept.to_owned(), unknown.to_owned());
        assert_eq!(applied(None, &[]), want("no-var eqeqeq", ""));
        assert_eq!(applied(None, &["recommended", "syntax-error"]), want("eqeqeq", ""));
        assert_eq!(applied(Some(&["workspace", "F401"]), &[]), want("no-import-prefix", "F401"));
        assert_eq!(applied(Some(&["ALL"]), &["ALL"]), want("", ""));
        assert_eq!(applied(Some(&["no-debugger", "DEFAULT"]), &["eqeqeq"]), want("no-var no-debugger", ""));
    }
}
