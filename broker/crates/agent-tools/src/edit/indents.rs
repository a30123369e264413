//! Converts the indentation of an agent's text to that of the file.

use std::collections::HashSet;

use super::text::{indentation, is_blank};

/// A rule for all lines of one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Indents {
    Same,
    /// The piece was written further to the left by this.
    Add(String),
    /// The piece was written further to the right by this.
    Remove(String),
    /// The piece is indented by other units than the file, and by some levels less.
    Units {
        from: &'static str,
        to: &'static str,
        more: isize,
    },
}

/// Units that a level may be made of.
const UNITS: [&str; 5] = ["\t", "    ", "  ", "        ", "   "];

impl Indents {
    /// The simplest rule that makes each first indentation the second one. `None` where there is none.
    pub(super) fn of(pairs: &[(&str, &str)]) -> Option<Self> {
        let fits = |rule: &Self| pairs.iter().all(|(from, to)| rule.converted(from).as_deref() == Some(to));
        if fits(&Self::Same) {
            return Some(Self::Same);
        }
        // The deepest line says most.
        let (from, to) = *pairs.iter().max_by_key(|it| it.1.len())?;
        let added = to.strip_suffix(from).map(|it| Self::Add(it.to_owned()));
        let removed = from.strip_suffix(to).map(|it| Self::Remove(it.to_owned()));
        let shifted = [added, removed].into_iter().flatten().find(|it| fits(it));
        let depths: HashSet<_> = pairs.iter().map(|it| it.0).filter(|it| !it.is_empty()).collect();
        let is_unit = |it: &str| UNITS.contains(&it);
        let is_clear = depths.len() > 1
            || from.starts_with('\t') != to.starts_with('\t')
            || (is_unit(from) && is_unit(to));
        shifted.or_else(|| Self::in_units(from, to, fits).filter(|_| is_clear))
    }

    /// Whether the rule gives a line other units and another level, which chance may bring about.
    pub(super) fn changes_level(&self) -> bool {
        matches!(self, Self::Units { more, .. } if *more != 0)
    }

    /// Whether the rule makes one indentation the other.
    pub(super) fn converts(&self, from: &str, to: &str) -> bool {
        self.converted(from).as_deref() == Some(to)
    }

    fn in_units(from: &str, to: &str, fits: impl Fn(&Self) -> bool) -> Option<Self> {
        let rules = UNITS.iter().flat_map(|a| UNITS.iter().map(move |b| (*a, *b))).filter(|(a, b)| a != b);
        let rules = rules.filter_map(|(a, b)| {
            let more = isize::try_from(levels(to, b)?).ok()? - isize::try_from(levels(from, a)?).ok()?;
            Some(Self::Units { from: a, to: b, more })
        });
        let fitting: Vec<_> = rules.filter(fits).collect();
        // A single line can be explained by several rules, and lines of one depth by chance.
        if let [rule] = &fitting[..] { Some(rule.clone()) } else { None }
    }

    /// A line as the file would have it. `None` if it stands further to the left than the rule can say.
    pub(super) fn apply(&self, line: &str) -> Option<String> {
        if *self == Self::Same || is_blank(line) {
            return Some(line.to_owned());
        }
        let indent = indentation(line);
        Some(self.converted(indent)? + &line[indent.len()..])
    }

    fn converted(&self, indent: &str) -> Option<String> {
        match self {
            Self::Same => Some(indent.to_owned()),
            Self::Add(more) => Some(format!("{more}{indent}")),
            Self::Remove(less) => indent.strip_prefix(&**less).map(str::to_owned),
            Self::Units { from, to, more } => {
                let count = indent.matches(from).count();
                let rest = indent.strip_prefix(&*from.repeat(count))?;
                // The rest aligns a line with something in the one above.
                let is_rest = rest.chars().all(|it| it == ' ') && (rest.is_empty() || count > 0);
                let levels = isize::try_from(count).ok()? + more;
                (is_rest && levels >= 0).then(|| to.repeat(levels.unsigned_abs()) + rest)
            }
        }
    }
}

fn levels(indent: &str, unit: &str) -> Option<usize> {
    let count = indent.len() / unit.len();
    (unit.repeat(count) == indent).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pairs: &[(&str, &str)]) -> Option<Indents> {
        Indents::of(pairs)
    }

    #[test]
    fn the_simplest_rule_wins() {
        assert_eq!(rule(&[("", ""), ("  ", "  ")]), Some(Indents::Same));
        assert_eq!(rule(&[]), Some(Indents::Same));
        assert_eq!(rule(&[("", "    "), ("    ", "        ")]), Some(Indents::Add("    ".into())));
        assert_eq!(rule(&[("    ", ""), ("      ", "  ")]), Some(Indents::Remove("    ".into())));
        assert_eq!(rule(&[("", "    "), ("", "  ")]), None);
        assert_eq!(rule(&[("        ", "\t")]), None, "one line fits several units");
    }

    #[test]
    fn units_are_changed() {
        let rule = rule(&[("", ""), ("    ", "\t"), ("        ", "\t\t")]).unwrap();
        assert_eq!(rule, Indents::Units { from: "    ", to: "\t", more: 0 });
        assert_eq!(rule.apply("            x").as_deref(), Some("\t\t\tx"));
        assert_eq!(rule.apply("      x").as_deref(), Some("\t  x"));
        assert_eq!(rule.apply("").as_deref(), Some(""));
    }

    #[test]
    fn what_is_irregular_has_no_rule() {
        assert_eq!(rule(&[("  ", "    "), ("", "  "), ("", "")]), None);
        assert_eq!(Indents::Remove("    ".into()).apply("  x"), None);
    }
}
