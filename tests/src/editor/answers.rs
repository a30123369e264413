//! Answers to the server's requests, and changes of folders, files and settings.

use serde_json::{Value, json};

use super::{Editor, folder};

/// Capabilities for registrations of methods whose capability has another name.
const REGISTRATIONS: &[(&str, &str)] = &[
    ("workspace/didChangeConfiguration", "/workspace/didChangeConfiguration/dynamicRegistration"),
    ("workspace/didChangeWatchedFiles", "/workspace/didChangeWatchedFiles/dynamicRegistration"),
    ("workspace/didChangeWorkspaceFolders", "/workspace/workspaceFolders"),
    ("workspace/executeCommand", "/workspace/executeCommand/dynamicRegistration"),
    ("workspace/symbol", "/workspace/symbol/dynamicRegistration"),
    ("workspace/textDocumentContent", "/workspace/textDocumentContent/dynamicRegistration"),
    ("workspace/willRenameFiles", "/workspace/fileOperations/dynamicRegistration"),
    ("textDocument/didOpen", "/textDocument/synchronization/dynamicRegistration"),
    ("textDocument/didChange", "/textDocument/synchronization/dynamicRegistration"),
    ("textDocument/didSave", "/textDocument/synchronization/dynamicRegistration"),
    ("textDocument/didClose", "/textDocument/synchronization/dynamicRegistration"),
];

impl Editor {
    pub(super) fn result_for(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        match method {
            "client/registerCapability" => self.register(params),
            "client/unregisterCapability" => self.unregister(params),
            "window/showDocument" => return Ok(json!({ "success": true })),
            "window/workDoneProgress/create" => self.create_progress(&params["token"]),
            "workspace/applyEdit" => {
                return Ok(match self.apply(&params["edit"]) {
                    Ok(()) => json!({ "applied": true }),
                    Err(why) => json!({ "applied": false, "failureReason": why }),
                });
            }
            "workspace/configuration" => {
                let items = params["items"].as_array().unwrap().iter();
                return Ok(items.map(|it| self.setting(it["section"].as_str())).collect());
            }
            "workspace/workspaceFolders" => {
                return Ok(self.folders.iter().map(|it| folder(it)).collect());
            }
            _ => {}
        }
        Ok(Value::Null)
    }

    /// The value of a section of the configuration.
    fn setting(&self, section: Option<&str>) -> Value {
        let all = json!({ "broker": self.client.settings });
        let names = section.into_iter().flat_map(|it| it.split('.'));
        names.fold(all, |value, name| value.get(name).cloned().unwrap_or_default())
    }

    fn register(&mut self, params: &Value) {
        for it in params["registrations"].as_array().unwrap() {
            let (id, method) = (it["id"].as_str().unwrap(), it["method"].as_str().unwrap());
            let named = REGISTRATIONS.iter().find(|it| it.0 == method).map(|it| it.1.to_owned());
            let capability = named.unwrap_or_else(|| format!("/{method}/dynamicRegistration"));
            if !self.client.can(&capability) {
                self.fail(&format!("{method} is registered, though the client has no {capability}"));
            }
            let registered = (method.to_owned(), it["registerOptions"].clone());
            if self.registered.insert(id.to_owned(), registered).is_some() {
                self.fail(&format!("{id} is registered twice"));
            }
        }
    }

    fn unregister(&mut self, params: &Value) {
        for it in params["unregisterations"].as_array().unwrap() {
            let known = self.registered.remove(it["id"].as_str().unwrap());
            if known.is_none_or(|known| it["method"] != *known.0) {
                self.fail(&format!("this is not registered: {it}"));
            }
        }
    }

    /// Adds and removes folders, and notifies the server.
    pub fn change_folders(&mut self, added: &[std::path::PathBuf], removed: &[std::path::PathBuf]) {
        self.folders.retain(|it| !removed.contains(it));
        self.folders.extend(added.iter().cloned());
        let all = |it: &[std::path::PathBuf]| it.iter().map(|it| folder(it)).collect::<Vec<_>>();
        let event = json!({ "added": all(added), "removed": all(removed) });
        self.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    }

    /// Sends `workspace/didChangeWatchedFiles`. Types of changes: 1 is created, 2 changed, 3 deleted.
    pub fn tell_changed(&mut self, files: &[(&std::path::Path, u8)]) {
        let change = |it: &(&std::path::Path, u8)| json!({ "uri": super::uri(it.0), "type": it.1 });
        let changes: Vec<_> = files.iter().map(change).collect();
        self.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    }

    /// Changes the settings and notifies the server.
    pub fn change_settings(&mut self, settings: Value) {
        self.client.settings = settings.clone();
        let params = json!({ "settings": { "broker": settings } });
        self.notify("workspace/didChangeConfiguration", params);
    }

    /// Waits until the server has registered a method, and returns the options.
    pub fn registration(&mut self, method: &str) -> Value {
        let find = |it: &mut Self| it.registered.values().find(|it| it.0 == method).map(|it| it.1.clone());
        self.wait(&format!("a registration of {method}"), find)
    }

    /// Waits for a message of this method, and removes it from those seen.
    pub fn next(&mut self, method: &str) -> Value {
        let find = |it: &mut Self| {
            let index = it.seen.iter().position(|it| it.0 == method)?;
            Some(it.seen.remove(index).1)
        };
        self.wait(method, find)
    }

    /// Parameters of all messages of a method so far.
    pub fn all_seen(&self, method: &str) -> Vec<&Value> {
        self.seen.iter().filter(|it| it.0 == method).map(|it| &it.1).collect()
    }
}
