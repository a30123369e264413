//! The plugins of a run: those that the program carries, and those named on the command line.

use std::{path::Path, path::PathBuf, sync::Arc};

use plugin_host::{Bundled, HostOptions, Limits, Notice, Plugin, PluginHost, Settings};

use crate::{
    CliError,
    check::{Incomplete, Level, Subject},
    console::Messages,
};

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
        for file in &args.plugin {
            plugins.add(file_name(file), host.open(file));
        }
        for bundled in self.bundle {
            plugins.add("bundled plugin".to_owned(), host.bundled(bundled));
        }
        plugins.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
        Ok(plugins)
    }

    fn options(&self, instances: usize) -> HostOptions {
        let (messages, verbose) = (self.messages.clone(), self.verbose);
        let notify = move |notice: Notice| match notice {
            Notice::Log { .. } if !verbose => {}
            notice => messages.line(&crate::render::printable(&notice.to_string())),
        };
        HostOptions {
            cache_dir: self.cache_dir.clone(),
            instances,
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

/// A plugin's rules, whatever the settings.
pub(crate) fn rules(plugin: &Plugin) -> Result<Vec<lint::Rule>, CliError> {
    let linter = plugin.configured(Settings::default());
    lint::Linter::rules(&linter).map_err(|error| CliError::plugin(&error).maybe_hint(error.hint))
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |it| it.to_string_lossy().into_owned())
}
