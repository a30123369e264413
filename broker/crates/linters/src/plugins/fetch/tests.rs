//! Plugins and signatures that a server has, or a folder.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    collections::HashMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    thread,
};

use super::*;
use crate::{
    lock::{Lock, Locked},
    plugins::{expect_signature, expect_signed, expect_signer},
};

/// A key of minisign, and its signature of `plugin`.
const KEY: &str = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH";
const TEXT: &str = "untrusted comment: signature from rsign secret key
RUQROtlOCq/RRMHzAS60xNZkxsc0lFN1VvrGeIoby79OhS0znFBW6MRRhm4vfGSMsHm4B67lOnFx8CPAaP2XlvIiZgkrVML7PwQ=
trusted comment: no-todo.wasm 1.0.0
zr8ho7kbP7ra5iOjiHw0oH980yO/732NXwtloIrGj80Q4SJ87kNlATptK7CqBtOI/0xZTY/pevX90+ykVgxDBg==
";

/// A file that a workflow attested.
const ATTESTED: &[u8] = include_bytes!("../../../../signatures/testdata/attested.conda");
const ATTESTED_BUNDLE: &str = include_str!("../../../../signatures/testdata/attested.conda.sigstore.json");
const WORKFLOW: &str = "identity=https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main,\
                        issuer=https://token.actions.githubusercontent.com";

/// A file that a key signed, with a proof of the log.
const BY_KEY: &[u8] = include_bytes!("../../../../signatures/testdata/managed-key.txt");
const BY_KEY_BUNDLE: &str = include_str!("../../../../signatures/testdata/managed-key.txt.sigstore.json");
const PEM: &str = include_str!("../../../../signatures/testdata/managed-key.pub");

fn signers(signers: &[&str]) -> Signers {
    signers.iter().map(|it| it.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap()
}

/// Content of a file that the server does not give.
const FORBIDDEN: &[u8] = b"forbidden";

/// Serves these files as long as the test runs, and returns the URL of their folder.
fn served(files: &[(&'static str, &'static [u8])]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let files: HashMap<_, _> = files.iter().copied().collect();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let line = lines.next().unwrap_or_default();
            lines.take_while(|it| !it.is_empty()).for_each(drop);
            let path = line.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            let (status, body) = match files.get(path) {
                None => ("404 Not Found", &b""[..]),
                Some(it) if *it == FORBIDDEN => ("403 Forbidden", *it),
                Some(it) => ("200 OK", *it),
            };
            let head =
                format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            // A client that left has its reasons.
            let _left = stream.write_all(&[head.as_bytes(), body].concat());
        }
    });
    url
}

/// Fetches a plugin and its signature as `broker plugin add` does, and keeps them as `broker.lock` does.
fn locked(url: &str, by: &[&str]) -> Result<Locked, String> {
    let (source, cancel, signers) = (url.parse().unwrap(), Cancel::default(), signers(by));
    let without_port = |error: SetupFailure| {
        let (text, url) = (error.to_string(), Url::parse(url).unwrap());
        text.replace(&format!("127.0.0.1:{}", url.port().unwrap()), "HOST")
    };
    let fetched = fetch(&source, None, Path::new("/none"), &cancel).map_err(without_port)?;
    let signatures =
        fetch_signatures(&source, &signers, Path::new("/none"), &cancel).map_err(without_port)?;
    let signed = expect_signed(&source, &fetched.bytes, &signatures, &signers).map_err(without_port)?;
    let (name, version, digest) = ("a".to_owned(), "1.0.0".to_owned(), Digest::of(&fetched.bytes));
    let locked = Locked { name, version, source, digest, manifest: None, signature: Some(signed) };
    assert_eq!(expect_signer(&locked, Some(&signers)), Ok(()));
    assert_eq!(expect_signature(&locked, &fetched.bytes), Ok(()));
    Ok(locked)
}

/// Signer of a file that is fetched, or the error.
fn signer(url: &str, by: &[&str]) -> String {
    locked(url, by).map_or_else(|error| error, |it| it.signature.unwrap().signer().to_string())
}

#[test]
fn a_plugin_and_its_signature_are_fetched() {
    let url = served(&[
        ("a.wasm", b"plugin"),
        ("a.wasm.minisig", TEXT.as_bytes()),
        ("b.wasm", ATTESTED),
        ("b.wasm.sigstore.json", ATTESTED_BUNDLE.as_bytes()),
        ("c.wasm", BY_KEY),
        ("c.wasm.sigstore", BY_KEY_BUNDLE.as_bytes()),
    ]);
    let of = |name: &str, by: &[&str]| signer(&format!("{url}/{name}.wasm"), by);
    insta::assert_snapshot!(of("a", &[KEY]), @"key 44D1AF0A4ED93A11");
    insta::assert_snapshot!(of("b", &[WORKFLOW]), @"https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main (issuer https://token.actions.githubusercontent.com)");
    insta::assert_snapshot!(of("c", &[PEM]), @"key sha256:4cb32c4837c6dda8");
    for name in ["a", "b", "c"] {
        assert_eq!(of(name, &[KEY, PEM, WORKFLOW]), of(name, &[PEM, WORKFLOW, KEY]), "one of them is enough");
    }
    insta::assert_snapshot!(of("a", &[PEM]), @"the plugin from http://HOST/a.wasm is not signed, and must be signed by key sha256:4cb32c4837c6dda8: no `.sigstore.json` or `.sigstore` lies beside it");
    insta::assert_snapshot!(of("b", &[KEY, PEM]), @"the plugin from http://HOST/b.wasm is signed by https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main (issuer https://token.actions.githubusercontent.com), and must be signed by key 44D1AF0A4ED93A11 or key sha256:4cb32c4837c6dda8");
}

