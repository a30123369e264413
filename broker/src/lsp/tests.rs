//! Sessions with a client over a pair of sockets, and with a daemon in this process that has no plugins.

use std::{
    io::{BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use check_engine::Engine;
use linters::{plugins::Plugins, servers::Servers};
use lsp_client::{frame, read_frame, uri};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::LocalSet;
use workspaces::{Daemon, Parts};

use super::{Options, serve};

/// Limit for an answer.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A daemon in this process.
struct Served {
    daemon: Arc<Daemon>,
    _folder: TempDir,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let daemon = daemon(&folder.path().join("state"));
        Self { daemon, _folder: folder }
    }

    fn end(self) {
        self.daemon.shut_down();
        self.daemon.release();
    }
}

pub(crate) fn daemon(state_dir: &Path) -> Arc<Daemon> {
    let options = scheduler::Options { workers: 1, interactive_workers: 1, ..scheduler::Options::default() };
    Daemon::new(Parts {
        plugins: Plugins::none().unwrap(),
        servers: Servers::of_user(),
        others: Vec::new(),
        engine: Engine::new(options, 1, None, "test").unwrap(),
        state_dir: Some(state_dir.to_owned()),
        batch: workspaces::BATCH,
        idle_exit: None,
        policy_memory: 1 << 20,
        #[cfg(target_os = "linux")]
        launcher: shadow::Launcher::this_program(),
    })
}

/// A client that pulls diagnostics, in a workspace with these files.
struct Session {
    served: Served,
    root: TempDir,
    input: UnixStream,
    output: BufReader<UnixStream>,
    serving: JoinHandle<()>,
    last_id: u64,
    /// Result of `initialize`.
    initialized: Value,
    /// Messages for the client's log so far.
    log: Vec<String>,
}

impl Session {
    fn start(files: &[(&str, &str)], settings: &Value) -> Self {
        let (served, root) = (Served::start(), tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| write(&root.path().join(path), text));
        let (input, of_server) = UnixStream::pair().unwrap();
        input.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        let output = BufReader::new(input.try_clone().unwrap());
        let serving = spawn_server(&served, of_server);
        let (initialized, log) = (Value::Null, Vec::new());
        let mut session = Self { served, root, input, output, serving, last_id: 0, initialized, log };
        let params = json!({
            "processId": null,
            "rootUri": uri::of_folder(session.root.path()),
            "initializationOptions": settings,
            "capabilities": {
                "textDocument": {"diagnostic": {}},
                "workspace": {"textDocumentContent": {}},
            },
        });
        session.initialized = session.ask("initialize", &params);
        session.notify("initialized", &json!({}));
        session
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(&frame(message.to_string().as_bytes())).unwrap();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The response to a request.
    fn response(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let body = read_frame(&mut self.output, 1 << 24).unwrap().expect("the server has closed");
            let message: Value = serde_json::from_slice(&body).unwrap();
            if message["id"] == id {
                return message;
            }
            if message["method"] == "window/logMessage" {
                self.log.extend(message["params"]["message"].as_str().map(str::to_owned));
            }
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let response = self.response(method, params);
        response.get("result").unwrap_or_else(|| panic!("{method}: {response}")).clone()
    }

    fn uri(&self, path: &str) -> String {
        format!("{}/{path}", uri::of_folder(self.root.path()))
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "plaintext", "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    fn change(&mut self, uri: &str, version: i32, text: &str) {
        let params =
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]});
        self.notify("textDocument/didChange", &params);
    }

    /// Codes of a document's diagnostics.
    #[track_caller]
    fn pull(&mut self, uri: &str) -> Vec<String> {
        let report = self.ask("textDocument/diagnostic", &json!({"textDocument": {"uri": uri}}));
        let code = |it: &Value| it["code"].as_str().unwrap().to_owned();
        report["items"].as_array().unwrap().iter().map(code).collect()
    }

    fn end(mut self) {
        self.ask("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        self.serving.join().unwrap();
        self.served.end();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's own files, before anything reads them")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn spawn_server(served: &Served, stream: UnixStream) -> JoinHandle<()> {
    let daemon = Arc::clone(&served.daemon);
    thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let input = stream.try_clone().unwrap();
        let options = Options { servers: false, home: None, workspace: None };
        let is_in_order = LocalSet::new()
            .block_on(&runtime, async { serve(Arc::new(daemon), input, stream, options).await });
        assert!(is_in_order.unwrap());
        runtime.shutdown_background();
    })
}

