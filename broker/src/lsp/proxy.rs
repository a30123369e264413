//! Requests that are passed on to the project's language servers, which the editor and all agents share. Requests of the editor
//! take precedence over those of agents.
//!
//! Parameters and results are passed on unchanged, except URIs of branch documents, versions of documents, and `data` of items that
//! are resolved later. Positions need no conversion: with `servers`, the session uses UTF-16, as language servers do.

use std::rc::Rc;

use scheduler::Class;
use serde_json::{Value, json};
use workspaces::{ErrorKind, MethodRequest, RequestError, TargetId};

use super::{
    branch_uri::BranchFile, failure::Failure, folder::Folder, queries::no_answer, semantic_tokens,
    server::Server, symbols, target,
};

/// Methods about a document.
const METHODS: &[&str] = &[
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/typeDefinition",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/documentSymbol",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/codeAction",
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareTypeHierarchy",
    "textDocument/inlayHint",
    "textDocument/inlineValue",
    "textDocument/inlineCompletion",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/linkedEditingRange",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/rangesFormatting",
    "textDocument/onTypeFormatting",
    "textDocument/documentLink",
    "textDocument/documentColor",
    "textDocument/colorPresentation",
    "textDocument/moniker",
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "typeHierarchy/supertypes",
    "typeHierarchy/subtypes",
    "completionItem/resolve",
    "codeAction/resolve",
    "inlayHint/resolve",
    "documentLink/resolve",
    semantic_tokens::FULL,
    semantic_tokens::RANGE,
];

/// Methods about files that are going to be created, renamed or deleted.
const FILE_METHODS: [&str; 3] =
    ["workspace/willCreateFiles", "workspace/willRenameFiles", "workspace/willDeleteFiles"];

/// Methods whose items are resolved by a later request.
const RESOLVED: [&str; 4] = [
    "textDocument/completion",
    "textDocument/codeAction",
    "textDocument/inlayHint",
    "textDocument/documentLink",
];

pub(super) fn is_proxied(method: &str) -> bool {
    METHODS.contains(&method) || FILE_METHODS.contains(&method) || method == "workspace/symbol"
}

/// Member of `data` that names the language server of an item.
const MARK: &str = "brokerServer";

/// Passes a request on to the language server of the document that it is about.
pub(super) async fn ask(server: Rc<Server>, method: String, params: Value) -> Result<Value, Failure> {
    match method.as_str() {
        "workspace/symbol" => return symbols::find(&server, &params).await,
        it if FILE_METHODS.contains(&it) => return files_will_change(&server, it, params).await,
        semantic_tokens::FULL | semantic_tokens::RANGE => {
            return semantic_tokens::ask(&server, &params).await;
        }
        _ => {}
    }
    let mut question = Question::of(&server, params).await?;
    let result = question.ask(&method).await;
    match result {
        Ok(result) => Ok(result),
        Err(error) => no_answer(&server, &method, error),
    }
}

/// One request about one document.
struct Question {
    server: Rc<Server>,
    folder: Rc<Folder>,
    /// Start of the URIs of a branch's documents.
    branch: Option<String>,
    target: TargetId,
    /// Name of the language server; `None` for the one that is chosen for the document.
    name: Option<String>,
    params: Value,
}

impl Question {
    async fn of(server: &Rc<Server>, mut params: Value) -> Result<Self, Failure> {
        let marked = params.pointer(&format!("/data/{MARK}")).cloned();
        let uri = ["/textDocument/uri", "/item/uri"].iter().find_map(|it| params.pointer(it)?.as_str());
        let uri = uri.map(str::to_owned);
        let (uri, name) = match (uri, marked) {
            (Some(uri), _) => (uri, None),
            (None, Some(marked)) => {
                params["data"] = marked.get("data").cloned().unwrap_or_default();
                let text =
                    |name: &str| marked.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                (text("uri"), Some(text("name")).filter(|it| !it.is_empty()))
            }
            (None, None) => return Err(Failure::invalid_params("no document is named")),
        };
        let unknown = || Failure::failed(format!("{uri} is in no folder of this editor"));
        let (folder, target, branch) = match BranchFile::of_uri(&uri) {
            Some(file) => {
                let folder = server.folder_of_file(&file).ok_or_else(unknown)?;
                let target = server.branch_target(&folder, &file).await?;
                (folder, target, BranchFile::root_of(&uri).map(str::to_owned))
            }
            None => {
                let open = server.document(&uri).and_then(|it| it.folder().cloned());
                let folder = open.or_else(|| server.folder_of(&uri).map(|it| it.0)).ok_or_else(unknown)?;
                let connection = folder.served().await?;
                (folder, target::base(&connection), None)
            }
        };
        Ok(Self { server: Rc::clone(server), folder, branch, target, name, params })
    }

    async fn ask(&mut self, method: &str) -> Result<Value, RequestError> {
        let on_disk = format!("{}/", self.folder.uri);
        if let Some(start) = &self.branch {
            rename_documents(&mut self.params, start, &on_disk);
        }
        let request = MethodRequest {
            target: self.target.clone(),
            server: self.name.clone(),
            method: method.to_owned(),
            params: self.params.to_string(),
            class: Class::Interactive,
            deadline: None,
        };
        let answer = self.folder.workspaces.call_method(request).await?;
        let no_json = |error: serde_json::Error| {
            RequestError::new(ErrorKind::Internal, "SERVER_FAILED", format!("the server's answer: {error}"))
        };
        let mut result = serde_json::from_str(&answer.result).map_err(no_json)?;
        if let Some(start) = &self.branch {
            rename_documents(&mut result, &on_disk, start);
        }
        self.set_own_versions(&mut result);
        if RESOLVED.contains(&method) {
            let uri = self.params.pointer("/textDocument/uri").cloned().unwrap_or_default();
            mark(&mut result, &answer.server, &uri);
        }
        Ok(result)
    }

