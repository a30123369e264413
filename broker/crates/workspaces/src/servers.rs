//! The language servers of the daemon, as they are.

use std::{path::PathBuf, sync::Arc};

use language_servers::{ServerLog, ServerReport};

use super::{Daemon, DaemonError, task::blocking};

impl Daemon {
    /// Every server with its memory, which is read from the system.
    pub async fn servers(self: &Arc<Self>) -> Result<Vec<ServerReport>, DaemonError> {
        let daemon = Arc::clone(self);
        blocking(move || Ok(daemon.servers.pool.status())).await
    }

    /// What the processes of a server wrote, by its name.
    pub fn server_logs(&self, name: &str) -> Result<Vec<ServerLog>, DaemonError> {
        let logs = self.servers.pool.log(name);
        if logs.is_empty() {
            return Err(DaemonError::NotFound { what: "server", id: name.to_owned() });
        }
        Ok(logs)
    }

    /// Ends the servers of a folder and of all below it.
    pub async fn end_servers(self: &Arc<Self>, root: PathBuf) -> Result<(), DaemonError> {
        if !root.is_absolute() {
            return Err(DaemonError::invalid("root", "the path of a folder must be absolute"));
        }
        let daemon = Arc::clone(self);
        blocking(move || {
            daemon.servers.pool.release(&root);
            Ok(())
        })
        .await
    }
}
