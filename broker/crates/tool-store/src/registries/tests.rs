//! Registries that have a file, or something else.

use std::time::{Duration, Instant};

use lint::Cancel;

use super::*;
use crate::{
    package::Integrity,
    testing::{Answer, Registry as Server},
};

/// A file with these bytes.
fn file(line: &str, bytes: &[u8]) -> PackageFile {
    let digest = Integrity::Sha512(Vec::new()).of(bytes);
    line.replace("DIGEST", &format!("{digest} {}", bytes.len())).parse().unwrap()
}

/// Fetches it from registries at these addresses, or tells the error with its hint.
fn fetched(file: &PackageFile, variables: &[(&str, &str)]) -> String {
    let variables = variables.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned())).collect();
    let registries = Registries::new(UserSettings { variables, ..UserSettings::default() });
    let end = Instant::now() + Duration::from_secs(60);
    match download::blocking(registries.fetch(file, &|_| {}), end, &Cancel::default()) {
        Ok(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Err(error) => error.to_string() + &error.hint().map(|it| format!(" ({it})")).unwrap_or_default(),
    }
}

/// Without the port, and what the system calls its failure.
fn plain(text: &str, server: &Server) -> String {
    text.replace(server.url.trim_start_matches("http://").trim_end_matches('/'), "HOST")
}

