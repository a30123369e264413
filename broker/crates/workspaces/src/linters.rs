//! The linters of a workspace that the daemon serves.

use std::{path::PathBuf, sync::Arc};

use config::{Choice, SetupFailure};
use linters::{LinterKind, LinterSet, WorkspaceContext, plugins::Plugins};
use overlay::View;

use super::{Daemon, OpenWorkspace};

impl Daemon {
    /// The linters of a workspace, of which a client asks for some.
    pub(super) fn linters(
        &self,
        workspace: &OpenWorkspace,
        requested: Choice,
        kinds: Vec<LinterKind>,
    ) -> LinterSet {
        LinterSet::new(self.providers.clone(), context(workspace), requested).of_kinds(kinds)
    }

    /// The plugins that the workspace has as `view` shows it. Blocks: it may read and compile some.
    pub(super) fn plugins_of(
        &self,
        workspace: &OpenWorkspace,
        view: &Arc<dyn View>,
    ) -> Result<Arc<Plugins>, SetupFailure> {
        self.plugins.in_workspace(&context(workspace), view)
    }
}

fn context(workspace: &OpenWorkspace) -> WorkspaceContext {
    WorkspaceContext {
        root: PathBuf::from(workspace.root()),
        disk: workspace.base.without_buffers(),
        environment: workspace.environment_of_servers(),
        variables: workspace.environment(),
        isolated: false,
        own_config: None,
    }
}
