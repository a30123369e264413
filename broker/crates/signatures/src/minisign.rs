//! Public keys of minisign, and signatures that they verify.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use crate::{Refusal, SignatureKind};

/// The second line of a `minisign.pub`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct MinisignKey(String);

/// The text of a `.minisig`: a comment, the signature, a comment that is signed, and the signature of both.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct MinisignSignature(String);

/// The number by which minisign finds the key of a signature. Anyone can make a key with the same one: it identifies nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyId(u64);

/// First characters of any secret key: the names of three algorithms.
const SECRET: &str = "RWRTY0Iy";

impl MinisignKey {
    pub fn id(&self) -> KeyId {
        KeyId::of(&self.0)
    }

    /// Whether this key signed these bytes.
    fn verifies(&self, bytes: &[u8], signature: &MinisignSignature) -> bool {
        let key = minisign_verify::PublicKey::from_base64(&self.0);
        let signature = minisign_verify::Signature::decode(&signature.0);
        matches!((key, signature), (Ok(key), Ok(it)) if key.verify(bytes, &it, false).is_ok())
    }
}

impl MinisignSignature {
    /// Verifies that this key signed the file.
    pub(crate) fn verify(&self, key: &MinisignKey, file: &[u8]) -> Result<(), Refusal> {
        let id = self.key_id();
        match key.verifies(file, self) {
            true => Ok(()),
            false if key.id() == id => Err(Refusal::changed(format!(
                "is not what key {id} signed: its bytes or its signature were changed"
            ))),
            false => Err(self.other_key()),
        }
    }

    /// Refusal of a signature by a key that is not among the expected ones, so that it cannot be verified.
    pub(crate) fn other_key(&self) -> Refusal {
        Refusal::OtherSigner(format!("has a signature that names key {}", self.key_id()))
    }

    /// The key that it claims to be of.
    fn key_id(&self) -> KeyId {
        KeyId::of(self.0.lines().nth(1).unwrap_or_default())
    }
}

impl KeyId {
    /// The number in a key or a signature, both of which begin with two bytes for the algorithm and it.
    fn of(base64: &str) -> Self {
        let bytes = STANDARD.decode(base64).unwrap_or_default();
        let id = bytes.get(2..10).and_then(|it| it.try_into().ok()).unwrap_or_default();
        Self(u64::from_le_bytes(id))
    }
}

impl FromStr for MinisignKey {
    type Err = String;

    /// All of a `minisign.pub`, or its second line. The text is not repeated in the error: it may be a secret key.
    fn from_str(text: &str) -> Result<Self, String> {
        let line = match text.trim().split_once('\n') {
            Some((comment, line)) if comment.starts_with("untrusted comment:") => line.trim(),
            _ => text.trim(),
        };
        match minisign_verify::PublicKey::from_base64(line) {
            Ok(_) => Ok(Self(line.to_owned())),
            Err(_) if line.starts_with(SECRET) => {
                Err("it is a secret key of minisign: write the public one, the line of `minisign.pub` that begins with `RW`"
                    .to_owned())
            }
            Err(_) => {
                Err("no public key of minisign: write the line of `minisign.pub` that begins with `RW`"
                    .to_owned())
            }
        }
    }
}

impl FromStr for MinisignSignature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() as u64 > SignatureKind::Minisign.max_bytes() {
            return Err(format!("it has {} bytes, and a signature of minisign is short", text.len()));
        }
        minisign_verify::Signature::decode(text).map_err(|_| "it is no signature of minisign".to_owned())?;
        let lines: Vec<_> = text.lines().take(4).collect();
        // Signatures of the whole file, which minisign made before it signed the file's hash.
        if STANDARD.decode(lines[1]).is_ok_and(|it| it.starts_with(b"Ed")) {
            return Err("it is of minisign's old format: sign it again with `minisign -S -H`".to_owned());
        }
        Ok(Self(lines.join("\n") + "\n"))
    }
}

