//! The plugins that a workspace adds to those of the program, and what it grants to any of them.
//!
//! `broker.toml` says which there are, `broker.lock` which bytes those are. Both are read through the view, so a branch can
//! change them; but what is granted the disk says, of the bytes that the disk has. What is missing, changed or not granted
//! is not run, and an answer without it is not complete.

use std::{
    collections::{BTreeMap, HashMap},
    env, io,
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::Arc,
};

use bytes::Bytes;
use config::{ConfigError, Configs, Digest, PluginSettings, SetupFailure, Source};
use overlay::{ContentHash, View, WorkspacePath, io_reason};
use parking_lot::Mutex;
use plugin_host::{Capability, Manifest, Plugin, PluginHost};
use signatures::{Signed, Signers};

use super::{
    Plugins, broken,
    signed::{expect_signature, expect_signer},
    store::{Store, read_plugin, too_large},
};
use crate::{
    lock::{LOCK_FILE, Lock, Locked},
    trust::Trusted,
};

/// Opens what `broker.lock` names, each once.
pub(super) struct PluginCache {
    /// `None`: no plugin can be opened.
    host: Option<PluginHost>,
    store: Store,
    opened: Mutex<HashMap<OpenedAs, Plugin>>,
}

/// Key of an open plugin: its entry in the lock file, and the file that it was read from.
type OpenedAs = (Digest, Option<Signed>, Seen);

/// Plugins that are kept open: an author builds one again and again beside the same daemon.
const MAX_CACHED_PLUGINS: usize = 64;

/// Identity of a plugin file, which is compared without reading the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Seen {
    InView(ContentHash),
    OnDisk { size: u64, inode: u64, changed: (i64, i64) },
    InStore,
}

/// A workspace whose plugins are asked for.
pub struct PluginContext<'s> {
    pub view: &'s dyn View,
    /// View of the disk, which no branch can change.
    pub disk: &'s dyn View,
    pub root: &'s Path,
    /// Variables of the shell that asks; `None` if it is this process's.
    pub told: Option<&'s BTreeMap<String, String>>,
}

impl<'s> PluginContext<'s> {
    /// Context of a workspace as it is on the disk.
    pub fn on_disk(disk: &'s dyn View, root: &'s Path) -> Self {
        Self { view: disk, disk, root, told: None }
    }
}

impl PluginCache {
    pub(super) fn new(host: Option<PluginHost>, store: Store) -> Self {
        Self { host, store, opened: Mutex::default() }
    }

    pub(super) fn host(&self) -> Result<&PluginHost, SetupFailure> {
        self.host.as_ref().ok_or_else(|| SetupFailure::new("plugins are not used here"))
    }

    /// The plugin that the lock file has under this name.
    fn plugin(
        &self,
        name: &str,
        source: &Source,
        signers: Option<&Signers>,
        lock: &Lock,
        context: &PluginContext<'_>,
    ) -> Result<Plugin, String> {
        let outside = is_outside(source);
        if outside {
            expect_on_disk(name, source, context)?;
        }
        let locked = lock.find(name).filter(|it| it.source == *source).ok_or_else(|| {
            format!("plugin `{name}` from {source} is not in {LOCK_FILE}; `broker plugin update {name}` puts it there")
        })?;
        expect_signer(locked, signers)?;
        let seen = seen(source, context).map_err(|error| unreadable(locked, &error))?;
        let key = (locked.digest.clone(), locked.signature.clone(), seen);
        let opened = || self.opened.lock();
        let known = opened().get(&key).cloned();
        let plugin = match known {
            Some(plugin) => plugin,
            None => self.open(locked, context)?,
        };
        expect_name(name, source, plugin.manifest())?;
        let mut opened = opened();
        if opened.len() >= MAX_CACHED_PLUGINS {
            opened.clear();
        }
        Ok(opened.entry(key).or_insert(plugin).clone())
    }

    fn open(&self, locked: &Locked, context: &PluginContext<'_>) -> Result<Plugin, String> {
        let Locked { name, source, digest, .. } = locked;
        let bytes = match source {
            Source::Path(path) => read(path, context).map_err(|error| unreadable(locked, &error))?,
            Source::Url(_) | Source::Oci(_) => self.fetched(name, source, digest)?,
        };
        let found = Digest::of(&bytes);
        if found != *digest && is_outside(source) {
            return Err(not_told(name, source));
        }
        if found != *digest {
            return Err(format!(
                "plugin `{name}` at {source} has digest {found}, but {LOCK_FILE} has {digest}; \
                 run `broker plugin update {name}` to accept it"
            ));
        }
        expect_signature(locked, &bytes)?;
        let host = self.host().map_err(|it| it.message)?;
        host.component(&source.to_string(), bytes).map_err(|error| error.to_string())
    }