#[test]
fn a_tarball_is_where_all_registries_have_it_or_where_this_one_says() {
    let server = Server::new();
    let of = |file| fetched(file, &[("NPM_CONFIG_REGISTRY", &server.url)]);
    let usual = file("npm:@s/a@1.0.0 DIGEST", b"usual");
    server.put("/@s/a/-/a-1.0.0.tgz", Answer::Body(b"usual".to_vec()));
    assert_eq!(of(&usual), "usual");
    let named = file("npm:@s/b@1.0.0 DIGEST", b"named");
    let document = format!(r#"{{"versions": {{"1.0.0": {{"dist": {{"tarball": "{}x/y"}}}}}}}}"#, server.url);
    server.put("/@s%2fb", Answer::Json(document));
    server.put("/x/y", Answer::Body(b"named".to_vec()));
    assert_eq!(of(&named), "named");
    let missing = file("npm:c@1.0.0 DIGEST", b"");
    insta::assert_snapshot!(plain(&of(&missing), &server), @"HOST has no npm:c@1.0.0 (a mirror may not have it: see which registry npm and pip are configured with)");
}

#[test]
fn a_wheel_is_on_the_first_index_that_has_it() {
    let (first, second) = (Server::new(), Server::new());
    let wheel = file("pypi:A_b@1 DIGEST file:a_b-1-py3-none-any.whl", b"wheel");
    let of = || fetched(&wheel, &[("PIP_INDEX_URL", &first.url), ("PIP_EXTRA_INDEX_URL", &second.url)]);
    first.put("/a-b/", Answer::Json(r#"{"files": []}"#.to_owned()));
    second.put("/a-b/", Answer::Body(b"<a href='/files/a_b-1-py3-none-any.whl#sha256=1'>a</a>".to_vec()));
    second.put("/files/a_b-1-py3-none-any.whl", Answer::Body(b"wheel".to_vec()));
    assert_eq!(of(), "wheel");
    assert_eq!(*first.asked.lock().unwrap(), ["/a-b/"]);
    first.put("/a-b/", Answer::Status(500));
    assert_eq!(of(), "wheel");
    second.put("/a-b/", Answer::Status(404));
    let error = plain(&of(), &first);
    assert!(error.starts_with("cannot fetch pypi:A_b@1 from HOST: it answered 500"), "{error}");
    first.put("/a-b/", Answer::Status(401));
    let error = plain(&of(), &first);
    assert!(error.starts_with("HOST does not let you fetch pypi:A_b@1: 401 (put the password"), "{error}");
    first.put("/a-b/", Answer::Status(404));
    insta::assert_snapshot!(plain(&of(), &second), @"HOST has no pypi:A_b@1 (a mirror may not have it: see which registry npm and pip are configured with)");
}

#[test]
fn what_is_not_as_it_must_be_is_not_taken() {
    let server = Server::new();
    let of = |answer| {
        server.put("/a/-/a-1.tgz", answer);
        plain(&fetched(&file("npm:a@1 DIGEST", b"right"), &[("npm_config_registry", &server.url)]), &server)
    };
    assert_eq!(of(Answer::Body(b"right".to_vec())), "right");
    let digest = |of| Integrity::Sha512(Vec::new()).of(of).to_string();
    let wrong = of(Answer::Body(b"wrong".to_vec()))
        .replace(&digest(b"wrong"), "FOUND")
        .replace(&digest(b"right"), "EXPECTED");
    insta::assert_snapshot!(wrong, @"npm:a@1 from HOST is not what is expected: it has the digest FOUND, not EXPECTED (it was changed in the registry or on the way; nothing of the tool was installed)");
    assert!(
        of(Answer::Body(b"rights are many more than were expected".to_vec()))
            .contains("is not what is expected")
    );
    insta::assert_snapshot!(of(Answer::Cut(b"ri".to_vec(), 5)), @"the download of npm:a@1 from HOST broke off: 2 of 5 bytes came (try again; nothing of the tool was installed)");
    insta::assert_snapshot!(of(Answer::Status(503)), @"cannot fetch npm:a@1 from HOST: it answered 503 (look at the network and at the registry, proxy and certificates that npm and pip are configured with)");
    insta::assert_snapshot!(of(Answer::Status(403)), @"HOST does not let you fetch npm:a@1: 403 (log in with `npm login`, or put a token into `~/.npmrc`)");
}

#[test]
fn a_download_that_breaks_off_once_is_tried_again() {
    let server = Server::new();
    server.put("/a/-/a-1.tgz", Answer::Cut(b"ri".to_vec(), 5));
    let variables = [("npm_config_registry".to_owned(), server.url.clone())].into();
    let registries = Registries::new(UserSettings { variables, ..UserSettings::default() });
    let (file, counted) = (file("npm:a@1 DIGEST", b"right"), Cell::new(0));
    let count = |bytes| counted.set(counted.get() + bytes);
    let end = Instant::now() + Duration::from_secs(60);
    download::blocking(registries.fetch(&file, &count), end, &Cancel::default()).unwrap_err();
    assert_eq!((server.asked.lock().unwrap().len(), counted.get()), (2, 2));
}

#[test]
fn a_registry_that_is_away_is_named_without_its_password() {
    let gone = { std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap() };
    let url = format!("http://me:secret@{gone}/");
    for (line, variable) in
        [("npm:a@1 DIGEST", "NPM_CONFIG_REGISTRY"), ("pypi:a@1 DIGEST file:a.whl", "PIP_INDEX_URL")]
    {
        let error = fetched(&file(line, b""), &[(variable, &url)]);
        assert!(error.contains(&format!("from {gone}: ")) && !error.contains("secret"), "{error}");
    }
}

#[test]
fn passwords_go_where_they_belong() {
    let server = Server::new();
    let address = server.url.trim_start_matches("http:").to_owned();
    let token = format!("npm_config_{address}:_authToken");
    let private = file("npm:a@1 DIGEST", b"private");
    server.put("/a/-/a-1.tgz", Answer::Private("Bearer t0ken".to_owned(), b"private".to_vec()));
    assert_eq!(fetched(&private, &[("NPM_CONFIG_REGISTRY", &server.url), (&token, "t0ken")]), "private");
    let denied = fetched(&private, &[("NPM_CONFIG_REGISTRY", &server.url), (&token, "0ther")]);
    assert!(denied.contains("does not let you fetch npm:a@1: 401") && !denied.contains("0ther"), "{denied}");
    let wheel = file("pypi:a@1 DIGEST file:a.whl", b"private");
    let header = "Basic bWU6c2VjcmV0".to_owned();
    server.put("/simple/a/", Answer::Private(header.clone(), b"<a href='a.whl'>a</a>".to_vec()));
    server.put("/simple/a/a.whl", Answer::Private(header, b"private".to_vec()));
    let index = server.url.replace("http://", "http://me:secret@") + "simple";
    assert_eq!(fetched(&wheel, &[("PIP_INDEX_URL", &index)]), "private");
}
