//! A plugin, and a plugin with settings: a linter.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use lint::{
    Because, Cancel, EnabledRule, Identity, Interest, Job, Linter, Masking, Outcome, Rule, SetupError,
};
use overlay::{ContentHash, ReadSet, Traced, View, WorkspacePath};
use parking_lot::Mutex;

use crate::{
    Bundled, Capability, Manifest, PluginError, PluginHost,
    bindings::LinterPre,
    convert,
    error::Name,
    instance::{self, Instance, Usage},
    machine_code::Code,
    mapped_code::CodeUse,
    state::State,
    wasi,
};

/// Settings that the user asked of a plugin, on top of its own configuration files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Path of the workspace on the disk, and so where a guest sees it; empty for `/`.
    pub root: String,
    /// In place of what the configuration selects, in the plugin's own words.
    pub select: Option<Vec<String>>,
    pub ignore: Vec<String>,
    /// Read no configuration files.
    pub isolated: bool,
    /// Read this configuration file and no other.
    pub config: Option<WorkspacePath>,
    /// The variables that it sees, by name.
    pub environment: BTreeMap<String, String>,
    /// The plugin's own options, a JSON object.
    pub options: Option<String>,
}

#[derive(Clone)]
pub(crate) enum Source {
    Bundled(&'static Bundled),
    Component(Bytes),
}

/// A component that was loaded, or will be when it is first used. Clones share it.
#[derive(Clone)]
pub struct Plugin(Arc<Inner>);

struct Inner {
    host: PluginHost,
    manifest: Manifest,
    digest: String,
    source: Source,
    /// Result of loading the plugin, which is tried once; `None` before that.
    loaded: Mutex<Option<Result<Loaded, PluginError>>>,
    /// Bytes of memory that an instance had, at most.
    most: AtomicU64,
}

/// A component that is linked.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(crate) linter: LinterPre<State>,
    /// Machine code of the plugin, if it is mapped from a file.
    pub(crate) mapped_code: Option<Arc<CodeUse>>,
}

impl Plugin {
    pub(crate) fn new(host: PluginHost, manifest: Manifest, digest: String, source: Source) -> Self {
        Self(Arc::new(Inner {
            host,
            manifest,
            digest,
            source,
            loaded: Mutex::default(),
            most: AtomicU64::default(),
        }))
    }

    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// BLAKE3 of the component, in hex.
    pub fn digest(&self) -> &str {
        &self.0.digest
    }

    /// This plugin as a linter. Of the environment it sees what it asks for in its manifest.
    pub fn configured(&self, mut settings: Settings) -> Configured {
        let manifest = self.manifest();
        settings
            .environment
            .retain(|name, _| manifest.capabilities.contains(&Capability::Environment(name.clone())));
        let digest = ContentHash::of(format!("{}{settings:?}", self.digest()).as_bytes());
        Configured {
            identity: Identity { name: manifest.name.clone(), version: manifest.version.clone(), digest },
            interest: Interest {
                languages: manifest.languages.clone(),
                globs: manifest.globs.clone(),
                interpreters: manifest.interpreters.clone(),
            },
            plugin: self.clone(),
            settings,
        }
    }

    /// The interfaces that it imports, with versions. Loads it.
    pub fn imports(&self) -> Result<Vec<String>, PluginError> {
        let loaded = self.loaded()?;
        let component = loaded.linter.instance_pre().component();
        let kind = component.component_type();
        Ok(kind.imports(component.engine()).map(|(name, _)| name.to_owned()).collect())
    }

    /// Whether the plugin is bundled with the program.
    pub(crate) fn is_bundled(&self) -> bool {
        matches!(self.0.source, Source::Bundled(_))
    }

    pub(crate) fn host(&self) -> &PluginHost {
        &self.0.host
    }

    pub(crate) fn name(&self) -> Name {
        self.manifest().full_name()
    }

    /// The pre-linked component; the first call loads it, and others wait for that.
    pub(crate) fn loaded(&self) -> Result<Loaded, PluginError> {
        let mut loaded = self.0.loaded.lock();
        if let Some(known) = &*loaded {
            return known.clone();
        }
        let now = catch_unwind(AssertUnwindSafe(|| self.load())).unwrap_or_else(|_| {
            let why = "the compiler panicked; please report this";
            Err(self.name().compile(&wasmtime::Error::msg(why)))
        });
        if !now.as_ref().is_err_and(PluginError::may_pass) {
            *loaded = Some(now.clone());
        }
        now
    }

