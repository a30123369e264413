//! Tokens of services, told by the prefix and the shape that their vendor gives them. Needs the whole shape, a checksum
//! that fits where the vendor has one, and characters that look drawn at random: examples are no finding.
//!
//! Left out are kinds that are public by design (keys for browsers and apps, identifiers), keys of test modes, what
//! expires within hours, and shapes that only a word beside them tells from any other text.

mod aws;
mod checksum;
mod context;
mod dummy;
mod kinds;
mod pattern;
mod shape;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use broker_plugin_sdk::{Diagnostic, Severity};
use memchr::memmem;

use crate::rules::SERVICE_TOKEN;
use broker_plugin_sdk::samples;
use kinds::{Check, KINDS, Kind};
use shape::Match;

/// The fewest characters in a row that can hold a token.
const SHORTEST: usize = 20;

/// Reports each token at its prefix, which is no secret, or at the number that is in place of one.
pub(crate) fn check(path: &Path, content: &[u8], found: &mut Vec<Diagnostic>) {
    let is_of_tests = samples::is_of_tests(path);
    let mut patterns = BTreeMap::new();
    for (kind, start) in tokens(content) {
        let mut is_made_up = || {
            is_of_tests
                || context::is_called_example(content, start)
                // Once per prefix, since it reads the whole text.
                || *patterns.entry(kind.prefix).or_insert_with(|| pattern::has_pattern(content, kind.prefix))
        };
        if (kind.check.is_checksum() || !is_made_up()) && !context::is_accepted(content, start) {
            let number = content[start..].iter().take_while(|it| it.is_ascii_digit()).count();
            let length = if kind.prefix.is_empty() { number } else { kind.prefix.len() };
            found.push(diagnostic(is_of_tests, kind, start..start + length));
        }
    }
}

fn diagnostic(is_of_tests: bool, kind: &Kind, range: Range<usize>) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(SERVICE_TOKEN, format!("the file holds {}", kind.name), range);
    diagnostic.severity = if is_of_tests { Severity::Warning } else { Severity::Error };
    diagnostic
}

/// Every token and where it begins, examples by what is around them included.
fn tokens(content: &[u8]) -> Vec<(&'static Kind, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(end) = next_run(content, &mut from) {
        while from < end {
            let token = is_start(content, from).then(|| token_at(content, from)).flatten();
            found.extend(token.map(|(kind, _)| (kind, from)));
            from = token.map_or(from + 1, |(_, after)| after);
        }
    }
    found
}

/// Moves `from` to the next long run of characters that tokens are made of, and returns where it ends. Looks at the last
/// character that such a run must have first, and so at few of a text with short words.
fn next_run(content: &[u8], from: &mut usize) -> Option<usize> {
    loop {
        let window = content.get(*from..*from + SHORTEST)?;
        match window.iter().rposition(|it| !is_of_token(*it)) {
            Some(gap) => *from += gap + 1,
            None => break,
        }
    }
    let rest = &content[*from..];
    Some(*from + rest.iter().position(|it| !is_of_token(*it)).unwrap_or(rest.len()))
}

/// Whether a byte may be part of a token, by its value.
const OF_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = is_of_word(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~' | b':');
        byte += 1;
    }
    table
};

fn is_of_token(byte: u8) -> bool {
    OF_TOKEN[usize::from(byte)]
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a word begins at `start`: after another sign, or after an escape such as `\n`.
fn is_start(content: &[u8], start: usize) -> bool {
    match &content[..start] {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., before] => !is_of_word(*before),
        [] => true,
    }
}

/// The token that begins at `start`, and where it ends.
fn token_at(content: &[u8], start: usize) -> Option<(&'static Kind, usize)> {
    let text = &content[start..];
    let from = KINDS.partition_point(|it| it.prefix.as_bytes().first() < text.first());
    let same = KINDS[from..].iter().take_while(|it| it.prefix.as_bytes().first() == text.first());
    let numbered = KINDS.iter().take_while(|it| it.prefix.is_empty());
    let mut fitting = same.chain(numbered).filter(|it| text.starts_with(it.prefix.as_bytes()));
    fitting.find_map(|kind| {
        let found = shape::find(kind, text)?;
        let end = start + found.length;
        (is_end(&content[end..]) && is_real(kind, &found, content, start)).then_some((kind, end))
    })
}

/// Whether the token ends here: no character follows that makes it part of a name or of a longer token.
fn is_end(after: &[u8]) -> bool {
    match after {
        [b'.', next, ..] => !is_of_word(*next),
        [next, ..] => !is_of_word(*next) && !matches!(next, b'=' | b'('),
        [] => true,
    }
}

/// Whether a match of a token's shape is a real token.
fn is_real(kind: &Kind, found: &Match, content: &[u8], start: usize) -> bool {
    let token = &content[start..start + found.length];
    let body = &token[kind.prefix.len()..];
    let is_valid = match kind.check {
        Check::Shape => true,
        Check::Contains(text) => memmem::find(body, text.as_bytes()).is_some(),
        Check::Base62 => checksum::is_base62(body),
        Check::Base36 => checksum::is_base36(token),
        Check::Hex => checksum::is_hex(token),
        Check::SecretBeside => aws::has_secret_beside(content, start, start + found.length),
    };
    is_valid && !dummy::has_word(body) && !dummy::is_dummy(&token[found.secret.clone()], found.alphabet)
}

#[cfg(test)]
mod tests;
