//! `initialize`: the capabilities of this client, and the server's answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{PositionEncoding, ProtocolError};

/// Parameters of `initialize` that depend on the server.
#[derive(Debug, Clone)]
pub struct Initialize {
    /// The first is the root.
    pub folders: Vec<WorkspaceFolder>,
    /// `initializationOptions`.
    pub options: Value,
    /// Capabilities in addition to those that this client has anyway.
    pub capabilities: Value,
    /// The preferred one first. UTF-16 is always offered.
    pub encodings: Vec<PositionEncoding>,
}

impl Initialize {
    pub fn new(folders: Vec<WorkspaceFolder>) -> Self {
        let encodings = vec![PositionEncoding::Utf8, PositionEncoding::Utf16];
        Self { folders, options: Value::Null, capabilities: Value::Null, encodings }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkspaceFolder {
    pub uri: String,
    pub name: String,
}

/// Answer of the server to `initialize`.
pub(crate) struct Initialized {
    /// Capabilities as the server sent them.
    pub(crate) capabilities: Value,
    pub(crate) encoding: PositionEncoding,
    /// Name and version, as far as the server reports them.
    pub(crate) server: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Reply {
    capabilities: Value,
    #[serde(rename = "serverInfo")]
    server: Option<ServerInfo>,
}

#[derive(Deserialize)]
struct ServerInfo {
    name: String,
    version: Option<String>,
}

impl Initialize {
    pub(crate) fn params(&self) -> Value {
        let mut capabilities = client_capabilities();
        capabilities["general"]["positionEncodings"] = self.offered().map(PositionEncoding::as_str).collect();
        merge(&mut capabilities, &self.capabilities);
        json!({
            // The supervisor sees to its end. One that is confined cannot see this process, and would take it for dead.
            "processId": null,
            "clientInfo": { "name": "broker", "version": env!("CARGO_PKG_VERSION") },
            "rootUri": self.folders.first().map(|it| &it.uri),
            "workspaceFolders": self.folders,
            "initializationOptions": self.options,
            "capabilities": capabilities,
        })
    }

    pub(crate) fn understand(&self, reply: Reply) -> Result<Initialized, ProtocolError> {
        let named = reply.capabilities["positionEncoding"].as_str().unwrap_or("utf-16");
        let encoding = self.offered().find(|it| it.as_str() == named);
        let encoding = encoding.ok_or_else(|| ProtocolError::BadEncoding { encoding: named.to_owned() })?;
        let server = reply.server.map(|it| match it.version {
            Some(version) => format!("{} {}", it.name, plain(version)),
            None => it.name,
        });
        Ok(Initialized { capabilities: reply.capabilities, encoding, server })
    }

    fn offered(&self) -> impl Iterator<Item = PositionEncoding> {
        let must = Some(PositionEncoding::Utf16).filter(|it| !self.encodings.contains(it));
        self.encodings.iter().copied().chain(must)
    }
}

/// Extracts the version from the build information of a Go program, which some servers report as their version.
fn plain(version: String) -> String {
    let build: Option<Value> = serde_json::from_str(&version).ok();
    let within = ["/Version", "/Main/Version"].iter().find_map(|it| build.as_ref()?.pointer(it)?.as_str());
    within.map_or(version.clone(), str::to_owned)
}

/// Objects are merged; of anything else the later one counts.
fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert_with(|| Value::Object(Map::new())), value);
            }
        }
        (_, Value::Null) => {}
        (base, over) => *base = over.clone(),
    }
}

