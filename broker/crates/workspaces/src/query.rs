//! Questions to language servers: which server answers, and an answer's edits as an edit of the branch.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use language_servers::{
    NoAnswer, OutsideAge, Priority, Profile, QueryAnswer, QueryResult, Question, ServerReply, named_document,
};
use lint::{Cancel, LineColumn, LineTable};
use linters::{
    servers::{self, ServerContext},
    tools::with_tools,
};
use overlay::{Branch, ContentHash, Revision, View, WorkspacePath};
use scheduler::Class;

use super::{
    Daemon, DaemonError, Target, TargetId,
    question::{QueryRequest, expect_short},
    task::blocking,
};

/// A method of a server's own.
#[derive(Debug, Clone)]
pub struct MethodRequest {
    pub target: TargetId,
    /// `None` for the one that would be asked about the document that the parameters name.
    pub server: Option<String>,
    pub method: String,
    /// JSON; empty for none.
    pub params: String,
    /// Class as of a query.
    pub class: Class,
    pub deadline: Option<Duration>,
}

/// Answer of a server.
pub struct QueryReply {
    pub server: String,
    pub revision: Revision,
    /// Hash of the text that was asked about.
    pub content: Option<ContentHash>,
    pub result: QueryResult,
    /// Why there may be more to say, or something else.
    pub partial: Option<String>,
    /// The revision that has what the answer would change, if that was asked.
    pub applied: Option<Revision>,
}

#[derive(Debug, Clone)]
pub struct MethodReply {
    pub server: String,
    /// JSON.
    pub result: String,
    /// Unit in which the server counts columns, by LSP's name.
    pub position_encoding: String,
    pub revision: Revision,
    pub partial: Option<String>,
}

/// A question whose fields are checked.
struct Query {
    target: Target,
    /// Any file of the project, for a question that is about none.
    path: WorkspacePath,
    question: Question,
    /// Positions of the request that must be in the file, each by its field.
    places: Vec<(&'static str, LineColumn)>,
    /// Ask just this server.
    server: Option<String>,
    priority: Priority,
    deadline: Option<Duration>,
}

struct Replied {
    server: String,
    revision: Revision,
    reply: ServerReply,
}

/// The longest that is waited for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Daemon {
    /// Asks the servers for a file. Edits the branch as the answer says, if that is asked.
    pub async fn query(self: &Arc<Self>, request: QueryRequest) -> Result<QueryReply, DaemonError> {
        let path = request.checked_path()?;
        let target = self.target(&request.target)?;
        let query = Query {
            target: target.clone(),
            question: request.question(&path)?,
            places: request.places(),
            path,
            server: request.server,
            priority: priority(request.class),
            deadline: request.deadline,
        };
        if request.apply && matches!(target, Target::Base(_)) {
            return Err(DaemonError::invalid("apply", "only a branch can be changed"));
        }
        let mut reply = self.ask_server(query).await?.answered()?;
        // Edits that may be incomplete are not applied.
        if request.apply && reply.partial.is_none() {
            reply.applied = self.apply(&target, &reply).await?;
        }
        Ok(reply)
    }

    /// Calls a method of a server.
    pub async fn call_method(self: &Arc<Self>, request: MethodRequest) -> Result<MethodReply, DaemonError> {
        expect_short("params_json", &request.params)?;
        let params = match request.params.as_str() {
            "" => serde_json::Value::Null,
            text => serde_json::from_str(text).map_err(|error| DaemonError::invalid("params_json", error))?,
        };
        let target = self.target(&request.target)?;
        let path = match request.server {
            Some(_) => WorkspacePath::root(),
            None => document(&params, &target)?,
        };
        let query = Query {
            target,
            path,
            question: Question::Raw { method: request.method, params },
            places: Vec::new(),
            server: request.server,
            priority: priority(request.class),
            deadline: request.deadline,
        };
        let QueryReply { server, revision, result, partial, .. } =
            self.ask_server(query).await?.answered()?;
        let QueryResult::Raw { result, encoding } = result else {
            return Err(DaemonError::Bug("a method was answered with something else".to_owned()));
        };
        let position_encoding = encoding.as_str().to_owned();
        Ok(MethodReply { server, result: result.to_string(), position_encoding, revision, partial })
    }

    /// Edits the branch as the answer says; `None` if it says nothing of edits.
    async fn apply(
        self: &Arc<Self>,
        target: &Target,
        reply: &QueryReply,
    ) -> Result<Option<Revision>, DaemonError> {
        let (QueryResult::Edits(edits), Target::Branch(_, cell)) = (&reply.result, target) else {
            return Ok(None);
        };
        let edits = edits.clone();
        let apply = move |branch: &mut Branch| {
            branch.transaction(|it| edits.apply(it)).map(drop).map_err(DaemonError::from)
        };
        let ((), applied) = self.edit(Arc::clone(cell), Some(reply.revision), apply).await?;
        Ok(Some(applied))
    }

    /// Asks the servers for this file, one after the other, until one of them has such answers. Given up when
    /// this future is dropped.
    async fn ask_server(self: &Arc<Self>, query: Query) -> Result<Replied, DaemonError> {
        let resolved = query.target.view(None).await?;
        let cancel = Cancel::default();
        let _given_up = CancelOnDrop(cancel.clone());
        let (daemon, revision) = (Arc::clone(self), resolved.revision);
        let (server, reply) = blocking(move || daemon.ask_servers(&query, &resolved.view, &cancel)).await?;
        Ok(Replied { server, revision, reply })
    }

