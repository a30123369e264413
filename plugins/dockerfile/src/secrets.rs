//! Names of what should be kept secret, in `ARG` and `ENV`.
//!
//! BuildKit's list of words, without names that only speak of a secret, ids of public keys, switches, paths, and values that are
//! empty or other variables' alone. `ARG name` without a value is reported: it is there to be given one. Left out: other values.

use broker_plugin_sdk::Diagnostic;

use crate::buildkit::names;
use crate::parse::Instruction;
use crate::words::{Variable, variables};

/// Reports each name of a secret.
pub(crate) fn check(it: &Instruction, escape: char, found: &mut Vec<Diagnostic>) {
    for (name, range) in names(it, escape) {
        let rest = &it.line.text[range.end..];
        let rest = if it.is("ARG") && !rest.starts_with('=') { "" } else { rest };
        let value = value_of(rest);
        let is_given = !rest.is_empty() && is_without_text(value, escape);
        let is_harmless = is_given || is_public_key(&name, value) || is_switch(value) || is_path(value);
        if is_secret(&name) && !is_harmless {
            let message =
                format!("`{name}` looks like a secret: {} puts it into the image for all to see", it.kind);
            found.push(Diagnostic::new("SecretsUsedInArgOrEnv", message, it.line.place(range)));
        }
    }
}

/// Last words of names whose value is about a secret, but is none: `POSTGRES_HOST_AUTH_METHOD`, `TOKEN_URL`.
const ABOUT: &str = "
    age alg algo algorithm attempts audience backend bits class count days dir directory disabled
    domain driver enabled endpoint engine expiration expires expiry file flow format host hours
    issuer length lifetime method methods minutes mode module name path plugin policy port prefix
    provider realm required scheme scope seconds server size source strategy timeout ttl type uri
    url user username version
";

fn is_secret(name: &str) -> bool {
    const SECRET: [&str; 10] = [
        "apikey",
        "auth",
        "credential",
        "credentials",
        "key",
        "password",
        "pword",
        "passwd",
        "secret",
        "token",
    ];
    let words: Vec<String> = name.split('_').map(str::to_ascii_lowercase).collect();
    let has = |it: &&str| words.iter().any(|word| word == it);
    let is_about = words.last().is_some_and(|it| ABOUT.split_whitespace().any(|about| about == it));
    SECRET.iter().any(&has) && !is_about && !["public", "file", "version"].iter().any(has)
}

/// Whether a name is that of an OpenPGP key to check signatures with, as official images have it: `GPG_KEY=` with
/// fingerprints or key ids, or with a value that may be one.
fn is_public_key(name: &str, value: &str) -> bool {
    let is_openpgp =
        name.split('_').any(|it| it.eq_ignore_ascii_case("gpg") || it.eq_ignore_ascii_case("pgp"));
    let others = ["password", "passwd", "secret", "token", "private", "credential", "credentials"];
    let is_other = name.split('_').any(|it| others.iter().any(|other| it.eq_ignore_ascii_case(other)));
    let is_id = |it: &str| {
        let digits = it.strip_prefix("0x").unwrap_or(it);
        (8..=64).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_hexdigit())
    };
    is_openpgp && !is_other && (value.starts_with('$') || value.split_whitespace().all(is_id))
}

/// The value that follows a name, without its quotes.
fn value_of(rest: &str) -> &str {
    let value = rest.strip_prefix('=').unwrap_or_else(|| rest.trim_start());
    match value.chars().next().filter(|it| matches!(it, '"' | '\'')) {
        Some(quote) => value[1..].split(quote).next().unwrap_or_default(),
        None => value.split(char::is_whitespace).next().unwrap_or_default(),
    }
}

/// Whether a value is empty, or consists of variables that have no default.
fn is_without_text(value: &str, escape: char) -> bool {
    let variables = variables(value, escape);
    let is_plain = |it: &Variable| matches!(&*it.modifier, "" | "-" | ":-");
    let length: usize = variables.iter().map(|it| it.range.len()).sum();
    length == value.len() && variables.iter().all(is_plain)
}

/// Whether a value turns something on or off.
fn is_switch(value: &str) -> bool {
    ["true", "false", "yes", "no", "on", "off"].iter().any(|it| value.eq_ignore_ascii_case(it))
}

/// Whether a value is the path of a secret: an absolute path of more than one part, as base64 rarely looks.
fn is_path(value: &str) -> bool {
    let is_name =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || "._-${}".contains(it));
    value
        .strip_prefix('/')
        .is_some_and(|it| it.contains('/') && it.trim_end_matches('/').split('/').all(is_name))
}
