//! Checks of messages: what a server may send, and when.

use serde_json::{Value, json};

use super::{Answered, Asked, Editor, Refused, client::Answers, shapes};

pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// Requests that a server may send, each with the client capability that it needs, if any.
const REQUESTS: &[(&str, &str)] = &[
    ("client/registerCapability", ""),
    ("client/unregisterCapability", ""),
    ("window/showDocument", "/window/showDocument/support"),
    ("window/showMessageRequest", ""),
    ("window/workDoneProgress/create", "/window/workDoneProgress"),
    ("workspace/applyEdit", "/workspace/applyEdit"),
    ("workspace/codeLens/refresh", "/workspace/codeLens/refreshSupport"),
    ("workspace/configuration", "/workspace/configuration"),
    ("workspace/diagnostic/refresh", "/workspace/diagnostics/refreshSupport"),
    ("workspace/foldingRange/refresh", "/workspace/foldingRange/refreshSupport"),
    ("workspace/inlayHint/refresh", "/workspace/inlayHint/refreshSupport"),
    ("workspace/semanticTokens/refresh", "/workspace/semanticTokens/refreshSupport"),
    ("workspace/textDocumentContent/refresh", "/workspace/textDocumentContent"),
    ("workspace/workspaceFolders", "/workspace/workspaceFolders"),
];

/// Notifications that a server may send, each with the client capability that it needs, if any.
const NOTIFICATIONS: &[(&str, &str)] = &[
    ("$/cancelRequest", ""),
    ("$/logTrace", ""),
    ("$/progress", ""),
    ("broker/branchChanged", "/experimental/brokerBranches"),
    ("telemetry/event", ""),
    ("textDocument/publishDiagnostics", ""),
    ("window/logMessage", ""),
    ("window/showMessage", ""),
];

/// Methods that a server may send before the answer to `initialize`.
const BEFORE_INITIALIZED: [&str; 4] =
    ["telemetry/event", "window/logMessage", "window/showMessage", "window/showMessageRequest"];

/// Error codes of JSON-RPC and LSP.
const CODES: [i64; 10] =
    [-32700, -32600, METHOD_NOT_FOUND, -32602, -32603, -32002, -32800, -32801, -32802, -32803];

/// State of a progress token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Created,
    /// Begun, with the last percentage.
    Begun(u64),
    Ended,
}