    fn ask_servers(
        &self,
        query: &Query,
        view: &Arc<dyn View>,
        cancel: &Cancel,
    ) -> Result<(String, ServerReply), DaemonError> {
        let deadline = Instant::now() + query.deadline.unwrap_or(TIMEOUT).min(TIMEOUT);
        query.expect_file(&**view)?;
        let workspace = query.target.workspace();
        let disk = workspace.base.without_buffers();
        let (environment, _missing) = with_tools(workspace.environment_of_servers(), &*disk);
        let context = self.servers.context(workspace.root(), &disk, &environment);
        let mut profiles = profiles(&context, query.server.as_deref(), &query.path)?;
        // Servers for types may have more answers.
        profiles.sort_by_key(|it| it.checks != language_servers::Checks::Types);
        let (mut last, mut missing) = (None, None);
        for profile in profiles {
            let server = match self.servers.server(&context, &profile, OutsideAge::Recent) {
                Ok(server) => server,
                Err(error) => {
                    missing.get_or_insert(error);
                    continue;
                }
            };
            let reply = server.query(view, query.question.clone(), query.priority, deadline, cancel);
            match reply.answer {
                Err(NoAnswer::Unsupported(_)) => last = Some((profile.tool.name, reply)),
                Ok(_) | Err(_) => return Ok((profile.tool.name, reply)),
            }
        }
        // A server that is missing might have answered.
        if let Some(error) = missing {
            let server = Some(error.linter);
            return Err(DaemonError::NoServer { server, message: error.message, hint: error.hint });
        }
        last.ok_or_else(|| DaemonError::NoServer {
            server: None,
            message: format!("no language server handles `{}`", query.path),
            hint: Some("run `broker doctor` to see which servers could".to_owned()),
        })
    }
}

impl Replied {
    fn answered(self) -> Result<QueryReply, DaemonError> {
        let Self { server, revision, reply } = self;
        let ServerReply { content, answer } = reply;
        match answer {
            Ok(QueryAnswer { result, partial }) => {
                Ok(QueryReply { server, revision, content, result, partial, applied: None })
            }
            Err(why) => Err(DaemonError::NoAnswer { server, why }),
        }
    }
}

impl Query {
    /// Fails for a missing file or a position beyond the text: a server's answer would be useless.
    fn expect_file(&self, view: &dyn View) -> Result<(), DaemonError> {
        let Some(path) = self.question.path() else { return Ok(()) };
        let text = view.open(path).map_err(|error| DaemonError::file(path, error))?;
        let lines = LineTable::new(&text);
        for (field, at) in &self.places {
            let nowhere = nowhere(&lines, *at).map(|why| format!("`{path}` {why}"));
            nowhere.map_or(Ok(()), |why| Err(DaemonError::invalid(field, why)))?;
        }
        Ok(())
    }
}

/// The document that parameters of a method name.
fn document(params: &serde_json::Value, target: &Target) -> Result<WorkspacePath, DaemonError> {
    let named = named_document(params, target.workspace().root());
    named.ok_or_else(|| {
        let message = "name the server to ask, or a document of the workspace in `params_json`";
        DaemonError::invalid("server", message)
    })
}

fn priority(class: Class) -> Priority {
    match class {
        Class::Background => Priority::Background,
        Class::Agent => Priority::Agent,
        Class::Interactive => Priority::Interactive,
    }
}

/// Why there is no such place in the text.
fn nowhere(lines: &LineTable<'_>, at: LineColumn) -> Option<String> {
    let LineColumn { line, column } = at;
    let end_of = |line| lines.line_span(line).map(|it| lines.scalar(it.end).column);
    match end_of(line) {
        Some(end) if column <= end => None,
        Some(end) => Some(format!("has no column {column} in line {line}, which ends at column {end}")),
        None => {
            let last = lines.line_count();
            Some(format!("has no line {line}; it ends at {last}:{}", end_of(last).unwrap_or(1)))
        }
    }
}

/// Servers that check the file, or the one that is named.
fn profiles(
    context: &ServerContext<'_>,
    named: Option<&str>,
    path: &WorkspacePath,
) -> Result<Vec<Profile>, DaemonError> {
    let settings = servers::config_on_disk(&**context.disk, context.level)?.servers();
    let known = servers::known(&settings, context.level)?;
    let Some(named) = named else {
        let wanted = servers::wanted_for(&known, context, &settings, path)?;
        return Ok(wanted.into_iter().map(|it| it.profile.clone()).collect());
    };
    let found = known.iter().find(|it| it.tool.name == named);
    found
        .map(|it| vec![it.clone()])
        .ok_or_else(|| DaemonError::NotFound { what: "server", id: named.to_owned() })
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_the_text_are_told() {
        let lines = LineTable::new("é = 1\n".as_bytes());
        let of = |line, column| nowhere(&lines, LineColumn { line, column });
        assert_eq!([of(1, 1), of(1, 6), of(2, 1)], [None, None, None]);
        assert_eq!(of(1, 7).as_deref(), Some("has no column 7 in line 1, which ends at column 6"));
        assert_eq!(of(3, 1).as_deref(), Some("has no line 3; it ends at 2:1"));
    }
}
