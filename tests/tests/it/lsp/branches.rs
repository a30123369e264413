//! Commands for branches: each of the table, its answer, its refusals, and what other clients are told.

use super::*;
use tests::editor::{of_branch, of_change};

const REQUEST_FAILED: i64 = -32803;
const INVALID_PARAMS: i64 = -32602;

fn session() -> (Place, Editor) {
    let place = place();
    // Commands are shown no folder of programs that lies in a hidden place.
    let client = Client { path: Some("/usr/bin:/bin".to_owned()), ..Client::pulling() };
    let editor = Editor::start(&place, client);
    (place, editor)
}

/// A new branch, as the answer tells it.
fn fork(editor: &mut Editor, name: &str) -> Value {
    let branch = editor.command("broker.forkBranch", json!({ "name": name }));
    assert_eq!(of_branch(&branch), None);
    branch
}

fn write(place: &Place, branch: &str, path: &str, text: &str) {
    ok_with_input(place, &["branch", "write", branch, path], text);
}

fn names(all: &Value) -> Vec<&str> {
    all.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn all_commands_are_told() {
    let (_place, editor) = session();
    let told = editor.capability("/executeCommandProvider/commands").as_array().unwrap();
    for name in [
        "listBranches",
        "forkBranch",
        "diffBranch",
        "checkBranch",
        "commitBranch",
        "discardBranch",
        "rebaseBranch",
        "runInBranch",
        "explainRule",
        "openRule",
        "disableRule",
    ] {
        assert!(told.contains(&json!(format!("broker.{name}"))), "{name}: {told:?}");
    }
    editor.close();
}

#[test]
fn a_branch_shows_what_was_typed_just_before_the_request() {
    let (place, mut editor) = session();
    place.write("typed.py", "n = 0\n");
    let typed = editor.open(&place, "typed.py");
    let branch = fork(&mut editor, "try");
    let uri = format!("broker-branch://{}/typed.py", branch["id"].as_str().unwrap());
    for round in 1..=50 {
        let text = format!("n = {round}\n");
        editor.set_text(&typed, &text);
        let content = editor.ask("workspace/textDocumentContent", json!({ "uri": uri }));
        assert_eq!(content["text"], text);
    }
    editor.close();
}

#[test]
fn branches_are_forked_and_listed() {
    let (place, mut editor) = session();
    let one = fork(&mut editor, "one");
    assert_eq!((&one["name"], &one["revision"], &one["changedPaths"]), (&json!("one"), &json!(0), &json!(0)));
    assert_eq!(one["workspace"], uri(&place.root()));
    assert!(one["createdMs"].as_u64().unwrap() > 1_600_000_000_000, "{one}");
    assert!(one.get("parent").is_none_or(Value::is_null), "{one}");
    write(&place, "one", "b.py", UNUSED);
    for parent in [one["id"].clone(), json!("one")] {
        let child = editor.command("broker.forkBranch", json!({ "parent": parent }));
        assert_eq!(child["parent"], one["id"]);
        assert!(child["name"].is_string(), "{child}");
    }
    let all = editor.command("broker.listBranches", json!({}));
    assert_eq!(all.as_array().unwrap().len(), 3);
    assert!(all.as_array().unwrap().iter().all(|it| of_branch(it).is_none()), "{all}");
    let listed = all.as_array().unwrap().iter().find(|it| it["id"] == one["id"]).unwrap();
    assert_eq!((&listed["revision"], &listed["changedPaths"]), (&json!(1), &json!(1)));
    // The argument may be left out.
    let all = editor.ask("workspace/executeCommand", json!({ "command": "broker.listBranches" }));
    assert_eq!(all.as_array().unwrap().len(), 3);
    editor.close();
}

#[test]
fn a_diff_has_a_patch_and_what_changed() {
    let (place, mut editor) = session();
    let branch = fork(&mut editor, "try");
    place.write("old.py", "x = 1\n");
    write(&place, "try", "a.py", "import sys\n");
    write(&place, "try", "é b.py", "y = 1\n");
    ok(&place, &["branch", "mv", "try", "old.py", "new.py"]);
    let diff = editor.command("broker.diffBranch", json!({ "branch": "try" }));
    let patch = diff["patch"].as_str().unwrap();
    assert!(patch.contains("-import os\n+import sys\n"), "{patch}");
    let changes = diff["changes"].as_array().unwrap();
    let mut kinds: Vec<_> =
        changes.iter().map(|it| (it["path"].as_str().unwrap(), it["kind"].as_str().unwrap())).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [("a.py", "modified"), ("new.py", "renamed"), ("é b.py", "added")]);
    for change in changes {
        assert_eq!(of_change(change), None);
        let path = change["path"].as_str().unwrap();
        assert_eq!(change["uri"], file_uri(&place, path));
        let branch_uri = change["branchUri"].as_str().unwrap();
        assert!(
            branch_uri.starts_with(&format!("broker-branch://{}/", branch["id"].as_str().unwrap())),
            "{change}"
        );
        let content = editor.ask("workspace/textDocumentContent", json!({ "uri": branch_uri }));
        assert_eq!(content["text"], ok(&place, &["branch", "read", "try", path]));
    }
    let renamed = changes.iter().find(|it| it["kind"] == "renamed").unwrap();
    assert_eq!(renamed["from"], "old.py");
    editor.close();
}

