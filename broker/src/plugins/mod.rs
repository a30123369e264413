//! The plugins of a run: those that the program carries, those named on the command line, and those that the
//! workspace adds.

mod added;
mod fetch;
mod lock;
mod source;
mod store;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use bytes::Bytes;
use overlay::View;
use plugin_host::{Bundled, Compiler, HostOptions, Limits, Notice, Plugin, PluginHost, Settings};
use syntax::Trees;

use self::added::Shelf;
pub(crate) use self::{
    added::{PluginSite, expect_name, listed, not_granted},
    fetch::fetch,
    lock::{FILE_NAME as LOCK_FILE, Lock, Locked},
    source::{Digest, Source},
    store::Store,
};
use crate::{
    CliError,
    check::{Incomplete, Lack, Level, Need, Subject},
    console::Messages,
    render::printable,
    selectors::unknown_linter,
};

/// Bytes of the syntax trees that are kept.
const TREES: u64 = 128 << 20;

#[derive(Debug, clap::Args)]
pub(crate) struct PluginArgs {
    /// Use this plugin as well, in place of a bundled one of the same name; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Vec<PathBuf>,
}

/// The first argument of a process that is only there to compile a plugin.
const COMPILER: &str = "__compile-plugin";

/// This program, compiling plugins in a process of its own.
pub(crate) fn compiler() -> Compiler {
    // What runs, also after another build took its place on the disk.
    let this = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    this.map_or(Compiler::Here, |it| Compiler::Process(it, vec![COMPILER.into()]))
}

/// The life of a compiler, if these arguments, without the program's own name, are for one.
pub fn compile(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    (args.into_iter().next()? == COMPILER).then(plugin_host::compile_for_parent)
}

/// What it takes to load plugins.
pub(crate) struct Loader {
    pub(crate) bundle: &'static [Bundled],
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) compiler: Compiler,
    pub(crate) messages: Messages,
    pub(crate) verbose: bool,
    /// Whether only what went wrong is told.
    pub(crate) quiet: bool,
}

/// Plugins by name, and those that cannot be used.
#[derive(Clone)]
pub(crate) struct Plugins {
    pub(crate) usable: Vec<Plugin>,
    pub(crate) broken: Vec<Incomplete>,
    /// The names of those that the command line names, which count before all others.
    named: BTreeSet<String>,
    /// The variables that were granted, by plugin and name.
    environment: BTreeMap<String, BTreeMap<String, String>>,
    /// What `broker.lock` has of those that the workspace adds, by name.
    locked: BTreeMap<String, Digest>,
    shelf: Arc<Shelf>,
}

impl Loader {
    /// Reads what the plugins say of themselves. None of them is run, or even loaded, before it is asked.
    pub(crate) fn load(&self, args: &PluginArgs, instances: usize) -> Result<Arc<Plugins>, CliError> {
        if self.bundle.is_empty() && args.plugin.is_empty() {
            let error = CliError::plugin("this build of broker carries no plugins");
            return Err(error.hint("build it with ./dev build"));
        }
        let host = PluginHost::new(self.options(instances)).map_err(CliError::plugin)?;
        let shelf = Arc::new(Shelf::new(host.clone(), self.store()));
        let mut plugins = Plugins::on(shelf);
        let mut files = BTreeMap::new();
        for file in &args.plugin {
            let plugin = host.open(file);
            if let Ok(plugin) = &plugin {
                let name = &plugin.manifest().name;
                if let Some(other) = files.insert(name.clone(), file) {
                    return Err(named_twice(name, other, file));
                }
            }
            plugins.add(file_name(file), plugin);
        }
        plugins.named = files.into_keys().collect();
        for bundled in self.bundle {
            plugins.add("bundled plugin".to_owned(), host.bundled(bundled));
        }
        plugins.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
        Ok(Arc::new(plugins))
    }

    /// The plugin in a file, and no other.
    pub(crate) fn open(&self, file: &Path) -> Result<Plugin, CliError> {
        let host = PluginHost::new(self.options(1)).map_err(CliError::plugin)?;
        host.open(file).map_err(CliError::plugin)
    }

    /// The plugin in these bytes; `origin` is what to call it until its name is known.
    pub(crate) fn component(&self, origin: &str, wasm: Bytes) -> Result<Plugin, CliError> {
        let host = PluginHost::new(self.options(1)).map_err(CliError::plugin)?;
        host.component(origin, wasm).map_err(CliError::plugin)
    }

    /// The plugin of this name that the program carries, and no other.
    pub(crate) fn carried(&self, name: &str) -> Result<Plugin, CliError> {
        let plugins = self.load(&PluginArgs { plugin: Vec::new() }, 1)?;
        plugins.find(name).cloned().ok_or_else(|| unknown_linter(name, &plugins.names(), &[]))
    }

    /// Where fetched plugins are kept.
    pub(crate) fn store(&self) -> Store {
        Store::in_cache(self.cache_dir.clone())
    }

