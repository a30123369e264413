//! Trigrams that a text must have to match a regular expression.
//!
//! After Russ Cox, "Regular Expression Matching with a Trigram Index": literals next to each other are put together as
//! long as there are few alternatives, and each alternative needs all of its trigrams. Between them stands whatever has
//! too many alternatives to be named. The answer may be too weak and is never too strong.

use std::collections::BTreeSet;

use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind},
};

use super::{Trigram, folded, trigrams_of};

/// Alternatives of a literal that are told apart.
const MAX_LITERALS: usize = 32;

/// Characters of a class that are told apart.
const MAX_CHARACTERS: usize = 24;

/// Trigrams that a text must have to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Any text may match.
    Nothing,
    Trigram(Trigram),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Needs {
    /// Returns what a line that `query` matches must have, by the rules of this crate's searcher. `Nothing` for a query that does
    /// not parse.
    pub(crate) fn of(query: &str, case_sensitive: bool) -> Self {
        let parsed = ParserBuilder::new()
            .case_insensitive(!case_sensitive)
            .multi_line(true)
            .utf8(false)
            .build()
            .parse(query);
        parsed.map_or(Self::Nothing, |it| {
            let mut run = Run::default();
            run.push(&it);
            run.finish()
        })
    }

    fn all(needs: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for need in needs {
            match need {
                Self::Nothing => {}
                Self::All(more) => flat.extend(more),
                need => flat.push(need),
            }
        }
        flat.dedup();
        match flat.len() {
            0 => Self::Nothing,
            1 => flat.remove(0),
            _ => Self::All(flat),
        }
    }

    fn any(needs: Vec<Self>) -> Self {
        match needs.len() {
            _ if needs.contains(&Self::Nothing) => Self::Nothing,
            0 => Self::Nothing,
            1 => needs.into_iter().next().unwrap_or(Self::Nothing),
            _ => Self::Any(needs),
        }
    }
}

type Literals = BTreeSet<Vec<u8>>;

/// A sequence of expressions, read from left to right.
struct Run {
    /// Texts with which what matched so far may end, all of it if nothing was closed before.
    ends: Literals,
    needs: Vec<Needs>,
}

impl Default for Run {
    fn default() -> Self {
        Self { ends: Literals::from([Vec::new()]), needs: Vec::new() }
    }
}

impl Run {
    fn push(&mut self, hir: &Hir) {
        if let Some(literals) = literals(hir) {
            return self.append(&literals);
        }
        match hir.kind() {
            HirKind::Concat(parts) => parts.iter().for_each(|it| self.push(it)),
            HirKind::Capture(it) => self.push(&it.sub),
            HirKind::Alternation(parts) => {
                self.close();
                self.needs.push(Needs::any(parts.iter().map(alone).collect()));
            }
            HirKind::Repetition(it) if it.min > 0 => self.repeat(&it.sub),
            _ => self.close(),
        }
    }

    /// Once or more: the first comes right after what is before, the last right before what comes next.
    fn repeat(&mut self, sub: &Hir) {
        match literals(sub) {
            Some(literals) => {
                self.append(&literals);
                self.close();
                self.append(&literals);
            }
            None => {
                self.push(sub);
                self.close();
            }
        }
    }

    fn append(&mut self, next: &Literals) {
        if self.ends.len() * next.len() > MAX_LITERALS {
            self.needs.push(needs_of(&self.ends));
            // Two bytes are enough for the trigrams that reach into what comes next.
            self.ends = self.ends.iter().map(|it| it[it.len().saturating_sub(2)..].to_vec()).collect();
        }
        if self.ends.len() * next.len() > MAX_LITERALS {
            self.close();
        }
        let join = |end: &Vec<u8>| next.iter().map(|it| [end.as_slice(), it].concat()).collect::<Vec<_>>();
        self.ends = self.ends.iter().flat_map(join).collect();
    }

    /// Any text may follow.
    fn close(&mut self) {
        self.needs.push(needs_of(&std::mem::take(&mut self.ends)));
        self.ends.insert(Vec::new());
    }

    fn finish(mut self) -> Needs {
        self.close();
        Needs::all(self.needs)
    }
}

fn alone(hir: &Hir) -> Needs {
    let mut run = Run::default();
    run.push(hir);
    run.finish()
}

/// Returns what a text must have that contains one of the literals.
fn needs_of(literals: &Literals) -> Needs {
    let all = |it: &Vec<u8>| Needs::all(trigrams_of(it).map(Needs::Trigram));
    Needs::any(literals.iter().map(all).collect())
}

