//! The linters of a run, and the plugins behind them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use checker::{Files, Router, pipeline::Lineup};
use config::{Choice, Configs, Selectors, ServerSettings, SetupFailure};
use language_servers::Environment;
use lint::{Rule, RulePattern, suppress};
use linters::{
    plugins::{PluginSite, Plugins, Shown},
    servers::{self, Servers, Site},
    setup::{ServerNames, Setup},
};
use overlay::{Disk, Memory, View, WorkspacePath};

use super::{Args, input::Input};
use crate::{CliError, cli::Session};

/// What is loaded once, however often is checked.
pub(super) struct Loaded {
    plugins: Arc<Plugins>,
    servers: Arc<Servers>,
}

/// The linters of one round.
pub(super) struct Linters {
    pub(super) plugins: Arc<Plugins>,
    servers: Arc<Servers>,
    /// What the workspace's own configuration says of servers.
    settings: ServerSettings,
    /// What is checked.
    view: Arc<dyn View>,
    /// What servers see.
    disk: Arc<dyn View>,
    /// All that does not depend on the file.
    setup: Setup,
    /// What servers are started with.
    environment: Environment,
    /// What the command line asks for.
    asked: Choice,
    /// Made when first needed: most files are asked about in the same way.
    made: Mutex<BTreeMap<Choice, Arc<Router>>>,
}

impl Loaded {
    pub(super) fn new(args: &Args, session: &Session, instances: usize) -> Result<Self, CliError> {
        // Before anything is loaded: an empty selection is a slip.
        Selectors::parse(args.select.as_deref(), &args.ignore)?;
        let plugins = session.loader().load(&args.plugins.plugin, instances)?;
        Ok(Self { plugins, servers: Arc::new(Servers::of_user()) })
    }
}

impl Linters {
    pub(super) fn of(args: &Args, input: &Input, loaded: &Loaded) -> Result<Self, CliError> {
        let asked = Choice { select: args.select.clone(), ignore: args.ignore.clone() };
        let setup = Setup {
            root: input.workspace.root().to_string_lossy().into_owned(),
            select: None,
            ignore: Vec::new(),
            isolated: args.isolated,
            config: input.config.clone(),
        };
        let root = input.workspace.root();
        let (view, disk) = (Arc::clone(&input.view), Arc::new(Disk::new(root)?) as Arc<dyn View>);
        let nothing = Memory::default();
        let site = match args.isolated {
            true => PluginSite { view: &nothing, disk: &nothing, root, told: None },
            false => PluginSite { view: &*view, disk: &*disk, root, told: None },
        };
        // A configuration that is wrong is told when it is used.
        let plugins = loaded.plugins.in_workspace(&site).unwrap_or_else(|_| Arc::clone(&loaded.plugins));
        let configs = if args.isolated { Configs::isolated() } else { Configs::new(&*disk) };
        let settings = configs.workspace().map(|it| it.servers()).unwrap_or_default();
        let servers = Arc::clone(&loaded.servers);
        let (environment, made) = (Environment::of_shell(), Mutex::default());
        let linters = Self { plugins, servers, settings, view, disk, setup, environment, asked, made };
        // A rule that nobody knows is told even if there is nothing to check.
        linters.chosen(&linters.asked)?;
        Ok(linters)
    }

    /// As ruff has it: `--select` takes the place of all that the files say, `--ignore` is added to it.
    fn outranked(&self, choice: Choice) -> Choice {
        if self.asked.select.is_some() {
            return self.asked.clone();
        }
        let ignore = choice.ignore.into_iter().chain(self.asked.ignore.iter().cloned()).collect();
        Choice { select: choice.select, ignore }
    }

    fn chosen(&self, choice: &Choice) -> Result<Arc<Router>, SetupFailure> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.get(choice) {
            return Ok(Arc::clone(made));
        }
        let setup =
            Setup { select: choice.select.clone(), ignore: choice.ignore.clone(), ..self.setup.clone() };
        let names = servers::known(&self.settings)?;
        let names: Vec<_> = names.iter().map(|it| it.name.as_str()).collect();
        let linters::setup::Asked { mut linters, mut absent } =
            linters::setup::configure(&self.plugins, &setup, &names, &self.view)?;
        let selectors = Selectors::parse(setup.select.as_deref(), &setup.ignore)?;
        let asked = self.servers.asked(&self.site(), &self.settings, &selectors)?;
        linters.extend(asked.linters);
        absent.extend(asked.absent);
        let router = Arc::new(Router::new(&linters).lacking(asked.lacks).without(absent));
        made.insert(choice.clone(), Arc::clone(&router));
        Ok(router)
    }

    /// What the command line asks for was understood already.
    fn blame(&self, error: SetupFailure, choice: &Choice) -> SetupFailure {
        if *choice == self.asked {
            return error;
        }
        SetupFailure { message: format!("{}, in `broker.toml`", error.message), ..error }
    }

    /// Of the rules that configuration files name, those that nobody has: one sentence for each.
    pub(super) fn unknown_rules(
        &self,
        named: &BTreeSet<(WorkspacePath, RulePattern)>,
    ) -> Result<Vec<String>, CliError> {
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let known = servers::known(&self.settings)?;
        let are_wanted = !servers::wanted(&known, &self.site(), &self.settings)?.is_empty();
        let shown = Shown { root: &self.setup.root, view: &self.view };
        let all: Vec<_> = known.iter().map(|it| it.name.as_str()).collect();
        Ok(linters::setup::unknown_rules(named, &self.plugins, ServerNames { all: &all, are_wanted }, shown))
    }

    fn site(&self) -> Site<'_> {
        Site { root: Path::new(&self.setup.root), disk: &self.disk, environment: &self.environment }
    }
}

impl Lineup for Linters {
    /// The files, each with the linters that its configuration and the command line ask for.
    fn route(&self, view: &Arc<dyn View>, files: &Files) -> Result<Arc<Router>, SetupFailure> {
        let configs = if self.setup.isolated { Configs::isolated() } else { Configs::new(&**view) };
        let mut by_choice: BTreeMap<Choice, Vec<WorkspacePath>> = BTreeMap::new();
        for (choice, units) in configs.by_choice(&files.units)? {
            let paths = units.into_iter().map(|it| it.path);
            by_choice.entry(self.outranked(choice)).or_default().extend(paths);
        }
        let mut routers = Vec::new();
        for (choice, paths) in by_choice {
            routers.push((self.chosen(&choice).map_err(|error| self.blame(error, &choice))?, paths));
        }
        Ok(match routers.len() {
            0 => self.chosen(&self.asked)?,
            1 => routers.swap_remove(0).0,
            _ => Arc::new(Router::grouped(routers)),
        })
    }

    fn rules(&self, view: &Arc<dyn View>, name: &str) -> Vec<Rule> {
        if name == suppress::LINTER {
            return suppress::rules();
        }
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let linter = made.values().flat_map(|it| it.linters()).find(|it| it.identity().name == name);
        linter.and_then(|it| it.rules(view).ok()).unwrap_or_default()
    }
}
