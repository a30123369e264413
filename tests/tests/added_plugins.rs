//! Plugins that a workspace adds: from a file, over HTTP, from a registry; and everything that keeps one from being run.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests look at the disk, and may fail")]

use std::{
    collections::HashMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use insta::assert_snapshot;
use serde_json::{Value, json};
use tests::{guest, place::Place, with_manifest};

/// A workspace with something for `no-todo` to find.
fn place() -> Place {
    Place::new(&[("a.c", "int a; // TODO: b\n")])
}

/// What a command says, where it must succeed.
#[track_caller]
fn ok(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    shown(place, &output.stdout)
}

/// What a command complains of, where it must not succeed.
#[track_caller]
fn refused(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    let told = shown(place, &output.stderr);
    // What it is doing is told as well.
    let told: Vec<_> =
        told.lines().filter(|it| !it.starts_with("compiling") && !it.starts_with("fetching")).collect();
    told.join("\n")
}

fn shown(place: &Place, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace(place.root().to_str().unwrap(), "[root]");
    text.replace(place.own("").to_str().unwrap(), "[own]/")
}

/// Exit code and findings of a check, and what is not complete.
fn check(place: &Place, more: &[&str]) -> (Option<i32>, Vec<String>, Vec<String>) {
    let arguments = [&["check", "--output-format", "json"], more].concat();
    let output = place.run(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let all = |key: &str| report[key].as_array().unwrap().clone();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let findings =
        all("findings").iter().map(|it| format!("{}/{}", text(&it["linter"]), text(&it["code"]))).collect();
    let incomplete = all("incomplete").iter().map(|it| text(&it["reason"])).collect();
    (output.status.code(), findings, incomplete)
}

const FOUND: &str = "no-todo/anonymous-todo";

fn no_todo() -> Vec<u8> {
    fs::read(guest("no_todo")).unwrap()
}

/// Another component that is as good: it has one more section.
fn no_todo_again() -> Vec<u8> {
    with_manifest(&no_todo(), "")
}

/// `broker.lock` and messages without what differs from build to build.
fn without_digests(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "sha256:[…]" + part.trim_start_matches(|it: char| it.is_ascii_hexdigit())
    })
}

