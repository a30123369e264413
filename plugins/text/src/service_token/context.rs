//! Hints on the line around a token that it is accepted or an example.

use memchr::{memchr, memmem, memrchr};

/// Comments by which other tools that look for secrets accept what is on their line.
const ACCEPTED: [&[u8]; 4] =
    [b"gitleaks:allow", b"pragma: allowlist secret", b"trufflehog:ignore", b"secretlint-disable-line"];

/// Words for what is no secret, in lower case.
const EXAMPLES: [&[u8]; 6] = [b"example", b"placeholder", b"sample", b"dummy", b"fake", b"e.g."];

/// Number of bytes before and after the token in which to look for both.
const REACH: usize = 1000;

/// Whether a comment asks another tool to accept the token at `start`.
pub(super) fn is_accepted(content: &[u8], start: usize) -> bool {
    let line = line(content, start);
    ACCEPTED.iter().any(|it| memmem::find(line, it).is_some())
}

/// Whether the line calls the token at `start` an example.
pub(super) fn is_called_example(content: &[u8], start: usize) -> bool {
    let line = line(content, start);
    let lower = line.to_ascii_lowercase();
    EXAMPLES
        .iter()
        .any(|word| memmem::find_iter(&lower, word).any(|at| is_whole_word(line, at, at + word.len())))
}

/// Whether `start..end` is a whole word, singular or plural, alone or in a name in camel case, and not part of a longer word.
fn is_whole_word(line: &[u8], start: usize, end: usize) -> bool {
    let (before, word, after) = (&line[..start], &line[start..end], &line[end..]);
    let is_start = before.last().is_none_or(|it| !is_joined(*it, word[0]));
    let last = word[word.len() - 1];
    let ends_before = |last: u8, rest: &[u8]| rest.first().is_none_or(|it| !is_joined(last, *it));
    let is_plural = || matches!(after, [s @ (b's' | b'S'), rest @ ..] if ends_before(*s, rest));
    is_start && (ends_before(last, after) || is_plural())
}

/// Whether two adjacent characters belong to one word.
fn is_joined(one: u8, other: u8) -> bool {
    let is_letter = |it: u8| it.is_ascii_alphabetic() || !it.is_ascii();
    is_letter(one) && is_letter(other) && !(one.is_ascii_lowercase() && other.is_ascii_uppercase())
}

/// The line around a position, as far as it is near.
fn line(content: &[u8], at: usize) -> &[u8] {
    let before = &content[at.saturating_sub(REACH)..at];
    let start = at - before.len() + memrchr(b'\n', before).map_or(0, |it| it + 1);
    let after = &content[at..content.len().min(at + REACH)];
    &content[start..at + memchr(b'\n', after).unwrap_or(after.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words() {
        for line in [
            "# Example:",
            "fakeKey",
            "myFakeKey",
            "SAMPLE_KEY",
            "examples/",
            "dummy2",
            "(e.g. this)",
            "KeySamples",
        ] {
            assert!(is_called_example(line.as_bytes(), 0), "{line}");
        }
        for line in [
            "downsample(a)",
            "sampler",
            "Exemplary",
            "counterexample",
            "fakery",
            "UPSAMPLE",
            "dummyś",
            "free.g.",
        ] {
            assert!(!is_called_example(line.as_bytes(), 0), "{line}");
        }
    }
}
