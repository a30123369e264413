//! A language server that keeps its documents, and says of each the whole state that it is in: so a finding
//! tells whether anything of another state was left. Ends with code 99 when a client does what no client may.
//!
//! A server that publishes does so for each document that is opened or changed, with its version: first an empty list,
//! then the state.
//!
//! A document with `die` in it kills the server that is asked about it, and there is no answer about one with
//! `hang` in it; with `stuck`, there is none about anything from then on. With `grow`, it takes memory. Each
//! seventh answer is that the content was modified. An argument is how many milliseconds a change takes.
//!
//! The words after `reads` and `remembers` are files outside of the workspace: what they hold is told with the state, as
//! it is now or as it was when this process first looked. `WATCHES` in its environment names a folder that it says it
//! watches. While a document has `broken` in it, that is all it tells, of this document.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufReader,
    process::exit,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    fake::{fail, read, write},
    family,
};

#[derive(Default)]
struct Model {
    documents: BTreeMap<String, String>,
    gone: BTreeSet<String>,
    last_version: i64,
    asked: u32,
    publishes: bool,
    /// Whether the server has answered since it was notified of a change for which it reads the disk again. Without
    /// that, a delete is lost.
    has_looked: bool,
    grown: Vec<Vec<u8>>,
    /// Files outside, as they were when they were first looked at.
    remembered: BTreeMap<String, String>,
    work: Duration,
}

/// Once asked about a document with `grow` in it.
const GROWTH: usize = 32 << 20;

pub(crate) fn run(kind: &str) {
    let mut input = BufReader::new(std::io::stdin().lock());
    let work = Duration::from_millis(kind.parse().unwrap_or(0));
    let mut model = Model { publishes: kind == "publishes", work, ..Model::default() };
    while let Some(message) = read(&mut input) {
        let result = model.handle(message["method"].as_str().unwrap_or(""), &message["params"]);
        if let (Some(id), Some(result)) = (message.get("id"), result) {
            let mut answer = json!({ "jsonrpc": "2.0", "id": id });
            match result {
                Ok(it) => answer["result"] = it,
                Err(code) => answer["error"] = json!({ "code": code, "message": "content modified" }),
            }
            write(&answer);
        }
        if model.publishes && message["params"]["textDocument"]["version"].is_i64() {
            model.publish(&message["params"]["textDocument"]);
        }
    }
}

impl Model {
    fn handle(&mut self, method: &str, params: &Value) -> Option<Result<Value, i32>> {
        let uri = || params["textDocument"]["uri"].as_str().unwrap_or_default().to_owned();
        let wrong = || -> ! { fail(&format!("{method} {params}")) };
        match method {
            "initialize" => {
                let pull = json!({ "interFileDependencies": true, "workspaceDiagnostics": false });
                let info = json!({ "name": "model", "version": "1" });
                let capabilities =
                    if self.publishes { json!({}) } else { json!({ "diagnosticProvider": pull }) };
                return Some(Ok(json!({ "capabilities": capabilities, "serverInfo": info })));
            }
            "initialized" => watch(),
            "textDocument/didOpen" => {
                self.take_version(params);
                self.look_again();
                let text = params["textDocument"]["text"].as_str().unwrap_or_else(|| wrong());
                if self.documents.insert(uri(), text.to_owned()).is_some() {
                    wrong();
                }
            }
            "textDocument/didChange" => {
                self.take_version(params);
                let text = params["contentChanges"][0]["text"].as_str().unwrap_or_else(|| wrong());
                if self.documents.insert(uri(), text.to_owned()).is_none() {
                    wrong();
                }
            }
            "textDocument/didClose" => {
                drop(self.documents.remove(&uri()).unwrap_or_else(|| wrong()));
                self.look_again();
            }
            "workspace/didChangeWatchedFiles" => {
                for change in params["changes"].as_array().unwrap_or_else(|| wrong()) {
                    let uri = change["uri"].as_str().unwrap_or_else(|| wrong());
                    if change["type"] != 3 {
                        self.gone.clear();
                        self.has_looked = false;
                    } else if !self.has_looked || !self.gone.insert(uri.to_owned()) {
                        wrong();
                    }
                }
            }
            "textDocument/documentSymbol" => {
                self.has_looked = true;
                return Some(Err(-32601));
            }
            "textDocument/diagnostic" => return self.ask(&uri()),
            "broker/fence" => return Some(Err(-32601)),
            "shutdown" => return Some(Ok(Value::Null)),
            "exit" => exit(0),
            _ => {}
        }
        None
    }