/// All texts that an expression matches, folded, if they are few.
fn literals(hir: &Hir) -> Option<Literals> {
    let found = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Literals::from([Vec::new()]),
        HirKind::Literal(it) => Literals::from([folded(&it.0)]),
        HirKind::Class(it) => characters(it)?,
        HirKind::Capture(it) => literals(&it.sub)?,
        HirKind::Repetition(it) if it.min == 0 && it.max == Some(1) => {
            let mut found = literals(&it.sub)?;
            found.insert(Vec::new());
            found
        }
        HirKind::Repetition(it) if it.max == Some(it.min) && it.min < 8 => {
            let sub = literals(&it.sub)?;
            let mut found = Literals::from([Vec::new()]);
            for _ in 0..it.min {
                found = product(&found, &sub)?;
            }
            found
        }
        HirKind::Repetition(_) => return None,
        HirKind::Concat(parts) => {
            let mut found = Literals::from([Vec::new()]);
            for part in parts {
                found = product(&found, &literals(part)?)?;
            }
            found
        }
        HirKind::Alternation(parts) => {
            let mut found = Literals::new();
            for part in parts {
                found.extend(literals(part)?);
            }
            found
        }
    };
    (!found.is_empty() && found.len() <= MAX_LITERALS).then_some(found)
}

fn product(a: &Literals, b: &Literals) -> Option<Literals> {
    let joined = || a.iter().flat_map(|a| b.iter().map(move |b| [a.as_slice(), b].concat())).collect();
    (a.len() * b.len() <= MAX_LITERALS).then(joined)
}

fn characters(class: &Class) -> Option<Literals> {
    match class {
        Class::Unicode(it) => {
            let count: usize = it.iter().map(|it| it.len()).sum();
            let encoded = |it: char| folded(it.encode_utf8(&mut [0; 4]).as_bytes());
            let all = || it.iter().flat_map(|it| it.start()..=it.end()).map(encoded).collect();
            (count <= MAX_CHARACTERS).then(all)
        }
        Class::Bytes(it) => {
            let count: usize = it.iter().map(|it| it.len()).sum();
            let all = || it.iter().flat_map(|it| it.start()..=it.end()).map(|it| folded(&[it])).collect();
            (count <= MAX_CHARACTERS).then(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(needs: &Needs) -> String {
        let joined = |all: &[Needs], by: &str| all.iter().map(shown).collect::<Vec<_>>().join(by);
        match needs {
            Needs::Nothing => "-".into(),
            Needs::Trigram(it) => it.to_bytes().map(|it| it.escape_ascii().to_string()).concat(),
            Needs::All(all) => format!("({})", joined(all, " ")),
            Needs::Any(any) => format!("[{}]", joined(any, " ")),
        }
    }

    fn needs(query: &str) -> String {
        shown(&Needs::of(query, true))
    }

    #[test]
    fn literals_need_their_trigrams() {
        for (query, want) in [
            ("abc", "abc"),
            ("ab", "-"),
            ("aBcd", "(abc bcd)"),
            (r"\bfoo\b.*bar$", "(foo bar)"),
            ("foo|barn", "[(bar arn) foo]"),
            ("foo|ba", "-"),
            ("foo|b.*", "-"),
            ("(foo|x.*)y", "-"),
            ("x(foo|z.*bar)y", "[foo bar]"),
            ("ab[cd]e", "[(abc bce) (abd bde)]"),
            ("abc?d", "[(abc bcd) abd]"),
            ("ab+c", "-"),
            ("a(bc)+d", "(abc bcd)"),
            ("(abc)*", "-"),
            ("[a-z]+abc[^x]def", "(abc def)"),
            (r"a\.b\(", r"(a.b .b()"),
            ("(?:ab){2}", "(aba bab)"),
            ("x{3,}", "-"),
            ("é1", r"\xc3\xa91"),
            ("[", "-"),
            ("", "-"),
        ] {
            assert_eq!(needs(query), want, "{query}");
        }
    }

    #[test]
    fn too_many_alternatives_are_cut_and_not_lost() {
        assert_eq!(needs("head[a-z]tail"), "(hea ead tai ail)");
        let many = needs("abc[0-9][0-9]def");
        assert!(many.contains("abc") && many.contains("def"), "{many}");
    }

    #[test]
    fn without_regard_to_case_other_letters_may_stand_for_ascii() {
        assert_eq!(shown(&Needs::of("ABC", false)), "abc");
        let kelvin = shown(&Needs::of("ink", false));
        assert_eq!(kelvin, r"[ink (in\xe2 n\xe2\x84 \xe2\x84\xaa)]");
    }
}
