//! Table of the notifications from the client.

use std::rc::Rc;

use gen_lsp_types::{
    DidChangeConfigurationParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
};
use serde_json::Value;

use super::{initialize, server::Server, settings};

/// Names of files and folders that decide which linters and rules there are, the files in them as well.
const RULE_SOURCES: [&str; 5] = ["broker.toml", ".broker.toml", "broker.lock", "sgconfig.yml", ".broker"];

/// Handles a notification at once. An error says what is wrong with its parameters.
pub(super) fn handle(server: &Rc<Server>, method: &str, params: Value) -> Result<(), serde_json::Error> {
    match method {
        "initialized" => initialize::initialized(server),
        "textDocument/didOpen" => server.did_open(serde_json::from_value(params)?),
        "textDocument/didChange" => {
            // An invalid range would deserialise as a change of the whole text.
            let changes = params.get("contentChanges").and_then(Value::as_array);
            for it in changes.into_iter().flatten().filter_map(|it| it.get("range")) {
                let _right: gen_lsp_types::Range = serde_json::from_value(it.clone())?;
            }
            server.did_change(&serde_json::from_value(params)?);
        }
        "textDocument/didSave" => server.did_save(&serde_json::from_value(params)?),
        "textDocument/didClose" => server.did_close(&serde_json::from_value(params)?),
        "workspace/didChangeConfiguration" => {
            let params: DidChangeConfigurationParams = serde_json::from_value(params)?;
            settings::changed(server, &params.settings);
        }
        "workspace/didChangeWorkspaceFolders" => {
            let params: DidChangeWorkspaceFoldersParams = serde_json::from_value(params)?;
            params.event.added.iter().for_each(|it| initialize::add_folder(server, &it.uri.0));
            params.event.removed.iter().for_each(|it| server.remove_folder(&it.uri.0));
        }
        "workspace/didChangeWatchedFiles" => files_changed(server, &serde_json::from_value(params)?),
        // `$/setTrace`, `window/workDoneProgress/cancel`, and notifications that a server may ignore.
        _ => {}
    }
    Ok(())
}

/// Has open documents checked again, and drops the cached rules if a file changed that they depend on. The daemon itself needs no
/// notice: it compares a file's stamp whenever it reads the file.
fn files_changed(server: &Rc<Server>, params: &DidChangeWatchedFilesParams) {
    for change in &params.changes {
        let uri = &change.uri.0;
        let Some((folder, path)) = server.folder_of(uri) else { continue };
        if path.components().any(|it| RULE_SOURCES.contains(&it)) {
            server.rules.forget(&folder);
        }
        folder.base_may_have_changed();
    }
}
