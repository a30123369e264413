//! Commands as linters: which of them are asked in a workspace, and what is said of those that cannot be.
//!
//! Checkers that get texts, and answer as soon as servers, are of the kind of these: they take their place. Which are asked says
//! `asked.rs`.
//!
//! A command is asked where `broker.toml` has a table for it, where `broker.lock` pins its tool and no language server runs that,
//! or where a selector names it. None is by default: it compiles the project, or runs for a minute. What a branch says of them
//! does not count.

use std::{
    borrow::Cow, cell::LazyCell, collections::BTreeMap, ffi::OsString, ops::Deref, sync::Arc, time::Instant,
};

use check_engine::{Absent, MissingLinter, Need, Router, SharedLinter};
use config::{Selectors, SetupFailure, folders};
use lint::Cancel;
use native_checkers::{Checker, NativeChecker, Runner, RunnerLimits, Setup, checkers};
use overlay::{View, WorkspacePath};
use shadow::{Launcher, Sandbox, Storage, Toolchains};
use tool_store::Demand;

use crate::{
    asked::Place,
    confine::{self, Permissions, Way},
    external::{absent, diagnosis, missing, not_found, why_not},
    provider::{
        self, Catalog, Diagnosis, LinterKind, LinterName, ProgramKind, Provider, Rules, Standing,
        WorkspaceContext,
    },
    selected::Selected,
    servers::{self, ServerContext, Servers, stand_in},
    tools,
};

/// Bytes that a run may write, which stay in memory.
const SPACE: u64 = 4 << 30;

/// The checkers of this process that are of one kind. Both kinds share what they need, and clones all.
#[derive(Clone)]
pub struct NativeCheckers {
    kind: LinterKind,
    runner: Runner,
    launcher: Launcher,
    permissions: Permissions,
}

/// The commands that there could be in one workspace.
struct NativeCatalog {
    all: NativeCheckers,
    context: Arc<WorkspaceContext>,
}

/// All external linters of the user's, by kind, with these servers.
pub fn external(servers: &Servers) -> [Arc<dyn Provider>; 3] {
    let [questions, commands] = NativeCheckers::beside(servers);
    [Arc::new(servers.clone()), Arc::new(questions), Arc::new(commands)]
}

impl NativeCheckers {
    /// Checkers that answer as servers do, and the others, for a program that begins with [`shadow::inside`].
    pub fn beside(servers: &Servers) -> [Self; 2] {
        let launcher = Launcher::this_program();
        // Caches of tools that runs leave are there, for these and for `broker run`.
        let launcher = match folders::cache_dir() {
            Some(folder) => launcher.with_storage(Storage::new(folder)),
            None => launcher,
        };
        let (runner, permissions) = (Runner::new(RunnerLimits::default()), servers.permissions.clone());
        let commands = Self { kind: LinterKind::Command, runner, launcher, permissions };
        [Self { kind: LinterKind::Server, ..commands.clone() }, commands]
    }

    fn has(&self, checker: &Checker) -> bool {
        checker.gets_texts() == (self.kind == LinterKind::Server)
    }
}

impl Provider for NativeCheckers {
    fn kind(&self) -> LinterKind {
        self.kind
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
        Place::of(&self.all.permissions, &self.context)
    }
}

impl Place<'_> {
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

    /// A checker as a linter, or the reason why it cannot be asked.
    fn linter(
        &self,
        all: &NativeCheckers,
        checker: &Checker,
        free: &impl Deref<Target = Result<Arc<Setup>, String>>,
    ) -> Result<NativeChecker, String> {
        let way = self.way(checker);
        let found = match &way {
            Err(_) => None,
            Ok(Way::Free) => NativeChecker::new(checker, Arc::clone(free.as_ref()?), &all.runner).ok(),
            Ok(Way::Confined) => {
                let confined = checker.without_programs_of_workspace();
                NativeChecker::new(&confined, self.confined_setup(all, checker)?.into(), &all.runner).ok()
            }
        };
        let variable = |name: &str| self.context.environment.get(name).map(OsString::from);
        let is_elsewhere = || checker.tool.find_anywhere(&self.context.root, &variable).is_some();
        found.ok_or_else(|| why_not(not_found(&checker.tool, is_elsewhere(), way)))
    }

    /// The surroundings of runs that may do what the user may, but for the network and the home folder.
    fn free_setup(&self, all: &NativeCheckers) -> Result<Setup, String> {
        let sandbox = confine::sandbox(&self.environment, &self.context.root)?;
        let variable = |name: &str| self.environment.get(name).map(OsString::from);
        let home = sandbox.home.as_deref();
        let Toolchains { read, links } = shadow::toolchains(home, &self.context.root, variable);
        let stores = shadow::stores(home, &self.context.root, variable);
        Ok(self.setup(all, Sandbox { read, links, stores, space: SPACE, ..sandbox }, false))
    }

    fn confined_setup(&self, all: &NativeCheckers, checker: &Checker) -> Result<Setup, String> {
        let root = &self.context.root;
        confine::confined_sandbox(&checker.tool, &self.environment, root).map(|it| self.setup(all, it, true))
    }

    fn setup(&self, all: &NativeCheckers, sandbox: Sandbox, confined: bool) -> Setup {
        let variable = |name: &str| self.environment.get(name).map(OsString::from);
        Setup {
            root: self.context.root.clone(),
            disk: Arc::clone(&self.context.disk),
            launcher: all.launcher.clone(),
            sandbox,
            environment: shadow::environment(variable),
            confined,
        }
    }

    /// Entry for a checker that the project has configured for itself, and that is not asked here.
    fn not_named(&self, checker: &Checker, selectors: &Selectors) -> Option<MissingLinter> {
        selectors.for_server(&checker.tool.name).filter(|_| !self.context.isolated)?;
        if checker.replaces.is_some() {
            // The plugin is asked then.
            return tools::other_version(checker, &*self.context.disk);
        }
        let marker = self.marker(checker)?;
        let reason = match self.find(checker).is_some() {
            true => format!("add `[checkers.{}]` to `broker.toml` to run it", checker.tool.name),
            false => checker.tool.not_installed_sentence(),
        };
        let missing = missing(&checker.tool, Need::Optional, reason);
        Some(MissingLinter { marker: Some(marker.clone()), ..missing })
    }

    fn not_used(&self, checker: &Checker) -> Standing {
        match tools::demand_beside_plugin(checker, &*self.context.disk) {
            Some(Demand { version, file }) => Standing::OtherVersion { version, marker: file },
            None => Standing::NotNamed { marker: self.marker(checker).cloned() },
        }
    }
}

