//! The plugins that a workspace adds to those of the program, and what it grants to any of them.
//!
//! `broker.toml` says which there are, `broker.lock` which bytes those are. Both are read through the view, so a branch can
//! change them. What is missing, changed or not granted is not run, and an answer without it is not complete.

use std::{
    collections::{BTreeMap, HashMap},
    env, io,
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use overlay::{ContentHash, View, WorkspacePath};
use plugin_host::{Capability, Plugin, PluginHost};

use super::{
    Plugins, broken,
    lock::{FILE_NAME, Lock, Locked},
    source::{Digest, Source},
    store::Store,
};
use crate::{
    config::{Configs, PluginSettings},
    home,
    trust::Trusted,
};

/// Opens what `broker.lock` names, each once.
pub(crate) struct Shelf {
    pub(super) host: PluginHost,
    pub(super) store: Store,
    opened: Mutex<HashMap<(Digest, Seen), Result<Plugin, String>>>,
}

/// What tells without reading it whether a file is the one that was opened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Seen {
    InView(ContentHash),
    OnDisk { size: u64, inode: u64, changed: (i64, i64) },
    InStore,
}

/// A workspace whose plugins are asked for.
struct Site<'s> {
    view: &'s dyn View,
    root: &'s Path,
}

impl Shelf {
    pub(super) fn new(host: PluginHost, store: Store) -> Self {
        Self { host, store, opened: Mutex::default() }
    }

    /// The plugin that the lock file has under this name.
    fn plugin(&self, name: &str, source: &Source, lock: &Lock, site: &Site<'_>) -> Result<Plugin, String> {
        let locked = lock.find(name).filter(|it| it.source == *source).ok_or_else(|| {
            format!("plugin `{name}` from {source} is not in {FILE_NAME}; `broker plugin update {name}` puts it there")
        })?;
        let seen = seen(source, site).map_err(|error| format!("cannot read plugin `{name}`: {error}"))?;
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (locked.digest.clone(), seen);
        if let Some(known) = opened().get(&key) {
            return known.clone();
        }
        let plugin = self.open(locked, &key.1, site);
        // What is missing may be there the next time, with nothing that tells.
        if plugin.is_ok() || key.1 != Seen::InStore {
            opened().insert(key, plugin.clone());
        }
        plugin
    }

    fn open(&self, locked: &Locked, seen: &Seen, site: &Site<'_>) -> Result<Plugin, String> {
        let Locked { name, source, digest, .. } = locked;
        let cannot = |error: io::Error| format!("cannot read plugin `{name}`: {error}");
        let bytes = match seen {
            Seen::InStore => self.store.get(digest).map_err(|error| {
                format!("plugin `{name}` is not used: {error}; `broker plugin install` fetches it again")
            })?,
            Seen::InView(_) | Seen::OnDisk { .. } => Some(read(source, site).map_err(cannot)?),
        };
        let bytes = bytes.ok_or_else(|| {
            format!(
                "plugin `{name}` from {source} is not on this machine; `broker plugin install` fetches it"
            )
        })?;
        let found = Digest::of(&bytes);
        if found != *digest {
            return Err(format!(
                "plugin `{name}` at {source} is not the one in {FILE_NAME}: {found} is there, {digest} is expected; \
                 if that is meant, `broker plugin update {name}`"
            ));
        }
        let plugin = self.host.component(&source.to_string(), bytes).map_err(|error| error.to_string())?;
        match plugin.manifest().name.as_str() {
            own if own == name => Ok(plugin),
            own => Err(format!("plugin `{name}` calls itself `{own}`: give it that name in broker.toml")),
        }
    }
}

/// Where the plugin would be read from now. What is not where its source says may still be in the store.
fn seen(source: &Source, site: &Site<'_>) -> io::Result<Seen> {
    let Source::Path(path) = source else { return Ok(Seen::InStore) };
    let seen = match WorkspacePath::new(path) {
        Ok(path) => site.view.hash(&path).map(Seen::InView),
        Err(_) => std::fs::metadata(site.root.join(path)).map(|it| {
            let changed = (it.ctime(), it.ctime_nsec());
            Seen::OnDisk { size: it.size(), inode: it.ino(), changed }
        }),
    };
    match seen {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Seen::InStore)
        }
        seen => seen,
    }
}

