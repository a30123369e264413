//! Tests of a server's edits: as steps that a branch can take, or refused.

use language_servers::{ActionChoice, Edits, NoAnswer, QueryResult, Question, Style};
use overlay::{Branch, View as _};
use serde_json::{Value, json};

use crate::{
    bench::path,
    query::{FOO, TEXT, ask, asked, bench, capabilities, range, step, view},
};

fn rename() -> Question {
    Question::Rename { path: path("a.m"), at: FOO, new_name: "new".to_owned() }
}

fn edit(line: u32, start: u32, end: u32, text: &str) -> Value {
    json!({ "range": range(line, start, end), "newText": text })
}

fn document(name: &str, edits: &[Value]) -> Value {
    json!({ "textDocument": { "uri": uri(name), "version": 1 }, "edits": edits })
}

fn uri(name: &str) -> String {
    format!("file:///w/{name}")
}

/// Returns the contents of the view's files after the steps, and the notes.
fn after(edits: &Edits, branch: &mut Branch) -> String {
    edits.apply(branch).unwrap();
    let snapshot = branch.snapshot();
    let file = |it: &str| {
        Some(format!("{it}: {:?}\n", String::from_utf8(snapshot.read(&path(it)).ok()?.into()).ok()?))
    };
    let names = ["a.m", "b.m", "c.m", "dir/c.m", "dir/new.m", "new/c.m"];
    let notes = edits.notes.iter().map(|it| format!("note: {it}\n"));
    names.iter().filter_map(|it| file(it)).chain(notes).collect()
}

/// Returns the result of a `WorkspaceEdit`.
fn made(edit: Value) -> String {
    let bench = bench(&capabilities(), &[step("textDocument/rename", &edit)]);
    match ask(&bench, rename()).answer {
        Ok(found) => {
            let QueryResult::Edits(edits) = found.result else { panic!("{found:?}") };
            let mut branch = Branch::new(view(&bench));
            after(&edits, &mut branch)
        }
        Err(reason) => format!("{reason:?}"),
    }
}

#[test]
fn plain_changes_of_several_files() {
    let changes = json!({ "changes": {
        uri("b.m"): [edit(0, 0, 2, "new")],
        uri("a.m"): [edit(1, 7, 10, "new"), edit(0, 5, 8, "new")],
    } });
    insta::assert_snapshot!(made(changes));
}

#[test]
fn versioned_changes_go_before_plain_ones() {
    let changes = json!({
        "changes": { uri("b.m"): [edit(0, 0, 2, "old")] },
        "documentChanges": [document("a.m", &[edit(0, 5, 8, "one")]), document("a.m", &[edit(1, 7, 10, "two")])],
    });
    insta::assert_snapshot!(made(changes));
}

#[test]
fn files_come_go_and_move() {
    let options = json!({ "overwrite": true });
    let changes = json!({ "documentChanges": [
        { "kind": "create", "uri": uri("dir/new.m") },
        document("dir/new.m", &[edit(0, 0, 0, "made")]),
        { "kind": "rename", "oldUri": uri("dir"), "newUri": uri("new") },
        document("new/c.m", &[edit(0, 0, 1, "moved ")]),
        { "kind": "delete", "uri": uri("none.m"), "options": { "ignoreIfNotExists": true } },
        { "kind": "create", "uri": uri("b.m"), "options": { "ignoreIfExists": true } },
        { "kind": "rename", "oldUri": uri("b.m"), "newUri": uri("a.m"), "options": options },
        { "kind": "delete", "uri": uri("new/new.m") },
    ] });
    insta::assert_snapshot!(made(changes));
}

#[test]
fn annotations_are_told() {
    let mut sure = edit(0, 5, 8, "new");
    sure["annotationId"] = json!("sure");
    let mut other = edit(1, 7, 10, "new");
    other["annotationId"] = json!("ask");
    let changes = json!({
        "documentChanges": [document("a.m", &[sure, other])],
        "changeAnnotations": {
            "sure": { "label": "In code" },
            "ask": { "label": "In text", "needsConfirmation": true, "description": "a comment" },
            "unused": { "label": "Unused" },
        },
    });
    insta::assert_snapshot!(made(changes));
}

