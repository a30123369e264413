//! The variables that a language server is started with, and by which it is found.
//!
//! A list, not all that a shell has: a daemon serves many workspaces, and neither secrets nor an active environment of the
//! shell that started it are for the servers of another. Other variables are set in a profile, or not at all.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use external_tools::ACTIVE;

/// Variables of the user and the machine, which mean the same in every workspace.
const OF_USER: [&str; 36] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VOLTA_HOME",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "NIX_PROFILES",
];

/// Variables by which a shell says what it works on: those of one workspace are not those of another.
const OF_PROJECT: [&str; 17] = [
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "NODE_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LD_LIBRARY_PATH",
    "GOFLAGS",
    "GOOS",
    "GOARCH",
    "GOEXPERIMENT",
    "CGO_ENABLED",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "RUSTUP_TOOLCHAIN",
];

type Variables = BTreeMap<OsString, OsString>;

/// The variables of a workspace's servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    kept: Variables,
    /// Names of the other variables of this process.
    dropped: Vec<OsString>,
}

impl Environment {
    /// Returns the environment of a process that runs in the user's own shell, such as `broker check`.
    pub fn of_shell() -> Self {
        let process: Variables = env::vars_os().collect();
        let kept = listed(&process, &OF_USER).chain(listed(&process, &OF_PROJECT)).collect();
        Self::new(kept, &process)
    }

    /// Returns the environment of the daemon, which serves many shells. `told` are the variables of the shell that
    /// opened this workspace; without them an environment that is active here counts only if it lies in the workspace.
    pub fn of_daemon(root: &Path, told: Option<&BTreeMap<String, String>>) -> Self {
        let process: Variables = env::vars_os().collect();
        Self::new(kept_by_daemon(&process, root, told), &process)
    }

    /// Same as [`of_daemon`](Self::of_daemon), for a daemon of which only its `PATH` is known.
    pub fn of_daemon_with(path: &OsStr, root: &Path, told: &BTreeMap<String, String>) -> Self {
        let process = Variables::from([("PATH".into(), path.to_owned())]);
        Self::new(kept_by_daemon(&process, root, Some(told)), &process)
    }

    fn new(kept: Variables, process: &Variables) -> Self {
        let dropped = process.keys().filter(|it| !kept.contains_key(*it)).cloned().collect();
        Self { kept, dropped }
    }

    /// The same with these folders before those of `PATH`.
    #[must_use]
    pub fn with_programs(mut self, folders: Vec<PathBuf>) -> Self {
        let path = self.kept.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        // A folder with a colon in its name cannot stand there.
        if let Ok(path) = env::join_paths(folders.into_iter().chain(env::split_paths(&path))) {
            self.kept.insert("PATH".into(), path);
        }
        self
    }

