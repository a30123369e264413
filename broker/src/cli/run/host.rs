//! Daemon that runs a command: the user's for branches and for commands with a name, else one of this process, which ends with it.

use std::{fs, path::PathBuf, sync::Arc};

use config::root::WorkspaceRoot;
use linters::servers::Servers;
use overlay::Disk;
use tokio::runtime::Builder;
use workspaces::{Daemon, LocalView, TargetId, Workspaces};

use super::Args;
use crate::{
    CliError,
    cli::Session,
    client::{Opened, Waiter},
};

pub(super) enum Host {
    User(Opened),
    Process(InProcess),
}

/// The daemon of this process, which has no store, no socket and no watcher.
pub(super) struct InProcess {
    daemon: Arc<Daemon>,
    waiter: Waiter,
    workspace: WorkspaceRoot,
    target: TargetId,
}

impl Host {
    pub(super) fn of(args: &Args, session: &Session) -> Result<Self, CliError> {
        match args.branch.is_some() || args.name.is_some() || args.background {
            true => session.open().map(Self::User),
            false => InProcess::start(session).map(Self::Process),
        }
    }

    pub(super) fn daemon(&self) -> &dyn Workspaces {
        match self {
            Self::User(it) => it.client.daemon(),
            Self::Process(it) => &it.daemon,
        }
    }

    pub(super) fn waiter(&self) -> &Waiter {
        match self {
            Self::User(it) => &it.client.waiter,
            Self::Process(it) => &it.waiter,
        }
    }

    pub(super) fn workspace(&self) -> &WorkspaceRoot {
        match self {
            Self::User(it) => &it.workspace,
            Self::Process(it) => &it.workspace,
        }
    }

    /// The branch, or the files of the disk.
    pub(super) fn target(&self, branch: Option<&str>) -> Result<TargetId, CliError> {
        match self {
            Self::User(it) => it.target(branch),
            Self::Process(it) => Ok(it.target.clone()),
        }
    }

    /// Folder that the command starts in, relative to the workspace's root.
    pub(super) fn folder(&self, session: &Session) -> Result<String, CliError> {
        let cwd = session.cwd()?;
        let unusable = |why: &str| CliError::files(format!("cannot use {}: {why}", cwd.display()));
        let real = fs::canonicalize(&cwd).map_err(|error| unusable(&error.to_string()))?;
        let inside = real.strip_prefix(self.workspace().root()).unwrap_or("".as_ref());
        inside.to_str().map(str::to_owned).ok_or_else(|| unusable("its name is not UTF-8"))
    }
}

impl InProcess {
    fn start(session: &Session) -> Result<Self, CliError> {
        let cannot = |error: std::io::Error| CliError::files(format!("cannot run commands: {error}"));
        let home = session.process_context.home.as_deref();
        let found = WorkspaceRoot::of_paths(&session.cwd()?, &[PathBuf::from(".")], home)?;
        let workspace = found.workspace;
        let daemon = Daemon::for_runs(Servers::of_user(), super::launcher()).map_err(cannot)?;
        let root = workspace.root().to_owned();
        let disk = Arc::new(Disk::new(&root)?);
        let target = daemon.open_view(LocalView::of(root, disk));
        // Its one thread passes input on while this one writes output.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(cannot)?;
        let waiter = Waiter::new(runtime, &session.process_context.cancel);
        Ok(Self { daemon, waiter, workspace, target })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.daemon.release();
    }
}
