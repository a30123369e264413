//! `select` and `ignore`: [`Selection`] for plugins whose rules have plain names, with no prefixes or groups but `ALL` and
//! `DEFAULT`, and [`Selectors`] for those that have other words for rules.

use std::borrow::Borrow;
use std::collections::HashMap;

use crate::{Rule, Settings};

/// Selector of the rules that are on without a selection.
pub const DEFAULT: &str = "DEFAULT";

/// Rules whose findings are wanted.
#[derive(Debug, Default)]
pub struct Selection {
    /// Whether a rule is selected, by its code. `None`: all are.
    rules: Option<HashMap<String, bool>>,
    is_chosen: bool,
    /// Selectors in addition to the configuration.
    more: Vec<String>,
}

impl Selection {
    /// Applies `settings` to `rules`. Returns the selection, and the selectors that name none of the rules.
    pub fn new(settings: &Settings, rules: &[Rule]) -> (Self, Vec<String>) {
        let known = |it: &String| it == "ALL" || rules.iter().any(|rule| rule.code == *it);
        let (only, more) = settings.selected();
        let selectors = only.iter().copied().flatten().chain(more).chain(&settings.ignore);
        let unknown = selectors.filter(|it| *it != DEFAULT && !known(it)).cloned().collect();
        let is_wanted = |rule: &Rule| {
            let selected = only.map_or(rule.default, |it| names(it, &rule.code)) || names(more, &rule.code);
            selected && !names(&settings.ignore, &rule.code)
        };
        let rules = rules.iter().map(|it| (it.code.clone(), is_wanted(it))).collect();
        (Self { rules: Some(rules), is_chosen: only.is_some(), more: more.to_vec() }, unknown)
    }

    /// Whether the selection replaces the configuration.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// Whether the selection decides about a rule, whatever is configured. Does not take `ignore` into account.
    pub fn asks_for(&self, code: &str) -> bool {
        self.is_chosen || names(&self.more, code)
    }

    pub fn includes(&self, code: &str) -> bool {
        self.rules.as_ref().is_none_or(|it| it.get(code).is_some_and(|it| *it))
    }

    /// Whether there is a rule with this code.
    pub(crate) fn knows(&self, code: &str) -> bool {
        self.rules.as_ref().is_none_or(|it| it.contains_key(code))
    }
}

impl Settings {
    /// Returns the selectors that replace the configuration, if there are any, and those that extend it. If [`DEFAULT`] is
    /// selected, all of them extend it.
    pub fn selected(&self) -> (Option<&[String]>, &[String]) {
        match self.select.as_deref() {
            None => (None, &[]),
            Some(all) if all.iter().any(|it| it == DEFAULT) => (None, all),
            Some(all) => (Some(all), &[]),
        }
    }
}

fn names(selectors: &[String], code: &str) -> bool {
    selectors.iter().any(|it| it == "ALL" || it == code)
}

/// Selected and ignored rules in a plugin's own terms, such as the codes of its linter.
#[derive(Debug, Clone)]
pub struct Selectors<T> {
    /// Rules that replace those of the configuration.
    pub select: Option<Vec<T>>,
    /// Rules that are added to those of the configuration.
    pub more: Vec<T>,
    pub ignore: Vec<T>,
}

impl<T> Default for Selectors<T> {
    fn default() -> Self {
        Self { select: None, more: Vec::new(), ignore: Vec::new() }
    }
}

impl<T> Selectors<T> {
    /// Returns the selection, and the unknown selectors: those for which `terms` returns `None`.
    pub fn new(settings: &Settings, mut terms: impl FnMut(&str) -> Option<Vec<T>>) -> (Self, Vec<String>) {
        let mut unknown = Vec::new();
        let mut read = |selectors: &[String]| {
            let mut found = Vec::new();
            for selector in selectors.iter().filter(|it| *it != DEFAULT) {
                match terms(selector) {
                    Some(terms) => found.extend(terms),
                    None => unknown.push(selector.clone()),
                }
            }
            found
        };
        let (select, more) = settings.selected();
        let (select, more) = (select.map(&mut read), read(more));
        let ignore = read(&settings.ignore);
        (Self { select, more, ignore }, unknown)
    }

    /// Whether the selection replaces the configuration.
    pub fn is_chosen(&self) -> bool {
        self.select.is_some()
    }

    /// Whether a rule is selected, in place of the configuration or in addition to it.
    pub fn selects<R: PartialEq + ?Sized>(&self, rule: &R) -> bool
    where
        T: Borrow<R>,
    {
        self.select.iter().flatten().chain(&self.more).any(|it| it.borrow() == rule)
    }

    pub fn ignores<R: PartialEq + ?Sized>(&self, rule: &R) -> bool
    where
        T: Borrow<R>,
    {
        self.ignore.iter().any(|it| it.borrow() == rule)
    }

    /// Whether a rule is on, given whether it `is_configured`.
    pub fn includes<R: PartialEq + ?Sized>(&self, rule: &R, is_configured: bool) -> bool
    where
        T: Borrow<R>,
    {
        (self.selects(rule) || is_configured && !self.is_chosen()) && !self.ignores(rule)
    }
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
    #[test]
    fn asks() {
        let rules = [Rule::new("a", ""), Rule::new("b", "")];
        let asks = |select: Option<&[&str]>| {
            let (selection, _) = Selection::new(&settings(select, &[]), &rules);
            (selection.is_chosen(), selection.asks_for("a"), selection.asks_for("b"))
        };
        assert_eq!(asks(None), (false, false, false));
        assert_eq!(asks(Some(&["a"])), (true, true, true), "what is not selected is not included");
        assert_eq!(asks(Some(&["DEFAULT", "a"])), (false, true, false));
        assert_eq!(asks(Some(&["DEFAULT", "ALL"])), (false, true, true));
    }

    #[test]
    fn own_terms() {
        let terms = |it: &str| match it {
            "odd" => Some(vec![1, 3]),
            "none" => Some(Vec::new()),
            it => it.parse().ok().map(|it| vec![it]),
        };
        let on = |select: Option<&[&str]>, ignore: &[&str]| {
            let (selectors, unknown) = Selectors::new(&settings(select, ignore), terms);
            let on: Vec<u8> = (1..=4).filter(|it| selectors.includes(it, *it < 3)).collect();
            (on, unknown.join(" "))
        };
        assert_eq!(on(None, &["odd"]), (vec![2], String::new()));
        assert_eq!(on(Some(&["odd", "x"]), &["1", "y"]), (vec![3], "x y".to_owned()));
        assert_eq!(on(Some(&["DEFAULT", "4"]), &[]), (vec![1, 2, 4], String::new()));
        assert_eq!(on(Some(&["none"]), &[]), (Vec::new(), String::new()));
    }
}