    /// Reads the disk again, on which all files exist that were reported as deleted.
    fn look_again(&mut self) {
        if !self.publishes {
            self.gone.clear();
        }
        self.has_looked = false;
    }

    fn ask(&mut self, uri: &str) -> Option<Result<Value, i32>> {
        let text = self.documents.get(uri).unwrap_or_else(|| fail(&format!("{uri} is not open")));
        if text.contains("die") {
            fail("this text is too much");
        } else if text.contains("stuck") {
            family::stay();
        } else if text.contains("grow") {
            self.grown.push(vec![1; GROWTH]);
        }
        self.asked += 1;
        if text.contains("hang") {
            return None;
        } else if self.asked.is_multiple_of(7) {
            return Some(Err(-32801));
        }
        let items = match self.documents.values().any(|it| it.contains("broken")) {
            true if text.contains("broken") => vec![broken()],
            true => Vec::new(),
            false => {
                let mut finding = self.finding();
                finding["message"] = format!("{}{}", self.state(), self.outside()).into();
                vec![finding]
            }
        };
        Some(Ok(json!({ "kind": "full", "items": items })))
    }

    fn publish(&self, document: &Value) {
        let text = self.documents.get(document["uri"].as_str().unwrap_or("")).map_or("", String::as_str);
        if text.contains("die") {
            fail("this text is too much");
        } else if !text.contains("hang") {
            for diagnostics in [json!([]), json!([self.finding()])] {
                let (uri, version) = (&document["uri"], &document["version"]);
                let params = json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
                write(&json!({ "method": "textDocument/publishDiagnostics", "params": params }));
            }
        }
    }

    /// Contents of the files outside that documents name.
    fn outside(&mut self) -> String {
        let mut told = String::new();
        for text in self.documents.values() {
            let words: Vec<_> = text.split_whitespace().collect();
            for pair in words.windows(2) {
                let now = || std::fs::read_to_string(pair[1]).unwrap_or_else(|_| "nothing".to_owned());
                match pair[0] {
                    "reads" => told += &format!(" {{{}}}", now()),
                    "remembers" => {
                        let held = self.remembered.entry(pair[1].to_owned()).or_insert_with(now);
                        told += &format!(" {{{held}}}");
                    }
                    _ => {}
                }
            }
        }
        told
    }

    fn finding(&self) -> Value {
        let zero = json!({ "line": 0, "character": 0 });
        let range = json!({ "start": zero, "end": zero });
        json!({ "range": range, "message": self.state(), "code": "state" })
    }

    fn state(&self) -> String {
        let name = |uri: &str| uri.strip_prefix("file:///w/").unwrap_or(uri).to_owned();
        let open = self.documents.iter().map(|(uri, text)| format!("{}={text}", name(uri)));
        let gone = self.gone.iter().map(|uri| format!("-{}", name(uri)));
        open.chain(gone).collect::<Vec<_>>().join(" ")
    }

    fn take_version(&mut self, params: &Value) {
        thread::sleep(self.work);
        let version = params["textDocument"]["version"].as_i64().unwrap_or(0);
        if version <= self.last_version {
            fail(&format!("version {version} after {}", self.last_version));
        }
        self.last_version = version;
    }
}

fn broken() -> Value {
    let zero = json!({ "line": 0, "character": 0 });
    let range = json!({ "start": zero, "end": zero });
    json!({ "range": range, "severity": 1, "message": "it is broken", "code": "broken", "source": "compiler" })
}

fn watch() {
    let Ok(folder) = std::env::var("WATCHES") else { return };
    let watcher = json!({ "globPattern": { "baseUri": format!("file://{folder}"), "pattern": "**" } });
    let method = "workspace/didChangeWatchedFiles";
    let registration = json!({ "id": "w", "method": method, "registerOptions": { "watchers": [watcher] } });
    let params = json!({ "registrations": [registration] });
    write(&json!({ "id": 1, "method": "client/registerCapability", "params": params }));
}
