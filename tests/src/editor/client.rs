//! Configuration of a client: its capabilities, folders and settings.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::text::Encoding;

/// Answers of the client to requests of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Correct answers of a client that supports its capabilities.
    Right,
    /// An error for each request.
    Errors,
    /// No answer.
    Never,
}

/// A client before it has started its server.
#[derive(Debug, Clone)]
pub struct Client {
    pub capabilities: Value,
    /// Arguments after `broker lsp`.
    pub arguments: Vec<String>,
    /// Workspace folders; `None` for that of the test.
    pub folders: Option<Vec<PathBuf>>,
    /// The section `broker` of its configuration.
    pub settings: Value,
    pub initialization_options: Option<Value>,
    /// `processId` of `initialize`, instead of the test's own process.
    pub process_id: Option<u32>,
    pub answers: Answers,
    /// PATH of the server, instead of the test's.
    pub path: Option<String>,
    /// Whether findings in files that are not open are checked against the files on the disk.
    pub looks_at_disk: bool,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            capabilities: capabilities(),
            arguments: Vec::new(),
            folders: None,
            settings: json!({}),
            initialization_options: None,
            process_id: None,
            answers: Answers::Right,
            path: None,
            looks_at_disk: true,
        }
    }
}

impl Client {
    /// A client that pulls diagnostics.
    pub fn pulling() -> Self {
        Self::default()
    }

    /// A client that diagnostics are pushed to.
    pub fn pushed() -> Self {
        Self::default().without("/textDocument", "diagnostic").without("/workspace", "diagnostics")
    }

    /// A client without any capability.
    pub fn plain() -> Self {
        Self { capabilities: json!({}), ..Self::default() }
    }

    /// Sets a capability.
    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        let parent = self.capabilities.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
        parent[name] = value;
        self
    }

    pub fn without(mut self, parent: &str, name: &str) -> Self {
        let parent = self.capabilities.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        parent.remove(name).expect("a capability that there was");
        self
    }

    pub fn encoding(self, encoding: Encoding) -> Self {
        self.with("/general/positionEncodings", json!([encoding.name()]))
    }

    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|it| (*it).to_owned()));
        self
    }

    /// Sets the settings, for `initializationOptions` and `workspace/configuration`.
    pub fn settings(mut self, settings: Value) -> Self {
        self.initialization_options = Some(settings.clone());
        self.settings = settings;
        self
    }

    /// The value of a capability.
    pub fn capability(&self, pointer: &str) -> Option<&Value> {
        self.capabilities.pointer(pointer)
    }

    /// Whether the client has a capability: any value but `null` and `false`.
    pub fn can(&self, pointer: &str) -> bool {
        self.capability(pointer).is_some_and(|it| !it.is_null() && *it != Value::Bool(false))
    }
}

fn capabilities() -> Value {
    let dynamic = json!({ "dynamicRegistration": true });
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "experimental": { "brokerBranches": true },
        "window": { "workDoneProgress": true, "showDocument": { "support": true }, "showMessage": {} },
        "workspace": {
            "applyEdit": true,
            "codeLens": { "refreshSupport": true },
            "configuration": true,
            "diagnostics": { "refreshSupport": true },
            "didChangeConfiguration": dynamic,
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "executeCommand": {},
            "fileOperations": { "willRename": true },
            "foldingRange": { "refreshSupport": true },
            "inlayHint": { "refreshSupport": true },
            "semanticTokens": { "refreshSupport": true },
            "symbol": {},
            "textDocumentContent": {},
            "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create", "rename", "delete"] },
            "workspaceFolders": true,
        },
        "textDocument": {
            "codeAction": {
                "codeActionLiteralSupport": {
                    "codeActionKind": { "valueSet": ["", "quickfix", "refactor", "source", "source.fixAll"] },
                },
                "dataSupport": true,
                "disabledSupport": true,
                "isPreferredSupport": true,
                "resolveSupport": { "properties": ["edit"] },
            },
            "callHierarchy": {},
            "codeLens": {},
            "completion": {
                "completionItem": { "documentationFormat": ["markdown", "plaintext"], "labelDetailsSupport": true },
                "contextSupport": true,
            },
            "declaration": { "linkSupport": true },
            "definition": { "linkSupport": true },
            "diagnostic": { "relatedDocumentSupport": true, "relatedInformation": true,
                "tagSupport": { "valueSet": [1, 2] }, "codeDescriptionSupport": true, "dataSupport": true },
            "documentHighlight": {},
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "foldingRange": {},
            "hover": { "contentFormat": ["markdown", "plaintext"] },
            "implementation": { "linkSupport": true },
            "inlayHint": {},
            "publishDiagnostics": {
                "codeDescriptionSupport": true,
                "dataSupport": true,
                "relatedInformation": true,
                "tagSupport": { "valueSet": [1, 2] },
                "versionSupport": true,
            },
            "references": {},
            "rename": { "prepareSupport": true },
            "selectionRange": {},
            "semanticTokens": {
                "formats": ["relative"], "requests": { "full": true, "range": true },
                "tokenModifiers": [], "tokenTypes": ["function", "variable"],
            },
            "signatureHelp": {},
            "synchronization": { "didSave": true },
            "typeDefinition": { "linkSupport": true },
            "typeHierarchy": {},
        },
    })
}
