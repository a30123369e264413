//! Language servers as linters: which of them are asked in a workspace, and what is told of those that cannot be.
//!
//! Nothing is started here: a server has a process while it is needed.

mod confined;
mod diagnosis;
pub(crate) mod stand_in;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use check_engine::{Absent, MissingLinter, Need, Router, SharedLinter};
use config::{Selectors, ServerSettings, SetupFailure};
use language_servers::{
    Checks, Environment, LanguageServer, OutsideAge, Pick, Pool, PoolLimits, Profile, Reason, ServerProgram,
    Supervisor, choose, profiles,
};
use lint::{Cancel, SetupError};
use native_checkers::Checker;
use overlay::{View, WorkspacePath};
use shadow::Sandbox;

pub use self::diagnosis::diagnose;
pub use crate::confine::config_on_disk;
use crate::{
    asked::Place,
    confine::{self, Level, Permissions, Way},
    external::{Kind, absent, missing, not_found, why_not},
    provider::{self, Catalog, Diagnosis, LinterKind, LinterName, Provider, Rules, WorkspaceContext},
    selected::Selected,
};

/// First argument of a process that supervises a language server.
const SUPERVISOR: &str = "__supervise-language-server";

/// Time that servers have to end when the program does.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the supervisor of a language server, if these arguments, without the program's own name, are for one.
pub fn supervise(args: impl IntoIterator<Item = std::ffi::OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter();
    let first = args.next()?;
    if first == confined::CONFINE {
        return Some(confined::run(args));
    }
    (first == SUPERVISOR).then(|| language_servers::supervisor::run(args))
}

/// The command of a supervisor, which this program is when called so.
pub fn supervisor() -> io::Result<Supervisor> {
    Supervisor::this_program([SUPERVISOR])
}

/// The servers of this process. Clones share them.
#[derive(Clone)]
pub struct Servers {
    pub pool: Pool,
    supervisor: Option<Supervisor>,
    pub(crate) permissions: Permissions,
}

/// A workspace as a server sees it.
pub struct ServerContext<'s> {
    pub root: &'s Path,
    /// View of the disk, which the server reads itself.
    pub disk: &'s Arc<dyn View>,
    /// Without what leads into the workspace, unless it is trusted.
    pub environment: Environment,
    pub level: Level,
}

impl ServerContext<'_> {
    /// Path of a server's program here: of a workspace that is not trusted none is found.
    pub fn find(&self, profile: &Profile) -> Option<PathBuf> {
        if self.level == Level::Trusted {
            return profile.find(self.root, &self.environment);
        }
        profile.find_in_path(&self.environment).filter(|it| !shadow::leads_through(it, self.root))
    }
}

/// The servers that there could be in one workspace.
struct ServerCatalog {
    servers: Servers,
    context: Arc<WorkspaceContext>,
    /// Read when first needed.
    settings: OnceLock<Result<ServerSettings, SetupFailure>>,
}

/// Servers that are asked, and those that cannot be.
#[derive(Default)]
struct SelectedServers {
    linters: Vec<SharedLinter>,
    missing: Vec<MissingLinter>,
    absent: Vec<Absent>,
}

impl Provider for Servers {
    fn kind(&self) -> LinterKind {
        LinterKind::Server
    }

    fn open(
        &self,
        context: &Arc<WorkspaceContext>,
        _view: &Arc<dyn View>,
    ) -> Result<Box<dyn Catalog>, SetupFailure> {
        let (servers, context) = (self.clone(), Arc::clone(context));
        Ok(Box::new(ServerCatalog { servers, context, settings: OnceLock::new() }))
    }

    fn shut_down(&self) {
        self.pool.shutdown(Instant::now() + SHUTDOWN_TIMEOUT);
    }
}

impl ServerCatalog {
    fn settings(&self) -> Result<&ServerSettings, SetupFailure> {
        self.settings.get_or_init(|| self.read_settings()).as_ref().map_err(Clone::clone)
    }