/// A mistake in `broker.toml` is reported in each file, since none can be checked.
#[test]
fn a_pull_is_about_the_configuration_as_it_was_typed_last() {
    let mut session = Session::start(&[("broker.toml", ""), ("a.txt", ""), ("closed.txt", "")], &json!({}));
    let (config, open, closed) =
        (session.uri("broker.toml"), session.uri("a.txt"), session.uri("closed.txt"));
    session.open(&config, "");
    session.open(&open, "");
    for round in 1..=20 {
        session.change(&config, 2 * round, "no-such-key = 1\n");
        assert_eq!(session.pull(&open), ["incomplete"], "round {round}");
        let response = session.response("textDocument/diagnostic", &json!({"textDocument": {"uri": closed}}));
        assert!(response["error"]["message"].as_str().unwrap().contains("no-such-key"), "{response}");
        session.change(&config, 2 * round + 1, "");
        assert_eq!(session.pull(&open), [""; 0], "round {round}");
        assert_eq!(session.pull(&closed), [""; 0], "round {round}");
    }
    session.change(&config, 42, "no-such-key = 1\n");
    session.notify("textDocument/didClose", &json!({"textDocument": {"uri": config}}));
    assert_eq!(session.pull(&open), [""; 0], "the file on the disk has no mistake");
    session.end();
}

#[test]
fn documents_of_a_branch_are_found_by_its_name() {
    let mut session = Session::start(&[("broker.toml", ""), ("a.txt", "a\n")], &json!({}));
    let fork = json!({"command": "broker.forkBranch", "arguments": [{"name": "fix/one"}]});
    let id = session.ask("workspace/executeCommand", &fork)["id"].as_str().unwrap().to_owned();
    for branch in [&*id, "fix%2Fone", "fix%2fone"] {
        let uri = format!("broker-branch://{branch}/a.txt");
        let content = session.ask("workspace/textDocumentContent", &json!({"uri": uri}));
        assert_eq!(content, json!({"text": "a\n"}));
        session.open(&uri, "a\n");
        assert_eq!(session.pull(&uri), [""; 0], "{uri}");
        session.change(&uri, 2, "b\n");
        assert_eq!(session.pull(&uri), [""; 0], "{uri}");
    }
    let unknown = json!({"uri": "broker-branch://two/a.txt"});
    let refused = session.response("workspace/textDocumentContent", &unknown);
    assert!(refused["error"]["message"].as_str().unwrap().contains("two"), "{refused}");
    session.open("broker-branch://two/a.txt", "");
    assert_eq!(session.pull("broker-branch://two/a.txt"), ["incomplete"]);
    session.end();
}

/// The mistake in `broker.toml` shows that its folder is served.
#[test]
fn a_file_outside_of_the_folders_is_served_where_a_marker_of_a_root_is() {
    let mut session = Session::start(&[("broker.toml", "")], &json!({}));
    let (marked, plain) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(&marked.path().join("broker.toml"), "no-such-key = 1\n");
    let within = |root: &TempDir| format!("{}/new/a.txt", uri::of_folder(root.path()));
    session.open(&within(&marked), "");
    assert_eq!(session.pull(&within(&marked)), ["incomplete"]);
    assert_eq!(session.log, [""; 0]);
    for outside in [within(&plain), "file:///proc/self/environ".to_owned()] {
        session.open(&outside, "");
        assert_eq!(session.pull(&outside), [""; 0]);
        let told = session.log.pop().unwrap();
        assert_eq!(told, format!("{outside} is not served: no repository or project is around it"));
    }
    session.end();
}

/// Members of the server's capabilities, and the methods that they stand for.
const OF_SERVERS: [(&str, &str); 9] = [
    ("/documentFormattingProvider", "textDocument/formatting"),
    ("/documentRangeFormattingProvider", "textDocument/rangeFormatting"),
    ("/documentRangeFormattingProvider/rangesSupport", "textDocument/rangesFormatting"),
    ("/documentOnTypeFormattingProvider", "textDocument/onTypeFormatting"),
    ("/documentLinkProvider", "textDocument/documentLink"),
    ("/colorProvider", "textDocument/documentColor"),
    ("/linkedEditingRangeProvider", "textDocument/linkedEditingRange"),
    ("/monikerProvider", "textDocument/moniker"),
    ("/definitionProvider", "textDocument/definition"),
];

/// No language server runs here: the answer is `null`, and not that there is no such method.
#[test]
fn requests_that_servers_may_answer_are_passed_on() {
    for is_on in [false, true] {
        let files = [("broker.toml", ""), ("a.txt", "a\n")];
        let mut session = Session::start(&files, &json!({"servers": is_on}));
        let uri = session.uri("a.txt");
        session.open(&uri, "a\n");
        let at = json!({"line": 0, "character": 0});
        let params = json!({"textDocument": {"uri": uri}, "position": at});
        for (capability, method) in OF_SERVERS {
            let told = session.initialized["capabilities"].pointer(capability);
            assert_eq!(told.is_some(), is_on, "{capability}");
            let response = session.response(method, &params);
            match is_on {
                true => assert_eq!(response.get("result"), Some(&Value::Null), "{method}: {response}"),
                false => assert_eq!(response["error"]["code"], -32601, "{method}: {response}"),
            }
        }
        let range = json!({"start": at, "end": at});
        let context = json!({"diagnostics": []});
        let actions = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
        assert_eq!(session.ask("textDocument/codeAction", &actions), json!([]));
        assert_eq!(session.ask("textDocument/hover", &params), Value::Null);
        session.end();
    }
}