#[test]
fn insertions_at_one_place_keep_their_order() {
    let edits = [edit(0, 5, 5, "1"), edit(0, 8, 8, "!"), edit(0, 5, 5, "2"), edit(0, 5, 8, "3")];
    let made = made(json!({ "changes": { uri("a.m"): edits } }));
    assert!(made.starts_with(r#"a.m: "𐐀 = 123!\n"#), "{made}");
}

#[test]
fn what_cannot_be_done_is_refused() {
    let operations = |all: Value| json!({ "documentChanges": all });
    let mut snippet = edit(0, 5, 8, "$0");
    snippet["insertTextFormat"] = json!(2);
    let all = [
        Value::Null,
        json!({ "changes": { uri("a.m"): [edit(0, 3, 8, "x"), edit(0, 5, 8, "y")] } }),
        json!({ "changes": { "file:///elsewhere/a.m": [edit(0, 0, 0, "x")] } }),
        json!({ "changes": { uri("../a.m"): [edit(0, 0, 0, "x")] } }),
        json!({ "changes": { uri("none.m"): [edit(0, 0, 0, "x")] } }),
        json!({ "changes": { uri("a.m"): [snippet] } }),
        operations(json!([{ "kind": "create", "uri": uri("b.m") }])),
        operations(json!([{ "kind": "rename", "oldUri": uri("a.m"), "newUri": uri("b.m") }])),
        operations(json!([{ "kind": "delete", "uri": uri("dir") }])),
        operations(json!([{ "kind": "delete", "uri": uri("none.m") }])),
        operations(json!([{ "kind": "else" }])),
    ];
    let found = asked(&rename(), "textDocument/rename", &all);
    let found: String = found.into_iter().map(|it| format!("{}\n", it.unwrap_err())).collect();
    insta::assert_snapshot!(found);
}

#[test]
fn formatting() {
    let params = |range: Option<Value>| {
        let options = json!({ "tabSize": 2, "insertSpaces": false });
        let mut params = json!({ "textDocument": { "uri": uri("a.m") }, "options": options });
        params.as_object_mut().unwrap().extend(range.map(|it| ("range".to_owned(), it)));
        params
    };
    let expect = |method: &str, with: Value, answer: Value| {
        json!({ "expect": format!("textDocument/{method}"), "with": with, "answer": answer }).to_string()
    };
    let end = json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } },
                      "newText": "all" });
    let steps = [
        expect("formatting", params(None), json!([end])),
        expect("formatting", params(None), Value::Null),
        expect("rangeFormatting", params(Some(range(1, 7, 10))), json!([edit(1, 6, 7, "  ")])),
    ];
    let bench = bench(&capabilities(), &steps);
    let style = Style { tab_size: 2, insert_spaces: false };
    let foo = language_servers::At::Offset(u32::try_from(TEXT.rfind('(').unwrap()).unwrap());
    let formatted = |part| {
        let found = ask(&bench, Question::Format { path: path("a.m"), part, style }).answer.unwrap();
        let QueryResult::Edits(edits) = found.result else { panic!("{found:?}") };
        after(&edits, &mut Branch::new(view(&bench)))
    };
    insta::assert_snapshot!(format!("{}{}{}", formatted(None), formatted(None), formatted(Some(FOO..foo))));
}

fn actions() -> Value {
    json!([
        { "title": "Whole", "kind": "quickfix", "isPreferred": true,
          "edit": { "changes": { uri("a.m"): [edit(0, 5, 8, "whole")] } },
          "command": { "title": "", "command": "m.publish" } },
        { "title": "Later", "kind": "refactor", "data": 3 },
        { "title": "Never", "disabled": { "reason": "not here" } },
        { "title": "Fix", "command": "m.fix", "arguments": [1] },
        { "title": "Publish", "kind": "source", "command": { "title": "", "command": "m.publish" } },
    ])
}

fn item(line: u32, message: &str) -> Value {
    json!({ "range": range(line, 7, 10), "message": message, "data": "kept" })
}

/// A list of actions for `foo` in the second line, where there is a finding.
fn offer() -> [String; 2] {
    let report = json!({ "kind": "full", "items": [item(0, "elsewhere"), item(1, "here")] });
    let params = json!({
        "textDocument": { "uri": uri("a.m") }, "range": range(1, 7, 10),
        "context": { "diagnostics": [item(1, "here")], "triggerKind": 1, "only": ["quickfix"] },
    });
    let list = json!({ "expect": "textDocument/codeAction", "with": params, "answer": actions() });
    [step("textDocument/diagnostic", &report), list.to_string()]
}

