//! A strict client of `broker lsp`: it behaves as an editor does, and fails the test when the server breaks the protocol.
//!
//! Messages are checked on the test's own thread, whenever it waits for something: see [`Editor::wait`].

mod actions;
mod answers;
mod client;
mod documents;
mod findings;
mod rules;
mod shapes;
mod text;
mod wire;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::Path,
    time::Instant,
};

use serde_json::{Value, json};

use self::rules::Progress;
pub use self::{
    actions::{of_kind, titled},
    client::{Answers, Client},
    documents::{Document, edit, whole},
    findings::{Published, codes, told},
    shapes::{of_branch, of_change},
    text::{Encoding, lines},
    wire::{Frame, Wire},
};
use crate::{daemon::TEST_TIMEOUT, place::Place};

/// Number of messages in the transcript that a failure shows.
const SHOWN: usize = 40;

/// Limit on a message in the transcript, in bytes.
const SHOWN_PART: usize = 600;

/// An editor with its server.
pub struct Editor {
    pub wire: Wire,
    pub client: Client,
    /// The result of `initialize`.
    pub server: Value,
    pub documents: BTreeMap<String, Document>,
    /// Documents that were closed at least once.
    closed: BTreeSet<String>,
    /// The last published diagnostics, by document.
    pub published: BTreeMap<String, Published>,
    /// Notifications and requests of the server, in order: method and parameters.
    pub seen: Vec<(String, Value)>,
    /// Registrations by the server, by id: method and options.
    pub registered: BTreeMap<String, (String, Value)>,
    /// Errors of answers with the id `null`. The test must take them out before it ends.
    pub stray: Vec<Value>,
    /// Partial results, by token.
    pub partial: BTreeMap<String, Vec<Value>>,
    folders: Vec<std::path::PathBuf>,
    encoding: Encoding,
    last_id: i64,
    pending: BTreeMap<i64, Asked>,
    answered: BTreeMap<i64, Answered>,
    progress: BTreeMap<String, Progress>,
    server_pending: Vec<Value>,
    transcript: VecDeque<String>,
}

/// A request without an answer so far.
struct Asked {
    method: String,
    params: Value,
    /// Text of its document when the request was sent.
    text: Option<String>,
}

/// An answer: a result or an error.
pub type Answered = Result<Value, Refused>;

#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    pub code: i64,
    pub message: String,
    pub data: Value,
}

impl Editor {
    /// Runs the server in the test's workspace and begins a session.
    pub fn start(place: &Place, client: Client) -> Self {
        let mut editor = Self::spawn(place, client);
        editor.initialize();
        editor
    }

    /// Runs the server and sends nothing.
    pub fn spawn(place: &Place, client: Client) -> Self {
        let arguments: Vec<_> =
            ["lsp"].into_iter().chain(client.arguments.iter().map(String::as_str)).collect();
        let mut command = place.command(&arguments);
        if let Some(path) = &client.path {
            command.env("PATH", path);
            // Cargo sets them for tests. They name folders beside those of `client.path`, which a sandbox would hide.
            for name in ["LD_LIBRARY_PATH", "CARGO_HOME", "RUSTUP_HOME"] {
                command.env_remove(name);
            }
        }
        let wire = Wire::spawn(command, place.own("lsp.log"));
        let folders = client.folders.clone().unwrap_or_else(|| vec![place.root()]);
        Self {
            wire,
            client,
            server: Value::Null,
            documents: BTreeMap::new(),
            closed: BTreeSet::new(),
            published: BTreeMap::new(),
            seen: Vec::new(),
            registered: BTreeMap::new(),
            stray: Vec::new(),
            partial: BTreeMap::new(),
            folders,
            encoding: Encoding::Utf16,
            last_id: 0,
            pending: BTreeMap::new(),
            answered: BTreeMap::new(),
            progress: BTreeMap::new(),
            server_pending: Vec::new(),
            transcript: VecDeque::new(),
        }
    }

    /// The parameters of `initialize`.
    pub fn introduction(&self) -> Value {
        let folders: Vec<_> = self.folders.iter().map(|it| folder(it)).collect();
        let mut params = json!({
            "processId": self.client.process_id.unwrap_or_else(std::process::id),
            "clientInfo": { "name": "test", "version": "1" },
            "rootUri": folders.first().map(|it| it["uri"].clone()),
            "capabilities": self.client.capabilities,
        });
        if self.client.can("/workspace/workspaceFolders") {
            params["workspaceFolders"] = folders.into();
        }
        if let Some(options) = &self.client.initialization_options {
            params["initializationOptions"] = json!(options);
        }
        params
    }

    pub fn initialize(&mut self) {
        self.server = self.ask("initialize", self.introduction());
        let named = self.server.pointer("/capabilities/positionEncoding").and_then(Value::as_str);
        let encoding = Encoding::named(named.unwrap_or("utf-16"));
        self.encoding = encoding.unwrap_or_else(|| self.fail(&format!("no encoding {named:?}")));
        self.notify("initialized", json!({}));
    }

    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The value of a server capability.
    pub fn capability(&self, pointer: &str) -> &Value {
        self.server["capabilities"].pointer(pointer).unwrap_or(&Value::Null)
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let is_sent = self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        if !is_sent {
            self.fail(&format!("the server does not read {method}"));
        }
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        let text = uri.and_then(|it| self.documents.get(it)).map(|it| it.text.clone());
        let asked = Asked { method: method.to_owned(), params: params.clone(), text };
        self.pending.insert(self.last_id, asked);
        let mut message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        if !self.send(message) {
            self.fail(&format!("the server does not read {method}"));
        }
        self.last_id
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, id: i64) -> Answered {
        self.wait(&format!("an answer to request {id}"), |it| it.answered.remove(&id))
    }

