//! Both ends of a proxy, over pairs of sockets, with a daemon in this process that has no plugins.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use agents::{Agents, Tools};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::oneshot};
use workspaces::{BranchInfo, Daemon, PageRequest, Undo, UndoRequest, Workspaces};

use super::super::{End, McpCommand, Options, serve};

/// Limit for a message.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// One end of the proxy.
pub(super) struct Peer {
    pub(super) output: UnixStream,
    input: BufReader<UnixStream>,
}

impl Peer {
    /// The peer, and the proxy's end of its connection.
    pub(super) fn connect() -> (Self, UnixStream) {
        let (own, other) = UnixStream::pair().unwrap();
        own.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        (Self { output: own.try_clone().unwrap(), input: BufReader::new(own) }, other)
    }

    pub(super) fn say(&mut self, line: &str) {
        self.output.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.say(&message.to_string());
    }

    pub(super) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.input.read_line(&mut line).unwrap();
        line.strip_suffix('\n').expect("the connection is open").to_owned()
    }

    pub(super) fn next(&mut self) -> Value {
        serde_json::from_str(&self.hear()).unwrap()
    }

    /// Sends a request and waits for its response, which is the next message.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params }));
        let answer = self.next();
        assert_eq!(answer["id"], "q", "{answer}");
        answer
    }

    pub(super) fn leave(&self) {
        self.output.shutdown(Shutdown::Both).unwrap();
    }
}

/// A daemon, and a workspace with a file.
pub(super) struct Place {
    workspace: TempDir,
    _state: TempDir,
    runtime: Arc<Runtime>,
    daemon: Arc<Daemon>,
}

/// A proxy between a client and an agent.
pub(super) struct Proxied {
    pub(super) client: Peer,
    pub(super) agent: Peer,
    pub(super) root: PathBuf,
    pub(super) stop: Option<oneshot::Sender<()>>,
    pub(super) proxy: JoinHandle<(End, BTreeSet<String>)>,
}

impl Place {
    pub(super) fn new() -> Self {
        let (workspace, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(workspace.path().join(".git")).unwrap();
        fs::write(workspace.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
        let daemon = crate::lsp::tests::daemon(&state.path().join("state"));
        let runtime = Arc::new(tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap());
        Self { workspace, _state: state, runtime, daemon }
    }

    pub(super) fn root(&self) -> PathBuf {
        fs::canonicalize(self.workspace.path()).unwrap()
    }

    pub(super) fn serve(&self, branch: Option<&str>) -> Proxied {
        let agents = Arc::new(Agents::new(Arc::clone(&self.daemon), None, None));
        self.serve_with(branch, Arc::new(agents))
    }

    pub(super) fn serve_with(&self, branch: Option<&str>, tools: Arc<dyn Tools>) -> Proxied {
        let options = Options {
            daemon: Arc::new(Arc::clone(&self.daemon)) as Arc<dyn Workspaces>,
            tools,
            branch: branch.map(str::to_owned),
            home: None,
            environment: |_| BTreeMap::new(),
            mcp: McpCommand { program: "broker".into(), variables: Vec::new() },
        };
        let ((client, to_client), (agent, to_agent)) = (Peer::connect(), Peer::connect());
        let both = |it: UnixStream| (it.try_clone().unwrap(), it);
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = Arc::clone(&self.runtime);
        let proxy = thread::spawn(move || {
            let stopped = async { stopped.await.unwrap_or(()) };
            runtime.block_on(serve(options, both(to_client), both(to_agent), stopped))
        });
        Proxied { client, agent, root: self.root(), stop: Some(stop), proxy }
    }

    /// Undoes the last edit of the only branch.
    pub(super) fn undo(&self) {
        let branch = self.branches().remove(0).id.to_string();
        let request = UndoRequest { branch, undo: Undo::Step, if_revision: None };
        self.runtime.block_on(self.daemon.undo(request)).unwrap();
    }

    pub(super) fn branches(&self) -> Vec<BranchInfo> {
        self.runtime.block_on(async {
            let opened = self.daemon.open_workspace(self.root(), None).await.unwrap();
            let page = PageRequest { size: 100, token: String::new() };
            let daemon: &dyn Workspaces = &self.daemon;
            daemon.list_branches(&opened.info.id, &page).await.unwrap().items
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.daemon.shut_down();
        self.daemon.release();
    }
}

impl Proxied {
    /// Begins a connection whose client has these capabilities, and a session `s`. Returns the branch.
    pub(super) fn begin(&mut self, capabilities: &Value) -> String {
        let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        self.client.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        let initialize = self.agent.next();
        let files = &initialize["params"]["clientCapabilities"]["fs"];
        assert_eq!(*files, json!({ "readTextFile": true, "writeTextFile": true }));
        self.agent.send(&json!({ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": 1 } }));
        self.client.next();
        self.session("session/new", "s")
    }

    pub(super) fn session(&mut self, method: &str, id: &str) -> String {
        let mut params = json!({ "cwd": self.root, "mcpServers": [] });
        if method != "session/new" {
            params["sessionId"] = id.into();
        }
        self.client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let asked = self.agent.next();
        let result = if method == "session/new" { json!({ "sessionId": id }) } else { Value::Null };
        self.agent.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": result }));
        assert_eq!(self.client.next()["result"], result);
        let args = asked["params"]["mcpServers"][0]["args"].as_array().unwrap();
        assert_eq!(
            args[..5],
            json!(["agent", "mcp", "--workspace", self.root, "--branch"]).as_array().unwrap()[..]
        );
        args[5].as_str().unwrap().to_owned()
    }

    pub(super) fn write(&mut self, path: &str, content: &str) -> Value {
        let params = json!({ "sessionId": "s", "path": self.root.join(path), "content": content });
        self.agent.ask("fs/write_text_file", &params)
    }

    pub(super) fn read(&mut self, path: &str) -> Value {
        let params = json!({ "sessionId": "s", "path": self.root.join(path) });
        self.agent.ask("fs/read_text_file", &params)
    }

    pub(super) fn prompt(&mut self, id: u32) {
        let params = json!({ "sessionId": "s", "prompt": [] });
        self.client
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params }));
        self.agent.next();
    }

    pub(super) fn end(self) -> (End, BTreeSet<String>) {
        self.proxy.join().unwrap()
    }
}