#[test]
fn one_from_a_file_is_used_until_it_is_removed() {
    let place = place();
    place.write("broker.toml", "# mine\nignore = [\"F401\"] # too\n");
    place.write("tools/no-todo.wasm", no_todo());
    let told = ok(&place, &["plugin", "add", "tools/no-todo.wasm"]);
    assert_snapshot!(without_digests(&told), @"added no-todo 0.1.0, sha256:[…]");
    assert_snapshot!(place.read("broker.toml"), @r#"
    # mine
    ignore = ["F401"] # too

    [plugins.no-todo]
    source = "tools/no-todo.wasm"
    "#);
    assert_snapshot!(without_digests(&place.read("broker.lock")), @r#"
# Written by `broker plugin`. What is not as it says here is not run.
version = 1

[[plugin]]
name = "no-todo"
version = "0.1.0"
source = "tools/no-todo.wasm"
digest = "sha256:[…]"
"#);
    assert_eq!(check(&place, &["a.c"]), (Some(1), vec![FOUND.to_owned()], vec![]));
    assert!(ok(&place, &["plugin", "list"]).contains("\nno-todo "));
    assert!(ok(&place, &["explain", "no-todo/anonymous-todo"]).contains("TODO"));
    assert_eq!(check(&place, &["--isolated", "a.c"]).0, Some(0));

    assert_snapshot!(ok(&place, &["plugin", "remove", "no-todo"]), @"removed no-todo");
    assert_snapshot!(place.read("broker.toml"), @r#"
    # mine
    ignore = ["F401"] # too
    "#);
    assert_eq!(check(&place, &["a.c"]), (Some(0), vec![], vec![]));
}

#[test]
fn a_branch_has_the_plugins_that_its_own_files_name() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    ok(&place, &["branch", "fork", "try"]);
    assert_eq!(check(&place, &["--branch", "try"]), (Some(1), vec![FOUND.to_owned()], vec![]));
    let described = place.run(&["check", "--branch", "try", "--output-format", "sarif"]).stdout;
    assert!(String::from_utf8_lossy(&described).contains("A TODO names nobody"), "its rules are known");
    assert!(
        place.run_with_input(&["branch", "write", "try", "broker.lock"], "version = 1\n").status.success()
    );
    let (exit, findings, incomplete) = check(&place, &["--branch", "try"]);
    assert_eq!((exit, findings), (Some(2), vec![]));
    assert_snapshot!(incomplete.join("\n"), @"plugin `no-todo` from no-todo.wasm is not in broker.lock; `broker plugin update no-todo` puts it there");
    assert!(place.run_with_input(&["branch", "write", "try", "broker.toml"], "").status.success());
    assert_eq!(check(&place, &["--branch", "try"]), (Some(0), vec![], vec![]));
}

#[test]
fn what_is_staged_has_the_plugins_that_are_staged() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    place.git(&["init", "-q"]);
    place.git(&["add", "."]);
    fs::remove_file(place.root().join("broker.toml")).unwrap();
    assert_eq!(check(&place, &["--staged"]).1, [FOUND]);
    assert_eq!(check(&place, &[]).1, [""; 0]);
}

#[test]
fn one_that_is_declared_is_run_or_told() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    fs::rename(place.root().join("broker.toml"), place.root().join("base.toml")).unwrap();
    place.write("broker.toml", "extends = \"base.toml\"\n[plugins.no-todo]\ngrants = [\"env:X\"]\n");
    assert_eq!(check(&place, &["a.c"]).1, [FOUND], "the other keys stay");
    place.write("broker.toml", "[plugins.no-todo]\ngrants = []\n");
    let told = |arguments: &[&str]| check(&place, arguments).2.join("\n");
    assert_snapshot!(told(&["a.c"]), @"plugin `no-todo` has no `source` in broker.toml");
    assert_snapshot!(told(&["a.c", "--select", "no-todo/ALL"]), @"plugin `no-todo` has no `source` in broker.toml");
    place.write(
        "broker.toml",
        "[plugins.todo]\nsource = \"no-todo.wasm\"\n[plugins.no-todo]\nsource = \"no-todo.wasm\"\n",
    );
    let lock = place.read("broker.lock");
    let entry = lock.split_once("[[plugin]]").unwrap().1.replace("no-todo\"", "todo\"");
    place.write("broker.lock", format!("{lock}\n[[plugin]]{entry}"));
    assert_snapshot!(told(&["a.c"]), @"plugin `todo` from no-todo.wasm calls itself `no-todo`: give it that name in broker.toml");
    place.write("broker.toml", "[plugins.pipe]\nsource = \"../pipe.wasm\"\n");
    place.write(
        "broker.lock",
        lock.replace("no-todo\"", "pipe\"").replace("\"no-todo.wasm", "\"../pipe.wasm"),
    );
    let pipe = place.root().join("../pipe.wasm");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = told(&["a.c"]);
    fs::remove_file(pipe).unwrap();
    assert_snapshot!(said, @"plugin `pipe` lies outside of the workspace, at ../pipe.wasm, which counts only in a workspace that is trusted: see `broker trust`");
    place.write("broker.toml", "[plugins");
    assert_snapshot!(refused(&place, &["plugin", "list"]), @"error: broker.toml:1:9: unclosed table, expected `]`");
}

#[test]
fn what_people_wrote_stays() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    place.write(
        "broker.toml",
        "# ours\r\n[plugins.no-todo]\r\nsource = \"old.wasm\" # why\r\ngrants = [\"env:X\"]\r\n",
    );
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    let want = "# ours\r\n[plugins.no-todo]\r\nsource = \"no-todo.wasm\" # why\r\ngrants = [\"env:X\"]\r\n";
    assert_eq!(place.read("broker.toml"), want);
    place.write("base.toml", "# ours\n\n# its\n[plugins.no-todo]\nsource = \"no-todo.wasm\"\n\n[severity]\n");
    place.write("broker.toml", "extends = \"base.toml\"\n\n[plugins.no-todo]\nsource = \"no-todo.wasm\"\n");
    assert_snapshot!(ok(&place, &["plugin", "remove", "no-todo"]), @"removed no-todo from broker.toml; a file that this extends adds it still");
    assert_eq!(check(&place, &["a.c"]), (Some(1), vec![FOUND.to_owned()], vec![]));
    fs::rename(place.root().join("base.toml"), place.root().join("broker.toml")).unwrap();
    assert_snapshot!(ok(&place, &["plugin", "remove", "no-todo"]), @"removed no-todo");
    assert_eq!(place.read("broker.toml"), "# ours\n\n[severity]\n");
}

