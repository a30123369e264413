//! Talks to language servers: starts one in a cage that nothing of it outlives, speaks LSP with it, and says
//! of every question how it ended.
//!
//! [`Client`] is a session with one server process. Its calls block, each until a deadline or a
//! [`lint::Cancel`]; what the server says by itself goes to the owner's [`Events`], in order. Parameters and
//! results are whatever serialises, so that every method can be used: the only types of LSP's own here are
//! those that the session itself must understand.
//!
//! A [`Server`] is an actor above a client: it moves one process from one view's state to the next, and takes
//! as an answer only what was asked after the move. What it must know of each server is data: a [`Profile`].
//! A [`LanguageServer`] is the same as a [`lint::Linter`]. Whatever else LSP can be asked is a [`Question`],
//! whose answer is in places of the view, and says what the server could not see of it.
//!
//! There is no choice between several processes of one server. Nothing here has heard of branches: a view tells where it differs from the disk.

mod actor;
mod answers;
mod capabilities;
mod choose;
mod client;
mod descendants;
mod error;
mod events;
mod initialize;
pub mod keeper;
mod linter;
mod log;
mod message;
mod outbox;
mod positions;
mod process;
mod profile;
mod query;
mod session;
mod state;
mod transport;
mod uri;

pub use actor::{DiskChange, Server, Setup};
pub use choose::choose;
pub use client::{Call, Client, Ended, Limits, Options};
pub use error::{Broken, ProtocolError, Refusal, RequestError, StartError};
pub use events::{Epoch, Event, EventKind, EventSink, Events, ServerStatus, events};
pub use initialize::{Initialize, WorkspaceFolder};
pub use linter::LanguageServer;
pub use message::Id;
pub use positions::{Position, PositionEncoding, Positions, Range};
pub use process::{Exit, Keeper, Launch};
pub use profile::{Barrier, Canary, Checks, Deletes, Find, MemoryClass, Profile, Program, Searches, Sees, profiles};
pub use query::{
    Access, Action, Answer, At, Chosen, Completion, CompletionKind, Completions, EditStep, Edits, File, Fold,
    Found, FoundSymbol, Goto, Hierarchy, Highlight, Hint, HintKind, Hover, Item, Link, Linked, Markup,
    MarkupText, NoAnswer, Parameter, Part, Place, Question, Renamable, Reply, Signature, Signatures, Style,
    Symbol, SymbolKind, TextRange, Token,
};
pub use state::EditPolicy;