fn only() -> Vec<String> {
    vec!["quickfix".to_owned()]
}

fn part() -> language_servers::Part {
    FOO..language_servers::At::Offset(u32::try_from(TEXT.rfind('(').unwrap()).unwrap())
}

#[test]
fn what_is_offered() {
    let bench = bench(&capabilities(), &offer());
    let question = Question::Actions { path: path("a.m"), part: part(), only: only() };
    insta::assert_debug_snapshot!(ask(&bench, question).answer);
}

/// Returns the result of an action, given the server's steps when it is chosen.
fn done(title: &str, steps: &[String]) -> Result<String, NoAnswer> {
    let bench = bench(&capabilities(), &[&offer()[..], steps].concat());
    let chosen = ActionChoice { title: title.to_owned(), kind: None };
    let question = Question::Action { path: path("a.m"), part: part(), only: only(), chosen };
    let found = ask(&bench, question).answer?;
    let QueryResult::Edits(edits) = found.result else { panic!("{found:?}") };
    Ok(after(&edits, &mut Branch::new(view(&bench))))
}

#[test]
fn an_action_is_done() {
    let changes = json!({ "changes": { uri("a.m"): [edit(0, 5, 8, "later")] } });
    let later = json!({ "title": "Later", "kind": "refactor", "data": 3 });
    let resolved = json!({ "title": "Later", "kind": "refactor", "edit": changes });
    let resolve = json!({ "expect": "codeAction/resolve", "with": later, "answer": resolved }).to_string();
    let whole = json!({ "title": "Whole", "edit": changes });
    assert_eq!(whole["title"], "Whole");
    insta::assert_snapshot!(format!("{}{}", done("Whole", &[]).unwrap(), done("Later", &[resolve]).unwrap()));
    // Disabled action, which is known to be so only after it was resolved.
    let disabled = json!({ "title": "Never", "disabled": { "reason": "not here" } });
    let failed = |it: Result<String, NoAnswer>| it.unwrap_err().to_string();
    assert_eq!(failed(done("Never", &[step("codeAction/resolve", &disabled)])), "not here");
    assert_eq!(failed(done("Else", &[])), "nothing here is called `Else`");
}

#[test]
fn a_command_is_run_and_changes_nothing() {
    let run = json!({ "command": "m.fix", "arguments": [1] });
    let expect = json!({ "expect": "workspace/executeCommand", "with": run }).to_string();
    let wanted = |text: &str| json!({ "edit": { "changes": { uri("a.m"): [edit(0, 5, 8, text)] } } });
    let apply = |text: &str| {
        let ask = json!({ "id": text, "method": "workspace/applyEdit", "params": wanted(text) });
        json!({ "ask": ask, "wants": { "applied": true } }).to_string()
    };
    let reply = json!({ "reply": "workspace/executeCommand", "answer": null }).to_string();
    insta::assert_snapshot!(done("Fix", &[expect.clone(), apply("fixed"), reply.clone()]).unwrap());

    let failed = |it: Result<String, NoAnswer>| it.unwrap_err().to_string();
    let twice = [expect.clone(), apply("one"), apply("two"), reply.clone()];
    assert_eq!(failed(done("Fix", &twice)), "the command `m.fix` asked for edits 2 times");
    assert_eq!(failed(done("Fix", &[expect, reply])), "the command `m.fix` asked for no edits");
    let published = step("codeAction/resolve", &actions()[4]);
    let reason = "the command `m.publish` may do more than to ask for edits, and is not run";
    assert_eq!(failed(done("Publish", &[published])), reason);
}

#[test]
fn nothing_is_applied_that_nobody_asked_for() {
    let apply = json!({ "id": "e", "method": "workspace/applyEdit", "params": { "edit": {} } });
    let refusal = json!({ "applied": false, "failureReason": "this client changes no files" });
    let steps = [
        r#"{"expect": "textDocument/rename"}"#.to_owned(),
        json!({ "ask": apply, "wants": refusal }).to_string(),
        json!({ "reply": "textDocument/rename", "answer": { "changes": {} } }).to_string(),
    ];
    let bench = bench(&capabilities(), &steps);
    let nothing = NoAnswer::Failed("nothing is renamed to `new`".to_owned());
    assert_eq!(ask(&bench, rename()).answer, Err(nothing));
}
