//! Tests of a server's answers to each question, in each form that LSP allows, and of their conversion.

use std::sync::Arc;

use language_servers::{At, Goto, Hierarchy, NoAnswer, Priority, Question, Server, ServerReply};
use lint::{Cancel, LineColumn};
use overlay::View;
use serde_json::{Value, json};

use crate::{
    bench::{Bench, path, profile, setup},
    fixture::{BYE, far},
};

/// A text of the view. Positions are in UTF-16, in which the letter at the start of each line counts twice.
pub(crate) const TEXT: &str = "𐐀 = foo\n𐐀 bar foo(é)\n";

/// At `foo` in the second line.
pub(crate) const FOO: At = At::LineColumn(LineColumn { line: 2, column: 7 });

pub(crate) fn capabilities() -> Value {
    json!({
        "diagnosticProvider": {}, "definitionProvider": true, "declarationProvider": true,
        "typeDefinitionProvider": true, "implementationProvider": true, "referencesProvider": true,
        "documentHighlightProvider": true, "hoverProvider": true, "signatureHelpProvider": {},
        "completionProvider": { "resolveProvider": true }, "documentSymbolProvider": true,
        "workspaceSymbolProvider": { "resolveProvider": true }, "renameProvider": { "prepareProvider": true },
        "codeActionProvider": { "resolveProvider": true }, "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true, "callHierarchyProvider": true, "typeHierarchyProvider": true,
        "inlayHintProvider": true, "foldingRangeProvider": true,
        "executeCommandProvider": { "commands": ["m.fix", "m.publish"] },
        "semanticTokensProvider": {
            "legend": { "tokenTypes": ["word", "call"], "tokenModifiers": ["new", "async"] },
            "full": true, "range": true,
        },
    })
}

pub(crate) fn step(method: &str, answer: &Value) -> String {
    json!({ "expect": method, "answer": answer }).to_string()
}

/// A server that is told of the view's document and then does this.
pub(crate) fn bench(capabilities: &Value, steps: &[String]) -> Bench {
    let hello = step("initialize", &json!({ "capabilities": capabilities }));
    let told = r#"{"expect": "initialized"}
        {"expect": "textDocument/didOpen"}"#;
    let script = format!("{hello}\n{told}\n{}{BYE}", steps.join("\n"));
    let mut profile = profile();
    profile.commands = vec!["m.fix".to_owned()];
    let setup = setup(&["fake", &script], profile);
    Bench { disk: Arc::clone(&setup.disk), server: Server::new(setup) }
}

pub(crate) fn view(bench: &Bench) -> Arc<dyn View> {
    bench.view(&[("a.m", Some(TEXT))])
}

pub(crate) fn ask(bench: &Bench, question: Question) -> ServerReply {
    bench.server.query(view(bench), question, Priority::Agent, far(), &Cancel::default())
}

/// All that comes of the question when the server answers so, one answer after the other.
pub(crate) fn asked(question: &Question, method: &str, answers: &[Value]) -> Vec<Result<String, NoAnswer>> {
    let steps: Vec<_> = answers.iter().map(|it| step(method, it)).collect();
    let bench = bench(&capabilities(), &steps);
    let ask = || {
        let reply = ask(&bench, question.clone());
        reply.answer.map(|it| {
            assert_eq!(it.partial, None);
            format!("{:#?}", it.result)
        })
    };
    answers.iter().map(|_| ask()).collect()
}

fn said(question: &Question, method: &str, answers: &[Value]) -> String {
    let all = asked(question, method, answers).into_iter().zip(answers);
    all.map(|(found, said)| format!("{said}\n{}\n", found.unwrap_or_else(|it| format!("{it:?}")))).collect()
}

pub(crate) fn range(line: u32, start: u32, end: u32) -> Value {
    json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } })
}

fn location(name: &str, line: u32, start: u32, end: u32) -> Value {
    json!({ "uri": format!("file:///w/{name}"), "range": range(line, start, end) })
}

fn a() -> overlay::WorkspacePath {
    path("a.m")
}

