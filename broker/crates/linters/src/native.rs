//! Commands as linters: which of them are asked in a workspace, and what is said of those that cannot be.
//!
//! A command is asked where `broker.toml` has a table for it, where `broker.lock` pins its tool and no language server runs that,
//! or where a selector names it. None is by default: it compiles the project, or runs for a minute. What a branch says of them
//! does not count.

use std::{
    borrow::Cow,
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    ops::Deref,
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use check_engine::{Absent, MissingLinter, Need, Router, SharedLinter};
use config::{Selectors, SetupFailure, folders};
use external_tools::is_there;
use language_servers::Environment;
use lint::Cancel;
use native_checkers::{Checker, NativeChecker, Runner, RunnerLimits, Setup, checkers};
use overlay::{View, WorkspacePath};
use shadow::{Launcher, Sandbox, Storage, Toolchains};

use crate::{
    confine::{self, Level, Permissions, Way},
    external::{Kind, absent, diagnosis, missing, not_found, why_not},
    lock::LOCK_FILE,
    provider::{
        self, Catalog, Diagnosis, LinterKind, LinterName, ProgramKind, Provider, Rules, Standing,
        WorkspaceContext,
    },
    selected::Selected,
    servers::{self, ServerContext, stand_in},
    tools,
};

/// Bytes that a run may write, which stay in memory.
const SPACE: u64 = 4 << 30;

/// The commands of this process. Clones share their runs.
#[derive(Clone)]
pub struct NativeCheckers {
    runner: Runner,
    launcher: Launcher,
    permissions: Permissions,
}

/// The commands that there could be in one workspace.
struct NativeCatalog {
    all: NativeCheckers,
    context: Arc<WorkspaceContext>,
}

/// A workspace as its commands see it at the moment.
struct Place<'c> {
    all: &'c NativeCheckers,
    context: &'c WorkspaceContext,
    level: Level,
    /// Without what leads into the workspace, unless it is trusted.
    environment: Environment,
}

/// Checkers of the configuration.
struct Settings {
    known: Cow<'static, [Checker]>,
    /// Names of those that are to be asked.
    used: BTreeSet<String>,
    /// Names of those that are turned off.
    refused: BTreeSet<String>,
    /// Names without a table, of checkers whose tools the project pins, each with the file by which it asks for it.
    pinned: BTreeMap<String, String>,
    /// Entries for definitions that do not count.
    passed_over: Vec<MissingLinter>,
}

impl NativeCheckers {
    /// For a program that begins with [`shadow::inside`].
    pub fn of_user() -> Self {
        let launcher = Launcher::this_program();
        // Caches of tools that runs leave are there, for these and for `broker run`.
        let launcher = match folders::cache_dir() {
            Some(folder) => launcher.with_storage(Storage::new(folder)),
            None => launcher,
        };
        Self { runner: Runner::new(RunnerLimits::default()), launcher, permissions: Permissions::of_user() }
    }
}

impl Provider for NativeCheckers {
    fn kind(&self) -> LinterKind {
        LinterKind::Command
    }

    fn open(
        &self,
        context: &Arc<WorkspaceContext>,
        _view: &Arc<dyn View>,
    ) -> Result<Box<dyn Catalog>, SetupFailure> {
        Ok(Box::new(NativeCatalog { all: self.clone(), context: Arc::clone(context) }))
    }

    fn shut_down(&self) {
        self.runner.shut_down();
    }
}

impl NativeCatalog {
    fn place(&self) -> Place<'_> {
        let (all, context) = (&self.all, &*self.context);
        let level = all.permissions.level(&context.root);
        let environment = confine::environment(&context.environment, level, &context.root);
        Place { all, context, level, environment }
    }
}

