//! Findings of servers, and messages on findings that are not available.

use broker_proto::v1::{self as pb, query_service_client::QueryServiceClient};
use tests::daemon::{Client, base, refusal};

use super::*;

#[tokio::test]
async fn a_method_goes_to_the_server_of_the_document_that_it_names() {
    let it = place("");
    it.write("b.txt", "text");
    it.run(&["trust"]);
    assert!(it.run(&["branch", "fork", "try"]).status.success());
    let client = Client::at(&it.own("run/broker.sock")).await;
    let workspace = client.workspaces().list_workspaces(pb::ListWorkspacesRequest {}).await.unwrap();
    let workspace = workspace.into_inner().workspaces.remove(0).workspace_id;
    let call = async |file: &str| {
        let uri = format!("file://{}", it.root().join(file).display());
        let request = pb::CallMethodRequest {
            target: Some(base(&workspace)),
            method: "textDocument/diagnostic".to_owned(),
            params_json: serde_json::json!({ "textDocument": { "uri": uri } }).to_string(),
            priority: pb::Priority::Interactive.into(),
            ..pb::CallMethodRequest::default()
        };
        QueryServiceClient::new(client.channel.clone()).call_method(request).await
    };
    let answer = call("a.m").await.unwrap().into_inner();
    assert_eq!(answer.server, "model");
    assert!(answer.result_json.contains("of the disk"), "{}", answer.result_json);
    let (_, reason, _) = refusal(call("b.txt").await);
    assert_eq!(reason, "SERVER_UNAVAILABLE");
    let (_, reason, details) = refusal(call("../outside.m").await);
    assert_eq!(
        (reason.as_str(), details.bad_request().unwrap().field_violations[0].field.as_str()),
        ("INVALID_FIELD", "server")
    );
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
            assert!(reason.starts_with("not installed: go install"), "{report}");
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
            it.run(&["daemon", "stop"]);
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
    // Behaviour that is known of gopls, with another program in its place.
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
    // Findings that return once it compiles may have been there before.
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
    assert_eq!((exit, reason), (Some(2), "not installed: broker server add ty"));
    assert_eq!(run(&["b.txt"]).0, Some(0), "it would not be asked about that");
    it.write("broker.toml", "");
    it.write("setup.py", "");
    let (exit, report) = run(&[]);
    assert_eq!((exit, report["unavailable"][0]["linter"].as_str()), (Some(0), Some("ty")), "{report}");
    it.write("broker.toml", "[servers]\nuse = []\n");
    assert_eq!(run(&[]).1.get("unavailable"), None);
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
        (
            exit,
            reason.contains("not installed: go install") || reason.contains("this workspace does not use it"),
        )
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