#[test]
fn adding_two_at_the_same_time_loses_none() {
    let place = place();
    let names = ["misbehaves", "no-todo", "none-comparison"];
    for (name, built) in names.iter().zip(["guest_misbehaves", "no_todo", "none_comparison"]) {
        place.write(&format!("{name}.wasm"), fs::read(guest(built)).unwrap());
    }
    let adding = names.iter().map(|it| {
        let mut command = place.command(&["plugin", "add", &format!("{it}.wasm")]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    });
    for child in adding.collect::<Vec<_>>() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let lock = place.read("broker.lock");
    assert!(names.iter().all(|it| lock.contains(&format!("\"{it}\""))), "{lock}");
}

#[test]
fn one_that_was_changed_is_not_run() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    place.write("no-todo.wasm", no_todo_again());
    let (exit, findings, incomplete) = check(&place, &["a.c"]);
    assert_eq!((exit, findings), (Some(2), vec![]));
    assert_snapshot!(without_digests(&incomplete.join("\n")), @"plugin `no-todo` at no-todo.wasm has digest sha256:[…], but broker.lock has sha256:[…]; run `broker plugin update no-todo` to accept it");
    assert_snapshot!(without_digests(&ok(&place, &["plugin", "update"])), @"no-todo 0.1.0 -> 0.1.0, sha256:[…]");
    assert_eq!(check(&place, &["a.c"]).0, Some(1));
    assert_snapshot!(ok(&place, &["plugin", "update", "no-todo"]), @"no-todo 0.1.0: unchanged");
}