    fn options(&self, instances: usize) -> HostOptions {
        let (messages, verbose, quiet) = (self.messages.clone(), self.verbose, self.quiet);
        let notify = move |notice: Notice| tell(&messages, &notice, verbose, quiet);
        HostOptions {
            cache_dir: self.cache_dir.clone(),
            build: crate::BUILD,
            compiler: self.compiler.clone(),
            instances,
            trees: Trees::new(TREES),
            limits: Limits::default(),
            notify: Arc::new(notify),
        }
    }
}

impl Plugins {
    fn on(shelf: Arc<Shelf>) -> Self {
        let (usable, broken) = (Vec::new(), Vec::new());
        let (environment, locked) = (BTreeMap::new(), BTreeMap::new());
        Self { usable, broken, named: BTreeSet::new(), environment, locked, shelf }
    }

    /// For tests that ask no plugin.
    #[cfg(test)]
    pub(crate) fn none() -> Arc<Self> {
        let options = HostOptions {
            cache_dir: None,
            instances: 1,
            trees: Trees::new(0),
            limits: Limits::default(),
            notify: Arc::new(|_| {}),
            build: crate::BUILD,
            compiler: compiler(),
        };
        let host = PluginHost::new(options).unwrap();
        Arc::new(Self::on(Arc::new(Shelf::new(host, Store::in_cache(None)))))
    }

    /// The variables that a plugin sees.
    pub(crate) fn environment(&self, plugin: &Plugin) -> BTreeMap<String, String> {
        self.environment.get(&plugin.manifest().name).cloned().unwrap_or_default()
    }

    /// The digest of a plugin that the workspace adds.
    pub(crate) fn locked(&self, plugin: &Plugin) -> Option<&Digest> {
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

    pub(crate) fn find(&self, name: &str) -> Option<&Plugin> {
        self.usable.iter().find(|it| it.manifest().name == name)
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.usable.iter().map(|it| it.manifest().name.as_str()).collect()
    }

    /// Those that cannot be used, each of which somebody wants.
    pub(crate) fn lacks(&self) -> impl Iterator<Item = Lack> {
        self.broken.iter().map(|it| Lack {
            linter: it.linter.as_deref().unwrap_or_default().to_owned(),
            globs: vec!["*".to_owned()],
            reason: it.reason.clone(),
            need: Need::Missing,
        })
    }

    /// Tells the user of the plugins that cannot be used.
    pub(crate) fn report_broken(&self, messages: &Messages) {
        for broken in &self.broken {
            messages.error(&CliError::plugin(&broken.reason));
        }
    }
}

/// No answer is complete without it.
fn broken(name: String, reason: String) -> Incomplete {
    Incomplete { subject: Subject::Everything, linter: Some(name.into()), level: Level::Failed, reason }
}

/// A state of a workspace, in which some rules may be.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'v> {
    pub(crate) root: &'v str,
    pub(crate) view: &'v Arc<dyn View>,
}

/// A plugin's rules, whatever is selected.
pub(crate) fn rules(plugin: &Plugin, shown: Shown<'_>) -> Result<Vec<lint::Rule>, CliError> {
    let linter = plugin.configured(Settings { root: shown.root.to_owned(), ..Settings::default() });
    lint::Linter::rules(&linter, shown.view).map_err(|error| CliError::plugin(&error).maybe_hint(error.hint))
}

fn tell(messages: &Messages, notice: &Notice, verbose: bool, quiet: bool) {
    let text = notice.to_string();
    let text = printable(&text);
    match notice {
        Notice::Log { .. } if verbose => messages.line(&text),
        Notice::Compiling { .. } | Notice::Recompiling { .. } if !quiet => messages.line(&text),
        Notice::NoCache { .. } if !quiet => messages.warning(&text),
        Notice::Log { .. }
        | Notice::Compiling { .. }
        | Notice::Recompiling { .. }
        | Notice::NoCache { .. } => {}
    }
}

fn named_twice(name: &str, one: &Path, other: &Path) -> CliError {
    let (one, other) = (one.display(), other.display());
    CliError::usage(format!("`{one}` and `{other}` are both the plugin `{name}`")).hint("use one of them")
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |it| it.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Write},
        sync::Mutex,
    };

    use super::*;

    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn notices_are_told_as_loudly_as_was_asked() {
        let told = |verbose, quiet| {
            let text = Arc::new(Mutex::new(Vec::new()));
            let messages = Messages::new(Box::new(Captured(Arc::clone(&text))), false);
            for notice in [
                Notice::Compiling { plugin: "p".into() },
                Notice::NoCache { reason: "no room".into() },
                Notice::Log { plugin: "p".into(), level: "info".into(), message: "m".into() },
            ] {
                tell(&messages, &notice, verbose, quiet);
            }
            let text = text.lock().unwrap();
            String::from_utf8(text.clone()).unwrap()
        };
        let normal = "compiling plugin `p` (once)\nwarning: machine code is not kept: no room\n";
        assert_eq!(told(false, false), normal);
        assert_eq!(told(true, false), format!("{normal}p: info: m\n"));
        assert_eq!(told(false, true), "");
        assert_eq!(told(true, true), "p: info: m\n");
    }
}
