//! The plugins of a run: those that the program carries, those named on the command line, and those that the
//! workspace adds.

mod added;
mod fetch;
mod options;
mod provider;
mod signed;
mod store;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use bytes::Bytes;
use config::{Digest, SetupFailure, unknown_linter};
use overlay::View;
use plugin_host::{Bundled, Compiler, HostOptions, Limits, Notice, Plugin, PluginHost, Settings};
use syntax::Trees;

use self::added::PluginCache;
pub use self::{
    added::{PluginContext, expect_name, listed, not_granted},
    fetch::{Fetched, FoundSignature, fetch, fetch_signatures},
    provider::PluginProvider,
    signed::{expect_signature, expect_signed, expect_signer},
    store::{Store, UNUSED},
};

use check_engine::{Incomplete, Level, MissingLinter, Need, Subject};

/// Bytes of the syntax trees that are kept.
const TREES: u64 = 16 << 20;

/// The first argument of a process that is only there to compile a plugin.
const COMPILER: &str = "__compile-plugin";

/// This program, compiling plugins in a process of its own.
pub fn compiler() -> Compiler {
    // The executable that runs, even after another build replaced it on the disk.
    let this = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    this.map_or(Compiler::Here, |it| Compiler::Process(it, vec![COMPILER.into()]))
}

/// The life of a compiler, if these arguments, without the program's own name, are for one.
pub fn compile(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    (args.into_iter().next()? == COMPILER).then(plugin_host::compile_for_parent)
}

/// Parts that are needed to load plugins.
pub struct Loader {
    pub bundle: &'static [Bundled],
    /// Names the build of this program, of which machine code is a part.
    pub build: &'static str,
    pub cache_dir: Option<PathBuf>,
    pub compiler: Compiler,
    /// Takes what the host has to say: logs of plugins, and that one is being compiled.
    pub notify: Arc<dyn Fn(Notice) + Send + Sync>,
}

/// Plugins by name, and those that cannot be used.
#[derive(Clone)]
pub struct Plugins {
    pub usable: Vec<Plugin>,
    pub broken: Vec<Incomplete>,
    /// The names of those that the command line names, which count before all others.
    named: BTreeSet<String>,
    /// The variables that were granted, by plugin and name.
    environment: BTreeMap<String, BTreeMap<String, String>>,
    /// Digests in `broker.lock` of the plugins that the workspace adds, by name.
    locked: BTreeMap<String, Digest>,
    cache: Arc<PluginCache>,
}

impl Loader {
    /// The plugins of the program, and those in `named`, which take the place of others of the same name. Reads what they
    /// say of themselves; none of them is run, or even loaded, before it is asked.
    pub fn load(&self, named: &[PathBuf], instances: usize) -> Result<Arc<Plugins>, SetupFailure> {
        if self.bundle.is_empty() && named.is_empty() {
            let error = SetupFailure::new("this build of broker carries no plugins");
            return Err(error.hint("build it with ./dev build"));
        }
        let host = PluginHost::new(self.options(instances)).map_err(unusable)?;
        let cache = Arc::new(PluginCache::new(Some(host.clone()), self.store()));
        let mut plugins = Plugins::on(cache);
        plugins.add_named(named)?;
        for bundled in self.bundle {
            plugins.add("bundled plugin".to_owned(), host.bundled(bundled));
        }
        plugins.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
        Ok(Arc::new(plugins))
    }

    /// The plugin in a file, and no other.
    pub fn open(&self, file: &Path) -> Result<Plugin, SetupFailure> {
        let host = PluginHost::new(self.options(1)).map_err(unusable)?;
        host.open(file).map_err(unusable)
    }

    /// The plugin in these bytes; `origin` is what to call it until its name is known.
    pub fn component(&self, origin: &str, wasm: Bytes) -> Result<Plugin, SetupFailure> {
        let host = PluginHost::new(self.options(1)).map_err(unusable)?;
        host.component(origin, wasm).map_err(unusable)
    }

    /// The plugin of this name that the program carries, and no other.
    pub fn bundled(&self, name: &str) -> Result<Plugin, SetupFailure> {
        let plugins = self.load(&[], 1)?;
        plugins.find(name).cloned().ok_or_else(|| unknown_linter(name, &plugins.names(), &[]))
    }

    /// Store of fetched plugins.
    pub fn store(&self) -> Store {
        Store::in_cache(self.cache_dir.clone())
    }

    fn options(&self, instances: usize) -> HostOptions {
        HostOptions {
            cache_dir: self.cache_dir.clone(),
            build: self.build,
            compiler: self.compiler.clone(),
            instances,
            trees: Trees::new(TREES),
            limits: Limits::default(),
            notify: Arc::clone(&self.notify),
        }
    }
}

