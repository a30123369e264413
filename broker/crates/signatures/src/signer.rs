//! Signers as `signed-by` names them. Does not say which files must be signed.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::{Identity, ManagedKey, MinisignKey, SignatureKind, managed_key::PEM};

/// A signer that may sign a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(untagged)]
pub enum Signer {
    /// A public key of minisign, the line of a `minisign.pub` that begins with `RW`.
    Minisign(#[schemars(with = "String")] MinisignKey),
    /// A public key in PEM, all of a `cosign.pub`: its signatures are bundles of sigstore.
    Key(#[schemars(with = "String")] ManagedKey),
    /// An identity without a key of its own: its signatures are bundles of sigstore.
    Keyless(Identity),
}

/// The signers any of which may sign a file; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<Signer>")]
pub struct Signers(Vec<Signer>);

impl Signer {
    fn kind(&self) -> SignatureKind {
        match self {
            Self::Minisign(_) => SignatureKind::Minisign,
            Self::Key(_) | Self::Keyless(_) => SignatureKind::Bundle,
        }
    }

    /// The signer with this public key, of minisign or in PEM.
    pub(crate) fn with_key(text: &str) -> Result<Self, String> {
        match text.trim() {
            pem if pem.contains(PEM) => pem.parse().map(Self::Key),
            path if is_path(path) => {
                Err("no public key: write the key itself, not the path or the address of its file".to_owned())
            }
            line => line.parse().map(Self::Minisign),
        }
    }

    /// All of the key, where the form in a sentence is the same for two of them.
    pub fn in_full(&self) -> String {
        match self {
            Self::Minisign(key) => format!("key {key}"),
            Self::Key(key) => format!("key {}", key.fingerprint()),
            Self::Keyless(identity) => identity.to_string(),
        }
    }
}

impl Signers {
    pub fn iter(&self) -> impl Iterator<Item = &Signer> {
        self.0.iter()
    }

    /// Kinds of their signatures, each once.
    pub fn kinds(&self) -> Vec<SignatureKind> {
        let mut kinds = Vec::new();
        for kind in self.iter().map(Signer::kind) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }
}

/// Whether it names a file and is no key: base64 has slashes, but neither dots nor colons, and a key does not begin with a slash.
fn is_path(text: &str) -> bool {
    !text.contains('\n') && (text.contains(['.', ':', '\\']) || text.starts_with(['/', '~']))
}

/// Form of an argument of a command, which has no tables.
impl FromStr for Signer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let lower_case = text.to_ascii_lowercase();
        if !["identity", "issuer"].iter().any(|it| lower_case.starts_with(it)) {
            return Self::with_key(text);
        }
        match identity_and_issuer(text) {
            Some((identity, issuer)) if !identity.is_empty() && !issuer.is_empty() => {
                Ok(Self::Keyless(Identity { identity: identity.to_owned(), issuer: issuer.to_owned() }))
            }
            _ => Err("an identity needs its issuer: write `identity=URL,issuer=URL`, both in lower case"
                .to_owned()),
        }
    }
}

/// The two parts of an identity in either order. An identity may have commas.
fn identity_and_issuer(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix("identity=") {
        return rest.rsplit_once(",issuer=");
    }
    let (issuer, identity) = text.strip_prefix("issuer=")?.split_once(",identity=")?;
    Some((identity, issuer))
}

impl<'de> Deserialize<'de> for Signer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyOrIdentity;

        impl<'de> Visitor<'de> for KeyOrIdentity {
            type Value = Signer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a public key, or a table with `identity` and `issuer`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Signer, E> {
                Signer::with_key(text).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Signer, A::Error> {
                Identity::deserialize(MapAccessDeserializer::new(map)).map(Signer::Keyless)
            }
        }

        deserializer.deserialize_any(KeyOrIdentity)
    }
}

impl TryFrom<Vec<Signer>> for Signers {
    type Error = &'static str;

