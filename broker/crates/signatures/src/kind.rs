//! Kinds of signatures.

/// Kinds of signatures, each of which lies in a file of its own beside the signed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureKind {
    Minisign,
    Bundle,
}

impl SignatureKind {
    /// Extensions that are added to the signed file's name.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Minisign => &[".minisig"],
            Self::Bundle => &[".sigstore.json", ".sigstore"],
        }
    }

    /// Bytes of the longest text. minisign's has four lines, and a bundle with a statement about a build some ten thousand bytes.
    pub fn max_bytes(self) -> u64 {
        match self {
            Self::Minisign => 16 << 10,
            Self::Bundle => 256 << 10,
        }
    }

    /// Remedy for a file that has the extension and is no signature of this kind.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Minisign => "ask its author to put there what `minisign -S` writes",
            Self::Bundle => "ask its author to put there what `cosign sign-blob --bundle` writes",
        }
    }

    /// The command with which an author signs.
    pub fn command(self) -> &'static str {
        match self {
            Self::Minisign => "minisign -S",
            Self::Bundle => "cosign sign-blob --bundle",
        }
    }
}
