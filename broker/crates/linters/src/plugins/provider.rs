//! Plugins as linters: which of them have something to say, and what is remembered of that.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use check_engine::{Absent, Incomplete, Router, SharedLinter};
use config::{Configs, DEFAULT, Selection, Selectors, SetupFailure};
use lint::{Linter as _, Rule};
use overlay::{ContentHash, Memory, ReadSet, Traced, View, WorkspacePath};
use parking_lot::Mutex;
use plugin_host::{Configured, Plugin, Settings};

use super::{PluginContext, Plugins, options};
use crate::provider::{
    Catalog, Diagnosis, LinterKind, LinterName, Provider, Rules, Selected, Standing, WorkspaceContext,
};

/// The plugins of a program, and what was chosen among them.
pub struct PluginProvider {
    plugins: Arc<Plugins>,
    chosen: Arc<Choices>,
}

/// The plugins that one workspace has.
struct PluginCatalog {
    plugins: Arc<Plugins>,
    /// Fingerprint of the plugins, if they are not those of the program.
    added: Option<ContentHash>,
    /// By plugin, each a JSON object.
    options: Arc<BTreeMap<String, String>>,
    context: Arc<WorkspaceContext>,
    view: Arc<dyn View>,
    chosen: Arc<Choices>,
}

/// The plugins by what is asked of them, each time with all that was read to choose among them.
#[derive(Default)]
struct Choices(Mutex<HashMap<Key, Vec<Chosen>>>);

/// Inputs of a choice besides what the view shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    root: String,
    isolated: bool,
    own_config: Option<WorkspacePath>,
    selectors: Selectors,
    added: Option<ContentHash>,
    options: Arc<BTreeMap<String, String>>,
}

/// Linters that were chosen in one view; the same would be in each that shows all of `reads`.
#[derive(Clone)]
struct Chosen {
    reads: Arc<ReadSet>,
    selected: Selected,
}

/// Bound on the choices that are remembered: few clients ask in many ways, and one that does shall not fill the memory.
const MAX_CACHED_SELECTIONS: usize = 256;

impl PluginProvider {
    pub fn new(plugins: Arc<Plugins>) -> Self {
        Self { plugins, chosen: Arc::default() }
    }

    /// Plugins of the program, without those that a workspace adds.
    pub fn plugins(&self) -> &Arc<Plugins> {
        &self.plugins
    }

    /// The plugins that a workspace has. Blocks: it may read and compile some.
    pub fn in_workspace(
        &self,
        context: &WorkspaceContext,
        view: &Arc<dyn View>,
    ) -> Result<Arc<Plugins>, SetupFailure> {
        if context.is_nowhere() {
            return Ok(Arc::clone(&self.plugins));
        }
        let nothing: Arc<dyn View> = Arc::new(Memory::default());
        let [view, disk] = if context.isolated { [&nothing; 2] } else { [view, &context.disk] };
        let told = context.variables.as_deref();
        let context = PluginContext { view: &**view, disk: &**disk, root: &context.root, told };
        self.plugins.in_workspace(&context).map_err(SetupFailure::from)
    }
}

impl PluginProvider {
    /// Options of the plugins in `broker.toml`.
    fn options(
        &self,
        plugins: &Plugins,
        context: &WorkspaceContext,
        view: &Arc<dyn View>,
    ) -> Result<BTreeMap<String, String>, SetupFailure> {
        if context.is_nowhere() || context.isolated {
            return Ok(BTreeMap::new());
        }
        options::checked(plugins, Configs::new(&**view).workspace()?.linters())
    }
}

impl Provider for PluginProvider {
    fn kind(&self) -> LinterKind {
        LinterKind::Plugin
    }

