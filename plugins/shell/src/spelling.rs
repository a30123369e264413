//! Names of variables that are almost the same.

use std::collections::BTreeSet;

use crate::false_positives::words;

/// Names that a script assigns, as far as its text shows.
pub(crate) fn assigned(text: &str) -> BTreeSet<&str> {
    let is_assigned = |at: usize, word: &str| {
        let after = &text[at + word.len()..];
        after.starts_with('=') || after.starts_with("+=") || text[..at].ends_with("for ")
    };
    words(text).filter(|(at, word)| is_assigned(*at, word)).map(|it| it.1).collect()
}

/// Whether a letter is missing, there twice, another, or two have changed places. Numbers are no letters: `file1`, `file2`.
pub(crate) fn is_like(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let is_letter = |it: &u8| it.is_ascii_lowercase();
    match (a, b) {
        ([one], []) | ([], [one]) => is_letter(one),
        ([one], [other]) => is_letter(one) && is_letter(other),
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_almost_the_same() {
        for (a, b) in [("names", "nmaes"), ("name", "names"), ("color", "colour"), ("target", "tarket")] {
            assert!(is_like(a, b) && is_like(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("names", "names"),
            ("file1", "file2"),
            ("file", "file1"),
            ("source", "target"),
            ("abcd", "badc"),
        ] {
            assert!(!is_like(a, b), "{a} {b}");
        }
    }
}