impl TryFrom<String> for MinisignKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl TryFrom<String> for MinisignSignature {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MinisignKey> for String {
    fn from(it: MinisignKey) -> Self {
        it.0
    }
}

impl From<MinisignSignature> for String {
    fn from(it: MinisignSignature) -> Self {
        it.0
    }
}

impl fmt::Display for MinisignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The form in which minisign prints it.
impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key, and its signature of `plugin`.
    const KEY: &str = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH";
    const SIGNATURE: &str = "untrusted comment: signature from rsign secret key
RUQROtlOCq/RRMHzAS60xNZkxsc0lFN1VvrGeIoby79OhS0znFBW6MRRhm4vfGSMsHm4B67lOnFx8CPAaP2XlvIiZgkrVML7PwQ=
trusted comment: no-todo.wasm 1.0.0
zr8ho7kbP7ra5iOjiHw0oH980yO/732NXwtloIrGj80Q4SJ87kNlATptK7CqBtOI/0xZTY/pevX90+ykVgxDBg==
";
    const OTHER_KEY: &str = "RWR4ldWMq9ywhe5/uGmYUGoP599GIo2Z06960m2CItZaMjN2qM29y5ag";

    #[test]
    fn a_key_verifies_what_it_signed() {
        let (key, other): (MinisignKey, MinisignKey) = (KEY.parse().unwrap(), OTHER_KEY.parse().unwrap());
        let signature: MinisignSignature = SIGNATURE.parse().unwrap();
        assert_eq!([key.id(), signature.key_id()].map(|it| it.to_string()), ["44D1AF0A4ED93A11"; 2]);
        assert_eq!(other.id().to_string(), "85B0DCAB8CD59578");
        assert!(key.verifies(b"plugin", &signature));
        assert!(!key.verifies(b"tampered", &signature));
        assert!(!other.verifies(b"plugin", &signature));
        let said_otherwise = SIGNATURE.replace("1.0.0", "2.0.0").parse().unwrap();
        assert!(!key.verifies(b"plugin", &said_otherwise), "the comment is signed as well");
    }

    #[test]
    fn a_key_is_a_line_or_its_file() {
        let key: MinisignKey = KEY.parse().unwrap();
        for text in [format!(" {KEY}\r\n"), format!("untrusted comment: minisign public key\n{KEY}\n")] {
            assert_eq!(text.parse(), Ok(key.clone()));
        }
    }

    #[test]
    fn a_key_with_the_same_number_is_another_key() {
        let with_number = |key: &str| {
            let (key, number) = (STANDARD.decode(key).unwrap(), STANDARD.decode(KEY).unwrap());
            STANDARD.encode([&number[..10], &key[10..]].concat())
        };
        let forged: MinisignKey = with_number(OTHER_KEY).parse().unwrap();
        assert_eq!(forged.id(), KEY.parse::<MinisignKey>().unwrap().id());
        assert!(!forged.verifies(b"plugin", &SIGNATURE.parse().unwrap()));
    }

    #[test]
    fn a_signature_is_four_lines() {
        let signature: MinisignSignature = SIGNATURE.parse().unwrap();
        let with_crlf = SIGNATURE.replace('\n', "\r\n") + "more";
        assert_eq!(with_crlf.parse(), Ok(signature.clone()));
        assert_eq!(String::from(signature), SIGNATURE);
    }

    #[test]
    fn what_is_none_says_so() {
        let key = |it: &str| it.parse::<MinisignKey>().unwrap_err();
        insta::assert_snapshot!(key("RWQ"), @"no public key of minisign: write the line of `minisign.pub` that begins with `RW`");
        insta::assert_snapshot!(key(&format!("{SECRET}AAAA")), @"it is a secret key of minisign: write the public one, the line of `minisign.pub` that begins with `RW`");
        assert_eq!(key(&format!("{KEY}\n{KEY}")), key(""));
        let signature = |it: &str| it.parse::<MinisignSignature>().unwrap_err();
        insta::assert_snapshot!(signature("<html>"), @"it is no signature of minisign");
        insta::assert_snapshot!(signature(&SIGNATURE.replace("RUQ", "RWQ")), @"it is of minisign's old format: sign it again with `minisign -S -H`");
        insta::assert_snapshot!(signature(&SIGNATURE.repeat(100)), @"it has 27700 bytes, and a signature of minisign is short");
    }
}
