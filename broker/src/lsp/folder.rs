//! One folder of the editor, served as a workspace: opened in the daemon, watched, and opened again when the daemon has gone.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use broker_proto::{v1 as pb, v1::watch_workspace_response::Event};
use lsp_client::uri::{self, Uris};
use overlay::WorkspacePath;
use tokio::{sync::watch, time::sleep};
use tonic::{Code, Status};

use super::link::Link;
use crate::{CliError, client::environment_for_daemon};

/// A folder, and what serves it.
pub(super) struct Folder {
    pub(super) root: PathBuf,
    pub(super) uri: String,
    pub(super) uris: Uris,
    pub(super) link: Rc<Link>,
    connection: watch::Sender<Option<Connection>>,
    /// Why it cannot be served as it is, if attempts to open it fail.
    refused: watch::Sender<Option<String>>,
    epochs: Cell<u64>,
    /// Number of changes of the base that were told.
    base: watch::Sender<u64>,
    /// Epoch of a connection that is of no use any more.
    spent: watch::Sender<u64>,
}

/// The folder as one daemon serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Connection {
    /// The workspace's handle.
    pub(super) workspace: String,
    /// This editor's handle: its buffers end with the connection.
    pub(super) editor: String,
    /// Grows with each connection.
    pub(super) epoch: u64,
}

/// The editor, as the daemon is told of it.
pub(super) struct Editor {
    pub(super) name: String,
    /// Whether commits can be brought into its texts.
    pub(super) takes_commits: bool,
}

/// What happens in a folder.
pub(super) enum FolderEvent {
    Connected,
    /// It is not served until it can be opened again.
    Lost {
        reason: String,
        /// Whether it could not be opened anew, either.
        is_lasting: bool,
    },
    BaseChanged,
    Branch(Box<pb::BranchChanged>),
    Buffer(pb::BufferChanged),
}

/// Pauses between attempts to open a folder: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

impl Folder {
    pub(super) fn new(root: &Path, link: Rc<Link>) -> Rc<Self> {
        Rc::new(Self {
            root: root.to_owned(),
            uri: uri::of_folder(root),
            uris: Uris::new(root),
            link,
            connection: watch::Sender::new(None),
            refused: watch::Sender::new(None),
            epochs: Cell::new(0),
            base: watch::Sender::new(0),
            spent: watch::Sender::new(0),
        })
    }

    /// Its name for people.
    pub(super) fn name(&self) -> String {
        self.root.file_name().unwrap_or(self.root.as_os_str()).to_string_lossy().into_owned()
    }

    /// The file of a document in this folder.
    pub(super) fn path(&self, uri: &str) -> Option<WorkspacePath> {
        self.uris.path(uri).filter(|it| !it.is_root())
    }

    /// As it is served now.
    pub(super) fn connection(&self) -> Option<Connection> {
        self.connection.borrow().clone()
    }

    /// Waits until it is served, by another connection than that of `epoch` if one is given.
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

    /// The same for what a client waits for: an error if the folder cannot be served.
    pub(super) async fn served(&self) -> Result<Connection, Status> {
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
                Err(Status::failed_precondition(message))
            }
        }
    }

    /// Tells of changes of the base from now on.
    pub(super) fn base_changes(&self) -> watch::Receiver<u64> {
        self.base.subscribe()
    }

    /// Has the folder opened anew, since a connection is of no use any more.
    pub(super) fn is_spent(&self, connection: &Connection) {
        self.spent.send_replace(connection.epoch);
    }

    /// Has what is open checked again: the daemon looks at each file's stamp when it reads it.
    pub(super) fn base_may_have_changed(&self) {
        self.base.send_modify(|it| *it += 1);
    }

    /// Keeps the folder open for as long as the editor has it.
    pub(super) async fn serve(self: Rc<Self>, editor: Editor, tell: impl Fn(&Rc<Self>, FolderEvent)) {
        let (mut pause, mut told) = (PAUSES.0, String::new());
        loop {
            let reason = self.session(&editor, &tell).await;
            let was_served = self.connection.send_replace(None).is_some();
            if was_served {
                pause = PAUSES.0;
            } else {
                self.refused.send_replace(Some(reason.clone()));
            }
            if was_served || told != reason {
                told.clone_from(&reason);
                tell(&self, FolderEvent::Lost { reason, is_lasting: !was_served });
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Opens the folder, and hands on what happens in it until the connection ends; says why it did.
    async fn session(self: &Rc<Self>, editor: &Editor, tell: &impl Fn(&Rc<Self>, FolderEvent)) -> String {
        if let Err(error) = self.link.ensure().await {
            return error.message;
        }
        let mut spent = self.spent.subscribe();
        let is_spent = async {
            let is_this = |it: &u64| self.connection.borrow().as_ref().is_some_and(|now| now.epoch == *it);
            let _sender_is_there = spent.wait_for(is_this).await.map(drop);
        };
        let watched = tokio::select! {
            watched = self.watched(editor, tell) => watched,
            () = is_spent => Err(Status::unavailable("the folder is another one")),
        };
        match watched {
            Ok(()) => "the daemon has ended".to_owned(),
            Err(status) if status.code() == Code::Unimplemented => {
                "the daemon that runs is of another version of Broker; `broker stop` ends it".to_owned()
            }
            Err(status) => CliError::from(status).message,
        }
    }

    async fn watched(
        self: &Rc<Self>,
        editor: &Editor,
        tell: &impl Fn(&Rc<Self>, FolderEvent),
    ) -> Result<(), Status> {
        let workspace = self.open().await?;
        let request = pb::WatchWorkspaceRequest {
            workspace_id: workspace.clone(),
            client_name: editor.name.chars().take(MAX_NAME).collect(),
            takes_commits: editor.takes_commits,
        };
        let mut events = self.link.workspaces().watch_workspace(request).await?.into_inner();
        while let Some(message) = events.message().await? {
            let event = match message.event {
                Some(Event::Started(it)) => {
                    self.epochs.set(self.epochs.get() + 1);
                    let workspace = workspace.clone();
                    let connection = Connection { workspace, editor: it.editor_id, epoch: self.epochs.get() };
                    self.refused.send_replace(None);
                    self.connection.send_replace(Some(connection));
                    // To come to be served is a change for those that wait for one.
                    self.base_may_have_changed();
                    FolderEvent::Connected
                }
                Some(Event::BaseChanged(_)) => {
                    self.base_may_have_changed();
                    FolderEvent::BaseChanged
                }
                Some(Event::BranchChanged(it)) => FolderEvent::Branch(Box::new(it)),
                Some(Event::BufferChanged(it)) => FolderEvent::Buffer(it),
                // An event of a newer daemon.
                None => continue,
            };
            tell(self, event);
        }
        Ok(())
    }

    async fn open(&self) -> Result<String, Status> {
        let root = self.root.clone();
        let variables = tokio::task::spawn_blocking(move || environment_for_daemon(&root)).await;
        let variables = variables.map_err(|error| Status::internal(error.to_string()))?.into_iter().collect();
        let root = self.root.to_str().ok_or_else(|| Status::invalid_argument("its name is not UTF-8"))?;
        let request = pb::OpenWorkspaceRequest {
            root: root.to_owned(),
            environment: Some(pb::Environment { variables }),
        };
        let opened = self.link.workspaces().open_workspace(request).await?.into_inner();
        Ok(opened.workspace.unwrap_or_default().workspace_id)
    }
}

/// Characters of an editor's name that the daemon takes for certain: 100 bytes.
const MAX_NAME: usize = 25;
