//! The shape of a token behind its prefix: parts of a fixed text or of an alphabet.

use std::ops::Range;

use super::kinds::Kind;

/// The characters that a part is drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Alphabet {
    Digits,
    /// Hexadecimal digits.
    Hex,
    Letters,
    /// Lower case and digits.
    Lower,
    /// Upper case and digits.
    Upper,
    Alphanumeric,
    /// Base64 in its variant for URLs.
    Url,
    Base64,
}

/// A part of a token.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Text(&'static str),
    /// An exact number of characters.
    Exactly(Alphabet, usize),
    /// As many characters as there are, at least and at most so many.
    Between(Alphabet, usize, usize),
}

impl Alphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Digits => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Letters => byte.is_ascii_alphabetic(),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
        }
    }

    /// How many different characters there are in it.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Digits => 10,
            Self::Hex => 16,
            Self::Letters => 52,
            Self::Lower | Self::Upper => 36,
            Self::Alphanumeric => 62,
            Self::Url | Self::Base64 => 64,
        }
    }
}

/// A text that has a token's shape.
pub(super) struct Match {
    /// The length of the whole token, prefix included.
    pub(super) length: usize,
    /// Where its longest part is, which is the secret one.
    pub(super) secret: Range<usize>,
    /// The alphabet of that part.
    pub(super) alphabet: Alphabet,
}

/// The token of a kind that a text begins with.
pub(super) fn find(kind: &Kind, text: &[u8]) -> Option<Match> {
    let start = kind.prefix.len();
    let mut found = Match { length: start, secret: start..start, alphabet: Alphabet::Url };
    for part in kind.parts {
        let length = part_length(*part, &text[found.length..])?;
        if let Part::Exactly(alphabet, _) | Part::Between(alphabet, ..) = *part
            && length > found.secret.len()
        {
            found.secret = found.length..found.length + length;
            found.alphabet = alphabet;
        }
        found.length += length;
    }
    Some(found)
}

fn part_length(part: Part, text: &[u8]) -> Option<usize> {
    let (alphabet, least, most) = match part {
        Part::Text(expected) => return text.starts_with(expected.as_bytes()).then_some(expected.len()),
        Part::Exactly(alphabet, count) => (alphabet, count, count),
        Part::Between(alphabet, least, most) => (alphabet, least, most),
    };
    let count = text.iter().take(most).take_while(|it| alphabet.contains(**it)).count();
    (count >= least).then_some(count)
}
