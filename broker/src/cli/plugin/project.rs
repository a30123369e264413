//! The two files of a workspace that say which plugins it has: `broker.toml`, which people write as well, and
//! `broker.lock`.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use config::{Configs, Digest, FILE_NAMES, PluginSettings, Source, folders, root::WorkspaceRoot};
use linters::{
    LOCK_FILE, Lock, Locked,
    plugins::{Fetched, expect_signed, fetch, fetch_signatures},
};
use overlay::{Disk, io_reason};
use plugin_host::{Capability, Plugin};
use rustix::io::Errno;
use signatures::{Identity, Signed, Signer, Signers};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use super::signers::{expect_same_name, signers_of_source};
use crate::{CliError, cli::Session};

pub(in crate::cli) struct Project {
    pub(in crate::cli) root: PathBuf,
    /// The configuration, which need not be there.
    file: PathBuf,
    document: DocumentMut,
    /// Comments to write before the document.
    heading: String,
    /// Whether the lines of the file end in CRLF, which the document does not keep.
    has_crlf: bool,
    pub(in crate::cli) lock: Lock,
    /// Plugins in the configuration, also in files that it extends.
    pub(super) declared: BTreeMap<String, PluginSettings>,
    /// Held, so that no other process changes the two files meanwhile.
    _alone: fs::File,
}

/// A plugin that may be added: it was looked at.
pub(super) struct Candidate {
    pub(super) plugin: Plugin,
    pub(super) locked: Locked,
    bytes: bytes::Bytes,
}

