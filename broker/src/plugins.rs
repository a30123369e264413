//! The plugins of a run: those that the program carries, and those named on the command line.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use overlay::View;
use plugin_host::{Bundled, HostOptions, Limits, Notice, Plugin, PluginHost, Settings};
use syntax::Trees;

use crate::{
    CliError,
    check::{Incomplete, Level, Subject},
    console::Messages,
    render::printable,
    selectors::unknown_linter,
};

/// Bytes of the syntax trees that are kept.
const TREES: u64 = 128 << 20;

include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

#[derive(Debug, clap::Args)]
pub(crate) struct PluginArgs {
    /// Use this plugin as well, in place of a bundled one of the same name; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Vec<PathBuf>,
}

/// What it takes to load plugins.
pub(crate) struct Loader {
    pub(crate) bundle: &'static [Bundled],
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) messages: Messages,
    pub(crate) verbose: bool,
    /// Whether only what went wrong is told.
    pub(crate) quiet: bool,
}

/// Plugins by name, and those that cannot be used.
pub(crate) struct Plugins {
    pub(crate) usable: Vec<Plugin>,
    pub(crate) broken: Vec<Incomplete>,
}

impl Loader {
    /// Reads what the plugins say of themselves. None of them is run, or even loaded, before it is asked.
    pub(crate) fn load(&self, args: &PluginArgs, instances: usize) -> Result<Plugins, CliError> {
        if self.bundle.is_empty() && args.plugin.is_empty() {
            let error = CliError::plugin("this build of broker carries no plugins");
            return Err(error.hint("build it with ./dev build"));
        }
        let host = PluginHost::new(self.options(instances)).map_err(CliError::plugin)?;
        let mut plugins = Plugins { usable: Vec::new(), broken: Vec::new() };
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
        for bundled in self.bundle {
            plugins.add("bundled plugin".to_owned(), host.bundled(bundled));
        }
        plugins.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
        Ok(plugins)
    }

    /// The plugin in a file, and no other.
    pub(crate) fn open(&self, file: &Path) -> Result<Plugin, CliError> {
        let host = PluginHost::new(self.options(1)).map_err(CliError::plugin)?;
        host.open(file).map_err(CliError::plugin)
    }

    /// The plugin of this name that the program carries, and no other.
    pub(crate) fn carried(&self, name: &str) -> Result<Plugin, CliError> {
        let plugins = self.load(&PluginArgs { plugin: Vec::new() }, 1)?;
        plugins.find(name).cloned().ok_or_else(|| unknown_linter(name, &plugins.names(), &[]))
    }

    fn options(&self, instances: usize) -> HostOptions {
        let (messages, verbose, quiet) = (self.messages.clone(), self.verbose, self.quiet);
        let notify = move |notice: Notice| tell(&messages, &notice, verbose, quiet);
        HostOptions {
            cache_dir: self.cache_dir.clone(),
            instances,
            trees: Trees::new(TREES),
            limits: Limits::default(),
            notify: Arc::new(notify),
        }
    }
}

impl Plugins {
    /// The first of a name is the one that counts.
    fn add(&mut self, name: String, plugin: Result<Plugin, plugin_host::PluginError>) {
        match plugin {
            Ok(plugin) if self.find(&plugin.manifest().name).is_some() => {}
            Ok(plugin) => self.usable.push(plugin),
            Err(error) => self.broken.push(Incomplete {
                subject: Subject::Everything,
                linter: Some(name.into()),
                level: Level::Failed,
                reason: error.to_string(),
            }),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Plugin> {
        self.usable.iter().find(|it| it.manifest().name == name)
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.usable.iter().map(|it| it.manifest().name.as_str()).collect()
    }

    /// Tells the user of the plugins that cannot be used.
    pub(crate) fn report_broken(&self, messages: &Messages) {
        for broken in &self.broken {
            messages.error(&CliError::plugin(&broken.reason));
        }
    }
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
