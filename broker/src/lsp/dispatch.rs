//! From messages to what is done about them: one table of requests, one of notifications.
//!
//! A request is begun in the order in which it came, so that it is about the documents as they are then, and answered whenever
//! it is done, exactly once.

use std::{cell::RefCell, collections::HashMap, rc::Rc, time::Duration};

use gen_lsp_types::{
    DidChangeConfigurationParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams, MessageType,
    TextDocumentContentParams,
};
use lsp_client::{Id, PositionEncoding, uri};
use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, spawn_local},
};

use super::{
    actions,
    branch_uri::BranchFile,
    capabilities,
    client_traits::{ClientTraits, Settings},
    commands,
    failure::Failure,
    hints, lenses,
    link::Link,
    options::Options,
    peer::Peer,
    proxy, pull,
    server::Server,
    settings,
    wire::Incoming,
};

/// How a session began, and where it stands.
pub(super) struct Session {
    peer: Peer,
    link: Rc<Link>,
    options: Options,
    phase: Phase,
    running: Rc<Running>,
    /// The editor's process, if it told it.
    editor: Option<Pid>,
}

enum Phase {
    /// Nothing but `initialize` is answered.
    New,
    Serving(Rc<Server>),
    /// Nothing but `exit` is heard.
    ShutDown,
}

/// Requests that are being answered.
#[derive(Default)]
struct Running(RefCell<HashMap<Id, AbortHandle>>);

/// Answers a request when it is dropped, if nothing else did: what panics is answered, too.
struct Answering {
    peer: Peer,
    running: Rc<Running>,
    id: Id,
}

impl Answering {
    fn with(self, answer: Result<Value, Failure>) {
        if self.running.0.borrow_mut().remove(&self.id).is_some() {
            self.peer.answer(Some(&self.id), answer);
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        if self.running.0.borrow_mut().remove(&self.id).is_some() {
            self.peer.answer(Some(&self.id), Err(Failure::internal("this request broke off")));
        }
    }
}

impl Session {
    pub(super) fn new(peer: Peer, link: Rc<Link>, options: Options) -> Self {
        Self { peer, link, options, phase: Phase::New, running: Rc::default(), editor: None }
    }

