//! A daemon as a part of another command, where none may be started: it ends with the command, and its branches with it.

use std::sync::Arc;

use checker::default_jobs;
use tempfile::TempDir;
use workspaces::Daemon;

use super::{CACHE_MIB, Sizes, daemon};
use crate::{CliError, cli::Session};

/// The daemon of this process.
pub(in crate::cli) struct InProcess {
    daemon: Arc<Daemon>,
    /// Its branches.
    _folder: TempDir,
}

/// Starts one whose state is in a folder of its own.
pub(in crate::cli) fn start(session: &mut Session) -> Result<InProcess, CliError> {
    let cannot = |error: std::io::Error| CliError::files(format!("cannot serve in this process: {error}"));
    let folder = tempfile::Builder::new().prefix("broker-").tempdir().map_err(cannot)?;
    let sizes = Sizes { workers: default_jobs(), memory: CACHE_MIB << 20, idle_exit: None };
    let daemon = daemon(session, &[], folder.path().join("state"), sizes)?;
    Ok(InProcess { daemon, _folder: folder })
}

impl InProcess {
    pub(in crate::cli) fn daemon(&self) -> Arc<Daemon> {
        Arc::clone(&self.daemon)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.daemon.shut_down();
        self.daemon.release();
    }
}
