//! `select` and `ignore` for plugins whose rules have plain names. Knows no prefixes or groups but `ALL` and `DEFAULT`.

use std::collections::HashMap;

use crate::{Rule, Settings};

/// The selector of what is on where nothing is selected.
pub const DEFAULT: &str = "DEFAULT";

/// Which rules' findings are wanted.
#[derive(Debug, Default)]
pub struct Selection {
    /// Whether a rule is wanted, by its code. `None`: whatever there may be.
    rules: Option<HashMap<String, bool>>,
}

impl Selection {
    /// What `settings` leave of `rules`, and the selectors that name none of them.
    pub fn new(settings: &Settings, rules: &[Rule]) -> (Self, Vec<String>) {
        let known = |it: &String| it == "ALL" || rules.iter().any(|rule| rule.code == *it);
        let (only, more) = settings.selected();
        let selectors = only.iter().copied().flatten().chain(more).chain(&settings.ignore);
        let unknown = selectors.filter(|it| *it != DEFAULT && !known(it)).cloned().collect();
        let is_wanted = |rule: &Rule| {
            let selected = only.map_or(rule.default, |it| names(it, rule)) || names(more, rule);
            selected && !names(&settings.ignore, rule)
        };
        let rules = rules.iter().map(|it| (it.code.clone(), is_wanted(it))).collect();
        (Self { rules: Some(rules) }, unknown)
    }

    pub fn includes(&self, code: &str) -> bool {
        self.rules.as_ref().is_none_or(|it| it.get(code).is_some_and(|it| *it))
    }

    /// Whether there is such a rule at all.
    pub(crate) fn knows(&self, code: &str) -> bool {
        self.rules.as_ref().is_none_or(|it| it.contains_key(code))
    }
}

impl Settings {
    /// What is selected in place of what is configured, if anything is, and what is selected on top of that: the rest, where
    /// [`DEFAULT`] is among it.
    pub fn selected(&self) -> (Option<&[String]>, &[String]) {
        match self.select.as_deref() {
            None => (None, &[]),
            Some(all) if all.iter().any(|it| it == DEFAULT) => (None, all),
            Some(all) => (Some(all), &[]),
        }
    }
}

fn names(selectors: &[String], rule: &Rule) -> bool {
    selectors.iter().any(|it| it == "ALL" || *it == rule.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(select: Option<&[&str]>, ignore: &[&str]) -> Settings {
        let owned = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        Settings {
            root: String::new(),
            select: select.map(owned),
            ignore: owned(ignore),
            isolated: false,
            config: None,
        }
    }

    #[test]
    fn selects() {
        let quiet = Rule { default: false, ..Rule::new("quiet", "") };
        let rules = [Rule::new("loud", ""), quiet];
        let kept = |select: Option<&[&str]>, ignore: &[&str]| {
            let (selection, unknown) = Selection::new(&settings(select, ignore), &rules);
            let kept = rules.iter().filter(|it| selection.includes(&it.code)).map(|it| it.code.clone());
            (kept.collect::<Vec<_>>().join(" "), unknown.join(" "))
        };
        let want = |kept: &str, unknown: &str| (kept.to_owned(), unknown.to_owned());
        assert_eq!(kept(None, &[]), want("loud", ""));
        assert_eq!(kept(Some(&["ALL"]), &["loud"]), want("quiet", ""));
        assert_eq!(kept(Some(&["quiet", "F401"]), &[]), want("quiet", "F401"));
        assert_eq!(kept(None, &["ALL"]), want("", ""));
        assert_eq!(kept(Some(&["DEFAULT", "quiet"]), &[]), want("loud quiet", ""));
        assert_eq!(kept(Some(&["DEFAULT", "F401"]), &["loud"]), want("", "F401"));
    }
}
