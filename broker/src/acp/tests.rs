//! Sessions through a proxy, between a client and an agent of the test's own.

#![allow(clippy::disallowed_methods, reason = "tests look at the disk themselves")]

mod place;

use std::{collections::BTreeSet, fs, io::Write as _, sync::Arc};

use agents::{Call, Preview, Reply, ToolList, Tools};
use async_trait::async_trait;
use serde_json::{Value, json};
use workspaces::RequestError;

use self::place::Place;
use super::End;

#[test]
fn files_are_those_of_the_branch() {
    let place = Place::new();
    let mut it = place.serve(None);
    let branch = it.begin(&json!({}));
    assert_eq!(it.write("a.txt", "new\n")["result"], json!({}));
    assert_eq!(it.write("deep/b.txt", "b")["result"], json!({}));
    assert_eq!(fs::read_to_string(it.root.join("a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(!it.root.join("deep").exists());
    assert_eq!(it.read("a.txt")["result"]["content"], "new\n");
    assert_eq!(it.read("deep/../deep/b.txt")["result"]["content"], "b");
    assert_eq!(it.read("missing")["error"]["code"], -32002);
    assert_eq!(it.write("a.txt/b", "x")["error"]["code"].as_i64().map(|it| it < 0), Some(true));
    let branches = place.branches();
    let made = branches.iter().map(|it| (&*it.name, it.changed_paths > 0, &*it.labels["acp-session"]));
    assert_eq!(made.collect::<Vec<_>>(), [(&*branch, true, "s")]);
    it.client.leave();
    let (end, edits) = it.end();
    assert_eq!(end, End::Client);
    let edits = edits.into_iter().collect::<Vec<_>>().join("\n");
    assert!(edits.contains(&format!("`broker branch commit {branch}` writes them")), "{edits}");
    assert_eq!(place.branches().len(), 1);
}

#[test]
fn lines_of_a_file_are_read() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    let params = json!({ "sessionId": "s", "path": it.root.join("a.txt"), "line": 2, "limit": 1 });
    assert_eq!(it.agent.ask("fs/read_text_file", &params)["result"]["content"], "two\n");
}

#[test]
fn a_write_keeps_what_changed_since_the_file_was_read() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    let text = |first: &str, last: &str| format!("{first}\n{}{last}\n", "line\n".repeat(12));
    let save = |text: &str| fs::write(place.root().join("long.txt"), text).unwrap();
    save(&text("one", "two"));
    it.read("long.txt");
    save(&text("one", "saved"));
    // A part of a newer text is not all of it.
    let params = json!({ "sessionId": "s", "path": it.root.join("long.txt"), "line": 1, "limit": 1 });
    it.agent.ask("fs/read_text_file", &params);
    assert_eq!(it.write("long.txt", &text("mine", "two"))["result"], json!({}));
    assert_eq!(it.read("long.txt")["result"]["content"], text("mine", "saved"));
    assert_eq!(it.write("a.txt", "x\n")["result"], json!({}));
    it.read("gone.txt");
    assert_eq!(it.write("gone.txt", "x\n")["result"], json!({}), "it was never there");
}

#[test]
fn a_write_keeps_the_line_ends_of_the_file() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    fs::write(it.root.join("a.txt"), "one\r\ntwo\n").unwrap();
    for (sent, kept) in [("one\nnew\ntwo\n", "one\r\nnew\r\ntwo\n"), ("one\nnew\n", "one\r\nnew\r\n")] {
        assert_eq!(it.write("a.txt", sent)["result"], json!({}));
        assert_eq!(it.read("a.txt")["result"]["content"], kept);
    }
}

#[test]
fn a_write_of_a_file_that_is_gone_or_other_is_refused() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    let refused = |answer: Value| answer["error"]["message"].as_str().unwrap().to_owned();
    it.read("a.txt");
    fs::write(it.root.join("a.txt"), "four\n").unwrap();
    let other = refused(it.write("a.txt", "one\ntwo\nmine\n"));
    assert!(other.starts_with("a.txt: the file has changed since you read it"), "{other}");
    fs::remove_file(it.root.join("a.txt")).unwrap();
    let gone = refused(it.write("a.txt", "x\n"));
    assert!(gone.starts_with("a.txt: the file is gone since you read it. Read it again"), "{gone}");
    it.read("a.txt");
    assert_eq!(it.write("a.txt", "x\n")["result"], json!({}));
}

