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
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use check_engine::{Absent, MissingLinter, Need, Router, SharedLinter};
use config::{CheckerDefinition, Configs, Selectors, SetupFailure, folders};
use external_tools::is_there;
use lint::Cancel;
use native_checkers::{Checker, NativeChecker, Runner, RunnerLimits, Setup, checkers};
use overlay::{View, WorkspacePath};
use shadow::{Launcher, Sandbox, Storage, Toolchains};

use crate::{
    external::{Kind, absent, diagnosis, missing, no_trust, why_not},
    lock::LOCK_FILE,
    provider::{
        self, Catalog, Diagnosis, LinterKind, LinterName, ProgramKind, Provider, Rules, Standing,
        WorkspaceContext,
    },
    selected::Selected,
    tools,
    trust::Trusted,
};

/// Bytes that a run may write, which stay in memory.
const SPACE: u64 = 4 << 30;

/// The commands of this process. Clones share their runs.
#[derive(Clone)]
pub struct NativeCheckers {
    runner: Runner,
    launcher: Launcher,
    trusted: Option<Trusted>,
}

/// The commands that there could be in one workspace.
struct NativeCatalog {
    all: NativeCheckers,
    context: Arc<WorkspaceContext>,
    view: Arc<dyn View>,
}

/// Checkers of the configuration.
struct Settings {
    known: Cow<'static, [Checker]>,
    /// Names of those that are to be asked.
    used: BTreeSet<String>,
    /// Names without a table, of checkers whose tools the project pins, each with the file by which it asks for it.
    pinned: BTreeMap<String, String>,
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
        Self { runner: Runner::new(RunnerLimits::default()), launcher, trusted: Trusted::of_user() }
    }

    fn are_trusted_in(&self, root: &Path) -> bool {
        self.trusted.as_ref().is_some_and(|it| it.holds(root))
    }
}

impl Provider for NativeCheckers {
    fn kind(&self) -> LinterKind {
        LinterKind::Command
    }

    fn open(
        &self,
        context: &Arc<WorkspaceContext>,
        view: &Arc<dyn View>,
    ) -> Result<Box<dyn Catalog>, SetupFailure> {
        let (all, context, view) = (self.clone(), Arc::clone(context), Arc::clone(view));
        Ok(Box::new(NativeCatalog { all, context, view }))
    }

    fn shut_down(&self) {
        self.runner.shut_down();
    }
}

impl NativeCatalog {
    /// Reads the settings, from the disk where commands may run: changes to them in a branch do not count there.
    fn settings(&self) -> Result<Settings, SetupFailure> {
        if self.context.isolated {
            return settings(Default::default());
        }
        let is_trusted = self.all.are_trusted_in(&self.context.root);
        let view = if is_trusted { &self.context.disk } else { &self.view };
        let defined = Configs::new(&**view).workspace()?.checkers();
        let pins = tools::pinned_checkers(&*self.context.disk);
        let pinned = |it: &Checker| {
            let is_open = !defined.contains_key(&it.tool.name);
            let is_pinned = is_open && pins.iter().any(|tool| tools::is_program_of(tool, &it.tool));
            let marker = || self.marker(it).map_or(LOCK_FILE, String::as_str).to_owned();
            is_pinned.then(|| (it.tool.name.clone(), marker()))
        };
        let pinned: BTreeMap<_, _> = checkers().iter().filter_map(pinned).collect();
        let settings = settings(defined)?;
        let used = settings.used.into_iter().chain(pinned.keys().cloned()).collect();
        Ok(Settings { used, pinned, ..settings })
    }

