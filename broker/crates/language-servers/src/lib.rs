//! Language servers as linters: which of them a workspace is for, what each must be told of a view, what their answers
//! mean there, and how many processes there are.
//!
//! A [`Server`] is an actor above a [`Client`](lsp_client::Client): it moves one process from one view's state to the
//! next, and takes as an answer only what was asked after the move. Requests that wait for it go in turns, one for each
//! state. Its knowledge of each server is data: a [`Profile`]. LSP requests other than those for findings are
//! [`Question`]s, whose answers are in places of the view, and name the parts of it that the server could not see.
//!
//! A [`Pool`] has all servers: it starts each when it is needed, a second process where one does not keep up,
//! ends what is idle, and keeps all within a budget of memory. A [`LanguageServer`] is one of a pool's as a
//! [`lint::Linter`].
//!
//! Left out: what is said on the wire and how a process is kept, which is `lsp-client`'s. Nothing here has heard of
//! branches: a view tells where it differs from the disk.

mod actor;
mod choose;
mod configs;
mod dependents;
mod environment;
mod linter;
mod pool;
mod profile;
mod query;
mod registry;
mod watched;

pub use actor::{DiskChange, Priority, RecyclePolicy, Server, Setup};
pub use choose::{Pick, Reason, choose};
pub use environment::Environment;
pub use external_tools::OutsideAge;
pub use linter::{LanguageServer, ServerProgram};
pub use lsp_client::{Epoch, Launch, Limits, RequestError, Supervisor, supervisor};
pub use pool::{Pool, PoolLimits};
pub use profile::{
    Barrier, Canary, Checks, Deletes, MemoryClass, NativePackage, Profile, Searches, Sees, Symbols, profiles,
};
pub use query::{
    Access, Action, ActionChoice, At, Completion, CompletionKind, Completions, EditStep, Edits, File, Fold,
    FoundSymbol, Goto, Hierarchy, Highlight, Hint, HintKind, Hover, Item, Link, Linked, Location, Markup,
    MarkupText, NoAnswer, Parameter, Part, QueryAnswer, QueryResult, Question, Renamable, ServerReply,
    Signature, Signatures, Style, Symbol, SymbolKind, TextRange, Token, named_document,
};
pub use registry::{Counts, Ending, RecycleReason, ServerLog, ServerReport, ServerState};