    /// Serves until the client says `exit` or leaves; whether it did so in order.
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
                Incoming::Passed => {}
                Incoming::Malformed { id, failure } => self.peer.answer(id.as_ref(), Err(failure)),
                Incoming::Broken(error) => return Err(format!("what the editor sends is not LSP: {error}")),
            }
        }
        Ok(matches!(self.phase, Phase::ShutDown))
    }

    fn asked(&mut self, id: Id, method: &str, params: Value) {
        if self.running.0.borrow().contains_key(&id) {
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
                self.cancel_all();
                Ok(Value::Null)
            }
            (Phase::Serving(server), _) => {
                let call = Call { server, session: self, id: &id };
                match call.begin(method, params) {
                    Some(refused) => Err(refused),
                    None => return,
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
        self.editor = settings::editor(params);
        let mut traits = ClientTraits::of(params);
        let options = params.get("initializationOptions").unwrap_or(&Value::Null);
        let defaults = Settings { servers: self.options.servers, ..Settings::default() };
        let (set, wrong) = match defaults.updated(options) {
            Ok(set) => (set, None),
            Err(wrong) => (defaults, Some(wrong)),
        };
        if set.servers {
            // The language servers count so, and what they say goes through as it is. Every client can.
            traits.encoding = PositionEncoding::Utf16;
        }
        let result = capabilities::initialize_result(&traits, set, env!("CARGO_PKG_VERSION"));
        let server =
            Server::new(self.peer.clone(), Rc::clone(&self.link), traits, set, self.options.home.clone());
        if let Some(wrong) = wrong {
            server.peer.show(MessageType::Warning, format!("initializationOptions: {wrong}"));
        }
        let mut folders = settings::folders(params);
        if folders.is_empty() {
            folders.extend(self.options.workspace.as_deref().map(uri::of_folder));
        }
        folders.iter().for_each(|it| settings::add_folder(&server, it));
        self.phase = Phase::Serving(server);
        Ok(result)
    }

    fn notified(&self, method: &str, params: Value) {
        if method == "$/cancelRequest" {
            return self.cancel(&params);
        }
        // Before and after, a client has nothing to say.
        let Phase::Serving(server) = &self.phase else { return };
        if let Err(error) = notify(server, method, params) {
            server.peer.log(MessageType::Warning, format!("`{method}` is passed over: {error}"));
        }
    }

    /// What is not answered yet is answered.
    fn cancel_all(&self) {
        let running = std::mem::take(&mut *self.running.0.borrow_mut());
        for (id, task) in running {
            task.abort();
            self.peer.answer(Some(&id), Err(Failure::cancelled()));
        }
    }

    /// What runs for the request is dropped, and with it whatever the daemon does for it.
    fn cancel(&self, params: &Value) {
        let id = params.get("id").and_then(|it| serde_json::from_value::<Id>(it.clone()).ok());
        let Some(id) = id else { return };
        let task = self.running.0.borrow_mut().remove(&id);
        if let Some(task) = task {
            task.abort();
            self.peer.answer(Some(&id), Err(Failure::cancelled()));
        }
    }
}

/// Interval at which is looked whether the editor's process is there.
const LOOK: Duration = Duration::from_millis(500);

/// Waits until the editor's process has ended, which its end of the stream does not tell where another one holds it.
async fn gone(editor: Option<Pid>) {
    let Some(editor) = editor else { return std::future::pending().await };
    while test_kill_process(editor) != Err(Errno::SRCH) {
        tokio::time::sleep(LOOK).await;
    }
}

/// Parameters of a type of the protocol's.
fn typed<T: DeserializeOwned>(params: Value) -> Result<T, Failure> {
    serde_json::from_value(params).map_err(Failure::invalid_params)
}

/// A notification, as it is now; an error says what is wrong with it.
fn notify(server: &Rc<Server>, method: &str, params: Value) -> Result<(), serde_json::Error> {
    match method {
        "initialized" => settings::initialized(server),
        "textDocument/didOpen" => server.did_open(serde_json::from_value(params)?),
        "textDocument/didChange" => {
            // A range that is none would leave a change of the whole text.
            let changes = params.get("contentChanges").and_then(Value::as_array);
            for it in changes.into_iter().flatten().filter_map(|it| it.get("range")) {
                let _right: gen_lsp_types::Range = serde_json::from_value(it.clone())?;
            }
            server.did_change(&serde_json::from_value(params)?);
        }
        "textDocument/didSave" => server.did_save(&serde_json::from_value(params)?),
        "textDocument/didClose" => server.did_close(&serde_json::from_value(params)?),
        "workspace/didChangeConfiguration" => {
            settings::changed(
                server,
                &serde_json::from_value::<DidChangeConfigurationParams>(params)?.settings,
            );
        }
        "workspace/didChangeWorkspaceFolders" => {
            let params: DidChangeWorkspaceFoldersParams = serde_json::from_value(params)?;
            params.event.added.iter().for_each(|it| settings::add_folder(server, &it.uri.0));
            params.event.removed.iter().for_each(|it| server.remove_folder(&it.uri.0));
        }
        // The daemon looks at the disk itself, and at each file's stamp when it is read.
        "workspace/didChangeWatchedFiles" => {
            let params: DidChangeWatchedFilesParams = serde_json::from_value(params)?;
            settings::files_changed(server, &params);
        }
        // `$/setTrace`, `window/workDoneProgress/cancel`, and what servers may pass over.
        _ => {}
    }
    Ok(())
}

/// One request.
struct Call<'c> {
    server: &'c Rc<Server>,
    session: &'c Session,
    id: &'c Id,
}