#[test]
fn files_elsewhere_are_the_clients() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({ "fs": { "readTextFile": true } }));
    let asked =
        r#"{ "id":7,"jsonrpc":"2.0","method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}"#;
    it.agent.say(asked);
    assert_eq!(it.client.hear(), asked);
    let answer = r#"{"jsonrpc":"2.0","result":{"content":"x"} ,"id":7}"#;
    it.client.say(answer);
    assert_eq!(it.agent.hear(), answer);
    let elsewhere = json!({ "sessionId": "s", "path": "/x", "content": "" });
    let refused = it.agent.ask("fs/write_text_file", &elsewhere);
    assert_eq!(refused["error"]["message"], "/x is outside of the workspace");
    let unknown =
        it.agent.ask("fs/write_text_file", &json!({ "sessionId": "t", "path": "/x", "content": "" }));
    assert_eq!(unknown["error"]["message"], "there is no session t");
    assert_eq!(it.agent.ask("fs/write_text_file", &json!({}))["error"]["code"], -32602);
}

#[test]
fn all_else_passes_byte_for_byte() {
    let place = Place::new();
    let mut it = place.serve(None);
    let large = format!(r#"{{"method":"_large","params":"{}"}}"#, "x".repeat(8 << 20));
    for line in [
        r#"{"jsonrpc": "2.0", "id":1e3, "method":"_ext/x", "params": {"b":1,"a":12345678901234567890123}}"#,
        r#"{"method":"terminal/create","id":5,"params":{}}"#,
        r#"{"method":"session/request_permission","id":6,"params":{"toolCall":{"content":[{"type":"diff"}]}}}"#,
        r#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}}}"#,
        r#"{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"m","data":[ ]}}"#,
        "{ no JSON",
        "[]",
        "",
        &large,
    ] {
        it.agent.say(line);
        assert_eq!(it.client.hear(), line);
        it.client.say(line);
        assert_eq!(it.agent.hear(), line);
    }
    it.agent.say(r#"[{"method":"_a"}, {"method":"_b" }]"#);
    assert_eq!([it.client.hear(), it.client.hear()], [r#"{"method":"_a"}"#, r#"{"method":"_b" }"#]);
}

#[test]
fn a_folder_without_a_workspace_is_refused() {
    let place = Place::new();
    let mut it = place.serve(None);
    let none = tempfile::tempdir().unwrap();
    for (cwd, why) in [
        (none.path().to_str().unwrap(), "no folder above has a repository or a project's file"),
        ("/missing", "it is not the absolute path of a folder"),
        ("relative", "it is not the absolute path of a folder"),
    ] {
        let answer = it.client.ask("session/new", &json!({ "cwd": cwd, "mcpServers": [] }));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
    }
    it.client.say("next");
    assert_eq!(it.agent.hear(), "next", "the agent hears of none");
}

#[test]
fn a_turn_says_once_where_its_edits_are() {
    let place = Place::new();
    let mut it = place.serve(None);
    let branch = it.begin(&json!({}));
    let done = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#);
    it.prompt(10);
    it.agent.say(&done(10));
    assert_eq!(it.client.hear(), done(10), "nothing was edited");
    it.prompt(11);
    it.write("a.txt", "new\n");
    it.agent.say(&done(11));
    let told = it.client.next()["params"]["update"]["content"]["text"].as_str().unwrap().to_owned();
    assert!(told.contains(&format!("`broker branch commit {branch}`")), "{told}");
    assert_eq!(it.client.hear(), done(11));
    it.prompt(12);
    it.agent.say(&done(12));
    assert_eq!(it.client.hear(), done(12));
}

/// Tools that never answer.
struct Silent;

#[async_trait]
impl Tools for Silent {
    async fn list_tools(&self) -> Result<ToolList, RequestError> {
        std::future::pending().await
    }

    async fn call_tool(&self, _: Call) -> Result<Reply, RequestError> {
        std::future::pending().await
    }

    async fn preview_edits(&self, _: Preview) -> Result<Reply, RequestError> {
        std::future::pending().await
    }
}

#[test]
fn a_turn_waits_for_its_checks_unless_it_is_cancelled() {
    let place = Place::new();
    let mut it = place.serve_with(None, Arc::new(Silent));
    it.begin(&json!({}));
    it.prompt(10);
    it.write("a.txt", "new\n");
    let diff = json!({ "type": "diff", "path": it.root.join("a.txt"), "newText": "new\n" });
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "content": [diff] });
    let params = json!({ "sessionId": "s", "update": call });
    let edited = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
    it.agent.send(&edited);
    assert_eq!(it.client.next(), edited);
    let done = r#"{"jsonrpc":"2.0","id":10,"result":{"stopReason":"cancelled"}}"#;
    it.agent.say(done);
    it.agent.say("next");
    assert_eq!(it.client.hear(), "next");
    let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
    it.client.say(cancel);
    assert_eq!(it.agent.hear(), cancel);
    assert_eq!(it.client.next()["params"]["update"]["sessionUpdate"], "agent_message_chunk");
    assert_eq!(it.client.hear(), done);
}

#[test]
fn a_loaded_session_finds_its_branch() {
    let place = Place::new();
    let mut it = place.serve(None);
    let branch = it.begin(&json!({}));
    it.write("a.txt", "new\n");
    it.client.leave();
    it.end();
    let mut it = place.serve(None);
    assert_eq!(it.session("session/load", "s"), branch);
    assert_eq!(it.read("a.txt")["result"]["content"], "new\n");
    assert_ne!(it.session("session/load", "other"), branch);
}

#[test]
fn a_forked_session_has_the_edits() {
    let place = Place::new();
    let mut it = place.serve(None);
    let branch = it.begin(&json!({}));
    it.write("a.txt", "new\n");
    let params = json!({ "cwd": it.root, "sessionId": "s" });
    it.client.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "session/fork", "params": params }));
    it.agent.next();
    it.agent.send(&json!({ "jsonrpc": "2.0", "id": 3, "result": { "sessionId": "f" } }));
    it.client.next();
    let params = json!({ "sessionId": "f", "path": it.root.join("a.txt") });
    assert_eq!(it.agent.ask("fs/read_text_file", &params)["result"]["content"], "new\n");
    let fork = place.branches().into_iter().find(|it| it.name != branch).unwrap();
    assert_eq!(fork.labels["acp-session"], "f");
}