    /// Reads the settings, from the disk: changes to them in a branch do not count.
    fn read_settings(&self) -> Result<ServerSettings, SetupFailure> {
        if self.context.isolated {
            return Ok(ServerSettings::default());
        }
        let disk = &*self.context.disk;
        let level = self.servers.permissions.level(&self.context.root);
        Ok(config_on_disk(disk, level)?.servers())
    }

    /// The workspace as its checkers see it, some of which take the place of servers.
    fn place(&self) -> Place<'_> {
        Place::of(&self.servers.permissions, &self.context)
    }

    fn context(&self) -> ServerContext<'_> {
        let context = &self.context;
        self.servers.context(&context.root, &context.disk, &context.environment)
    }

    /// All servers that there are here, by the level of this workspace.
    fn known(&self) -> Result<Cow<'static, [Profile]>, SetupFailure> {
        known(self.settings()?, self.servers.permissions.level(&self.context.root))
    }
}

impl Catalog for ServerCatalog {
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        Ok(self.known()?.iter().map(|it| LinterName::open(it.tool.name.clone())).collect())
    }

    fn select(&self, selectors: &Selectors) -> Result<provider::Selected, SetupFailure> {
        let SelectedServers { linters, missing, absent } =
            self.servers.asked(&self.context(), self.settings()?, selectors, &self.place())?;
        let router = Router::new(&linters).with_missing(missing).without(absent);
        Ok(provider::Selected { router: Arc::new(router), unknown: Vec::new() })
    }

    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        let is_there = self.known()?.iter().any(|it| it.tool.name == linter);
        Ok(is_there.then_some(Rules::Open))
    }

    fn diagnose(&self, selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        let (settings, context) = (self.settings()?, self.context());
        let way = |it: &Profile| self.servers.permissions.way(&it.tool, context.level, context.root);
        let place = self.place();
        let checkers = place.asked(&place.settings()?, selectors);
        let known = known(settings, context.level)?;
        diagnose(&known, &context, (settings, &checkers), selectors, |it| (context.find(it), way(it)))
    }

    fn version(&self, linter: &str, deadline: Instant, cancel: &Cancel) -> Option<Result<String, String>> {
        let known = self.known().ok()?;
        let profile = known.iter().find(|it| it.tool.name == linter)?;
        let server =
            self.servers.server(&self.context(), profile, OutsideAge::Now).map_err(|error| error.message);
        Some(server.and_then(|it| it.version(deadline, cancel)))
    }

    fn has_open_rules(&self) -> Result<bool, SetupFailure> {
        Ok(!wanted(&self.known()?, &self.context(), self.settings()?, &BTreeSet::new())?.is_empty())
    }
}

impl Servers {
    pub fn of_user() -> Self {
        Self {
            pool: Pool::new(PoolLimits::default()),
            supervisor: supervisor().ok(),
            permissions: Permissions::of_user(),
        }
    }