#[test]
fn where_it_leads() {
    let link = json!({
        "originSelectionRange": range(1, 7, 10), "targetUri": "file:///w/a.m",
        "targetRange": range(0, 0, 8), "targetSelectionRange": range(0, 5, 8),
    });
    let outside = json!({ "uri": "file:///no/such/file.m", "range": range(0, 0, 1) });
    let answers = [
        Value::Null,
        location("a.m", 0, 5, 8),
        json!([location("b.m", 0, 1, 2), location("gone.m", 0, 0, 1), outside]),
        json!([link]),
        json!([{ "uri": "m-library:/x", "range": range(0, 0, 1) }]),
        json!({ "what": "is this?" }),
    ];
    let question = Question::Goto { to: Goto::Definition, path: a(), at: FOO };
    insta::assert_snapshot!(said(&question, "textDocument/definition", &answers));
}

#[test]
fn each_way_to_go() {
    let ways = [Goto::Declaration, Goto::TypeDefinition, Goto::Implementation];
    for (to, name) in ways.into_iter().zip(["declaration", "typeDefinition", "implementation"]) {
        let question = Question::Goto { to, path: a(), at: FOO };
        let found = asked(&question, &format!("textDocument/{name}"), &[json!([])]);
        assert_eq!(found, [Ok("Links(\n    [],\n)".to_owned())]);
    }
}

#[test]
fn what_is_asked() {
    let params = json!({
        "textDocument": { "uri": "file:///w/a.m" }, "position": { "line": 1, "character": 7 },
        "context": { "includeDeclaration": true },
    });
    let steps = [json!({ "expect": "textDocument/references", "with": params, "answer": [] }).to_string()];
    let bench = bench(&capabilities(), &steps);
    let foo = TEXT.rfind("foo").unwrap();
    let at = At::Offset(u32::try_from(foo).unwrap());
    let reply = ask(&bench, Question::References { path: a(), at, with_declaration: true });
    assert_eq!(reply.content, Some(overlay::ContentHash::of(TEXT.as_bytes())));
    assert!(reply.answer.is_ok(), "{reply:?}");
}

#[test]
fn where_it_is_used() {
    let all = [location("a.m", 0, 5, 8), location("a.m", 1, 7, 10), location("b.m", 0, 0, 1)];
    let question = Question::References { path: a(), at: FOO, with_declaration: false };
    insta::assert_snapshot!(said(&question, "textDocument/references", &[Value::Null, json!(all)]));
    let marks = json!([{ "range": range(0, 5, 8), "kind": 3 }, { "range": range(1, 7, 10) }]);
    let question = Question::Highlights { path: a(), at: FOO };
    insta::assert_snapshot!(said(&question, "textDocument/documentHighlight", &[marks]));
}

#[test]
fn what_there_is_to_say() {
    let answers = [
        Value::Null,
        json!({ "contents": { "kind": "markdown", "value": "**m**" }, "range": range(1, 7, 10) }),
        json!({ "contents": { "kind": "plaintext", "value": "*p*" } }),
        json!({ "contents": "string" }),
        json!({ "contents": { "language": "m", "value": "code" } }),
        json!({ "contents": ["one", { "language": "m", "value": "two" }] }),
        json!({ "contents": [] }),
    ];
    let question = Question::Hover { path: a(), at: FOO };
    insta::assert_snapshot!(said(&question, "textDocument/hover", &answers));
}

#[test]
fn what_may_be_typed() {
    let edit = json!({ "range": range(1, 7, 10), "newText": "food" });
    let either = json!({ "insert": range(1, 7, 9), "replace": range(1, 7, 10), "newText": "foot" });
    let import = json!({ "range": range(0, 0, 0), "newText": "import food\n" });
    let items = [
        json!({ "label": "bare" }),
        json!({
            "label": "food", "kind": 3, "detail": "to eat", "documentation": "d", "deprecated": true,
            "sortText": "1", "filterText": "f", "textEdit": edit, "additionalTextEdits": [import],
        }),
        json!({ "label": "foot", "tags": [1], "preselect": true, "textEdit": either, "insertText": "no",
                "labelDetails": { "description": "a part" } }),
    ];
    let list = json!({ "isIncomplete": true, "items": items[2..] });
    let question = Question::Completions { path: a(), at: FOO };
    let answers = [Value::Null, json!(items[..2]), list];
    insta::assert_snapshot!(said(&question, "textDocument/completion", &answers));
}

