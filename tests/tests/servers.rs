//! Language servers through the program, with a server that does what its documents say.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the disk themselves, and may fail"
)]

use std::{
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use serde_json::Value;
use tests::{broker, place::Place};

/// A workspace whose configuration names the server.
fn place(more: &str) -> Place {
    let testkit = broker().with_file_name("language-servers-testkit");
    assert!(testkit.exists(), "{} is missing: run the tests with ./dev test", testkit.display());
    let config = format!(
        "[servers]\nuse = ['model']\n[servers.define.model]\ncommand = ['{}', 'model']\nglobs = ['*.m']\n\
         barrier = 'pull'\n{more}",
        testkit.display()
    );
    Place::new(&[("broker.toml", &config), ("a.m", "of the disk"), ("b.m", "other")])
}

fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn check(it: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = it.run(&[&["check", "--output-format", "json"], arguments].concat());
    let (exit, stdout, stderr) = told(&output);
    (exit, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
}

fn messages(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|it| it["message"].as_str().unwrap()).collect()
}

#[test]
fn nothing_runs_in_a_workspace_that_is_not_trusted() {
    let it = place("");
    let (exit, report) = check(&it, &[]);
    assert_eq!((exit, messages(&report).len()), (Some(2), 0));
    let reason = report["incomplete"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("not trusted; see `broker trust`"), "{reason}");
    assert!(it.run(&["trust"]).status.success());
    let (exit, report) = check(&it, &[]);
    assert_eq!((exit, messages(&report).len()), (Some(1), 2), "{report}");
    assert!(it.run(&["trust", "--revoke"]).status.success());
    assert_eq!(check(&it, &[]).0, Some(2));
}

#[test]
fn a_branch_is_what_the_server_sees() {
    let it = place("");
    it.run(&["trust"]);
    for (branch, text) in [("one", "of one"), ("two", "of two")] {
        assert!(it.run(&["branch", "fork", branch]).status.success());
        assert!(it.run_with_input(&["branch", "write", branch, "a.m"], text).status.success());
    }
    for branch in ["one", "two", "one"] {
        let (exit, report) = check(&it, &["--branch", branch, "a.m"]);
        let said = messages(&report).join(" ");
        assert_eq!(exit, Some(1), "{report}");
        let other = if branch == "one" { "of two" } else { "of one" };
        assert!(said.contains(&format!("of {branch}")) && !said.contains(other), "{branch}: {said}");
    }
    let (_, report) = check(&it, &["a.m"]);
    assert!(messages(&report).join(" ").contains("of the disk"), "{report}");
}

#[test]
fn a_server_that_is_named_is_missed_where_it_has_no_files_too() {
    let it = Place::new(&[("b.txt", "text\n")]);
    it.run(&["trust"]);
    let run = |path: &std::ffi::OsStr, arguments: &[&str]| {
        let arguments = [&["check", "--output-format", "json"], arguments].concat();
        let (exit, stdout, _) = told(&it.command(&arguments).env("PATH", path).output().unwrap());
        (exit, serde_json::from_str::<Value>(&stdout).unwrap())
    };
    assert!(it.command(&["branch", "fork", "try"]).env("PATH", "").output().unwrap().status.success());
    let named = [("", &["--select", "gopls/ALL"][..]), ("[servers]\nuse = ['gopls']\n", &[])];
    for (config, select) in named {
        it.write("broker.toml", config);
        for branch in [&[][..], &["--branch", "try"]] {
            let (exit, report) = run("".as_ref(), &[select, branch].concat());
            assert_eq!(exit, Some(2), "{config}{branch:?}: {report}");
            let reason = report["incomplete"][0]["reason"].as_str().unwrap();
            assert!(reason.starts_with("gopls is not installed"), "{report}");
        }
    }
    assert_eq!(
        run("".as_ref(), &["b.txt"]).0,
        Some(0),
        "the configuration names it, and that is no file for it"
    );
    let programs = it.own("programs");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(broker().with_file_name("language-servers-testkit"), programs.join("gopls"))
        .unwrap();
    for (config, select) in named {
        it.write("broker.toml", config);
        let (exit, report) = run(programs.as_os_str(), select);
        let unavailable = serde_json::json!([{ "linter": "gopls", "reason": "there are no files for it" }]);
        assert_eq!((exit, &report["unavailable"]), (Some(0), &unavailable), "{config}: {report}");
    }
    it.write("a.go", "");
    it.write("broker.toml", "[servers]\nuse = []\n");
    let (exit, report) = run(programs.as_os_str(), &["--select", "gopls/ALL"]);
    let reason = report["incomplete"][0]["reason"].as_str().unwrap_or_default();
    assert!(exit == Some(2) && reason.contains("this workspace does not use it"), "{report}");
}

/// Both ways: what was missing and is there, and what was there and is gone.
#[test]
fn what_changes_outside_of_the_workspace_is_seen() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("lib");
    for stamped in [true, false] {
        let more =
            if stamped { format!("outside = ['{}']\n", outside.path().display()) } else { String::new() };
        let it = place(&more);
        it.write("a.m", format!("reads {}", file.display()));
        it.run(&["trust"]);
        it.run(&["branch", "fork", "try"]);
        let says = |arguments: &[&str]| {
            let (_, report) = check(&it, &[arguments, &["a.m"]].concat());
            messages(&report).join(" ")
        };
        for (text, held) in [(None, "{nothing}"), (Some("it"), "{it}"), (None, "{nothing}")] {
            match text {
                Some(text) => std::fs::write(&file, text).unwrap(),
                None => drop(std::fs::remove_file(&file)),
            }
            // Without a daemon, nothing is kept from one run to the next.
            assert!(says(&[]).ends_with(held), "{text:?}: {}", says(&[]));
            if stamped {
                assert!(
                    says(&["--branch", "try"]).ends_with(held),
                    "{text:?}: {}",
                    says(&["--branch", "try"])
                );
            }
            it.run(&["stop"]);
            assert!(says(&["--branch", "try"]).ends_with(held), "{text:?} after a restart");
        }
        let kept = files_below(&it.own("cache").join("answers"));
        let holds = |it: &std::path::PathBuf| {
            let bytes = std::fs::read(it).unwrap();
            bytes.windows(5).any(|it| it == b"model")
        };
        assert!(!kept.iter().any(holds), "{kept:?}");
    }
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    entries.flat_map(|it| if it.is_dir() { files_below(&it) } else { vec![it] }).collect()
}