#[test]
fn what_it_asks_for_must_be_granted_in_a_trusted_workspace() {
    let place = Place::new(&[("a.team", "x\n")]);
    let asks = guest("guest_asks");
    let asks = asks.to_str().unwrap();
    assert_snapshot!(refused(&place, &["plugin", "add", asks]).replace(asks, "asks.wasm"), @r#"
error: plugin `asks` 0.1.0 asks for `env:BROKER_TEST_TEAM`, which it is not granted
hint: if it may have that, `broker plugin add` it with --grant env:BROKER_TEST_TEAM
"#);
    assert!(!place.root().join("broker.toml").exists() && !place.root().join("broker.lock").exists());
    let seen = |team: &str| {
        let mut command = place.command(&["check", "--output-format", "json", "a.team"]);
        let output = command.env("BROKER_TEST_TEAM", team).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |key: &str, field: &str| report[key][0][field].as_str().unwrap_or_default().to_owned();
        format!("{}{}", of("findings", "message"), of("incomplete", "reason"))
    };
    ok(&place, &["plugin", "add", asks, "--grant", "env:BROKER_TEST_TEAM"]);
    let outside = seen("blue").replace(asks, "asks.wasm");
    assert_snapshot!(outside, @"plugin `asks` lies outside of the workspace, at asks.wasm, which counts only in a workspace that is trusted: see `broker trust`");
    place.write("asks.wasm", fs::read(asks).unwrap());
    ok(&place, &["plugin", "add", "asks.wasm"]);
    assert_snapshot!(seen("blue"), @"plugin `asks` asks for `env:BROKER_TEST_TEAM`, and a grant counts only in a workspace that is trusted: see `broker trust`");
    ok(&place, &["trust"]);
    assert_snapshot!(seen("blue"), @r#"sees ["BROKER_TEST_TEAM=blue"]"#);
    assert_snapshot!(seen("red"), @r#"sees ["BROKER_TEST_TEAM=red"]"#);
    // The daemon has neither the variable of the shell that started it nor that of one before.
    ok(&place, &["branch", "fork", "try"]);
    let on_branch = |team: &str| {
        let mut command = place.command(&["check", "--branch", "try", "--output-format", "json"]);
        let output = command.env("BROKER_TEST_TEAM", team).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["findings"][0]["message"].as_str().unwrap_or_default().to_owned()
    };
    assert_snapshot!(on_branch("green"), @r#"sees ["BROKER_TEST_TEAM=green"]"#);
    assert_snapshot!(on_branch("white"), @r#"sees ["BROKER_TEST_TEAM=white"]"#);
    place.write("broker.toml", place.read("broker.toml").replace("grants", "# grants"));
    assert_snapshot!(seen("red"), @"plugin `asks` asks for `env:BROKER_TEST_TEAM`, which it is not granted; if it may have that, say so in `grants` under `[plugins.asks]` in broker.toml");
    let ask = place.read("broker.toml").replace("# grants", "grants");
    ok(&place, &["branch", "fork", "evil"]);
    assert!(place.run_with_input(&["branch", "write", "evil", "broker.toml"], &ask).status.success());
    let (_, findings, incomplete) = check(&place, &["--branch", "evil"]);
    assert_eq!(findings, [""; 0], "no branch grants itself anything");
    assert!(incomplete[0].contains("which it is not granted"), "{incomplete:?}");
    let named = place.run(&["check", "--isolated", "--plugin", asks, "--output-format", "json", "a.team"]);
    assert_eq!(named.status.code(), Some(2), "nothing grants it anything");
}

#[test]
fn what_no_plugin_gets_is_refused_by_name() {
    let place = place();
    let manifest = |more: &str| {
        format!(
            "name = \"odd\"\nversion = \"0.1.0\"\napi = \"0.1.0\"\ndescription = \"x\"\nglobs = [\"*\"]\n{more}\n"
        )
    };
    let component = |wat: &str, more: &str| {
        place.write("odd.wasm", with_manifest(&wat::parse_str(wat).unwrap(), &manifest(more)));
        refused(&place, &["plugin", "add", "odd.wasm"])
    };
    let sockets = r#"(component (import "wasi:sockets/tcp@0.2.0" (instance)))"#;
    let http = r#"(component (import "wasi:http/outgoing-handler@0.2.0" (instance)))"#;
    assert_snapshot!(component(sockets, ""), @"error: plugin `odd` 0.1.0 imports `wasi:sockets/tcp@0.2.0`, which no plugin is granted");
    assert_snapshot!(component(http, ""), @"error: plugin `odd` 0.1.0 imports `wasi:http/outgoing-handler@0.2.0`, which no plugin is granted");
    assert_snapshot!(component("(component)", "capabilities = [\"network\"]"), @"error: `odd.wasm` has no usable manifest: line 6: `network` is asked for, and no plugin is granted the network");
    assert_snapshot!(component("(component)", "capabilities = [\"teleport\"]"), @"error: `odd.wasm` has no usable manifest: line 6: `teleport` is an unknown capability; there is only `env:NAME`");
    assert_snapshot!(refused(&place, &["plugin", "add", "odd.wasm", "--grant", "network"]), @r#"
error: invalid value 'network' for '--grant <CAPABILITY>': `network` is asked for, and no plugin is granted the network

For more information, try '--help'.
"#);
    assert!(!place.root().join("broker.toml").exists());
}

#[test]
fn slips_are_told_with_a_remedy() {
    let place = place();
    place.write("broker.toml", "[plugins.no-todo]\nsource = \"no-todo.wasm\"\n");
    assert_snapshot!(refused(&place, &["plugin", "remove", "no-tood"]), @r#"
error: no plugin `no-tood` was added to this workspace
hint: did you mean `no-todo`?
"#);
    assert_snapshot!(refused(&place, &["plugin", "update", "other"]), @r#"
error: no plugin `other` was added to this workspace
hint: `broker plugin list` shows all there are
"#);
    assert_snapshot!(refused(&place, &["plugin", "update"]), @"error: cannot fetch no-todo.wasm: no such file or directory");
    assert_snapshot!(refused(&place, &["plugin", "add", "http://example.org/a.wasm"]), @r#"
error: invalid value 'http://example.org/a.wasm' for '<SOURCE>': `http://example.org/a.wasm` is not encrypted: use https

For more information, try '--help'.
"#);
    place.write("broker.lock", "version = 1\n<<<<<<< HEAD\n");
    assert_snapshot!(refused(&place, &["plugin", "install"]), @"error: broker.lock:2 makes no sense: key with no value, expected `=`; delete it, and `broker plugin update` writes it anew");
    assert_snapshot!(check(&place, &["a.c"]).2.join("\n"), @"broker.lock:2 makes no sense: key with no value, expected `=`; delete it, and `broker plugin update` writes it anew");
    place.write("broker.toml", "[plugins.no-todo]\nsource = \"ftp://example.org\"\n");
    assert_snapshot!(refused(&place, &["check", "a.c"]), @"error: broker.toml:2:10: `ftp://` is unknown: a plugin comes from a path, `https://` or `oci://`");
    place.write("broker.toml", "");
    place.write("sub/broker.toml", "[plugins.no-todo]\nsource = \"a.wasm\"\n");
    place.write("sub/a.c", "");
    assert_snapshot!(refused(&place, &["check", "sub/a.c"]), @r#"
error: sub/broker.toml:1:2: `plugins` has no effect here
hint: it belongs in the configuration file at the workspace's root
"#);
}

/// Neither a branch nor a workspace of another's making learns whether a file of the user's is there, or what is in it.
#[test]
fn what_lies_outside_is_not_told() {
    let place = place();
    let secret = place.own("pin");
    fs::write(&secret, "1234").unwrap();
    let (pin, none) = (secret.to_str().unwrap(), place.own("none").to_str().unwrap().to_owned());
    let digest = "03ac674216f3e15c761ee1a5e255f067953623c8b388b4459e13f978d7c846f4";
    let toml = |source: &str| format!("[plugins.x]\nsource = \"{source}\"\n");
    let lock = |source: &str, digest: &str| {
        format!(
            "version = 1\n[[plugin]]\nname = \"x\"\nversion = \"1\"\nsource = \"{source}\"\ndigest = \"sha256:{digest:0>64}\"\n"
        )
    };
    ok(&place, &["branch", "fork", "try"]);
    let asked = |source: &str, digest: &str| {
        for (file, text) in [("broker.toml", toml(source)), ("broker.lock", lock(source, digest))] {
            assert!(place.run_with_input(&["branch", "write", "try", file], &text).status.success());
        }
        check(&place, &["--branch", "try"]).2.join("\n").replace(source, "[source]")
    };
    ok(&place, &["trust"]);
    let said = asked(pin, "0");
    assert_snapshot!(said, @"plugin `x` lies outside of the workspace, at [source], and only the broker.toml on the disk can name such a file");
    let up = format!("tools/../{}{pin}", "../".repeat(20));
    for (source, digest) in [(pin, digest), (&none, "0"), (&up, "0"), ("/proc/self/environ", "0")] {
        assert_eq!(asked(source, digest), said, "{source}");
    }
    // A link in the branch leads nowhere.
    for target in [pin, &none, "../../pin"] {
        let patch = format!(
            "diff --git a/tools/x.wasm b/tools/x.wasm\nnew file mode 120000\n--- /dev/null\n+++ b/tools/x.wasm\n\
             @@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
        );
        let link = place.run_with_input(&["branch", "patch", "try"], &patch);
        assert!(link.status.success(), "{}", String::from_utf8_lossy(&link.stderr));
        assert_eq!(
            asked("tools/x.wasm", "0"),
            "cannot read plugin `x` at [source]: it, or something on the way there, is not a directory"
        );
        ok(&place, &["branch", "rm", "try", "tools/x.wasm"]);
    }

    // What the user's own file names may be read, and is not told of either: a branch has a lock file of its own.
    place.write("broker.toml", toml(pin));
    place.write("broker.lock", lock(pin, "0"));
    let said = asked(pin, "0");
    assert_snapshot!(said, @"cannot use plugin `x` at [source]: the file is missing, unreadable, or differs from broker.lock; run `broker plugin update x`");
    fs::remove_file(&secret).unwrap();
    assert_eq!(asked(pin, "0"), said);
    ok(&place, &["trust", "--revoke"]);
    let (_, _, incomplete) = check(&place, &["a.c"]);
    assert!(incomplete[0].contains("which counts only in a workspace that is trusted"), "{incomplete:?}");
}

#[test]
fn the_list_has_the_digests_of_the_lock_file() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    let lock = place.read("broker.lock");
    let digest = lock.split_once("sha256:").unwrap().1[..12].to_owned();
    let line = |text: String| text.lines().find(|it| it.starts_with("no-todo ")).unwrap().to_owned();
    assert!(line(ok(&place, &["plugin", "list"])).contains(&format!(" sha256:{digest} ")));
}

/// What a server has, by path: type and body.
type Pages = Arc<Mutex<HashMap<String, (String, Vec<u8>)>>>;

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
    // What the server has now does not matter to a check, nor to an installation.
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