#[test]
fn one_that_may_be_typed() {
    let documentation = json!({ "kind": "markdown", "value": "*all*" });
    let resolved = json!({ "label": "food", "data": 7, "documentation": documentation });
    let list = step("textDocument/completion", &json!([{ "label": "x" }, { "label": "food", "data": 7 }]));
    let with = json!({ "label": "food", "data": 7 });
    let resolve = json!({ "expect": "completionItem/resolve", "with": with, "answer": resolved }).to_string();
    let bench = bench(&capabilities(), &[list.clone(), resolve, list]);
    let one = |label: &str| Question::Completion { path: a(), at: FOO, label: label.to_owned() };
    insta::assert_debug_snapshot!(ask(&bench, one("food")).answer);
    let none = ask(&bench, one("nothing")).answer.unwrap_err();
    assert_eq!(none, NoAnswer::Failed("nothing here is called `nothing`".to_owned()));
}

#[test]
fn what_a_call_takes() {
    let signature = |parameters: Value| json!({ "label": "foo(𐐀, b)", "parameters": parameters });
    let answers = [
        Value::Null,
        json!({ "signatures": [] }),
        json!({ "signatures": [signature(json!([{ "label": [4, 6] }, { "label": [8, 9] }]))],
                "activeSignature": 7, "activeParameter": 1 }),
        json!({ "signatures": [{ "label": "foo()" }, {
            "label": "foo(b)", "documentation": { "kind": "markdown", "value": "*d*" },
            "parameters": [{ "label": "b", "documentation": "p" }], "activeParameter": 0,
        }], "activeSignature": 1 }),
    ];
    let question = Question::Signatures { path: a(), at: FOO };
    insta::assert_snapshot!(said(&question, "textDocument/signatureHelp", &answers));
}

#[test]
fn what_a_file_defines() {
    let child = json!({ "name": "in", "kind": 6, "range": range(1, 3, 6), "selectionRange": range(1, 3, 6) });
    let tree = json!([{
        "name": "out", "kind": 5, "detail": "d", "tags": [1], "children": [child],
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 14 } },
        "selectionRange": range(0, 0, 2),
    }]);
    let flat =
        json!([{ "name": "f", "kind": 12, "containerName": "c", "location": location("a.m", 1, 3, 6) }]);
    let question = Question::Symbols { path: a() };
    insta::assert_snapshot!(said(&question, "textDocument/documentSymbol", &[Value::Null, tree, flat]));
}

#[test]
fn what_the_workspace_defines() {
    let old = json!({ "name": "f", "kind": 12, "deprecated": true, "location": location("a.m", 1, 3, 6) });
    let later = json!({ "name": "g", "kind": 5, "location": { "uri": "file:///w/b.m" }, "data": 1 });
    let now = json!({ "name": "g", "kind": 5, "location": location("b.m", 0, 0, 1) });
    let steps = [
        json!({ "expect": "workspace/symbol", "with": { "query": "f" }, "answer": [old, later] }).to_string(),
        json!({ "expect": "workspaceSymbol/resolve", "with": later, "answer": now }).to_string(),
    ];
    let bench = bench(&capabilities(), &steps);
    let question = Question::FindSymbols { query: "f".to_owned(), near: None };
    insta::assert_debug_snapshot!(ask(&bench, question).answer);
}

#[test]
fn what_would_be_renamed() {
    let answers = [
        Value::Null,
        range(1, 7, 10),
        json!({ "range": range(1, 7, 10), "placeholder": "foo" }),
        json!({ "defaultBehavior": true }),
        json!({ "defaultBehavior": false }),
    ];
    let question = Question::PrepareRename { path: a(), at: FOO };
    insta::assert_snapshot!(said(&question, "textDocument/prepareRename", &answers));
}

