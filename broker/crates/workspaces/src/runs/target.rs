//! Target of a run: an open workspace or one of its branches, or a view of this process.

use std::{ffi::OsString, path::Path, sync::Arc};

use language_servers::Environment;
use overlay::{Snapshot, View};

use crate::{DaemonError, OpenWorkspace, local::HANDLE, target::Target, view::OpenView};

#[derive(Clone)]
pub(super) enum RunTarget {
    Open(Target),
    View(Arc<OpenView>),
}

impl RunTarget {
    /// The open workspace, which outlives the command that asks.
    pub(super) fn workspace(&self) -> Option<&Arc<OpenWorkspace>> {
        match self {
            Self::Open(target) => Some(target.workspace()),
            Self::View(_) => None,
        }
    }

    pub(super) fn root(&self) -> &Path {
        match self {
            Self::Open(target) => target.workspace().root(),
            Self::View(it) => &it.local.root,
        }
    }

    /// Handle of the workspace.
    pub(super) fn workspace_id(&self) -> Arc<str> {
        match self {
            Self::Open(target) => Arc::clone(&target.workspace().id),
            Self::View(_) => HANDLE.into(),
        }
    }

    /// Handle of the branch; that of the workspace for its base.
    pub(super) fn id(&self) -> Arc<str> {
        match self {
            Self::Open(target) => Arc::clone(target.id()),
            Self::View(_) => self.workspace_id(),
        }
    }

    /// Handle and name of the branch; `None` for the base.
    pub(super) fn branch_name(&self) -> Option<(Arc<str>, String)> {
        match self {
            Self::Open(target) => target.branch_name(),
            Self::View(_) => None,
        }
    }

    /// The branch as it is now; `None` for the base.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        match self {
            Self::Open(target) => target.snapshot(),
            Self::View(_) => None,
        }
    }

    /// The base, with unsaved texts over it.
    pub(super) fn base(&self) -> &Arc<dyn View> {
        match self {
            Self::Open(target) => &target.workspace().view,
            Self::View(it) => &it.local.view,
        }
    }

    /// The view whose configuration says what commands may do.
    pub(super) fn configured_by(&self) -> &dyn View {
        match self {
            Self::Open(target) => target.workspace().base.disk(),
            Self::View(it) => &*it.local.view,
        }
    }

    /// Looks up variables for a client that names none.
    pub(super) fn variables(&self) -> impl Fn(&str) -> Option<OsString> + use<> {
        let opened = self.workspace().map(|it| it.environment_of_servers());
        let known = opened.unwrap_or_else(|| Environment::of_daemon(self.root(), None));
        move |name| known.get(name).map(OsString::from)
    }

    /// Fails if there is nothing more to run in.
    pub(super) fn expect_here(&self) -> Result<(), DaemonError> {
        match self {
            Self::Open(target) => target.expect_here(),
            Self::View(_) => Ok(()),
        }
    }
}
