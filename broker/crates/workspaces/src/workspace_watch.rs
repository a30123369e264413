//! Watching a workspace: a stream of its changes. The client is an editor while it watches.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    Daemon, DaemonError, editors::EditorSession, task::drop_aside, workspace_events::WorkspaceEvent,
};

#[derive(Debug, Clone)]
pub struct WorkspaceWatchRequest {
    pub workspace: String,
    /// Name for display.
    pub client_name: String,
    /// The client applies commits to its unsaved texts by itself.
    pub takes_commits: bool,
    pub deadline: Option<Duration>,
}

/// Events of a workspace; an error is the last one. Dropping it ends the watch and closes the buffers of its editor.
pub struct WorkspaceEvents {
    workspace: String,
    /// `None` once it has ended.
    session: Option<EditorSession>,
    is_started: bool,
    base: watch::Receiver<Option<u64>>,
    stopping: watch::Receiver<bool>,
    deadline: Option<Instant>,
}

impl Daemon {
    /// Begins a watch of the workspace.
    pub fn watch_workspace(
        self: &Arc<Self>,
        request: WorkspaceWatchRequest,
    ) -> Result<WorkspaceEvents, DaemonError> {
        let workspace = self.workspace(&request.workspace)?;
        workspace.expect_there()?;
        let base = workspace.subscribe();
        Ok(WorkspaceEvents {
            workspace: request.workspace,
            session: Some(workspace.editors.enter(request.client_name, request.takes_commits)?),
            is_started: false,
            base,
            stopping: self.stopping.subscribe(),
            deadline: request.deadline.map(|it| Instant::now() + it),
        })
    }
}

impl WorkspaceEvents {
    /// Waits for the next event; `None` after an error.
    pub async fn recv(&mut self) -> Option<Result<WorkspaceEvent, DaemonError>> {
        let session = self.session.as_ref()?;
        if !std::mem::replace(&mut self.is_started, true) {
            return Some(Ok(WorkspaceEvent::Started(session.id.clone())));
        }
        let event = tokio::select! {
            event = session.watcher.queue.next() => event,
            changed = self.base.changed() => match (changed, *self.base.borrow()) {
                (Ok(()), Some(_)) => Ok(WorkspaceEvent::BaseChanged),
                _ => Err(DaemonError::no_workspace(&self.workspace)),
            },
            () = stopped(&mut self.stopping) => Err(DaemonError::ShuttingDown),
            () = until(self.deadline) => Err(DaemonError::DeadlineExceeded),
        };
        if event.is_err() {
            drop_aside(self.session.take());
        }
        Some(event)
    }
}

impl Drop for WorkspaceEvents {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            drop_aside(session);
        }
    }
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // The sender lives as long as the daemon.
    let _stopped = stopping.wait_for(|it| *it).await.map(drop);
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
