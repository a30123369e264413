//! Which of the rules named on the command line go to which linter.
//!
//! `python/F401` is for `python` alone; `F401` is for every linter that has it. What a selector means, a linter
//! alone decides.

use std::{collections::BTreeSet, fmt};

use crate::{SetupFailure, alike::closest_linter};

/// The selector of what is checked where nothing is selected.
pub const DEFAULT: &str = "DEFAULT";

/// What `--select` and `--ignore` say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Selectors {
    /// `None` leaves the choice to the linters and their configuration.
    select: Option<Vec<Selector>>,
    ignore: Vec<Selector>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Selector {
    linter: Option<String>,
    rule: String,
}

/// The part of the selectors that is for one linter, in its own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub select: Option<Vec<String>>,
    pub ignore: Vec<String>,
}

impl Selectors {
    /// Selects nothing at all only by mistake: a variable in a script that is empty.
    pub fn parse(select: Option<&[String]>, ignore: &[String]) -> Result<Self, SetupFailure> {
        let parse = |texts: &[String]| -> Vec<_> {
            let texts = texts.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
            texts.map(Selector::parse).collect()
        };
        let select = select.map(parse);
        if select.as_ref().is_some_and(Vec::is_empty) {
            let error = SetupFailure::new("--select names no rule");
            return Err(error.hint("without --select, the configuration decides"));
        }
        Ok(Self { select, ignore: parse(ignore) })
    }

    /// Selects no rule of any linter.
    pub fn nothing() -> Self {
        Self { select: Some(Vec::new()), ignore: Vec::new() }
    }

    /// Whether no linter is asked.
    pub fn are_nothing(&self) -> bool {
        self.select.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether nothing is said, and so everybody is asked.
    pub fn are_none(&self) -> bool {
        self.select.is_none() && self.ignore.is_empty()
    }

    /// Whether there is anything that a linter could not know.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    fn all(&self) -> impl Iterator<Item = &Selector> {
        self.select.iter().flatten().chain(&self.ignore).filter(|it| !it.is_default())
    }

    pub fn for_linter(&self, name: &str) -> Selection {
        let own = |selectors: &[Selector]| -> Vec<_> {
            selectors.iter().filter(|it| it.is_for(name)).map(|it| it.rule.clone()).collect()
        };
        let select =
            self.select.as_deref().map(own).filter(|it| it.iter().any(|it| it != DEFAULT) || it.is_empty());
        Selection { select, ignore: own(&self.ignore) }
    }

    /// For a language server, whose rules are not known: it is asked if nothing else is selected, or if a
    /// selector names it, or selects everything.
    pub fn for_server(&self, name: &str) -> Option<Selection> {
        let is_its = |it: &&Selector| {
            it.linter.as_deref() == Some(name) || (it.linter.is_none() && it.rule == "ALL") || it.is_default()
        };
        let rules =
            |all: &[Selector]| all.iter().filter(is_its).map(|it| it.rule.clone()).collect::<Vec<_>>();
        // By default, it tells all that it finds.
        let select = self.select.as_deref().filter(|it| !it.iter().any(Selector::is_default)).map(rules);
        let is_nothing = select.as_ref().is_some_and(Vec::is_empty);
        (!is_nothing).then(|| Selection { select, ignore: self.for_linter(name).ignore })
    }

    /// Whether something of just this linter is to be checked.
    pub fn select_by_name(&self, name: &str) -> bool {
        self.select.iter().flatten().any(|it| it.linter.as_deref() == Some(name))
    }

    /// Without what is for these linters, which do not say what they know.
    pub fn without(mut self, linters: &[&str]) -> Self {
        let is_for_others = |it: &Selector| it.linter.as_deref().is_none_or(|it| !linters.contains(&it));
        self.select.iter_mut().for_each(|it| it.retain(is_for_others));
        self.ignore.retain(is_for_others);
        self
    }

