//! Three bytes in a row, with ASCII letters in lower case: what texts are indexed by.

mod builder;
mod query;
mod segment;

pub(crate) use builder::Builder;
pub(crate) use query::Needs;
pub(crate) use segment::{Documents, Segment};

/// Three bytes as a number below 2²⁴.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Trigram(u32);

/// Number of different trigrams.
const ALL: usize = 1 << 24;

impl Trigram {
    #[cfg(test)]
    fn to_bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

fn folded(bytes: &[u8]) -> Vec<u8> {
    bytes.to_ascii_lowercase()
}

/// The trigrams of folded bytes, but those with a line's end, since a match stays within its line.
fn trigrams_of(folded: &[u8]) -> impl Iterator<Item = Trigram> {
    let within_line = folded.windows(3).filter(|it| !it.contains(&b'\n'));
    within_line.map(|it| Trigram(u32::from_be_bytes([0, it[0], it[1], it[2]])))
}

/// The trigrams of one text after the other.
pub(crate) struct Extractor {
    /// A bit for each trigram.
    seen: Vec<u64>,
}

/// Trigrams of a text, for the index.
pub(crate) struct Extracted {
    /// Each once, in no order.
    pub(crate) trigrams: Vec<Trigram>,
    /// Whether the text is to be searched whatever its trigrams, since it is decoded before.
    pub(crate) is_encoded: bool,
}

impl Extractor {
    pub(crate) fn new() -> Self {
        Self { seen: vec![0; ALL / 64] }
    }

    /// The search ends at the first NUL, and so does the index.
    pub(crate) fn extract(&mut self, bytes: &[u8]) -> Extracted {
        if is_marked(bytes) {
            return Extracted { trigrams: Vec::new(), is_encoded: true };
        }
        let end = memchr::memchr(b'\0', bytes).unwrap_or(bytes.len());
        let mut trigrams = Vec::new();
        let (mut last, mut since_line) = (0, 0);
        for byte in &bytes[..end] {
            last = (last << 8 | u32::from(byte.to_ascii_lowercase())) & 0xff_ffff;
            since_line = if *byte == b'\n' { 0 } else { since_line + 1 };
            if since_line >= 3 {
                let (word, bit) = (&mut self.seen[last as usize / 64], 1 << (last % 64));
                if *word & bit == 0 {
                    *word |= bit;
                    trigrams.push(Trigram(last));
                }
            }
        }
        trigrams.iter().for_each(|it| self.seen[it.0 as usize / 64] = 0);
        Extracted { trigrams, is_encoded: false }
    }
}

/// Whether a text begins with a byte order mark, for which ripgrep decodes it.
pub(crate) fn is_marked(bytes: &[u8]) -> bool {
    [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"].iter().any(|it| bytes.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_trigrams_of_its_lines() {
        let mut extractor = Extractor::new();
        let mut extract = |text: &[u8]| {
            let mut found = extractor.extract(text).trigrams;
            found.sort();
            found.into_iter().map(|it| String::from_utf8(it.to_bytes().into()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(extract(b"ABCabcd\nde\nfgh\0ijk"), ["abc", "bca", "bcd", "cab", "fgh"]);
        assert_eq!(extract(b"abc"), ["abc"], "nothing is left of the text before");
        assert_eq!(extract(b"\xff\xfea\0b\0c\0"), [""; 0]);
        assert!(extractor.extract(b"\xef\xbb\xbfabc").is_encoded);
    }

    #[test]
    fn a_text_has_all_trigrams_of_its_parts() {
        let text = b"let Value = some_function(\xc3\xa9);";
        let found = Extractor::new().extract(text).trigrams;
        assert!(trigrams_of(&folded(&text[4..20])).all(|it| found.contains(&it)));
    }
}