impl Place<'_> {
    /// Reads the settings, from the disk: changes to them in a branch do not count.
    fn settings(&self) -> Result<Settings, SetupFailure> {
        let context = &self.context;
        let defined = match context.isolated {
            true => BTreeMap::new(),
            false => confine::config_on_disk(&*context.disk, self.level)?.checkers(),
        };
        let pins = if context.isolated { Vec::new() } else { tools::pinned_checkers(&*context.disk) };
        let pinned = |it: &Checker| {
            let is_open = !defined.contains_key(&it.tool.name);
            let is_pinned = is_open && pins.iter().any(|tool| tools::is_program_of(tool, &it.tool));
            let marker = || self.marker(it).map_or(LOCK_FILE, String::as_str).to_owned();
            is_pinned.then(|| (it.tool.name.clone(), marker()))
        };
        let pinned: BTreeMap<_, _> = checkers().iter().filter_map(pinned).collect();
        let known = CHECKERS.with_defined(&defined, self.level)?;
        let passed_over = CHECKERS.passed_over(&defined, self.level, &context.root);
        let (named, refused): (Vec<_>, Vec<_>) =
            defined.into_iter().partition(|(_, it)| it.enabled != Some(false));
        let used = named.into_iter().map(|it| it.0).chain(pinned.keys().cloned()).collect();
        let refused = refused.into_iter().map(|it| it.0).collect();
        Ok(Settings { known, used, refused, pinned, passed_over })
    }

    /// Checkers that are asked in the place of servers, with what asks for those.
    fn standing_in(&self) -> Result<BTreeMap<&'static str, String>, SetupFailure> {
        let context = self.context;
        if context.isolated {
            return Ok(BTreeMap::new());
        }
        let settings = confine::config_on_disk(&*context.disk, self.level)?.servers();
        let server_context = ServerContext {
            root: &context.root,
            disk: &context.disk,
            environment: self.environment.clone(),
            level: self.level,
        };
        let mut all = stand_in::all(&servers::known(&settings, self.level)?, &server_context, &settings);
        let may_run = |name: &str| {
            checkers().iter().find(|it| it.tool.name == name).is_some_and(|it| self.way(it).is_ok())
        };
        all.retain(|name, _| may_run(name));
        Ok(all)
    }

    /// File or table of a file by which the project configures a checker.
    fn marker<'c>(&self, checker: &'c Checker) -> Option<&'c String> {
        let disk = &*self.context.disk;
        checker.configured_by.iter().find(|it| is_there(disk, &WorkspacePath::root(), it))
    }

    fn way(&self, checker: &Checker) -> Result<Way, String> {
        self.all.permissions.way(&checker.tool, self.level, &self.context.root)
    }

    /// Path of a checker's program here: of a workspace that is not trusted none is found.
    fn find(&self, checker: &Checker) -> Option<PathBuf> {
        let (root, variable) =
            (&self.context.root, |name: &str| self.environment.get(name).map(OsString::from));
        if self.level == Level::Trusted {
            return checker.tool.find_anywhere(root, &variable);
        }
        let found = checker.tool.without_programs_of_workspace().find_anywhere(root, &variable);
        found.filter(|it| !shadow::leads_through(it, root))
    }

    /// A checker as a linter, or the reason why it cannot be asked.
    fn linter(
        &self,
        checker: &Checker,
        free: &impl Deref<Target = Result<Arc<Setup>, String>>,
    ) -> Result<NativeChecker, String> {
        let way = self.way(checker);
        let found = match &way {
            Err(_) => None,
            Ok(Way::Free) => NativeChecker::new(checker, Arc::clone(free.as_ref()?), &self.all.runner).ok(),
            Ok(Way::Confined) => {
                let confined = checker.without_programs_of_workspace();
                NativeChecker::new(&confined, self.confined_setup(checker)?.into(), &self.all.runner).ok()
            }
        };
        let variable = |name: &str| self.context.environment.get(name).map(OsString::from);
        let is_elsewhere = || checker.tool.find_anywhere(&self.context.root, &variable).is_some();
        found.ok_or_else(|| why_not(not_found(&checker.tool, is_elsewhere(), way)))
    }

    /// The surroundings of runs that may do what the user may, but for the network and the home folder.
    fn free_setup(&self) -> Result<Setup, String> {
        let sandbox = confine::sandbox(&self.environment, &self.context.root)?;
        let variable = |name: &str| self.environment.get(name).map(OsString::from);
        let home = sandbox.home.as_deref();
        let Toolchains { read, links } = shadow::toolchains(home, &self.context.root, variable);
        let stores = shadow::stores(home, &self.context.root, variable);
        Ok(self.setup(Sandbox { read, links, stores, space: SPACE, ..sandbox }, false))
    }

    fn confined_setup(&self, checker: &Checker) -> Result<Setup, String> {
        let root = &self.context.root;
        confine::confined_sandbox(&checker.tool, &self.environment, root).map(|it| self.setup(it, true))
    }

    fn setup(&self, sandbox: Sandbox, confined: bool) -> Setup {
        let variable = |name: &str| self.environment.get(name).map(OsString::from);
        Setup {
            root: self.context.root.clone(),
            disk: Arc::clone(&self.context.disk),
            launcher: self.all.launcher.clone(),
            sandbox,
            environment: shadow::environment(variable),
            confined,
        }
    }

    /// Entry for a checker that the project has configured for itself, and that is not asked here.
    fn not_named(&self, checker: &Checker, selectors: &Selectors) -> Option<MissingLinter> {
        if checker.replaces.is_some() {
            // The plugin is asked then.
            return None;
        }
        selectors.for_server(&checker.tool.name)?;
        let marker = self.marker(checker)?;
        let reason = match self.find(checker).is_some() {
            true => format!("add `[checkers.{}]` to `broker.toml` to run it", checker.tool.name),
            false => checker.tool.not_installed_sentence(),
        };
        let missing = missing(&checker.tool, Need::Optional, reason);
        Some(MissingLinter { marker: Some(marker.clone()), ..missing })
    }

    /// Whether a checker is asked: the configuration uses it and the selectors do not exclude it, or a selector names it.
    fn is_wanted(&self, settings: &Settings, selectors: &Selectors, name: &str) -> bool {
        let is_selected = selectors.select_by_name(name);
        is_selected || (settings.used.contains(name) && selectors.for_server(name).is_some())
    }
}

