//! The user's settings: at the start, and when they change.

use std::rc::Rc;

use gen_lsp_types::{ConfigurationItem, ConfigurationParams, ConfigurationRequest, MessageType};
use serde_json::Value;
use tokio::task::spawn_local;

use super::server::Server;

/// Section of the editor's configuration.
pub(super) const SECTION: &str = "broker";

/// The user's settings, from `initializationOptions` or the section `broker` of the editor's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    /// Whether the project's language servers are asked too, for findings and for requests that Broker does not answer itself.
    pub(super) servers: bool,
    /// Whether the checkers of `broker.toml` run when a file is saved.
    pub(super) check_on_save: bool,
    /// Whether a file has code lenses: the number of its findings, and the branches that change it.
    pub(super) code_lens: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { servers: false, check_on_save: true, code_lens: false }
    }
}

impl Settings {
    /// Returns these settings with those of `value` in their place. An error names the setting that has a wrong type.
    pub(super) fn updated(self, value: &Value) -> Result<Self, String> {
        if value.is_null() {
            return Ok(self);
        }
        let Value::Object(settings) = value else {
            return Err("settings are an object".to_owned());
        };
        let mut updated = self;
        for (name, value) in settings {
            let flag = match name.as_str() {
                "servers" => &mut updated.servers,
                "checkOnSave" => &mut updated.check_on_save,
                "codeLens" => &mut updated.code_lens,
                // A setting of the extension, or of a newer version.
                _ => continue,
            };
            *flag = value.as_bool().ok_or_else(|| format!("`{name}` is true or false, not {value}"))?;
        }
        Ok(updated)
    }
}

/// Asks the client for the settings, where it has a configuration.
pub(super) async fn ask(server: &Rc<Server>) {
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

/// `workspace/didChangeConfiguration`. Some clients send the settings, others only that they have changed.
pub(super) fn changed(server: &Rc<Server>, settings: &Value) {
    match settings.get(SECTION) {
        Some(own) => take(server, own),
        None => {
            let server = Rc::clone(server);
            spawn_local(async move { ask(&server).await });
        }
    }
}

fn take(server: &Rc<Server>, settings: &Value) {
    match server.settings().updated(settings) {
        Ok(mut updated) => {
            let servers = server.settings().servers;
            if updated.servers != servers {
                // The capabilities that `initialize` returned depend on it, and cannot change any more.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_changed_one_by_one() {
        let settings = Settings::default().updated(&json!({"servers": true, "trace": {}})).unwrap();
        assert_eq!(settings, Settings { servers: true, ..Settings::default() });
        assert_eq!(settings.updated(&Value::Null), Ok(settings));
        let error = settings.updated(&json!({"codeLens": "yes"})).unwrap_err();
        assert_eq!(error, "`codeLens` is true or false, not \"yes\"");
    }
}
