//! Capabilities that the server announces: each is answered, and nothing is answered that is not announced.

use super::*;
use gen_lsp_types::Range;

/// A capability of the server, the request that it stands for, and what its parameters have besides the document and the place.
type Row = (&'static str, &'static str, fn(&Value, &Range) -> Value);

fn nothing(_: &Value, _: &Range) -> Value {
    json!({})
}

/// Requests about a document and a place in it.
const ABOUT_DOCUMENTS: &[Row] = &[
    ("/callHierarchyProvider", "textDocument/prepareCallHierarchy", nothing),
    (
        "/codeActionProvider",
        "textDocument/codeAction",
        |_, range| json!({ "range": range, "context": { "diagnostics": [] } }),
    ),
    ("/codeLensProvider", "textDocument/codeLens", nothing),
    ("/completionProvider", "textDocument/completion", nothing),
    ("/declarationProvider", "textDocument/declaration", nothing),
    ("/definitionProvider", "textDocument/definition", nothing),
    ("/diagnosticProvider", "textDocument/diagnostic", nothing),
    ("/documentHighlightProvider", "textDocument/documentHighlight", nothing),
    ("/documentSymbolProvider", "textDocument/documentSymbol", nothing),
    ("/foldingRangeProvider", "textDocument/foldingRange", nothing),
    ("/hoverProvider", "textDocument/hover", nothing),
    ("/implementationProvider", "textDocument/implementation", nothing),
    ("/inlayHintProvider", "textDocument/inlayHint", |_, range| json!({ "range": range })),
    (
        "/referencesProvider",
        "textDocument/references",
        |_, _| json!({ "context": { "includeDeclaration": true } }),
    ),
    ("/renameProvider", "textDocument/rename", |_, _| json!({ "newName": "other" })),
    ("/renameProvider/prepareProvider", "textDocument/prepareRename", nothing),
    (
        "/selectionRangeProvider",
        "textDocument/selectionRange",
        |_, range| json!({ "positions": [range.start] }),
    ),
    ("/semanticTokensProvider/full", "textDocument/semanticTokens/full", nothing),
    (
        "/semanticTokensProvider/range",
        "textDocument/semanticTokens/range",
        |_, range| json!({ "range": range }),
    ),
    ("/signatureHelpProvider", "textDocument/signatureHelp", nothing),
    ("/typeDefinitionProvider", "textDocument/typeDefinition", nothing),
    ("/typeHierarchyProvider", "textDocument/prepareTypeHierarchy", nothing),
];

/// Requests about the workspace, whose parameters are the whole.
const ABOUT_WORKSPACES: &[Row] = &[
    (
        "/diagnosticProvider/workspaceDiagnostics",
        "workspace/diagnostic",
        |_, _| json!({ "previousResultIds": [] }),
    ),
    (
        "/executeCommandProvider",
        "workspace/executeCommand",
        |_, _| json!({ "command": "broker.listBranches" }),
    ),
    ("/workspace/fileOperations/willRename", "workspace/willRenameFiles", |uri, _| {
        let new = uri.as_str().unwrap().replace("main", "other");
        json!({ "files": [{ "oldUri": uri, "newUri": new }] })
    }),
    ("/workspaceSymbolProvider", "workspace/symbol", |_, _| json!({ "query": "f" })),
];

const TEXT: &str = "def f(x: int) -> int:\n    return x\n\n\ny = f(1)\n";

/// Asks for all; the methods that were answered.
fn answered(client: Client) -> Vec<&'static str> {
    let place =
        Place::new(&[("broker.toml", "[servers]\nuse = ['ty']\n"), ("ty.toml", ""), ("main.py", TEXT)]);
    ok(&place, &["trust"]);
    let mut editor = Editor::start(&place, client);
    let uri = editor.open(&place, "main.py");
    editor.findings(&uri);
    let range = editor.encoding().range_of(TEXT, "f(1)");
    let mut answered = Vec::new();
    for (capability, method, more) in ABOUT_DOCUMENTS.iter().chain(ABOUT_WORKSPACES) {
        let told = editor.capability(capability);
        let is_told = !told.is_null() && told != false;
        let mut params = more(&json!(uri), &range);
        if method.starts_with("textDocument/") {
            params["textDocument"] = json!({ "uri": uri });
            params["position"] = json!(range.start);
        }
        let id = editor.request(method, params);
        match editor.answer(id) {
            Ok(_) if is_told => answered.push(*method),
            Err(refused) if !is_told => assert_eq!(refused.code, -32601, "{method}: {refused:?}"),
            other => panic!("{method}, which is told: {is_told}, has {other:?}"),
        }
    }
    editor.close();
    answered
}

#[test]
fn what_is_told_is_answered_and_nothing_else() {
    let all = [
        "textDocument/codeAction",
        // Code lenses are off by default: none.
        "textDocument/codeLens",
        "textDocument/completion",
        "textDocument/diagnostic",
        "textDocument/hover",
        "workspace/diagnostic",
        "workspace/executeCommand",
    ];
    assert_eq!(answered(Client::pulling()), all);
}

#[test]
fn what_is_told_of_servers_is_answered() {
    let Some(path) = super::proxy::path_with_ty() else { return };
    let client = Client { path: Some(path), ..Client::pulling().arguments(&["--servers"]) };
    let answered = answered(client);
    for method in
        ["textDocument/definition", "textDocument/references", "textDocument/rename", "workspace/symbol"]
    {
        assert!(answered.contains(&method), "{method}: {answered:?}");
    }
}