impl Catalog for NativeCatalog {
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        Ok(self.place().settings()?.known.iter().map(|it| LinterName::open(&it.tool.name)).collect())
    }

    fn select(&self, selectors: &Selectors) -> Result<provider::Selected, SetupFailure> {
        let place = self.place();
        let (settings, standing_in) = (place.settings()?, place.standing_in()?);
        let (mut linters, mut missed, mut left_out) = (Vec::<SharedLinter>::new(), Vec::new(), Vec::new());
        let mut replaced = Vec::new();
        missed.extend(settings.passed_over.iter().cloned());
        // Looks at many folders of the user's, and most workspaces ask no command.
        let free = LazyCell::new(|| place.free_setup().map(Arc::new));
        for checker in &*settings.known {
            let name = &*checker.tool.name;
            let is_named = place.is_wanted(&settings, selectors, name);
            let stands_in = standing_in.contains_key(name) && !settings.refused.contains(name);
            let selection = selectors.for_server(name).filter(|_| is_named || stands_in);
            let Some(selection) = selection else {
                left_out.extend(settings.used.contains(&checker.tool.name).then(|| without(checker)));
                missed.extend(place.not_named(checker, selectors));
                continue;
            };
            match place.linter(checker, &free) {
                Ok(linter) => {
                    replaced
                        .extend(checker.replaces.iter().map(|it| (it.clone(), checker.tool.globs.clone())));
                    linters.push(Arc::new(Selected::new(linter, selection)));
                    missed.extend(is_named.then(|| missing(&checker.tool, Need::Asked, String::new())));
                }
                Err(why) => {
                    // As a server is that the project's files ask for.
                    let is_by_files = stands_in || settings.pinned.contains_key(name);
                    let is_asked_for = selectors.select_by_name(name) || !is_by_files;
                    let need = if is_asked_for { Need::Missing } else { Need::Optional };
                    missed.push(missing(&checker.tool, need, why));
                    left_out.push(without(checker));
                }
            }
        }
        let router = Router::new(&linters).with_missing(missed).without(left_out);
        Ok(provider::Selected { router: Arc::new(router), unknown: Vec::new(), replaced })
    }

    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        let is_there = self.place().settings()?.known.iter().any(|it| it.tool.name == linter);
        Ok(is_there.then_some(Rules::Open))
    }

    /// Starts it as for a check.
    fn version(&self, linter: &str, deadline: Instant, cancel: &Cancel) -> Option<Result<String, String>> {
        let place = self.place();
        let settings = place.settings().ok()?;
        let checker = settings.known.iter().find(|it| it.tool.name == linter)?;
        let setup = place.way(checker).and_then(|way| match way {
            Way::Free => Ok((Cow::Borrowed(checker), place.free_setup()?)),
            Way::Confined => {
                Ok((Cow::Owned(checker.without_programs_of_workspace()), place.confined_setup(checker)?))
            }
        });
        match setup {
            Ok((checker, setup)) => checker.ask_version(&setup, deadline, cancel),
            Err(why) => Some(Err(why)),
        }
    }

    fn has_open_rules(&self) -> Result<bool, SetupFailure> {
        Ok(!self.place().settings()?.used.is_empty())
    }

    fn diagnose(&self, selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        let place = self.place();
        let (settings, standing_in) = (place.settings()?, place.standing_in()?);
        let diagnose = |checker: &Checker| {
            let name = &*checker.tool.name;
            let marker = standing_in.get(name).filter(|_| !settings.refused.contains(name));
            let marker = settings.pinned.get(name).or(marker);
            let standing = match (settings.used.contains(name), marker) {
                (false, None) => Standing::NotNamed { marker: place.marker(checker).cloned() },
                _ if selectors.for_server(name).is_none() => Standing::NotSelected,
                (_, Some(marker)) => Standing::Configured { marker: marker.clone() },
                (true, None) => Standing::Named,
            };
            let (path, way) = (place.find(checker), place.way(checker));
            let name = checker.tool.languages.first().unwrap_or(&checker.tool.name).clone();
            let covers = checker.covers();
            let language = move |path: &WorkspacePath| covers(path).then(|| name.clone());
            diagnosis(&checker.tool, ProgramKind::Command, path, standing, way, language)
        };
        Ok(settings.known.iter().map(diagnose).collect())
    }
}

const CHECKERS: Kind<Checker> =
    Kind { known: checkers, define: Checker::defined, tool: |it| &it.tool, table: "checkers" };

fn without(checker: &Checker) -> Absent {
    absent(&checker.tool, checker.tool.same_as.own_names().next().is_none())
}