#[test]
fn a_finding_that_nobody_looked_for_is_not_fixed() {
    // What is known of gopls, of another program.
    let it = place("");
    let config =
        it.read("broker.toml").replace("'model']\n[", "'gopls']\n[").replace("define.model", "define.gopls");
    it.write("broker.toml", config);
    it.run(&["trust"]);
    it.run(&["branch", "fork", "try"]);
    assert!(it.run_with_input(&["branch", "write", "try", "b.m"], "broken").status.success());
    let (_, report) = check(&it, &["--branch", "try", "--new-only"]);
    assert_eq!(
        (messages(&report), &report["summary"]["fixed"]),
        (vec!["it is broken"], &Value::from(0)),
        "{report}"
    );
    // What is found again once it compiles may have been there before.
    assert!(it.run(&["branch", "fork", "more", "--from", "try"]).status.success());
    assert!(it.run_with_input(&["branch", "write", "more", "b.m"], "fine").status.success());
    let (exit, report) = check(&it, &["--branch", "more", "--new-only", "a.m"]);
    let reason = report["incomplete"][0]["reason"].as_str().unwrap_or_default();
    assert!(
        exit == Some(2) && reason.contains("what is new here may not be: gopls ran only some"),
        "{report}"
    );
}

#[test]
fn a_workspace_that_is_not_trusted_says_who_would_be_asked() {
    let it = Place::new(&[("pyproject.toml", ""), ("a.py", "x = 1\n"), ("b.txt", "")]);
    let (programs, testkit) = (it.own("programs"), broker().with_file_name("language-servers-testkit"));
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(testkit, programs.join("ty")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = it.command(&[&["check"], arguments].concat());
        told(&command.env("PATH", &programs).output().unwrap())
    };
    it.run(&["branch", "fork", "try"]);
    it.run(&["stop"]);
    for branch in [&[][..], &["--branch", "try"]] {
        let with = |format: &str| run(&[&["--output-format", format], branch].concat());
        let (exit, _, stderr) = with("full");
        assert_eq!(exit, Some(0));
        let sentence = "ty was not asked: language servers do not run in";
        assert_eq!(stderr.matches(sentence).count(), 1, "{branch:?}: {stderr}");
        let (exit, report, _) = with("json");
        let report: Value = serde_json::from_str(&report).unwrap();
        let reason = report["unavailable"][0]["reason"].as_str().unwrap();
        assert!(exit == Some(0) && reason.contains("not trusted; see `broker trust`"), "{report}");
        let (_, sarif, _) = with("sarif");
        let sarif: Value = serde_json::from_str(&sarif).unwrap();
        let invocation = &sarif["runs"][0]["invocations"][0];
        let told = &invocation["toolConfigurationNotifications"][0]["message"]["text"];
        assert!(told.as_str().unwrap().contains("ty was not asked"), "{sarif}");
        assert_eq!(invocation["executionSuccessful"], true);
        assert!(with("agent").1.contains("NOT ASKED ty: "));
        assert!(!run(&[&["b.txt"], branch].concat()).2.contains("ty was not asked"), "it is no Python");
        assert_eq!(run(&[&["--select", "ty/ALL"], branch].concat()).0, Some(2), "it is named");
    }
}

