//! Keys of Amazon Web Services: an identifier, which signed requests carry openly, and a secret without a prefix. Both
//! beside each other are a leak, the identifier alone is none.

use super::dummy;
use super::shape::Alphabet;

/// Number of bytes before and after the identifier in which to look for the secret.
const REACH: usize = 200;

const SECRET_LENGTH: usize = 40;

/// Whether a secret is near the identifier at `start..end`.
pub(super) fn has_secret_beside(content: &[u8], start: usize, end: usize) -> bool {
    let before = &content[start.saturating_sub(REACH)..start];
    let after = &content[end..content.len().min(end + REACH)];
    has_secret(before) || has_secret(after)
}

fn has_secret(text: &[u8]) -> bool {
    let words = text.split(|it| !Alphabet::Base64.contains(*it) && !matches!(it, b'=' | b'_' | b'-'));
    // `NAME=secret` is one word here.
    let values = words.map(|it| it.rsplit(|it| *it == b'=').next().unwrap_or(it));
    values.into_iter().any(is_secret)
}

fn is_secret(word: &[u8]) -> bool {
    word.len() == SECRET_LENGTH
        && word.iter().all(|it| Alphabet::Base64.contains(*it))
        && !dummy::has_word(word)
        && !dummy::is_dummy(word, Alphabet::Base64)
}
