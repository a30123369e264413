//! Where a plugin comes from, and what proves that it is the one that was meant.

use std::{fmt, str::FromStr};

use download::{Url, is_encrypted_or_near};
use oci_client::Reference;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// As it stands in `broker.toml` and `broker.lock`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Source {
    /// A file, seen from the workspace's root.
    Path(String),
    Url(String),
    /// A reference as container tools have it: `host/name:tag` or `host/name@sha256:…`.
    Oci(Reference),
}

const OCI: &str = "oci://";

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(reference) = text.strip_prefix(OCI) {
            let wrong = |error| format!("`{text}` is no reference of an OCI registry: {error}");
            return reference.parse().map(Self::Oci).map_err(wrong);
        }
        match text.split_once("://") {
            None if text.is_empty() => Err("a plugin without a source".to_owned()),
            None => Ok(Self::Path(text.to_owned())),
            Some((scheme, _)) if ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) => {
                expect_safe(text).map(|()| Self::Url(text.to_owned()))
            }
            Some((other, _)) => {
                Err(format!("`{other}://` is unknown: a plugin comes from a path, `https://` or `{OCI}`"))
            }
        }
    }
}

fn expect_safe(text: &str) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is no URL: {error}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "a URL with a name or a password in it would stand in broker.toml: leave those out".to_owned()
        );
    }
    match is_encrypted_or_near(&url) {
        true => Ok(()),
        false => Err(format!("`{text}` is not encrypted: use https")),
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(it) | Self::Url(it) => f.write_str(it),
            Self::Oci(it) => write!(f, "{OCI}{it}"),
        }
    }
}

impl TryFrom<String> for Source {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Source> for String {
    fn from(it: Source) -> Self {
        it.to_string()
    }
}

/// SHA-256 of some bytes, as registries write it: `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

const SHA256: &str = "sha256:";

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        let hex: String = Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect();
        Self(SHA256.to_owned() + &hex)
    }

    /// Without the name of the algorithm.
    pub fn hex(&self) -> &str {
        &self.0[SHA256.len()..]
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hex = text.strip_prefix(SHA256).unwrap_or_default();
        match hex.len() == 64 && hex.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')) {
            true => Ok(Self(text.to_owned())),
            false => Err(format!("`{text}` is no digest: write `{SHA256}` and 64 hexadecimal digits")),
        }
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(it: Digest) -> Self {
        it.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        let parse = |it: &str| it.parse::<Source>();
        assert_eq!(parse("tools/a.wasm"), Ok(Source::Path("tools/a.wasm".to_owned())));
        assert_eq!(
            parse("https://example.org/a.wasm"),
            Ok(Source::Url("https://example.org/a.wasm".to_owned()))
        );
        assert!(matches!(parse("http://127.0.0.1:80/a.wasm"), Ok(Source::Url(_))));
        assert!(matches!(parse("http://[::1]:80/a.wasm"), Ok(Source::Url(_))));
        assert!(matches!(parse("http://[::1]/a.wasm"), Ok(Source::Url(_))));
        let oci = parse("oci://example.org/team/no-todo:1.0.0").unwrap();
        assert_eq!(oci.to_string(), "oci://example.org/team/no-todo:1.0.0");
        assert!(matches!(parse("HTTPS://example.org/a.wasm"), Ok(Source::Url(_))));
        let error = |it: &str| parse(it).unwrap_err();
        insta::assert_snapshot!(error("http://localhost:x@example.org/a.wasm"), @"a URL with a name or a password in it would stand in broker.toml: leave those out");
        insta::assert_snapshot!(error("http://example.org/a.wasm"), @"`http://example.org/a.wasm` is not encrypted: use https");
        insta::assert_snapshot!(error("http://localhost.example.org/a.wasm"), @"`http://localhost.example.org/a.wasm` is not encrypted: use https");
        insta::assert_snapshot!(error("ftp://example.org"), @"`ftp://` is unknown: a plugin comes from a path, `https://` or `oci://`");
        assert!(parse("oci://Not A Reference").is_err() && parse("").is_err());
    }

    #[test]
    fn digests() {
        // The digest of an empty text, from FIPS 180-4's examples.
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(empty.parse(), Ok(Digest::of(b"")));
        for wrong in ["", "sha256:", "sha512:00", &empty.to_uppercase(), &empty[..70]] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }
}
