//! Language servers as linters: which of them are asked in a workspace, and what is told of those that cannot be.
//!
//! Nothing is started here: a server has a process while it is needed.

mod diagnosis;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    io,
    path::Path,
    process::ExitCode,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use check_engine::{Absent, MissingLinter, Need, Router, SharedLinter};
use config::{Configs, Selectors, ServerSettings, SetupFailure};
use language_servers::{
    Checks, Environment, LanguageServer, OutsideAge, Pick, Pool, PoolLimits, Profile, Reason, Supervisor,
    choose, profiles,
};
use lint::{Cancel, SetupError};
use overlay::{View, WorkspacePath};

pub use self::diagnosis::diagnose;
use crate::{
    external::{Kind, absent, missing, no_trust, why_not},
    provider::{self, Catalog, Diagnosis, LinterKind, LinterName, Provider, Rules, WorkspaceContext},
    selected::Selected,
    trust::Trusted,
};

/// First argument of a process that supervises a language server.
const SUPERVISOR: &str = "__supervise-language-server";

/// Time that servers have to end when the program does.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the supervisor of a language server, if these arguments, without the program's own name, are for one.
pub fn supervise(args: impl IntoIterator<Item = std::ffi::OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter();
    (args.next()? == SUPERVISOR).then(|| language_servers::supervisor::run(args))
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
    trusted: Option<Trusted>,
}

/// A workspace as a server sees it.
pub struct ServerContext<'s> {
    pub root: &'s Path,
    /// View of the disk, which the server reads itself.
    pub disk: &'s Arc<dyn View>,
    pub environment: &'s Environment,
}

/// The servers that there could be in one workspace.
struct ServerCatalog {
    servers: Servers,
    context: Arc<WorkspaceContext>,
    view: Arc<dyn View>,
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
        view: &Arc<dyn View>,
    ) -> Result<Box<dyn Catalog>, SetupFailure> {
        let (servers, context, view) = (self.clone(), Arc::clone(context), Arc::clone(view));
        Ok(Box::new(ServerCatalog { servers, context, view, settings: OnceLock::new() }))
    }

    fn shut_down(&self) {
        self.pool.shutdown(Instant::now() + SHUTDOWN_TIMEOUT);
    }
}

impl ServerCatalog {
    fn settings(&self) -> Result<&ServerSettings, SetupFailure> {
        self.settings.get_or_init(|| self.read_settings()).as_ref().map_err(Clone::clone)
    }

    /// Reads the settings, from the disk where servers may run: changes to them in a branch do not count there.
    fn read_settings(&self) -> Result<ServerSettings, SetupFailure> {
        if self.context.isolated {
            return Ok(ServerSettings::default());
        }
        let view =
            if self.servers.are_trusted_in(&self.context.root) { &self.context.disk } else { &self.view };
        Ok(Configs::new(&**view).workspace()?.servers())
    }

    fn context(&self) -> ServerContext<'_> {
        ServerContext {
            root: &self.context.root,
            disk: &self.context.disk,
            environment: &self.context.environment,
        }
    }
}

impl Catalog for ServerCatalog {
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        Ok(known(self.settings()?)?.iter().map(|it| LinterName::open(it.tool.name.clone())).collect())
    }

    fn select(&self, selectors: &Selectors) -> Result<provider::Selected, SetupFailure> {
        let SelectedServers { linters, missing, absent } =
            self.servers.asked(&self.context(), self.settings()?, selectors)?;
        let router = Router::new(&linters).with_missing(missing).without(absent);
        Ok(provider::Selected { router: Arc::new(router), unknown: Vec::new(), replaced: Vec::new() })
    }

    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        let is_there = known(self.settings()?)?.iter().any(|it| it.tool.name == linter);
        Ok(is_there.then_some(Rules::Open))
    }

    fn diagnose(&self, selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        let (settings, context) = (self.settings()?, self.context());
        let find = |it: &Profile| it.find(context.root, context.environment);
        diagnose(&known(settings)?, &context, settings, selectors, find)
    }

    fn version(&self, linter: &str, deadline: Instant, cancel: &Cancel) -> Option<Result<String, String>> {
        let known = self.settings().and_then(known).ok()?;
        let profile = known.iter().find(|it| it.tool.name == linter)?;
        let server =
            self.servers.server(&self.context(), profile, OutsideAge::Now).map_err(|error| error.message);
        Some(server.and_then(|it| it.version(deadline, cancel)))
    }

    fn has_open_rules(&self) -> Result<bool, SetupFailure> {
        let settings = self.settings()?;
        Ok(!wanted(&known(settings)?, &self.context(), settings)?.is_empty())
    }
}

impl Servers {
    pub fn of_user() -> Self {
        Self {
            pool: Pool::new(PoolLimits::default()),
            supervisor: supervisor().ok(),
            trusted: Trusted::of_user(),
        }
    }

    pub fn are_trusted_in(&self, root: &Path) -> bool {
        self.trusted.as_ref().is_some_and(|it| it.holds(root))
    }

