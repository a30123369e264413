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
    client::{Client, interrupted},
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
    let runtime = runtime(own.is_some());
    let runtime = runtime.map_err(|error| CliError::files(format!("cannot start threads: {error}")))?;
    let context = &mut session.process_context;
    let input = std::mem::replace(&mut context.stdin, Box::new(std::io::empty()));
    let output = std::mem::replace(&mut context.stdout, Box::new(std::io::sink()));
    let options = Options { servers: args.servers, home: context.home.clone(), workspace };
    let cancel = context.cancel.clone();
    let served = LocalSet::new().block_on(&runtime, async {
        let workspaces: Arc<dyn Workspaces> = match &own {
            Some(own) => Arc::new(own.daemon()),
            None => Arc::new(Remote::lazy(ClientOptions::of_user())),
        };
        tokio::select! {
            served = lsp::serve(workspaces, input, output, options) => served,
            () = interrupted(&cancel) => Ok(false),
        }
    });
    // A thread may still wait for the editor to say something.
    runtime.shutdown_background();
    let is_in_order = served.map_err(CliError::files)?;
    Ok(if is_in_order { Exit::Clean } else { Exit::Findings })
}

/// The editor's session stays on one thread. A daemon in this process has others for its work.
fn runtime(has_daemon: bool) -> std::io::Result<Runtime> {
    let mut builder = match has_daemon {
        true => Builder::new_multi_thread(),
        false => Builder::new_current_thread(),
    };
    builder.worker_threads(2).enable_all().build()
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