#[test]
fn what_is_not_installed_is_told() {
    let it = Place::new(&[("broker.toml", "[servers]\nuse = ['ty']\n"), ("a.py", "x = 1\n"), ("b.txt", "")]);
    it.run(&["trust"]);
    let run = |arguments: &[&str]| {
        let mut command = it.command(&[&["check", "--output-format", "json"], arguments].concat());
        let output = command.env("PATH", "").output().unwrap();
        (output.status.code(), serde_json::from_slice::<Value>(&output.stdout).unwrap())
    };
    let (exit, report) = run(&[]);
    let reason = report["incomplete"][0]["reason"].as_str().unwrap();
    assert_eq!((exit, reason), (Some(2), "ty is not installed; to have it: pip install ty"));
    assert_eq!(run(&["b.txt"]).0, Some(0), "it would not be asked about that");
    it.write("broker.toml", "");
    it.write("setup.py", "");
    let (exit, report) = run(&[]);
    assert_eq!((exit, report["unavailable"][0]["linter"].as_str()), (Some(0), Some("ty")), "{report}");
    it.write("broker.toml", "[servers]\nuse = []\n");
    assert_eq!(run(&[]).1.get("unavailable"), None);
}

#[test]
fn a_slip_in_the_configuration_is_met_with_a_hint() {
    let it = Place::new(&[("broker.toml", "[servers]\nuse = ['pyrigth']\n"), ("a.py", "")]);
    it.run(&["trust"]);
    for command in ["check", "doctor"] {
        let (exit, _, stderr) = told(&it.run(&[command]));
        assert_eq!(exit, Some(2), "{command}");
        assert!(
            stderr.contains("unknown language server `pyrigth`")
                && stderr.contains("did you mean `pyright`?"),
            "{command}: {stderr}"
        );
    }
    it.write("broker.toml", "[servers.define.x]\ncommand = ['x']\nglobs = ['*.x']\nbarrier = 'guess'\n");
    let (exit, _, stderr) = told(&it.run(&["check"]));
    assert_eq!(exit, Some(2));
    assert!(stderr.contains("servers.define.x, in `broker.toml`: unknown variant `guess`"), "{stderr}");
}

