//! A server's capabilities: from its answer to `initialize`, or registered later; to the caller it is the same.

use serde::Deserialize;
use serde_json::Value;

/// Fixed and registered capabilities, as of now.
#[derive(Debug, Default)]
pub(crate) struct Capabilities {
    fixed: Value,
    /// Registrations, in their order.
    registered: Vec<Registration>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Registration {
    id: String,
    method: String,
    #[serde(default, rename = "registerOptions")]
    options: Value,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Registrations {
    pub(crate) registrations: Vec<Registration>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Unregistrations {
    /// Misspelt so in the protocol.
    #[serde(alias = "unregistrations")]
    unregisterations: Vec<Unregistration>,
}

#[derive(Debug, Deserialize)]
struct Unregistration {
    id: String,
}

impl Capabilities {
    /// Sets the capabilities in the answer to `initialize`.
    pub(crate) fn set_fixed(&mut self, fixed: Value) {
        self.fixed = fixed;
    }

    /// Returns the methods.
    pub(crate) fn register(&mut self, new: Vec<Registration>) -> Vec<String> {
        self.registered.retain(|it| !new.iter().any(|new| new.id == it.id));
        let methods = new.iter().map(|it| it.method.clone()).collect();
        self.registered.extend(new);
        methods
    }

    /// Returns the methods.
    pub(crate) fn unregister(&mut self, gone: &Unregistrations) -> Vec<String> {
        let is_gone = |it: &mut Registration| gone.unregisterations.iter().any(|gone| gone.id == it.id);
        self.registered.extract_if(.., is_gone).map(|it| it.method).collect()
    }

    /// The options of all that serves this method; `true` for one that has none.
    pub(crate) fn options(&self, method: &str) -> Vec<Value> {
        let row = ROWS.iter().find(|it| it.method == method);
        let fixed = row.and_then(|it| self.fixed.pointer(it.provider));
        let registered_as = row.map_or(method, |it| it.registered_as);
        let registered = self.registered.iter().filter(|it| it.method == registered_as);
        let without_options = Value::Bool(true);
        let registered =
            registered.map(|it| if it.options.is_null() { &without_options } else { &it.options });
        let part = row.map_or("", |it| it.part);
        let parts = registered.chain(fixed).filter_map(|it| it.pointer(part));
        parts.filter(|it| !matches!(it, Value::Null | Value::Bool(false))).cloned().collect()
    }
}

/// Whether this is a method that servers announce in their capabilities.
pub fn is_known_method(method: &str) -> bool {
    ROWS.iter().any(|it| it.method == method)
}

/// Location of a method's options in a server's capabilities.
struct Row {
    method: &'static str,
    /// Place of the provider in `ServerCapabilities`, as a JSON pointer.
    provider: &'static str,
    /// Part of the provider's options that is for this method, as a JSON pointer.
    part: &'static str,
    registered_as: &'static str,
}

const fn row(method: &'static str, provider: &'static str) -> Row {
    Row { method, provider, part: "", registered_as: method }
}

const fn part(
    method: &'static str,
    provider: &'static str,
    part: &'static str,
    registered_as: &'static str,
) -> Row {
    Row { method, provider, part, registered_as }
}

const SEMANTIC: &str = "textDocument/semanticTokens";

const ROWS: &[Row] = &[
    row("textDocument/diagnostic", "/diagnosticProvider"),
    part("workspace/diagnostic", "/diagnosticProvider", "/workspaceDiagnostics", "textDocument/diagnostic"),
    row("textDocument/hover", "/hoverProvider"),
    row("textDocument/completion", "/completionProvider"),
    part("completionItem/resolve", "/completionProvider", "/resolveProvider", "textDocument/completion"),
    row("textDocument/inlineCompletion", "/inlineCompletionProvider"),
    row("textDocument/signatureHelp", "/signatureHelpProvider"),
    row("textDocument/declaration", "/declarationProvider"),
    row("textDocument/definition", "/definitionProvider"),
    row("textDocument/typeDefinition", "/typeDefinitionProvider"),
    row("textDocument/implementation", "/implementationProvider"),
    row("textDocument/references", "/referencesProvider"),
    row("textDocument/documentHighlight", "/documentHighlightProvider"),
    row("textDocument/documentSymbol", "/documentSymbolProvider"),
    row("workspace/symbol", "/workspaceSymbolProvider"),
    part("workspaceSymbol/resolve", "/workspaceSymbolProvider", "/resolveProvider", "workspace/symbol"),
    row("textDocument/codeAction", "/codeActionProvider"),
    part("codeAction/resolve", "/codeActionProvider", "/resolveProvider", "textDocument/codeAction"),
    row("textDocument/codeLens", "/codeLensProvider"),
    part("codeLens/resolve", "/codeLensProvider", "/resolveProvider", "textDocument/codeLens"),
    row("textDocument/documentLink", "/documentLinkProvider"),
    part("documentLink/resolve", "/documentLinkProvider", "/resolveProvider", "textDocument/documentLink"),
    row("textDocument/documentColor", "/colorProvider"),
    part("textDocument/colorPresentation", "/colorProvider", "", "textDocument/documentColor"),
    row("textDocument/formatting", "/documentFormattingProvider"),
    row("textDocument/rangeFormatting", "/documentRangeFormattingProvider"),
    part(
        "textDocument/rangesFormatting",
        "/documentRangeFormattingProvider",
        "/rangesSupport",
        "textDocument/rangeFormatting",
    ),
    row("textDocument/onTypeFormatting", "/documentOnTypeFormattingProvider"),
    row("textDocument/rename", "/renameProvider"),
    part("textDocument/prepareRename", "/renameProvider", "/prepareProvider", "textDocument/rename"),
    row("textDocument/foldingRange", "/foldingRangeProvider"),
    row("textDocument/selectionRange", "/selectionRangeProvider"),
    row("textDocument/linkedEditingRange", "/linkedEditingRangeProvider"),
    row("textDocument/prepareCallHierarchy", "/callHierarchyProvider"),
    part("callHierarchy/incomingCalls", "/callHierarchyProvider", "", "textDocument/prepareCallHierarchy"),
    part("callHierarchy/outgoingCalls", "/callHierarchyProvider", "", "textDocument/prepareCallHierarchy"),
    row("textDocument/prepareTypeHierarchy", "/typeHierarchyProvider"),
    part("typeHierarchy/supertypes", "/typeHierarchyProvider", "", "textDocument/prepareTypeHierarchy"),
    part("typeHierarchy/subtypes", "/typeHierarchyProvider", "", "textDocument/prepareTypeHierarchy"),
    // No method: what all of them share.
    row(SEMANTIC, "/semanticTokensProvider"),
    part("textDocument/semanticTokens/full", "/semanticTokensProvider", "/full", SEMANTIC),
    part("textDocument/semanticTokens/full/delta", "/semanticTokensProvider", "/full/delta", SEMANTIC),
    part("textDocument/semanticTokens/range", "/semanticTokensProvider", "/range", SEMANTIC),
    row("textDocument/moniker", "/monikerProvider"),
    row("textDocument/inlineValue", "/inlineValueProvider"),
    row("textDocument/inlayHint", "/inlayHintProvider"),
    part("inlayHint/resolve", "/inlayHintProvider", "/resolveProvider", "textDocument/inlayHint"),
    row("workspace/executeCommand", "/executeCommandProvider"),
    row("workspace/willCreateFiles", "/workspace/fileOperations/willCreate"),
    row("workspace/willRenameFiles", "/workspace/fileOperations/willRename"),
    row("workspace/willDeleteFiles", "/workspace/fileOperations/willDelete"),
    row("workspace/didCreateFiles", "/workspace/fileOperations/didCreate"),
    row("workspace/didRenameFiles", "/workspace/fileOperations/didRename"),
    row("workspace/didDeleteFiles", "/workspace/fileOperations/didDelete"),
    row("workspace/textDocumentContent", "/workspace/textDocumentContent"),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn registered(list: Value) -> Vec<Registration> {
        serde_json::from_value(list).unwrap()
    }

    #[test]
    fn what_is_fixed() {
        let mut all = Capabilities::default();
        all.set_fixed(json!({
            "hoverProvider": true,
            "renameProvider": { "prepareProvider": true },
            "definitionProvider": false,
            "diagnosticProvider": { "interFileDependencies": true, "workspaceDiagnostics": false },
            "semanticTokensProvider": { "full": { "delta": true } },
        }));
        let has = |method: &str| !all.options(method).is_empty();
        for method in ["hover", "rename", "prepareRename", "diagnostic", "semanticTokens/full/delta"] {
            assert!(has(&format!("textDocument/{method}")), "{method}");
        }
        for method in ["textDocument/definition", "workspace/diagnostic", "textDocument/completion", "x"] {
            assert!(!has(method), "{method}");
        }
    }

    #[test]
    fn what_is_registered_counts_as_well() {
        let mut all = Capabilities::default();
        let options = json!({ "workspaceDiagnostics": true });
        let pull = json!({ "id": "1", "method": "textDocument/diagnostic", "registerOptions": options });
        let watch = json!({ "id": "2", "method": "workspace/didChangeWatchedFiles" });
        let methods = all.register(registered(json!([pull, watch])));
        assert_eq!(methods, ["textDocument/diagnostic", "workspace/didChangeWatchedFiles"]);
        assert_eq!(all.options("workspace/diagnostic"), [json!(true)]);
        assert_eq!(all.options("workspace/didChangeWatchedFiles"), [json!(true)]);

        let again = json!({ "id": "1", "method": "textDocument/diagnostic", "registerOptions": { "a": 1 } });
        all.register(registered(json!([again])));
        assert_eq!(all.options("textDocument/diagnostic"), [json!({ "a": 1 })]);
        assert!(all.options("workspace/diagnostic").is_empty());

        let gone = json!({ "unregisterations": [{ "id": "1", "method": "textDocument/diagnostic" }] });
        let gone = serde_json::from_value(gone).unwrap();
        assert_eq!(all.unregister(&gone), ["textDocument/diagnostic"]);
        assert!(all.options("textDocument/diagnostic").is_empty());
        assert!(all.unregister(&gone).is_empty());
    }

    #[test]
    fn the_table_has_each_method_once() {
        let methods: std::collections::BTreeSet<_> = ROWS.iter().map(|it| it.method).collect();
        assert_eq!(methods.len(), ROWS.len());
    }
}
