//! The front between a client of the Agent Client Protocol and its agent: `broker agent acp`. Gives each session a branch, and
//! translates between the protocol, [`Workspaces`](workspaces::Workspaces) and [`Tools`](agents::Tools).
//!
//! Speaks version 1 of the protocol, one JSON message a line; `initialize` of a newer client is passed on as version 1. Six kinds
//! of messages are looked at (`proxy.rs`). Any other, including methods and extensions that are not known here and lines that are
//! no JSON, is passed on in both directions byte for byte. Elements of a batch become lines of their own.
//!
//! - `initialize`: the agent is told that its client reads and writes files (`setup.rs`).
//! - `session/new`, `session/load`, `session/resume` and `session/fork`: the session gets a branch (`session.rs`), and
//!   `broker agent mcp` on that branch is added to its MCP servers.
//! - `fs/read_text_file`, `fs/write_text_file`: answered from the branch (`files.rs`), but for paths outside of the workspace.
//! - `session/update` with a diff: passed on at once. The findings that the edit brings follow as an update of that tool call
//!   (`findings.rs`), so that a slow linter delays no message.
//! - The response to `session/prompt`: waits for these checks, each of which has a limit, since updates belong before it.
//! - `session/cancel`: drops the checks.
//!
//! Terminals and requests for permission are the client's: a terminal sees the disk and not the branch. Its commands are not
//! rewritten to run on the branch, because clients differ in whether they quote arguments for a shell.
//!
//! Leaves out version 2 of the protocol, a draft in which clients have neither files nor terminals.
//!
//! Why no crate: a proxy of `agent-client-protocol` 5.2 runs below a conductor, and writes each message anew. The crate and its
//! schema turn on serde_json's `preserve_order` for the whole program, and bring some 14 further crates.

mod files;
mod findings;
mod lines;
mod message;
mod proxy;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tool_calls;
mod turns;

pub(crate) use self::{
    proxy::{End, Options, serve},
    setup::McpCommand,
};