#[test]
fn a_check_tells_what_is_new() {
    let (place, mut editor) = session();
    let branch = fork(&mut editor, "try");
    write(&place, "try", "a.py", "print(x)\n");
    let checked = editor.command("broker.checkBranch", json!({ "branch": branch["id"] }));
    assert_eq!((&checked["complete"], &checked["incomplete"]), (&json!(true), &json!([])), "{checked}");
    let shown = |checked: &Value| {
        let findings = checked["findings"].as_array().unwrap().iter();
        let mut all: Vec<_> = findings
            .map(|it| {
                let change = it["change"].as_str().unwrap_or("-").to_owned();
                (
                    it["path"].as_str().unwrap().to_owned(),
                    change,
                    it["diagnostic"]["code"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        all.sort();
        all
    };
    let row = |change: &str, code: &str| ("a.py".to_owned(), change.to_owned(), code.to_owned());
    assert_eq!(shown(&checked), [row("fixed", "F401"), row("new", "F821")]);
    let all = editor.command("broker.checkBranch", json!({ "branch": branch["id"], "newOnly": false }));
    let rows = shown(&all);
    assert!(rows.iter().any(|it| it.2 == "F821") && rows.iter().all(|it| it.1 != "fixed"), "{rows:?}");
    let finding = &all["findings"][0];
    assert!(finding["uri"].as_str().unwrap().ends_with("/a.py"), "{finding}");
    assert_eq!(finding["diagnostic"]["source"], "python");
    editor.close();
}

#[test]
fn what_a_check_could_not_compute_is_told() {
    let place = Place::new(&[("broker.toml", "")]);
    let _daemon = serve_guest(&place);
    let mut editor = Editor::start(&place, Client::pulling());
    fork(&mut editor, "try");
    write(&place, "try", "x.fault", "error");
    let checked = editor.command("broker.checkBranch", json!({ "branch": "try" }));
    assert_eq!(checked["complete"], false, "{checked}");
    let incomplete = &checked["incomplete"][0];
    assert_eq!(
        (&incomplete["path"], &incomplete["linter"]),
        (&json!("x.fault"), &json!("misbehaves")),
        "{checked}"
    );
    assert!(!incomplete["reason"].as_str().unwrap().is_empty());
    editor.close();
}

#[test]
fn a_check_of_a_branch_can_be_cancelled() {
    let place = Place::new(&[("broker.toml", "")]);
    let _daemon = serve_guest(&place);
    let mut editor = Editor::start(&place, Client::pulling());
    fork(&mut editor, "try");
    write(&place, "try", "x.fault", "spin");
    let params = json!({ "command": "broker.checkBranch", "arguments": [{ "branch": "try" }], "workDoneToken": "work" });
    let id = editor.request("workspace/executeCommand", params);
    let daemon = Daemon::of(&place);
    daemon.until_running(1);
    editor.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(editor.answer(id).unwrap_err().code, -32800);
    daemon.until_running(0);
    editor.close();
}

#[test]
fn a_commit_writes_the_disk_and_ends_the_branch() {
    let (place, mut editor) = session();
    let branch = fork(&mut editor, "try");
    write(&place, "try", "a.py", "x = 1\n");
    write(&place, "try", "new/b.py", "y = 1\n");
    let dry = editor.command("broker.commitBranch", json!({ "branch": "try", "dryRun": true }));
    assert_eq!(dry["changes"].as_array().unwrap().len(), 2, "{dry}");
    assert_eq!(place.read("a.py"), UNUSED, "it was only tried");
    let done = editor.command("broker.commitBranch", json!({ "branch": branch["id"] }));
    assert_eq!((place.read("a.py").as_str(), place.read("new/b.py").as_str()), ("x = 1\n", "y = 1\n"));
    assert!(done["changes"].as_array().unwrap().iter().all(|it| of_change(it).is_none()), "{done}");
    assert_eq!((&done["unsaved"], &done["notes"]), (&json!([]), &json!([])), "{done}");
    assert!(done["revision"].is_u64());
    editor.close();
}

#[test]
fn a_commit_over_a_change_of_the_disk_is_refused_or_forced() {
    let (place, mut editor) = session();
    fork(&mut editor, "try");
    write(&place, "try", "a.py", "x = 1\n");
    place.write("a.py", "y = 1\n");
    let refused = editor.refused_command("broker.commitBranch", json!({ "branch": "try" }));
    assert_eq!(refused.code, REQUEST_FAILED, "{refused:?}");
    assert_eq!(
        (&refused.data["reason"], &refused.data["paths"]),
        (&json!("CONFLICT"), &json!(["a.py"])),
        "{refused:?}"
    );
    assert!(refused.data["hint"].as_str().is_none_or(|it| !it.is_empty()));
    assert_eq!(place.read("a.py"), "y = 1\n");
    editor.command("broker.commitBranch", json!({ "branch": "try", "force": ["a.py"] }));
    assert_eq!(place.read("a.py"), "x = 1\n");
    editor.close();
}

#[test]
fn a_rebase_merges_or_tells_of_conflicts() {
    let (place, mut editor) = session();
    let lines = |at: usize, new: &str| {
        (0..9).map(|it| if it == at { format!("{new}\n") } else { format!("# {it}\n") }).collect::<String>()
    };
    place.write("a.py", lines(99, ""));
    fork(&mut editor, "try");
    write(&place, "try", "a.py", &lines(7, "branch = 1"));
    place.write("a.py", lines(1, "disk = 1"));
    let rebased = editor.command("broker.rebaseBranch", json!({ "branch": "try" }));
    assert_eq!((&rebased["merged"], &rebased["conflicts"]), (&json!(["a.py"]), &json!([])), "{rebased}");
    assert!(rebased["revision"].is_u64(), "{rebased}");
    place.write("a.py", lines(7, "other = 1"));
    let refused = editor.refused_command("broker.rebaseBranch", json!({ "branch": "try" }));
    assert_eq!((refused.code, &refused.data["paths"]), (REQUEST_FAILED, &json!(["a.py"])), "{refused:?}");
    let kept = editor.command("broker.rebaseBranch", json!({ "branch": "try", "onConflict": "markers" }));
    assert_eq!(kept["conflicts"][0]["path"], "a.py", "{kept}");
    assert!(ok(&place, &["branch", "read", "try", "a.py"]).contains("<<<<<<<"));
    let wrong =
        editor.refused_command("broker.rebaseBranch", json!({ "branch": "try", "onConflict": "perhaps" }));
    assert_eq!(wrong.code, INVALID_PARAMS);
    editor.close();
}

#[test]
fn a_branch_is_discarded() {
    let (place, mut editor) = session();
    let branch = fork(&mut editor, "try");
    assert_eq!(editor.command("broker.discardBranch", json!({ "branch": "try" })), Value::Null);
    assert_eq!(editor.command("broker.listBranches", json!({})), json!([]));
    for name in [json!("try"), branch["id"].clone()] {
        let refused = editor.refused_command("broker.discardBranch", json!({ "branch": name }));
        assert_eq!(refused.code, REQUEST_FAILED, "{refused:?}");
        assert_eq!(refused.data["reason"], "NOT_FOUND", "{refused:?}");
    }
    assert_eq!(place.read("a.py"), UNUSED);
    editor.close();
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_runs_in_a_branch() {
    let (place, mut editor) = session();
    fork(&mut editor, "try");
    write(&place, "try", "b.txt", "of the branch\n");
    let run = |editor: &mut Editor, script: &str| {
        editor.command("broker.runInBranch", json!({ "branch": "try", "command": ["sh", "-c", script] }))
    };
    let done = run(&mut editor, "cat b.txt; echo loud >&2; exit 3");
    assert_eq!((&done["exitCode"], &done["truncated"]), (&json!(3), &json!(false)), "{done}");
    let output = done["output"].as_str().unwrap();
    assert!(output.contains("of the branch") && output.contains("loud"), "{done}");
    let killed = run(&mut editor, "kill -9 $$");
    assert_eq!((&killed["exitCode"], &killed["signal"]), (&Value::Null, &json!(9)), "{killed}");
    let long = run(&mut editor, "head -c 50000000 /dev/zero | tr '\\0' x");
    assert_eq!(long["truncated"], true);
    assert!(long["output"].as_str().unwrap().len() < 20_000_000);
    let argument = json!({ "branch": "try", "command": ["sleep", "600"], "timeoutSeconds": 1 });
    let late = editor.command("broker.runInBranch", argument);
    assert!(late["exitCode"] != 0, "{late}");
    let missing = json!({ "branch": "try", "command": ["no-such-program"] });
    let id = editor.request(
        "workspace/executeCommand",
        json!({ "command": "broker.runInBranch", "arguments": [missing] }),
    );
    let answer = editor.answer(id);
    assert!(answer.as_ref().map_or(true, |it| it["exitCode"] != 0), "{answer:?}");
    assert!(!place.root().join("b.txt").exists());
    editor.close();
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_in_a_branch_ends_when_it_is_cancelled_or_the_editor_has_gone() {
    let (place, mut editor) = session();
    fork(&mut editor, "try");
    let begin = |editor: &mut Editor, seconds: &str| {
        let argument = json!({ "branch": "try", "command": ["sleep", seconds] });
        editor.request(
            "workspace/executeCommand",
            json!({ "command": "broker.runInBranch", "arguments": [argument] }),
        )
    };
    let is_there = |seconds: &str| {
        Command::new("pgrep").args(["-fx", &format!("sleep {seconds}")]).output().unwrap().status.success()
    };
    let id = begin(&mut editor, "7101.1");
    until("it runs", || is_there("7101.1"));
    editor.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(editor.answer(id).unwrap_err().code, -32800);
    until("it has ended", || !is_there("7101.1"));
    begin(&mut editor, "7102.1");
    until("it runs", || is_there("7102.1"));
    editor.wire.child.kill().unwrap();
    until("it has ended", || !is_there("7102.1"));
    drop((editor, place));
}

#[test]
fn wrong_arguments_are_refused() {
    let (_place, mut editor) = session();
    fork(&mut editor, "try");
    for (command, argument) in [
        ("broker.diffBranch", json!({})),
        ("broker.diffBranch", json!({ "branch": 7 })),
        ("broker.diffBranch", json!("try")),
        ("broker.diffBranch", json!(null)),
        ("broker.diffBranch", json!({ "brunch": "try" })),
        ("broker.forkBranch", json!({ "name": ["x"] })),
        ("broker.forkBranch", json!({ "workspace": "not a uri" })),
        ("broker.listBranches", json!({ "workspace": 7 })),
        ("broker.commitBranch", json!({ "branch": "try", "force": "a.py" })),
        ("broker.commitBranch", json!({ "branch": "try", "dryRun": "yes" })),
        ("broker.runInBranch", json!({ "branch": "try" })),
        ("broker.runInBranch", json!({ "branch": "try", "command": [] })),
        ("broker.runInBranch", json!({ "branch": "try", "command": "true" })),
        ("broker.runInBranch", json!({ "branch": "try", "command": ["true"], "timeoutSeconds": -1 })),
        ("broker.explainRule", json!({})),
        ("broker.disableRule", json!({ "rule": F401 })),
    ] {
        let refused = editor.refused_command(command, argument.clone());
        assert_eq!(refused.code, INVALID_PARAMS, "{command} {argument}: {refused:?}");
    }
    let two = json!({ "command": "broker.diffBranch", "arguments": [{ "branch": "try" }, {}] });
    assert_eq!(editor.refusal("workspace/executeCommand", two).code, INVALID_PARAMS);
    let unknown = json!({ "command": "broker.noSuch", "arguments": [] });
    assert_eq!(editor.refusal("workspace/executeCommand", unknown).code, INVALID_PARAMS);
    let foreign = json!({ "workspace": "file:///no/such/folder" });
    let refused = editor.refused_command("broker.listBranches", foreign);
    assert!([INVALID_PARAMS, REQUEST_FAILED].contains(&refused.code), "{refused:?}");
    editor.close();
}

#[test]
fn refusals_of_the_daemon_have_their_reason() {
    let (_place, mut editor) = session();
    fork(&mut editor, "try");
    let again = editor.refused_command("broker.forkBranch", json!({ "name": "try" }));
    assert_eq!(again.code, REQUEST_FAILED, "{again:?}");
    assert!(
        again.data["reason"]
            .as_str()
            .is_some_and(|it| it.chars().all(|it| it.is_ascii_uppercase() || it == '_')),
        "{again:?}"
    );
    assert!(!again.message.is_empty());
    let none = editor.refused_command("broker.diffBranch", json!({ "branch": "tri" }));
    assert_eq!(none.code, REQUEST_FAILED, "{none:?}");
    assert!(none.message.contains("tri"), "{none:?}");
    editor.close();
}

#[test]
fn clients_are_told_what_becomes_of_branches() {
    let (place, mut editor) = session();
    let told = |editor: &mut Editor, kind: &str| loop {
        let params = editor.next("broker/branchChanged");
        if params["kind"] == kind {
            return params;
        }
    };
    ok(&place, &["branch", "fork", "try"]);
    let forked = told(&mut editor, "forked");
    assert_eq!((&forked["branch"]["name"], &forked["branch"]["revision"]), (&json!("try"), &json!(0)));
    write(&place, "try", "b.py", UNUSED);
    let edited = told(&mut editor, "edited");
    assert_eq!(
        (&edited["branch"]["id"], &edited["branch"]["revision"]),
        (&forked["branch"]["id"], &json!(1))
    );
    ok(&place, &["branch", "commit", "try"]);
    let committed = told(&mut editor, "committed");
    assert_eq!(committed["changes"][0]["path"], "b.py", "{committed}");
    ok(&place, &["branch", "fork", "other"]);
    ok(&place, &["branch", "discard", "other"]);
    let discarded = told(&mut editor, "discarded");
    assert_eq!(discarded["branch"]["name"], "other");
    editor.close();
}

#[test]
fn a_client_that_does_not_ask_is_not_told() {
    let place = place();
    let client = Client::pulling().without("/experimental", "brokerBranches");
    let mut editor = Editor::start(&place, client);
    ok(&place, &["branch", "fork", "try"]);
    write(&place, "try", "b.py", UNUSED);
    // The client fails on one; a branch document is what is told last.
    let all = editor.command("broker.listBranches", json!({}));
    assert_eq!(names(&all), ["try"]);
    editor.settle();
    editor.close();
}

/// Findings of the base are the same as before, whatever a branch has.
#[test]
fn a_branch_changes_nothing_in_the_editor() {
    let (place, mut editor, uri) = opened(Client::pulling());
    let first = editor.pull(&uri, None);
    fork(&mut editor, "try");
    write(&place, "try", "a.py", "print(x)\n");
    write(&place, "try", "broker.toml", "ignore = ['F401']\n");
    let again = editor.pull(&uri, first["resultId"].as_str());
    assert_eq!(again["kind"], "unchanged", "{again}");
    editor.close();
}