#[test]
fn an_empty_branch_goes_with_its_session() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    assert_eq!(place.branches().len(), 1);
    it.client.leave();
    assert_eq!(it.end(), (End::Client, BTreeSet::new()));
    assert_eq!(place.branches().len(), 0);
}

#[test]
fn a_branch_goes_if_the_disk_shows_its_edits_and_stays_with_undone_ones() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    it.write("a.txt", "new\n");
    fs::write(it.root.join("a.txt"), "new\n").unwrap();
    it.client.leave();
    assert_eq!(it.end(), (End::Client, BTreeSet::new()));
    assert_eq!(place.branches().len(), 0);

    let mut it = place.serve(None);
    let branch = it.begin(&json!({}));
    it.write("a.txt", "undone\n");
    place.undo();
    it.client.leave();
    let why = "undone edits, of revision 1: the disk does not have a.txt";
    assert_eq!(it.end().1, [format!("branch `{branch}` stays: {why}")].into());
    assert_eq!(place.branches().len(), 1);
}

#[test]
fn a_named_branch_is_that_of_all_sessions_and_stays() {
    let place = Place::new();
    let mut it = place.serve(Some("mine"));
    assert_eq!(
        (it.begin(&json!({})), it.session("session/new", "t")),
        ("mine".to_owned(), "mine".to_owned())
    );
    it.stop.take().unwrap().send(()).unwrap();
    assert_eq!(it.end(), (End::Client, BTreeSet::new()));
    assert_eq!(place.branches().len(), 1);
}

#[test]
fn a_client_may_leave_an_agent_that_never_answers() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    it.prompt(10);
    it.client.leave();
    assert_eq!(it.end().0, End::Client);
}

#[test]
fn an_agent_that_ends_leaves_no_request_without_an_answer() {
    let place = Place::new();
    let mut it = place.serve(None);
    it.begin(&json!({}));
    it.write("a.txt", "new\n");
    it.prompt(10);
    it.agent.output.write_all(br#"{"method":"_cut"#).unwrap();
    it.agent.leave();
    assert_eq!(it.client.hear(), r#"{"method":"_cut"#);
    let answer = it.client.next();
    assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!(10), &json!("the agent has ended")));
    let (end, edits) = it.proxy.join().unwrap();
    assert_eq!((end, edits.len()), (End::Agent, 1));
}

#[test]
fn a_refused_session_makes_no_branch() {
    let place = Place::new();
    let mut it = place.serve(None);
    let params = json!({ "cwd": it.root, "mcpServers": [] });
    it.client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params }));
    it.agent.next();
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in"}}"#;
    it.agent.say(refusal);
    assert_eq!(it.client.hear(), refusal);
    assert_eq!(place.branches().len(), 0);
}
