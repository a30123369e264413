//! Talks to language servers: starts one in a cage that nothing of it outlives, speaks LSP with it, and says
//! of every question how it ended.
//!
//! [`Client`] is a session with one server process. Its calls block, each until a deadline or a
//! [`lint::Cancel`]; what the server says by itself goes to the owner's [`Events`], in order. Parameters and
//! results are whatever serialises, so that every method can be used: the only types of LSP's own here are
//! those that the session itself must understand.
//!
//! A [`Server`] is an actor above a client: it moves one process from one view's state to the next, and takes
//! as an answer only what was asked after the move. What waits for it goes in turns, one for each state. What it
//! must know of each server is data: a [`Profile`]. Whatever else LSP can be asked than for findings is a
//! [`Question`], whose answer is in places of the view, and says what the server could not see of it.
//!
//! A [`Pool`] has all servers: it starts each when it is needed, a second process where one does not keep up,
//! ends what is idle, and keeps all within a budget of memory. A [`LanguageServer`] is one of a pool's as a
//! [`lint::Linter`].
//!
//! Nothing here has heard of branches: a view tells where it differs from the disk.

mod actor;
mod answers;
mod board;
mod capabilities;
mod choose;
mod client;
mod configs;
mod dependents;
mod descendants;
mod environment;
mod error;
mod events;
mod initialize;
pub mod keeper;
mod linter;
mod log;
mod message;
mod outbox;
mod pool;
mod positions;
mod process;
mod profile;
mod query;
mod session;
mod state;
mod transport;
mod uri;
mod watched;

pub use actor::{DiskChange, Life, Server, Setup, Worn};
pub use board::{Counts, Ending, ServerLog, ServerReport, ServerState};
pub use choose::{Pick, Reason, choose};
pub use client::{Call, Client, Ended, Limits, Options};
pub use environment::Environment;
pub use error::{Broken, ProtocolError, Refusal, RequestError, StartError};
pub use events::{Epoch, Event, EventKind, EventSink, Events, ServerStatus, events};
pub use initialize::{Initialize, WorkspaceFolder};
pub use linter::LanguageServer;
pub use message::Id;
pub use pool::{Pool, PoolLimits};
pub use positions::{Position, PositionEncoding, Positions, Range};
pub use process::{Exit, Keeper, Launch};
pub use profile::{
    Barrier, Canary, Checks, Deletes, Find, MemoryClass, Outside, Profile, Program, Searches, Sees, Symbols,
    profiles,
};
pub use query::{
    Access, Action, Answer, At, Chosen, Completion, CompletionKind, Completions, EditStep, Edits, File, Fold,
    Found, FoundSymbol, Goto, Hierarchy, Highlight, Hint, HintKind, Hover, Item, Link, Linked, Markup,
    MarkupText, NoAnswer, Parameter, Part, Place, Question, Renamable, Reply, Signature, Signatures, Style,
    Symbol, SymbolKind, TextRange, Token,
};
pub use state::EditPolicy;
