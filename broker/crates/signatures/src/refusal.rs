//! Reasons for which a signature does not count, in words that follow the file's name.

use sigstore_verify::{Error, TransparencyLogError, bundle};

/// Reason for which a signature of a file does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not by the signer: who signed, or whom it names if it cannot be verified.
    OtherSigner(String),
    /// It is wrong, or says too little to be believed.
    Invalid { found: String, remedy: &'static str },
}

const CHANGED: &str = "do not use it; ask its author which bytes are right";
const AGAIN: &str = "have it signed again with `cosign sign-blob --bundle`";
const OTHER_INSTANCE: &str =
    "have it signed again with the public instance of Sigstore; a newer Broker knows its newer keys";
const WITHOUT_LOG: &str = "have it signed again without `--tlog-upload=false`";

impl Refusal {
    pub(crate) fn changed(found: String) -> Self {
        Self::Invalid { found, remedy: CHANGED }
    }

    pub(crate) fn outdated(found: String) -> Self {
        Self::Invalid { found, remedy: AGAIN }
    }

    /// Reason of an error of a bundle that `signer` should have made.
    pub(crate) fn of(error: &Error, signer: &str) -> Self {
        let has = |what: &str| format!("has a sigstore bundle {what}: {}", lower_case(error));
        let (found, remedy) = match error {
            Error::ArtifactMismatch(_) => (
                "is not what its sigstore bundle signs: it was changed, or the bundle is of another file"
                    .to_owned(),
                CHANGED,
            ),
            Error::SignatureInvalid(_) => {
                (format!("has a sigstore bundle whose signature is not by {signer}, or was changed"), CHANGED)
            }
            Error::Certificate(_) => (has("whose certificate does not hold"), OTHER_INSTANCE),
            Error::TransparencyLog(TransparencyLogError::UnknownLog { .. }) => {
                (has("that is in a log which Broker does not know"), OTHER_INSTANCE)
            }
            Error::Timestamp(_) => (has("without a time of signing that can be trusted"), OTHER_INSTANCE),
            Error::Bundle(error) if lacks_log(error) => (
                "has a sigstore bundle without a proof that the transparency log has the signature"
                    .to_owned(),
                WITHOUT_LOG,
            ),
            Error::TransparencyLog(_) | Error::Bundle(bundle::Error::CheckpointRootMismatch) => {
                (has("whose proof of the transparency log is wrong"), CHANGED)
            }
            _ => (has("that cannot be verified"), AGAIN),
        };
        Self::Invalid { found, remedy }
    }
}

fn lacks_log(error: &bundle::Error) -> bool {
    use bundle::Error as It;
    matches!(
        error,
        It::MissingInclusionPromise(_) | It::MissingInclusionProof(_) | It::MissingSigningTimeEvidence
    )
}

/// Text of an error as part of a sentence.
fn lower_case(error: &Error) -> String {
    let text = error.to_string();
    match text.chars().next() {
        Some(first) => first.to_lowercase().chain(text.chars().skip(1)).collect(),
        None => text,
    }
}