fn read(source: &Source, site: &Site<'_>) -> io::Result<Bytes> {
    let Source::Path(path) = source else { return Err(io::ErrorKind::NotFound.into()) };
    match WorkspacePath::new(path) {
        Ok(path) => site.view.read(&path),
        Err(_) => home::read(&site.root.join(path)).map(Bytes::from),
    }
}

impl Plugins {
    /// These, with what the configuration of the workspace that `view` shows adds to them and grants them.
    ///
    /// A configuration that makes no sense adds nothing; whoever uses it tells of it.
    pub(crate) fn in_workspace(self: &Arc<Self>, view: &dyn View, root: &Path) -> Arc<Self> {
        let declared = Configs::new(view).workspace().map(|it| it.plugins()).unwrap_or_default();
        let asks = self.usable.iter().any(|it| !it.manifest().capabilities.is_empty());
        if declared.is_empty() && !asks {
            return Arc::clone(self);
        }
        let mut plugins = Self::clone(self);
        plugins.add_declared(&declared, &Site { view, root });
        plugins.keep_granted(&declared, root);
        Arc::new(plugins)
    }

    fn add_declared(&mut self, declared: &BTreeMap<String, PluginSettings>, site: &Site<'_>) {
        let lock = Lock::read(site.view);
        for (name, settings) in declared {
            let Some(source) = settings.source.as_ref().filter(|_| !self.named.contains(name)) else {
                continue;
            };
            let plugin = match &lock {
                Ok(lock) => self.shelf.plugin(name, source, lock, site),
                Err(error) => Err(error.clone()),
            };
            // It is asked for in place of the one that the program carries, which must not answer for it.
            self.usable.retain(|it| it.manifest().name != *name);
            match plugin {
                Ok(plugin) => self.usable.push(plugin),
                Err(reason) => self.broken.push(broken(name.clone(), reason)),
            }
        }
        self.usable.sort_by(|a, b| a.manifest().name.cmp(&b.manifest().name));
    }

    /// Without what it asks for, a plugin is not used.
    fn keep_granted(&mut self, declared: &BTreeMap<String, PluginSettings>, root: &Path) {
        let is_trusted = || Trusted::of_user().is_some_and(|it| it.holds(root));
        let none = PluginSettings::default();
        for plugin in std::mem::take(&mut self.usable) {
            let name = &plugin.manifest().name;
            let grants = &declared.get(name).unwrap_or(&none).grants;
            match granted(&plugin, grants, is_trusted) {
                Ok(environment) => {
                    if !environment.is_empty() {
                        self.environment.insert(name.clone(), environment);
                    }
                    self.usable.push(plugin);
                }
                Err(reason) => self.broken.push(broken(name.clone(), reason)),
            }
        }
    }

    /// What tells these from those of another workspace: the bytes of each, and what it is granted.
    pub(crate) fn fingerprint(&self) -> ContentHash {
        let usable: Vec<_> = self.usable.iter().map(Plugin::digest).collect();
        ContentHash::of(format!("{usable:?}{:?}{:?}", self.environment, self.broken).as_bytes())
    }
}

/// The variables that the plugin sees.
fn granted(
    plugin: &Plugin,
    grants: &[Capability],
    is_trusted: impl FnOnce() -> bool,
) -> Result<BTreeMap<String, String>, String> {
    let manifest = plugin.manifest();
    let (name, asked) = (&manifest.name, &manifest.capabilities);
    if asked.is_empty() {
        return Ok(BTreeMap::new());
    }
    if let Some(missing) = asked.iter().find(|it| !grants.contains(it)) {
        return Err(format!(
            "plugin `{name}` asks for `{missing}`, which it is not granted; if it may have that, say \
             `grants = [\"{missing}\"]` under `[plugins.{name}]` in broker.toml"
        ));
    }
    if !is_trusted() {
        return Err(format!(
            "plugin `{name}` asks for `{}`, and a grant counts only in a workspace that is trusted: see `broker trust`",
            asked[0]
        ));
    }
    let variable = |it: &Capability| match it {
        Capability::Environment(name) => Some((name.clone(), env::var(name).ok()?)),
    };
    Ok(asked.iter().filter_map(variable).collect())
}