/// Capabilities of this client. The queries pass through unseen, so their capabilities are those of a client that takes
/// everything.
fn client_capabilities() -> Value {
    let kinds = ["quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite", "source"];
    let link = json!({ "dynamicRegistration": true, "linkSupport": true });
    let plain = json!({ "dynamicRegistration": true });
    let formats = json!(["markdown", "plaintext"]);
    let refresh = json!({ "refreshSupport": true });
    let symbols: Vec<u8> = (1..=26).collect();
    json!({
        "general": {
            "staleRequestSupport": { "cancel": true, "retryOnContentModified": [] },
            "markdown": { "parser": "commonmark" },
        },
        "workspace": {
            "applyEdit": true,
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "transactional",
                "normalizesLineEndings": false,
                "changeAnnotationSupport": { "groupsOnLabel": false },
            },
            "configuration": true,
            "didChangeConfiguration": plain,
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "workspaceFolders": true,
            "symbol": {
                "dynamicRegistration": true,
                "symbolKind": { "valueSet": symbols },
                "tagSupport": { "valueSet": [1] },
                "resolveSupport": { "properties": ["location.range"] },
            },
            "executeCommand": plain,
            "diagnostics": refresh,
            "semanticTokens": refresh,
            "codeLens": refresh,
            "inlayHint": refresh,
            "inlineValue": refresh,
            "foldingRange": refresh,
            "fileOperations": {
                "dynamicRegistration": true,
                "willCreate": true,
                "willRename": true,
                "willDelete": true,
                "didCreate": true,
                "didRename": true,
                "didDelete": true,
            },
        },
        "window": {
            "workDoneProgress": true,
            "showMessage": { "messageActionItem": { "additionalPropertiesSupport": false } },
            "showDocument": { "support": false },
        },
        "textDocument": {
            "synchronization": { "dynamicRegistration": true, "didSave": true },
            "publishDiagnostics": {
                "relatedInformation": true,
                "tagSupport": { "valueSet": [1, 2] },
                "versionSupport": true,
                "codeDescriptionSupport": true,
                "dataSupport": true,
            },
            "diagnostic": {
                "dynamicRegistration": true,
                "relatedDocumentSupport": true,
                "relatedInformation": true,
                "tagSupport": { "valueSet": [1, 2] },
                "codeDescriptionSupport": true,
                "dataSupport": true,
            },
            "hover": { "dynamicRegistration": true, "contentFormat": formats },
            "completion": {
                "dynamicRegistration": true,
                "completionItemKind": { "valueSet": (1..=25).collect::<Vec<u8>>() },
                "contextSupport": true,
                "completionItem": {
                    "snippetSupport": false,
                    "documentationFormat": formats,
                    "deprecatedSupport": true,
                    "tagSupport": { "valueSet": [1] },
                    "insertReplaceSupport": true,
                    "labelDetailsSupport": true,
                    "resolveSupport": { "properties": ["documentation", "detail", "additionalTextEdits"] },
                },
            },
            "signatureHelp": {
                "dynamicRegistration": true,
                "signatureInformation": {
                    "documentationFormat": formats,
                    "parameterInformation": { "labelOffsetSupport": true },
                    "activeParameterSupport": true,
                },
            },
            "declaration": link,
            "definition": link,
            "typeDefinition": link,
            "implementation": link,
            "references": plain,
            "documentHighlight": plain,
            "documentSymbol": {
                "dynamicRegistration": true,
                "symbolKind": { "valueSet": symbols },
                "tagSupport": { "valueSet": [1] },
                "hierarchicalDocumentSymbolSupport": true,
            },
            "codeAction": {
                "dynamicRegistration": true,
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": kinds } },
                "isPreferredSupport": true,
                "disabledSupport": true,
                "dataSupport": true,
                "honorsChangeAnnotations": true,
                "resolveSupport": { "properties": ["edit", "command"] },
            },
            "codeLens": plain,
            "documentLink": plain,
            "formatting": plain,
            "rangeFormatting": { "dynamicRegistration": true, "rangesSupport": true },
            "onTypeFormatting": plain,
            "rename": {
                "dynamicRegistration": true,
                "prepareSupport": true,
                "prepareSupportDefaultBehavior": 1,
                "honorsChangeAnnotations": true,
            },
            "foldingRange": plain,
            "selectionRange": plain,
            "callHierarchy": plain,
            "typeHierarchy": plain,
            "inlayHint": plain,
            "semanticTokens": semantic_tokens(),
        },
    })
}

