//! Language server: `broker lsp`. Translates between an editor and the daemon: open documents become the workspace's buffers, and
//! requests become calls of [`Workspaces`], which is the daemon of this process or one behind a connection.
//!
//! All state belongs to one thread; slow work is a task on that thread that waits for the daemon. Does not format itself: with
//! `servers`, language servers do. Knows no rule and no linter by name.

mod actions;
mod branch_lookup;
mod branch_uri;
mod branches;
mod capabilities;
mod changes;
mod checking;
mod client_traits;
mod commands;
mod commits;
mod config_error;
mod config_schema;
mod diagnostics;
mod dispatch;
mod document;
mod edits;
mod events;
mod failure;
mod files;
mod folder;
mod hints;
mod hover;
mod hover_answer;
mod initialize;
mod lenses;
mod notifications;
mod options;
mod peer;
mod pending;
mod progress;
mod proxy;
mod pull;
mod queries;
mod questions;
mod refresh;
mod requests;
mod rounds;
mod rule_list;
mod running;
mod semantic_tokens;
mod server;
mod settings;
mod symbols;
mod sync;
mod target;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod wire;
mod words;

use std::{
    io::{Read, Write},
    sync::Arc,
    time::Duration,
};

use workspaces::Workspaces;

pub(crate) use self::options::Options;
use self::{dispatch::Session, peer::Peer};

/// Time for the editor to read the last answers after it has ended the session.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves one editor until it disconnects. Returns whether it sent `shutdown` before. Must run on a `LocalSet`.
pub(crate) async fn serve(
    workspaces: Arc<dyn Workspaces>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> Result<bool, String> {
    let (outgoing, written) = wire::write(output);
    let mut incoming = wire::read(input);
    let peer = Peer::new(outgoing);
    let session = Session::new(peer.clone(), workspaces, options);
    let ended = session.serve(&mut incoming).await;
    peer.close();
    // Answers may still be in the pipe. An editor that does not read them must not keep this process alive.
    let _written = tokio::time::timeout(FLUSH_TIMEOUT, written).await;
    ended
}
