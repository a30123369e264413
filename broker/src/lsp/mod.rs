//! The front that speaks the Language Server Protocol: `broker lsp`. Translates between an editor and the daemon: what an editor
//! has open is the workspace's buffers, and its questions are the daemon's operations.
//!
//! One thread has all state; what takes time is a task on it that waits for the daemon. Formats nothing, as no plugin does. Knows
//! no rule and no linter by name.

mod actions;
mod branch_uri;
mod branches;
mod capabilities;
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
mod initialize;
mod lenses;
mod link;
mod notifications;
mod options;
mod peer;
mod pending;
mod progress;
mod proxy;
mod pull;
mod queries;
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
mod text;
mod wire;
mod words;

use std::{
    io::{Read, Write},
    rc::Rc,
    time::Duration,
};

pub(crate) use self::options::Options;
use self::{dispatch::Session, peer::Peer};

pub(crate) use self::link::{Link, Start};

/// How long an editor may take to read what was answered before it left.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves one editor until it leaves; whether it left in order. To be called on a `LocalSet`.
pub(crate) async fn serve(
    link: Rc<Link>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> Result<bool, String> {
    let (outgoing, writing) = wire::write(output);
    let mut incoming = wire::read(input);
    let peer = Peer::new(outgoing);
    let session = Session::new(peer.clone(), link, options);
    let ended = session.serve(&mut incoming).await;
    peer.close();
    // The last answers are on their way; an editor that does not read them keeps no one.
    let _written =
        tokio::time::timeout(LAST_WORDS, tokio::task::spawn_blocking(move || writing.join())).await;
    ended
}
