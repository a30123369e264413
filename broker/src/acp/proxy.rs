//! Loop of the proxy: which messages are changed or answered, and which are passed on.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{Read, Write},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use agents::Tools;
use serde::Deserialize;
use serde_json::json;
use tokio::{sync::oneshot, time::timeout};
use workspaces::Workspaces;

use super::{
    files::FileRequest,
    findings::Checker,
    lines::{self, Outbox},
    message::{Failure, Id, Kind, Message, response, update},
    session::Session,
    setup::{self, ClientFiles, McpCommand},
    tool_calls::UpdateParams,
    turns::{Checked, Ended, Turns},
};

/// Surroundings of a proxy.
pub(crate) struct Options {
    pub(crate) daemon: Arc<dyn Workspaces>,
    pub(crate) tools: Arc<dyn Tools>,
    /// The branch of all sessions, instead of one for each.
    pub(crate) branch: Option<String>,
    pub(crate) home: Option<PathBuf>,
    /// Computes the variables of a workspace that is opened.
    pub(crate) environment: fn(&Path) -> BTreeMap<String, String>,
    pub(crate) mcp: McpCommand,
}

/// End of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client left, or the user interrupted.
    Client,
    /// The agent closed its output.
    Agent,
    /// A message that cannot be read.
    Broken(String),
}

/// Request of the client that the agent has not answered.
enum Asked {
    /// A session is asked for; its identifier, if it had one before.
    Session {
        session: Session,
        id: Option<String>,
    },
    /// The turn of a session.
    Prompt(String),
    Other,
}

/// Session that has its branch.
struct Open {
    session: Session,
    /// Whether the agent has begun it. Before, updates are its history.
    has_begun: bool,
    /// Whether the client was told where the edits are.
    is_told: bool,
}

struct Proxy {
    options: Options,
    client: Outbox,
    agent: Outbox,
    client_files: ClientFiles,
    asked: HashMap<Id, Asked>,
    sessions: HashMap<String, Open>,
    turns: Turns,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionParams {
    cwd: PathBuf,
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: String,
}

/// The longest that a message waits for the daemon.
const DAEMON_LIMIT: Duration = Duration::from_secs(30);

/// The longest that the end of a connection waits, for the daemon and for the client to read.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Passes messages on between a client and an agent, until one of them ends or `stop` does. Returns sentences that say where edits are.
pub(crate) async fn serve(
    options: Options,
    client: (impl Read + Send + 'static, impl Write + Send + 'static),
    agent: (impl Read + Send + 'static, impl Write + Send + 'static),
    stop: impl Future<Output = ()>,
) -> (End, BTreeSet<String>) {
    let (mut from_client, mut from_agent) = (lines::read(client.0), lines::read(agent.0));
    let ((to_client, written), (to_agent, _)) = (Outbox::new(client.1), Outbox::new(agent.1));
    let mut proxy = Proxy::new(options, to_client, to_agent);
    let mut stop = pin!(stop);
    let end = loop {
        tokio::select! {
            () = &mut stop => break End::Client,
            line = from_client.recv() => match line {
                Some(Ok(line)) => proxy.client_said(line).await,
                Some(Err(why)) => break End::Broken(format!("the client: {why}")),
                None => break End::Client,
            },
            line = from_agent.recv() => match line {
                Some(Ok(line)) => proxy.agent_said(line).await,
                Some(Err(why)) => break End::Broken(format!("the agent: {why}")),
                None => break End::Agent,
            },
            Some(ended) = proxy.turns.next() => proxy.checked(ended).await,
        }
    };
    let edits = proxy.end(written).await;
    (end, edits)
}

impl Proxy {
    fn new(options: Options, client: Outbox, agent: Outbox) -> Self {
        Self {
            options,
            client,
            agent,
            client_files: ClientFiles::default(),
            asked: HashMap::new(),
            sessions: HashMap::new(),
            turns: Turns::default(),
        }
    }

