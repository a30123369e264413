//! The linters for each way in which they are asked: the plugins, made once, and the language servers of the
//! workspace.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use overlay::{ContentHash, View};

use super::{Daemon, Served};
use crate::{
    check::{Router, SetupFailure, SharedLinter},
    config::{Configs, ServerSettings},
    linters::{self, Setup},
    plugins::{PluginSite, Plugins},
    selectors::Selectors,
    servers::{Asked, Site, known},
};

/// The plugins by what is asked of them.
#[derive(Default)]
pub(super) struct Configured(Mutex<HashMap<Key, Arc<Router>>>);

/// How the plugins are set up, the names of all language servers, which plugins they are if not just those of the
/// daemon, and what plugins need of the workspace.
type Key = (Setup, Vec<String>, Option<ContentHash>, Option<ContentHash>);

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
        let (Asked { linters, mut lacks }, names) = self.servers_for(&setup, served, &**view)?;
        let plugins = self.plugins_of(served, &**view)?;
        lacks.extend(plugins.lacks());
        let plugins = self.plugins_for(&plugins, setup, names, view)?;
        if linters.is_empty() && lacks.is_empty() {
            return Ok(plugins);
        }
        let all: Vec<SharedLinter> = plugins.linters().iter().cloned().chain(linters).collect();
        Ok(Arc::new(Router::new(&all).lacking(lacks)))
    }

    /// The plugins that the workspace has as `view` shows it. Blocks: it may read and compile some.
    pub(crate) fn plugins_of(&self, served: &Served, view: &dyn View) -> Result<Arc<Plugins>, SetupFailure> {
        let disk = served.base.without_buffers();
        let site = PluginSite { view, disk: &*disk, root: served.root() };
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
        let asked = self.servers.asked(&Site { root, disk: &disk }, &settings, &selectors)?;
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
        let known = || self.linters.0.lock().unwrap_or_else(PoisonError::into_inner);
        let added = (!Arc::ptr_eq(plugins, &self.plugins)).then(|| plugins.fingerprint());
        let key = (setup, servers, added, linters::looked_at(plugins, &**view));
        if let Some(router) = known().get(&key) {
            return Ok(Arc::clone(router));
        }
        let servers: Vec<_> = key.1.iter().map(String::as_str).collect();
        let linters = linters::configure(plugins, &key.0, &servers, view)?;
        let router = Arc::new(Router::new(&linters));
        let mut known = known();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        Ok(Arc::clone(known.entry(key).or_insert(router)))
    }
}

fn settings(view: &dyn View) -> Result<ServerSettings, SetupFailure> {
    Ok(Configs::new(view).workspace()?.servers())
}
