//! A session with one language server: starts it under a supervisor process that ends it and its descendants, speaks LSP,
//! and reports how each request ended.
//!
//! [`Client`] is the session. Its calls block, each until a deadline or a [`lint::Cancel`]; what the server says by
//! itself goes to the owner's [`Events`], in order, each with the [`Epoch`] of the process. Parameters and results are
//! whatever serialises, so that every method can be used: the only types of LSP's own here are those that the session
//! itself must understand. [`Positions`] turns offsets into LSP's positions, [`uri`] paths of a workspace into URIs.
//!
//! [`supervisor`] is the process between the program and the server. [`memory_of`] and [`child_of`] look at the processes
//! below it.
//!
//! Left out, and the business of the crate `language-servers`: which server to start and with what settings, which
//! documents are open and what is in them, what an answer means, when a server is started again, and limits of memory.
//! No state of a view is known here, and no server by name.

mod answers;
mod capabilities;
mod client;
mod descendants;
mod error;
mod events;
mod initialize;
mod limits;
mod log;
mod message;
mod outbox;
mod positions;
mod process;
mod session;
mod state;
pub mod supervisor;
mod transport;
pub mod uri;

pub use capabilities::is_known_method;
pub use client::{Call, Client, Ended, Options, sleep};
pub use descendants::{child_of, memory_of};
pub use error::{Broken, ProtocolError, Refusal, RequestError, StartError};
pub use events::{Epoch, Event, EventKind, EventSink, Events, ServerStatus, events};
pub use initialize::{Initialize, WorkspaceFolder};
pub use limits::Limits;
pub use log::Log;
pub use message::Id;
pub use outbox::TICK;
pub use positions::{Position, PositionEncoding, Positions, Range};
pub use process::{Exit, Launch, Supervisor};
pub use state::EditPolicy;
pub use transport::{frame, read_frame};
