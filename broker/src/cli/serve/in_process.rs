//! A daemon as a part of another command, where none may be started: it ends with the command, and its branches with it.

use std::sync::Arc;

use check_engine::default_jobs;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use workspaces::Daemon;

use super::{CACHE_MIB, Sizes, daemon};
use crate::{CliError, cli::Session};

/// The daemon of this process.
pub(in crate::cli) struct InProcess {
    daemon: Arc<Daemon>,
    /// Runtime of the daemon. Dropped after the daemon was released, it waits for work that has begun, such as the writes of a
    /// commit.
    runtime: Runtime,
    /// Folder of its branches.
    _folder: TempDir,
}

/// Starts one whose state is in a folder of its own.
pub(in crate::cli) fn start(session: &mut Session) -> Result<InProcess, CliError> {
    let cannot = |error: std::io::Error| CliError::files(format!("cannot serve in this process: {error}"));
    let folder = tempfile::Builder::new().prefix("broker-").tempdir().map_err(cannot)?;
    let sizes = Sizes { workers: default_jobs(), memory: CACHE_MIB << 20, idle_exit: None };
    let daemon = daemon(session, &[], folder.path().join("state"), sizes)?;
    let runtime = Builder::new_multi_thread().enable_all().worker_threads(2).build().map_err(cannot)?;
    Ok(InProcess { daemon, runtime, _folder: folder })
}

impl InProcess {
    pub(in crate::cli) fn daemon(&self) -> Arc<Daemon> {
        Arc::clone(&self.daemon)
    }

    /// The runtime on which the daemon is to be asked.
    pub(in crate::cli) fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.daemon.shut_down();
        self.daemon.release();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn work_that_has_begun_is_done_before_its_folder_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let daemon = crate::lsp::tests::daemon(&path.join("state"));
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let own = InProcess { daemon, runtime, _folder: folder };
        let ((begin, begun), (finish, finished)) = (mpsc::channel(), mpsc::channel());
        let (handle, stopped) = (own.runtime().handle().clone(), own.daemon().stopped());
        own.runtime().spawn_blocking(move || {
            begin.send(()).unwrap();
            handle.block_on(stopped);
            finish.send(path.is_dir()).unwrap();
        });
        begun.recv().unwrap();
        drop(own);
        assert_eq!(finished.try_recv(), Ok(true));
    }
}
