//! Server capabilities, for the result of `initialize`.

use serde_json::{Value, json};

use super::{branch_uri::SCHEME, client_traits::ClientTraits, commands, semantic_tokens, settings::Settings};

/// Kind of the code action that applies all safe fixes of a file.
pub(super) const FIX_ALL: &str = "source.fixAll.broker";

/// Kind of the code actions that write a suppression comment.
pub(super) const SUPPRESS: &str = "quickfix.suppress.broker";

/// The result of `initialize`.
pub(super) fn initialize_result(traits: &ClientTraits, settings: Settings, version: &str) -> Value {
    let mut capabilities = json!({
        "positionEncoding": traits.encoding.as_str(),
        "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
        "codeActionProvider": {
            "codeActionKinds": ["quickfix", SUPPRESS, FIX_ALL],
            "resolveProvider": true,
        },
        "codeLensProvider": {},
        "hoverProvider": true,
        "completionProvider": {"triggerCharacters": ["[", ",", "/", "\""], "resolveProvider": settings.servers},
        "executeCommandProvider": {"commands": commands::NAMES},
        "workspace": {
            "workspaceFolders": {"supported": true, "changeNotifications": true},
        },
    });
    if traits.pulls {
        // Findings in a file may depend on a configuration file, and those of a language server on any other file.
        capabilities["diagnosticProvider"] =
            json!({"identifier": "broker", "interFileDependencies": true, "workspaceDiagnostics": true});
    }
    if traits.document_content {
        capabilities["workspace"]["textDocumentContent"] = json!({"schemes": [SCHEME]});
    }
    if settings.servers {
        merge(&mut capabilities, of_servers());
    }
    json!({"capabilities": capabilities, "serverInfo": {"name": "broker", "version": version}})
}

/// Capabilities for requests that are passed on to the project's language servers.
fn of_servers() -> Value {
    let all_files = json!({"filters": [{"scheme": "file", "pattern": {"glob": "**"}}]});
    json!({
        "definitionProvider": true,
        "declarationProvider": true,
        "typeDefinitionProvider": true,
        "implementationProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "renameProvider": {"prepareProvider": true},
        "callHierarchyProvider": true,
        "typeHierarchyProvider": true,
        "inlayHintProvider": {"resolveProvider": true},
        "inlineValueProvider": true,
        "inlineCompletionProvider": true,
        "foldingRangeProvider": true,
        "linkedEditingRangeProvider": true,
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": {"rangesSupport": true},
        "documentOnTypeFormattingProvider": {
            "firstTriggerCharacter": "}",
            "moreTriggerCharacter": [";", "\n", ")", "=", ".", ">", "{"],
        },
        "documentLinkProvider": {"resolveProvider": true},
        "colorProvider": true,
        "monikerProvider": true,
        "semanticTokensProvider": {
            "legend": {"tokenTypes": semantic_tokens::TYPES, "tokenModifiers": semantic_tokens::MODIFIERS},
            "full": true,
            "range": true,
        },
        "selectionRangeProvider": true,
        "completionProvider": {
            "triggerCharacters": [".", ":", "[", ",", "/", "\"", "<", ">", "@", "#", "'"],
            "resolveProvider": true,
        },
        "workspace": {
            "fileOperations": {"willCreate": all_files, "willRename": all_files, "willDelete": all_files},
        },
    })
}

/// Merges `other` into `value`: objects member by member, anything else is replaced.
fn merge(value: &mut Value, other: Value) {
    match (value, other) {
        (Value::Object(value), Value::Object(other)) => {
            for (name, it) in other {
                merge(value.entry(name).or_insert(Value::Null), it);
            }
        }
        (value, other) => *value = other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_cannot_use_is_not_offered() {
        let traits = ClientTraits::of(&json!({"capabilities": {}}));
        let told = initialize_result(&traits, Settings::default(), "1");
        for absent in ["diagnosticProvider", "definitionProvider", "documentFormattingProvider"] {
            assert!(told["capabilities"].get(absent).is_none(), "{absent}");
        }
        assert!(told.pointer("/capabilities/workspace/textDocumentContent").is_none());
        let servers = Settings { servers: true, code_lens: true, ..Settings::default() };
        let told = initialize_result(&traits, servers, "1");
        assert_eq!(told["capabilities"]["definitionProvider"], true);
        assert_eq!(told.pointer("/capabilities/workspace/workspaceFolders/supported"), Some(&json!(true)));
    }

    /// Reading it as the protocol's own type loses nothing.
    #[test]
    fn it_is_what_the_protocol_says() {
        let content = json!({"capabilities": {"workspace": {"textDocumentContent": {}}}});
        let settings = Settings { servers: true, code_lens: true, ..Settings::default() };
        let told = initialize_result(&ClientTraits::of(&content), settings, "1");
        let typed: gen_lsp_types::InitializeResult = serde_json::from_value(told.clone()).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), told);
    }
}