    async fn client_said(&mut self, line: Vec<u8>) {
        for message in Message::all_of(line) {
            match &message.kind {
                Kind::Request { id, method } => {
                    let (id, method) = (id.clone(), method.clone());
                    self.client_asked(id, &method, message).await;
                }
                Kind::Notification { method } if method == "session/cancel" => {
                    self.cancelled(&message).await;
                    self.agent.send(message.line);
                }
                _ => self.agent.send(message.line),
            }
        }
    }

    async fn client_asked(&mut self, id: Id, method: &str, message: Message) {
        match method {
            "session/new" | "session/load" | "session/resume" | "session/fork" => {
                if let Err(failure) = self.open(&id, method, &message).await {
                    self.client.send(response(&id, Err(failure)));
                }
            }
            "initialize" => {
                self.client_files = ClientFiles::of(&message);
                self.asked.insert(id, Asked::Other);
                self.agent.send(setup::initialize(&message));
            }
            _ => {
                let prompt = message.params().ok().filter(|_| method == "session/prompt");
                let asked = prompt.map_or(Asked::Other, |it: OfSession| Asked::Prompt(it.session_id));
                self.asked.insert(id, asked);
                self.agent.send(message.line);
            }
        }
    }

    /// Passes a request for a session on, with an MCP server on its branch.
    async fn open(&mut self, id: &Id, method: &str, message: &Message) -> Result<(), Failure> {
        let SessionParams { cwd, session_id } = message.params()?;
        let (source, known) = match method {
            "session/fork" => (session_id.as_deref().and_then(|it| self.sessions.get(it)), None),
            "session/new" => (None, None),
            _ => (None, session_id.clone()),
        };
        let source = source.map(|it| it.session.clone());
        let opened = Session::open(&self.options, &cwd, known.as_deref(), source.as_ref());
        let session = in_time(opened).await?;
        // The agent may ask for files before it answers.
        if let Some(known) = &known {
            self.begin(known, session.clone(), false).await?;
        }
        self.agent.send(setup::with_server(message, &self.options.mcp, &session.root, &session.branch));
        self.asked.insert(id.clone(), Asked::Session { session, id: known });
        Ok(())
    }

    /// Makes the branch of a session.
    async fn begin(&mut self, id: &str, session: Session, has_begun: bool) -> Result<(), Failure> {
        let branch = async {
            let made = session.branch(&*self.options.daemon, id).await;
            made.map(drop).map_err(super::session::failure)
        };
        in_time(branch).await?;
        self.sessions.insert(id.to_owned(), Open { session, has_begun, is_told: false });
        Ok(())
    }

    async fn agent_said(&mut self, line: Vec<u8>) {
        for message in Message::all_of(line) {
            match &message.kind {
                Kind::Request { id, method } if matches!(&**method, READ | WRITE) => {
                    let (id, is_write) = (id.clone(), method == WRITE);
                    self.file(id, is_write, message).await;
                }
                Kind::Notification { method } if method == "session/update" => {
                    let params = message.params();
                    self.client.send(message.line);
                    if let Ok(params) = params {
                        self.updated(params);
                    }
                }
                Kind::Response { id } => match self.asked.remove(id) {
                    Some(Asked::Session { session, id }) => self.answered(session, id, message).await,
                    Some(Asked::Prompt(session)) => {
                        self.turns.hold(session.clone(), message.line);
                        self.release(&session).await;
                    }
                    Some(Asked::Other) | None => self.client.send(message.line),
                },
                _ => self.client.send(message.line),
            }
        }
    }

    /// Passes the answer to a request for a session on, once the session has its branch.
    async fn answered(&mut self, session: Session, known: Option<String>, message: Message) {
        let Kind::Response { id } = &message.kind else { return };
        let result = message.result();
        let named = result.as_ref().and_then(|it| it["sessionId"].as_str()).map(str::to_owned);
        if let (Some(_), Some(name)) = (&result, known.or(named))
            && let Err(failure) = self.begin(&name, session, true).await
        {
            return self.client.send(response(id, Err(failure)));
        }
        self.client.send(message.line);
    }

