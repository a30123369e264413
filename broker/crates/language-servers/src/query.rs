//! Questions to a server besides those for findings, and their answers, in the project's own terms: paths of the
//! workspace, byte offsets, lines and columns of the view that was asked about.
//!
//! Each question is complete: one that takes several requests (an action's edits, the callers of a function) is asked
//! in one go, since between two questions the server may be in another view's state. [`Question::Raw`] is for methods
//! without a question of their own. Keeps no answers, and applies no edits.

mod actions;
mod asker;
mod cursor;
mod edits;
mod hierarchy;
mod location;
mod marks;
mod navigation;
mod raw;
mod symbols;
mod wire;

use std::ops::Range;

use lint::LineColumn;
use overlay::{ContentHash, WorkspacePath};
use serde_json::Value;

pub use self::{
    actions::{Action, ActionChoice},
    cursor::{
        Completion, CompletionKind, Completions, Hover, Markup, MarkupText, Parameter, Renamable, Signature,
        Signatures,
    },
    edits::{EditStep, Edits},
    hierarchy::{Hierarchy, Item, Linked},
    location::{File, Location, TextRange},
    marks::{Fold, Hint, HintKind, Token},
    navigation::{Access, Highlight, Link},
    raw::named_document,
    symbols::{FoundSymbol, Symbol, SymbolKind},
};
pub(crate) use self::{
    asker::{Asker, offset_of},
    raw::documents,
};

use lsp_client::PositionEncoding;

/// A place in a text, as a request names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Offset in bytes.
    Offset(u32),
    /// Line and column, from 1; the column counts Unicode scalar values.
    LineColumn(LineColumn),
}

/// Range from the first place up to and without the second.
pub type Part = Range<At>;

#[derive(Debug, Clone)]
pub enum Question {
    Goto {
        to: Goto,
        path: WorkspacePath,
        at: At,
    },
    References {
        path: WorkspacePath,
        at: At,
        with_declaration: bool,
    },
    Highlights {
        path: WorkspacePath,
        at: At,
    },
    Hover {
        path: WorkspacePath,
        at: At,
    },
    Completions {
        path: WorkspacePath,
        at: At,
    },
    /// One of the [`Completions`](Self::Completions) with all its details: the first with this label.
    Completion {
        path: WorkspacePath,
        at: At,
        label: String,
    },
    Signatures {
        path: WorkspacePath,
        at: At,
    },
    Symbols {
        path: WorkspacePath,
    },
    /// `near` is opened, for servers that know no project without a file of it.
    FindSymbols {
        query: String,
        near: Option<WorkspacePath>,
    },
    PrepareRename {
        path: WorkspacePath,
        at: At,
    },
    Rename {
        path: WorkspacePath,
        at: At,
        new_name: String,
    },
    /// Code actions, only of these kinds, if there are any: `quickfix`, `refactor.extract`.
    Actions {
        path: WorkspacePath,
        part: Part,
        only: Vec<String>,
    },
    /// Edits of one of the [`Actions`](Self::Actions).
    Action {
        path: WorkspacePath,
        part: Part,
        only: Vec<String>,
        chosen: ActionChoice,
    },
    Format {
        path: WorkspacePath,
        part: Option<Part>,
        style: Style,
    },
    Hierarchy {
        step: Hierarchy,
        path: WorkspacePath,
        at: At,
    },
    Tokens {
        path: WorkspacePath,
        part: Option<Part>,
    },
    Hints {
        path: WorkspacePath,
        part: Option<Part>,
    },
    Folds {
        path: WorkspacePath,
    },
    /// Request of any method, with parameters as LSP has them. Documents that they name are opened.
    Raw {
        method: String,
        params: Value,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goto {
    Definition,
    Declaration,
    TypeDefinition,
    Implementation,
}

/// Formatting style where a server's own configuration has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub tab_size: u32,
    pub insert_spaces: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum QueryResult {
    Links(Vec<Link>),
    References(Vec<Location>),
    Highlights(Vec<Highlight>),
    /// `None` here and below: the server has nothing to say of this place.
    Hover(Option<Hover>),
    Completions(Completions),
    Completion(Completion),
    Signatures(Option<Signatures>),
    Symbols(Vec<Symbol>),
    FoundSymbols(Vec<FoundSymbol>),
    Renamable(Option<Renamable>),
    Edits(Edits),
    Actions(Vec<Action>),
    Hierarchy(Vec<Linked>),
    Tokens(Vec<Token>),
    Hints(Vec<Hint>),
    Folds(Vec<Fold>),
    /// Unchanged result of the server, with the encoding of its positions.
    Raw {
        result: Value,
        encoding: PositionEncoding,
    },
}

/// Reply of a server to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerReply {
    /// Hash of the document that was asked about.
    pub content: Option<ContentHash>,
    pub answer: Result<QueryAnswer, NoAnswer>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct QueryAnswer {
    pub result: QueryResult,
    /// Reason for which the answer may be incomplete or different: the parts of the view that the server does not see.
    pub partial: Option<String>,
}

/// Reason for no answer. An empty answer is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    #[error("the server does not have this: {0}")]
    Unsupported(String),
    #[error("{0}")]
    Pending(String),
    #[error("{0}")]
    Failed(String),
}

impl Default for Style {
    fn default() -> Self {
        Self { tab_size: 4, insert_spaces: true }
    }
}

impl ServerReply {
    pub(crate) fn without(reason: NoAnswer) -> Self {
        Self { content: None, answer: Err(reason) }
    }
}

impl Goto {
    fn method(self) -> &'static str {
        match self {
            Self::Definition => "textDocument/definition",
            Self::Declaration => "textDocument/declaration",
            Self::TypeDefinition => "textDocument/typeDefinition",
            Self::Implementation => "textDocument/implementation",
        }
    }
}

