//! Requests of a server to the client, and their answers. Every request is answered at once: some servers do nothing
//! until it is.

use serde::Deserialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    EditPolicy, EventKind, Id, ProtocolError, Refusal,
    capabilities::{Registrations, Unregistrations},
    session::Session,
};

type Answer = Result<Value, Refusal>;

/// The inner error ends the session.
type Answered = Result<Answer, ProtocolError>;

const NULL: Answer = Ok(Value::Null);

impl Session {
    pub(crate) fn answer(
        &self,
        id: &Id,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), ProtocolError> {
        match method {
            "client/registerCapability" => self.register(id, params),
            "client/unregisterCapability" => self.unregister(id, params),
            _ => self.respond_with(id, self.answer_to(method, params)?),
        }
    }

    fn respond_with(&self, id: &Id, answer: Answer) -> Result<(), ProtocolError> {
        let invalid = |it| Refusal::invalid_params(&it);
        self.respond(id, &answer.and_then(|it| to_raw_value(&it).map_err(invalid)))
    }

    fn answer_to(&self, method: &str, params: Option<&RawValue>) -> Answered {
        match method {
            "workspace/configuration" => Ok(read(params).map(|it| self.configuration(&it))),
            "workspace/workspaceFolders" => Ok(Ok(self.folders.clone())),
            "window/workDoneProgress/create" => Ok(NULL),
            "window/showMessageRequest" => Ok(self.nobody_chooses(params)),
            "window/showDocument" => Ok(Ok(json!({ "success": false }))),
            "workspace/applyEdit" => self.apply_edit(params),
            _ if method.starts_with("workspace/") && method.ends_with("/refresh") => {
                self.tell(EventKind::Refresh { method: method.to_owned() }, method.len())?;
                Ok(NULL)
            }
            _ => Ok(Err(Refusal::method_not_found(method))),
        }
    }

    pub(crate) fn notice(&self, method: String, params: Option<Box<RawValue>>) -> Result<(), ProtocolError> {
        let size = params.as_ref().map_or(0, |it| it.get().len());
        match self.event(&method, params) {
            Ok(Some(kind)) => self.tell(kind, size),
            Ok(None) => Ok(()),
            Err(refusal) => {
                self.messages.push(&format!("`{method}` was not understood: {}", refusal.message));
                Ok(())
            }
        }
    }

    /// `None` for what the owner need not know.
    fn event(&self, method: &str, params: Option<Box<RawValue>>) -> Result<Option<EventKind>, Refusal> {
        let given = params.as_deref();
        match method {
            "textDocument/publishDiagnostics" => read::<Published>(given).map(|it| Some(it.into())),
            "$/progress" => read::<Progress>(given)
                .map(|it| Some(EventKind::Progress { token: it.token, value: it.value })),
            "experimental/serverStatus" => read(given).map(|it| Some(EventKind::Status(it))),
            "window/logMessage" | "window/showMessage" => {
                read::<WindowMessage>(given).map(|it| self.messages.push(&it.message)).map(|()| None)
            }
            // A request of the server that it may cancel is answered already.
            "$/logTrace" | "telemetry/event" | "$/cancelRequest" => Ok(None),
            _ => Ok(Some(EventKind::Other { method: method.to_owned(), params })),
        }
    }

    fn configuration(&self, asked: &Configuration) -> Value {
        let value =
            |it: &Item| it.section.as_deref().map_or(Some(&self.settings), |it| section(&self.settings, it));
        asked.items.iter().map(|it| value(it).cloned().unwrap_or_default()).collect()
    }

    /// The server has its answer before anyone makes use of what it registered.
    fn register(&self, id: &Id, params: Option<&RawValue>) -> Result<(), ProtocolError> {
        match read::<Registrations>(params) {
            Ok(it) => {
                self.respond_with(id, NULL)?;
                let methods = self.state.lock().capabilities.register(it.registrations);
                self.capabilities_changed(methods)
            }
            Err(refusal) => self.respond_with(id, Err(refusal)),
        }
    }

    fn unregister(&self, id: &Id, params: Option<&RawValue>) -> Result<(), ProtocolError> {
        match read::<Unregistrations>(params) {
            Ok(it) => {
                let methods = self.state.lock().capabilities.unregister(&it);
                self.respond_with(id, NULL)?;
                self.capabilities_changed(methods)
            }
            Err(refusal) => self.respond_with(id, Err(refusal)),
        }
    }

    fn capabilities_changed(&self, methods: Vec<String>) -> Result<(), ProtocolError> {
        self.state_changed();
        let size = methods.iter().map(String::len).sum();
        self.tell(EventKind::Capabilities { methods }, size)
    }

    fn nobody_chooses(&self, params: Option<&RawValue>) -> Answer {
        let message: WindowMessage = read(params)?;
        self.messages.push(&message.message);
        NULL
    }

    fn apply_edit(&self, params: Option<&RawValue>) -> Answered {
        let policy = self.state.lock().edits;
        Ok(match (policy, read::<ApplyEdit>(params)) {
            (_, Err(refusal)) => Err(refusal),
            (EditPolicy::Refuse, Ok(_)) => {
                Ok(json!({ "applied": false, "failureReason": "this client changes no files" }))
            }
            (EditPolicy::Capture, Ok(ApplyEdit { label, edit })) => {
                let size = edit.get().len();
                self.tell(EventKind::Edit { label, edit }, size)?;
                Ok(json!({ "applied": true }))
            }
        })
    }
}

/// Returns the value at a path like `a.b.c`.
fn section<'v>(settings: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').filter(|it| !it.is_empty()).try_fold(settings, |it, key| it.get(key))
}

fn read<'p, T: Deserialize<'p>>(params: Option<&'p RawValue>) -> Result<T, Refusal> {
    serde_json::from_str(params.map_or("null", RawValue::get)).map_err(|it| Refusal::invalid_params(&it))
}

#[derive(Deserialize)]
struct Configuration {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    section: Option<String>,
}

#[derive(Deserialize)]
struct ApplyEdit {
    label: Option<String>,
    edit: Box<RawValue>,
}

#[derive(Deserialize)]
struct WindowMessage {
    message: String,
}

#[derive(Deserialize)]
struct Published {
    uri: String,
    version: Option<i64>,
    diagnostics: Box<RawValue>,
}

impl From<Published> for EventKind {
    fn from(Published { uri, version, diagnostics }: Published) -> Self {
        Self::Diagnostics { uri, version, diagnostics }
    }
}

#[derive(Deserialize)]
struct Progress {
    token: Id,
    #[serde(default)]
    value: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_by_their_path() {
        let settings = json!({ "python": { "analysis": { "mode": "open" }, "path": null }, "n": 1 });
        let at = |path| section(&settings, path).cloned();
        assert_eq!(at("python.analysis"), Some(json!({ "mode": "open" })));
        assert_eq!(at("python.analysis.mode"), Some(json!("open")));
        assert_eq!(at("python.path"), Some(Value::Null));
        assert_eq!(at(""), Some(settings.clone()));
        assert_eq!((at("rust"), at("n.deeper"), at("python.analysis.mode.x")), (None, None, None));
    }
}
