//! Bundles of sigstore: a signature with all that it takes to verify it, which is a certificate of the signer or the name of a
//! key, and the proof of the transparency log that the signature was there while the certificate held.
//!
//! `sigstore-verify` takes each step of the specification, none is left out: time of signing by a timestamp authority or the
//! log's promise, certificate chain and its transparency (SCT), identity and issuer, inclusion proof and signed checkpoint,
//! signature over the file or over a statement with its digest, and that the log's entry is of this signature. The keys
//! of the public instance are those that `sigstore-trust-root` carries: they are not fetched, so that those of a newer log need
//! a newer Broker.

use std::{str::FromStr, sync::LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sigstore_verify::{
    Error, Policy, PublicKeyVerificationPolicy, VerificationPolicy, Verifier,
    crypto::{self, CertificateInfo},
    trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot},
    types,
};

use crate::{Identity, ManagedKey, Refusal, SignatureKind, ring_provider};

/// The JSON of a bundle, on one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bundle(String);

/// Verifier with the keys of the public instance.
static VERIFIER: LazyLock<Result<Verifier, Error>> = LazyLock::new(|| {
    ring_provider::install();
    Verifier::new(&TrustedRoot::from_json(SIGSTORE_PRODUCTION_TRUSTED_ROOT)?)
});

impl Bundle {
    /// Verifies that one with this identity signed the file.
    pub(crate) fn verify_identity(&self, file: &[u8], signer: &Identity) -> Result<(), Refusal> {
        let policy = VerificationPolicy::new(signer.identity.as_str(), signer.issuer.as_str());
        self.verify(file, &policy, &signer.to_string()).map_err(|refusal| match refusal {
            Refusal::OtherSigner(_) => self.other_identity(file),
            invalid @ Refusal::Invalid { .. } => invalid,
        })
    }

    /// Verifies that this key signed the file. The transparency log must have the signature, as for any other.
    pub(crate) fn verify_key(&self, file: &[u8], signer: &ManagedKey) -> Result<(), Refusal> {
        let policy = PublicKeyVerificationPolicy::new(signer.der());
        self.verify(file, &policy, &format!("key {signer}"))
    }

    /// Refusal of a bundle in which there is none of the expected identities. It says who signed only of a signature that is right.
    pub(crate) fn other_identity(&self, file: &[u8]) -> Refusal {
        let claimed = self.claimed();
        match self.verify(file, &VerificationPolicy::any_identity(), &claimed) {
            Ok(()) => Refusal::OtherSigner(format!("is signed by {claimed}")),
            Err(refusal) => refusal,
        }
    }

    fn verify(&self, file: &[u8], policy: &impl Policy, signer: &str) -> Result<(), Refusal> {
        let refusal = |error: &Error| Refusal::of(error, signer);
        let verifier = VERIFIER.as_ref().map_err(refusal)?;
        let bundle = types::Bundle::from_json(&self.0).map_err(|error| refusal(&error.into()))?;
        match ring_provider::with_file(file, || verifier.verify(file, &bundle, policy)) {
            Ok(_) => Ok(()),
            Err(Error::IdentityMismatch { .. } | Error::IssuerMismatch { .. }) => {
                Err(Refusal::OtherSigner(format!("has a sigstore bundle that names {}", self.claimed())))
            }
            Err(error @ Error::Certificate(_)) => Err(outdated(&bundle).unwrap_or_else(|| refusal(&error))),
            Err(error) => Err(refusal(&error)),
        }
    }

    /// Whether a certificate is in it, and not the name of a key.
    pub(crate) fn has_certificate(&self) -> bool {
        types::Bundle::from_json(&self.0).is_ok_and(|it| it.signing_certificate().is_some())
    }

    /// Identity in the certificate.
    fn claimed(&self) -> String {
        let bundle = types::Bundle::from_json(&self.0).ok();
        let Some(certificate) = bundle.as_ref().and_then(certificate) else {
            return "a certificate that cannot be read".to_owned();
        };
        let identity = certificate.identity.map(|it| it.to_string());
        Identity {
            identity: identity.unwrap_or_else(|| "a certificate without identity".to_owned()),
            issuer: certificate.issuer.unwrap_or_else(|| "unknown".to_owned()),
        }
        .to_string()
    }
}

/// Refusal of a signature that the log has from a time when its certificate was not valid.
fn outdated(bundle: &types::Bundle) -> Option<Refusal> {
    let CertificateInfo { not_before, not_after, .. } = certificate(bundle)?;
    let entries = &bundle.verification_material.tlog_entries;
    let mut times = entries.iter().filter_map(|it| it.integrated_time);
    let time = times.find(|it| *it < not_before || *it > not_after)?;
    Some(Refusal::outdated(format!(
        "was signed at {time}, and the certificate in its sigstore bundle was valid from {not_before} to {not_after}"
    )))
}

fn certificate(bundle: &types::Bundle) -> Option<CertificateInfo> {
    crypto::parse_certificate_info(bundle.signing_certificate()?).ok()
}

impl FromStr for Bundle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() as u64 > SignatureKind::Bundle.max_bytes() {
            return Err(format!("it has {} bytes, and a sigstore bundle is short", text.len()));
        }
        let none = |error: &dyn std::error::Error| format!("it is no sigstore bundle: {error}");
        let value: Value = serde_json::from_str(text).map_err(|error| none(&error))?;
        if value.get("base64Signature").is_some() {
            return Err("it is of cosign's old format: sign it again with `--new-bundle-format`".to_owned());
        }
        let text = value.to_string();
        types::Bundle::from_json(&text).map_err(|error| none(&error))?;
        Ok(Self(text))
    }
}

impl TryFrom<String> for Bundle {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Bundle> for String {
    fn from(it: Bundle) -> Self {
        it.0
    }
}

#[cfg(test)]
mod tests;
