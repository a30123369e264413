//! The plugins of a workspace, and the rules of its linters, as they are listed.

use std::sync::Arc;

use config::{Choice, SetupFailure};
use lint::Rule;
use linters::{Catalogs, LinterSet, Rules, WorkspaceContext, plugins::Plugins};
use overlay::{Memory, View};

use super::{
    Daemon, DaemonError,
    fields::{Page, PageRequest, Paged},
    target::TargetId,
    task::blocking,
};

/// A rule, and the linter that has it.
#[derive(Debug, Clone)]
pub struct LinterRule {
    pub linter: String,
    pub rule: Rule,
}

/// The plugins of a workspace, or of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginList {
    pub plugins: Vec<PluginInfo>,
    pub unusable: Vec<UnusablePlugin>,
}

/// A plugin as its manifest describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginInfo {
    pub name: String,
    pub version: String,
    /// Hash of the plugin.
    pub digest: String,
    pub description: String,
    pub languages: Vec<String>,
    pub globs: Vec<String>,
    pub interpreters: Vec<String>,
}

/// A plugin that is named in the configuration and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusablePlugin {
    pub name: String,
    pub reason: String,
}

impl From<&Plugins> for PluginList {
    fn from(it: &Plugins) -> Self {
        let plugins = it.usable.iter().map(|it| {
            let manifest = it.manifest();
            PluginInfo {
                name: manifest.name.clone(),
                version: manifest.version.clone(),
                digest: it.digest().to_owned(),
                description: manifest.description.clone(),
                languages: manifest.languages.clone(),
                globs: manifest.globs.clone(),
                interpreters: manifest.interpreters.clone(),
            }
        });
        let unusable = it.broken.iter().map(|it| UnusablePlugin {
            name: it.linter.as_deref().unwrap_or_default().to_owned(),
            reason: it.reason.clone(),
        });
        Self { plugins: plugins.collect(), unusable: unusable.collect() }
    }
}

impl Daemon {
    /// The plugins of a workspace as the target shows it, or those of the daemon.
    pub async fn plugins(self: &Arc<Self>, target: Option<&TargetId>) -> Result<PluginList, DaemonError> {
        self.read_linters(target, |known| Ok(PluginList::from(&*known.plugins))).await
    }

    /// The rules of one linter, or of all if it has no name.
    pub async fn rules(
        self: &Arc<Self>,
        target: Option<&TargetId>,
        linter: String,
        page: &PageRequest,
    ) -> Result<Paged<LinterRule>, DaemonError> {
        let page = Page::of(page, 1000, 10_000)?;
        let rules = self.read_linters(target, move |known| rules(&known.catalogs, &linter)).await?;
        Ok(page.cut(rules.into_iter()))
    }

    /// Runs `read` on the linters, beside the threads that answer.
    async fn read_linters<T: Send + 'static>(
        self: &Arc<Self>,
        target: Option<&TargetId>,
        read: impl FnOnce(Known) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let daemon = Arc::clone(self);
        let Some(target) = target else {
            return blocking(move || {
                let nothing: Arc<dyn View> = Arc::new(Memory::default());
                let linters =
                    LinterSet::new(daemon.providers.clone(), WorkspaceContext::nowhere(), Choice::default());
                let plugins = Arc::clone(daemon.plugins.plugins());
                read(Known { plugins, catalogs: linters.at(&nothing)? })
            })
            .await;
        };
        if let Some(view) = self.local_view(target) {
            let plugins = Arc::clone(self.plugins.plugins());
            return read(Known { plugins, catalogs: self.catalogs_of_view(&view)? });
        }
        let target = self.target(target)?;
        let view = target.view(None).await?.view;
        blocking(move || {
            let workspace = target.workspace();
            let catalogs = daemon.every_linter(workspace).at(&view)?;
            read(Known { plugins: daemon.plugins_of(workspace, &view)?, catalogs })
        })
        .await
    }
}

/// Plugins and catalogs whose contents can be listed.
struct Known {
    plugins: Arc<Plugins>,
    catalogs: Arc<Catalogs>,
}

/// Rules of one linter, or of all that can list their rules.
fn rules(catalogs: &Catalogs, linter: &str) -> Result<Vec<LinterRule>, DaemonError> {
    let names = if linter.is_empty() { catalogs.listing()? } else { vec![linter.to_owned()] };
    let mut all = Vec::new();
    for name in names {
        let failed =
            |error: SetupFailure| DaemonError::PluginFailed { plugin: name.clone(), message: error.message };
        let Some(Rules::Known(rules)) = catalogs.rules(&name).map_err(failed)? else {
            return Err(DaemonError::NotFound { what: "plugin", id: name });
        };
        all.extend(rules.into_iter().map(|rule| LinterRule { linter: name.clone(), rule }));
    }
    Ok(all)
}
