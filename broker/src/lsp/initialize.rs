//! The beginning of a session: the editor's folders and process, and what is registered with the client.

use std::{path::PathBuf, rc::Rc};

use config::root::WorkspaceRoot;
use gen_lsp_types::{MessageType, Registration, RegistrationParams, RegistrationRequest};
use lsp_client::uri;
use rustix::process::Pid;
use serde_json::{Value, json};
use tokio::task::spawn_local;

use super::{server::Server, settings};

/// URIs of the editor's folders, from the parameters of `initialize`.
pub(super) fn folders(params: &Value) -> Vec<String> {
    let folders = params.get("workspaceFolders").and_then(Value::as_array);
    let named = |it: &Value| it.get("uri").and_then(Value::as_str).map(str::to_owned);
    match folders {
        Some(folders) if !folders.is_empty() => folders.iter().filter_map(named).collect(),
        _ => params.get("rootUri").and_then(Value::as_str).map(str::to_owned).into_iter().collect(),
    }
}

/// The editor's process, from the parameters of `initialize`.
pub(super) fn editor(params: &Value) -> Option<Pid> {
    let pid = params.get("processId").and_then(Value::as_i64)?;
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Serves the workspace that contains a folder of the editor.
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

/// `initialized`: from now on, the client may be sent requests.
pub(super) fn initialized(server: &Rc<Server>) {
    if !server.is_first_time() {
        return;
    }
    let server = Rc::clone(server);
    spawn_local(async move {
        register(&server).await;
        settings::ask(&server).await;
    });
}

/// Registers for changes of settings, and of files: the daemon's own watcher may miss some.
async fn register(server: &Rc<Server>) {
    let mut registrations = Vec::new();
    if server.traits.watches_files {
        let watchers = json!({"watchers": [{"globPattern": "**/*"}]});
        registrations.push(registration("workspace/didChangeWatchedFiles", Some(watchers)));
    }
    if server.traits.configuration && server.traits.registers_configuration {
        registrations.push(registration(
            "workspace/didChangeConfiguration",
            Some(json!({"section": settings::SECTION})),
        ));
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
