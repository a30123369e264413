//! The tools of an agent: what a model calls by name, with JSON, on a branch.
//!
//! [`Agents`] holds sessions over a [`Daemon`]. A session belongs to one workspace and has a branch of its own, which is
//! forked from the base at its first edit; a call may name another branch of that workspace instead. Each tool is a row
//! of one table ([`tool`]): its name, what it does, the shapes of its arguments and of its result, and the function
//! that answers. Fronts list the table and pass calls on, by the trait [`Tools`]: it is one beside
//! [`Workspaces`](workspaces::Workspaces), as a workspace knows nothing of sessions and of JSON.
//!
//! Speaks no protocol. What an edit means is in `agent-tools`, how a branch is searched in `search`, and what may be done
//! to a branch in `workspaces`: here these are put together, cut to what a model can read, and said in few words.

mod api;
mod arguments;
mod audit;
mod checks;
mod context;
mod findings;
mod indexes;
mod late;
mod limits;
mod preview;
mod question;
mod reads;
mod reasons;
mod reply;
mod schema;
mod secrets;
mod session;
#[cfg(test)]
mod tests;
mod tool;
mod tools;
mod wait;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use dashmap::DashMap;
use serde_json::{Map, Value};
use syntax::Trees;
use telemetry::{Fact, Kind, Operation};
use workspaces::{Daemon, DaemonError, run_uncancellable};

use self::{audit::Audit, context::Context, indexes::Indexes, late::LateFindings, session::Session};

pub use agent_tools::edit::CodexPatch;

pub use self::{
    api::{ToolList, Tools},
    audit::{LOG_LIMIT, LogEntry, log_file, log_files, read_log},
    indexes::index_limit,
    preview::{Preview, PreviewEdit},
    reads::Reads,
    reply::{Reply, ToolError},
    tool::{Effect, ToolInfo},
    tools::{INSTRUCTIONS, list},
};

/// Bytes of the syntax trees that are kept for edits and searches.
const TREES: u64 = 16 << 20;

/// Number of sessions; the one that was idle longest gives way.
const MAX_SESSIONS: usize = 10_000;

/// Bytes of the name of a session.
const MAX_SESSION: usize = 200;

/// All agents of a daemon.
pub struct Agents {
    daemon: Arc<Daemon>,
    trees: Arc<Trees>,
    indexes: Arc<Indexes>,
    sessions: DashMap<SessionKey, Arc<Session>>,
    audit: Audit,
}

/// Workspace, name of the session, and name of its branch if the caller gave one.
type SessionKey = (String, String, Option<String>);

/// Call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The handle of the workspace.
    pub workspace: String,
    /// Names the session, as its front likes. The same name finds the same branch again.
    pub session: String,
    /// The name of the session's own branch, instead of one that is made from the session's.
    pub branch: Option<String>,
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// The longest that the caller waits.
    pub deadline: Option<Duration>,
    /// W3C trace context of the caller. Over a connection, the call is a part of that trace.
    pub traceparent: Option<String>,
}

impl Agents {
    /// `log` is the folder of the audit log, `indexes` that of search indexes; without one there are none.
    pub fn new(daemon: Arc<Daemon>, log: Option<PathBuf>, indexes: Option<PathBuf>) -> Self {
        Self {
            daemon,
            trees: Arc::new(Trees::new(TREES)),
            indexes: Arc::new(Indexes::new(indexes)),
            sessions: DashMap::new(),
            audit: Audit::new(log),
        }
    }

    /// Answers a call. What is wrong with it is a reply, too, with what to do instead; an error only if its workspace is
    /// not open.
    pub async fn call(self: &Arc<Self>, call: Call) -> Result<Reply, DaemonError> {
        self.daemon.expect_open(&call.workspace)?;
        let effect = tools::find(&call.tool).map_or(Effect::Reads, |it| it.info.effect);
        match effect {
            // Nothing is left half done, or out of the log, if its caller leaves; what reads or runs ends with its caller.
            Effect::Edits | Effect::EditsOnce | Effect::Destroys => {
                let own = Arc::clone(self);
                let done = run_uncancellable(async move { Ok(own.told(call).await) }).await;
                Ok(done.unwrap_or_else(|error: ToolError| Reply::of_error(&error)))
            }
            Effect::Reads | Effect::Runs => Ok(self.told(call).await),
        }
    }

    /// Answers, measures and logs a call.
    async fn told(&self, call: Call) -> Reply {
        let start = Instant::now();
        let operation = Operation::start(Kind::Tool(known_name(&call.tool)));
        let answer = operation.around(self.answer(&call));
        let reply = answer.await.unwrap_or_else(|error| Reply::of_error(&error));
        end(operation, &reply);
        self.audit.write(&call, &reply, start.elapsed());
        reply
    }

    async fn answer(&self, call: &Call) -> Result<Reply, ToolError> {
        let tool = tools::find(&call.tool)?;
        let context = Context {
            daemon: Arc::clone(&self.daemon),
            trees: Arc::clone(&self.trees),
            indexes: Arc::clone(&self.indexes),
            workspace: call.workspace.clone(),
            session: self.session(call)?,
            deadline: call.deadline.map(|it| Instant::now() + it),
        };
        // A check has it in its own answer.
        let late = match call.tool == "check" {
            true => Vec::new(),
            false => context.session.late.take(&context.daemon, &context.session.told).await,
        };
        let reply = tool.call(context, call.arguments.clone()).await;
        Ok(reply.unwrap_or_else(|error| Reply::of_error(&error)).after(&late, LateFindings::text))
    }

    fn session(&self, call: &Call) -> Result<Arc<Session>, ToolError> {
        if call.session.is_empty() || call.session.len() > MAX_SESSION {
            return Err(ToolError::new(format!("a session has a name of 1 to {MAX_SESSION} bytes")));
        }
        let key = (call.workspace.clone(), call.session.clone(), call.branch.clone());
        if !self.sessions.contains_key(&key) && self.sessions.len() >= MAX_SESSIONS {
            self.forget_idle();
        }
        let new = || Arc::new(Session::new(&call.session, call.branch.as_deref()));
        let session = self.sessions.entry(key).or_insert_with(new);
        session.touch();
        Ok(Arc::clone(&session))
    }

    /// Forgets the session that is idle the longest. Its branch stays, and is found again by its name.
    fn forget_idle(&self) {
        let oldest = self.sessions.iter().min_by_key(|it| it.used()).map(|it| it.key().clone());
        oldest.map(|it| self.sessions.remove(&it));
    }
}

/// The name of a tool as it is measured: a client may call any name, and each would be one more series of metrics.
fn known_name(tool: &str) -> &'static str {
    tools::list().find(|it| it.name == tool).map_or("_OTHER", |it| &it.name)
}

fn end(mut operation: Operation, reply: &Reply) {
    if let Some(branch) = reply.branch() {
        operation.note(Fact::Branch(branch));
    }
    if let Some(revision) = reply.revision() {
        operation.note(Fact::Revision(revision));
    }
    operation.end(reply.is_error.then_some("tool_error"));
}
