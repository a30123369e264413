//! Texts beside their trees: ends of lines, what stands between nodes, and words.

use std::{borrow::Cow, collections::HashMap};

use super::choose;

/// The way in which a text is written down. Texts of different ones are not merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    has_byte_order_mark: bool,
    has_carriage_returns: bool,
}

const MARK: char = '\u{feff}';

impl Format {
    /// Returns the format that all texts have; `None` if they have several.
    pub(super) fn common(texts: [&str; 3]) -> Option<Self> {
        let [base, ours, theirs] = texts.map(Self::of);
        base.filter(|_| base == ours && base == theirs)
    }

    fn of(text: &str) -> Option<Self> {
        let (returns, ends) = (text.matches('\r').count(), text.matches("\r\n").count());
        let has_carriage_returns = returns > 0;
        let is_one = returns == ends && (ends == 0 || ends == text.matches('\n').count());
        is_one.then(|| Self { has_byte_order_mark: text.starts_with(MARK), has_carriage_returns })
    }

    /// A text with bare ends of lines.
    pub(super) fn bare(self, text: &str) -> Cow<'_, str> {
        let text = text.strip_prefix(MARK).unwrap_or(text);
        if self.has_carriage_returns { text.replace('\r', "").into() } else { text.into() }
    }

    pub(super) fn written(self, text: String) -> String {
        let text = if self.has_carriage_returns { text.replace('\n', "\r\n") } else { text };
        if self.has_byte_order_mark { format!("{MARK}{text}") } else { text }
    }
}

/// The text between two nodes. Where both sides changed only blanks, the branch's are taken, unless they indent what follows in
/// another way.
pub(super) fn choose_gap(gaps: [&str; 3]) -> Option<&str> {
    let bare = |it: &str| it.chars().filter(|it| !it.is_whitespace()).collect::<String>();
    let indents = gaps.map(|it| it.rsplit_once('\n').map(|it| it.1));
    let first = indents.iter().flatten().next();
    if indents.iter().flatten().any(|it| Some(it) != first) {
        return choose(gaps).filter(|_| gaps[1] == gaps[2]);
    }
    choose(gaps).or_else(|| (bare(gaps[1]) == bare(gaps[2])).then_some(gaps[1]))
}

/// Whether each word is in the result as often as both changes, or one of two equal ones, make it.
pub(super) fn is_explained(texts: [&str; 3], merged: &str) -> bool {
    let [base, ours, theirs] = texts.map(words);
    let result = words(merged);
    let count = |counts: &HashMap<&str, i64>, word| counts.get(word).copied().unwrap_or(0);
    let all = base.keys().chain(ours.keys()).chain(theirs.keys()).chain(result.keys());
    all.into_iter().all(|word| {
        let (base, ours, theirs) = (count(&base, word), count(&ours, word), count(&theirs, word));
        let both = ours + theirs - base;
        (ours.min(theirs).min(both)..=ours.max(theirs).max(both)).contains(&count(&result, word))
    })
}

/// Number of occurrences of each word of a text. What separates entries is left out.
fn words(text: &str) -> HashMap<&str, i64> {
    let mut counts = HashMap::new();
    for word in text.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}