fn item(name: &str, file: &str, line: u32) -> Value {
    json!({
        "name": name, "kind": 12, "uri": format!("file:///w/{file}"), "data": name,
        "range": range(line, 0, 9), "selectionRange": range(line, 3, 6),
    })
}

#[test]
fn who_calls_whom() {
    let prepare = step("textDocument/prepareCallHierarchy", &json!([item("foo", "a.m", 1)]));
    let with = json!({ "item": item("foo", "a.m", 1) });
    let call = |way: &str, call: Value| {
        json!({ "expect": format!("callHierarchy/{way}Calls"), "with": with, "answer": [call] }).to_string()
    };
    // The ranges are of the caller's file, which knows no second line.
    let from = json!({ "from": item("main", "b.m", 0), "fromRanges": [range(0, 0, 1)] });
    let to = json!({ "to": item("bar", "b.m", 0), "fromRanges": [range(1, 7, 10)] });
    let steps = [prepare.clone(), prepare.clone(), call("incoming", from), prepare, call("outgoing", to)];
    let bench = bench(&capabilities(), &steps);
    let ask = |step| ask(&bench, Question::Hierarchy { step, path: a(), at: FOO }).answer;
    let steps = [Hierarchy::Calls, Hierarchy::IncomingCalls, Hierarchy::OutgoingCalls];
    insta::assert_debug_snapshot!(steps.map(ask));
}

#[test]
fn what_is_above_and_below() {
    let prepare = step("textDocument/prepareTypeHierarchy", &json!([item("T", "a.m", 1)]));
    let steps = [
        prepare.clone(),
        step("typeHierarchy/supertypes", &json!([item("Super", "b.m", 0)])),
        prepare,
        step("typeHierarchy/subtypes", &Value::Null),
        step("textDocument/prepareTypeHierarchy", &Value::Null),
    ];
    let bench = bench(&capabilities(), &steps);
    let ask = |step| ask(&bench, Question::Hierarchy { step, path: a(), at: FOO }).answer;
    insta::assert_debug_snapshot!([Hierarchy::Supertypes, Hierarchy::Subtypes, Hierarchy::Types].map(ask));
}

#[test]
fn what_each_word_is() {
    // `foo` in the first line; in the second, `bar` and `foo`.
    let data = json!({ "data": [0, 5, 3, 0, 0, 1, 3, 3, 1, 3, 0, 4, 3, 9, 2] });
    let question = Question::Tokens { path: a(), part: None };
    let full = said(&question, "textDocument/semanticTokens/full", &[Value::Null, data.clone()]);
    let part = Some(At::Offset(0)..At::Offset(8));
    let question = Question::Tokens { path: a(), part };
    let part = said(&question, "textDocument/semanticTokens/range", &[data]);
    insta::assert_snapshot!(format!("{full}{part}"));
}

#[test]
fn what_nobody_wrote() {
    let hint = |line: u32, character: u32, label: Value| json!({ "position": { "line": line, "character": character }, "label": label });
    let mut typed = hint(0, 2, json!([{ "value": ": " }, { "value": "int" }]));
    typed["kind"] = json!(1);
    typed["tooltip"] = json!("t");
    typed["textEdits"] = json!([{ "range": range(0, 2, 2), "newText": ": int" }]);
    let question = Question::Hints { path: a(), part: None };
    let answers = [Value::Null, json!([typed, hint(1, 11, json!("x:"))])];
    insta::assert_snapshot!(said(&question, "textDocument/inlayHint", &answers));
    let folds = json!([{ "startLine": 0, "endLine": 1 }, { "startLine": 0, "startCharacter": 2, "endLine": 1,
                  "endCharacter": 3, "kind": "region" }]);
    let question = Question::Folds { path: a() };
    insta::assert_snapshot!(said(&question, "textDocument/foldingRange", &[folds]));
}

