//! Public keys of signers that keep a key themselves, as `cosign generate-key-pair` makes them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sigstore_verify::{
    crypto::{self, KeyAlgorithm},
    types::DerPublicKey,
};

/// A public key in PEM: ECDSA with P-256 or P-384, Ed25519, or RSA.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ManagedKey {
    /// `SubjectPublicKeyInfo`
    der: Vec<u8>,
}

/// First line of any text in PEM.
pub(crate) const PEM: &str = "-----BEGIN";

impl ManagedKey {
    pub(crate) fn der(&self) -> DerPublicKey {
        DerPublicKey::new(self.der.clone())
    }

    fn pem(&self) -> String {
        self.der().to_pem().replace("\r\n", "\n")
    }
}

impl FromStr for ManagedKey {
    type Err = String;

    /// The text is not repeated in the error: it may be a secret key.
    fn from_str(text: &str) -> Result<Self, String> {
        let key = DerPublicKey::from_pem(text)
            .map_err(|_| "no public key in PEM: write all of `cosign.pub`".to_owned())?;
        match KeyAlgorithm::from_spki(&key) {
            Ok(
                KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::Ed25519 | KeyAlgorithm::Rsa,
            ) => Ok(Self { der: key.as_bytes().to_vec() }),
            _ => Err(
                "the public key's algorithm is not supported: use ECDSA with P-256 or P-384, Ed25519, or RSA"
                    .to_owned(),
            ),
        }
    }
}

impl TryFrom<String> for ManagedKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ManagedKey> for String {
    fn from(it: ManagedKey) -> Self {
        it.pem()
    }
}

/// The beginning of its hash, which identifies nothing.
impl fmt::Display for ManagedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::ring_provider::install();
        write!(f, "sha256:{}", &crypto::sha256(&self.der).to_hex()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = include_str!("../testdata/managed-key.pub");

    #[test]
    fn a_key_is_the_same_however_it_is_wrapped() {
        let key: ManagedKey = KEY.parse().unwrap();
        assert_eq!(KEY.replace('\n', "\r\n").parse(), Ok(key.clone()));
        assert_eq!(String::from(key.clone()).parse(), Ok(key.clone()));
        insta::assert_snapshot!(key, @"sha256:4cb32c4837c6dda8");
    }

    #[test]
    fn what_is_none_says_so() {
        let error = |text: &str| text.parse::<ManagedKey>().unwrap_err();
        insta::assert_snapshot!(error("-----BEGIN"), @"no public key in PEM: write all of `cosign.pub`");
        assert_eq!(error(&KEY.replace("PUBLIC", "PRIVATE")), error(""));
        insta::assert_snapshot!(error(&KEY.replace("MFkw", "MFkx")), @"the public key's algorithm is not supported: use ECDSA with P-256 or P-384, Ed25519, or RSA");
    }
}