    /// File or table of a file by which the project configures a checker.
    fn marker<'c>(&self, checker: &'c Checker) -> Option<&'c String> {
        let disk = &*self.context.disk;
        checker.configured_by.iter().find(|it| is_there(disk, &WorkspacePath::root(), it))
    }

    fn setup(&self) -> Result<Setup, String> {
        let context = &self.context;
        let variable = |name: &str| context.environment.get(name).map(OsString::from);
        let home = variable("HOME").map(PathBuf::from).and_then(|it| fs::canonicalize(it).ok());
        if home.as_ref().is_some_and(|it| it.starts_with(&context.root)) {
            return Err(format!(
                "{} holds the home folder, which no command is to see",
                context.root.display()
            ));
        }
        let own = [folders::state_dir(), folders::cache_dir(), Some(folders::runtime_dir())];
        let there = |it: PathBuf| fs::canonicalize(it).ok();
        let hidden = own.into_iter().flatten().filter_map(there).collect();
        let Toolchains { read, links } = shadow::toolchains(home.as_deref(), &context.root, variable);
        let stores = shadow::stores(home.as_deref(), &context.root, variable);
        Ok(Setup {
            root: context.root.clone(),
            disk: Arc::clone(&context.disk),
            launcher: self.all.launcher.clone(),
            sandbox: Sandbox { home, hidden, read, links, stores, space: SPACE, ..Sandbox::default() },
            environment: shadow::environment(variable),
        })
    }

    /// Entry for a checker that the project has configured for itself, and that is not asked here.
    fn not_named(&self, checker: &Checker, selectors: &Selectors) -> Option<MissingLinter> {
        if checker.replaces.is_some() {
            // The plugin is asked then.
            return None;
        }
        selectors.for_server(&checker.tool.name)?;
        let marker = self.marker(checker)?;
        let is_there = self.setup().is_ok_and(|it| NativeChecker::find(checker, &it).is_some());
        let reason = match is_there {
            true => format!("a table `[checkers.{}]` in `broker.toml` has it run", checker.tool.name),
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
        Ok(self.settings()?.known.iter().map(|it| LinterName::open(&it.tool.name)).collect())
    }

    fn select(&self, selectors: &Selectors) -> Result<provider::Selected, SetupFailure> {
        let settings = self.settings()?;
        let (mut linters, mut missed, mut left_out) = (Vec::<SharedLinter>::new(), Vec::new(), Vec::new());
        let mut replaced = Vec::new();
        let is_trusted = self.all.are_trusted_in(&self.context.root);
        // Looks at many folders of the user's, and most workspaces ask no command.
        let setup = LazyCell::new(|| self.setup().map(Arc::new));
        for checker in &*settings.known {
            let selection = selectors.for_server(&checker.tool.name);
            let Some(selection) =
                selection.filter(|_| self.is_wanted(&settings, selectors, &checker.tool.name))
            else {
                left_out.extend(settings.used.contains(&checker.tool.name).then(|| without(checker)));
                missed.extend(self.not_named(checker, selectors));
                continue;
            };
            let found = match (&*setup, is_trusted) {
                (_, false) => Err(no_trust(&self.context.root)),
                (Err(why), true) => Err(why.clone()),
                (Ok(setup), true) => {
                    NativeChecker::new(checker, Arc::clone(setup), &self.all.runner).map_err(why_not)
                }
            };
            match found {
                Ok(linter) => {
                    replaced
                        .extend(checker.replaces.iter().map(|it| (it.clone(), checker.tool.globs.clone())));
                    linters.push(Arc::new(Selected::new(linter, selection)));
                    missed.push(missing(&checker.tool, Need::Asked, String::new()));
                }
                Err(why) => {
                    missed.push(missing(&checker.tool, Need::Missing, why));
                    left_out.push(without(checker));
                }
            }
        }
        let router = Router::new(&linters).with_missing(missed).without(left_out);
        Ok(provider::Selected { router: Arc::new(router), unknown: Vec::new(), replaced })
    }

    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        let is_there = self.settings()?.known.iter().any(|it| it.tool.name == linter);
        Ok(is_there.then_some(Rules::Open))
    }

    /// Nothing is started in a workspace that is not trusted.
    fn version(&self, linter: &str, deadline: Instant, cancel: &Cancel) -> Option<Result<String, String>> {
        let settings = self.settings().ok()?;
        let checker = settings.known.iter().find(|it| it.tool.name == linter)?;
        if !self.all.are_trusted_in(&self.context.root) {
            return Some(Err(no_trust(&self.context.root)));
        }
        match self.setup() {
            Ok(setup) => checker.ask_version(&setup, deadline, cancel),
            Err(why) => Some(Err(why)),
        }
    }

    fn has_open_rules(&self) -> Result<bool, SetupFailure> {
        Ok(!self.settings()?.used.is_empty())
    }

    fn diagnose(&self, selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        let settings = self.settings()?;
        let setup = self.setup().ok();
        let diagnose = |checker: &Checker| {
            let standing = match settings.used.contains(&checker.tool.name) {
                true if selectors.for_server(&checker.tool.name).is_none() => Standing::NotSelected,
                true => match settings.pinned.get(&checker.tool.name) {
                    Some(marker) => Standing::Configured { marker: marker.clone() },
                    None => Standing::Named,
                },
                false => Standing::NotNamed { marker: self.marker(checker).cloned() },
            };
            let path = setup.as_ref().and_then(|it| NativeChecker::find(checker, it));
            let name = checker.tool.languages.first().unwrap_or(&checker.tool.name).clone();
            let covers = checker.covers();
            let language = move |path: &WorkspacePath| covers(path).then(|| name.clone());
            diagnosis(&checker.tool, ProgramKind::Command, path, standing, language)
        };
        Ok(settings.known.iter().map(diagnose).collect())
    }
}

const CHECKERS: Kind<Checker> =
    Kind { known: checkers, define: Checker::defined, tool: |it| &it.tool, table: "checkers" };

/// All that Broker knows and the configuration defines.
fn settings(defined: BTreeMap<String, CheckerDefinition>) -> Result<Settings, SetupFailure> {
    let known = CHECKERS.with_defined(&defined)?;
    let used = defined.into_iter().filter(|(_, it)| it.enabled != Some(false)).map(|it| it.0).collect();
    Ok(Settings { known, used, pinned: BTreeMap::new() })
}

fn without(checker: &Checker) -> Absent {
    absent(&checker.tool, checker.tool.same_as.own_names().next().is_none())
}