    /// Servers that are asked for this workspace, as it is on the disk.
    fn asked(
        &self,
        context: &ServerContext<'_>,
        settings: &ServerSettings,
        selectors: &Selectors,
    ) -> Result<SelectedServers, SetupFailure> {
        let known = known(settings)?;
        let selected = known.iter().filter(|it| selectors.select_by_name(&it.tool.name));
        if !self.are_trusted_in(context.root) {
            let named = settings.used.iter().flatten().chain(selected.map(|it| &it.tool.name));
            let named: BTreeSet<_> = named.collect();
            let is_asked = |it: &Profile| {
                !named.contains(&it.tool.name) && selectors.for_server(&it.tool.name).is_some()
            };
            let wanted = wanted(&known, context, settings)?;
            let absent = wanted.iter().map(|it| without(it.profile)).collect();
            let wanted = wanted.into_iter().filter(|it| is_asked(it.profile));
            let others = wanted.map(|it| it.without_trust(context));
            let missing = named.iter().map(|name| untrusted(name, context.root)).chain(others);
            return Ok(SelectedServers { linters: Vec::new(), missing: missing.collect(), absent });
        }
        let wanted = wanted(&known, context, settings)?;
        let is_wanted = |name: &str| wanted.iter().any(|it| it.profile.tool.name == name);
        let not_wanted =
            selected.filter(|it| !is_wanted(&it.tool.name)).map(|it| self.not_wanted(context, it));
        let mut asked = SelectedServers { missing: not_wanted.collect(), ..SelectedServers::default() };
        for Wanted { profile, why } in wanted {
            let Some(selection) = selectors.for_server(&profile.tool.name) else {
                asked.absent.push(without(profile));
                continue;
            };
            let is_named = matches!(why, Why::Named) || selectors.select_by_name(&profile.tool.name);
            match self.server(context, profile, OutsideAge::Now) {
                Ok(server) => {
                    asked.linters.push(Arc::new(Selected::new(server, selection)));
                    asked
                        .missing
                        .extend(is_named.then(|| missing(&profile.tool, Need::Asked, String::new())));
                }
                Err(error) => {
                    let need = if is_named { Need::Missing } else { Need::Optional };
                    asked.missing.push(why.marked(missing(&profile.tool, need, why_not(error))));
                    asked.absent.push(without(profile));
                }
            }
        }
        Ok(asked)
    }

    /// For a server whose rules are selected, and that is none of those that are asked.
    fn not_wanted(&self, context: &ServerContext<'_>, profile: &Profile) -> MissingLinter {
        if profile.find(context.root, context.environment).is_none()
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
        let supervisor = self.supervisor.clone().ok_or_else(|| SetupError {
            linter: profile.tool.name.clone(),
            message: "this program cannot find its own file".to_owned(),
            hint: None,
        })?;
        LanguageServer::new(
            &self.pool,
            profile,
            context.root,
            Arc::clone(context.disk),
            supervisor,
            context.environment,
            age,
        )
    }
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

impl Wanted<'_> {
    /// Entry for a server that would be asked if it were installed and the workspace were trusted.
    fn without_trust(&self, context: &ServerContext<'_>) -> MissingLinter {
        let tool = &self.profile.tool;
        let reason = match self.profile.find(context.root, context.environment) {
            Some(_) => no_trust(context.root),
            None => tool.not_installed_sentence(),
        };
        self.why.marked(missing(tool, Need::Optional, reason))
    }
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

/// Servers among the `known` that are to be asked.
pub fn wanted<'k>(
    known: &'k [Profile],
    context: &ServerContext<'_>,
    settings: &ServerSettings,
) -> Result<Vec<Wanted<'k>>, SetupFailure> {
    let Some(used) = &settings.used else {
        return Ok(of_project(&known.iter().collect::<Vec<_>>(), context));
    };
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
        Some(_) => wanted(known, context, settings)?,
        None => {
            let covering = known.iter().filter(|it| it.covers(path));
            let languages: BTreeSet<&String> = covering.flat_map(|it| &it.tool.languages).collect();
            let is_near = |it: &&Profile| it.tool.languages.iter().any(|it| languages.contains(it));
            of_project(&known.iter().filter(is_near).collect::<Vec<_>>(), context)
        }
    };
    wanted.retain(|it| it.profile.covers(path));
    Ok(wanted)
}

/// Servers that are chosen by the files of the workspace.
fn of_project<'k>(known: &[&'k Profile], context: &ServerContext<'_>) -> Vec<Wanted<'k>> {
    let is_installed = |it: &Profile| it.find(context.root, context.environment).is_some();
    let picks = choose(known, &**context.disk, is_installed);
    picks.into_iter().map(|Pick { profile, why }| Wanted { profile, why: Why::Project(why) }).collect()
}

/// All that Broker knows and the configuration defines.
pub fn known(settings: &ServerSettings) -> Result<Cow<'static, [Profile]>, SetupFailure> {
    SERVERS.with_defined(&settings.defined)
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

fn untrusted(name: &str, root: &Path) -> MissingLinter {
    let (globs, reason) = (vec!["*".to_owned()], no_trust(root));
    MissingLinter { linter: name.to_owned(), globs, reason, need: Need::Missing, marker: None }
}
