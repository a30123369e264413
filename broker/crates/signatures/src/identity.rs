//! Identities of signers without a key of their own: a workflow or a person, as an issuer of OpenID Connect knows them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identity in a certificate of sigstore, which must be equal to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The workflow's URL with its reference, or an address of mail:
    /// `https://github.com/ORG/REPO/.github/workflows/release.yml@refs/tags/v1`.
    #[serde(deserialize_with = "not_empty")]
    #[schemars(length(min = 1))]
    pub identity: String,
    /// URL of what vouches for the identity: `https://token.actions.githubusercontent.com` for workflows of GitHub.
    #[serde(deserialize_with = "not_empty")]
    #[schemars(length(min = 1))]
    pub issuer: String,
}

fn not_empty<'de, D: serde::Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    let text = String::deserialize(text)?;
    if text.is_empty() {
        Err(serde::de::Error::custom("`identity` and `issuer` must not be empty"))
    } else {
        Ok(text)
    }
}

/// In a sentence.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (issuer {})", self.identity, self.issuer)
    }
}
