//! The beginning of a session, its folders, and what a person changes of it meanwhile.

use std::{path::PathBuf, rc::Rc};

use config::root::WorkspaceRoot;
use gen_lsp_types::{
    ConfigurationItem, ConfigurationParams, ConfigurationRequest, DidChangeWatchedFilesParams, MessageType,
    Registration, RegistrationParams, RegistrationRequest,
};
use lsp_client::uri;
use serde_json::{Value, json};
use tokio::task::spawn_local;

use super::server::Server;

/// Name of the settings in an editor.
const SECTION: &str = "broker";

/// Files that change which linters there are, and what is known of their rules.
const CONFIGS: [&str; 5] = ["broker.toml", ".broker.toml", "broker.lock", "sgconfig.yml", ".broker/rules"];

/// The editor's folders, as `initialize` has them.
pub(super) fn folders(params: &Value) -> Vec<String> {
    let folders = params.get("workspaceFolders").and_then(Value::as_array);
    let named = |it: &Value| it.get("uri").and_then(Value::as_str).map(str::to_owned);
    match folders {
        Some(folders) if !folders.is_empty() => folders.iter().filter_map(named).collect(),
        _ => params.get("rootUri").and_then(Value::as_str).map(str::to_owned).into_iter().collect(),
    }
}

/// Serves the workspace that a folder of the editor's is in.
pub(super) fn add_folder(server: &Rc<Server>, uri: &str) {
    match root_of(server, uri) {
        Ok(root) => _ = server.add_folder(root, Some(uri)),
        Err(reason) => server.peer.show(MessageType::Warning, format!("{uri} is not served: {reason}")),
    }
}

fn root_of(server: &Server, folder: &str) -> Result<PathBuf, String> {
    let folder = uri::absolute(folder).ok_or("it is no folder of this machine")?;
    let found = WorkspaceRoot::of_paths(&folder, &[PathBuf::from(".")], server.home.as_deref());
    found.map(|it| it.workspace.root().to_owned()).map_err(|error| error.message)
}

/// The client is ready to be asked.
pub(super) fn initialized(server: &Rc<Server>) {
    let server = Rc::clone(server);
    spawn_local(async move {
        register(&server).await;
        ask_for_settings(&server).await;
    });
}

/// Asks to be told of files that change where the daemon's own watcher may not see, and of settings.
async fn register(server: &Rc<Server>) {
    let mut registrations = Vec::new();
    if server.traits.watches_files {
        let watchers = json!({"watchers": [{"globPattern": "**/*"}]});
        registrations.push(registration("workspace/didChangeWatchedFiles", Some(watchers)));
    }
    if server.traits.configuration && server.traits.registers_configuration {
        registrations
            .push(registration("workspace/didChangeConfiguration", Some(json!({"section": SECTION}))));
    }
    if !registrations.is_empty() {
        let asked = server.peer.ask::<RegistrationRequest>(&RegistrationParams { registrations }).await;
        if let Err(failure) = asked {
            server.log(format!("the editor does not tell of changes: {}", failure.message()));
        }
    }
}

fn registration(method: &str, register_options: Option<Value>) -> Registration {
    Registration {
        id: format!("broker-{}", method.replace('/', "-")),
        method: method.to_owned(),
        register_options,
    }
}

async fn ask_for_settings(server: &Rc<Server>) {
    if !server.traits.configuration {
        return;
    }
    let item = ConfigurationItem { section: Some(SECTION.to_owned()), ..ConfigurationItem::default() };
    let asked = server.peer.ask::<ConfigurationRequest>(&ConfigurationParams { items: vec![item] }).await;
    match asked {
        Ok(answer) => take(server, answer.first().unwrap_or(&Value::Null)),
        Err(failure) => server.log(format!("the editor has no settings: {}", failure.message())),
    }
}

/// `workspace/didChangeConfiguration`: the settings, or only that they have changed.
pub(super) fn changed(server: &Rc<Server>, settings: &Value) {
    match settings.get(SECTION) {
        Some(own) => take(server, own),
        None => {
            let server = Rc::clone(server);
            spawn_local(async move { ask_for_settings(&server).await });
        }
    }
}

fn take(server: &Rc<Server>, settings: &Value) {
    match server.settings().updated(settings) {
        Ok(mut updated) => {
            let servers = server.settings().servers;
            if updated.servers != servers {
                // What was offered at the beginning cannot be taken back.
                updated.servers = servers;
                let message =
                    format!("the setting `{SECTION}.servers` counts when the server is started again");
                server.peer.show(MessageType::Info, message);
            }
            if server.set_settings(updated) {
                server.check_again();
            }
        }
        Err(wrong) => server.peer.show(MessageType::Warning, format!("settings of `{SECTION}`: {wrong}")),
    }
}

/// The client has seen files change. The daemon looks at each file when it reads it; what is remembered here is forgotten.
pub(super) fn files_changed(server: &Rc<Server>, params: &DidChangeWatchedFilesParams) {
    for change in &params.changes {
        let uri = &change.uri.0;
        let Some((folder, path)) = server.folder_of(uri) else { continue };
        if CONFIGS.iter().any(|it| path.as_str().ends_with(it)) {
            server.rules.forget(&folder);
        }
        folder.base_may_have_changed();
    }
}