impl Project {
    /// Opens the project of the current folder.
    pub(in crate::cli) fn open(session: &Session) -> Result<Self, CliError> {
        let home = session.process_context.home.as_deref();
        let found = WorkspaceRoot::of_paths(&session.cwd()?, &[PathBuf::from(".")], home)?;
        let root = found.workspace.root().to_owned();
        let alone = alone(&root, LOCK_TIMEOUT).map_err(|error| unwritable(&root, &error))?;
        let disk = Disk::new(&root)?;
        let file = FILE_NAMES.map(|it| root.join(it)).into_iter().find(|it| it.exists());
        let file = file.unwrap_or_else(|| root.join(FILE_NAMES[0]));
        // Understood as configuration first, so that mistakes are told as everywhere.
        let declared = Configs::new(&disk).workspace()?.plugins();
        let text = text_of(&file).map_err(|error| unwritable(&file, &error))?;
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            CliError::usage(format!("{}: {}", file.display(), error.message()))
        })?;
        let lock = Lock::read(&disk).map_err(CliError::usage)?;
        let has_crlf = text.contains("\r\n");
        Ok(Self { root, file, document, heading: String::new(), has_crlf, lock, declared, _alone: alone })
    }

    /// Gets a plugin and looks whether it can be used. It must be signed by one of `signers`, or of those that the
    /// configuration has for its source or its name.
    pub(super) fn candidate(
        &self,
        source: &Source,
        expected: Option<&Digest>,
        signers: Option<&Signers>,
        session: &Session,
    ) -> Result<Candidate, CliError> {
        let (fetched, digest) = self.fetched(source, expected, session)?;
        let of_source = signers_of_source(&self.declared, source).filter(|_| signers.is_none());
        let known = signers.or(of_source.map(|it| it.1));
        let signed = |signers: &Signers| self.signed(source, &fetched.bytes, signers, session);
        // Before the bytes are looked at in any other way.
        let mut signature = known.map(signed).transpose()?;
        let plugin = session.loader().component(&source.to_string(), fetched.bytes.clone())?;
        let manifest = plugin.manifest();
        if let Some((name, _)) = of_source {
            expect_same_name(source, name, &manifest.name)?;
        }
        if known.is_none() {
            signature = self.signers(&manifest.name).map(signed).transpose()?;
        }
        // Loads it, which fails if it wants what no plugin gets.
        plugin.imports().map_err(CliError::plugin)?;
        let locked = Locked {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            source: source.clone(),
            digest,
            manifest: fetched.manifest,
            signature,
        };
        Ok(Candidate { plugin, locked, bytes: fetched.bytes })
    }

    fn fetched(
        &self,
        source: &Source,
        expected: Option<&Digest>,
        session: &Session,
    ) -> Result<(Fetched, Digest), CliError> {
        if !matches!(source, Source::Path(_)) {
            session.messages.line(&format!("fetching {source}"));
        }
        let fetched = fetch(source, None, &self.root, &session.process_context.cancel)?;
        let digest = Digest::of(&fetched.bytes);
        match expected {
            Some(expected) if *expected != digest => {
                let remedy = "ask for the new digest, or for none";
                Err(mismatch(&source.to_string(), &digest, expected, remedy))
            }
            _ => Ok((fetched, digest)),
        }
    }

    fn signed(
        &self,
        source: &Source,
        bytes: &[u8],
        signers: &Signers,
        session: &Session,
    ) -> Result<Signed, CliError> {
        let signatures = fetch_signatures(source, signers, &self.root, &session.process_context.cancel)?;
        Ok(expect_signed(source, bytes, &signatures, signers)?)
    }

    /// The signers by any of which the plugin of this name must be signed.
    pub(super) fn signers(&self, name: &str) -> Option<&Signers> {
        self.declared.get(name)?.signed_by.as_ref()
    }

    /// Keeps the plugin in the lock file, and for this machine unless it is there anyway.
    pub(super) fn take(&mut self, candidate: &Candidate, session: &Session) -> Result<(), CliError> {
        let Candidate { locked, bytes, .. } = candidate;
        if !matches!(locked.source, Source::Path(_)) {
            let kept = session.loader().store().put(&locked.digest, bytes);
            kept.map_err(|error| CliError::files(format!("cannot keep the plugin: {error}")))?;
        }
        self.lock.put(locked.clone());
        Ok(())
    }

    /// Comments beside what is there already stay.
    pub(super) fn declare(
        &mut self,
        name: &str,
        source: &Source,
        signers: Option<&Signers>,
        grants: &[Capability],
    ) {
        let plugins = self.document.entry("plugins").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        if plugins.is_table() && plugins.get(name).is_none() {
            plugins[name] = Item::Table(Table::new());
        }
        set(&mut plugins[name]["source"], source.to_string().into());
        if let Some(signers) = signers {
            let signers: toml_edit::Array = signers.iter().map(signer).collect();
            set(&mut plugins[name]["signed-by"], signers.into());
        }
        if !grants.is_empty() {
            let grants: toml_edit::Array = grants.iter().map(ToString::to_string).collect();
            set(&mut plugins[name]["grants"], grants.into());
        }
    }

    /// Removes the declaration of a plugin. Returns whether this file had it.
    pub(super) fn undeclare(&mut self, name: &str) -> bool {
        let before = self.document.to_string();
        let Some(plugins) = self.document.get_mut("plugins").and_then(Item::as_table_like_mut) else {
            return false;
        };
        let was = plugins.remove(name);
        if plugins.is_empty() {
            self.document.remove("plugins");
        }
        if let Some(table) = was.as_ref().and_then(Item::as_table) {
            self.heading = heading(table).filter(|it| before.starts_with(it)).unwrap_or_default();
        }
        was.is_some()
    }

    /// Whether the configuration, as the files are now, declares the plugin.
    pub(super) fn still_declares(&self, name: &str) -> Result<bool, CliError> {
        let declared = Configs::new(&Disk::new(&self.root)?).workspace()?.plugins();
        Ok(declared.get(name).is_some_and(|it| it.source.is_some()))
    }

    pub(in crate::cli) fn write_lock(&self) -> Result<(), CliError> {
        write(&self.root.join(LOCK_FILE), &self.lock.to_text())
    }

    pub(super) fn write_configuration(&self) -> Result<(), CliError> {
        let text = self.heading.clone() + &self.document.to_string();
        write(
            &self.file,
            &if self.has_crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text },
        )
    }
}

/// Error of content whose digest is not the expected one.
pub(super) fn mismatch(what: &str, found: &Digest, expected: &Digest, remedy: &str) -> CliError {
    let message = format!("{what} is not what is expected: it has the digest {found}, not {expected}");
    CliError::plugin(message).hint(format!("somebody changed it; if that is meant, {remedy}"))
}

/// Comments that stand apart from the table below them, and so are not about it.
fn heading(table: &Table) -> Option<String> {
    let (apart, _) = table.decor().prefix()?.as_str()?.rsplit_once("\n\n")?;
    Some(format!("{apart}\n"))
}

