//! Queries to language servers.

use scheduler::Class;
use schemars::JsonSchema;
use serde::Deserialize;
use workspaces::{DaemonError, QueryKind, QueryRequest, Side};

use super::{
    answered::Answered,
    symbol::{Place, named, on_line},
};
use crate::{
    context::{CallView, Context, blocking, path},
    reply::ToolError,
};

pub(super) const QUERY: &str =
    "Ask the language server for definitions, uses, types or callers, or rename in all files.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    kind: Kind,
    target_file: Option<String>,
    line: Option<u32>,
    /// Name on that line, or without a line of a definition: `Class.method`
    symbol: Option<String>,
    new_name: Option<String>,
    branch: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Definition,
    Implementation,
    TypeDefinition,
    References,
    Hover,
    Rename,
    Symbols,
    WorkspaceSymbols,
    IncomingCalls,
    OutgoingCalls,
    Supertypes,
    Subtypes,
}

pub(super) async fn query(context: Context, query: Query) -> Result<Answered, ToolError> {
    let is_rename = query.kind == Kind::Rename;
    let branch = match is_rename {
        true => Some(context.branch_to_edit(query.branch.as_deref()).await?.name),
        false => query.branch.clone(),
    };
    let seen = context.seen(branch.as_deref()).await?;
    let place = query.place(&context, &seen).await?;
    let text = match query.kind {
        Kind::Rename => query.new_name.clone().ok_or_else(|| ToolError::new("`new_name` is missing"))?,
        Kind::WorkspaceSymbols => query.symbol.clone().unwrap_or_default(),
        _ => String::new(),
    };
    let request = QueryRequest {
        target: seen.target.clone(),
        kind: query.kind.into(),
        path: place.path.to_string(),
        position: place.at,
        end: None,
        text,
        only: Vec::new(),
        server: None,
        apply: is_rename,
        class: Class::Agent,
        deadline: None,
    };
    let reply = match context.daemon.query(request).await {
        // The table of definitions has the answer as well.
        Err(DaemonError::NoServer { .. }) if query.kind == Kind::Definition && place.is_definition => {
            return blocking(move || Ok(Answered::of_definition(&seen, &place))).await;
        }
        reply => reply?,
    };
    blocking(move || Ok(Answered::of(&seen, reply))).await
}

impl From<Kind> for QueryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Definition => Self::Definition,
            Kind::Implementation => Self::Implementation,
            Kind::TypeDefinition => Self::TypeDefinition,
            Kind::References => Self::References,
            Kind::Hover => Self::Hover,
            Kind::Rename => Self::Rename,
            Kind::Symbols => Self::Symbols,
            Kind::WorkspaceSymbols => Self::WorkspaceSymbols,
            Kind::IncomingCalls => Self::IncomingCalls,
            Kind::OutgoingCalls => Self::OutgoingCalls,
            Kind::Supertypes => Self::Supertypes,
            Kind::Subtypes => Self::Subtypes,
        }
    }
}

impl Query {
    /// The place that is asked about: of a name on a line, or of the definition of a name.
    async fn place(&self, context: &Context, seen: &CallView) -> Result<Place, ToolError> {
        let file = self.target_file.as_deref().map(|it| path("target_file", it)).transpose()?;
        match (self.kind, &self.symbol, self.line, file) {
            (Kind::Symbols | Kind::WorkspaceSymbols, _, _, Some(path)) => {
                Ok(Place { path, at: None, is_definition: false })
            }
            (Kind::Symbols | Kind::WorkspaceSymbols, ..) => {
                Err(ToolError::new("`target_file` is missing").hint("it says which server is asked"))
            }
            (_, None, ..) => {
                Err(ToolError::new("`symbol` is missing").hint("it is the name that is asked about"))
            }
            (_, Some(_), Some(_), None) => {
                Err(ToolError::new("`target_file` is missing").hint("it is the file that has the line"))
            }
            (_, Some(symbol), Some(line), Some(path)) => {
                let text = context.daemon.read_file(&seen.target, path.as_str(), Side::Now).await?.bytes;
                let at = on_line(&String::from_utf8_lossy(&text), path.as_str(), line, symbol)?;
                Ok(Place { path, at: Some(at), is_definition: false })
            }
            (_, Some(symbol), None, file) => named(context, seen, symbol, file).await,
        }
    }
}
