//! Rules as people name them in configuration files and comments.

use std::{fmt, str::FromStr};

/// `python/F401`, `F401`, `unused-import`, `F4*`, `python/*` or `*`.
///
/// Case counts. A star stands only at the end, for anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RulePattern {
    linter: Option<String>,
    /// Without its star.
    rule: String,
    is_prefix: bool,
}

/// Reason for which a text names no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPattern {
    Empty,
    /// A star anywhere but at the end.
    Star,
    /// White space, or anything else that is in no rule's name.
    Character(char),
}

impl RulePattern {
    /// Whether the pattern matches the rule with this code, or with this name.
    pub fn matches(&self, linter: &str, code: &str, name: Option<&str>) -> bool {
        let is_it = |it: &str| if self.is_prefix { it.starts_with(&self.rule) } else { it == self.rule };
        self.linter.as_deref().is_none_or(|it| it == linter) && (is_it(code) || name.is_some_and(is_it))
    }

    /// The one linter whose rules are meant; `None` if those of any are.
    pub fn linter(&self) -> Option<&str> {
        self.linter.as_deref()
    }

    /// The greater, the closer a match: by the rule first, then by whether a linter is named.
    pub fn specificity(&self) -> (bool, usize, bool) {
        (!self.is_prefix, self.rule.len(), self.linter.is_some())
    }

    /// Whether every rule that `other` matches is matched by this, too, as far as the texts show it.
    pub fn covers(&self, other: &Self) -> bool {
        let linter = self.linter.is_none() || self.linter == other.linter;
        let rule = match (self.is_prefix, other.is_prefix) {
            (true, _) => other.rule.starts_with(&self.rule),
            (false, is_prefix) => !is_prefix && self.rule == other.rule,
        };
        linter && rule
    }
}

impl FromStr for RulePattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let (linter, rule) = match text.split_once('/') {
            Some(("", _)) => return Err(BadPattern::Empty),
            Some((linter, rule)) => (Some(linter.to_owned()), rule),
            None => (None, text),
        };
        let stem = rule.strip_suffix('*').unwrap_or(rule);
        let is_of_rules =
            |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | ':' | '@' | '/' | '+');
        match text[..text.len() - (rule.len() - stem.len())].chars().find(|it| !is_of_rules(*it)) {
            Some('*') => Err(BadPattern::Star),
            Some(other) => Err(BadPattern::Character(other)),
            None if rule.is_empty() => Err(BadPattern::Empty),
            None => Ok(Self { linter, rule: stem.to_owned(), is_prefix: stem.len() < rule.len() }),
        }
    }
}

impl fmt::Display for RulePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(linter) = &self.linter {
            write!(f, "{linter}/")?;
        }
        write!(f, "{}{}", self.rule, if self.is_prefix { "*" } else { "" })
    }
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a rule has no name"),
            Self::Star => f.write_str("a `*` stands only at the end of a rule"),
            Self::Character(it) => write!(f, "no rule has {it:?} in its name"),
        }
    }
}

impl std::error::Error for BadPattern {}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> RulePattern {
        text.parse().unwrap()
    }

    #[test]
    fn match_codes_and_names() {
        for (text, want) in [
            ("F401", true),
            ("python/F401", true),
            ("unused-import", true),
            ("F4*", true),
            ("python/*", true),
            ("*", true),
            ("F4", false),
            ("f401", false),
            ("text/F401", false),
            ("text/*", false),
        ] {
            let pattern = pattern(text);
            assert_eq!(pattern.matches("python", "F401", Some("unused-import")), want, "{text}");
            assert_eq!(pattern.to_string(), text);
        }
    }

    #[test]
    fn the_closest_is_the_most_specific() {
        let mut texts = ["F401", "python/F401", "python/*", "*", "F4*", "F*"];
        texts.sort_by_key(|it| pattern(it).specificity());
        assert_eq!(texts, ["*", "python/*", "F*", "F4*", "F401", "python/F401"]);
    }

    #[test]
    fn some_cover_others() {
        for (one, other, want) in [
            ("*", "python/F401", true),
            ("F401", "python/F401", true),
            ("python/F401", "F401", false),
            ("F*", "F4*", true),
            ("F401", "F401*", false),
        ] {
            assert_eq!(pattern(one).covers(&pattern(other)), want, "{one} {other}");
        }
    }

    #[test]
    fn what_names_no_rule() {
        let bad = |text: &str| text.parse::<RulePattern>().unwrap_err();
        assert_eq!([bad(""), bad("/x"), bad("python/")], [BadPattern::Empty; 3]);
        assert_eq!(bad("F*1"), BadPattern::Star);
        assert_eq!(bad("F 1"), BadPattern::Character(' '));
    }
}