    /// Fails if a selector names a linter that is not there.
    pub fn check_linters(&self, plugins: &[&str], servers: &[&str]) -> Result<(), SetupFailure> {
        let named = self.all().filter_map(|it| it.linter.as_deref());
        match named.into_iter().find(|it| !plugins.contains(it) && !servers.contains(it)) {
            Some(unknown) => Err(unknown_linter(unknown, plugins, servers)),
            None => Ok(()),
        }
    }

    /// Selectors that no addressed linter knows. `unknown` holds, for each linter, those
    /// that it has said mean nothing to it.
    pub fn unknown_to_all(&self, unknown: &[(&str, Vec<String>)]) -> Vec<String> {
        let is_known = |selector: &Selector| {
            unknown.iter().any(|(name, rules)| selector.is_for(name) && !rules.contains(&selector.rule))
        };
        let texts: BTreeSet<_> = self.all().filter(|it| !is_known(it)).map(Selector::to_string).collect();
        texts.into_iter().collect()
    }
}

impl Selection {
    /// Whether it adds to what the linter checks otherwise.
    pub fn extends(&self) -> bool {
        self.select.iter().flatten().any(|it| it == DEFAULT)
    }

    /// Whether nothing is selected but what the linter does not know: it has nothing to say.
    pub fn is_nothing(&self, unknown: &[String]) -> bool {
        self.select.as_ref().is_some_and(|select| select.iter().all(|it| unknown.contains(it)))
    }
}

impl Selector {
    fn parse(text: &str) -> Self {
        match text.split_once('/') {
            Some((linter, rule)) => Self { linter: Some(linter.to_owned()), rule: rule.to_owned() },
            None => Self { linter: None, rule: text.to_owned() },
        }
    }

    fn is_default(&self) -> bool {
        self.linter.is_none() && self.rule == DEFAULT
    }

    fn is_for(&self, name: &str) -> bool {
        self.linter.as_deref().is_none_or(|it| it == name)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.linter {
            Some(linter) => write!(f, "{linter}/{}", self.rule),
            None => f.write_str(&self.rule),
        }
    }
}

pub fn unknown_linter(name: &str, plugins: &[&str], servers: &[&str]) -> SetupFailure {
    let hint = match closest_linter(name, plugins.iter().chain(servers).copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None if servers.is_empty() => format!("there is {}", plugins.join(", ")),
        None => format!("there is {}, and the language servers of `broker doctor`", plugins.join(", ")),
    };
    let what = if servers.is_empty() { "no plugin" } else { "no plugin or language server" };
    SetupFailure::new(format!("{what} named `{name}`")).hint(hint)
}

