//! A signature that was verified, and the signer that it is by.

use serde::{Deserialize, Serialize};

use crate::{
    Bundle, Identity, ManagedKey, MinisignKey, MinisignSignature, Refusal, SignatureKind, Signer, Signers,
};

/// A signature of a file, which need not be right.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Signature {
    Minisign(MinisignSignature),
    Bundle(Bundle),
}

/// A signature that was verified, and its signer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "Entry", into = "Entry")]
pub struct Signed {
    signer: Signer,
    signature: Signature,
}

/// Layout of a verified signature in a file.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minisign: Option<MinisignSignature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<Bundle>,
}

impl Signature {
    /// Reads a signature from its file, which must be UTF-8: a lock file has no other text.
    pub fn parse(kind: SignatureKind, bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| "it is not UTF-8: sign it again, with comments in UTF-8".to_owned())?;
        match kind {
            SignatureKind::Minisign => text.parse().map(Self::Minisign),
            SignatureKind::Bundle => text.parse().map(Self::Bundle),
        }
    }

    /// The signature as that of one of the signers, if it is by one of them. Otherwise the reasons against it, each once: those by
    /// which it is wrong, or who else signed.
    pub fn by_one_of(&self, signers: &Signers, file: &[u8]) -> Result<Signed, Vec<Refusal>> {
        let mut refusals = Vec::new();
        for signer in signers.iter() {
            match self.verify(signer, file) {
                Ok(()) => return Ok(Signed { signer: signer.clone(), signature: self.clone() }),
                Err(refusal) if refusals.contains(&refusal) => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        let is_invalid = |it: &Refusal| matches!(it, Refusal::Invalid { .. });
        if refusals.iter().any(is_invalid) {
            refusals.retain(is_invalid);
        }
        Err(refusals)
    }

    fn verify(&self, signer: &Signer, file: &[u8]) -> Result<(), Refusal> {
        match (signer, self) {
            (Signer::Minisign(key), Self::Minisign(it)) => it.verify(key, file),
            (Signer::Key(key), Self::Bundle(it)) if !it.has_certificate() => it.verify_key(file, key),
            (Signer::Keyless(identity), Self::Bundle(it)) if it.has_certificate() => {
                it.verify_identity(file, identity)
            }
            (Signer::Minisign(_) | Signer::Key(_), Self::Bundle(it)) if it.has_certificate() => {
                Err(it.other_identity(file))
            }
            (_, Self::Bundle(_)) => {
                Err(Refusal::OtherSigner("has a sigstore bundle that names another key".to_owned()))
            }
            (_, Self::Minisign(it)) => Err(it.other_key()),
        }
    }
}

impl Signed {
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Verifies the signature again.
    pub fn verify(&self, file: &[u8]) -> Result<(), Refusal> {
        self.signature.verify(&self.signer, file)
    }
}

impl TryFrom<Entry> for Signed {
    type Error = String;

    fn try_from(entry: Entry) -> Result<Self, String> {
        let Entry { key, identity, issuer, minisign, bundle } = entry;
        let signature = match (minisign, bundle) {
            (Some(it), None) => Signature::Minisign(it),
            (None, Some(it)) => Signature::Bundle(it),
            _ => return Err("a signature is either `minisign` or `bundle`".to_owned()),
        };
        let signer = match (key, identity, issuer) {
            (Some(key), None, None) => Signer::with_key(&key)?,
            (None, Some(identity), Some(issuer)) => Signer::Keyless(Identity { identity, issuer }),
            _ => return Err("a signer is either `key`, or `identity` and `issuer`".to_owned()),
        };
        Ok(Self { signer, signature })
    }
}

impl From<Signed> for Entry {
    fn from(it: Signed) -> Self {
        let entry = match it.signature {
            Signature::Minisign(it) => Self { minisign: Some(it), ..Self::default() },
            Signature::Bundle(it) => Self { bundle: Some(it), ..Self::default() },
        };
        match it.signer {
            Signer::Minisign(key) => Self { key: Some(MinisignKey::into(key)), ..entry },
            Signer::Key(key) => Self { key: Some(ManagedKey::into(key)), ..entry },
            Signer::Keyless(Identity { identity, issuer }) => {
                Self { identity: Some(identity), issuer: Some(issuer), ..entry }
            }
        }
    }
}
