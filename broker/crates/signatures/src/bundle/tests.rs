//! Real bundles, whole and with each part changed.

use serde_json::json;

use super::*;
use crate::{Signature, Signer, Signers};

/// A file, its bundle, and its signer.
type Case = (&'static [u8], &'static str, Signer);

/// A person's, over the file, with a timestamp and the log's promise.
fn keyless() -> Case {
    let signer = identity("w.vollprecht@gmail.com", "https://github.com/login/oauth");
    (
        include_bytes!("../../testdata/keyless.txt"),
        include_str!("../../testdata/keyless.txt.sigstore.json"),
        signer,
    )
}

/// A workflow's, over a statement with the digest of the file.
fn attested() -> Case {
    let workflow =
        "https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main";
    let signer = identity(workflow, "https://token.actions.githubusercontent.com");
    (
        include_bytes!("../../testdata/attested.conda"),
        include_str!("../../testdata/attested.conda.sigstore.json"),
        signer,
    )
}

fn with_key() -> Case {
    let signer = include_str!("../../testdata/managed-key.pub").parse().unwrap();
    (
        include_bytes!("../../testdata/managed-key.txt"),
        include_str!("../../testdata/managed-key.txt.sigstore.json"),
        signer,
    )
}

fn identity(identity: &str, issuer: &str) -> Signer {
    format!("identity={identity},issuer={issuer}").parse().unwrap()
}

/// Reason and remedy of a refusal; `None` if the file is signed by the signer.
fn refused(file: &[u8], bundle: &str, signer: Signer) -> Option<String> {
    let signers = Signers::try_from(vec![signer]).unwrap();
    match Signature::Bundle(bundle.parse().unwrap()).by_one_of(&signers, file) {
        Ok(signed) => {
            assert_eq!(signed.verify(file), Ok(()));
            None
        }
        Err(refusals) => Some(refusals.into_iter().map(shown).collect::<Vec<_>>().join("; ")),
    }
}

fn shown(refusal: Refusal) -> String {
    match refusal {
        Refusal::OtherSigner(found) => found,
        Refusal::Invalid { found, remedy } => format!("{found} ({remedy})"),
    }
}

fn edited(bundle: &str, edit: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::from_str(bundle).unwrap();
    edit(&mut value);
    value.to_string()
}

/// The same base64 with another first character.
fn flipped(value: &mut Value) {
    let text = value.as_str().unwrap();
    let first = if text.starts_with('A') { "B" } else { "A" };
    *value = json!(format!("{first}{}", &text[1..]));
}

#[test]
fn what_was_signed_verifies() {
    for (file, bundle, signer) in [keyless(), attested(), with_key()] {
        assert_eq!(refused(file, bundle, signer), None);
    }
}

#[test]
fn one_bit_of_the_file_counts() {
    for (file, bundle, signer) in [keyless(), attested(), with_key()] {
        for at in [0, file.len() / 2, file.len() - 1] {
            let mut file = file.to_vec();
            file[at] ^= 1;
            let refusal = refused(&file, bundle, signer.clone()).unwrap();
            assert_eq!(
                refusal,
                "is not what its sigstore bundle signs: it was changed, or the bundle is of another file (do not use it; ask its author which bytes are right)"
            );
        }
    }
}

#[test]
fn the_bundle_of_another_file_is_refused() {
    let ((file, ..), (other, ..)) = (keyless(), attested());
    let refusals = [(other, keyless()), (file, attested()), (other, with_key())]
        .map(|(file, (_, bundle, signer))| refused(file, bundle, signer).unwrap());
    insta::assert_snapshot!(refusals.join("\n"), @"
is not what its sigstore bundle signs: it was changed, or the bundle is of another file (do not use it; ask its author which bytes are right)
is not what its sigstore bundle signs: it was changed, or the bundle is of another file (do not use it; ask its author which bytes are right)
is not what its sigstore bundle signs: it was changed, or the bundle is of another file (do not use it; ask its author which bytes are right)
");
}

#[test]
fn the_identity_and_its_issuer_are_compared() {
    let (file, bundle, Signer::Keyless(right)) = attested() else { panic!() };
    let other = |name: &str, issuer: &str| refused(file, bundle, identity(name, issuer)).unwrap();
    let by_another = other(&right.identity.replace("main", "fork"), &right.issuer);
    insta::assert_snapshot!(by_another, @"is signed by https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main (issuer https://token.actions.githubusercontent.com)");
    assert_eq!(other(&right.identity[..right.identity.len() - 1], &right.issuer), by_another);
    assert_eq!(other(&right.identity, "https://accounts.google.com"), by_another);
}

#[test]
fn a_key_is_no_identity() {
    let ((file, with_certificate, person), (signed, of_key, key)) = (keyless(), with_key());
    insta::assert_snapshot!(refused(file, with_certificate, key).unwrap(), @"is signed by w.vollprecht@gmail.com (issuer https://github.com/login/oauth)");
    insta::assert_snapshot!(refused(signed, of_key, person).unwrap(), @"has a sigstore bundle that names another key");
}

#[test]
fn who_signed_is_said_of_a_signature_that_is_right() {
    let (_, bundle, _) = keyless();
    let (_, _, key) = with_key();
    for other in [identity("a@example.org", "https://b.example"), key] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused(b"another file", bundle, other.clone()).unwrap(), @"is not what its sigstore bundle signs: it was changed, or the bundle is of another file (do not use it; ask its author which bytes are right)");
        }
    }
}