#[test]
fn a_signature_of_something_else_is_refused() {
    let url = served(&[
        ("a.wasm", b"tampered"),
        ("a.wasm.minisig", TEXT.as_bytes()),
        ("b.wasm", b"tampered"),
        ("b.wasm.sigstore.json", ATTESTED_BUNDLE.as_bytes()),
        ("c.wasm", ATTESTED),
        ("c.wasm.sigstore.json", &ATTESTED_BUNDLE.as_bytes()[..4000]),
    ]);
    let of = |name: &str, by: &[&str]| signer(&format!("{url}/{name}.wasm"), by);
    insta::assert_snapshot!(of("a", &[KEY]), @"the plugin from http://HOST/a.wasm is not what key 44D1AF0A4ED93A11 signed: its bytes or its signature were changed");
    insta::assert_snapshot!(of("b", &[WORKFLOW]), @"the plugin from http://HOST/b.wasm is not what its sigstore bundle signs: it was changed, or the bundle is of another file");
    insta::assert_snapshot!(of("b", &[&WORKFLOW.replace("main", "v2")]), @"the plugin from http://HOST/b.wasm is not what its sigstore bundle signs: it was changed, or the bundle is of another file");
    insta::assert_snapshot!(of("c", &[WORKFLOW]), @"the plugin from http://HOST/c.wasm has a signature that cannot be used, http://HOST/c.wasm.sigstore.json: it is no sigstore bundle: EOF while parsing a string at line 1 column 4000");
}

#[test]
fn a_file_that_is_no_signature_does_not_hide_another() {
    let long = Box::leak(vec![b' '; 300 << 10].into_boxed_slice());
    for broken in [&b"<html>"[..], b"", FORBIDDEN, br#"{"base64Signature": ""}"#, long] {
        let url = served(&[
            ("a.wasm", b"plugin"),
            ("a.wasm.minisig", TEXT.as_bytes()),
            ("a.wasm.sigstore.json", broken),
            ("b.wasm", BY_KEY),
            ("b.wasm.minisig", broken),
            ("b.wasm.sigstore.json", broken),
            ("b.wasm.sigstore", BY_KEY_BUNDLE.as_bytes()),
        ]);
        let of = |name: &str, by: &[&str]| signer(&format!("{url}/{name}.wasm"), by);
        assert_eq!(of("a", &[PEM, KEY]), "key 44D1AF0A4ED93A11");
        assert_eq!(of("b", &[KEY, PEM]), "key sha256:4cb32c4837c6dda8");
    }
}

