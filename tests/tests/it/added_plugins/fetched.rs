//! Plugins from a URL and from a registry.

use super::*;

/// Serves the pages on this machine until the test ends; its address.
fn serve(pages: &Pages) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let pages = Arc::clone(pages);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            let _headers = lines.take_while(|it| !it.is_empty()).count();
            let path = request.split(' ').nth(1).unwrap_or_default();
            let page = pages.lock().unwrap().get(path).cloned();
            let status = if page.is_some() { "200 OK" } else { "404 Not Found" };
            let (kind, body) = page.unwrap_or_default();
            let size = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {size}\r\nconnection: close\r\n\r\n"
            );
            let body = if request.starts_with("HEAD") { Vec::new() } else { body };
            let _client_left = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

fn digest_in(lock: &str, key: &str) -> String {
    let lock: toml::Table = toml::from_str(lock).unwrap();
    lock["plugin"][0][key].as_str().unwrap().to_owned()
}

#[test]
fn one_from_a_url_is_fetched_once_and_proved_by_its_digest() {
    let (place, pages) = (place(), Pages::default());
    let put = |bytes| {
        pages.lock().unwrap().insert("/no-todo.wasm".to_owned(), ("application/wasm".to_owned(), bytes))
    };
    put(no_todo());
    let url = format!("http://{}/no-todo.wasm", serve(&pages));
    let wrong = format!("sha256:{}", "0".repeat(64));
    let told = refused(&place, &["plugin", "add", &url, "--digest", &wrong]).replace(&url, "[url]");
    assert_snapshot!(without_digests(&told), @r#"
error: [url] is not what is expected: it has the digest sha256:[…], not sha256:[…]
hint: somebody changed it; if that is meant, ask for the new digest, or for none
"#);
    ok(&place, &["plugin", "add", &url]);
    let digest = digest_in(&place.read("broker.lock"), "digest");
    ok(&place, &["plugin", "add", &url, "--digest", &digest]);
    // The server's later content matters neither to a check nor to an installation.
    put(no_todo_again());
    assert_eq!(check(&place, &["a.c"]), (Some(1), vec![FOUND.to_owned()], vec![]));
    assert_snapshot!(ok(&place, &["plugin", "install"]), @"0 fetched, 1 there already");

    let kept = place.own("cache/plugins").join(format!("{}.wasm", &digest["sha256:".len()..]));
    fs::write(&kept, "tampered").unwrap();
    let (exit, _, incomplete) = check(&place, &["a.c"]);
    assert_eq!(exit, Some(2));
    assert_snapshot!(without_digests(&incomplete.join("\n").replace(kept.to_str().unwrap(), "[kept]")), @"plugin `no-todo` is not used: [kept] was changed since it was fetched; `broker plugin install` fetches it again");
    fs::remove_file(&kept).unwrap();
    assert_snapshot!(check(&place, &["a.c"]).2.join("\n").replace(&url, "[url]"), @"plugin `no-todo` from [url] is not on this machine; `broker plugin install` fetches it");
    assert_snapshot!(without_digests(&refused(&place, &["plugin", "install"])).replace(&url, "[url]"), @r#"
error: plugin `no-todo` from [url] is not what is expected: it has the digest sha256:[…], not sha256:[…]
hint: somebody changed it; if that is meant, `broker plugin update no-todo`
"#);
    put(no_todo());
    assert_snapshot!(ok(&place, &["plugin", "install"]), @"1 fetched, 0 there already");
    assert_eq!(check(&place, &["a.c"]).0, Some(1));
    pages.lock().unwrap().clear();
    assert_snapshot!(refused(&place, &["plugin", "update"]).replace(&url, "[url]"), @"error: cannot fetch [url]: HTTP status client error (404 Not Found) for url ([url])");
}

/// SHA-256 as the program writes it into a lock file.
fn digest_of(bytes: &[u8]) -> String {
    let place = place();
    place.write("no-todo.wasm", bytes);
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    digest_in(&place.read("broker.lock"), "digest")
}

#[test]
fn one_from_a_registry_is_pinned_by_its_manifest() {
    let (place, pages) = (place(), Pages::default());
    let wasm = no_todo();
    let layer = digest_of(&wasm);
    let config = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"; // of `{}`
    let manifest = |kind: &str| {
        json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": { "mediaType": "application/vnd.wasm.config.v0+json", "digest": config, "size": 2 },
            "layers": [{ "mediaType": kind, "digest": layer, "size": wasm.len() }],
        })
        .to_string()
    };
    let put = |path: String, kind: &str, bytes: &[u8]| {
        pages.lock().unwrap().insert(format!("/v2/team/no-todo{path}"), (kind.to_owned(), bytes.to_vec()));
    };
    let image = "application/vnd.oci.image.manifest.v1+json";
    put("/manifests/1.0.0".to_owned(), image, manifest("application/wasm").as_bytes());
    put(format!("/blobs/{layer}"), "application/octet-stream", &wasm);
    let source = format!("oci://{}/team/no-todo:1.0.0", serve(&pages));
    ok(&place, &["plugin", "add", &source]);
    assert_eq!(check(&place, &["a.c"]), (Some(1), vec![FOUND.to_owned()], vec![]));

    // The tag may move; what is locked stays what it is.
    let pinned = digest_in(&place.read("broker.lock"), "manifest");
    put(format!("/manifests/{pinned}"), image, manifest("application/wasm").as_bytes());
    put("/manifests/1.0.0".to_owned(), image, manifest("application/x-tar").as_bytes());
    fs::remove_dir_all(place.own("cache/plugins")).unwrap();
    assert_snapshot!(ok(&place, &["plugin", "install"]), @"1 fetched, 0 there already");
    assert_snapshot!(refused(&place, &["plugin", "update"]).replace(&source, "[source]"), @"error: cannot fetch [source]: it holds `application/x-tar`, no WebAssembly component");
    // A registry that lies.
    put(format!("/blobs/{layer}"), "application/octet-stream", &no_todo_again());
    fs::remove_dir_all(place.own("cache/plugins")).unwrap();
    let told = without_digests(&refused(&place, &["plugin", "install"])).replace(&source, "[source]");
    assert_snapshot!(told, @"error: cannot fetch [source]: Invalid digest. Expected sha256:[…], got sha256:[…]");
}
