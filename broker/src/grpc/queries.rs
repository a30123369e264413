//! `QueryService`.

use std::time::Duration;

use broker_proto::{
    v1 as pb,
    v1::{QueryKind, query_service_server::QueryService},
};
use language_servers::{Answer, At, Chosen, Found, Goto, Hierarchy, Part, Question, Style};
use lint::LineColumn;
use overlay::WorkspacePath;
use tonic::{Request, Response, Status, async_trait};
use workspaces::{DaemonError, Query, Replied, Target, edits};

use super::{Front, answers, checks::deadline, from_proto, status};

/// Bytes of a name, a title or the parameters of a method.
const MAX_TEXT: usize = 1 << 20;

#[async_trait]
impl QueryService for Front {
    async fn query(&self, request: Request<pb::QueryRequest>) -> Result<Response<pb::QueryResponse>, Status> {
        let deadline = deadline(request.metadata());
        let request = request.into_inner();
        let query = query(&self.0, &request, deadline)?;
        let target = query.target.clone();
        if request.apply && matches!(target, Target::Base(_)) {
            return Err(status::invalid("apply", "only a branch can be changed"));
        }
        let replied = self.0.query(query).await.map_err(status::of)?;
        let (server, revision) = (replied.server.clone(), replied.revision);
        let content = replied.reply.content;
        let found = found(replied)?;
        let mut response = answers::response(&found.answer);
        // What may not be all is not done.
        let is_applied = request.apply && found.partial.is_none();
        if let (true, Some(edits), Target::Branch(_, cell)) = (is_applied, edits(&found.answer), &target) {
            let edits = edits.clone();
            let apply = move |branch: &mut overlay::Branch| {
                branch.transaction(|it| edits.apply(it)).map(drop).map_err(DaemonError::from)
            };
            let ((), applied) = self.edit(cell, Some(revision), apply).await?;
            response.applied_revision = Some(applied.0);
        }
        Ok(Response::new(pb::QueryResponse {
            server,
            revision: revision.0,
            content_hash: content.map(|it| it.to_string()).unwrap_or_default(),
            partial_reason: found.partial.unwrap_or_default(),
            ..response
        }))
    }

    async fn call_method(
        &self,
        request: Request<pb::CallMethodRequest>,
    ) -> Result<Response<pb::CallMethodResponse>, Status> {
        let deadline = deadline(request.metadata());
        let request = request.into_inner();
        short("params_json", &request.params_json)?;
        if request.server.is_empty() {
            return Err(status::invalid("server", "name the server to ask"));
        }
        let params = match request.params_json.as_str() {
            "" => serde_json::Value::Null,
            text => serde_json::from_str(text).map_err(|error| status::invalid("params_json", error))?,
        };
        let query = Query {
            target: from_proto::target(&self.0, request.target)?,
            path: WorkspacePath::root(),
            question: Question::Raw { method: request.method, params },
            places: Vec::new(),
            server: Some(request.server),
            deadline,
        };
        let replied = self.0.query(query).await.map_err(status::of)?;
        let revision = replied.revision.0;
        let found = found(replied)?;
        let Answer::Raw { result, encoding } = found.answer else {
            return Err(status::of(DaemonError::Bug("a method was answered with something else".to_owned())));
        };
        Ok(Response::new(pb::CallMethodResponse {
            result_json: result.to_string(),
            position_encoding: encoding.as_str().to_owned(),
            revision,
            partial_reason: found.partial.unwrap_or_default(),
        }))
    }
}

fn found(replied: Replied) -> Result<Found, Status> {
    let server = replied.server;
    replied.reply.found.map_err(|why| status::of(DaemonError::NoAnswer { server, why }))
}

fn short(field: &'static str, text: &str) -> Result<(), Status> {
    if text.len() <= MAX_TEXT {
        return Ok(());
    }
    let (limit, actual) = (MAX_TEXT as u64, text.len() as u64);
    Err(status::of(DaemonError::TooMuch { what: field, limit, actual }))
}

fn query(
    daemon: &workspaces::Daemon,
    request: &pb::QueryRequest,
    deadline: Option<Duration>,
) -> Result<Query, Status> {
    short("text", &request.text)?;
    let path = from_proto::path("path", &request.path)?;
    Ok(Query {
        target: from_proto::target(daemon, request.target.clone())?,
        question: question(request, &path)?,
        places: places(request),
        path,
        server: (!request.server.is_empty()).then(|| request.server.clone()),
        deadline,
    })
}

