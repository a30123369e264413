//! `broker plugin update`, `install` and `remove`

use std::collections::BTreeMap;

use config::{Digest, Source, closest};
use linters::{
    LOCK_FILE, Locked,
    plugins::{Store, expect_name, expect_signature, expect_signer, fetch},
};
use plugin_host::Capability;

use super::{
    add::{expect_granted, signed_by},
    project::{Project, mismatch},
};
use crate::{CliError, Exit, cli::Session};

/// Take what the plugins' sources have now, and write it to `broker.lock`
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct UpdateArgs {
    /// Only these [default: all that `broker.toml` names]
    name: Vec<String>,
}

/// Fetch what `broker.lock` names and is not on this machine
///
/// For a fresh clone. What the sources have now does not matter: only what has the digests of `broker.lock` is taken.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct InstallArgs {}

/// Take a plugin out of the workspace's `broker.toml` and `broker.lock`
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RemoveArgs {
    /// The plugin's name
    name: String,
}

pub(in crate::cli) fn update(args: &UpdateArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    let sources = sources(&project);
    if let Some(unknown) = args.name.iter().find(|it| !sources.contains_key(*it)) {
        return Err(not_added(unknown, &sources));
    }
    let mut told = String::new();
    for (name, (source, grants)) in &sources {
        if !args.name.is_empty() && !args.name.contains(name) {
            continue;
        }
        let candidate = project.candidate(source, None, project.signers(name), session)?;
        expect_name(name, source, candidate.plugin.manifest()).map_err(CliError::plugin)?;
        expect_granted(&candidate, grants)?;
        told += &changed(project.lock.find(name), &candidate.locked);
        project.take(&candidate, session)?;
    }
    project.lock.keep(|it| sources.contains_key(&it.name));
    project.write_lock()?;
    session.print(&told)?;
    Ok(Exit::Clean)
}

/// The plugins that the configuration adds: where each comes from, and what it is granted.
type Sources = BTreeMap<String, (Source, Vec<Capability>)>;

fn sources(project: &Project) -> Sources {
    let declared = project.declared.clone().into_iter();
    declared.filter_map(|(name, it)| Some((name, (it.source?, it.grants.unwrap_or_default())))).collect()
}

fn changed(before: Option<&Locked>, now: &Locked) -> String {
    let Locked { name, version, digest, signature, .. } = now;
    let signed = signed_by(signature.as_ref());
    match before {
        Some(before) if before.digest == *digest => format!("{name} {version}: unchanged{signed}\n"),
        Some(before) => format!("{name} {} -> {version}, {digest}{signed}\n", before.version),
        None => format!("{name} {version}, {digest}{signed}\n"),
    }
}

/// Installs all plugins of the project. One that cannot be had does not keep the others from being fetched.
pub(in crate::cli) fn install(session: &mut Session) -> Result<Exit, CliError> {
    let project = Project::open(session)?;
    let (mut fetched, mut there, mut failed) = (0, 0, 0);
    for (name, (source, _)) in &sources(&project) {
        match install_one(name, source, &project, session) {
            Ok(true) => fetched += 1,
            Ok(false) => there += 1,
            Err(error) => {
                session.messages.error(&error);
                failed += 1;
            }
        }
    }
    session.print(&format!("{fetched} fetched, {there} there already\n"))?;
    Ok(if failed == 0 { Exit::Clean } else { Exit::Abnormal })
}