#[test]
fn only_the_rules_that_are_asked_for() {
    let it = place("");
    it.run(&["trust"]);
    let (_, report) = check(&it, &["--select", "model/none"]);
    assert_eq!(messages(&report).len(), 0, "{report}");
    let (_, report) = check(&it, &["--select", "model/ALL"]);
    assert_eq!(messages(&report).len(), 2, "{report}");
    let (_, report) = check(&it, &["--select", "F401"]);
    assert_eq!(messages(&report).len(), 0, "{report}");
    let (_, report) = check(&it, &["--ignore", "model/ALL"]);
    assert_eq!(messages(&report).len(), 0, "{report}");
}

#[test]
fn a_server_that_is_selected_and_not_asked_is_missed() {
    let it = place("");
    it.write("a.go", "");
    it.run(&["trust"]);
    it.run(&["branch", "fork", "try"]);
    let tried = |more: &[&str]| {
        let (exit, report) = check(&it, more);
        let reason = report["incomplete"][0]["reason"].as_str().unwrap_or_default();
        (exit, reason.contains("gopls is not installed") || reason.contains("this workspace does not use it"))
    };
    for branch in [&[][..], &["--branch", "try"]] {
        let with = |select| [&["--select", select], branch].concat();
        assert_eq!(tried(&with("gopls/ALL")), (Some(2), true), "{branch:?}");
        assert_eq!(tried(&with("ALL")), (Some(1), false), "{branch:?}");
        for (select, hint) in [
            ("model", "`model/ALL`"),
            ("model:x", "`model/x`"),
            ("modell/x", "`model`"),
            ("gopls", "`gopls/ALL`"),
        ] {
            let (exit, _, stderr) = told(&it.run(&[&["check"][..], &with(select)].concat()));
            assert!(
                exit == Some(2) && stderr.contains(&format!("did you mean {hint}?")),
                "{select}: {stderr}"
            );
        }
    }
}

#[test]
fn a_rule_of_a_server_may_be_more_or_less_grave() {
    let it =
        place("[severity]\n'model/*' = 'hint'\nsome-code = 'error'\n'ty/any' = 'error'\nF4O1 = 'hint'\n");
    it.run(&["trust"]);
    let (exit, stdout, stderr) = told(&it.run(&["check", "--output-format", "json"]));
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let severities: Vec<_> =
        report["findings"].as_array().unwrap().iter().map(|it| it["severity"].as_str().unwrap()).collect();
    assert_eq!((exit, severities), (Some(1), vec!["hint"; 2]), "{report}");
    let warned: Vec<_> = stderr.lines().filter(|it| it.starts_with("warning: ")).collect();
    assert!(matches!(warned[..], [one] if one.contains("`F4O1`") && one.contains("`F401`")), "{stderr}");
}

#[test]
fn a_question_about_no_file_or_no_place_says_so() {
    let it = place("");
    it.write("folder/c.m", "");
    it.run(&["branch", "fork", "try"]);
    let asked = |arguments: &[&str]| {
        let (exit, _, stderr) = told(&it.run(&[&["query"], arguments].concat()));
        assert_eq!(exit, Some(2), "{stderr}");
        stderr
    };
    let gone = asked(&["symbols", "gone.m", "--branch", "try"]);
    assert!(gone.contains("no file `gone.m` in the branch `try`\nhint: name it as FILE"), "{gone}");
    let folder = asked(&["symbols", "folder"]);
    assert!(folder.contains("`folder` is not a file\nhint: a question is about one file"), "{folder}");
    let root = asked(&["workspace-symbols", ".", "name"]);
    assert!(root.contains("`.` is not a file\nhint: name any file of the project"), "{root}");
    let line = asked(&["hover", "a.m:7:1"]);
    assert!(line.contains("`a.m` has no line 7; it ends at 1:12"), "{line}");
    let end = asked(&["code-actions", "a.m:1:1", "--end", "1:99"]);
    assert!(end.contains("end: `a.m` has no column 99 in line 1, which ends at column 12"), "{end}");
}