/// `ty:some-rule` as it has to be written: `ty/some-rule`.
pub(crate) fn with_slash<'l>(text: &str, mut linters: impl Iterator<Item = &'l str>) -> Option<String> {
    let (linter, rule) = text.split_once(':')?;
    linters.any(|it| it == linter).then(|| format!("{linter}/{rule}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closest;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|it| (*it).to_owned()).collect()
    }

    fn selectors(select: &[&str], ignore: &[&str]) -> Selectors {
        Selectors::parse(Some(&texts(select)), &texts(ignore)).unwrap()
    }

    #[test]
    fn go_where_they_are_addressed() {
        let all = selectors(&["python/F401", "E5", "text/bidi"], &["python/E501", " ", "W"]);
        let python = all.for_linter("python");
        assert_eq!(python.select, Some(texts(&["F401", "E5"])));
        assert_eq!(python.ignore, texts(&["E501", "W"]));
        assert_eq!(all.for_linter("text").select, Some(texts(&["E5", "bidi"])));
        assert_eq!(all.for_linter("other").ignore, texts(&["W"]));
    }

    #[test]
    fn what_is_selected_is_all_there_is() {
        assert_eq!(Selectors::parse(None, &[]).unwrap().for_linter("text").select, None);
        let selection = selectors(&["python/F"], &[]).for_linter("text");
        assert_eq!(selection.select, Some(vec![]));
        assert!(selection.is_nothing(&[]));
        let bare = selectors(&["F"], &[]).for_linter("text");
        assert!(bare.is_nothing(&texts(&["F"])) && !bare.is_nothing(&[]));
        assert!(!Selectors::parse(None, &[]).unwrap().for_linter("text").is_nothing(&[]));
    }

    #[test]
    fn a_server_is_asked_for_what_names_it_and_for_everything() {
        let of = |select: &[&str], ignore: &[&str]| selectors(select, ignore).for_server("ty");
        let some = Selection { select: Some(texts(&["a"])), ignore: texts(&["b", "c"]) };
        assert_eq!(of(&["ty/a", "F"], &["ty/b", "c", "pyright/d"]), Some(some));
        assert_eq!(of(&["F", "pyright/ALL"], &[]), None);
        assert_eq!(of(&["ALL"], &[]).unwrap().select, Some(texts(&["ALL"])));
        let all = selectors(&["ty/ALL", "F"], &["gopls/x"]);
        assert_eq!(["ty", "gopls", "F"].map(|it| all.select_by_name(it)), [true, false, false]);
        assert!(!all.are_none() && Selectors::parse(None, &[]).unwrap().are_none());
    }

    #[test]
    fn the_default_is_extended() {
        let all = selectors(&["DEFAULT", "python/F4", "no-var"], &["E5"]);
        let python = all.for_linter("python");
        assert_eq!(python.select, Some(texts(&["DEFAULT", "F4", "no-var"])));
        assert!(python.extends() && !python.is_nothing(&texts(&["F4", "no-var"])));
        let own = selectors(&["DEFAULT", "python/F4"], &[]);
        assert_eq!(own.for_linter("text").select, None, "nothing is added");
        assert_eq!(own.for_server("ty"), Some(Selection::default()));
        let (python, text) = (("python", vec![]), ("text", texts(&["F4", "no-var", "E5"])));
        assert!(all.unknown_to_all(&[python, text]).is_empty(), "the default is known to all");
        assert_eq!(selectors(&["DEFAULT"], &[]).for_linter("text").select, None);
    }

    #[test]
    fn an_empty_selection_is_a_mistake() {
        for nothing in [&[][..], &[""], &[" ", ""]] {
            let error = Selectors::parse(Some(&texts(nothing)), &[]).unwrap_err();
            assert_eq!(error.message, "--select names no rule");
        }
        let some = selectors(&["", " F "], &[""]).for_linter("python");
        assert_eq!((some.select, some.ignore), (Some(texts(&["F"])), vec![]));
    }

    #[test]
    fn are_unknown_only_if_nobody_knows_them() {
        let all = selectors(&["F401", "F4O1", "text/F401", "bidi"], &["nix"]);
        let unknown =
            [("python", texts(&["F4O1", "bidi", "nix"])), ("text", texts(&["F401", "F4O1", "nix"]))];
        assert_eq!(all.unknown_to_all(&unknown), ["F4O1", "nix", "text/F401"]);
    }

    #[test]
    fn slips_are_recognised() {
        let error = selectors(&["pyhton/F401"], &[]).check_linters(&["python", "text"], &[]).unwrap_err();
        assert_eq!(error.message, "no plugin named `pyhton`");
        assert_eq!(error.hint.as_deref(), Some("did you mean `python`?"));
        let of =
            |text| selectors(&[text], &[]).check_linters(&["python"], &["ty"]).map_err(|it| it.hint.unwrap());
        assert_eq!(of("ty/some-rule"), Ok(()));
        assert_eq!(of("tyy/some-rule").unwrap_err(), "did you mean `ty`?");
        assert_eq!(of("x/y").unwrap_err(), "there is python, and the language servers of `broker doctor`");
        let slash = |text| with_slash(text, ["ty"].into_iter());
        assert_eq!(slash("ty:some-rule").as_deref(), Some("ty/some-rule"));
        assert_eq!((slash("tyy:some-rule"), slash("ty")), (None, None));
        assert_eq!(closest("f4o1", ["F401", "E501"].into_iter()), Some("F401"));
        assert_eq!(closest("nothing-like-it", ["F401"].into_iter()), None);
    }
}