/// Installs a plugin as it is in the lock file. Returns whether it had to be fetched.
fn install_one(name: &str, source: &Source, project: &Project, session: &Session) -> Result<bool, CliError> {
    let update = format!("`broker plugin update {name}`");
    let locked = project.lock.find(name).filter(|it| it.source == *source).ok_or_else(|| {
        let error = CliError::plugin(format!("plugin `{name}` from {source} is not in {LOCK_FILE}"));
        error.hint(format!("{update} puts it there"))
    })?;
    expect_signer(locked, project.signers(name)).map_err(CliError::plugin)?;
    let store = session.loader().store();
    let is_file = matches!(source, Source::Path(_));
    if !is_file && is_stored(locked, &store)? {
        return Ok(false);
    }
    if !is_file {
        session.messages.line(&format!("fetching {source}"));
    }
    let got = fetch(source, locked.manifest.as_ref(), &project.root, &session.process_context.cancel)?;
    let digest = Digest::of(&got.bytes);
    if digest != locked.digest {
        return Err(mismatch(&format!("plugin `{name}` from {source}"), &digest, &locked.digest, &update));
    }
    expect_signature(locked, &got.bytes).map_err(CliError::plugin)?;
    if is_file {
        return Ok(false);
    }
    let kept = store.put(&digest, &got.bytes);
    kept.map_err(|error| CliError::files(format!("cannot keep the plugin: {error}")))?;
    Ok(true)
}

/// Whether the plugin was fetched before. Its signature is verified all the same, and a file that was changed is fetched again.
fn is_stored(locked: &Locked, store: &Store) -> Result<bool, CliError> {
    match store.get(&locked.digest) {
        Ok(Some(bytes)) => expect_signature(locked, &bytes).map(|()| true).map_err(CliError::plugin),
        _ => Ok(false),
    }
}

pub(in crate::cli) fn remove(args: &RemoveArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    let (name, sources) = (&args.name, sources(&project));
    if !project.undeclare(name) {
        return Err(match sources.contains_key(name) {
            true => CliError::usage(format!(
                "`{name}` stands in a file that broker.toml extends: remove it there"
            )),
            false => not_added(name, &sources),
        });
    }
    project.write_configuration()?;
    if project.still_declares(name)? {
        session
            .print(&format!("removed {name} from broker.toml; a file that this extends adds it still\n"))?;
        return Ok(Exit::Clean);
    }
    project.lock.keep(|it| it.name != *name);
    project.write_lock()?;
    session.print(&format!("removed {name}\n"))?;
    Ok(Exit::Clean)
}

fn not_added(name: &str, sources: &Sources) -> CliError {
    let error = CliError::usage(format!("no plugin `{name}` was added to this workspace"));
    match closest(name, sources.keys().map(String::as_str)) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint("`broker plugin list` shows all there are"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of minisign, and its signature of `plugin`.
    const KEY: &str = "RWQROtlOCq/RRC2QIXA3jsVqsQUgzYkggQe3xsU+NqPd5kDbaEbQZMWH";
    const SIGNATURE: &str = "untrusted comment: signature from rsign secret key
RUQROtlOCq/RRMHzAS60xNZkxsc0lFN1VvrGeIoby79OhS0znFBW6MRRhm4vfGSMsHm4B67lOnFx8CPAaP2XlvIiZgkrVML7PwQ=
trusted comment: no-todo.wasm 1.0.0
zr8ho7kbP7ra5iOjiHw0oH980yO/732NXwtloIrGj80Q4SJ87kNlATptK7CqBtOI/0xZTY/pevX90+ykVgxDBg==
";

    fn locked(signature: &str) -> Locked {
        let (name, version, source) = ("a".to_owned(), "1.0.0".to_owned(), "https://example.org/a.wasm");
        let (source, digest) = (source.parse().unwrap(), Digest::of(b"plugin"));
        let signature = serde_json::from_value(serde_json::json!({ "key": KEY, "minisign": signature }));
        Locked { name, version, source, digest, manifest: None, signature: Some(signature.unwrap()) }
    }

    #[test]
    fn the_signature_of_a_stored_plugin_is_verified() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_cache(Some(folder.path().to_owned()));
        assert!(!is_stored(&locked(SIGNATURE), &store).unwrap());
        store.put(&Digest::of(b"plugin"), b"plugin").unwrap();
        assert!(is_stored(&locked(SIGNATURE), &store).unwrap());
        let error = is_stored(&locked(&SIGNATURE.replace("1.0.0", "1.0.1")), &store).unwrap_err();
        insta::assert_snapshot!(error, @"plugin `a` from https://example.org/a.wasm is not used: its signature in broker.lock does not verify with key 44D1AF0A4ED93A11; `broker plugin update a` fetches it again");
    }
}
