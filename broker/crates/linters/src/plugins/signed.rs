//! Signatures of plugins: whether a plugin is signed by a signer that `signed-by` in `broker.toml` names, when it is fetched and
//! each time that it is loaded. `broker.lock` keeps the signature, so that the latter needs nothing but the plugin's bytes.

use config::{SetupFailure, Source};
use signatures::{Refusal, Signed, Signer, Signers};

use super::fetch::FoundSignature;
use crate::lock::{LOCK_FILE, Locked};

/// The first signature that is by one of the signers; refuses a plugin that none of them signed, with every reason: first
/// those of signatures, then those of files that are none.
pub fn expect_signed(
    source: &Source,
    bytes: &[u8],
    signatures: &[FoundSignature],
    signers: &Signers,
) -> Result<Signed, SetupFailure> {
    let (mut refusals, mut unusable) = (Vec::new(), Vec::new());
    for signature in signatures {
        match signature.as_ref().map(|it| it.by_one_of(signers, bytes)) {
            Ok(Ok(signed)) => return Ok(signed),
            Ok(Err(found)) => refusals.extend(found),
            Err(reason) => unusable.push(reason.clone()),
        }
    }
    refusals.append(&mut unusable);
    let (found, remedy) = if refusals.is_empty() { unsigned(signers) } else { refused(&refusals, signers) };
    Err(SetupFailure::new(format!("the plugin from {source} {found}")).hint(remedy))
}

/// Error of a plugin none of whose signatures counts, and its remedies, each once.
fn refused(refusals: &[Refusal], signers: &Signers) -> (String, String) {
    let (mut reasons, mut remedies) = (Vec::new(), Vec::new());
    for refusal in refusals {
        match refusal {
            Refusal::Invalid { found, remedy } => {
                reasons.push(found.as_str());
                remedies.push(*remedy);
            }
            Refusal::OtherSigner(found) => reasons.push(found),
        }
    }
    let is_foreign = refusals.iter().any(|it| matches!(it, Refusal::OtherSigner(_)));
    if remedies.is_empty() {
        remedies.push("if you trust that signer, name it in `signed-by`");
    }
    reasons.dedup();
    remedies.dedup();
    let and = if reasons.len() == 1 { ", and" } else { "; it" };
    let wanted = if is_foreign { format!("{and} must be signed by {signers}") } else { String::new() };
    (format!("{}{wanted}", reasons.join("; it ")), remedies.join("; "))
}

/// Error of a plugin beside which no signature lies, and its remedy.
fn unsigned(signers: &Signers) -> (String, String) {
    let kinds = signers.kinds();
    let list = |words: Vec<&str>| words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" or ");
    let extensions = list(kinds.iter().flat_map(|it| it.extensions().iter().copied()).collect());
    let commands = list(kinds.iter().map(|it| it.command()).collect());
    (
        format!("is not signed, and must be signed by {signers}: no {extensions} lies beside it"),
        format!("have it signed with {commands}, or leave `signed-by` out"),
    )
}

/// Fails if the plugin must be signed and the lock file has no signature by one of the signers. Does not verify the signature.
pub fn expect_signer(locked: &Locked, signers: Option<&Signers>) -> Result<(), String> {
    let Some(signers) = signers else { return Ok(()) };
    let (wanted, found) = match &locked.signature {
        Some(it) if signers.iter().any(|signer| signer == it.signer()) => return Ok(()),
        Some(it) => told_apart(signers, it.signer()),
        None => (signers.to_string(), None),
    };
    let found = found.map_or_else(|| "no signature".to_owned(), |it| format!("a signature by {it}"));
    let Locked { name, source, .. } = locked;
    Err(format!(
        "plugin `{name}` from {source} must be signed by {wanted}, and {LOCK_FILE} has {found}; \
         `broker plugin update {name}` fetches its signature"
    ))
}

/// The signers and another one, in full if the short form of one of them is that of the other.
fn told_apart(signers: &Signers, other: &Signer) -> (String, Option<String>) {
    let is_alike = signers.iter().any(|it| it.to_string() == other.to_string());
    if !is_alike {
        return (signers.to_string(), Some(other.to_string()));
    }
    let all: Vec<_> = signers.iter().map(Signer::in_full).collect();
    (all.join(" or "), Some(other.in_full()))
}

