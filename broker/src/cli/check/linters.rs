//! The linters of a run.

use std::{collections::BTreeSet, sync::Arc};

use checker::{Files, Incomplete, Router, pipeline::Lineup};
use config::{Selectors, SetupFailure};
use lint::{Rule, RulePattern};
use linters::{
    Catalogs, LinterSet, Provider, WorkspaceContext, native::NativeCheckers, plugins::PluginProvider,
    servers::Servers,
};
use overlay::{Disk, View, WorkspacePath};

use super::{Args, input::Input};
use crate::{CliError, cli::Session};

/// Linters that are loaded once for all rounds of a run.
pub(super) struct Loaded {
    providers: Vec<Arc<dyn Provider>>,
}

/// The linters of one round.
pub(super) struct Linters {
    all: LinterSet,
    /// Linters of the files before any fix.
    at_first: Arc<Catalogs>,
}

impl Loaded {
    pub(super) fn new(args: &Args, session: &Session, instances: usize) -> Result<Self, CliError> {
        // Before anything is loaded: an empty selection is a slip.
        Selectors::parse(args.select.as_deref(), &args.ignore)?;
        let plugins = session.loader().load(&args.plugins.plugin, instances)?;
        let plugins = Arc::new(PluginProvider::new(plugins));
        Ok(Self {
            providers: vec![plugins, Arc::new(Servers::of_user()), Arc::new(NativeCheckers::of_user())],
        })
    }
}

impl Linters {
    pub(super) fn of(args: &Args, input: &Input, loaded: &Loaded) -> Result<Self, CliError> {
        let root = input.workspace.root();
        let context = WorkspaceContext {
            isolated: args.isolated,
            own_config: input.config.clone(),
            ..WorkspaceContext::of_shell(root, Arc::new(Disk::new(root)?))
        };
        let requested = args.requested();
        let all = LinterSet::new(loaded.providers.clone(), context, requested.clone());
        let at_first = all.at(&input.view)?;
        // A rule that no linter knows is told even if there is nothing to check.
        at_first.router(&requested)?;
        Ok(Self { all, at_first })
    }

    /// Returns one sentence for each rule that configuration files name and no linter has.
    pub(super) fn unknown_rules(
        &self,
        named: &BTreeSet<(WorkspacePath, RulePattern)>,
    ) -> Result<Vec<String>, CliError> {
        Ok(self.at_first.unknown_rules(named)?)
    }

    /// Returns the linters that cannot be used.
    pub(super) fn broken(&self) -> Vec<Incomplete> {
        self.at_first.broken()
    }
}

impl Lineup for Linters {
    fn route(&self, view: &Arc<dyn View>, files: &Files) -> Result<Arc<Router>, SetupFailure> {
        self.all.route(view, files)
    }

    fn rules(&self, view: &Arc<dyn View>, name: &str) -> Vec<Rule> {
        self.all.rules(view, name)
    }
}
