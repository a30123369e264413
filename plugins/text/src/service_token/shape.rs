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
    /// Either variant of base64, where it encodes text: some of its characters are frequent then.
    Encoded,
}

/// A part of a token.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Text(&'static str),
    /// An exact number of characters.
    Exactly(Alphabet, usize),
    /// A minimum and a maximum number of characters, of which as many as possible are taken.
    Between(Alphabet, usize, usize),
    /// Like `Between`, for data that begin alike in every token and may repeat themselves: JSON, lists of permissions, numbers.
    Payload(Alphabet, usize, usize),
    /// Padding of base64, if any.
    Padding,
}

/// Number of characters at the end of a payload that are random, or nearly so.
const RANDOM_TAIL: usize = 40;

/// Minimum number of random characters for a part to be the secret rather than a payload.
const BESIDE_PAYLOAD: usize = 20;

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
            Self::Encoded => Self::Url.contains(byte) || Self::Base64.contains(byte),
        }
    }

    /// Returns the number of different characters in the alphabet, or of as many as would be as random.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Digits => 10,
            Self::Hex => 16,
            Self::Letters => 52,
            Self::Encoded => 20,
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
    /// Range of the longest random part.
    pub(super) secret: Range<usize>,
    /// The alphabet of that part.
    pub(super) alphabet: Alphabet,
}

/// The token of a kind that a text begins with.
pub(super) fn find(kind: &Kind, text: &[u8]) -> Option<Match> {
    let start = kind.prefix.len();
    let mut found = Match { length: start, secret: start..start, alphabet: Alphabet::Url };
    let mut longest = 0;
    for part in kind.parts {
        let length = part_length(*part, &text[found.length..])?;
        found.length += length;
        let (alphabet, random, weight) = match *part {
            Part::Text(_) | Part::Padding => continue,
            Part::Exactly(alphabet, _) | Part::Between(alphabet, ..) => (alphabet, length, length),
            Part::Payload(..) => (Alphabet::Encoded, length.min(RANDOM_TAIL), BESIDE_PAYLOAD),
        };
        if weight > longest {
            longest = weight;
            found.secret = found.length - random..found.length;
            found.alphabet = alphabet;
        }
    }
    Some(found)
}

fn part_length(part: Part, text: &[u8]) -> Option<usize> {
    let (alphabet, least, most) = match part {
        Part::Padding => return Some(text.iter().take(2).take_while(|it| **it == b'=').count()),
        Part::Text(expected) => return text.starts_with(expected.as_bytes()).then_some(expected.len()),
        Part::Exactly(alphabet, count) => (alphabet, count, count),
        Part::Between(alphabet, least, most) | Part::Payload(alphabet, least, most) => {
            (alphabet, least, most)
        }
    };
    let count = text.iter().take(most).take_while(|it| alphabet.contains(**it)).count();
    (count >= least).then_some(count)
}
