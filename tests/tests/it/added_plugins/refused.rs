//! Plugins that are refused, and the messages.

use super::*;

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
    assert_snapshot!(refused(&place, &["plugin", "install"]), @"error: broker.lock:2 makes no sense: key with no value, expected `=`; restore it from version control, or delete it and run `broker plugin update` and `broker server add`");
    let reason = "broker.lock:2 makes no sense: key with no value, expected `=`; restore it from version control, or delete it and run `broker plugin update` and `broker server add`";
    assert_eq!(check(&place, &["a.c"]).2, [reason, reason], "of the plugin, and of the tools");
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
