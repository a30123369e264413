//! Talks to language servers: starts one in a cage that nothing of it outlives, speaks LSP with it, and says
//! of every question how it ended.
//!
//! [`Client`] is a session with one server process. Its calls block, each until a deadline or a
//! [`lint::Cancel`]; what the server says by itself goes to the owner's [`Events`], in order. Parameters and
//! results are whatever serialises, so that every method can be used: the only types of LSP's own here are
//! those that the session itself must understand.
//!
//! This crate has never heard of branches: which state a server is in, and what proves that an answer is for
//! it, is decided above the client.

mod answers;
mod capabilities;
mod client;
mod descendants;
mod error;
mod events;
mod initialize;
pub mod keeper;
mod log;
mod message;
mod outbox;
mod positions;
mod process;
mod session;
mod state;
mod transport;

pub use client::{Call, Client, Ended, Limits, Options};
pub use error::{Broken, ProtocolError, Refusal, RequestError, StartError};
pub use events::{Epoch, Event, EventKind, EventSink, Events, ServerStatus, events};
pub use initialize::{Initialize, WorkspaceFolder};
pub use message::Id;
pub use positions::{Position, PositionEncoding, Positions, Range};
pub use process::{Exit, Keeper, Launch};
pub use state::EditPolicy;