    fn fetched(&self, name: &str, source: &Source, digest: &Digest) -> Result<Bytes, String> {
        let damaged =
            |error| format!("plugin `{name}` is not used: {error}; `broker plugin install` fetches it again");
        self.store.get(digest).map_err(damaged)?.ok_or_else(|| {
            format!(
                "plugin `{name}` from {source} is not on this machine; `broker plugin install` fetches it"
            )
        })
    }
}

/// Whether the source is a file that no view shows.
fn is_outside(source: &Source) -> bool {
    matches!(source, Source::Path(path) if WorkspacePath::new(path).is_err())
}

/// A file outside of the workspace is read only where the user's own configuration names it: otherwise the author of a
/// branch, or of an untrusted workspace, could learn which files the user has.
fn expect_on_disk(name: &str, source: &Source, context: &PluginContext<'_>) -> Result<(), String> {
    let settings = Configs::new(context.disk).workspace().map(|it| it.plugins()).unwrap_or_default();
    if settings.get(name).and_then(|it| it.source.as_ref()) != Some(source) {
        return Err(format!(
            "plugin `{name}` lies outside of the workspace, at {source}, and only the broker.toml on the disk can name such a file"
        ));
    }
    if !Trusted::of_user().is_some_and(|it| it.holds(context.root)) {
        return Err(format!(
            "plugin `{name}` lies outside of the workspace, at {source}, which counts only in a workspace that is trusted: \
             see `broker trust`"
        ));
    }
    Ok(())
}

/// Error for a file outside of the workspace, the same for every cause: a change of the lock file must not reveal which files
/// exist there, or their contents.
fn not_told(name: &str, source: &Source) -> String {
    format!(
        "cannot use plugin `{name}` at {source}: the file is missing, unreadable, or differs from {LOCK_FILE}; \
         run `broker plugin update {name}`"
    )
}

fn unreadable(Locked { name, source, .. }: &Locked, error: &io::Error) -> String {
    match is_outside(source) {
        true => not_told(name, source),
        false => format!("cannot read plugin `{name}` at {source}: {}", io_reason(error)),
    }
}

/// Identity of the file that the plugin would be read from now.
fn seen(source: &Source, context: &PluginContext<'_>) -> io::Result<Seen> {
    let Source::Path(path) = source else { return Ok(Seen::InStore) };
    match WorkspacePath::new(path) {
        Ok(path) => context.view.hash(&path).map(Seen::InView),
        Err(_) => std::fs::metadata(context.root.join(path)).map(|it| {
            let changed = (it.ctime(), it.ctime_nsec());
            Seen::OnDisk { size: it.size(), inode: it.ino(), changed }
        }),
    }
}

fn read(path: &str, context: &PluginContext<'_>) -> io::Result<Bytes> {
    match WorkspacePath::new(path) {
        Ok(path) if too_large(context.view.metadata(&path)?.size) => Err(io::ErrorKind::FileTooLarge.into()),
        Ok(path) => context.view.read(&path),
        Err(_) => read_plugin(&context.root.join(path)).map(Bytes::from),
    }
}

/// A plugin's rules are named by what it calls itself.
pub fn expect_name(name: &str, source: &Source, manifest: &Manifest) -> Result<(), String> {
    match manifest.name.as_str() {
        own if own == name => Ok(()),
        own => Err(format!(
            "plugin `{name}` from {source} calls itself `{own}`: give it that name in broker.toml"
        )),
    }
}

/// In a sentence.
pub fn listed(capabilities: &[&Capability]) -> String {
    capabilities.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

/// Capabilities that a plugin asks for and is not granted.
pub fn not_granted<'m>(manifest: &'m Manifest, grants: &[Capability]) -> Vec<&'m Capability> {
    manifest.capabilities.iter().filter(|it| !grants.contains(it)).collect()
}

impl Plugins {
    /// These, with what the configuration of a workspace adds to them and grants them.
    pub fn in_workspace(self: &Arc<Self>, context: &PluginContext<'_>) -> Result<Arc<Self>, ConfigError> {
        let declared = Configs::new(context.view).workspace()?.plugins();
        let asks = self.usable.iter().any(|it| !it.manifest().capabilities.is_empty());
        if declared.is_empty() && !asks {
            return Ok(Arc::clone(self));
        }
        let mut plugins = Self::clone(self);
        plugins.add_declared(&declared, context);
        plugins.keep_granted(context);
        Ok(Arc::new(plugins))
    }