#[test]
fn each_reason_is_given_once() {
    let (_, bundle, signer) = keyless();
    let signers = [signer, identity("a@example.org", "https://b.example")];
    let signers = Signers::try_from(signers.to_vec()).unwrap();
    let signature = Signature::Bundle(bundle.parse().unwrap());
    assert_eq!(signature.by_one_of(&signers, b"another file").unwrap_err().len(), 1);
}

#[test]
fn what_is_not_utf_8_says_so() {
    let error = Signature::parse(crate::SignatureKind::Minisign, b"trusted comment: caf\xe9").unwrap_err();
    insta::assert_snapshot!(error, @"it is not UTF-8: sign it again, with comments in UTF-8");
}

#[test]
fn another_key_is_refused() {
    let (file, bundle, _) = with_key();
    let keys = include_str!("../../testdata/other-keys.pem");
    for key in keys.split_inclusive("-----END PUBLIC KEY-----\n") {
        insta::allow_duplicates! {
            let shown = refused(file, bundle, key.parse().unwrap()).unwrap();
            let (before, after) = shown.split_once("key sha256:").unwrap();
            insta::assert_snapshot!(format!("{before}KEY{}", &after[16..]), @"has a sigstore bundle whose signature is not by KEY, or was changed (do not use it; ask its author which bytes are right)");
        }
    }
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let (file, bundle, signer) = keyless();
    let forged = edited(bundle, |it| {
        it["verificationMaterial"]["certificate"]["rawBytes"] =
            json!(include_str!("../../testdata/forged-certificate.b64"));
    });
    insta::assert_snapshot!(refused(file, &forged, signer).unwrap(), @"has a sigstore bundle whose certificate does not hold: certificate chain is invalid: certificate chain validation failed: UnknownIssuer (have it signed again with the public instance of Sigstore; a newer Broker knows its newer keys)");
    let (file, ..) = attested();
    let staging = include_str!("../../testdata/attested.staging.sigstore.json");
    let signer = identity("jku@goto.fi", "https://github.com/login/oauth");
    insta::assert_snapshot!(refused(file, staging, signer).unwrap(), @"has a sigstore bundle without a time of signing that can be trusted: invalid RFC 3161 timestamp: TSA timestamp verification failed: Failed to verify timestamp signature: CMS signer does not match any trusted TSA certificate (have it signed again with the public instance of Sigstore; a newer Broker knows its newer keys)");
}

#[test]
fn each_part_of_the_proof_counts() {
    let (file, bundle, signer) = attested();
    let without = |edit: fn(&mut Value)| {
        refused(
            file,
            &edited(bundle, |it| edit(&mut it["verificationMaterial"]["tlogEntries"][0])),
            signer.clone(),
        )
        .unwrap()
    };
    insta::assert_snapshot!(without(|it| flipped(&mut it["inclusionProof"]["hashes"][0])), @"has a sigstore bundle whose proof of the transparency log is wrong: invalid inclusion proof: inclusion proof verification failed: root hash mismatch: expected 7618e44c8818a7392ffbbeb2fc7392d11c3ddd9d0d3a93192fea179b66edce24, computed 2a7f79328c239655a5eea81ccfd966374149386d83e48487deb4fc84fb896889 (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| _ = it["inclusionProof"]["hashes"].as_array_mut().unwrap().pop()), @"has a sigstore bundle whose proof of the transparency log is wrong: invalid inclusion proof: inclusion proof verification failed: expected 20 proof hashes, got 19 (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| flipped(&mut it["inclusionProof"]["rootHash"])), @"has a sigstore bundle whose proof of the transparency log is wrong: bundle error: inclusion proof root hash does not match checkpoint root hash (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| {
        let envelope = &mut it["inclusionProof"]["checkpoint"]["envelope"];
        *envelope = json!(envelope.as_str().unwrap().trim_end().to_owned() + "AAAA\n");
    }), @"has a sigstore bundle whose proof of the transparency log is wrong: invalid checkpoint: No valid Rekor signature found on checkpoint (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| flipped(&mut it["canonicalizedBody"])), @"has a sigstore bundle whose proof of the transparency log is wrong: invalid inclusion promise: SET verification failed: Verification error: the signature does not match (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| flipped(&mut it["inclusionPromise"]["signedEntryTimestamp"])), @"has a sigstore bundle whose proof of the transparency log is wrong: invalid inclusion promise: SET verification failed: Verification error: the signature does not match (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| it["integratedTime"] = json!("1700000000")), @"has a sigstore bundle whose proof of the transparency log is wrong: invalid inclusion promise: SET verification failed: Verification error: the signature does not match (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| flipped(&mut it["logId"]["keyId"])), @"has a sigstore bundle whose proof of the transparency log is wrong: invalid inclusion promise: No log key valid at integrated time 2025-09-01T12:13:59Z for log ID ANI9atQGlz+VWfO6LRygH4QUfY/8W4RFwiT5i5WRgB0= (do not use it; ask its author which bytes are right)");
    insta::assert_snapshot!(without(|it| _ = it.as_object_mut().unwrap().remove("inclusionProof")), @"has a sigstore bundle without a proof that the transparency log has the signature (have it signed again without `--tlog-upload=false`)");
}