/// Reason and remedy of the signature in a file, which is none.
fn unusable(found: FoundSignature) -> String {
    match found {
        Err(Refusal::Invalid { found, remedy }) => format!("{found} ({remedy})"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_signature_that_cannot_be_used_is_named_with_a_remedy() {
    let url = served(&[
        ("empty.minisig", b""),
        ("forbidden.minisig", FORBIDDEN),
        ("long.minisig", Box::leak(vec![b' '; 17 << 10].into_boxed_slice())),
        ("latin.minisig", b"untrusted comment: caf\xe9"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.minisig")).unwrap();
    fs::write(folder.path().join("long.minisig"), vec![b' '; 17 << 10]).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("pipe.minisig"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let of = |source: &str| {
        let source = source.parse().unwrap();
        let mut found =
            fetch_signatures(&source, &signers(&[KEY]), folder.path(), &Cancel::default()).unwrap();
        unusable(found.remove(0)).replace(&url, "http://HOST")
    };
    insta::assert_snapshot!(of(&format!("{url}/empty")), @"has a signature that cannot be used, http://HOST/empty.minisig: it is no signature of minisign (ask its author to put there what `minisign -S` writes)");
    insta::assert_snapshot!(of(&format!("{url}/forbidden")), @"has a signature that cannot be used, http://HOST/forbidden.minisig: HTTP status client error (403 Forbidden) for url (http://HOST/forbidden.minisig) (look at what the server has at this address; one that has no such file must answer with 404)");
    insta::assert_snapshot!(of(&format!("{url}/long")), @"has a signature that cannot be used, http://HOST/long.minisig: it is larger than 16 KiB (look at what the server has at this address; one that has no such file must answer with 404)");
    insta::assert_snapshot!(of(&format!("{url}/latin")), @"has a signature that cannot be used, http://HOST/latin.minisig: it is not UTF-8: sign it again, with comments in UTF-8 (ask its author to put there what `minisign -S` writes)");
    insta::assert_snapshot!(of("folder"), @"has a signature that cannot be used, folder.minisig: it is no regular file (put the signature there as a file that you may read, or remove what is there)");
    insta::assert_snapshot!(of("pipe"), @"has a signature that cannot be used, pipe.minisig: it is no regular file (put the signature there as a file that you may read, or remove what is there)");
    insta::assert_snapshot!(of("long"), @"has a signature that cannot be used, long.minisig: it is larger than 16 KiB (ask its author to put there what `minisign -S` writes)");
}

#[test]
fn a_signature_that_does_not_end_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.wasm", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        lines.by_ref().take_while(|it| !it.is_empty()).for_each(drop);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nu").unwrap();
        // Until the client leaves.
        lines.for_each(drop);
    });
    let (source, cancel) = (url.parse().unwrap(), Cancel::default());
    let end = Instant::now() + Duration::from_millis(200);
    let beside = Beside { source: &source, root: Path::new("/none"), end, cancel: &cancel };
    let found = beside.signatures(&signers(&[KEY])).remove(0);
    let refused = unusable(found);
    assert!(refused.contains("it takes too long"), "{refused}");
}

#[test]
fn the_lock_file_says_who_signed() {
    let url = served(&[("b.wasm", ATTESTED), ("b.wasm.sigstore.json", ATTESTED_BUNDLE.as_bytes())]);
    let mut lock = Lock::default();
    lock.put(locked(&format!("{url}/b.wasm"), &[WORKFLOW]).unwrap());
    let text = lock.to_text();
    let signature = text.split_once("[plugin.signature]").unwrap().1;
    let (before, bundle) = signature.split_once("bundle = ").unwrap();
    insta::assert_snapshot!(before, @r#"
identity = "https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main"
issuer = "https://token.actions.githubusercontent.com"
"#);
    assert_eq!(bundle.lines().count(), 1, "{bundle}");
    let read = Lock::parse(&text).unwrap();
    assert_eq!(read, lock);
    let changed = Lock::parse(&text.replace("refs/heads/main\"", "refs/heads/v2\"")).unwrap();
    let changed = changed.find("a").unwrap();
    let error = expect_signature(changed, ATTESTED).unwrap_err();
    insta::assert_snapshot!(error.replace(&url, "http://HOST"), @"plugin `a` from http://HOST/b.wasm is not used: its signature in broker.lock does not verify with https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/v2 (issuer https://token.actions.githubusercontent.com); `broker plugin update a` fetches it again");
    assert!(expect_signer(changed, Some(&signers(&[WORKFLOW]))).is_err());
}

#[test]
fn a_signature_lies_beside_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let fetched = |source: &str, by: &str| {
        fetch_signatures(&source.parse().unwrap(), &signers(&[by]), folder.path(), &Cancel::default())
    };
    let parsed = |kind: SignatureKind, texts: &[&str]| {
        Ok(texts.iter().map(|it| Ok(Signature::parse(kind, it.as_bytes()).unwrap())).collect())
    };
    assert_eq!([fetched("a.wasm", KEY), fetched("a.wasm", PEM)], [Ok(vec![]), Ok(vec![])]);
    fs::write(folder.path().join("a.wasm.minisig"), TEXT).unwrap();
    fs::write(folder.path().join("a.wasm.sigstore"), BY_KEY_BUNDLE).unwrap();
    assert_eq!(fetched("a.wasm", KEY), parsed(SignatureKind::Minisign, &[TEXT]));
    assert_eq!(fetched("a.wasm", PEM), parsed(SignatureKind::Bundle, &[BY_KEY_BUNDLE]));
    fs::write(folder.path().join("a.wasm.sigstore.json"), ATTESTED_BUNDLE).unwrap();
    assert_eq!(
        fetched("a.wasm", WORKFLOW),
        parsed(SignatureKind::Bundle, &[ATTESTED_BUNDLE, BY_KEY_BUNDLE]),
        "any may be the one"
    );
    insta::assert_snapshot!(fetched("oci://example.org/a:1", PEM).unwrap_err(), @"cannot fetch the signature of oci://example.org/a:1: signatures of plugins in a registry are not supported");
}

#[test]
fn a_signature_has_the_url_of_the_plugin_and_an_extension() {
    let of = |url| url_beside(url, ".minisig");
    assert_eq!(of("https://example.org/a%20b.wasm"), "https://example.org/a%20b.wasm.minisig");
    assert_eq!(of("https://example.org/a.wasm?v=1#x"), "https://example.org/a.wasm.minisig?v=1#x");
}