fn question(request: &pb::QueryRequest, path: &WorkspacePath) -> Result<Question, Status> {
    let path = path.clone();
    let at = || position("position", request.position.as_ref());
    let text = || request.text.clone();
    let goto = |to| Ok(Question::Goto { to, path: path.clone(), at: at()? });
    let hierarchy = |step| Ok(Question::Hierarchy { step, path: path.clone(), at: at()? });
    let only = || request.only.clone();
    let kind = QueryKind::try_from(request.kind);
    let kind = kind.map_err(|_| status::invalid("kind", "there is no such question"))?;
    Ok(match kind {
        QueryKind::Unspecified => return Err(status::invalid("kind", "it is missing")),
        QueryKind::Definition => return goto(Goto::Definition),
        QueryKind::Declaration => return goto(Goto::Declaration),
        QueryKind::TypeDefinition => return goto(Goto::TypeDefinition),
        QueryKind::Implementation => return goto(Goto::Implementation),
        QueryKind::References => Question::References { at: at()?, path, with_declaration: true },
        QueryKind::Highlights => Question::Highlights { at: at()?, path },
        QueryKind::Hover => Question::Hover { at: at()?, path },
        QueryKind::Completions => Question::Completions { at: at()?, path },
        QueryKind::Completion => Question::Completion { at: at()?, path, label: text() },
        QueryKind::Signatures => Question::Signatures { at: at()?, path },
        QueryKind::Symbols => Question::Symbols { path },
        QueryKind::WorkspaceSymbols => Question::FindSymbols { query: text(), near: Some(path) },
        QueryKind::PrepareRename => Question::PrepareRename { at: at()?, path },
        QueryKind::Rename if request.text.trim().is_empty() || request.text.contains(char::is_control) => {
            return Err(status::invalid("text", "it must be the new name"));
        }
        QueryKind::Rename => Question::Rename { at: at()?, path, new_name: text() },
        QueryKind::CodeActions => Question::Actions { part: part(request)?, path, only: only() },
        QueryKind::CodeAction => {
            let chosen = Chosen { title: text(), kind: None };
            Question::Action { part: part(request)?, path, only: only(), chosen }
        }
        QueryKind::Format => Question::Format { part: part_if_any(request)?, path, style: Style::default() },
        QueryKind::CallHierarchy => return hierarchy(Hierarchy::Calls),
        QueryKind::IncomingCalls => return hierarchy(Hierarchy::IncomingCalls),
        QueryKind::OutgoingCalls => return hierarchy(Hierarchy::OutgoingCalls),
        QueryKind::TypeHierarchy => return hierarchy(Hierarchy::Types),
        QueryKind::Supertypes => return hierarchy(Hierarchy::Supertypes),
        QueryKind::Subtypes => return hierarchy(Hierarchy::Subtypes),
        QueryKind::SemanticTokens => Question::Tokens { part: part_if_any(request)?, path },
        QueryKind::InlayHints => Question::Hints { part: part_if_any(request)?, path },
        QueryKind::FoldingRanges => Question::Folds { path },
    })
}

fn places(request: &pb::QueryRequest) -> Vec<(&'static str, LineColumn)> {
    let named = [("position", &request.position), ("end", &request.end)];
    let place = |it: &pb::Position| LineColumn { line: it.line, column: it.column };
    named.into_iter().filter_map(|(field, at)| Some((field, at.as_ref().map(place)?))).collect()
}

fn position(field: &'static str, at: Option<&pb::Position>) -> Result<At, Status> {
    let at = at.ok_or_else(|| status::invalid(field, "it is missing"))?;
    if at.line == 0 || at.column == 0 {
        return Err(status::invalid(field, "lines and columns count from 1"));
    }
    Ok(At::LineColumn(LineColumn { line: at.line, column: at.column }))
}

/// From `position` to `end`, which is the same place if it is left out.
fn part(request: &pb::QueryRequest) -> Result<Part, Status> {
    let start = position("position", request.position.as_ref())?;
    let end = request.end.as_ref().map_or(Ok(start), |it| position("end", Some(it)))?;
    Ok(start..end)
}

/// The whole file if no part is named.
fn part_if_any(request: &pb::QueryRequest) -> Result<Option<Part>, Status> {
    if request.position.is_none() && request.end.is_none() {
        return Ok(None);
    }
    part(request).map(Some)
}