#[test]
fn anything_else() {
    let params = json!({ "textDocument": { "uri": "file:///w/a.m" }, "ranges": [range(0, 0, 1)] });
    let steps = [json!({ "expect": "m/any", "with": params, "answer": { "is": "as it came" } }).to_string()];
    let bench = bench(&capabilities(), &steps);
    let raw = |method: &str| Question::Raw { method: method.to_owned(), params: params.clone() };
    insta::assert_debug_snapshot!(ask(&bench, raw("m/any")).answer);
    let refused = ask(&bench, raw("shutdown")).answer.unwrap_err();
    assert_eq!(refused, NoAnswer::Failed("`shutdown` is not a question".to_owned()));
}

/// A question for symbols to a server with these steps after it was told of `a.m`.
fn find_symbols(
    steps: &[String],
    change: impl FnOnce(&mut language_servers::Profile),
    patience: std::time::Duration,
) -> Result<(usize, Option<String>), NoAnswer> {
    let hello = step("initialize", &json!({ "capabilities": capabilities() }));
    let script =
        format!("{hello}\n{{\"expect\": \"initialized\"}}\n{}\n{{\"hang\": true}}", steps.join("\n"));
    let mut profile = profile();
    change(&mut profile);
    let setup = setup(&["fake", &script], profile);
    let bench = Bench { disk: Arc::clone(&setup.disk), server: Server::new(setup) };
    let question = Question::FindSymbols { query: "A0".to_owned(), near: Some(path("a.m")) };
    let deadline = std::time::Instant::now() + patience;
    let found =
        bench.server.query(bench.view(&[]), question, Priority::Agent, deadline, &Cancel::default()).answer?;
    let language_servers::QueryResult::FoundSymbols(all) = found.result else { panic!() };
    Ok((all.len(), found.partial))
}

fn one_symbol() -> String {
    let location = json!({ "uri": "file:///w/a.m", "range": range(0, 0, 1) });
    step("workspace/symbol", &json!([{ "name": "a0", "kind": 12, "location": location }]))
}

const OPEN: &str = r#"{"expect": "textDocument/didOpen"}"#;

#[test]
fn symbols_are_not_searched_before_the_files_are_known() {
    let lists = |it: &mut language_servers::Profile| it.lists_files = vec!["Found * file".to_owned()];
    let log = |text: &str| {
        let params = json!({ "type": 3, "message": text });
        json!({ "send": { "method": "window/logMessage", "params": params } }).to_string()
    };
    let late =
        find_symbols(&[OPEN.to_owned(), log("Searching")], lists, std::time::Duration::from_millis(300));
    let why = "the server is still looking which files there are".to_owned();
    assert_eq!(late, Err(NoAnswer::Pending(why)));
    let steps = [OPEN.to_owned(), log("Searching"), log("Found 3 files"), one_symbol()];
    assert_eq!(find_symbols(&steps, lists, std::time::Duration::from_secs(60)), Ok((1, None)));
}

#[test]
fn symbols_of_packages_that_are_not_loaded_are_missed() {
    let pull = step("textDocument/diagnostic", &json!({ "kind": "full", "items": [] }));
    let loaded = |it: &mut language_servers::Profile| it.symbols = language_servers::Symbols::Loaded;
    let steps = [OPEN.to_owned(), pull, one_symbol()];
    assert_eq!(find_symbols(&steps, loaded, std::time::Duration::from_secs(60)), Ok((1, None)));
}

#[test]
fn symbols_of_files_that_are_not_open_are_said_to_be_missing() {
    let open_files = |it: &mut language_servers::Profile| it.symbols = language_servers::Symbols::OpenFiles;
    let listed = step("textDocument/documentSymbol", &json!([]));
    let steps = [OPEN.to_owned(), listed, one_symbol()];
    let why = "model finds symbols only in files that have all of `A0` in them".to_owned();
    assert_eq!(find_symbols(&steps, open_files, std::time::Duration::from_secs(60)), Ok((1, Some(why))));
}
