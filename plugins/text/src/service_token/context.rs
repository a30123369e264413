//! What the file around a token says of it.

use memchr::{memchr, memmem, memrchr};

/// Comments by which other tools that look for secrets accept what is on their line.
const ACCEPTED: [&[u8]; 4] =
    [b"gitleaks:allow", b"pragma: allowlist secret", b"trufflehog:ignore", b"secretlint-disable-line"];

/// Words for what is no secret, in lower case.
const EXAMPLES: [&[u8]; 6] = [b"example", b"placeholder", b"sample", b"dummy", b"fake", b"e.g."];

/// How far from the token both are looked for.
const REACH: usize = 1000;

/// The length of a class of characters in a regular expression that only tokens and the like have.
const LONG: usize = 16;

/// Whether another tool is asked to accept the token at `start`.
pub(super) fn is_accepted(content: &[u8], start: usize) -> bool {
    let line = line(content, start);
    ACCEPTED.iter().any(|it| memmem::find(line, it).is_some())
}

/// Whether the line calls the token at `start` an example.
pub(super) fn is_called_example(content: &[u8], start: usize) -> bool {
    let line = line(content, start).to_ascii_lowercase();
    EXAMPLES.iter().any(|it| memmem::find(&line, it).is_some())
}

/// The line around a position, as far as it is near.
fn line(content: &[u8], at: usize) -> &[u8] {
    let before = &content[at.saturating_sub(REACH)..at];
    let start = at - before.len() + memrchr(b'\n', before).map_or(0, |it| it + 1);
    let after = &content[at..content.len().min(at + REACH)];
    &content[start..at + memchr(b'\n', after).unwrap_or(after.len())]
}

/// Whether a text has a regular expression of tokens: one that begins with a prefix, or `[A-Z0-9]{32}`. A token beside it is
/// an example.
pub(super) fn has_pattern(content: &[u8], prefix: &str) -> bool {
    let ends = memmem::find_iter(content, prefix.as_bytes()).map(|it| it + prefix.len());
    let begins = |end| matches!(content.get(end), Some(b'[' | b'(' | b'\\'));
    ends.into_iter().any(begins) || memmem::find_iter(content, b"]{").any(|it| is_long(&content[it + 2..]))
}

/// Whether a text begins with a large number.
fn is_long(text: &[u8]) -> bool {
    let digits = text.iter().take(3).take_while(|it| it.is_ascii_digit());
    digits.fold(0, |number, it| number * 10 + usize::from(it - b'0')) >= LONG
}