    /// The same for programs that are to run nothing of a workspace: without what a shell says of its project, but for an
    /// environment that is active, and without the folders that `leads_in` says lead into the workspace.
    #[must_use]
    pub fn outside(&self, leads_in: impl Fn(&Path) -> bool) -> Self {
        let is_outside = |it: &Path| it.is_absolute() && !leads_in(it);
        let mut kept = self.kept.clone();
        kept.retain(|name, it| {
            let name = name.to_string_lossy();
            !OF_PROJECT.contains(&&*name) || ACTIVE.contains(&&*name) && is_outside(Path::new(it))
        });
        let path = self.kept.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let path = env::join_paths(env::split_paths(&path).filter(|it| is_outside(it)));
        kept.insert("PATH".into(), path.unwrap_or_default());
        let removed = self.kept.keys().filter(|it| !kept.contains_key(*it)).cloned();
        Self { dropped: self.dropped.iter().cloned().chain(removed).collect(), kept }
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.kept.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Changes to this process's variables that result in this environment; `None` removes a variable.
    pub(crate) fn changes(&self) -> Vec<(OsString, Option<OsString>)> {
        let dropped = self.dropped.iter().map(|it| (it.clone(), None));
        let kept = self.kept.iter().map(|(name, it)| (name.clone(), Some(it.clone())));
        dropped.chain(kept).collect()
    }

    /// Variables for a daemon that this process starts: the user's, and none of the workspace that the user happens to
    /// be in. The daemon keeps the user's settings of telemetry, and does not pass them on to programs.
    pub fn for_new_daemon() -> Vec<(OsString, OsString)> {
        let process: Variables = env::vars_os().collect();
        let kept = kept_by_daemon(&process, Path::new("/"), Some(&BTreeMap::new()));
        let telemetry = process.into_iter().filter(|it| it.0.as_encoded_bytes().starts_with(b"OTEL_"));
        kept.into_iter().chain(telemetry).collect()
    }

    /// Variables that a client sends to the daemon. Values that are not UTF-8 are left out.
    pub fn to_tell() -> BTreeMap<String, String> {
        let variable = |name: &&str| Some(((*name).to_owned(), env::var(name).ok()?));
        OF_PROJECT.iter().filter_map(variable).collect()
    }
}

fn listed<'v>(all: &'v Variables, names: &'v [&str]) -> impl Iterator<Item = (OsString, OsString)> + 'v {
    names.iter().filter_map(|name| Some(((*name).into(), all.get(OsStr::new(name))?.clone())))
}

fn kept_by_daemon(process: &Variables, root: &Path, told: Option<&BTreeMap<String, String>>) -> Variables {
    let mut kept: Variables = listed(process, &OF_USER).collect();
    match told {
        Some(told) => {
            let variable = |name: &&str| Some(((*name).into(), told.get(*name)?.into()));
            kept.extend(OF_PROJECT.iter().filter_map(variable));
        }
        // With the root folder `/` every environment counts.
        None => kept.extend(listed(process, &ACTIVE).filter(|(_, it)| Path::new(it).starts_with(root))),
    }
    let folders = |variables: &Variables| -> Vec<PathBuf> {
        let active = ACTIVE.iter().filter_map(|it| variables.get(OsStr::new(it)));
        active.filter(|it| !it.is_empty()).map(PathBuf::from).collect()
    };
    let (own, foreign) = (folders(&kept), folders(process));
    let path = kept.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let is_foreign = |it: &PathBuf| foreign.iter().any(|folder| it.starts_with(folder));
    // A relative folder is another one in each workspace.
    let shared = env::split_paths(&path).filter(|it| it.is_absolute() && !is_foreign(it));
    let searched: Vec<_> = own.iter().map(|it| it.join("bin")).chain(shared).collect();
    // A folder with a colon in its name cannot stand there; then the rest stays as it was.
    if let Ok(path) = env::join_paths(searched)
        && !path.is_empty()
    {
        kept.insert("PATH".into(), path);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(of: &[(&str, &str)]) -> Variables {
        of.iter().map(|(name, it)| ((*name).into(), (*it).into())).collect()
    }

    const SHELL_OF_A: [(&str, &str); 7] = [
        ("HOME", "/home/u"),
        ("PATH", "/a/env/bin:node_modules/.bin:/conda/bin:/usr/bin:/usr/bin/local"),
        ("VIRTUAL_ENV", "/a/env"),
        ("CONDA_PREFIX", "/conda"),
        ("PYTHONPATH", "/a/lib"),
        ("TOKEN", "secret"),
        ("RUSTFLAGS", "--cfg a"),
    ];

    #[test]
    fn the_shell_that_started_a_daemon_is_not_that_of_another_workspace() {
        let process = variables(&SHELL_OF_A);
        let plain = [("HOME", "/home/u"), ("PATH", "/usr/bin:/usr/bin/local")];
        assert_eq!(kept_by_daemon(&process, Path::new("/b"), None), variables(&plain));
        let nothing = BTreeMap::new();
        assert_eq!(kept_by_daemon(&process, Path::new("/a"), Some(&nothing)), variables(&plain));
        let own = kept_by_daemon(&process, Path::new("/a"), None);
        assert_eq!(own[OsStr::new("PATH")], "/a/env/bin:/usr/bin:/usr/bin/local");
        assert_eq!(own[OsStr::new("VIRTUAL_ENV")], "/a/env");
        assert_eq!(own.len(), 3, "{own:?}");
    }

    #[test]
    fn what_the_shell_of_a_workspace_tells_counts_wherever_it_lies() {
        let process = variables(&SHELL_OF_A);
        let told = [("VIRTUAL_ENV", "/envs/b"), ("GOFLAGS", "-mod=mod"), ("TOKEN", "t"), ("PATH", "/evil")];
        let told = told.map(|(name, it)| (name.to_owned(), it.to_owned())).into();
        let want = [
            ("HOME", "/home/u"),
            ("PATH", "/envs/b/bin:/usr/bin:/usr/bin/local"),
            ("VIRTUAL_ENV", "/envs/b"),
            ("GOFLAGS", "-mod=mod"),
        ];
        assert_eq!(kept_by_daemon(&process, Path::new("/b"), Some(&told)), variables(&want));
    }

    #[test]
    fn what_leads_into_the_workspace_is_left_out() {
        let process = variables(&SHELL_OF_A);
        let shell = kept_by_daemon(&process, Path::new("/a"), None);
        let kept = |root: &'static str| {
            let all = Environment::new(shell.clone(), &process).outside(move |it| it.starts_with(root));
            (all.kept, all.dropped)
        };
        assert_eq!(kept("/b").0, shell, "it is another folder");
        let (inside, dropped) = kept("/a");
        assert_eq!(inside, variables(&[("HOME", "/home/u"), ("PATH", "/usr/bin:/usr/bin/local")]));
        assert!(dropped.contains(&"VIRTUAL_ENV".into()), "the server is not to get it from this process");
    }

    #[test]
    fn what_is_not_kept_is_taken_away() {
        let process = variables(&SHELL_OF_A);
        let environment = Environment::new(variables(&[("HOME", "/home/u"), ("GOOS", "js")]), &process);
        let changes = environment.changes();
        let taken: Vec<_> = changes.iter().filter(|it| it.1.is_none()).map(|it| it.0.clone()).collect();
        assert_eq!(taken, ["CONDA_PREFIX", "PATH", "PYTHONPATH", "RUSTFLAGS", "TOKEN", "VIRTUAL_ENV"]);
        assert!(changes.contains(&("GOOS".into(), Some("js".into()))));
    }
}
