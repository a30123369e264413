//! `broker agent mcp`

mod clients;
mod skill;

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};

use ::client::{EnvironmentOf, Options, Remote};
use clap::Subcommand;
use rmcp::{
    ServiceExt as _,
    transport::{async_rw::AsyncRwTransport, stdio},
};
use tokio::net::TcpListener;
use workspaces::Workspaces as _;

use super::Session;
use crate::{
    CliError, Exit,
    client::{Client, environment_for_daemon},
    grpc::Token,
    mcp::{Handler, HttpServer, serve_http},
};

/// Serve this workspace's branches to an agent, over the Model Context Protocol
///
/// Speaks MCP on standard input and output; finds the daemon or starts one. Each connection has a branch of its own, which
/// its first edit makes: nothing is written to the disk before the agent commits. `broker agent mcp config` prints what to add to
/// an agent's configuration.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Action>,

    /// The workspace, instead of the one that holds the current folder
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,

    /// The branch of each connection, made by the first edit if it is not there, instead of a branch of its own
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,

    /// Serve Streamable HTTP at http://ADDRESS/mcp to clients of this machine instead; prints the address and the token
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Config(clients::Args),
    Skill(skill::Args),
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, CliError> {
    match &args.command {
        Some(Action::Config(args)) => return clients::run(args, session),
        Some(Action::Skill(args)) => return skill::run(args, session),
        None => {}
    }
    if let Some(workspace) = &args.workspace {
        session.process_context.cwd = Ok(workspace.clone());
    }
    let opened = session.open()?;
    let server = args.http.map(|address| listen(&opened.client, address)).transpose()?;
    if let Some((_, said)) = &server {
        session.print(said)?;
    }
    let served = opened.client.block_on(async {
        let anew = Some(Arc::new(environment_for_daemon) as EnvironmentOf);
        let options = Options { reopen: true, environment: anew, ..Options::of_user() };
        let daemon = Arc::new(Remote::lazy(options));
        let environment = environment_for_daemon(opened.workspace.root());
        daemon.open_workspace(opened.workspace.root().to_owned(), Some(environment)).await?;
        let handler = Handler::new(daemon, opened.id.clone(), name()?, args.branch).await?;
        match server {
            Some((server, _)) => serve_all(handler, server).await,
            None => serve_one(handler).await,
        }
    });
    served.unwrap_or(Ok(())).map(|()| Exit::Clean)
}

/// Bytes of a message on standard input. A longer one is passed over without an answer, so it is more than what the daemon
/// refuses with one.
const MAX_LINE: usize = 128 << 20;

/// Serves the client at the other end of standard input and output, until it leaves.
async fn serve_one(handler: Handler) -> Result<(), CliError> {
    let (input, output) = stdio();
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_LINE);
    // A client that left before it said anything has not failed.
    let Ok(running) = handler.serve(transport).await else { return Ok(()) };
    running
        .waiting()
        .await
        .map(drop)
        .map_err(|error| CliError::files(format!("the session broke off: {error}")))
}

async fn serve_all(handler: Handler, server: HttpServer) -> Result<(), CliError> {
    let served =
        serve_http(server, handler, || name().map_err(|error| io::Error::other(error.message))).await;
    served.map_err(|error| CliError::files(format!("cannot serve HTTP: {error}")))
}

/// Binds the address; gives what to tell the user.
fn listen(client: &Client, address: SocketAddr) -> Result<(HttpServer, String), CliError> {
    if !address.ip().is_loopback() {
        let error = CliError::usage(format!("{address} can be reached by other machines"));
        return Err(
            error.hint("use 127.0.0.1, and a tunnel such as ssh's where another machine is to come in")
        );
    }
    let bound = client.block_on(TcpListener::bind(address)).ok_or_else(|| CliError::files("interrupted"))?;
    let listener = bound.map_err(|error| CliError::files(format!("cannot listen on {address}: {error}")))?;
    let address = listener.local_addr().unwrap_or(address);
    let token = name()?;
    let said = format!("serving at http://{address}/mcp\nauthorization: Bearer {token}\n");
    Ok((HttpServer { listener, token: Token(Some(token.into())) }, said))
}

/// A random name.
fn name() -> Result<String, CliError> {
    workspaces::random::handle().map_err(|error| CliError::files(error.to_string()))
}
