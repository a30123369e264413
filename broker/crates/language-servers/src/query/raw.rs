//! Any other method of LSP, or of a server's own.

use lsp_client::uri::Uris;
use overlay::WorkspacePath;
use serde_json::Value;

use super::{NoAnswer, QueryResult, asker::Asker};

/// The documents that parameters name.
pub(crate) fn documents(params: &Value, uris: &Uris) -> Vec<WorkspacePath> {
    let named = ["/textDocument/uri", "/item/uri"].map(|it| params.pointer(it).and_then(Value::as_str));
    named.into_iter().flatten().filter_map(|it| uris.path(it)).collect()
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

/// What would take the server out of the state that it is in, or do something.
fn is_of_the_session(method: &str) -> bool {
    let is_told = method.contains("/did") || method.ends_with("/willSave");
    let is_of_server = ["$/", "window/", "client/"].iter().any(|it| method.starts_with(it));
    let session = ["initialize", "initialized", "shutdown", "exit", "workspace/executeCommand"];
    is_told || is_of_server || session.contains(&method)
}

#[cfg(test)]
mod tests {
    use super::*;

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
