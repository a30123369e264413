//! Capabilities that a plugin may ask for beyond the files it is shown.
//!
//! A plugin gets none of it unasked, and none that was not granted. Its own manifest says what it asks for; who
//! grants it is for the host's user to decide. Whatever cannot be granted at all is not here: the network, writing,
//! other programs.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Capability that a plugin may ask for, and that may be granted: `env:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Capability {
    /// To read one variable of the environment.
    Environment(String),
}

/// Capabilities that are never granted, by the names under which a manifest may ask for them.
const NEVER: &[(&str, &str)] = &[
    ("network", "the network"),
    ("net", "the network"),
    ("http", "the network"),
    ("sockets", "the network"),
    ("write", "any file to write"),
    ("exec", "other programs"),
    ("process", "other programs"),
];

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kind = text.split_once(':').map_or(text, |(kind, _)| kind);
        if let Some((_, what)) = NEVER.iter().find(|(name, _)| *name == kind) {
            return Err(format!("`{text}` is asked for, and no plugin is granted {what}"));
        }
        match text.split_once(':') {
            Some(("env", name)) if is_variable(name) => Ok(Self::Environment(name.to_owned())),
            Some(("env", name)) => Err(format!("`{name}` is no name of a variable, in `{text}`")),
            _ => Err(format!("`{text}` is an unknown capability; there is only `env:NAME`")),
        }
    }
}

/// Whether the text is a name of a variable as in POSIX.
fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|it: char| it.is_ascii_digit())
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "env:{name}"),
        }
    }
}

impl TryFrom<String> for Capability {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Capability> for String {
    fn from(it: Capability) -> Self {
        it.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_asked_for() {
        let parse = |text: &str| text.parse::<Capability>();
        assert_eq!(parse("env:TEAM"), Ok(Capability::Environment("TEAM".to_owned())));
        assert_eq!(parse("env:TEAM").unwrap().to_string(), "env:TEAM");
        let error = |text: &str| parse(text).unwrap_err();
        insta::assert_snapshot!(error("network"), @"`network` is asked for, and no plugin is granted the network");
        insta::assert_snapshot!(error("http:example.org"), @"`http:example.org` is asked for, and no plugin is granted the network");
        insta::assert_snapshot!(error("exec:git"), @"`exec:git` is asked for, and no plugin is granted other programs");
        insta::assert_snapshot!(error("teleport"), @"`teleport` is an unknown capability; there is only `env:NAME`");
        insta::assert_snapshot!(error("env:"), @"`` is no name of a variable, in `env:`");
        insta::assert_snapshot!(error("env:A=B"), @"`A=B` is no name of a variable, in `env:A=B`");
    }
}