impl Plugins {
    fn on(cache: Arc<PluginCache>) -> Self {
        let (usable, broken) = (Vec::new(), Vec::new());
        let (environment, locked) = (BTreeMap::new(), BTreeMap::new());
        Self { usable, broken, named: BTreeSet::new(), environment, locked, cache }
    }

    /// No plugins at all: for tests of what stands above them.
    pub fn none() -> Result<Arc<Self>, SetupFailure> {
        let options = HostOptions {
            cache_dir: None,
            instances: 1,
            trees: Trees::new(0),
            limits: Limits::default(),
            notify: Arc::new(|_| {}),
            build: "test",
            compiler: compiler(),
        };
        let host = PluginHost::new(options).map_err(unusable)?;
        Ok(Arc::new(Self::on(Arc::new(PluginCache::new(Some(host), Store::in_cache(None))))))
    }

    /// No plugins, and nothing that could run one: for commands that check nothing.
    pub fn disabled() -> Arc<Self> {
        Arc::new(Self::on(Arc::new(PluginCache::new(None, Store::in_cache(None)))))
    }

    /// The plugins in `files`, and those of these that have other names. Blocks.
    pub fn with_named(&self, files: &[PathBuf]) -> Result<Arc<Self>, SetupFailure> {
        let mut plugins = Self::on(Arc::clone(&self.cache));
        plugins.add_named(files)?;
        plugins.broken.extend(self.broken.iter().cloned());
        for plugin in &self.usable {
            plugins.add(plugin.manifest().name.clone(), Ok(plugin.clone()));
        }
        plugins.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
        Ok(Arc::new(plugins))
    }

    fn add_named(&mut self, named: &[PathBuf]) -> Result<(), SetupFailure> {
        let mut files = BTreeMap::new();
        for file in named {
            let plugin = self.cache.host()?.open(file);
            if let Ok(plugin) = &plugin {
                let name = &plugin.manifest().name;
                if let Some(other) = files.insert(name.clone(), file) {
                    return Err(named_twice(name, other, file));
                }
            }
            self.add(file_name(file), plugin);
        }
        self.named = files.into_keys().collect();
        Ok(())
    }

    /// The variables that a plugin sees.
    pub fn environment(&self, plugin: &Plugin) -> BTreeMap<String, String> {
        self.environment.get(&plugin.manifest().name).cloned().unwrap_or_default()
    }

    /// The digest of a plugin that the workspace adds.
    pub fn locked(&self, plugin: &Plugin) -> Option<&Digest> {
        self.locked.get(&plugin.manifest().name)
    }

    /// The first of a name is the one that counts.
    fn add(&mut self, name: String, plugin: Result<Plugin, plugin_host::PluginError>) {
        match plugin {
            Ok(plugin) if self.find(&plugin.manifest().name).is_some() => {}
            Ok(plugin) => self.usable.push(plugin),
            Err(error) => self.broken.push(broken(name, error.to_string())),
        }
    }

    pub fn find(&self, name: &str) -> Option<&Plugin> {
        self.usable.iter().find(|it| it.manifest().name == name)
    }

    pub fn names(&self) -> Vec<&str> {
        self.usable.iter().map(|it| it.manifest().name.as_str()).collect()
    }

    /// Plugins that cannot be used; each makes answers incomplete.
    pub fn missing(&self) -> impl Iterator<Item = MissingLinter> {
        self.broken.iter().map(|it| MissingLinter {
            linter: it.linter.as_deref().unwrap_or_default().to_owned(),
            globs: vec!["*".to_owned()],
            reason: it.reason.clone(),
            need: Need::Missing,
            marker: None,
        })
    }
}

/// No answer is complete without it.
fn broken(name: String, reason: String) -> Incomplete {
    Incomplete { subject: Subject::Everything, linter: Some(name.into()), level: Level::Failed, reason }
}

/// A state of a workspace, in which some rules may be.
#[derive(Clone, Copy)]
pub struct RuleContext<'v> {
    pub root: &'v str,
    pub view: &'v Arc<dyn View>,
}

/// A plugin's rules, whatever is selected.
pub fn rules(plugin: &Plugin, context: RuleContext<'_>) -> Result<Vec<lint::Rule>, SetupFailure> {
    let linter = plugin.configured(Settings { root: context.root.to_owned(), ..Settings::default() });
    let failure = |error: lint::SetupError| SetupFailure { message: error.message, hint: error.hint };
    lint::Linter::rules(&linter, context.view).map_err(failure)
}

fn unusable(error: impl ToString) -> SetupFailure {
    SetupFailure::new(error.to_string())
}

fn named_twice(name: &str, one: &Path, other: &Path) -> SetupFailure {
    let (one, other) = (one.display(), other.display());
    SetupFailure::new(format!("`{one}` and `{other}` are both the plugin `{name}`")).hint("use one of them")
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |it| it.to_string_lossy().into_owned())
}
