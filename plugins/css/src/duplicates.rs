//! `declaration-block-no-duplicate-properties`, and the same of custom properties.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Related};
use raffia::ast::{Declaration, Statement};

use crate::declarations::value_of;
use crate::tokens::{Kind, Token, tokens};
use crate::walk::{Sheet, name_of, normal};

impl Sheet<'_> {
    /// Two declarations of one property: reports the one that has no effect.
    pub(crate) fn duplicates(&mut self, all: &[Statement<'_>]) {
        let mut known: HashMap<String, Written> = HashMap::new();
        for (number, it) in all.iter().enumerate() {
            let Statement::Declaration(it) = it else { continue };
            if self.is_hack(it) {
                continue;
            }
            let Some(name) = name_of(it).filter(|it| !it.starts_with(['$', '@', '_', '*'])) else { continue };
            let is_custom = name.starts_with("--");
            let folded = if is_custom { name.to_owned() } else { name.to_ascii_lowercase() };
            let now = self.written(it, name, number);
            let Some(before) = known.remove(&folded) else {
                known.insert(folded, now);
                continue;
            };
            let is_fallback = !is_custom && self.is_fallback(all, &before, &now);
            let stays = before.is_important && !now.is_important;
            let (told, other) = if stays || is_custom { (&now, &before) } else { (&before, &now) };
            if folded != "src" && it.less_property_merge.is_none() && !is_fallback {
                self.duplicate(name, told, other);
            }
            known.insert(folded, if stays { before } else { now });
        }
    }

    fn written(&self, it: &Declaration<'_>, name: &str, number: usize) -> Written {
        Written {
            value: normal(&self.text[value_of(it)]),
            range: it.span.start..it.span.start + name.len(),
            number,
            is_important: it.important.is_some(),
        }
    }

    /// Whether a value is for browsers that do not know the other: right before what is of another kind, or anywhere
    /// before one with other vendors' words, or with `var()` or `env()`, unless it is more important than that.
    fn is_fallback(&self, all: &[Statement<'_>], before: &Written, now: &Written) -> bool {
        let has_lines = !self.is_plain_css();
        let stays = before.is_important && !now.is_important;
        let is_substituted = |it: &Written| has_substitution(&it.value, has_lines);
        let is_for_old = !stays && is_substituted(now) && !is_substituted(before);
        is_for_old
            || vendor_words(&before.value, has_lines) != vendor_words(&now.value, has_lines)
            || is_together(&all[before.number..=now.number])
                && !is_one_kind(&before.value, &now.value, has_lines)
    }

    fn duplicate(&mut self, name: &str, told: &Written, other: &Written) {
        let code = if name.starts_with("--") {
            "declaration-block-no-duplicate-custom-properties"
        } else {
            "declaration-block-no-duplicate-properties"
        };
        let (what, message) = if told.number < other.number {
            (format!("`{name}` is set again, so that this has no effect"), "it is set again here")
        } else {
            (format!("`{name}` is set already"), "the first is here")
        };
        let related = Related { path: None, span: other.range.clone().into(), message: message.to_owned() };
        let found = Diagnostic::new(code, what, told.range.clone());
        self.found.push(Diagnostic { related: vec![related], ..found });
    }
}

/// A declaration, as far as another of the same property asks.
struct Written {
    value: String,
    range: Range<usize>,
    /// Which of the statements it is.
    number: usize,
    is_important: bool,
}

/// Whether a browser that knows one of two values knows the other: they differ in numbers, colours and strings at most.
fn is_one_kind(one: &str, other: &str, has_lines: bool) -> bool {
    if one == other || one.contains(['$', '@']) || other.contains(['$', '@']) {
        return one == other;
    }
    let (these, those) = (tokens(one, has_lines), tokens(other, has_lines));
    let is_same = |(this, that): (&Token, &Token)| {
        let (here, there) = (&one[this.range.clone()], &other[that.range.clone()]);
        let is_any = matches!(this.kind, Kind::Number | Kind::Hash | Kind::String)
            || here.starts_with("--") && there.starts_with("--");
        this.kind == that.kind && (is_any || here.eq_ignore_ascii_case(there))
    };
    these.len() == those.len() && these.iter().zip(&those).all(is_same)
}

/// Whether the statements are declarations of one property, those with browsers' prefixes among them.
fn is_together(all: &[Statement<'_>]) -> bool {
    let mut names = all.iter().map(|it| match it {
        Statement::Declaration(it) => name_of(it).map(|it| unprefixed(it).to_ascii_lowercase()),
        _ => None,
    });
    let first = names.next().flatten();
    first.is_some() && names.all(|it| it == first)
}

/// A property's name without `-webkit-` and the like, and without the signs that only old browsers pass over.
fn unprefixed(name: &str) -> &str {
    let name = name.trim_start_matches(['*', '_']);
    let vendor = name.strip_prefix('-').filter(|it| !it.starts_with('-')).and_then(|it| it.split_once('-'));
    vendor.map_or(name, |it| it.1)
}

/// The keywords and functions of a value that are one vendor's: browsers that do not know them skip the declaration.
fn vendor_words(value: &str, has_lines: bool) -> BTreeSet<String> {
    let tokens = tokens(value, has_lines).into_iter();
    let words = tokens.filter(|it| matches!(it.kind, Kind::Ident | Kind::Function));
    let words = words.map(|it| value[it.range].to_ascii_lowercase());
    words.filter(|it| it.starts_with('-') && unprefixed(it).len() < it.len()).collect()
}

/// Whether a value has a substitution that a browser makes: old ones skip the whole declaration.
fn has_substitution(value: &str, has_lines: bool) -> bool {
    let tokens = tokens(value, has_lines);
    tokens.iter().filter(|it| it.kind == Kind::Function).any(|it| {
        let name = &value[it.range.clone()];
        name.eq_ignore_ascii_case("var") || name.eq_ignore_ascii_case("env")
    })
}