impl Question {
    /// The document that it is about.
    pub fn path(&self) -> Option<&WorkspacePath> {
        match self {
            Self::Goto { path, .. }
            | Self::References { path, .. }
            | Self::Highlights { path, .. }
            | Self::Hover { path, .. }
            | Self::Completions { path, .. }
            | Self::Completion { path, .. }
            | Self::Signatures { path, .. }
            | Self::Symbols { path }
            | Self::PrepareRename { path, .. }
            | Self::Rename { path, .. }
            | Self::Actions { path, .. }
            | Self::Action { path, .. }
            | Self::Format { path, .. }
            | Self::Hierarchy { path, .. }
            | Self::Tokens { path, .. }
            | Self::Hints { path, .. }
            | Self::Folds { path } => Some(path),
            Self::FindSymbols { near, .. } => near.as_ref(),
            Self::Raw { .. } => None,
        }
    }

    /// The place of a name whose uses are looked for in all files.
    pub(crate) fn searched(&self) -> Option<(&WorkspacePath, At)> {
        match self {
            Self::References { path, at, .. }
            | Self::Rename { path, at, .. }
            | Self::Goto { to: Goto::Implementation | Goto::Definition, path, at }
            | Self::Hierarchy { step: Hierarchy::IncomingCalls | Hierarchy::Subtypes, path, at } => {
                Some((path, *at))
            }
            _ => None,
        }
    }

    pub(crate) fn ask(&self, asker: &mut Asker<'_>) -> Result<QueryResult, NoAnswer> {
        match self {
            Self::Goto { to, at, .. } => navigation::goto(asker, to.method(), *at).map(QueryResult::Links),
            Self::References { at, with_declaration, .. } => {
                navigation::references(asker, *at, *with_declaration).map(QueryResult::References)
            }
            Self::Highlights { at, .. } => navigation::highlights(asker, *at).map(QueryResult::Highlights),
            Self::Hover { at, .. } => cursor::hover(asker, *at).map(QueryResult::Hover),
            Self::Completions { at, .. } => cursor::completions(asker, *at).map(QueryResult::Completions),
            Self::Completion { at, label, .. } => {
                cursor::completion(asker, *at, label).map(QueryResult::Completion)
            }
            Self::Signatures { at, .. } => cursor::signatures(asker, *at).map(QueryResult::Signatures),
            Self::Symbols { .. } => symbols::of_document(asker).map(QueryResult::Symbols),
            Self::FindSymbols { query, .. } => symbols::find(asker, query).map(QueryResult::FoundSymbols),
            Self::PrepareRename { at, .. } => cursor::prepare_rename(asker, *at).map(QueryResult::Renamable),
            Self::Rename { at, new_name, .. } => edits::rename(asker, *at, new_name).map(QueryResult::Edits),
            Self::Actions { part, only, .. } => actions::list(asker, part, only).map(QueryResult::Actions),
            Self::Action { part, only, chosen, .. } => {
                actions::edits(asker, part, only, chosen).map(QueryResult::Edits)
            }
            Self::Format { part, style, .. } => {
                edits::format(asker, part.as_ref(), *style).map(QueryResult::Edits)
            }
            Self::Hierarchy { step, at, .. } => hierarchy::ask(asker, *step, *at).map(QueryResult::Hierarchy),
            Self::Tokens { part, .. } => marks::tokens(asker, part.as_ref()).map(QueryResult::Tokens),
            Self::Hints { part, .. } => marks::hints(asker, part.as_ref()).map(QueryResult::Hints),
            Self::Folds { .. } => marks::folds(asker).map(QueryResult::Folds),
            Self::Raw { method, params } => raw::ask(asker, method, params),
        }
    }
}