    fn open(
        &self,
        context: &Arc<WorkspaceContext>,
        view: &Arc<dyn View>,
    ) -> Result<Box<dyn Catalog>, SetupFailure> {
        let plugins = self.in_workspace(context, view)?;
        let added = (!Arc::ptr_eq(&plugins, &self.plugins)).then(|| plugins.fingerprint());
        let options = Arc::new(self.options(&plugins, context, view)?);
        let (context, view, chosen) = (Arc::clone(context), Arc::clone(view), Arc::clone(&self.chosen));
        Ok(Box::new(PluginCatalog { plugins, added, options, context, view, chosen }))
    }
}

impl Catalog for PluginCatalog {
    /// Includes plugins that cannot be used: a request for one is an error about that, and not about an unknown linter.
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        let usable = self.plugins.names().into_iter().map(LinterName::known);
        let broken = self.plugins.broken.iter().filter_map(|it| it.linter.as_deref());
        Ok(usable.chain(broken.map(LinterName::open)).collect())
    }

    fn select(&self, selectors: &Selectors) -> Result<Selected, SetupFailure> {
        let key = Key {
            root: self.root(),
            isolated: self.context.isolated,
            own_config: self.context.own_config.clone(),
            selectors: selectors.clone(),
            added: self.added,
            options: Arc::clone(&self.options),
        };
        // A look at the view takes its time, and is not taken under the lock.
        if let Some(known) = self.chosen.find(&key).iter().find(|it| it.reads.holds_in(&*self.view)) {
            return Ok(known.selected.clone());
        }
        let traced = Arc::new(Traced::new(Arc::clone(&self.view)));
        let selected = self.choose(selectors, &(Arc::clone(&traced) as _))?;
        // A choice from files that changed meanwhile is true of no state of the workspace.
        if traced.changed().is_none() {
            self.chosen.remember(key, Chosen { reads: traced.read_set(), selected: selected.clone() });
        }
        Ok(selected)
    }

    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        let Some(plugin) = self.plugins.find(linter) else {
            return Ok(self.is_broken(linter).then_some(Rules::Open));
        };
        let configured = plugin.configured(self.settings(plugin, Selection::default()));
        Ok(Some(Rules::Known(rules(&configured, &self.view)?)))
    }

    fn diagnose(&self, selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        let Selected { router, .. } = self.select(selectors)?;
        let standing = |plugin: &Plugin| {
            let manifest = plugin.manifest();
            if router.linters().iter().any(|it| it.identity().name == manifest.name) {
                return Standing::Always;
            }
            match has_what_it_needs(plugin, &*self.view) {
                true => Standing::NotSelected,
                false => {
                    let markers = manifest.needs.iter().map(ToString::to_string).collect();
                    Standing::NotConfigured { markers }
                }
            }
        };
        let usable = self.plugins.usable.iter().map(|it| {
            let selection = selectors.for_linter(&it.manifest().name);
            let linter = it.configured(self.settings(it, selection));
            Diagnosis::of_linter(Arc::new(linter), standing(it))
        });
        let broken = self
            .plugins
            .broken
            .iter()
            .map(|it| Diagnosis::of_broken(it.linter.as_deref().unwrap_or_default(), it.reason.clone()));
        Ok(usable.chain(broken).collect())
    }

    fn broken(&self) -> Vec<Incomplete> {
        self.plugins.broken.clone()
    }
}