    /// Whether a request has been answered, as far as messages were read. Does not wait.
    pub fn is_answered(&self, id: i64) -> bool {
        self.answered.contains_key(&id)
    }

    /// Sends a request and returns its result. An error fails the test.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        match self.answer(id) {
            Ok(result) => result,
            Err(error) => self.fail(&format!("{method} is refused: {error:?}")),
        }
    }

    /// Sends a request and returns its error. A result fails the test.
    #[track_caller]
    pub fn refusal(&mut self, method: &str, params: Value) -> Refused {
        let id = self.request(method, params);
        match self.answer(id) {
            Ok(result) => self.fail(&format!("{method} is answered: {result}")),
            Err(error) => error,
        }
    }

    /// Sends `workspace/executeCommand`.
    #[track_caller]
    pub fn command(&mut self, name: &str, argument: Value) -> Value {
        self.ask("workspace/executeCommand", json!({ "command": name, "arguments": [argument] }))
    }

    #[track_caller]
    pub fn refused_command(&mut self, name: &str, argument: Value) -> Refused {
        self.refusal("workspace/executeCommand", json!({ "command": name, "arguments": [argument] }))
    }

    /// Waits until the server has read all messages so far: it answers an unknown method at once.
    pub fn settle(&mut self) {
        let refused = self.refusal("$/nothing", Value::Null);
        assert_eq!(refused.code, rules::METHOD_NOT_FOUND, "{refused:?}");
    }

    /// Handles messages until `look` finds something. `what` is for the failure.
    #[track_caller]
    pub fn wait<T>(&mut self, what: &str, mut look: impl FnMut(&mut Self) -> Option<T>) -> T {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            match self.wire.receive(deadline) {
                Some(Frame::Message(message)) => self.handle(message),
                Some(Frame::Wrong(why)) => self.fail(&format!("no frame of the protocol: {why}")),
                Some(Frame::End) => self.fail(&format!("the server ended instead of {what}")),
                None => self.fail(&format!("this never came: {what}")),
            }
        }
    }

    /// Handles messages until a time, to wait for something that no message announces.
    pub fn handle_until(&mut self, deadline: Instant) {
        while let Some(Frame::Message(message)) = self.wire.receive(deadline) {
            self.handle(message);
        }
    }

    /// Ends the session by `shutdown` and `exit`. Every request must have been answered.
    #[track_caller]
    pub fn close(mut self) {
        self.ask("shutdown", Value::Null);
        assert_eq!(self.exit(), Some(0));
    }

    /// Sends `exit`, reads to the end of the output and returns the exit code.
    pub fn exit(&mut self) -> Option<i32> {
        self.notify("exit", Value::Null);
        self.read_to_end();
        self.wire.exit_code()
    }

    /// Handles messages until the server's output ends.
    pub fn read_to_end(&mut self) {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            match self.wire.receive(deadline) {
                Some(Frame::Message(message)) => self.handle(message),
                Some(Frame::Wrong(why)) => self.fail(&format!("no frame of the protocol: {why}")),
                Some(Frame::End) => break,
                None => self.fail("the server's output does not end"),
            }
        }
        let unanswered: Vec<_> = self.pending.values().map(|it| &it.method).collect();
        assert!(unanswered.is_empty() || self.server.is_null(), "these have no answer: {unanswered:?}");
        assert!(self.stray.is_empty(), "answers to nothing: {:?}", self.stray);
    }

    fn send(&mut self, message: Value) -> bool {
        self.note("->", &message);
        self.wire.send(&message)
    }

    fn note(&mut self, arrow: &str, message: &Value) {
        let mut text = format!("{arrow} {message}");
        if text.len() > SHOWN_PART {
            let end = text.floor_char_boundary(SHOWN_PART);
            text.truncate(end);
            text += "…";
        }
        if self.transcript.len() == SHOWN {
            self.transcript.pop_front();
        }
        self.transcript.push_back(text);
    }

    /// Fails the test with the transcript and the server's log.
    #[track_caller]
    pub fn fail(&self, why: &str) -> ! {
        let said: Vec<_> = self.transcript.iter().map(String::as_str).collect();
        panic!("{why}\n{}\n{}", said.join("\n"), self.wire.log())
    }
}

/// A folder as a `WorkspaceFolder`.
pub fn folder(path: &Path) -> Value {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    json!({ "uri": uri(path), "name": name })
}

/// URI of a file, with the same characters escaped as by editors.
pub fn uri(path: &Path) -> String {
    let path = path.to_str().unwrap();
    let escaped = path.bytes().map(|it| match it {
        b'/' | b'-' | b'.' | b'_' | b'~' => char::from(it).to_string(),
        _ if it.is_ascii_alphanumeric() => char::from(it).to_string(),
        _ => format!("%{it:02X}"),
    });
    format!("file://{}", escaped.collect::<String>())
}

/// Path of a `file:` URI.
pub fn path_of(uri: &str) -> Option<std::path::PathBuf> {
    let escaped = uri.strip_prefix("file://")?.as_bytes();
    let (mut path, mut at) = (Vec::new(), 0);
    while at < escaped.len() {
        let hex = (escaped[at] == b'%').then(|| std::str::from_utf8(&escaped[at + 1..at + 3]).unwrap());
        path.push(hex.map_or(escaped[at], |it| u8::from_str_radix(it, 16).unwrap()));
        at += if hex.is_some() { 3 } else { 1 };
    }
    Some(String::from_utf8(path).unwrap().into())
}