    /// Replaces versions of documents in edits by those of this client.
    fn set_own_versions(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|it| self.set_own_versions(it)),
            Value::Object(members) => {
                if let Some(Value::Object(document)) = members.get_mut("textDocument") {
                    let uri = document.get("uri").and_then(Value::as_str).unwrap_or_default();
                    let version = self.server.document(uri).map(|it| it.version());
                    document.insert("version".to_owned(), json!(version));
                }
                members.values_mut().for_each(|it| self.set_own_versions(it));
            }
            _ => {}
        }
    }
}

/// Replaces the prefix `from` by `to` in all strings and names of members.
fn rename_documents(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => {
            if let Some(rest) = text.strip_prefix(from) {
                *text = format!("{to}{rest}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| rename_documents(it, from, to)),
        Value::Object(members) => {
            // `changes` of a workspace edit has URIs as names.
            let renamed: Vec<_> = members.keys().filter(|it| it.starts_with(from)).cloned().collect();
            for name in renamed {
                if let Some(it) = members.remove(&name) {
                    members.insert(format!("{to}{}", &name[from.len()..]), it);
                }
            }
            members.values_mut().for_each(|it| rename_documents(it, from, to));
        }
        _ => {}
    }
}

/// Adds the language server to `data` of each item, since a request to resolve an item has no document.
fn mark(result: &mut Value, name: &str, uri: &Value) {
    let items = match result {
        Value::Array(items) => items,
        Value::Object(list) => match list.get_mut("items") {
            Some(Value::Array(items)) => items,
            _ => return,
        },
        _ => return,
    };
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        let data = item.remove("data").unwrap_or_default();
        item.insert("data".to_owned(), json!({MARK: {"name": name, "uri": uri, "data": data}}));
    }
}

/// Whether an item to be resolved is from a language server.
pub(super) fn is_of_a_server(item: &Value) -> bool {
    item.pointer(&format!("/data/{MARK}")).is_some()
}

/// Answers one of [`FILE_METHODS`] with the edits of all language servers that run for the folder.
async fn files_will_change(server: &Rc<Server>, method: &str, params: Value) -> Result<Value, Failure> {
    let uri = ["/files/0/oldUri", "/files/0/uri"].iter().find_map(|it| params.pointer(it)?.as_str());
    let uri = uri.unwrap_or_default();
    let Some((folder, _)) = server.folder_of(uri) else { return Ok(Value::Null) };
    let Some(connection) = folder.connection() else { return Ok(Value::Null) };
    let running = folder.workspaces.list_servers().await?.servers;
    let mut changes: Vec<Value> = Vec::new();
    for it in running.iter().filter(|it| it.root == folder.root) {
        let mut question = Question {
            server: Rc::clone(server),
            folder: Rc::clone(&folder),
            branch: None,
            target: target::base(&connection),
            name: Some(it.name.clone()),
            params: params.clone(),
        };
        // Many language servers do not support these methods.
        let Ok(answer) = question.ask(method).await else { continue };
        changes.extend(document_changes(&answer));
    }
    Ok(if changes.is_empty() { Value::Null } else { json!({"documentChanges": changes}) })
}

/// Changes of a workspace edit, from either of its two forms.
fn document_changes(edit: &Value) -> Vec<Value> {
    if let Some(changes) = edit.get("documentChanges").and_then(Value::as_array) {
        return changes.clone();
    }
    let by_document = edit.get("changes").and_then(Value::as_object);
    let change = |(uri, edits): (&String, &Value)| json!({"textDocument": {"uri": uri, "version": null}, "edits": edits});
    by_document.into_iter().flatten().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_branch_have_its_names() {
        let mut edit = json!({"changes": {"file:///w/a.py": [{"newText": "x"}]}, "uri": "file:///w/b", "other": "file:///v"});
        rename_documents(&mut edit, "file:///w/", "broker-branch://1.2/");
        let want = json!({
            "changes": {"broker-branch://1.2/a.py": [{"newText": "x"}]},
            "uri": "broker-branch://1.2/b",
            "other": "file:///v",
        });
        assert_eq!(edit, want);
    }

    #[test]
    fn methods_are_those_of_the_protocol() {
        for it in METHODS.iter().chain(&FILE_METHODS).chain(&RESOLVED) {
            assert!(lsp_client::is_known_method(it) && is_proxied(it), "{it}");
        }
    }

    #[test]
    fn an_item_finds_its_server_again() {
        let mut list = json!({"items": [{"label": "a", "data": 7}, {"label": "b"}]});
        mark(&mut list, "gopls", &json!("file:///a.go"));
        let item = &list["items"][0];
        assert!(is_of_a_server(item) && !is_of_a_server(&json!({"data": {}})));
        assert_eq!(item["data"][MARK], json!({"name": "gopls", "uri": "file:///a.go", "data": 7}));
    }

    #[test]
    fn both_forms_of_an_edit_are_changes() {
        let plain = json!({"changes": {"u": [1]}});
        assert_eq!(
            document_changes(&plain),
            [json!({"textDocument": {"uri": "u", "version": null}, "edits": [1]})]
        );
        assert_eq!(document_changes(&json!({"documentChanges": [2]})), [json!(2)]);
        assert!(document_changes(&Value::Null).is_empty());
    }
}
