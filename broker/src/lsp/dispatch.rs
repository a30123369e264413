//! A session with one client: `initialize`, `shutdown` and `exit`, and where other messages go.
//!
//! Requests are begun in the order in which they came. Their tasks may finish in another order.

use std::{rc::Rc, sync::Arc, time::Duration};

use gen_lsp_types::MessageType;
use lsp_client::{Id, PositionEncoding, uri};
use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};
use serde_json::Value;
use tokio::sync::mpsc;
use workspaces::Workspaces;

use super::{
    capabilities, client_traits::ClientTraits, failure::Failure, initialize, notifications, options::Options,
    peer::Peer, pending::PendingRequests, requests::Call, server::Server, settings::Settings, wire::Incoming,
};

/// A session and its phase.
pub(super) struct Session {
    peer: Peer,
    workspaces: Arc<dyn Workspaces>,
    options: Options,
    phase: Phase,
    pending: Rc<PendingRequests>,
    /// The editor's process, if it sent its id.
    editor: Option<Pid>,
}

enum Phase {
    /// Before `initialize`, the only request that is answered.
    New,
    Serving(Rc<Server>),
    /// After `shutdown`. Waits for `exit`.
    ShutDown,
}

impl Session {
    pub(super) fn new(peer: Peer, workspaces: Arc<dyn Workspaces>, options: Options) -> Self {
        Self { peer, workspaces, options, phase: Phase::New, pending: Rc::default(), editor: None }
    }

    /// Serves until the client sends `exit` or disconnects. Returns whether it sent `shutdown` before.
    pub(super) async fn serve(mut self, incoming: &mut mpsc::Receiver<Incoming>) -> Result<bool, String> {
        loop {
            let message = tokio::select! {
                message = incoming.recv() => message,
                () = gone(self.editor) => None,
            };
            let Some(message) = message else { break };
            match message {
                Incoming::Notification { method, .. } if method == "exit" => {
                    return Ok(matches!(self.phase, Phase::ShutDown));
                }
                Incoming::Notification { method, params } => self.notified(&method, params),
                Incoming::Request { id, method, params } => self.asked(id, &method, params),
                Incoming::Response { id, answer } => self.peer.answered(&id, answer),
                Incoming::Ignored => {}
                Incoming::Malformed { id, failure } => self.peer.answer(id.as_ref(), Err(failure)),
                Incoming::Broken(error) => return Err(format!("what the editor sends is not LSP: {error}")),
            }
        }
        Ok(matches!(self.phase, Phase::ShutDown))
    }

    fn asked(&mut self, id: Id, method: &str, params: Value) {
        if self.pending.contains(&id) {
            let failure = Failure::invalid_request("another request with this `id` is not answered yet");
            return self.peer.answer(Some(&id), Err(failure));
        }
        let answer = match (&self.phase, method) {
            (Phase::New, "initialize") => self.initialize(&params),
            (Phase::New, _) => Err(Failure::not_initialized()),
            (Phase::Serving(_), "initialize") => {
                Err(Failure::invalid_request("`initialize` was sent before"))
            }
            (Phase::Serving(server), "shutdown") => {
                server.close();
                self.phase = Phase::ShutDown;
                self.pending.cancel_all(&self.peer);
                Ok(Value::Null)
            }
            (Phase::Serving(server), _) => {
                let call = Call { server, peer: &self.peer, pending: &self.pending, id: &id };
                match call.begin(method, params) {
                    Ok(()) => return,
                    Err(refused) => Err(refused),
                }
            }
            (Phase::ShutDown, _) => Err(Failure::invalid_request("the server is shut down")),
        };
        self.peer.answer(Some(&id), answer);
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, Failure> {
        if !params.get("capabilities").is_some_and(Value::is_object) {
            return Err(Failure::invalid_params("`initialize` tells the capabilities of the client"));
        }
        self.editor = initialize::editor(params);
        let mut traits = ClientTraits::of(params);
        let options = params.get("initializationOptions").unwrap_or(&Value::Null);
        let defaults = Settings { servers: self.options.servers, ..Settings::default() };
        let (set, wrong) = match defaults.updated(options) {
            Ok(set) => (set, None),
            Err(wrong) => (defaults, Some(wrong)),
        };
        if set.servers {
            // Answers of language servers are passed on unchanged, and they count in UTF-16, which every client supports.
            traits.encoding = PositionEncoding::Utf16;
        }
        let result = capabilities::initialize_result(&traits, set, env!("CARGO_PKG_VERSION"));
        let server = Server::new(
            self.peer.clone(),
            Arc::clone(&self.workspaces),
            traits,
            set,
            self.options.home.clone(),
        );
        if let Some(wrong) = wrong {
            server.peer.show(MessageType::Warning, format!("initializationOptions: {wrong}"));
        }
        let mut folders = initialize::folders(params);
        if folders.is_empty() {
            folders.extend(self.options.workspace.as_deref().map(uri::of_folder));
        }
        folders.iter().for_each(|it| initialize::add_folder(&server, it));
        self.phase = Phase::Serving(server);
        Ok(result)
    }

    fn notified(&self, method: &str, params: Value) {
        if method == "$/cancelRequest" {
            return self.cancel(&params);
        }
        // LSP has the server drop notifications before `initialize` and after `shutdown`.
        let Phase::Serving(server) = &self.phase else { return };
        if let Err(error) = notifications::handle(server, method, params) {
            server.peer.log(MessageType::Warning, format!("`{method}` is passed over: {error}"));
        }
    }

    fn cancel(&self, params: &Value) {
        let id = params.get("id").and_then(|it| serde_json::from_value::<Id>(it.clone()).ok());
        if let Some(id) = id {
            self.pending.cancel(&self.peer, &id);
        }
    }
}

/// Poll interval for the editor's process.
const POLL_EDITOR: Duration = Duration::from_millis(500);

/// Waits until the editor's process has ended. End of input alone does not show that: another process may hold the pipe open.
async fn gone(editor: Option<Pid>) {
    let Some(editor) = editor else { return std::future::pending().await };
    while test_kill_process(editor) != Err(Errno::SRCH) {
        tokio::time::sleep(POLL_EDITOR).await;
    }
}
