//! Public keys of signers that keep a key themselves, as `cosign generate-key-pair` makes them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sigstore_verify::{
    crypto::{self, KeyAlgorithm, VerificationKey, validate_raw_public_key},
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

/// Last line of a public key in PEM.
const END: &str = "-----END PUBLIC KEY-----";

impl ManagedKey {
    pub(crate) fn der(&self) -> DerPublicKey {
        DerPublicKey::new(self.der.clone())
    }

    /// All of its hash, which the form in a sentence has the beginning of.
    pub(crate) fn fingerprint(&self) -> String {
        crate::ring_provider::install();
        format!("sha256:{}", crypto::sha256(&self.der).to_hex())
    }

    fn pem(&self) -> String {
        self.der().to_pem().replace("\r\n", "\n")
    }
}

impl FromStr for ManagedKey {
    type Err = String;

    /// Comments before the key are allowed, as RFC 7468 has them. The text is not repeated in the error: it may be a secret key.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains("PRIVATE KEY-----") {
            return Err("it is a secret key: write the public one, all of `cosign.pub`".to_owned());
        }
        let key = DerPublicKey::from_pem(text)
            .map_err(|_| "no public key in PEM: write all of `cosign.pub`".to_owned())?;
        if text.trim_end().find(END).is_none_or(|it| it + END.len() != text.trim_end().len()) {
            return Err(
                "there is more after the public key in PEM: write each key as a signer of its own".to_owned()
            );
        }
        expect_supported(&key)?;
        Ok(Self { der: key.as_bytes().to_vec() })
    }
}

/// Refuses a key with which no signature can be verified.
fn expect_supported(key: &DerPublicKey) -> Result<(), String> {
    let raw = VerificationKey::from_spki(key);
    let verifies = raw.is_ok_and(|it| validate_raw_public_key(it.scheme(), it.as_bytes()).is_ok());
    let wrong = match KeyAlgorithm::from_spki(key) {
        Ok(KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::Ed25519 | KeyAlgorithm::Rsa)
            if verifies =>
        {
            return Ok(());
        }
        Ok(KeyAlgorithm::Rsa) => "the public key's size is not supported: use RSA with 2048 to 8192 bits",
        Ok(KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384) => {
            "the public key is a compressed point, which is not supported: write it uncompressed"
        }
        _ => "the public key's algorithm is not supported: use ECDSA with P-256 or P-384, Ed25519, or RSA",
    };
    Err(wrong.to_owned())
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
        f.write_str(&self.fingerprint()[.."sha256:".len() + 16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = include_str!("../testdata/managed-key.pub");

    const RSA_1024: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC+fCzF7pbBOCVS8PaiOqCmoDod
m+ODCUQcrq33AkITdTN1jV7Vl4QR2DyDyTEWGZbEjBxIhZkdt1/EFi8OdkRY/AZj
5ZZGCyvOb0LaOkcJCFfIZUbjAB9OJuKJzjU0Hw+AZikzxERpLEG05Zqk3sNgl1By
E4jXi3fXujxU7ZVaDwIDAQAB
-----END PUBLIC KEY-----
";

    const COMPRESSED: &str = "-----BEGIN PUBLIC KEY-----
MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADgOicw12c54QDdPDxhKF9IdIawFhP
O6hcpsTmIgDtPxk=
-----END PUBLIC KEY-----
";

    #[test]
    fn a_key_is_the_same_however_it_is_wrapped() {
        let key: ManagedKey = KEY.parse().unwrap();
        assert_eq!(format!("# cosign.pub of the team\n{KEY} \n").parse(), Ok(key.clone()));
        assert_eq!(KEY.replace('\n', "\r\n").parse(), Ok(key.clone()));
        assert_eq!(String::from(key.clone()).parse(), Ok(key.clone()));
        insta::assert_snapshot!(key, @"sha256:4cb32c4837c6dda8");
    }

    #[test]
    fn what_is_none_says_so() {
        let error = |text: &str| text.parse::<ManagedKey>().unwrap_err();
        insta::assert_snapshot!(error("-----BEGIN"), @"no public key in PEM: write all of `cosign.pub`");
        assert_eq!(error("").as_str(), error("-----BEGIN"));
        insta::assert_snapshot!(error(&KEY.replace("PUBLIC", "EC PRIVATE")), @"it is a secret key: write the public one, all of `cosign.pub`");
        insta::assert_snapshot!(error(&KEY.repeat(2)), @"there is more after the public key in PEM: write each key as a signer of its own");
        assert_eq!(error(&format!("{KEY}junk")), error(&KEY.repeat(2)));
        insta::assert_snapshot!(error(COMPRESSED), @"the public key is a compressed point, which is not supported: write it uncompressed");
        insta::assert_snapshot!(error(RSA_1024), @"the public key's size is not supported: use RSA with 2048 to 8192 bits");
        insta::assert_snapshot!(error(&KEY.replace("MFkw", "MFkx")), @"the public key's algorithm is not supported: use ECDSA with P-256 or P-384, Ed25519, or RSA");
    }
}
