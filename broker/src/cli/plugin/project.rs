//! The two files of a workspace that say which plugins it has: `broker.toml`, which people write as well, and
//! `broker.lock`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use overlay::{Disk, View};
use plugin_host::{Capability, Plugin};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::{
    CliError,
    cli::Session,
    config::{Configs, FILE_NAMES, PluginSettings},
    home,
    plugins::{Digest, LOCK_FILE, Lock, Locked, Source, fetch},
    workspace::{Workspace, reason},
};

pub(super) struct Project {
    pub(super) root: PathBuf,
    /// The configuration, which need not be there.
    file: PathBuf,
    document: DocumentMut,
    pub(super) lock: Lock,
    disk: Arc<dyn View>,
}

/// A plugin that may be added: it was looked at.
pub(super) struct Candidate {
    pub(super) plugin: Plugin,
    pub(super) locked: Locked,
    bytes: bytes::Bytes,
}

impl Project {
    /// That of the current folder.
    pub(super) fn open(session: &Session) -> Result<Self, CliError> {
        let home = session.surroundings.home.as_deref();
        let found = Workspace::of_paths(&session.cwd()?, &[PathBuf::from(".")], home)?;
        let root = found.workspace.root().to_owned();
        let disk: Arc<dyn View> = Arc::new(Disk::new(&root)?);
        let file = FILE_NAMES.map(|it| root.join(it)).into_iter().find(|it| it.exists());
        let file = file.unwrap_or_else(|| root.join(FILE_NAMES[0]));
        // Understood as configuration first, so that mistakes are told as everywhere.
        Configs::new(&*disk).workspace()?;
        let text = match home::read(&file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unwritable(&file, &error)),
        };
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            CliError::usage(format!("{}: {}", file.display(), error.message()))
        })?;
        let lock = Lock::read(&*disk).map_err(CliError::usage)?;
        Ok(Self { root, file, document, lock, disk })
    }

    /// What the configuration says of plugins, also in files that it extends.
    pub(super) fn declared(&self) -> Result<Vec<(String, PluginSettings)>, CliError> {
        Ok(Configs::new(&*self.disk).workspace()?.plugins().into_iter().collect())
    }

    /// Gets a plugin and looks whether it can be used with what is granted to it.
    pub(super) fn candidate(
        &self,
        source: &Source,
        expected: Option<&Digest>,
        session: &Session,
    ) -> Result<Candidate, CliError> {
        if !matches!(source, Source::Path(_)) {
            session.messages.line(&format!("fetching {source}"));
        }
        let fetched = fetch(source, None, &self.root, &session.surroundings.cancel)?;
        let digest = Digest::of(&fetched.bytes);
        if let Some(expected) = expected.filter(|it| **it != digest) {
            return Err(mismatch(&source.to_string(), &digest, expected));
        }
        let plugin = session.loader.component(&source.to_string(), fetched.bytes.clone())?;
        // Loads it, which fails if it wants what no plugin gets.
        plugin.imports().map_err(CliError::plugin)?;
        let manifest = plugin.manifest();
        let locked = Locked {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            source: source.clone(),
            digest,
            manifest: fetched.manifest,
        };
        Ok(Candidate { plugin, locked, bytes: fetched.bytes })
    }

    /// Keeps the plugin for this machine, and in the lock file.
    pub(super) fn take(&mut self, candidate: &Candidate, session: &Session) -> Result<(), CliError> {
        let kept = session.loader.store().put(&candidate.locked.digest, &candidate.bytes);
        kept.map_err(|error| CliError::files(format!("cannot keep the plugin: {error}")))?;
        self.lock.put(candidate.locked.clone());
        Ok(())
    }

    pub(super) fn declare(&mut self, name: &str, source: &Source, grants: &[Capability]) {
        let plugins = self.document.entry("plugins").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        if plugins.is_table() && plugins.get(name).is_none() {
            plugins[name] = Item::Table(Table::new());
        }
        plugins[name]["source"] = value(source.to_string());
        if !grants.is_empty() {
            plugins[name]["grants"] =
                value(grants.iter().map(ToString::to_string).collect::<toml_edit::Array>());
        }
    }

    /// Whether it stood in this file.
    pub(super) fn undeclare(&mut self, name: &str) -> bool {
        let Some(plugins) = self.document.get_mut("plugins").and_then(Item::as_table_like_mut) else {
            return false;
        };
        let was = plugins.remove(name).is_some();
        if plugins.is_empty() {
            self.document.remove("plugins");
        }
        was
    }

    pub(super) fn write_lock(&self) -> Result<(), CliError> {
        write(&self.root.join(LOCK_FILE), &self.lock.to_text())
    }

    pub(super) fn write_configuration(&self) -> Result<(), CliError> {
        write(&self.file, &self.document.to_string())
    }
}

/// What is there is not what was asked for.
pub(super) fn mismatch(what: &str, found: &Digest, expected: &Digest) -> CliError {
    let error = CliError::plugin(format!(
        "{what} is not what is expected: it has the digest {found}, not {expected}"
    ));
    error.hint("somebody changed it; if that is meant, ask for the new digest, or for none")
}

/// All of it or none is there, also if this is interrupted. Keeps a link a link, and who may read the file.
fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let new = file.with_extension(format!("new{}", std::process::id()));
    let written = fs::write(&new, text)
        .and_then(|()| match fs::metadata(&file) {
            Ok(before) => fs::set_permissions(&new, before.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs::File::options().write(true).open(&new)?.sync_all())
        .and_then(|()| fs::rename(&new, &file));
    written.map_err(|error| {
        let _there_is_nothing_to_clean = fs::remove_file(&new);
        unwritable(&file, &error)
    })
}

fn unwritable(file: &Path, error: &io::Error) -> CliError {
    CliError::files(format!("cannot use {}: {}", file.display(), reason(error)))
}