/// Whatever has this in its command line.
fn processes_with(text: &str) -> Vec<u32> {
    let output = Command::new("pgrep").args(["-f", text]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().filter_map(|it| it.parse().ok()).collect()
}

fn ends_soon(what: &Path) -> bool {
    let begun = Instant::now();
    while !processes_with(what.to_str().unwrap()).is_empty() {
        if begun.elapsed() > Duration::from_secs(2) {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// Each server is a program of its own name.
#[test]
fn no_server_outlives_a_daemon_that_is_killed() {
    let it = place("");
    let testkit = broker().with_file_name("language-servers-testkit");
    let names: Vec<_> = (0..6).map(|index| format!("model{index}")).collect();
    let mut config = format!("[servers]\nuse = {names:?}\n");
    for name in &names {
        let program = it.own(name);
        std::os::unix::fs::symlink(&testkit, &program).unwrap();
        config += &format!(
            "[servers.define.{name}]\ncommand = ['{}', 'model']\nglobs = ['*.m']\nbarrier = 'pull'\n",
            program.display()
        );
    }
    it.write("broker.toml", config);
    it.run(&["trust"]);
    it.run(&["branch", "fork", "try"]);
    let (_, report) = check(&it, &["--branch", "try", "a.m"]);
    assert_eq!(messages(&report).len(), 1, "all of them say the same: {report}");
    let status: Value =
        serde_json::from_slice(&it.run(&["status", "--output-format", "json"]).stdout).unwrap();
    let pid = status["pid"].as_u64().unwrap().to_string();
    let servers = it.own("model");
    assert!(processes_with(servers.to_str().unwrap()).len() >= 6);
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    assert!(ends_soon(&servers), "{:?}", processes_with(servers.to_str().unwrap()));
}

fn json_of(output: &Output) -> Value {
    let (_, stdout, stderr) = told(output);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
}

/// The server runs below a shell that leaves a trace in the workspace, and says something.
fn traced_place() -> Place {
    let it = place("");
    let testkit = broker().with_file_name("language-servers-testkit");
    let script = format!("touch ran; echo hello >&2; exec {} model", testkit.display());
    let config = format!(
        "[servers]\nuse = ['model']\n[servers.define.model]\ncommand = ['sh', '-c', '{script}']\n\
         globs = ['*.m']\nbarrier = 'pull'\n"
    );
    it.write("broker.toml", config);
    it
}

#[test]
fn the_doctor_starts_nothing_unless_asked_and_trusted() {
    let it = traced_place();
    let doctor = |arguments: &[&str]| {
        let output = it.run(&[&["doctor", "--output-format", "json"], arguments].concat());
        (output.status.code(), json_of(&output), it.root().join("ran").exists())
    };
    let (exit, found, ran) = doctor(&["--versions"]);
    let remedy = format!("broker trust {}", it.root().display());
    assert_eq!((exit, ran, &found["trusted"]), (Some(1), false, &false.into()));
    assert_eq!(found["missing"][0]["remedy"], remedy.as_str(), "{found}");
    assert!(it.run(&["trust"]).status.success());
    let (exit, found, ran) = doctor(&[]);
    let model = |found: &Value| {
        found["servers"].as_array().unwrap().iter().find(|it| it["name"] == "model").unwrap().clone()
    };
    assert_eq!((exit, ran), (Some(0), false), "{found}");
    let model_now = model(&found);
    assert_eq!((&model_now["used"], &model_now["files"]), (&true.into(), &2.into()), "{found}");
    assert_eq!((&model_now["version"], &model_now["reason"]["kind"]), (&Value::Null, &"named".into()));
    let (exit, found, ran) = doctor(&["--versions", "a.m"]);
    assert_eq!((exit, ran, model(&found)["version"].as_str()), (Some(0), true, Some("model 1")), "{found}");
    assert!(!it.own("run/broker.sock").exists(), "it needs no daemon");
}

#[test]
fn the_doctor_tells_what_is_not_installed() {
    let it = Place::new(&[("go.mod", ""), ("a.go", ""), ("b.py", "")]);
    let doctor =
        |format: &str| it.command(&["doctor", "--output-format", format]).env("PATH", "").output().unwrap();
    let (exit, text, stderr) = told(&doctor("text"));
    let missing = "missing: gopls: not installed; to fix it: go install golang.org/x/tools/gopls@latest";
    assert_eq!((exit, text.lines().last()), (Some(1), Some(missing)), "{text}{stderr}");
    let found = json_of(&doctor("json"));
    let languages: Vec<_> = found["languages"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(languages, [&"go".into(), &"python".into(), &Value::Null], "{found}");
    assert_eq!(found["languages"][1]["plugins"], serde_json::json!(["python", "text"]));
    let schema = include_str!("../../docs/doctor.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert!(schema.is_valid(&found), "{found}");
    it.write("broker.toml", "[servers]\nuse = []\n");
    assert_eq!(doctor("text").status.code(), Some(0));
}

#[test]
fn a_daemon_with_another_path_is_told() {
    let it = Place::new(&[("go.mod", ""), ("a.go", "")]);
    let bin = it.own("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(broker().with_file_name("language-servers-testkit"), bin.join("gopls"))
        .unwrap();
    it.run(&["trust"]);
    assert!(it.command(&["branch", "fork", "try"]).env("PATH", "").output().unwrap().status.success());
    let stderr_with =
        |path: &str, arguments: &[&str]| told(&it.command(arguments).env("PATH", path).output().unwrap()).2;
    let other = "the daemon was started with another PATH, without gopls; `broker stop` ends it";
    let method = ["query", "method", "a.go", "workspace/symbol", "--server", "gopls"];
    let commands = [&["check", "--branch", "try"][..], &["query", "symbols", "a.go"], &method];
    for arguments in commands {
        let stderr = stderr_with(bin.to_str().unwrap(), arguments);
        assert!(
            stderr.contains("gopls is not installed") && stderr.contains(other),
            "{arguments:?}: {stderr}"
        );
        let stderr = stderr_with("", arguments);
        assert!(
            stderr.contains("gopls is not installed") && !stderr.contains(other),
            "{arguments:?}: {stderr}"
        );
    }
    let doctor = ["doctor", "--output-format", "json"];
    let found = json_of(&it.command(&doctor).env("PATH", &bin).output().unwrap());
    assert_eq!(found["elsewhere"], serde_json::json!([{ "server": "gopls", "program": null }]), "{found}");
}

#[test]
fn a_daemon_is_not_the_shell_that_started_it() {
    let it = place("");
    let (testkit, seen) = (broker().with_file_name("language-servers-testkit"), it.own("seen"));
    let script = format!("env >{}; exec {} model", seen.display(), testkit.display());
    it.write(
        "broker.toml",
        format!(
            "[servers]\nuse = ['model']\n[servers.define.model]\ncommand = ['sh', '-c', '{script}']\n\
             globs = ['*.m']\nbarrier = 'pull'\n"
        ),
    );
    assert!(it.run(&["trust"]).status.success());
    let path = std::env::var("PATH").unwrap();
    let other = [("SECRET_OF_A", "secret".to_owned()), ("VIRTUAL_ENV", "/a/env".to_owned())];
    let mut fork = it.command(&["branch", "fork", "try"]);
    fork.envs(other.clone()).env("PATH", format!("/a/env/bin:{path}")).env("GOFLAGS", "-mod=a");
    assert!(fork.output().unwrap().status.success());
    let status = json_of(&it.run(&["status", "--output-format", "json"]));
    let environ = std::fs::read_to_string(format!("/proc/{}/environ", status["pid"])).unwrap();
    assert!(environ.contains("HOME=") && environ.contains("PATH="), "{environ:?}");
    for foreign in ["SECRET_OF_A", "/a/env", "GOFLAGS"] {
        assert!(!environ.contains(foreign), "{foreign}: {environ:?}");
    }

    // What a server is started with in a workspace is the same for each asker, a command or the daemon for it.
    let own = it.root().join("env");
    let variables = |arguments: &[&str]| {
        let mut command = it.command(&[&["check", "--no-cache"][..], arguments].concat());
        if !arguments.is_empty() {
            command = it.command(&[&["check"][..], arguments].concat());
        }
        command.env("VIRTUAL_ENV", &own).env("GOFLAGS", "-mod=b").env("SECRET_OF_B", "secret");
        command.env("PATH", format!("{}/bin:{path}", own.display()));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&seen).unwrap();
        std::fs::remove_file(&seen).unwrap();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (direct, by_daemon) = (variables(&[]), variables(&["--branch", "try"]));
    assert_eq!(direct, by_daemon);
    assert!(direct.contains(&format!("VIRTUAL_ENV={}", own.display())), "{direct:?}");
    assert!(direct.contains(&"GOFLAGS=-mod=b".to_owned()), "{direct:?}");
    assert!(!direct.iter().any(|it| it.contains("SECRET")), "{direct:?}");
}

#[test]
fn the_servers_of_the_daemon_are_told() {
    let it = traced_place();
    let servers = |arguments: &[&str]| it.run(&[&["servers"], arguments].concat());
    assert_eq!(told(&servers(&[])), (Some(1), String::new(), "no daemon is running\n".to_owned()));
    assert!(!it.own("run/broker.sock").exists(), "it starts none");
    it.run(&["trust"]);
    it.run(&["branch", "fork", "try"]);
    assert!(servers(&[]).status.success());
    let (_, report) = check(&it, &["--branch", "try", "a.m"]);
    assert_eq!(messages(&report).len(), 1, "{report}");
    let all = json_of(&servers(&["--output-format", "json"]));
    let model = &all[0];
    assert_eq!(
        (model["name"].as_str(), model["version"].as_str()),
        (Some("model"), Some("model 1")),
        "{all}"
    );
    assert_eq!((model["starts"].as_u64(), model["crashes"].as_u64()), (Some(1), Some(0)), "{all}");
    assert!(model["pid"].as_u64() > Some(0) && model["questions"].as_u64() > Some(0), "{all}");
    let (exit, text, _) = told(&servers(&[]));
    assert_eq!((exit, text.lines().count()), (Some(0), 2), "{text}");
    let status = json_of(&it.run(&["status", "--output-format", "json"]));
    assert_eq!(status["servers"]["running"], 1, "{status}");
    let (exit, _, stderr) = told(&servers(&["log", "nobody"]));
    assert!(exit == Some(2) && stderr.contains("no server `nobody`"), "{stderr}");
    let said = said_by(&it, "model");
    assert!(said.contains("model in ") && said.contains("   1  hello\n"), "{said}");
}

/// What a server writes is read besides what it answers.
fn said_by(it: &Place, name: &str) -> String {
    let begun = Instant::now();
    loop {
        let (exit, said, stderr) = told(&it.run(&["servers", "log", name]));
        assert_eq!(exit, Some(0), "{stderr}");
        if said.contains("hello") || begun.elapsed() > Duration::from_secs(10) {
            return said;
        }
        std::thread::yield_now();
    }
}

#[test]
fn who_is_trusted_no_more_has_no_servers() {
    let it = place("");
    it.run(&["trust"]);
    assert!(it.run(&["branch", "fork", "one"]).status.success());
    let running = || {
        let (_, stdout, _) = told(&it.run(&["servers", "--output-format", "json"]));
        let all: Value = serde_json::from_str(&stdout).unwrap();
        all.as_array().unwrap().iter().filter(|it| !it["pid"].is_null()).count()
    };
    let begin = || (check(&it, &["--branch", "one"]).0, running());
    assert_eq!(begin(), (Some(1), 1));
    it.write("a.m", "not asked before");
    assert!(it.run(&["servers", "end"]).status.success());
    assert_eq!(running(), 0);
    assert_eq!(begin(), (Some(1), 1), "it is started again");
    assert!(it.run(&["trust", "--revoke"]).status.success());
    assert_eq!(running(), 0);
    assert_eq!(begin(), (Some(2), 0));
}
