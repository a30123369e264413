//! Language servers that the daemon finds: in the `PATH` it was started with, which need not be the command's.

use std::{
    borrow::Cow,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
};

use config::Configs;
use language_servers::{Environment, Profile, profiles};
use linters::{Permissions, servers};
use overlay::{Disk, View};

use super::{Client, Opened};

/// A server that the daemon finds in another place than the command, or that only one of them finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    pub(crate) server: String,
    pub(crate) here: Option<PathBuf>,
    pub(crate) by_daemon: Option<PathBuf>,
}

/// Servers that the daemon does not find in the same place as this command, in the workspace `root`.
pub(crate) fn elsewhere(client: &Client, root: &Path, profiles: &[Profile]) -> Vec<Elsewhere> {
    let answer = client.wait(client.daemon().list_servers());
    // A daemon that cannot be asked is not worth a message here.
    let Some(path) = answer.ok().and_then(|it| it.search_path) else { return Vec::new() };
    let by_daemon = Environment::of_daemon_with(OsStr::new(&path), root, &Environment::to_tell());
    profiles.iter().filter_map(|it| compared(it, root, &by_daemon)).collect()
}

/// The daemon's servers in this folder that say something is wrong with them, and what.
pub(crate) fn unwell(client: &Client, root: &Path) -> Vec<(String, String)> {
    let answer = client.wait(client.daemon().list_servers());
    let all = answer.map(|it| it.servers).unwrap_or_default().into_iter();
    all.filter(|it| it.root == root).filter_map(|it| Some((it.name, it.unwell?))).collect()
}

fn compared(profile: &Profile, root: &Path, by_daemon: &Environment) -> Option<Elsewhere> {
    let here = profile.find(root, &Environment::of_shell());
    let by_daemon = profile.find(root, by_daemon);
    (here != by_daemon).then(|| Elsewhere { server: profile.tool.name.clone(), here, by_daemon })
}

/// Remedy for servers that are installed, and that the daemon does not find. `names` are those that it has missed.
pub(crate) fn not_searched(open: &Opened, names: &[&str]) -> Option<String> {
    let root = open.workspace.root();
    let mut known = known(root);
    known.retain(|it| names.contains(&it.tool.name.as_str()));
    if known.is_empty() {
        return None;
    }
    let all = elsewhere(&open.client, root, &known);
    let only_here = all.iter().filter(|it| it.here.is_some() && it.by_daemon.is_none());
    let names: Vec<_> = only_here.map(|it| it.server.as_str()).collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("the daemon was started with another PATH, without {names}; `broker daemon stop` ends it, and the next command starts one with yours")
    })
}

/// All servers that there could be; those that Broker knows by itself if the configuration is wrong.
fn known(root: &Path) -> Vec<Profile> {
    let disk = Disk::new(root).map(|it| Arc::new(it) as Arc<dyn View>);
    let settings = disk.ok().and_then(|it| Configs::new(&*it).workspace().ok().map(|it| it.servers()));
    let known = settings.and_then(|it| servers::known(&it, Permissions::of_user().level(root)).ok());
    known.map_or_else(|| profiles().to_vec(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir_all(folder.path().join(".venv/bin")).unwrap();
        std::fs::create_dir(&bin).unwrap();
        let profile = |name: &str| profiles().iter().find(|it| it.tool.name == name).unwrap().clone();
        // No `PATH` of a test machine has the first.
        let mut own = profile("gopls");
        own.tool.command = vec!["gopls-of-a-test".to_owned()];
        let by_daemon = Environment::of_daemon_with(bin.as_os_str(), folder.path(), &BTreeMap::new());
        assert_eq!(compared(&own, folder.path(), &by_daemon), None, "nobody has it");
        std::fs::write(bin.join("gopls-of-a-test"), "").unwrap();
        let found = compared(&own, folder.path(), &by_daemon).unwrap();
        assert_eq!((found.here, found.by_daemon), (None, Some(bin.join("gopls-of-a-test"))));
        std::fs::write(folder.path().join(".venv/bin/ty"), "").unwrap();
        assert_eq!(compared(&profile("ty"), folder.path(), &by_daemon), None, "both look there first");
    }
}
