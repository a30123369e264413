//! The linters of a run, and the plugins behind them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use checker::{Absent, Files, Group, Lack, SharedLinter};
use config::{Choice, Configs, Selectors, ServerSettings};
use language_servers::Environment;
use lint::{Rule, RulePattern, Unit, suppress};
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
    made: Mutex<BTreeMap<Choice, Made>>,
}

/// Those that take part, and those that do not.
#[derive(Clone)]
struct Made {
    linters: Vec<SharedLinter>,
    lacks: Vec<Lack>,
    absent: Vec<Absent>,
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

    /// The files, each with the linters that its configuration and the command line ask for.
    pub(super) fn groups(&self, configs: &Configs<'_>, files: Files) -> Result<Vec<Group>, CliError> {
        let Files { units, mut skipped, dependents, is_whole } = files;
        let mut by_choice: BTreeMap<Choice, Vec<Unit>> = BTreeMap::new();
        for (choice, units) in configs.by_choice(&units)? {
            by_choice.entry(self.outranked(choice)).or_default().extend(units);
        }
        if by_choice.is_empty() {
            by_choice.insert(self.asked.clone(), Vec::new());
        }
        let group = |(choice, mut units): (Choice, Vec<Unit>)| {
            units.sort_by(|a, b| a.path.cmp(&b.path));
            let made = self.chosen(&choice).map_err(|error| self.blame(error, &choice))?;
            let Made { linters, lacks, absent } = made;
            let (skipped, dependents) = (std::mem::take(&mut skipped), dependents.clone());
            Ok(Group { files: Files { units, skipped, dependents, is_whole }, linters, lacks, absent })
        };
        by_choice.into_iter().map(group).collect()
    }

    /// As ruff has it: `--select` takes the place of all that the files say, `--ignore` is added to it.
    fn outranked(&self, choice: Choice) -> Choice {
        if self.asked.select.is_some() {
            return self.asked.clone();
        }
        let ignore = choice.ignore.into_iter().chain(self.asked.ignore.iter().cloned()).collect();
        Choice { select: choice.select, ignore }
    }

    fn chosen(&self, choice: &Choice) -> Result<Made, CliError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.get(choice) {
            return Ok(made.clone());
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
        let all = Made { linters, lacks: asked.lacks, absent };
        made.insert(choice.clone(), all.clone());
        Ok(all)
    }

    /// What the command line asks for was understood already.
    fn blame(&self, error: CliError, choice: &Choice) -> CliError {
        if *choice == self.asked {
            return error;
        }
        CliError { message: format!("{}, in `broker.toml`", error.message), ..error }
    }

    /// Every linter that takes part in any of these groups.
    pub(super) fn all(groups: &[Group]) -> Vec<SharedLinter> {
        let mut all: Vec<SharedLinter> = Vec::new();
        for linter in groups.iter().flat_map(|it| &it.linters) {
            if all.iter().all(|it| it.identity().name != linter.identity().name) {
                all.push(linter.clone());
            }
        }
        all
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

    /// Every rule of a linter that takes part; none if it cannot say.
    pub(super) fn rules(&self, name: &str) -> Vec<Rule> {
        if name == suppress::LINTER {
            return suppress::rules();
        }
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let linter = made.values().flat_map(|it| &it.linters).find(|it| it.identity().name == name);
        linter.and_then(|it| it.rules(&self.view).ok()).unwrap_or_default()
    }
}
