//! Checkers that try what they can: programs of the tests under the names of tools that Broker knows.

use super::*;

/// A program that reports what it could reach in its finding, and leaves traces.
fn guest(it: &Hostile) -> String {
    let (own, port) = (it.place.own(""), it.listener.local_addr().unwrap().port());
    let own = own.display();
    let secrets = SECRETS.map(|name| format!("try {name} 'grep {SECRET} {own}/{name}'")).join("\n");
    format!(
        r#"#!/bin/bash
for file; do :; done
try() {{ eval "$2" >/dev/null 2>&1 && found="$found $1"; }}
{secrets}
try link 'grep {SECRET} leak'
try state 'ls {own}/state/*'
try process 'kill -0 {process}'
try network 'exec 3<>/dev/tcp/127.0.0.1/{port}'
{{ touch pwned-workspace {own}/pwned-home $HOME/pwned-home /var/tmp/pwned-of-a-guest; }} 2>/dev/null
echo '{{"comments": [{{"file": "'"$file"'", "line": 1, "endLine": 1, "column": 1, "endColumn": 2, "level": "info", "code": 1, "message": "reached:'"$found"'", "fix": null}}]}}'
exit 1
"#,
        process = std::process::id(),
    )
}

fn place(config: &str) -> Hostile {
    let it = Hostile::new(&[("run.sh", "echo\n"), ("broker.toml", config)]);
    program(&it.place.own("bin/shellcheck"), &guest(&it));
    it
}

const ASK: [&str; 3] = ["--select", "shellcheck/ALL", "run.sh"];

#[test]
fn a_confined_checker_reaches_nothing_and_leaves_nothing() {
    let it = place("[checkers.shellcheck]\n");
    let (messages, said, exit) = it.check(&ASK);
    assert_eq!((messages, exit), (vec!["reached:".to_owned()], Some(1)), "{said}");
    it.expect_no_trace();
    assert!(!Path::new("/var/tmp/pwned-of-a-guest").exists());
}

/// The same program as any program of the user's: what it tries is possible.
#[test]
fn what_a_guest_tries_is_possible_outside() {
    let it = place("");
    fs::create_dir_all(it.place.own("state/some")).unwrap();
    let guest = guest(&it).replace("/var/tmp/pwned-of-a-guest", "");
    program(&it.place.own("bin/shellcheck"), &guest);
    let output = it.place.isolated(it.place.own("bin/shellcheck"), &["x"]).output().unwrap();
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    let all = format!("reached: {} link state process network", SECRETS.join(" "));
    assert!(found.contains(&all), "{found}");
    assert!(it.listener.accept().is_ok() && traces_in(&it.place.root()).len() == 1);
}

#[test]
fn what_an_untrusted_workspace_says_of_a_tool_does_not_count_and_is_told() {
    for (said, key) in [
        ("command = ['sh', '-c', 'touch pwned-command']", "shellcheck"),
        ("command = ['./bin/shellcheck']", "shellcheck"),
        ("env = { PATH = 'bin', LD_PRELOAD = '/w/evil.so', BASH_ENV = 'evil.sh' }", "shellcheck"),
    ] {
        let it = place(&format!("[checkers.{key}]\n{said}\n"));
        it.shim("bin/shellcheck");
        it.place.write("evil.sh", it.trace("env"));
        let (messages, told, _) = it.check(&ASK);
        assert_eq!(messages, ["reached:"], "{said}: {told}");
        let ignored = "not trusted; see `broker trust`";
        assert!(told.contains("[checkers.shellcheck] of broker.toml") && told.contains(ignored), "{told}");
        it.expect_no_trace();
    }
    let own =
        "[checkers.own]\ncommand = ['sh', '-c', 'touch pwned-own']\nglobs = ['*.sh']\noutput = 'sarif'\n";
    let it = place(own);
    for level in [&["trust", "--revoke"][..], &["trust", "--confined"]] {
        it.run(level);
        let (messages, told, exit) = it.check(&[]);
        assert_eq!((messages.len(), exit), (0, Some(2)), "{told}");
        assert!(told.contains("`broker.toml` defines it, and ") && told.contains("not trusted"), "{told}");
    }
    it.expect_no_trace();
}