/// Fails if the lock file has a signature that does not verify these bytes.
pub fn expect_signature(locked: &Locked, bytes: &[u8]) -> Result<(), String> {
    let Locked { name, source, signature, .. } = locked;
    match signature {
        Some(it) if it.verify(bytes).is_err() => Err(format!(
            "plugin `{name}` from {source} is not used: its signature in {LOCK_FILE} does not verify with {}; \
             `broker plugin update {name}` fetches it again",
            it.signer()
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use config::Digest;
    use overlay::Memory;
    use serde_json::json;
    use signatures::{Signature, SignatureKind};

    use super::*;
    use crate::{
        lock::Lock,
        plugins::{PluginContext, Plugins},
    };

    /// A key, and its signature of `plugin`.
    const KEY: &str = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH";
    const SIGNATURE: &str = "untrusted comment: signature from rsign secret key
RUQROtlOCq/RRMHzAS60xNZkxsc0lFN1VvrGeIoby79OhS0znFBW6MRRhm4vfGSMsHm4B67lOnFx8CPAaP2XlvIiZgkrVML7PwQ=
trusted comment: no-todo.wasm 1.0.0
zr8ho7kbP7ra5iOjiHw0oH980yO/732NXwtloIrGj80Q4SJ87kNlATptK7CqBtOI/0xZTY/pevX90+ykVgxDBg==
";
    /// Another key, and its signature of `plugin`.
    const OTHER_KEY: &str = "RWR4ldWMq9ywhe5/uGmYUGoP599GIo2Z06960m2CItZaMjN2qM29y5ag";
    const OTHER_SIGNATURE: &str = "untrusted comment: signature from rsign secret key
RUR4ldWMq9ywhYWUs3eWaw8ShUEO/DeMyhVOnPro9j2ARq1tJvJ1uQjsv6bEoNXIYz3MWwB9SUd7vvlNbSVTpTr1jMXYoLgk+gI=
trusted comment: no-todo.wasm 1.0.0
hLef8NdyKyK5o028ffI2ra4fhgenCp5srSMEyA/jY352a8leukho6q0/CJiqU16SdZhJ1Rr5X9CR3/WydlZQAw==
";

    fn signers(keys: &[&str]) -> Signers {
        Signers::try_from(keys.iter().map(|it| it.parse().unwrap()).collect::<Vec<_>>()).unwrap()
    }

    /// Signature in a lock file, right or not.
    fn signed(key: &str, signature: &str) -> Signed {
        serde_json::from_value(json!({ "key": key, "minisign": signature })).unwrap()
    }

    fn minisign(text: &str) -> Signature {
        Signature::parse(SignatureKind::Minisign, text.as_bytes()).unwrap()
    }

    /// Result of a fetch: the signer, or the error with its hint.
    fn fetched(bytes: &[u8], signature: Option<&str>, keys: &[&str]) -> String {
        let source = "https://example.org/no-todo.wasm".parse().unwrap();
        let signatures: Vec<_> = signature.map(|it| Ok(minisign(it))).into_iter().collect();
        match expect_signed(&source, bytes, &signatures, &signers(keys)) {
            Ok(signed) => signed.signer().to_string(),
            Err(error) => format!("{error} ({})", error.hint.as_ref().unwrap()),
        }
    }

    #[test]
    fn what_is_fetched_must_be_signed_by_one_of_the_keys() {
        assert_eq!(fetched(b"plugin", Some(SIGNATURE), &[KEY]), "key 44D1AF0A4ED93A11");
        assert_eq!(fetched(b"plugin", Some(SIGNATURE), &[OTHER_KEY, KEY]), "key 44D1AF0A4ED93A11");
        insta::assert_snapshot!(fetched(b"plugin", Some(OTHER_SIGNATURE), &[KEY]), @"the plugin from https://example.org/no-todo.wasm has a signature that names key 85B0DCAB8CD59578, and must be signed by key 44D1AF0A4ED93A11 (if you trust that signer, name it in `signed-by`)");
        insta::assert_snapshot!(fetched(b"tampered", Some(SIGNATURE), &[OTHER_KEY, KEY]), @"the plugin from https://example.org/no-todo.wasm is not what key 44D1AF0A4ED93A11 signed: its bytes or its signature were changed (do not use it; ask its author which bytes are right)");
        insta::assert_snapshot!(fetched(b"plugin", None, &[KEY, OTHER_KEY]), @"the plugin from https://example.org/no-todo.wasm is not signed, and must be signed by key 44D1AF0A4ED93A11 or key 85B0DCAB8CD59578: no `.minisig` lies beside it (have it signed with `minisign -S`, or leave `signed-by` out)");
    }

    #[test]
    fn every_reason_is_given() {
        let source = "a.wasm".parse().unwrap();
        let unusable =
            || Err(Refusal::Invalid { found: "has a file that is none".to_owned(), remedy: "look at it" });
        let result = |bytes: &[u8], signatures: &[FoundSignature]| {
            let signed = expect_signed(&source, bytes, signatures, &signers(&[KEY]));
            signed.map_err(|error| format!("{error} ({})", error.hint.as_ref().unwrap()))
        };
        assert!(result(b"plugin", &[unusable(), Ok(minisign(SIGNATURE))]).is_ok(), "one is enough");
        let refused =
            result(b"tampered", &[unusable(), Ok(minisign(SIGNATURE)), Ok(minisign(OTHER_SIGNATURE))]);
        insta::assert_snapshot!(refused.unwrap_err(), @"the plugin from a.wasm is not what key 44D1AF0A4ED93A11 signed: its bytes or its signature were changed; it has a signature that names key 85B0DCAB8CD59578; it has a file that is none; it must be signed by key 44D1AF0A4ED93A11 (do not use it; ask its author which bytes are right; look at it)");
    }

    #[test]
    fn keys_with_the_same_number_are_told_apart() {
        // The number ends within these characters.
        let forged = format!("{}{}", &KEY[..16], &OTHER_KEY[16..]);
        let refused = checked(&format!("signed-by = ['{forged}']\n"), Some(signed(KEY, SIGNATURE)));
        let wanted = format!("must be signed by key {forged}, and broker.lock has a signature by key {KEY};");
        assert!(refused.contains(&wanted), "{refused}");
    }

    /// Why a check does not use `tools/no-todo.wasm`, which holds `plugin` and so is no component either.
    fn checked(signed_by: &str, signature: Option<Signed>) -> String {
        let (name, version, bytes) = ("no-todo".to_owned(), "1.0.0".to_owned(), "plugin");
        let (source, digest) = ("tools/no-todo.wasm".parse().unwrap(), Digest::of(bytes.as_bytes()));
        let mut lock = Lock::default();
        lock.put(Locked { name, version, source, digest, manifest: None, signature });
        let settings = format!("[plugins.no-todo]\nsource = 'tools/no-todo.wasm'\n{signed_by}");
        let files = [
            ("broker.toml", settings.as_str()),
            ("broker.lock", &lock.to_text()),
            ("tools/no-todo.wasm", bytes),
        ];
        let view = Memory::from_files(files).unwrap();
        let plugins = Plugins::none().unwrap();
        let plugins = plugins.in_workspace(&PluginContext::on_disk(&view, Path::new("/none"))).unwrap();
        plugins.broken[0].reason.clone()
    }

    #[test]
    fn a_check_looks_at_the_signature_again() {
        let right = || Some(signed(KEY, SIGNATURE));
        let by = |key: &str| format!("signed-by = ['{key}']\n");
        let no_component = checked("", None);
        assert!(no_component.contains("tools/no-todo.wasm"), "{no_component}");
        assert_eq!(checked(&by(KEY), right()), no_component, "the signature is right");
        assert_eq!(checked("", right()), no_component);
        insta::assert_snapshot!(checked(&by(KEY), None), @"plugin `no-todo` from tools/no-todo.wasm must be signed by key 44D1AF0A4ED93A11, and broker.lock has no signature; `broker plugin update no-todo` fetches its signature");
        insta::assert_snapshot!(checked(&by(OTHER_KEY), right()), @"plugin `no-todo` from tools/no-todo.wasm must be signed by key 85B0DCAB8CD59578, and broker.lock has a signature by key 44D1AF0A4ED93A11; `broker plugin update no-todo` fetches its signature");
        insta::assert_snapshot!(checked(&by(KEY), Some(signed(KEY, OTHER_SIGNATURE))), @"plugin `no-todo` from tools/no-todo.wasm is not used: its signature in broker.lock does not verify with key 44D1AF0A4ED93A11; `broker plugin update no-todo` fetches it again");
        assert_eq!(
            checked("", Some(signed(KEY, OTHER_SIGNATURE))),
            checked(&by(KEY), Some(signed(KEY, OTHER_SIGNATURE)))
        );
    }
}
