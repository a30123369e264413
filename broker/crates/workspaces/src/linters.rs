//! The linters of a workspace that the daemon serves.

use std::{path::PathBuf, sync::Arc};

use config::{Choice, SetupFailure};
use linters::{
    LinterKind, LinterSet, Provider, WorkspaceContext,
    plugins::{PluginProvider, Plugins},
    tools::with_tools,
};
use overlay::View;

use super::{Daemon, DaemonError, OpenWorkspace, ask::Ask, task::blocking};

impl Daemon {
    /// The linters that a check asks.
    pub(super) async fn linters(&self, ask: &Ask) -> Result<LinterSet, DaemonError> {
        let context = WorkspaceContext {
            isolated: ask.options.isolated,
            own_config: ask.options.config.clone(),
            ..context(ask.target.workspace())
        };
        let providers = self.providers_with(&ask.options.plugins).await?;
        Ok(LinterSet::new(providers, context, ask.requested()).of_kinds(ask.kinds.clone()))
    }

    /// The linters of a workspace, without options of a check.
    pub(super) fn every_linter(&self, workspace: &OpenWorkspace) -> LinterSet {
        LinterSet::new(self.providers.clone(), context(workspace), Choice::default())
    }

    /// Every kind of linters; the plugins in `files` take the place of others of the same name.
    async fn providers_with(&self, files: &[PathBuf]) -> Result<Vec<Arc<dyn Provider>>, DaemonError> {
        if files.is_empty() {
            return Ok(self.providers.clone());
        }
        let (plugins, files) = (Arc::clone(self.plugins.plugins()), files.to_vec());
        let plugins = blocking(move || Ok(plugins.with_named(&files)?)).await?;
        let others = self.providers.iter().filter(|it| it.kind() != LinterKind::Plugin).cloned();
        let plugins: Arc<dyn Provider> = Arc::new(PluginProvider::new(plugins));
        Ok([plugins].into_iter().chain(others).collect())
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
    let disk = workspace.base.without_buffers();
    let (environment, missing) = with_tools(workspace.environment_of_servers(), &*disk);
    WorkspaceContext {
        root: PathBuf::from(workspace.root()),
        environment,
        missing,
        disk,
        variables: workspace.environment(),
        isolated: false,
        own_config: None,
    }
}
