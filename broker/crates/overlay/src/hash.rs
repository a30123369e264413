//! Hashes of contents.

use std::{fmt, io};

/// The BLAKE3 hash of some bytes: equal hashes stand for equal contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The hash of all that is read, of which little is in memory at one time.
    pub fn of_reader(reader: impl io::Read) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reader)?;
        Ok(Self(*hasher.finalize().as_bytes()))
    }

    /// A hash that was computed before, here or elsewhere.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 64 hexadecimal digits that [`Display`](fmt::Display) writes.
    pub fn from_hex(text: &str) -> Option<Self> {
        Some(Self(*blake3::Hash::from_hex(text).ok()?.as_bytes()))
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

/// The first eight bytes: enough to tell hashes apart in a log.
impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_blake3_in_hex() {
        let empty = ContentHash::of(b"");
        assert_eq!(empty.to_string(), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
        assert_eq!(format!("{empty:?}"), "af1349b9f5f9a1a6");
        assert_eq!(ContentHash::from_bytes(*empty.as_bytes()), empty);
        assert_ne!(ContentHash::of(b"a"), empty);
        assert_eq!(ContentHash::from_hex(&empty.to_string()), Some(empty));
        assert_eq!(ContentHash::from_hex("af13"), None);
    }
}
