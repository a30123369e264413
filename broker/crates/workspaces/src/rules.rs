//! The plugins of a workspace and their rules, as they are listed.

use std::sync::Arc;

use lint::{Rule, suppress};
use linters::plugins::{self, Plugins, Shown};
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

impl Daemon {
    /// The plugins of a workspace as the target shows it, or those of the daemon.
    pub async fn plugins(self: &Arc<Self>, target: Option<&TargetId>) -> Result<Arc<Plugins>, DaemonError> {
        self.read_plugins(target, |known| Ok(known.plugins)).await
    }

    /// The rules of one linter, or of all if it has no name.
    pub async fn rules(
        self: &Arc<Self>,
        target: Option<&TargetId>,
        linter: String,
        page: &PageRequest,
    ) -> Result<Paged<LinterRule>, DaemonError> {
        let page = Page::of(page, 1000, 10_000)?;
        let rules = self.read_plugins(target, move |known| known.rules(&linter)).await?;
        Ok(page.cut(rules.into_iter()))
    }

    /// What `read` makes of the plugins, beside the threads that answer.
    async fn read_plugins<T: Send + 'static>(
        self: &Arc<Self>,
        target: Option<&TargetId>,
        read: impl FnOnce(Known) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let Some(target) = target else {
            let plugins = Arc::clone(self.plugins.plugins());
            let known = Known { plugins, root: String::new(), view: Arc::new(Memory::default()) };
            return blocking(move || read(known)).await;
        };
        let target = self.target(target)?;
        let view = target.view(None).await?.view;
        let daemon = Arc::clone(self);
        blocking(move || {
            let served = target.served();
            let plugins = daemon.plugins_of(served, &view)?;
            read(Known { plugins, root: served.root().to_string_lossy().into_owned(), view })
        })
        .await
    }
}

/// What is there to be listed.
struct Known {
    plugins: Arc<Plugins>,
    root: String,
    view: Arc<dyn View>,
}

impl Known {
    fn rules(&self, linter: &str) -> Result<Vec<LinterRule>, DaemonError> {
        if !linter.is_empty() && linter != suppress::LINTER && self.plugins.find(linter).is_none() {
            return Err(DaemonError::NotFound { what: "plugin", id: linter.to_owned() });
        }
        let is_wanted = |name: &str| linter.is_empty() || linter == name;
        let of = |name: &str, rules: Vec<Rule>| {
            let name = name.to_owned();
            rules.into_iter().map(move |rule| LinterRule { linter: name.clone(), rule })
        };
        let mut all = Vec::new();
        if is_wanted(suppress::LINTER) {
            all.extend(of(suppress::LINTER, suppress::rules().into_iter().collect()));
        }
        let shown = Shown { root: &self.root, view: &self.view };
        for plugin in self.plugins.usable.iter().filter(|it| is_wanted(&it.manifest().name)) {
            let name = &plugin.manifest().name;
            let failed = |message| DaemonError::PluginFailed { plugin: name.clone(), message };
            let rules = plugins::rules(plugin, shown).map_err(|error| failed(error.message))?;
            all.extend(of(name, rules));
        }
        Ok(all)
    }
}