impl Editor {
    /// Checks a message and handles it.
    pub(super) fn handle(&mut self, message: Value) {
        self.note("<-", &message);
        if message["jsonrpc"] != "2.0" {
            self.fail(&format!("no message of JSON-RPC 2.0: {message}"));
        }
        let keys: Vec<_> = message.as_object().unwrap().keys().map(String::as_str).collect();
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), id) => {
                if keys.iter().any(|it| !["jsonrpc", "id", "method", "params"].contains(it)) {
                    self.fail(&format!("a request with other keys: {message}"));
                }
                self.check_moment(method);
                let params = message.get("params").cloned().unwrap_or_default();
                self.seen.push((method.to_owned(), params.clone()));
                match id {
                    Some(id) => self.take_request(id, method, &params),
                    None => self.take_notification(method, &params),
                }
            }
            (None, Some(id)) => self.take_answer(id.clone(), &message, &keys),
            _ => self.fail(&format!("neither a request nor an answer: {message}")),
        }
    }

    fn check_moment(&self, method: &str) {
        if self.server.is_null() && !BEFORE_INITIALIZED.contains(&method) {
            self.fail(&format!("{method} before the answer to initialize"));
        }
    }

    fn check_capability(&self, method: &str, table: &[(&str, &str)]) {
        let Some((_, capability)) = table.iter().find(|it| it.0 == method) else {
            self.fail(&format!("no server sends {method}"));
        };
        if !capability.is_empty() && !self.client.can(capability) {
            self.fail(&format!("{method}, though the client has no {capability}"));
        }
    }

    fn take_answer(&mut self, id: Value, message: &Value, keys: &[&str]) {
        let answer = self.read_answer(message, keys);
        if id.is_null() {
            self.stray.push(message["error"].clone());
            return;
        }
        let Some(id) = id.as_i64() else { self.fail(&format!("an id that was not sent: {id}")) };
        let Some(asked) = self.pending.remove(&id) else {
            self.fail(&format!("a second answer, or one to nothing: {message}"));
        };
        if let Ok(result) = &answer {
            if let Some(fault) = self.fault_of_result(&asked, result) {
                self.fail(&format!("{}: {fault}: {result}", asked.method));
            }
            self.check_result(&asked, result);
        }
        self.answered.insert(id, answer);
    }

    fn read_answer(&self, message: &Value, keys: &[&str]) -> Answered {
        match (message.get("result"), message.get("error")) {
            (Some(result), None) if keys.len() == 3 => Ok(result.clone()),
            (None, Some(error)) if keys.len() == 3 => {
                let (Some(code), Some(text)) = (error["code"].as_i64(), error["message"].as_str()) else {
                    self.fail(&format!("an error needs code and message: {message}"));
                };
                if !CODES.contains(&code) {
                    self.fail(&format!("no error of the protocol: {message}"));
                }
                if code == -32802 && !error["data"]["retriggerRequest"].is_boolean() {
                    self.fail(&format!("it does not say whether to ask again: {message}"));
                }
                Err(Refused { code, message: text.to_owned(), data: error["data"].clone() })
            }
            _ => self.fail(&format!("an answer has a result or an error: {message}")),
        }
    }

    /// Returns the fault of a result: its shape, or items although partial results were sent.
    fn fault_of_result(&self, asked: &Asked, result: &Value) -> Option<String> {
        let parts = self.partial.get(&asked.params["partialResultToken"].to_string());
        let items = result["items"].as_array();
        let is_sent_twice = parts.is_some() && items.is_some_and(|it| !it.is_empty());
        let twice = is_sent_twice.then(|| "items beside partial results".to_owned());
        twice.or_else(|| shapes::of_result(&asked.method, result))
    }

    fn take_request(&mut self, id: &Value, method: &str, params: &Value) {
        self.check_capability(method, REQUESTS);
        if self.server_pending.contains(id) {
            self.fail(&format!("{method} has the id {id}, which waits for an answer already"));
        }
        if let Some(fault) = shapes::of_request(method, params) {
            self.fail(&format!("{method}: {fault}"));
        }
        let answer = match self.client.answers {
            Answers::Right => self.result_for(method, params),
            Answers::Errors => Err("this client refuses everything".to_owned()),
            Answers::Never => {
                self.server_pending.push(id.clone());
                return;
            }
        };
        let answer = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(text) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": text } }),
        };
        // The server may have ended.
        let _is_sent = self.send(answer);
    }

    fn take_notification(&mut self, method: &str, params: &Value) {
        self.check_capability(method, NOTIFICATIONS);
        if let Some(fault) = shapes::of_notification(method, params) {
            self.fail(&format!("{method}: {fault}"));
        }
        match method {
            "textDocument/publishDiagnostics" => self.take_published(params),
            "$/progress" => self.take_progress(&params["token"].to_string(), &params["value"]),
            "$/cancelRequest" if !self.server_pending.contains(&params["id"]) => {
                self.fail(&format!("there is nothing to cancel: {params}"));
            }
            "window/showMessage" | "window/logMessage" if !(1..=5).contains(&number(&params["type"])) => {
                self.fail(&format!("no type of message: {params}"));
            }
            _ => {}
        }
    }

    fn take_progress(&mut self, token: &str, value: &Value) {
        let told = |it: &Value| it.to_string();
        let is_asked_for = |name: &str, it: &&Asked| told(&it.params[name]) == token;
        if let Some(asked) = self.pending.values().find(|it| is_asked_for("partialResultToken", it)) {
            if let Some(fault) = shapes::of_partial_result(&asked.method, value) {
                self.fail(&format!("a part for {}: {fault}", asked.method));
            }
            if asked.method == "workspace/diagnostic" {
                value["items"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|it| self.check_workspace_report(it));
            }
            self.partial.entry(token.to_owned()).or_default().push(value.clone());
            return;
        }
        let is_of_request = self.pending.values().any(|it| is_asked_for("workDoneToken", &it));
        let before = self.progress.get(token).copied().or(is_of_request.then_some(Progress::Created));
        let percentage = value.get("percentage").map(number);
        let next = match (before, value["kind"].as_str()) {
            (Some(Progress::Created), Some("begin")) if value["title"].is_string() => {
                Progress::Begun(percentage.unwrap_or_default())
            }
            (Some(Progress::Begun(least)), Some("report")) if percentage.is_none_or(|it| it >= least) => {
                Progress::Begun(percentage.unwrap_or(least))
            }
            (Some(Progress::Begun(_)), Some("end")) => Progress::Ended,
            _ => self.fail(&format!("progress of {token}, which is {before:?}: {value}")),
        };
        if percentage.is_some_and(|it| it > 100) {
            self.fail(&format!("more than all: {value}"));
        }
        self.progress.insert(token.to_owned(), next);
    }

    pub(super) fn create_progress(&mut self, token: &Value) {
        if self.progress.insert(token.to_string(), Progress::Created).is_some() {
            self.fail(&format!("the token {token} is there already"));
        }
    }
}

/// The number, or one that fails every check.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(u64::MAX)
}