    /// A workspace as its servers see it. `environment` is that of the user.
    pub fn context<'s>(
        &self,
        root: &'s Path,
        disk: &'s Arc<dyn View>,
        environment: &Environment,
    ) -> ServerContext<'s> {
        let level = self.permissions.level(root);
        ServerContext { root, disk, environment: confine::environment(environment, level, root), level }
    }

    /// Servers that are asked for this workspace, as it is on the disk.
    fn asked(
        &self,
        context: &ServerContext<'_>,
        settings: &ServerSettings,
        selectors: &Selectors,
        place: &Place<'_>,
    ) -> Result<SelectedServers, SetupFailure> {
        let known = known(settings, context.level)?;
        let checkers = place.settings()?;
        let selected = known.iter().filter(|it| selectors.select_by_name(&it.tool.name));
        let wanted = wanted(&known, context, settings, &place.asked(&checkers, selectors))?;
        let is_wanted = |name: &str| wanted.iter().any(|it| it.profile.tool.name == name);
        let not_wanted =
            selected.filter(|it| !is_wanted(&it.tool.name)).map(|it| self.not_wanted(context, it));
        let ignored = SERVERS.passed_over(&settings.defined, context.level, context.root);
        let mut asked = SelectedServers {
            missing: not_wanted.chain(ignored.into_values()).collect(),
            ..SelectedServers::default()
        };
        for Wanted { profile, why } in wanted {
            let Some(selection) = selectors.for_server(&profile.tool.name) else {
                asked.absent.push(without(profile));
                continue;
            };
            let is_named = matches!(why, Why::Named) || selectors.select_by_name(&profile.tool.name);
            let is_on = |it: &&Checker| {
                let name = &it.tool.name;
                !is_named && !checkers.refused.contains(name) && selectors.for_server(name).is_some()
            };
            let stand_in = || stand_in::of(profile, context).filter(is_on);
            match self.server(context, profile, OutsideAge::Now) {
                Ok(server) => {
                    asked.linters.push(Arc::new(Selected::new(server, selection)));
                    asked
                        .missing
                        .extend(is_named.then(|| missing(&profile.tool, Need::Asked, String::new())));
                }
                Err(error) => {
                    let reason = match stand_in().map(|it| (it, place.way(it))) {
                        Some((_, Ok(_))) => continue,
                        // That says so itself.
                        Some((it, Err(_))) if checkers.used.contains(&it.tool.name) => continue,
                        Some((_, Err(reason))) => reason,
                        None => why_not(error),
                    };
                    let need = if is_named { Need::Missing } else { Need::Optional };
                    asked.missing.push(why.marked(missing(&profile.tool, need, reason)));
                    asked.absent.push(without(profile));
                }
            }
        }
        Ok(asked)
    }

    /// For a server whose rules are selected, and that is none of those that are asked.
    fn not_wanted(&self, context: &ServerContext<'_>, profile: &Profile) -> MissingLinter {
        if context.find(profile).is_none()
            && let Err(error) = self.server(context, profile, OutsideAge::Now)
        {
            return missing(&profile.tool, Need::Missing, why_not(error));
        }
        let reason = "rules of it are selected, but this workspace does not use it: add it to `servers.use` in \
                      `broker.toml`; `broker doctor` lists the servers in use";
        missing(&profile.tool, Need::PassedOver, reason.to_owned())
    }

    pub fn server(
        &self,
        context: &ServerContext<'_>,
        profile: &Profile,
        age: OutsideAge,
    ) -> Result<LanguageServer, SetupError> {
        let tool = &profile.tool;
        let failed = |message: String| SetupError { linter: tool.name.clone(), message, hint: None };
        let way = self.permissions.way(tool, context.level, context.root);
        let Some(path) = context.find(profile) else {
            let is_elsewhere = profile.find(context.root, &context.environment).is_some();
            return Err(not_found(tool, is_elsewhere, way));
        };
        let way = way.map_err(failed)?;
        let (profile, supervisor) = match way {
            Way::Free => (Cow::Borrowed(profile), self.supervisor.clone()),
            Way::Confined => {
                let sandbox = sandbox(context, profile, &path).map_err(failed)?;
                let confined = Cow::Owned(profile.without_programs_of_workspace());
                (confined, confined::supervisor(context.root.to_owned(), sandbox).ok())
            }
        };
        let supervisor =
            supervisor.ok_or_else(|| failed("this program cannot find its own file".to_owned()))?;
        let program = ServerProgram { path, supervisor, environment: &context.environment };
        LanguageServer::new(&self.pool, &profile, context.root, Arc::clone(context.disk), program, age)
    }
}

/// The sandbox of a confined server, with its program and those that it runs.
fn sandbox(context: &ServerContext<'_>, profile: &Profile, program: &Path) -> Result<Sandbox, String> {
    let sandbox = confine::confined_sandbox(&profile.tool, &context.environment, context.root)?;
    let variable = |name: &str| context.environment.get(name).map(ToOwned::to_owned);
    let is_outside = |it: &Path| !shadow::leads_through(it, context.root);
    let programs = profile.tool.programs(program, &variable, is_outside);
    // One that has a folder of its own speaks with its other processes through a socket there.
    let named_sockets = !profile.own_folder.is_empty();
    Ok(Sandbox { named_sockets, ..sandbox.with_programs(&programs, context.root) })
}

