//! A folder of the editor, served as a workspace: opened in the daemon, watched, and opened again after the daemon has ended.

use std::{
    cell::Cell,
    io,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use lsp_client::uri::{self, Uris};
use overlay::{Disk, View as _, WorkspacePath};
use tokio::{sync::watch, task::JoinError, time::sleep};
use tokio_stream::StreamExt as _;
use workspaces::{
    BranchChange, BufferShown, ErrorKind, RequestError, WorkspaceEvent, WorkspaceWatchRequest, Workspaces,
};

use crate::{CliError, client::environment_for_daemon};

/// A folder and the state of its connection.
pub(super) struct Folder {
    pub(super) root: PathBuf,
    pub(super) uri: String,
    pub(super) uris: Uris,
    pub(super) workspaces: Arc<dyn Workspaces>,
    connection: watch::Sender<Option<Connection>>,
    /// Reason why the last attempt to open it failed; `None` while it is served.
    refused: watch::Sender<Option<String>>,
    epochs: Cell<u64>,
    /// Counts changes of the base, and other reasons to check open documents again.
    base: watch::Sender<u64>,
    /// Counts changes of the buffers here that the daemon has acknowledged.
    buffers: Cell<u64>,
    /// Epoch of the last connection on which a call failed because the daemon was gone.
    stale: watch::Sender<u64>,
}

/// Handles of the folder in one run of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Connection {
    /// The workspace's handle.
    pub(super) workspace: String,
    /// This editor's handle. Its buffers are closed when the connection ends.
    pub(super) editor: String,
    /// Grows with each connection.
    pub(super) epoch: u64,
}

/// Properties of the editor that the daemon needs.
pub(super) struct Editor {
    pub(super) name: String,
    /// Whether the editor applies commits to its unsaved texts by `workspace/applyEdit`.
    pub(super) takes_commits: bool,
}

/// Event in a folder.
pub(super) enum FolderEvent {
    Connected,
    /// The connection ended, or could not be made. Opening is tried again.
    Lost {
        reason: String,
        /// Whether an attempt to open the folder has failed since it was served.
        is_lasting: bool,
    },
    BaseChanged,
    Branch(Arc<BranchChange>),
    Buffer(BufferShown),
}

/// Shortest and longest pause between attempts to open a folder.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

impl Folder {
    pub(super) fn new(root: &Path, workspaces: Arc<dyn Workspaces>) -> Rc<Self> {
        Rc::new(Self {
            root: root.to_owned(),
            uri: uri::of_folder(root),
            uris: Uris::new(root),
            workspaces,
            connection: watch::Sender::new(None),
            refused: watch::Sender::new(None),
            epochs: Cell::new(0),
            base: watch::Sender::new(0),
            buffers: Cell::new(0),
            stale: watch::Sender::new(0),
        })
    }

    /// Name for display.
    pub(super) fn name(&self) -> String {
        self.root.file_name().unwrap_or(self.root.as_os_str()).to_string_lossy().into_owned()
    }

    /// The path of a document in this folder; `None` for one outside of it.
    pub(super) fn path(&self, uri: &str) -> Option<WorkspacePath> {
        self.uris.path(uri).filter(|it| !it.is_root())
    }

    /// The path by which the daemon's answers name a file: links are followed, if they stay in the folder.
    pub(super) fn resolved(&self, path: &WorkspacePath) -> WorkspacePath {
        let target = self.root.join(path.as_str()).canonicalize();
        let below = target.ok().and_then(|it| it.strip_prefix(&self.root).ok()?.to_str().map(str::to_owned));
        below.and_then(|it| WorkspacePath::new(&it).ok()).unwrap_or_else(|| path.clone())
    }

