//! Names that rules of several linters share, so that what all of them find is reported once.

use std::collections::BTreeMap;

/// Shared names of a linter's rules: its `F821` is `undefined-name`.
///
/// A rule is meant by its code or by the address of its page. A star at the end stands for anything, and one at the end of
/// the shared name for the same: `SC*` is `shellcheck/SC*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleAliases(Vec<Alias>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Alias {
    own: Pattern,
    shared: Pattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    /// Without its star.
    stem: String,
    is_prefix: bool,
}

impl RuleAliases {
    /// Creates aliases from shared names by own ones; the error is the reason why one of them means nothing.
    pub fn new(names: &BTreeMap<String, String>) -> Result<Self, String> {
        let aliases = names.iter().map(|(own, shared)| Alias::new(own, shared));
        let mut aliases = aliases.collect::<Result<Vec<_>, _>>()?;
        // The most specific counts.
        aliases.sort_by_key(|it| (it.own.is_prefix, std::cmp::Reverse(it.own.stem.len())));
        Ok(Self(aliases))
    }

    /// The shared name of the rule with this code that is described at `url`.
    pub fn shared_name(&self, code: &str, url: Option<&str>) -> Option<String> {
        let names = || [Some(code), url].into_iter().flatten();
        self.0.iter().find_map(|alias| names().find_map(|it| alias.shared_name(it)))
    }

    /// The rules that have a shared name, as they are written.
    pub fn own_names(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|it| it.own.to_string())
    }
}

impl Alias {
    fn new(own: &str, shared: &str) -> Result<Self, String> {
        let (own, shared) = (Pattern::new(own)?, Pattern::new(shared)?);
        if shared.is_prefix && !own.is_prefix {
            return Err(format!("the star of `{shared}` stands for nothing, as `{own}` has none"));
        }
        Ok(Self { own, shared })
    }

    fn shared_name(&self, name: &str) -> Option<String> {
        let rest = name.strip_prefix(&self.own.stem)?;
        match (self.own.is_prefix, self.shared.is_prefix) {
            (false, _) if !rest.is_empty() => None,
            (true, true) => Some(format!("{}{rest}", self.shared.stem)),
            (_, _) => Some(self.shared.stem.clone()),
        }
    }
}

impl Pattern {
    fn new(text: &str) -> Result<Self, String> {
        let stem = text.strip_suffix('*').unwrap_or(text);
        match stem {
            _ if stem.contains('*') => Err(format!("`{text}` has a star that is not at its end")),
            "" => Err(format!("`{text}` names no rule")),
            _ => Ok(Self { stem: stem.to_owned(), is_prefix: stem.len() < text.len() }),
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.stem, if self.is_prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aliases(names: &[(&str, &str)]) -> Result<RuleAliases, String> {
        RuleAliases::new(&names.iter().map(|(own, shared)| ((*own).into(), (*shared).into())).collect())
    }

    #[test]
    fn rules_are_named_by_code_or_page() {
        let page = "https://www.shellcheck.net/wiki/";
        let pages = format!("{page}*");
        let all =
            [("F821", "undefined-name"), ("SC*", "shellcheck/SC*"), (&pages, "shellcheck/*"), ("E*", "e")];
        let all = aliases(&all).unwrap();
        let name = |code: &str, url: Option<&str>| all.shared_name(code, url);
        let is = |it: &str| Some(it.to_owned());
        assert_eq!(name("F821", None), is("undefined-name"));
        assert_eq!(name("F8211", None), None);
        assert_eq!(name("SC2154", None), is("shellcheck/SC2154"));
        assert_eq!(name("C006", Some(&format!("{page}SC2154"))), is("shellcheck/SC2154"));
        assert_eq!(name("C006", Some("https://example.org/SC2154")), None);
        assert_eq!(name("E1", None), is("e"));
    }

    #[test]
    fn the_most_specific_name_counts() {
        let all = aliases(&[("E*", "any"), ("E1*", "some"), ("E12", "one")]).unwrap();
        let names = ["E2", "E13", "E12"].map(|it| all.shared_name(it, None).unwrap());
        assert_eq!(names, ["any", "some", "one"]);
        assert_eq!(all.own_names().collect::<Vec<_>>(), ["E12", "E1*", "E*"]);
    }

    #[test]
    fn names_that_mean_nothing_are_refused() {
        let error = |own, shared| aliases(&[(own, shared)]).unwrap_err();
        assert_eq!(error("*", "x"), "`*` names no rule");
        assert_eq!(error("a*b", "x"), "`a*b` has a star that is not at its end");
        assert_eq!(error("a", "x*"), "the star of `x*` stands for nothing, as `a` has none");
    }
}
