//! Kinds of signatures.

/// Kinds of signatures, each of which lies in a file of its own beside the signed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureKind {
    Minisign,
    Bundle,
}

impl SignatureKind {
    /// Extensions that are added to the signed file's name. The first that is there counts.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Minisign => &[".minisig"],
            Self::Bundle => &[".sigstore.json", ".sigstore"],
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