impl Catalog for NativeCatalog {
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        let settings = self.place().settings()?;
        let own = settings.known.iter().filter(|it| self.all.has(it));
        Ok(own.map(|it| LinterName::open(&it.tool.name)).collect())
    }

    fn select(&self, selectors: &Selectors) -> Result<provider::Selected, SetupFailure> {
        let place = self.place();
        let (settings, standing_in) = (place.settings()?, place.standing_in()?);
        let (mut linters, mut missed, mut left_out) = (Vec::<SharedLinter>::new(), Vec::new(), Vec::new());
        let own = || settings.known.iter().filter(|it| self.all.has(it));
        let passed_over = |it: &Checker| settings.passed_over.get(&it.tool.name).cloned();
        missed.extend(own().filter_map(passed_over));
        // Looks at many folders of the user's, and most workspaces ask no command.
        let free = LazyCell::new(|| place.free_setup(&self.all).map(Arc::new));
        for checker in own() {
            let name = &*checker.tool.name;
            let is_named = place.is_wanted(&settings, selectors, name);
            let stands_in = standing_in.contains_key(name) && !settings.refused.contains(name);
            let selection = selectors.for_server(name).filter(|_| is_named || stands_in);
            let Some(selection) = selection else {
                left_out.extend(settings.used.contains(&checker.tool.name).then(|| without(checker)));
                missed.extend(place.not_named(checker, selectors));
                continue;
            };
            match place.linter(&self.all, checker, &free) {
                Ok(linter) => {
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
        Ok(provider::Selected { router: Arc::new(router), unknown: Vec::new() })
    }

    fn replaced(&self, selectors: &Selectors) -> Result<Vec<(String, Vec<String>)>, SetupFailure> {
        let place = self.place();
        let settings = place.settings()?;
        let asked = place.asked(&settings, selectors);
        let own = settings.known.iter().filter(|it| self.all.has(it) && asked.contains(&it.tool.name));
        let replaced = own.filter_map(|it| Some((it.replaces.clone()?, instead_of_plugin(it))));
        Ok(replaced.collect())
    }

    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        let settings = self.place().settings()?;
        let is_there = settings.known.iter().any(|it| self.all.has(it) && it.tool.name == linter);
        Ok(is_there.then_some(Rules::Open))
    }

    /// Starts it as for a check.
    fn version(&self, linter: &str, deadline: Instant, cancel: &Cancel) -> Option<Result<String, String>> {
        let place = self.place();
        let settings = place.settings().ok()?;
        let checker = settings.known.iter().find(|it| self.all.has(it) && it.tool.name == linter)?;
        let setup = place.way(checker).and_then(|way| match way {
            Way::Free => Ok((Cow::Borrowed(checker), place.free_setup(&self.all)?)),
            Way::Confined => {
                let confined = Cow::Owned(checker.without_programs_of_workspace());
                Ok((confined, place.confined_setup(&self.all, checker)?))
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
                (false, None) => place.not_used(checker),
                _ if selectors.for_server(name).is_none() => Standing::NotSelected,
                (_, Some(marker)) => Standing::Configured { marker: marker.clone() },
                (true, None) => Standing::Named,
            };
            let (path, way) = (place.find(checker), place.way(checker));
            let first = checker.tool.languages.first().cloned();
            let covers = checker.covers();
            let language = move |path: &WorkspacePath| covers(path).then(|| first.clone());
            diagnosis(&checker.tool, ProgramKind::Command, path, standing, way, language)
        };
        Ok(settings.known.iter().filter(|it| self.all.has(it)).map(diagnose).collect())
    }
}

/// Files that a plugin is not asked about in whose place a checker is: also those that configure both, which the checker reads anyway.
fn instead_of_plugin(checker: &Checker) -> Vec<String> {
    let configured_by = checker.configured_by.iter().filter_map(|it| it.split('#').next());
    checker.tool.globs.iter().cloned().chain(configured_by.map(str::to_owned)).collect()
}

fn without(checker: &Checker) -> Absent {
    absent(&checker.tool, checker.tool.same_as.own_names().next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checker_that_takes_the_place_of_a_server_is_asked_with_the_servers() {
        let kinds = |name: &str| {
            let checker = Checker::named(name).unwrap();
            let both = NativeCheckers::beside(&Servers::of_user());
            both.iter().filter(|it| it.has(checker)).map(Provider::kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds("tsgolint"), [LinterKind::Server]);
        assert_eq!(kinds("tsc"), [LinterKind::Command]);
    }
}