/// A signer as the configuration has it.
fn signer(signer: &Signer) -> Value {
    match signer {
        Signer::Minisign(key) => String::from(key.clone()).into(),
        Signer::Key(key) => String::from(key.clone()).into(),
        Signer::Keyless(Identity { identity, issuer }) => {
            InlineTable::from_iter([("identity", identity), ("issuer", issuer)]).into()
        }
    }
}

/// A value in place of another one, with the comments that stand beside that.
fn set(item: &mut Item, mut new: Value) {
    if let Some(before) = item.as_value() {
        *new.decor_mut() = before.decor().clone();
    }
    *item = Item::Value(new);
}

/// Waits a little until no other process changes the files in `root`; held until the file is closed.
#[expect(clippy::disallowed_methods, reason = "a folder is opened to be locked, not to be read")]
fn alone(root: &Path, patience: Duration) -> io::Result<fs::File> {
    let folder = fs::File::open(root)?;
    let end = Instant::now() + patience;
    loop {
        match rustix::fs::flock(&folder, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(folder),
            Err(Errno::WOULDBLOCK) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
            Err(Errno::WOULDBLOCK) => {
                return Err(io::Error::other("another Broker is changing its plugins or tools"));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Time limit for another process, which may be fetching a plugin.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the text of a file; empty if there is none. A file that the user keeps from being written is an error before
/// anything is fetched.
fn text_of(file: &Path) -> io::Result<String> {
    match folders::read(file) {
        Ok(_) if fs::metadata(file)?.permissions().readonly() => Err(io::ErrorKind::PermissionDenied.into()),
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    folders::replace(file, text.as_bytes()).map_err(|error| unwritable(file, &error))
}

fn unwritable(file: &Path, error: &io::Error) -> CliError {
    CliError::files(format!("cannot use {}: {}", file.display(), io_reason(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> Project {
        Project {
            root: PathBuf::new(),
            file: PathBuf::new(),
            document: text.parse().unwrap(),
            heading: String::new(),
            has_crlf: false,
            lock: Lock::default(),
            declared: BTreeMap::new(),
            _alone: tempfile::tempfile().unwrap(),
        }
    }

    #[test]
    fn signers_are_replaced_only_by_others() {
        const KEY: &str = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH";
        const OTHER_KEY: &str = "RWR4ldWMq9ywhe5/uGmYUGoP599GIo2Z06960m2CItZaMjN2qM29y5ag";
        let mut project = project("");
        let mut declared = |keys: &[&str]| {
            let signers = Signers::try_from(keys.iter().map(|it| it.parse().unwrap()).collect::<Vec<_>>());
            project.declare("a", &"a.wasm".parse().unwrap(), signers.ok().as_ref(), &[]);
            project.document.to_string()
        };
        assert_eq!(declared(&[]), "[plugins.a]\nsource = \"a.wasm\"\n");
        let signed = format!("[plugins.a]\nsource = \"a.wasm\"\nsigned-by = [\"{KEY}\"]\n");
        assert_eq!(declared(&[KEY]), signed);
        assert_eq!(declared(&[]), signed, "without keys it stays as it is");
        assert_eq!(declared(&[OTHER_KEY]), signed.replace(KEY, OTHER_KEY));
        let pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";
        let both = declared(&[pem, "identity=https://a.example/b@c,issuer=https://d.example"]);
        insta::assert_snapshot!(both, @r#"
[plugins.a]
source = "a.wasm"
signed-by = ["""
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
""", { identity = "https://a.example/b@c", issuer = "https://d.example" }]
"#);
        let view = overlay::Memory::from_files([("broker.toml", both.as_str())]).unwrap();
        let read = Configs::new(&view).workspace().unwrap().plugins().remove("a").unwrap();
        insta::assert_snapshot!(read.signed_by.unwrap(), @"key sha256:a1e9156054e04fac or https://a.example/b@c (issuer https://d.example)");
    }

    #[test]
    fn another_process_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let first = alone(folder.path(), Duration::ZERO).unwrap();
        let second = alone(folder.path(), Duration::ZERO).unwrap_err();
        assert_eq!(second.to_string(), "another Broker is changing its plugins or tools");
        drop(first);
        alone(folder.path(), Duration::ZERO).unwrap();
    }
}