    /// An empty list is a mistake: it could mean that no signature is needed, or that none is enough.
    fn try_from(signers: Vec<Signer>) -> Result<Self, Self::Error> {
        if signers.is_empty() { Err("`signed-by` names no signer") } else { Ok(Self(signers)) }
    }
}

/// In a sentence.
impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minisign(key) => write!(f, "key {}", key.id()),
            Self::Key(key) => write!(f, "key {key}"),
            Self::Keyless(identity) => identity.fmt(f),
        }
    }
}

/// In a sentence.
impl fmt::Display for Signers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signers: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&signers.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH";
    const PEM_KEY: &str = include_str!("../testdata/managed-key.pub");

    #[test]
    fn an_argument_names_any_signer() {
        let shown = |text: &str| text.parse::<Signer>().map_or_else(|error| error, |it| it.to_string());
        insta::assert_snapshot!(shown(KEY), @"key 44D1AF0A4ED93A11");
        insta::assert_snapshot!(shown(PEM_KEY), @"key sha256:4cb32c4837c6dda8");
        insta::assert_snapshot!(shown("identity=https://a.example/b,c@d,issuer=https://e.example"), @"https://a.example/b,c@d (issuer https://e.example)");
        insta::assert_snapshot!(shown("identity=a@example.org"), @"an identity needs its issuer: write `identity=URL,issuer=URL`, both in lower case");
        for wrong in
            ["identity=,issuer=b", "issuer=b,identity=", "Identity=a,issuer=b", "issuer=b", "identity: a"]
        {
            assert_eq!(shown(wrong), shown("identity=a,issuer="), "{wrong}");
        }
        assert_eq!(shown("issuer=https://e.example,identity=c,d"), "c,d (issuer https://e.example)");
        assert_eq!(shown(&format!(" {KEY}\n")), shown(KEY));
        assert_eq!(shown(&format!("# the team's\n{PEM_KEY}")), shown(PEM_KEY));
        insta::assert_snapshot!(shown("https://a.example"), @"no public key: write the key itself, not the path or the address of its file");
        for path in ["/path/a", "cosign.pub", "keys/a.pem", "~/a", "C:\\a"] {
            assert_eq!(shown(path), shown("https://a.example"), "{path}");
        }
        insta::assert_snapshot!(shown("RWQ"), @"no public key of minisign: write the line of `minisign.pub` that begins with `RW`");
    }

    #[test]
    fn the_full_form_has_all_of_a_key() {
        let full = |text: &str| text.parse::<Signer>().unwrap().in_full();
        assert_eq!(full(KEY), format!("key {KEY}"));
        assert_eq!(full(PEM_KEY).len(), "key sha256:".len() + 64);
        assert_eq!(full("identity=a,issuer=b"), "a (issuer b)");
    }

    #[test]
    fn a_table_names_an_identity() {
        let read = |json: &str| serde_json::from_str::<Signers>(json).map_err(|error| error.to_string());
        let all = format!(
            r#"["{KEY}", {}, {{"identity": "a@example.org", "issuer": "https://b.example"}}]"#,
            serde_json::to_string(PEM_KEY).unwrap()
        );
        insta::assert_snapshot!(read(&all).unwrap(), @"key 44D1AF0A4ED93A11 or key sha256:4cb32c4837c6dda8 or a@example.org (issuer https://b.example)");
        insta::assert_snapshot!(read(r#"[{"identity": "a"}]"#).unwrap_err(), @"missing field `issuer` at line 1 column 18");
        insta::assert_snapshot!(read(r#"[{"identity": "a", "issuer": ""}]"#).unwrap_err(), @"`identity` and `issuer` must not be empty at line 1 column 32");
        insta::assert_snapshot!(read("[1]").unwrap_err(), @"invalid type: integer `1`, expected a public key, or a table with `identity` and `issuer` at line 1 column 2");
        insta::assert_snapshot!(read("[]").unwrap_err(), @"`signed-by` names no signer");
    }
}
