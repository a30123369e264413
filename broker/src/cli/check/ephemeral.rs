//! Daemon of this process, which checks views of the disk or of what git has, and ends with the command.

use std::{path::PathBuf, sync::Arc};

use check_engine::{answers, default_jobs};
use linters::servers::Servers;
use tokio::runtime::{Builder, Runtime};
use workspaces::{Daemon, Ephemeral as Settings, RequestError};

use super::Args;
use crate::{CliError, cli::Session};

/// The daemon, and what waits for it.
pub(super) struct Ephemeral {
    pub(super) daemon: Arc<Daemon>,
    runtime: Runtime,
}

impl Ephemeral {
    /// Starts it with the program's plugins and those that are named.
    pub(super) fn start(args: &Args, session: &Session) -> Result<Self, CliError> {
        let cannot = |error: std::io::Error| CliError::files(format!("cannot start checking: {error}"));
        // Not the default's: asking for the number of processors reads several files.
        let workers = args.jobs.map_or_else(default_jobs, usize::from);
        let plugins = session.loader().load(&args.plugins.plugin, workers)?;
        let folder = session.process_context.cache_dir.as_ref().filter(|_| !args.no_cache);
        let again = args.watch || args.fixes.is_asked();
        let answers = (folder.is_some() || again).then(|| Arc::new(answers(folder.map(PathBuf::as_path))));
        let settings = Settings { workers, answers, build: crate::BUILD };
        let daemon = Daemon::ephemeral(plugins, Servers::of_user(), settings).map_err(cannot)?;
        let runtime = Builder::new_current_thread().enable_time().build().map_err(cannot)?;
        Ok(Self { daemon, runtime })
    }

    /// Waits for an answer. It comes soon after an interrupt, too.
    pub(super) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, CliError> {
        self.runtime.block_on(answer).map_err(|error| {
            let message = error.message().to_owned();
            CliError::usage(message).maybe_hint(error.hint)
        })
    }
}

impl Drop for Ephemeral {
    fn drop(&mut self) {
        self.daemon.release();
    }
}
