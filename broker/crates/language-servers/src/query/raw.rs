//! Any other method of LSP, or of a server's own.

use std::path::Path;

use lsp_client::uri::Uris;
use overlay::WorkspacePath;
use serde_json::Value;

use super::{NoAnswer, QueryResult, asker::Asker};

/// The documents that parameters name.
pub(crate) fn documents(params: &Value, uris: &Uris) -> Vec<WorkspacePath> {
    let named = ["/textDocument/uri", "/item/uri"].map(|it| params.pointer(it).and_then(Value::as_str));
    named.into_iter().flatten().filter_map(|it| uris.path(it)).collect()
}

/// The document below `root` that parameters of a method are about: that of `textDocument`, of `item`, or else the first that
/// they name anywhere.
pub fn named_document(params: &Value, root: &Path) -> Option<WorkspacePath> {
    let uris = Uris::new(root);
    documents(params, &uris).into_iter().next().or_else(|| first_document(params, &uris))
}

fn first_document(params: &Value, uris: &Uris) -> Option<WorkspacePath> {
    match params {
        Value::Object(fields) => {
            let named = ["uri", "oldUri"].into_iter().filter_map(|it| fields.get(it)?.as_str());
            let own = named.filter_map(|it| uris.path(it)).next();
            own.or_else(|| fields.values().find_map(|it| first_document(it, uris)))
        }
        Value::Array(items) => items.iter().find_map(|it| first_document(it, uris)),
        _ => None,
    }
}

pub(super) fn ask(asker: &Asker<'_>, method: &str, params: &Value) -> Result<QueryResult, NoAnswer> {
    if is_of_the_session(method) {
        return Err(NoAnswer::Failed(format!("`{method}` is not a question")));
    }
    let result = if lsp_client::is_known_method(method) {
        asker.request(method, params)?
    } else {
        asker.request_unseen(method, params)?
    };
    Ok(QueryResult::Raw { result, encoding: asker.encoding() })
}

/// Whether the method would change the state of the server, or have another effect.
fn is_of_the_session(method: &str) -> bool {
    let is_told = method.contains("/did") || method.ends_with("/willSave");
    let is_of_server = ["$/", "window/", "client/"].iter().any(|it| method.starts_with(it));
    let session = ["initialize", "initialized", "shutdown", "exit", "workspace/executeCommand"];
    is_told || is_of_server || session.contains(&method)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_is_found_wherever_parameters_name_it() {
        let named = |params: Value| named_document(&params, Path::new("/w")).map(|it| it.to_string());
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(
            named(json!({ "a": { "uri": "file:///w/b" }, "textDocument": { "uri": "file:///w/a" } })),
            some("a")
        );
        assert_eq!(named(json!({ "item": { "uri": "file:///w/d/a%20b" } })), some("d/a b"));
        assert_eq!(named(json!({ "location": [1, { "uri": "file:///w/a" }] })), some("a"));
        assert_eq!(
            named(json!({ "files": [{ "newUri": "file:///w/b", "oldUri": "file:///w/a" }] })),
            some("a")
        );
        for nothing in
            [json!(null), json!({ "uri": 1 }), json!({ "uri": "file:///elsewhere" }), json!("file:///w/a")]
        {
            assert_eq!(named(nothing), None);
        }
    }

    #[test]
    fn only_questions_are_asked() {
        for it in
            ["textDocument/selectionRange", "textDocument/willSaveWaitUntil", "rust-analyzer/expandMacro"]
        {
            assert!(!is_of_the_session(it), "{it}");
        }
        for it in ["shutdown", "textDocument/didOpen", "workspace/executeCommand", "$/cancelRequest"] {
            assert!(is_of_the_session(it), "{it}");
        }
    }
}