    fn add_declared(&mut self, declared: &BTreeMap<String, PluginSettings>, context: &PluginContext<'_>) {
        let lock = Lock::read(context.view);
        for (name, settings) in declared.iter().filter(|(name, _)| !self.named.contains(*name)) {
            let plugin = match (&settings.source, &lock) {
                (None, _) if self.find(name).is_some() => continue,
                (None, _) => Err(format!("plugin `{name}` has no `source` in broker.toml")),
                (Some(source), Ok(lock)) => {
                    self.cache.plugin(name, source, settings.signed_by.as_ref(), lock, context)
                }
                (Some(_), Err(error)) => Err(error.clone()),
            };
            // The plugin replaces the bundled one of the same name, which must not answer for it.
            self.usable.retain(|it| it.manifest().name != *name);
            match plugin {
                Ok(plugin) => {
                    let locked = lock.as_ref().ok().and_then(|it| it.find(name));
                    self.locked.extend(locked.map(|it| (name.clone(), it.digest.clone())));
                    self.usable.push(plugin);
                }
                Err(reason) => self.broken.push(broken(name.clone(), reason)),
            }
        }
        self.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
    }

    /// Without what it asks for, a plugin is not used.
    fn keep_granted(&mut self, context: &PluginContext<'_>) {
        let all = std::mem::take(&mut self.usable);
        let (asking, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|it| !it.manifest().capabilities.is_empty());
        self.usable = others;
        for plugin in asking {
            let name = plugin.manifest().name.clone();
            match self.granted(&plugin, context) {
                Ok(environment) => {
                    self.environment.insert(name, environment);
                    self.usable.push(plugin);
                }
                Err(reason) => self.broken.push(broken(name, reason)),
            }
        }
        self.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
    }

    /// The variables that the plugin sees. Nothing that a branch says counts here, nor what a workspace says that the user
    /// does not trust.
    fn granted(
        &self,
        plugin: &Plugin,
        context: &PluginContext<'_>,
    ) -> Result<BTreeMap<String, String>, String> {
        let name = &plugin.manifest().name;
        let settings = Configs::new(context.disk).workspace().map(|it| it.plugins()).unwrap_or_default();
        let grants = settings.get(name).and_then(|it| it.grants.clone()).unwrap_or_default();
        let missing = not_granted(plugin.manifest(), &grants);
        if !missing.is_empty() {
            return Err(format!(
                "plugin `{name}` asks for {}, which it is not granted; if it may have that, say so in `grants` under \
                 `[plugins.{name}]` in broker.toml",
                listed(&missing)
            ));
        }
        if !self.named.contains(name) && !is_as_on_disk(name, context) {
            return Err(format!(
                "plugin `{name}` on the branch differs from the one on the disk; grants hold only for the latter"
            ));
        }
        if !Trusted::of_user().is_some_and(|it| it.holds(context.root)) {
            let asked = &plugin.manifest().capabilities[0];
            return Err(format!(
                "plugin `{name}` asks for `{asked}`, and a grant counts only in a workspace that is trusted: see `broker trust`"
            ));
        }
        variables(plugin.manifest(), context.told)
    }

    /// Hash that distinguishes these plugins from those of another workspace: of the bytes of each, and what it is granted.
    pub fn fingerprint(&self) -> ContentHash {
        let usable: Vec<_> = self.usable.iter().map(Plugin::digest).collect();
        ContentHash::of(format!("{usable:?}{:?}{:?}", self.environment, self.broken).as_bytes())
    }
}

/// Whether the lock file on the disk has the same digest for the plugin as that of the view, which is what is run.
fn is_as_on_disk(name: &str, context: &PluginContext<'_>) -> bool {
    let digest = |view| Lock::read(view).ok()?.find(name).map(|it| it.digest.clone());
    let used = digest(context.view);
    used.is_some() && used == digest(context.disk)
}

/// Environment variables that the plugin asks for, without those that are not set.
fn variables(
    manifest: &Manifest,
    told: Option<&BTreeMap<String, String>>,
) -> Result<BTreeMap<String, String>, String> {
    let mut variables = BTreeMap::new();
    let value = |name: &String| match told {
        Some(told) => told.get(name).cloned().ok_or(env::VarError::NotPresent),
        None => env::var(name),
    };
    for Capability::Environment(name) in &manifest.capabilities {
        match value(name) {
            Ok(value) => _ = variables.insert(name.clone(), value),
            Err(env::VarError::NotPresent) => {}
            Err(env::VarError::NotUnicode(_)) => {
                return Err(format!(
                    "plugin `{}` asks for `env:{name}`, whose value is not UTF-8",
                    manifest.name
                ));
            }
        }
    }
    Ok(variables)
}
