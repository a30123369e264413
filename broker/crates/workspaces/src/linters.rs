//! The linters for each way in which they are asked: the plugins, made once, and the language servers of the
//! workspace.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use checker::{Router, SharedLinter};
use config::{Configs, Selectors, ServerSettings, SetupFailure};
use lint::Rule;
use linters::{
    plugins::{self, PluginSite, Plugins, Shown},
    servers::{Asked, Site, known},
    setup::Setup,
};
use overlay::{ContentHash, ReadSet, Traced, View};

use super::{Daemon, Served};

/// The plugins by what is asked of them, each time with all that was read to choose among them.
#[derive(Default)]
pub(super) struct Configured(Mutex<HashMap<Key, Vec<Chosen>>>);

/// How the plugins are set up, the names of all language servers, and which plugins they are if not just those of the
/// daemon.
type Key = (Setup, Vec<String>, Option<ContentHash>);

/// Linters that were chosen in one view; the same would be in each that shows all of `reads`.
#[derive(Clone)]
struct Chosen {
    reads: Arc<ReadSet>,
    router: Arc<Router>,
}

/// Few clients ask in many ways; one that does shall not fill the memory.
const REMEMBERED: usize = 256;

impl Daemon {
    /// The linters that are asked in this way about what `view` shows of the workspace. Blocks: selectors are
    /// shown to the plugins.
    pub(super) fn router(
        &self,
        setup: Setup,
        served: &Served,
        view: &Arc<dyn View>,
    ) -> Result<Arc<Router>, SetupFailure> {
        let (Asked { linters, mut lacks, mut absent }, names) = self.servers_for(&setup, served, &**view)?;
        let plugins = self.plugins_of(served, &**view)?;
        lacks.extend(plugins.lacks());
        let plugins = self.plugins_for(&plugins, setup, names, view)?;
        if linters.is_empty() && lacks.is_empty() && absent.is_empty() {
            return Ok(plugins);
        }
        let all: Vec<SharedLinter> = plugins.linters().iter().cloned().chain(linters).collect();
        absent.extend_from_slice(plugins.absent());
        Ok(Arc::new(Router::new(&all).lacking(lacks).without(absent)))
    }

    /// The rules of a plugin, in the state of the workspace that `view` shows; none if it cannot say. Blocks.
    pub(super) fn rules_of(&self, served: &Served, view: &Arc<dyn View>, plugin: &str) -> Vec<Rule> {
        let root = served.root().to_string_lossy();
        let rules =
            |plugins: Arc<Plugins>| plugins::rules(plugins.find(plugin)?, Shown { root: &root, view }).ok();
        self.plugins_of(served, &**view).ok().and_then(rules).unwrap_or_default()
    }

    /// The plugins that the workspace has as `view` shows it. Blocks: it may read and compile some.
    pub(super) fn plugins_of(&self, served: &Served, view: &dyn View) -> Result<Arc<Plugins>, SetupFailure> {
        let disk = served.base.without_buffers();
        let told = served.environment();
        let site = PluginSite { view, disk: &*disk, root: served.root(), told: told.as_deref() };
        self.plugins.in_workspace(&site).map_err(SetupFailure::from)
    }

    /// The language servers, and the names of all that there could be.
    fn servers_for(
        &self,
        setup: &Setup,
        served: &Served,
        view: &dyn View,
    ) -> Result<(Asked, Vec<String>), SetupFailure> {
        let root = Path::new(&setup.root);
        let is_trusted = self.servers.are_trusted_in(root);
        let disk = served.base.without_buffers();
        let settings = if is_trusted { settings(&*disk)? } else { settings(view)? };
        let selectors = Selectors::parse(setup.select.as_deref(), &setup.ignore)?;
        let environment = served.environment_of_servers();
        let site = Site { root, disk: &disk, environment: &environment };
        let asked = self.servers.asked(&site, &settings, &selectors)?;
        // Who selects nothing names nobody.
        let names = match selectors.is_empty() {
            true => Vec::new(),
            false => known(&settings)?.into_iter().map(|it| it.name).collect(),
        };
        Ok((asked, names))
    }

    fn plugins_for(
        &self,
        plugins: &Arc<Plugins>,
        setup: Setup,
        servers: Vec<String>,
        view: &Arc<dyn View>,
    ) -> Result<Arc<Router>, SetupFailure> {
        let added = (!Arc::ptr_eq(plugins, &self.plugins)).then(|| plugins.fingerprint());
        let key = (setup, servers, added);
        // A look at the view takes its time, and is not taken under the lock.
        if let Some(known) = self.linters.find(&key).iter().find(|it| it.reads.holds_in(&**view)) {
            return Ok(Arc::clone(&known.router));
        }
        let traced = Arc::new(Traced::new(Arc::clone(view)));
        let servers: Vec<_> = key.1.iter().map(String::as_str).collect();
        let seen: Arc<dyn View> = Arc::clone(&traced) as _;
        let asked = linters::setup::configure(plugins, &key.0, &servers, &seen)?;
        let router = Arc::new(Router::new(&asked.linters).without(asked.absent));
        // What moved meanwhile is true of no state of the workspace.
        if traced.changed().is_none() {
            let reads = traced.read_set();
            self.linters.remember(key, Chosen { reads, router: Arc::clone(&router) });
        }
        Ok(router)
    }
}

impl Configured {
    fn find(&self, key: &Key) -> Vec<Chosen> {
        self.lock().get(key).cloned().unwrap_or_default()
    }

    fn remember(&self, key: Key, chosen: Chosen) {
        let mut known = self.lock();
        if known.values().map(Vec::len).sum::<usize>() >= REMEMBERED {
            known.clear();
        }
        let chosen_before = known.entry(key).or_default();
        // Two may have asked at once.
        chosen_before.retain(|it| it.reads != chosen.reads);
        chosen_before.push(chosen);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Vec<Chosen>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn settings(view: &dyn View) -> Result<ServerSettings, SetupFailure> {
    Ok(Configs::new(view).workspace()?.servers())
}
