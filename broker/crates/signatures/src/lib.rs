//! Signatures of files, and the signers that a file must be signed by: keys of minisign, and identities and keys whose signatures
//! are bundles of sigstore. Verifies without the network. Knows neither plugins nor where a signature is found.

mod bundle;
mod identity;
mod kind;
mod managed_key;
mod minisign;
mod refusal;
mod ring_provider;
mod signed;
mod signer;

pub use bundle::Bundle;
pub use identity::Identity;
pub use kind::SignatureKind;
pub use managed_key::ManagedKey;
pub use minisign::{MinisignKey, MinisignSignature};
pub use refusal::Refusal;
pub use signed::{Signature, Signed};
pub use signer::{Signer, Signers};
