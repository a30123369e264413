//! Queries to language servers.

use language_servers::{Edits, File, Location, QueryResult, Symbol};
use lint::LineColumn;
use scheduler::Class;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{QueryKind, QueryReply, QueryRequest, Side};

use crate::{
    context::{Context, path},
    limits::{self, count},
    reply::{Answer, ToolError},
};

pub(super) const QUERY: &str =
    "Ask the language server for definitions, uses, types or callers, or rename in all files.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    kind: Kind,
    target_file: String,
    line: Option<u32>,
    /// The name on that line; for workspace_symbols what to look for
    symbol: Option<String>,
    /// For rename
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

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answered {
    branch: Option<String>,
    revision: u64,
    server: String,
    /// `file:line:column`, with what stands there as far as it is known.
    places: Vec<String>,
    left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Whether the branch was edited.
    applied: bool,
    /// Why there may be more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
}

pub(super) async fn query(context: Context, query: Query) -> Result<Answered, ToolError> {
    let is_rename = query.kind == Kind::Rename;
    let branch = match is_rename {
        true => Some(context.branch_to_edit(query.branch.as_deref()).await?.name),
        false => query.branch.clone(),
    };
    let seen = context.seen(branch.as_deref()).await?;
    let path = path("target_file", &query.target_file)?;
    let position = match query.kind {
        Kind::Symbols | Kind::WorkspaceSymbols => None,
        _ => Some(
            query.position(&context.daemon.read_file(&seen.target, path.as_str(), Side::Now).await?.bytes)?,
        ),
    };
    let text = match query.kind {
        Kind::Rename => query.new_name.clone().ok_or_else(|| ToolError::new("`new_name` is missing"))?,
        Kind::WorkspaceSymbols => query.symbol.clone().unwrap_or_default(),
        _ => String::new(),
    };
    let request = QueryRequest {
        target: seen.target,
        kind: query.kind.into(),
        path: path.to_string(),
        position,
        end: None,
        text,
        only: Vec::new(),
        server: None,
        apply: is_rename,
        class: Class::Agent,
        deadline: None,
    };
    let reply = context.daemon.query(request).await?;
    Ok(Answered::of(seen.branch, reply))
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
    /// Returns the position of the name on the line.
    fn position(&self, text: &[u8]) -> Result<LineColumn, ToolError> {
        let (Some(line), Some(symbol)) = (self.line, &self.symbol) else {
            return Err(ToolError::new("`line` and `symbol` are missing"))
                .map_err(|it| it.hint("say which name on which line is meant"));
        };
        let text = String::from_utf8_lossy(text);
        let found = text.lines().nth((line.max(1) - 1) as usize);
        let none = || ToolError::new(format!("`{}` has no line {line}", self.target_file));
        let found = found.ok_or_else(none)?;
        let column = whole_word(found, symbol).ok_or_else(|| {
            ToolError::new(format!("`{symbol}` is not on line {line}: `{}`", found.trim()))
                .hint("`read_file` or `grep_search` tell lines")
        })?;
        Ok(LineColumn { line, column })
    }
}

/// The column of a word, in Unicode scalar values from 1; of any place with these letters if it is no word.
fn whole_word(line: &str, word: &str) -> Option<u32> {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let is_whole = |at: &usize| {
        !is_part(line[..*at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next())
    };
    let mut places = line.match_indices(word).map(|(at, _)| at);
    let at = places.find(is_whole).or_else(|| line.find(word))?;
    u32::try_from(line[..at].chars().count() + 1).ok()
}

impl Answered {
    fn of(branch: Option<String>, reply: QueryReply) -> Self {
        let (mut places, text) = told(&reply.result);
        let left_out = places.len().saturating_sub(limits::PLACES);
        places.truncate(limits::PLACES);
        Self {
            branch,
            revision: reply.applied.unwrap_or(reply.revision).0,
            server: reply.server,
            places,
            left_out,
            text,
            applied: reply.applied.is_some(),
            partial: reply.partial,
        }
    }
}

/// Places, and what is said besides.
fn told(result: &QueryResult) -> (Vec<String>, Option<String>) {
    match result {
        QueryResult::Links(links) => (links.iter().map(|it| place(&it.target)).collect(), None),
        QueryResult::References(places) => (places.iter().map(place).collect(), None),
        QueryResult::Hover(hover) => (Vec::new(), hover.as_ref().map(|it| it.text.text.clone())),
        QueryResult::Symbols(symbols) => {
            let mut places = Vec::new();
            symbols.iter().for_each(|it| symbol(it, 0, &mut places));
            (places, None)
        }
        QueryResult::FoundSymbols(found) => {
            (found.iter().map(|it| format!("{} {}", place(&it.location), it.name)).collect(), None)
        }
        QueryResult::Hierarchy(linked) => {
            let line =
                |it: &language_servers::Linked| format!("{} {}", place(&it.item.location), it.item.name);
            (linked.iter().map(line).collect(), None)
        }
        QueryResult::Edits(edits) => (edited(edits), None),
        _ => (Vec::new(), None),
    }
}

fn edited(edits: &Edits) -> Vec<String> {
    use language_servers::EditStep::{Create, Remove, Rename, Text};
    let step = |it: &language_servers::EditStep| match it {
        Text { path, edits, .. } => format!("{path}: {}", count(edits.len(), "place", "places")),
        Create { path, .. } => format!("creates {path}"),
        Rename { from, to, .. } => format!("moves {from} to {to}"),
        Remove { path, .. } => format!("deletes {path}"),
    };
    edits.steps.iter().map(step).chain(edits.notes.iter().cloned()).collect()
}

fn symbol(it: &Symbol, depth: usize, places: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    places.push(format!("{indent}{} {}", it.name_range.start.line, it.name));
    it.children.iter().for_each(|it| symbol(it, depth + 1, places));
}

fn place(location: &Location) -> String {
    let file = match &location.file {
        File::Workspace(path) => path.to_string(),
        File::Outside(path) => path.display().to_string(),
        File::Other(uri) => uri.clone(),
    };
    match &location.range {
        Some(range) => format!("{file}:{}:{}", range.start.line, range.start.column),
        None => file,
    }
}

impl Answer for Answered {
    fn text(&self) -> String {
        let mut text = match (&self.text, self.places.as_slice(), self.applied) {
            (Some(text), ..) => text.clone(),
            (None, [], _) => format!("{} has nothing to say of it", self.server),
            (None, places, true) => format!("edited, revision {}\n{}", self.revision, places.join("\n")),
            (None, places, false) => places.join("\n"),
        };
        if self.left_out > 0 {
            text.push_str(&format!("\n… {} more", self.left_out));
        }
        if let Some(partial) = &self.partial {
            text.push_str(&format!("\nthere may be more: {partial}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::whole_word;

    #[test]
    fn a_name_is_found_as_a_word_first() {
        assert_eq!(whole_word("let adder = add(1);", "add"), Some(13));
        assert_eq!(whole_word("é = add", "add"), Some(5));
        assert_eq!(whole_word("adder", "add"), Some(1));
        assert_eq!(whole_word("other", "add"), None);
    }
}