#[test]
fn a_signature_that_no_log_has_is_refused() {
    let mut shown = Vec::new();
    for (file, bundle, signer) in [keyless(), attested(), with_key()] {
        let unlogged = edited(bundle, |it| it["verificationMaterial"]["tlogEntries"] = json!([]));
        shown.push(refused(file, &unlogged, signer).unwrap());
    }
    insta::assert_snapshot!(shown.join("\n"), @"
has a sigstore bundle without a proof that the transparency log has the signature (have it signed again without `--tlog-upload=false`)
has a sigstore bundle without a proof that the transparency log has the signature (have it signed again without `--tlog-upload=false`)
has a sigstore bundle without a proof that the transparency log has the signature (have it signed again without `--tlog-upload=false`)
");
}

#[test]
fn the_log_entry_of_another_signature_is_refused() {
    let ((file, bundle, signer), (_, other, _)) = (keyless(), with_key());
    let other: Value = serde_json::from_str(other).unwrap();
    let mixed = edited(bundle, |it| {
        it["verificationMaterial"]["tlogEntries"] = other["verificationMaterial"]["tlogEntries"].clone();
    });
    insta::assert_snapshot!(refused(file, &mixed, signer).unwrap(), @"was signed at 2025-12-18T17:04:39Z, and the certificate in its sigstore bundle was valid from 2025-12-03T18:36:42Z to 2025-12-03T18:46:42Z (have it signed again with `cosign sign-blob --bundle`)");
}

#[test]
fn the_signature_and_the_timestamp_count() {
    let (file, bundle, signer) = keyless();
    let other = edited(bundle, |it| flipped_at(&mut it["messageSignature"]["signature"], 40));
    insta::assert_snapshot!(refused(file, &other, signer.clone()).unwrap(), @"has a sigstore bundle without a time of signing that can be trusted: invalid RFC 3161 timestamp: TSA timestamp verification failed: Timestamp message hash mismatch: expected baa85fece9ebe7eaeb84f81048043633df3044de12ba7025b770d17ce75e7a6e, got fbed97f5ef04ce3caf6be3d3ee67124f80c880c44e42ce329c276ac3de7963e2 (have it signed again with the public instance of Sigstore; a newer Broker knows its newer keys)");
    let other = edited(bundle, |it| {
        let stamps = &mut it["verificationMaterial"]["timestampVerificationData"]["rfc3161Timestamps"];
        flipped_at(&mut stamps[0]["signedTimestamp"], 700);
    });
    insta::assert_snapshot!(refused(file, &other, signer).unwrap(), @"has a sigstore bundle without a time of signing that can be trusted: invalid RFC 3161 timestamp: TSA timestamp verification failed: Failed to verify timestamp signature: Verification error: the signature does not match (have it signed again with the public instance of Sigstore; a newer Broker knows its newer keys)");
    let (file, bundle, signer) = attested();
    let other = edited(bundle, |it| flipped_at(&mut it["dsseEnvelope"]["signatures"][0]["sig"], 40));
    insta::assert_snapshot!(refused(file, &other, signer).unwrap(), @"has a sigstore bundle whose signature is not by https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main (issuer https://token.actions.githubusercontent.com), or was changed (do not use it; ask its author which bytes are right)");
}

fn flipped_at(value: &mut Value, at: usize) {
    let text = value.as_str().unwrap();
    let other = if &text[at..=at] == "A" { "B" } else { "A" };
    *value = json!(format!("{}{other}{}", &text[..at], &text[at + 1..]));
}

#[test]
fn what_is_none_says_so() {
    let error = |text: &str| text.parse::<Bundle>().unwrap_err();
    let (_, bundle, _) = keyless();
    for end in [0, 1, bundle.len() / 2, bundle.trim_end().len() - 1] {
        assert!(error(&bundle[..end]).starts_with("it is no sigstore bundle: EOF while parsing"));
    }
    insta::assert_snapshot!(error("<html>"), @"it is no sigstore bundle: expected value at line 1 column 1");
    insta::assert_snapshot!(error("{}"), @"it is no sigstore bundle: JSON error: missing field `verificationMaterial` at line 1 column 2");
    insta::assert_snapshot!(error(r#"{"base64Signature": "", "cert": "", "rekorBundle": {}}"#), @"it is of cosign's old format: sign it again with `--new-bundle-format`");
    insta::assert_snapshot!(error(&bundle.replace("v0.3", "v0.9")), @"it is no sigstore bundle: JSON error: Invalid media type: application/vnd.dev.sigstore.bundle.v0.9+json at line 1 column 60");
    insta::assert_snapshot!(error(&" ".repeat(300_000)), @"it has 300000 bytes, and a sigstore bundle is short");
}