    /// The text of a file on the disk; empty if there is none.
    pub(super) fn on_disk(&self, path: &str) -> io::Result<String> {
        let path =
            WorkspacePath::new(path).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        match Disk::new(&self.root)?.read(&path) {
            Ok(bytes) => Ok(String::from_utf8(bytes.to_vec()).map_err(|_| io::ErrorKind::InvalidData)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    /// The current connection.
    pub(super) fn connection(&self) -> Option<Connection> {
        self.connection.borrow().clone()
    }

    /// Waits for a connection, of another epoch than `but_not` if that is given.
    pub(super) async fn connected(&self, but_not: Option<u64>) -> Connection {
        let mut connection = self.connection.subscribe();
        let is_new = |it: &Option<Connection>| it.as_ref().is_some_and(|it| Some(it.epoch) != but_not);
        let connected = connection.wait_for(is_new).await.map(|it| it.clone());
        match connected {
            Ok(Some(connection)) => connection,
            // The sender lives as long as this folder.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Waits for a connection on behalf of a request. An error if an attempt to open the folder has failed.
    pub(super) async fn served(&self) -> Result<Connection, RequestError> {
        let mut refused = self.refused.subscribe();
        let reason = async {
            match refused.wait_for(Option::is_some).await.map(|it| it.clone()) {
                Ok(Some(reason)) => reason,
                // The sender lives as long as this folder.
                Ok(None) | Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            connection = self.connected(None) => Ok(connection),
            reason = reason => {
                let message = format!("{} is not served: {reason}", self.root.display());
                Err(RequestError::new(ErrorKind::Refused, NOT_SERVED, message))
            }
        }
    }

    /// Receives each later change of the base.
    pub(super) fn base_changes(&self) -> watch::Receiver<u64> {
        self.base.subscribe()
    }

    /// Number of the last change of a buffer here. A check that begins now is about it.
    pub(super) fn last_buffer_change(&self) -> u64 {
        self.buffers.get()
    }

    /// Notes that the daemon has set or closed a buffer of this editor.
    pub(super) fn buffer_has_changed(&self) {
        self.buffers.set(self.buffers.get() + 1);
    }

    /// Opens the folder again, because a call on this connection has failed.
    pub(super) fn mark_stale(&self, connection: &Connection) {
        self.stale.send_replace(connection.epoch);
    }

    /// Has open documents checked again. The daemon itself needs no notice: it compares a file's stamp whenever it reads the file.
    pub(super) fn base_may_have_changed(&self) {
        self.base.send_modify(|it| *it += 1);
    }

    /// Opens the folder, and opens it again whenever the connection ends. Runs until it is aborted.
    pub(super) async fn serve(self: Rc<Self>, editor: Editor, on_event: impl Fn(&Rc<Self>, FolderEvent)) {
        let (mut pause, mut last_reason) = (PAUSES.0, String::new());
        loop {
            let reason = self.session(&editor, &on_event).await;
            let was_served = self.connection.send_replace(None).is_some();
            if was_served {
                pause = PAUSES.0;
            } else {
                self.refused.send_replace(Some(reason.clone()));
            }
            if was_served || last_reason != reason {
                last_reason.clone_from(&reason);
                on_event(&self, FolderEvent::Lost { reason, is_lasting: !was_served });
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Opens the folder and passes on its events until the connection ends. Returns why it ended.
    async fn session(self: &Rc<Self>, editor: &Editor, on_event: &impl Fn(&Rc<Self>, FolderEvent)) -> String {
        let mut stale = self.stale.subscribe();
        let is_stale = async {
            let is_this = |it: &u64| self.connection.borrow().as_ref().is_some_and(|now| now.epoch == *it);
            let _sender_is_there = stale.wait_for(is_this).await.map(drop);
        };
        let watched = tokio::select! {
            watched = self.watched(editor, on_event) => watched,
            () = is_stale => Err(RequestError::new(ErrorKind::Aborted, NOT_SERVED, "the folder is another one")),
        };
        match watched {
            Ok(()) => "the daemon has ended".to_owned(),
            Err(error) => CliError::from(error).message,
        }
    }

    async fn watched(
        self: &Rc<Self>,
        editor: &Editor,
        on_event: &impl Fn(&Rc<Self>, FolderEvent),
    ) -> Result<(), RequestError> {
        let workspace = self.open().await?;
        let request = WorkspaceWatchRequest {
            workspace: workspace.clone(),
            client_name: editor.name.chars().filter(|it| !lint::is_invisible(*it)).take(MAX_NAME).collect(),
            takes_commits: editor.takes_commits,
            deadline: None,
        };
        let mut events = self.workspaces.watch_workspace(request).await?;
        while let Some(event) = events.next().await {
            on_event(self, self.updated(&workspace, event?));
        }
        Ok(())
    }

    /// Updates the state after an event of the daemon.
    fn updated(&self, workspace: &str, event: WorkspaceEvent) -> FolderEvent {
        match event {
            WorkspaceEvent::Started(editor) => {
                self.epochs.set(self.epochs.get() + 1);
                let (workspace, editor) = (workspace.to_owned(), editor.0.to_string());
                let connection = Connection { workspace, editor, epoch: self.epochs.get() };
                self.refused.send_replace(None);
                self.connection.send_replace(Some(connection));
                // A new connection may show another base.
                self.base_may_have_changed();
                FolderEvent::Connected
            }
            WorkspaceEvent::BaseChanged => {
                self.base_may_have_changed();
                FolderEvent::BaseChanged
            }
            WorkspaceEvent::Branch(it) => FolderEvent::Branch(it),
            WorkspaceEvent::Buffer(it) => FolderEvent::Buffer(it),
        }
    }

    async fn open(&self) -> Result<String, RequestError> {
        let root = self.root.clone();
        let variables = tokio::task::spawn_blocking(move || environment_for_daemon(&root)).await;
        let variables = variables.map_err(|error| broke_off(&error))?;
        let opened = self.workspaces.open_workspace(self.root.clone(), Some(variables)).await?;
        Ok(opened.info.id.to_string())
    }
}

/// The error of a panic while the editor's variables were looked at.
fn broke_off(error: &JoinError) -> RequestError {
    RequestError::new(ErrorKind::Internal, "BUG", format!("the environment cannot be read: {error}"))
}

/// Reason of errors about a folder that is not served.
const NOT_SERVED: &str = "FOLDER_NOT_SERVED";

/// Limit on an editor's name, in characters: the daemon accepts 100 bytes, and a character has at most 4.
const MAX_NAME: usize = 25;