    fn load(&self) -> Result<Loaded, PluginError> {
        let (shared, name) = (&self.host().0, self.name());
        let Code { component, is_mapped } = match &self.0.source {
            Source::Bundled(bundled) if bundled.machine_code.is_empty() => {
                let Name { plugin, version } = name;
                return Err(PluginError::NotBuilt { plugin, version });
            }
            Source::Bundled(bundled) => shared.machine_code.bundled(&name, bundled)?,
            Source::Component(wasm) => shared.machine_code.component(&name, self.digest(), wasm)?,
        };
        let kind = component.component_type();
        wasi::check_imports(kind.imports(component.engine()).map(|(import, _)| import), &name)?;
        let pre = shared.linker.instantiate_pre(&component);
        let linter = pre.and_then(LinterPre::new).map_err(|error| name.world(format!("{error:#}")))?;
        Ok(Loaded { linter, mapped_code: is_mapped.then(|| shared.mapped_code.add(component)) })
    }
}

/// A plugin with settings.
#[derive(Clone)]
pub struct Configured {
    identity: Identity,
    interest: Interest,
    pub(crate) plugin: Plugin,
    pub(crate) settings: Settings,
}

impl Configured {
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// Selectors of the settings that mean nothing to the plugin in the workspace that `view` shows.
    pub fn unknown_selectors(&self, view: &Arc<dyn View>) -> Result<Vec<String>, PluginError> {
        instance::on_big_stack(&self.plugin.name(), || {
            let view = self.traced(view);
            let (_, unknown) = Instance::configured(self, view, Cancel::default())?;
            Ok(unknown)
        })
    }

    /// Checks as [`Linter::check`] does, and returns the resources that it took.
    pub fn measured(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) -> Usage {
        let usage = instance::check(self, job, answer);
        self.plugin.0.most.fetch_max(usage.memory as u64, Ordering::Relaxed);
        usage
    }

    /// View that records what the plugin reads.
    pub(crate) fn traced(&self, view: &Arc<dyn View>) -> Arc<Traced> {
        self.traced_after(view, Arc::default())
    }

    /// View that records what the plugin reads, and has `reads` recorded already, which are the same in `view`.
    pub(crate) fn traced_after(&self, view: &Arc<dyn View>, reads: Arc<ReadSet>) -> Arc<Traced> {
        let view = Arc::clone(view);
        let traced =
            if self.plugin.manifest().file_sizes { Traced::new(view) } else { Traced::of_kinds(view) };
        Arc::new(traced.after(reads))
    }

    fn failure(&self, error: &PluginError) -> SetupError {
        SetupError { linter: self.identity.name.clone(), message: error.to_string(), hint: None }
    }

    fn rule_list(&self, view: &Arc<dyn View>) -> Result<Vec<Rule>, PluginError> {
        instance::on_big_stack(&self.plugin.name(), || {
            let view = self.traced(view);
            let (mut instance, _) = Instance::configured(self, view, Cancel::default())?;
            Ok(instance.rules()?.into_iter().map(convert::rule).collect())
        })
    }
}

/// Rules that the selectors of the settings turn on, for a plugin that does not list them.
fn by_selection(rules: &[Rule], settings: &Settings) -> Vec<EnabledRule> {
    let names =
        |selectors: &[String], rule: &Rule| selectors.iter().any(|it| it == "ALL" || *it == rule.code);
    let because = |rule: &Rule| match &settings.select {
        _ if names(&settings.ignore, rule) => None,
        Some(select) => names(select, rule).then_some(Because::Selected),
        None => rule.default.then_some(Because::Default),
    };
    let on = rules.iter().filter_map(|it| Some(EnabledRule { code: it.code.clone(), because: because(it)? }));
    on.collect()
}

impl Linter for Configured {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        &self.interest
    }

    fn rules(&self, view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError> {
        self.rule_list(view).map_err(|error| self.failure(&error))
    }

    fn enabled_rules(
        &self,
        view: &Arc<dyn View>,
        path: &WorkspacePath,
    ) -> Result<Option<Vec<EnabledRule>>, SetupError> {
        let enabled = instance::on_big_stack(&self.plugin.name(), || {
            let view = self.traced(view);
            let (mut instance, _) = Instance::configured(self, view, Cancel::default())?;
            match instance.enabled_rules(path)? {
                Some(rules) => Ok(rules),
                None => {
                    let rules: Vec<_> = instance.rules()?.into_iter().map(convert::rule).collect();
                    Ok(by_selection(&rules, &self.settings))
                }
            }
        });
        enabled.map(Some).map_err(|error| self.failure(&error))
    }

    /// Most memory that an instance of the plugin had so far; it need not be the same again.
    fn memory(&self) -> u64 {
        self.plugin.0.most.load(Ordering::Relaxed)
    }

    fn masking(&self) -> Masking {
        let manifest = self.plugin.manifest();
        let is_left_out = self.settings.ignore.iter().any(|it| manifest.may_ignore_syntax_errors(it));
        if is_left_out { Masking::Unknown } else { Masking::SyntaxErrors }
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        self.measured(job, answer);
    }
}