    /// Answers a request for a file of the workspace; others are the client's, if it takes them.
    async fn file(&mut self, id: Id, is_write: bool, message: Message) {
        let request: FileRequest = match message.params() {
            Ok(request) => request,
            Err(failure) => return self.agent.send(response(&id, Err(failure))),
        };
        let Some(Open { session, .. }) = self.sessions.get(&request.session_id) else {
            let failure = Failure::invalid(format!("there is no session {}", request.session_id));
            return self.agent.send(response(&id, Err(failure)));
        };
        let daemon = &*self.options.daemon;
        let answer = match request.path_in(session) {
            Some(path) if is_write => in_time(request.write(&path, session, daemon)).await,
            Some(path) => in_time(request.read(&path, session, daemon)).await,
            None if self.client_files.takes(is_write) => return self.client.send(message.line),
            None => Err(Failure::invalid(format!("{} is outside of the workspace", request.path.display()))),
        };
        self.agent.send(response(&id, answer));
    }

    /// Checks a tool call whose edit may have been made.
    fn updated(&mut self, params: UpdateParams) {
        let (daemon, tools) = (Arc::clone(&self.options.daemon), Arc::clone(&self.options.tools));
        let sessions = &self.sessions;
        let session = |id: &str| sessions.get(id).filter(|it| it.has_begun).map(|it| it.session.clone());
        self.turns.update(params, session, Checker { daemon, tools });
    }

    /// Shows the client what a check found.
    async fn checked(&mut self, ended: Ended) {
        let Some(Checked { session, shown }) = self.turns.checked(ended) else { return };
        shown.into_iter().for_each(|it| self.client.send(it));
        self.release(&session).await;
    }

    async fn cancelled(&mut self, message: &Message) {
        let Ok(OfSession { session_id }) = message.params() else { return };
        self.turns.cancel(&session_id);
        self.release(&session_id).await;
    }

    /// Passes on the response that ends a session's turn, unless checks of the turn go on.
    async fn release(&mut self, session: &str) {
        let Some(line) = self.turns.take_ended(session) else { return };
        self.tell_place(session).await;
        self.client.send(line);
    }

    /// Says once in a session where its edits are.
    async fn tell_place(&mut self, id: &str) {
        let Some(open) = self.sessions.get_mut(id).filter(|it| !it.is_told) else { return };
        let branch = timeout(END_LIMIT, open.session.find(&*self.options.daemon)).await;
        if let Ok(Ok(Some(branch))) = branch
            && branch.changed_paths > 0
        {
            open.is_told = true;
            let text = format!("\n\nBroker: {}\n", open.session.place_of_edits());
            let content = json!({ "type": "text", "text": text });
            let shown = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
            self.client.send(update(id, &shown));
        }
    }

    /// Answers what the agent has not, and ends the sessions.
    async fn end(self, written: oneshot::Receiver<()>) -> BTreeSet<String> {
        drop(self.agent);
        self.turns.end().into_iter().for_each(|it| self.client.send(it));
        for id in self.asked.keys() {
            self.client.send(response(id, Err(Failure::internal("the agent has ended"))));
        }
        drop(self.client);
        let daemon = &*self.options.daemon;
        let mut edits = BTreeSet::new();
        for open in self.sessions.values() {
            let ended = timeout(END_LIMIT, open.session.end(daemon)).await;
            let name = &open.session.branch;
            edits.extend(match ended {
                Ok(Ok(place)) => place,
                Ok(Err(error)) => Some(format!("branch `{name}`: {error}")),
                Err(_) => Some(format!("branch `{name}` stays: the daemon does not answer")),
            });
        }
        let _client_reads_no_more = timeout(END_LIMIT, written).await;
        edits
    }
}

const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";

async fn in_time<T>(answer: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let answer = timeout(DAEMON_LIMIT, answer).await;
    answer.unwrap_or_else(|_| Err(Failure::internal("the daemon does not answer in time")))
}
