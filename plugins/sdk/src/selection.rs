//! `select` and `ignore` for plugins whose rules have plain names. Knows no prefixes or groups but `ALL`.

use std::collections::HashSet;

use crate::{Rule, Settings};

/// Which rules' findings are wanted.
#[derive(Debug, Default)]
pub struct Selection {
    /// `None`: all but the dropped.
    wanted: Option<HashSet<String>>,
    dropped: HashSet<String>,
}

impl Selection {
    /// What `settings` leave of `rules`, and the selectors that name none of them.
    pub fn new(settings: &Settings, rules: &[Rule]) -> (Self, Vec<String>) {
        let known = |it: &String| it == "ALL" || rules.iter().any(|rule| rule.code == *it);
        let selectors = settings.select.iter().flatten().chain(&settings.ignore);
        let unknown = selectors.filter(|it| !known(it)).cloned().collect();
        let wanted = match &settings.select {
            Some(select) => select.iter().flat_map(|it| expand(it, rules)).collect(),
            None => rules.iter().filter(|it| it.default).map(|it| it.code.clone()).collect(),
        };
        let dropped = settings.ignore.iter().flat_map(|it| expand(it, rules)).collect();
        (Self { wanted: Some(wanted), dropped }, unknown)
    }

    pub fn includes(&self, code: &str) -> bool {
        self.wanted.as_ref().is_none_or(|it| it.contains(code)) && !self.dropped.contains(code)
    }
}

fn expand(selector: &str, rules: &[Rule]) -> Vec<String> {
    let selected = rules.iter().filter(|it| selector == "ALL" || it.code == selector);
    selected.map(|it| it.code.clone()).collect()
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
    }
}
