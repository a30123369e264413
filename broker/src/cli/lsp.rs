//! `broker lsp`

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ::client::{Options as ClientOptions, Remote};
use tokio::{
    runtime::{Builder, Runtime},
    task::LocalSet,
};
use workspaces::Workspaces;

use super::{
    Session,
    serve::in_process::{self, InProcess},
};
use crate::{
    CliError, Exit,
    client::Client,
    lsp::{self, Options},
};

/// Serve an editor, over the Language Server Protocol on standard input and output
///
/// Shows what all linters find as you type, makes their fixes, and shows branches next to your files. What you have not saved is what
/// branches are made from. Finds the daemon or starts one. `docs/editors.md` says what to add to which editor.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ask the project's language servers as well, which the editor then need not start: their findings, definitions, completion
    /// and all else
    #[arg(long)]
    servers: bool,

    /// Serve in this process, without a daemon: branches end with it, and agents do not see unsaved text
    #[arg(long)]
    no_daemon: bool,

    /// The folder that is served to an editor that names none
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,

    /// Ignored: standard input and output are all that is spoken on
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let workspace = args.workspace.as_deref().map(existing).transpose()?;
    let own = own_daemon(args, session)?;
    let options = Options { servers: args.servers, home: session.process_context.home.clone(), workspace };
    let served = match own {
        Some(own) => serve(own.runtime(), || Arc::new(own.daemon()), options, session),
        None => {
            let runtime = Builder::new_current_thread().enable_all().build();
            let runtime =
                runtime.map_err(|error| CliError::files(format!("cannot start threads: {error}")))?;
            let served =
                serve(&runtime, || Arc::new(Remote::lazy(ClientOptions::of_user())), options, session);
            // A thread may still wait for a daemon that is being started.
            runtime.shutdown_background();
            served
        }
    };
    let is_in_order = served.map_err(CliError::files)?;
    Ok(if is_in_order { Exit::Clean } else { Exit::Findings })
}

/// Serves the editor at standard input and output, until it leaves or the user interrupts. Its session stays on this thread.
fn serve(
    runtime: &Runtime,
    workspaces: impl FnOnce() -> Arc<dyn Workspaces>,
    options: Options,
    session: &mut Session,
) -> Result<bool, String> {
    let context = &mut session.process_context;
    let input = std::mem::replace(&mut context.stdin, Box::new(std::io::empty()));
    let output = std::mem::replace(&mut context.stdout, Box::new(std::io::sink()));
    let cancel = context.cancel.clone();
    LocalSet::new().block_on(runtime, async {
        tokio::select! {
            served = lsp::serve(workspaces(), input, output, options) => served,
            () = cancel.cancelled() => Ok(false),
        }
    })
}

/// The folder's own path.
fn existing(folder: &Path) -> Result<PathBuf, CliError> {
    let found = std::fs::canonicalize(folder);
    found.map_err(|error| CliError::usage(format!("cannot serve {}: {error}", folder.display())))
}

/// A daemon in this process, if none is wanted or none can be started.
fn own_daemon(args: &Args, session: &mut Session) -> Result<Option<InProcess>, CliError> {
    if !args.no_daemon {
        match Client::connect(&session.process_context.cancel, None) {
            Ok(_there) => return Ok(None),
            Err(error) => {
                session.messages.error(&error);
                session.messages.line("serving without a daemon");
            }
        }
    }
    in_process::start(session).map(Some)
}