/// Ways by which a program of the workspace might be taken for the tool, or its interpreter.
#[test]
fn no_program_of_the_workspace_runs() {
    let it = place("[checkers.shellcheck]\n");
    for folder in ["node_modules/.bin", ".venv/bin", "venv/bin", "bin", "."] {
        for name in ["shellcheck", "bash", "sh", "env", "grep"] {
            it.shim(&format!("{folder}/{name}"));
        }
    }
    let (root, programs) = (it.place.root(), it.place.own("bin"));
    symlink(root.join("bin"), it.place.own("linked")).unwrap();
    fs::create_dir(it.place.own("mixed")).unwrap();
    symlink(root.join("bin/shellcheck"), it.place.own("mixed/shellcheck")).unwrap();
    let own = |name: &str| it.place.own(name).display().to_string();
    let check = |first: &str| {
        let path = format!("{first}:{}:/usr/bin:/bin", programs.display());
        let mut command = it.place.command(&[&["check", "--output-format", "json"], &ASK[..]].concat());
        command.env("PATH", path).env("VIRTUAL_ENV", root.join(".venv")).env("NODE_PATH", &root);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let roots = [root.join("bin"), root.join(".venv/bin"), root.join("node_modules/.bin"), root.clone()];
    for first in roots.map(|it| it.display().to_string()).into_iter().chain([own("linked"), "bin".into()]) {
        let report = check(&first);
        assert!(report.contains("\"reached:\""), "{first}: {report}");
        it.expect_no_trace();
    }
    let report = check(&own("mixed"));
    assert!(
        report.contains("only the workspace has its program") && !report.contains("reached:"),
        "{report}"
    );
    it.expect_no_trace();
}

#[test]
fn what_runs_code_of_the_workspace_is_asked_confined_only_where_the_user_says_so() {
    let it = Hostile::new(&[("a.py", "x = 1\n"), ("broker.toml", "[checkers.pylint]\n")]);
    let message = "{\"messages\": [{\"path\": \"a.py\", \"line\": 1, \"column\": 0, \"type\": \"error\", \"messageId\": \"E1\", \"symbol\": \"it-ran\", \"message\": \"'\"$(cat leak)\"'\"}]}";
    let script =
        format!("#!/bin/bash\n{{ {}; }} 2>/dev/null\necho '{message}'\nexit 2\n", it.trace("pylint"));
    program(&it.place.own("bin/pylint"), &script);
    let ask = ["--select", "pylint/ALL", "a.py"];
    let (messages, told, exit) = it.check(&ask);
    assert_eq!((messages.len(), exit), (0, Some(2)), "{told}");
    assert!(told.contains("it runs code that the configuration names, and "), "{told}");
    it.run(&["trust", "--confined"]);
    let (messages, told, _) = it.check(&ask);
    assert_eq!(messages, [""], "{told}");
    it.expect_no_trace();
    let listed = it.run(&["trust", "--list", "--confined"]).stdout;
    assert_eq!(String::from_utf8(listed).unwrap(), format!("{}\n", it.place.root().display()));
    it.run(&["trust", "--revoke"]);
    assert_eq!(it.check(&ask).2, Some(2));
}

#[test]
fn the_doctor_tells_what_runs_confined() {
    let it = place("[checkers.shellcheck]\n[checkers.pylint]\n");
    it.place.write("a.py", "");
    program(&it.place.own("bin/pylint"), "#!/bin/sh\n");
    let doctor = |format: &str| {
        let output = it.run(&["doctor", "--output-format", format]);
        String::from_utf8(output.stdout).unwrap()
    };
    let found: Value = serde_json::from_str(&doctor("json")).unwrap();
    let schema = include_str!("../../../../docs/doctor.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert!(schema.is_valid(&found), "{found}");
    let of = |name: &str| found["servers"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
    assert_eq!((&of("shellcheck")["confined"], &of("shellcheck")["refused"]), (&true.into(), &Value::Null));
    assert_eq!(of("pylint")["confined"], false);
    assert!(of("pylint")["refused"].as_str().unwrap().contains("not trusted"), "{found}");
    let text = doctor("text");
    assert!(
        text.contains("named in broker.toml, confined") && text.contains("broker.toml, needs trust"),
        "{text}"
    );
    assert!(
        text.contains("missing: trust: pylint may run only in a workspace that is trusted: broker trust "),
        "{text}"
    );
}
