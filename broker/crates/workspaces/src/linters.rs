//! The linters of a workspace that the daemon serves.

use std::{path::PathBuf, sync::Arc};

use config::{Choice, SetupFailure};
use linters::{LinterSet, Site, plugins::Plugins};
use overlay::View;

use super::{Daemon, Served};

impl Daemon {
    /// The linters of a workspace, of which a client asks for some.
    pub(super) fn linters(&self, served: &Served, requested: Choice) -> LinterSet {
        LinterSet::new(self.providers.clone(), site(served), requested)
    }

    /// The plugins that the workspace has as `view` shows it. Blocks: it may read and compile some.
    pub(super) fn plugins_of(
        &self,
        served: &Served,
        view: &Arc<dyn View>,
    ) -> Result<Arc<Plugins>, SetupFailure> {
        self.plugins.in_workspace(&site(served), view)
    }
}

fn site(served: &Served) -> Site {
    Site {
        root: PathBuf::from(served.root()),
        disk: served.base.without_buffers(),
        environment: served.environment_of_servers(),
        variables: served.environment(),
        isolated: false,
        own_config: None,
    }
}