impl PluginCatalog {
    /// Plugins that apply to the workspace that `view` shows. Everything in the workspace that this depends on is read through
    /// `view`.
    fn choose(&self, selectors: &Selectors, view: &Arc<dyn View>) -> Result<Selected, SetupFailure> {
        let (mut used, mut unselected, mut all_unknown) = (Vec::new(), Vec::new(), Vec::new());
        for plugin in &self.plugins.usable {
            let name = &plugin.manifest().name;
            let selection = selectors.for_linter(name);
            let mut it = plugin.configured(self.settings(plugin, selection.clone()));
            let mut is_asked = !selectors.are_nothing();
            if is_asked && !selectors.are_none() {
                // A plugin that cannot answer says why when it is asked about a file.
                let unknown = it.unknown_selectors(view).unwrap_or_default();
                if selection.extends() {
                    let selection = understood(&it, selection, &unknown, view)?;
                    it = plugin.configured(self.settings(plugin, selection));
                } else {
                    is_asked = !selection.is_nothing(&unknown);
                }
                all_unknown.push((name.clone(), unknown));
            }
            if has_what_it_needs(it.plugin(), &**view) {
                if is_asked { used.push(it) } else { unselected.push(it) }
            }
        }
        let absent = |globs: &[String], interpreters: &[String]| Absent {
            globs: globs.to_vec(),
            interpreters: interpreters.to_vec(),
            has_own_rules: false,
        };
        let unselected =
            unselected.iter().map(|it| absent(&it.interest().globs, &it.interest().interpreters));
        // Files that a plugin would look at are not known if it cannot be used.
        let broken = self.plugins.broken.iter().map(|_| absent(&["*".to_owned()], &[]));
        let absent = unselected.chain(broken).collect();
        let used: Vec<_> = used.into_iter().map(|it: Configured| Arc::new(it) as SharedLinter).collect();
        let router = Router::new(&used).with_missing(self.plugins.missing().collect()).without(absent);
        Ok(Selected { router: Arc::new(router), unknown: all_unknown })
    }

    fn settings(&self, plugin: &Plugin, selection: Selection) -> Settings {
        let manifest = plugin.manifest();
        Settings {
            root: self.root(),
            select: selection.select,
            ignore: selection.ignore,
            isolated: self.context.isolated,
            config: self.context.own_config.clone().filter(|_| !manifest.config_files.is_empty()),
            environment: self.plugins.environment(plugin),
            options: self.options.get(&manifest.name).cloned(),
        }
    }

    fn root(&self) -> String {
        self.context.root.to_string_lossy().into_owned()
    }

    fn is_broken(&self, name: &str) -> bool {
        self.plugins.broken.iter().any(|it| it.linter.as_deref() == Some(name))
    }
}

/// A selection that adds to the default, without what the plugin does not know, so that where nothing is left for it, it is asked
/// as ever. To a plugin that does not know of a default, its rules are named.
fn understood(
    plugin: &Configured,
    selection: Selection,
    unknown: &[String],
    view: &Arc<dyn View>,
) -> Result<Selection, SetupFailure> {
    let more = selection.select.iter().flatten().filter(|it| !unknown.contains(it) && *it != DEFAULT);
    let more: Vec<_> = more.cloned().collect();
    let select = if more.is_empty() {
        None
    } else if unknown.iter().any(|it| it == DEFAULT) {
        let default = rules(plugin, view)?.into_iter().filter(|it| it.default);
        Some(default.map(|it| it.code).chain(more).collect())
    } else {
        Some([DEFAULT.to_owned()].into_iter().chain(more).collect())
    };
    Ok(Selection { select, ..selection })
}

fn rules(plugin: &Configured, view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupFailure> {
    plugin.rules(view).map_err(|error| SetupFailure { message: error.message, hint: error.hint })
}

fn has_what_it_needs(plugin: &Plugin, view: &dyn View) -> bool {
    let needs = &plugin.manifest().needs;
    needs.is_empty() || needs.iter().any(|it| view.metadata(it).is_ok())
}

impl Choices {
    fn find(&self, key: &Key) -> Vec<Chosen> {
        self.0.lock().get(key).cloned().unwrap_or_default()
    }

    fn remember(&self, key: Key, chosen: Chosen) {
        let mut known = self.0.lock();
        if known.values().map(Vec::len).sum::<usize>() >= MAX_CACHED_SELECTIONS {
            known.clear();
        }
        let chosen_before = known.entry(key).or_default();
        // Two may have asked at once.
        chosen_before.retain(|it| it.reads != chosen.reads);
        chosen_before.push(chosen);
    }
}