fn semantic_tokens() -> Value {
    let kinds = "namespace type class enum interface struct typeParameter parameter variable property enumMember \
                 event function method macro keyword modifier comment string number regexp operator decorator";
    let modifiers = "declaration definition readonly static deprecated abstract async modification \
                     documentation defaultLibrary";
    json!({
        "dynamicRegistration": true,
        "requests": { "range": true, "full": { "delta": false } },
        "tokenTypes": kinds.split_whitespace().collect::<Vec<_>>(),
        "tokenModifiers": modifiers.split_whitespace().collect::<Vec<_>>(),
        "formats": ["relative"],
        "overlappingTokenSupport": false,
        "multilineTokenSupport": true,
        "augmentsSyntaxTokens": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoding(
        offered: &[PositionEncoding],
        capabilities: Value,
    ) -> Result<PositionEncoding, ProtocolError> {
        let initialize = Initialize { encodings: offered.to_vec(), ..Initialize::new(Vec::new()) };
        let reply = serde_json::from_value(json!({ "capabilities": capabilities })).unwrap();
        initialize.understand(reply).map(|it| it.encoding)
    }

    #[test]
    fn the_server_chooses_among_what_is_offered() {
        use PositionEncoding::{Utf8, Utf16, Utf32};
        assert_eq!(encoding(&[Utf8], json!({})), Ok(Utf16));
        assert_eq!(encoding(&[Utf8, Utf16], json!({ "positionEncoding": "utf-8" })), Ok(Utf8));
        assert_eq!(encoding(&[Utf32], json!({ "positionEncoding": "utf-16" })), Ok(Utf16));
        let bad = |it: &str| Err(ProtocolError::BadEncoding { encoding: it.to_owned() });
        assert_eq!(encoding(&[Utf8], json!({ "positionEncoding": "utf-32" })), bad("utf-32"));
        assert_eq!(encoding(&[Utf8], json!({ "positionEncoding": "ebcdic" })), bad("ebcdic"));
    }

    #[test]
    fn a_version_is_read_out_of_what_go_tells() {
        let server = |version: &str| {
            let info = json!({ "name": "it", "version": version });
            let reply = json!({ "capabilities": {}, "serverInfo": info });
            Initialize::new(Vec::new()).understand(serde_json::from_value(reply).unwrap()).unwrap().server
        };
        let build = r#"{"GoVersion": "go1.25", "Main": {"Path": "tools/it", "Version": "v0.24.0"}}"#;
        assert_eq!(server(build).unwrap(), "it v0.24.0");
        let build = r#"{"GoVersion": "go1.25", "Main": {"Version": "(devel)"}, "Version": "v0.24.1"}"#;
        assert_eq!(server(build).unwrap(), "it v0.24.1");
        assert_eq!(["1.2", "{}", "7"].map(|it| server(it).unwrap()), ["it 1.2", "it {}", "it 7"]);
    }

    #[test]
    fn capabilities_are_added_to() {
        let mut initialize = Initialize::new(Vec::new());
        initialize.capabilities = json!({
            "experimental": { "serverStatusNotification": true },
            "textDocument": { "hover": { "contentFormat": ["plaintext"] } },
        });
        let capabilities = &initialize.params()["capabilities"];
        assert_eq!(capabilities["experimental"]["serverStatusNotification"], true);
        assert_eq!(capabilities["textDocument"]["hover"]["contentFormat"], json!(["plaintext"]));
        assert_eq!(capabilities["textDocument"]["hover"]["dynamicRegistration"], true);
        assert_eq!(capabilities["general"]["positionEncodings"], json!(["utf-8", "utf-16"]));
    }
}