impl Call<'_> {
    /// Begins to answer; gives an error back that is known at once.
    fn begin(&self, method: &str, params: Value) -> Option<Failure> {
        self.try_begin(method, params).err()
    }

    fn try_begin(&self, method: &str, params: Value) -> Result<(), Failure> {
        let server = Rc::clone(self.server);
        match method {
            "textDocument/diagnostic" | "workspace/diagnostic" if !server.traits.pulls => {
                return Err(Failure::no_method(method));
            }
            "textDocument/diagnostic" => {
                let params: gen_lsp_types::DocumentDiagnosticParams = typed(params)?;
                let document = server.document(&params.text_document.uri.0);
                let now = document.map(|it| (it.version(), it));
                self.spawn(pull::of_document(server, now, params));
            }
            "workspace/diagnostic" => self.spawn(pull::of_workspace(server, typed(params)?)),
            "textDocument/codeAction" => {
                let raw = params.clone();
                let params: gen_lsp_types::CodeActionParams = typed(params)?;
                let document = server.expect_document(&params.text_document.uri.0)?;
                let version = document.version();
                self.spawn(actions::offer(server, document, version, params, raw));
            }
            "codeAction/resolve" if !proxy::is_of_a_server(&params) => {
                self.spawn(actions::resolve(server, typed(params)?));
            }
            "textDocument/hover" => {
                let raw = params.clone();
                let params: gen_lsp_types::HoverParams = typed(params)?;
                let at = params.text_document_position_params;
                let document = server.expect_document(&at.text_document.uri.0)?;
                match hints::Place::at(&document, at.position) {
                    Some(place) => {
                        self.spawn(async move { Ok(json!(hints::hover(&server, &document, &place).await?)) })
                    }
                    None => self.proxied_or(Value::Null, method, raw),
                }
            }
            "textDocument/completion" => {
                let raw = params.clone();
                let params: gen_lsp_types::CompletionParams = typed(params)?;
                let at = params.text_document_position_params;
                let document = server.expect_document(&at.text_document.uri.0)?;
                match hints::Place::at(&document, at.position) {
                    Some(place) => {
                        self.spawn(
                            async move { Ok(json!(hints::complete(&server, &document, &place).await?)) },
                        );
                    }
                    None => self.proxied_or(Value::Null, method, raw),
                }
            }
            "textDocument/codeLens" => {
                let params: gen_lsp_types::CodeLensParams = typed(params)?;
                let document = server.expect_document(&params.text_document.uri.0)?;
                self.spawn(lenses::of_document(server, document));
            }
            "workspace/executeCommand" => self.spawn(commands::execute(server, typed(params)?)),
            "workspace/textDocumentContent" => {
                let params: TextDocumentContentParams = typed(params)?;
                self.spawn(content(server, params.uri.0));
            }
            _ if server.settings().servers && proxy::is_proxied(method) => {
                self.spawn(proxy::ask(server, method.to_owned(), params));
            }
            _ => return Err(Failure::no_method(method)),
        }
        Ok(())
    }

    /// What a language server says, or `otherwise` where none is asked.
    fn proxied_or(&self, otherwise: Value, method: &str, params: Value) {
        let server = Rc::clone(self.server);
        if server.settings().servers {
            self.spawn(proxy::ask(server, method.to_owned(), params));
        } else {
            self.spawn(async { Ok(otherwise) });
        }
    }

    fn spawn(&self, work: impl Future<Output = Result<Value, Failure>> + 'static) {
        let running = Rc::clone(&self.session.running);
        let answering = Answering { peer: self.session.peer.clone(), running, id: self.id.clone() };
        let task = spawn_local(async move { answering.with(work.await) });
        self.session.running.0.borrow_mut().insert(self.id.clone(), task.abort_handle());
    }
}

/// `workspace/textDocumentContent`: the text of a file as a branch has it.
async fn content(server: Rc<Server>, uri: String) -> Result<Value, Failure> {
    let file = BranchFile::of_uri(&uri)
        .ok_or_else(|| Failure::invalid_params(format!("{uri} is no file of a branch")))?;
    if server.folder_of_branch(&file.branch).is_none() {
        return Err(Failure::failed(format!("no folder of this editor has the branch of {uri}")));
    }
    let target = broker_proto::v1::target::Target::BranchId(file.branch);
    let target = broker_proto::v1::Target { target: Some(target) };
    let bytes = server.read(target, file.path.as_str()).await?;
    Ok(json!({"text": String::from_utf8_lossy(&bytes)}))
}