/// A server that is to be asked, installed or not.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'k> {
    pub profile: &'k Profile,
    pub why: Why<'k>,
}

#[derive(Debug, Clone, Copy)]
pub enum Why<'k> {
    /// The configuration names it.
    Named,
    Project(Reason<'k>),
}

impl Why<'_> {
    /// Adds what asks for the linter in the project.
    fn marked(self, missing: MissingLinter) -> MissingLinter {
        match self {
            Self::Named => missing,
            Self::Project(Reason::Configured(it) | Reason::Project(it)) => {
                MissingLinter { marker: Some(it.to_owned()), ..missing }
            }
        }
    }
}

/// Servers among the `known` that are to be asked, without those in whose place one of the `checkers` is, which are asked.
pub fn wanted<'k>(
    known: &'k [Profile],
    context: &ServerContext<'_>,
    settings: &ServerSettings,
    checkers: &BTreeSet<String>,
) -> Result<Vec<Wanted<'k>>, SetupFailure> {
    let mut wanted = match &settings.used {
        Some(used) => named(used, known)?,
        None => chosen(&known.iter().collect::<Vec<_>>(), context),
    };
    wanted.retain(|it| replacing(it.profile, checkers).is_none());
    Ok(wanted)
}

/// The checker that is asked in the place of a server.
fn replacing<'p>(profile: &'p Profile, checkers: &BTreeSet<String>) -> Option<&'p String> {
    profile.replaced_by.iter().find(|it| checkers.contains(*it))
}

fn named<'k>(used: &[String], known: &'k [Profile]) -> Result<Vec<Wanted<'k>>, SetupFailure> {
    let named = |name: &String| {
        let profile = known.iter().find(|it| it.tool.name == *name).ok_or_else(|| unknown(name, known))?;
        Ok(Wanted { profile, why: Why::Named })
    };
    used.iter().map(named).collect()
}

/// Servers among the `known` that are to be asked about a file. Does not look for markers of servers for other languages.
pub fn wanted_for<'k>(
    known: &'k [Profile],
    context: &ServerContext<'_>,
    settings: &ServerSettings,
    path: &WorkspacePath,
) -> Result<Vec<Wanted<'k>>, SetupFailure> {
    let mut wanted = match &settings.used {
        Some(used) => named(used, known)?,
        None => {
            let covering = known.iter().filter(|it| it.covers(path));
            let languages: BTreeSet<&String> = covering.flat_map(|it| &it.tool.languages).collect();
            let is_near = |it: &&Profile| it.tool.languages.iter().any(|it| languages.contains(it));
            chosen(&known.iter().filter(is_near).collect::<Vec<_>>(), context)
        }
    };
    wanted.retain(|it| it.profile.covers(path));
    Ok(wanted)
}

/// Servers that are chosen by the files of the workspace.
pub(crate) fn chosen<'k>(known: &[&'k Profile], context: &ServerContext<'_>) -> Vec<Wanted<'k>> {
    let is_installed = |it: &Profile| context.find(it).is_some();
    let picks = choose(known, &**context.disk, is_installed);
    picks.into_iter().map(|Pick { profile, why }| Wanted { profile, why: Why::Project(why) }).collect()
}

/// All that Broker knows and the configuration defines, as far as that counts.
pub fn known(settings: &ServerSettings, level: Level) -> Result<Cow<'static, [Profile]>, SetupFailure> {
    SERVERS.with_defined(&settings.defined, level)
}

const SERVERS: Kind<Profile> =
    Kind { known: profiles, define: Profile::defined, tool: |it| &it.tool, table: "servers.define" };

fn unknown(name: &str, known: &[Profile]) -> SetupFailure {
    let error =
        SetupFailure::new(format!("unknown language server `{name}` in `servers.use` of `broker.toml`"));
    error.hint(match SERVERS.closest(name, known) {
        Some(close) => format!("did you mean `{close}`?"),
        None => "define it in the table `servers.define`".to_owned(),
    })
}

fn without(profile: &Profile) -> Absent {
    absent(&profile.tool, profile.checks == Checks::Types)
}
