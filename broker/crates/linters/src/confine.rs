//! Permission of external linters in a workspace: to run as the user's own programs do, to run confined, or not at all.
//!
//! A confined tool comes from the system or the store, never from the workspace, and runs in a sandbox: it sees the workspace, which
//! it cannot change, parts of the system and its own installation; no home, no network. There it can do no harm: it needs no
//! trust if it runs no code of the workspace, and only the user's word if it does. What the workspace says of it does not count.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use config::{Config, Configs, SetupFailure, folders};
use external_tools::{Executes, Tool};
use language_servers::Environment;
use overlay::View;
use shadow::{Launcher, ReadOnly, Sandbox, Toolchains};

use crate::{tools, trust::Trusted};

/// Bytes that a confined tool may write, to memory.
const SPACE: u64 = 1 << 30;

/// Processes and threads that a confined tool may have: some for itself, and some for each processor, as many start them by these.
fn processes() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    512 + 64 * u32::try_from(cores).unwrap_or(1)
}

/// The user's word on a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Untrusted,
    /// Tools that run code of the workspace may run confined.
    Confined,
    Trusted,
}

/// Way in which a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Like any program of the user's.
    Free,
    Confined,
}

/// Lists of folders that the user keeps, and the ability of this system to confine a program, which clones share.
#[derive(Debug, Clone)]
pub struct Permissions {
    trusted: Option<Trusted>,
    confined: Option<Trusted>,
    launcher: Launcher,
    /// Set once a program could be confined. A failure may be that of one folder, or of a moment.
    is_able: Arc<OnceLock<()>>,
}

impl Permissions {
    /// For a program that begins with [`shadow::inside`].
    pub fn of_user() -> Self {
        Self {
            trusted: Trusted::of_user(),
            confined: Trusted::to_confine(),
            launcher: Launcher::this_program(),
            is_able: Arc::default(),
        }
    }

    /// Permissions of a user who trusts nothing, on a system that can confine.
    #[cfg(test)]
    pub(crate) fn of_test() -> Self {
        let (launcher, is_able) = (Launcher::this_program(), Arc::new(OnceLock::from(())));
        Self { trusted: None, confined: None, launcher, is_able }
    }

    pub fn level(&self, root: &Path) -> Level {
        let holds = |it: &Option<Trusted>| it.as_ref().is_some_and(|it| it.holds(root));
        match (holds(&self.trusted), holds(&self.confined)) {
            (true, _) => Level::Trusted,
            (false, true) => Level::Confined,
            (false, false) => Level::Untrusted,
        }
    }

    /// Returns the way in which a tool may run in the workspace at `root`, or the reason why it may not.
    pub fn way(&self, tool: &Tool, level: Level, root: &Path) -> Result<Way, String> {
        let needs = match (level, tool.executes) {
            (Level::Trusted, _) => return Ok(Way::Free),
            (_, Executes::Anything) => "`broker.toml` defines it",
            (Level::Untrusted, Executes::Configuration) => "it runs code that the configuration names",
            (Level::Untrusted, Executes::Build) => "it runs code of the project",
            (Level::Untrusted | Level::Confined, _) => {
                let possible = |why| format!("it would run confined, which is not possible here: {why}");
                return self.unable(root).map_or(Ok(Way::Confined), |why| Err(possible(why)));
            }
        };
        Err(format!("{needs}, and {}", not_trusted(root)))
    }

    fn unable(&self, root: &Path) -> Option<String> {
        self.tried(|| {
            ReadOnly::open(&self.launcher, root, &Sandbox::default()).err().map(|it| it.to_string())
        })
    }

    fn tried(&self, try_out: impl FnOnce() -> Option<String>) -> Option<String> {
        if self.is_able.get().is_some() {
            return None;
        }
        let unable = try_out();
        if unable.is_none() {
            // Another thread may have tried meanwhile.
            let _ = self.is_able.set(());
        }
        unable
    }
}

/// The configuration of the disk, which says what programs run whatever a branch has in its copy. One that cannot be read is an
/// error where its definitions count; elsewhere it is reported where a view shows it.
pub fn config_on_disk(disk: &dyn View, level: Level) -> Result<Arc<Config>, SetupFailure> {
    match Configs::new(disk).workspace() {
        Err(error) if level == Level::Trusted => {
            let SetupFailure { message, hint } = error.into();
            Err(SetupFailure { message: format!("{message} (on the disk)"), hint })
        }
        Err(_) => Ok(Configs::isolated().workspace()?),
        config => Ok(config?),
    }
}

pub(crate) fn not_trusted(root: &Path) -> String {
    format!("{} is not trusted; see `broker trust`", root.display())
}

/// The environment in which tools are found and run in the workspace at `root`.
pub(crate) fn environment(environment: &Environment, level: Level, root: &Path) -> Environment {
    match level {
        Level::Trusted => environment.clone(),
        Level::Confined | Level::Untrusted => environment.outside(|it| shadow::leads_through(it, root)),
    }
}

/// The sandbox of tools that run in the workspace at `root`, with the home folder and Broker's own folders hidden.
pub(crate) fn sandbox(environment: &Environment, root: &Path) -> Result<Sandbox, String> {
    let home = environment.get("HOME").map(PathBuf::from).and_then(|it| fs::canonicalize(it).ok());
    if home.as_ref().is_some_and(|it| it.starts_with(root)) {
        return Err(format!("{} holds the home folder, which no command is to see", root.display()));
    }
    let own = [folders::state_dir(), folders::cache_dir(), Some(folders::runtime_dir())];
    let hidden = own.into_iter().flatten().filter_map(|it| fs::canonicalize(it).ok()).collect();
    Ok(Sandbox { home, hidden, ..Sandbox::default() })
}

/// The sandbox of a confined tool: of what others see, the store of tools, and for builds the toolchains.
pub(crate) fn confined_sandbox(
    tool: &Tool,
    environment: &Environment,
    root: &Path,
) -> Result<Sandbox, String> {
    let sandbox = sandbox(environment, root)?;
    let variable = |name: &str| environment.get(name).map(OsString::from);
    let toolchains = match tool.executes {
        Executes::Build => shadow::toolchains(sandbox.home.as_deref(), root, variable),
        Executes::Nothing | Executes::Configuration | Executes::Anything => Toolchains::default(),
    };
    let Toolchains { mut read, links } = toolchains;
    read.retain(|it| !shadow::is_of_git(it));
    let store = tools::store().and_then(|it| fs::canonicalize(it.root()).ok());
    read.extend(store.filter(|it| !it.starts_with(root)));
    Ok(Sandbox { read, links, warm: false, space: SPACE, processes: processes(), ..sandbox })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_executes_decides() {
        let permissions = Permissions::of_test();
        let way = |executes: &str, level| {
            let text = format!("name = 'a'\nglobs = []\ncommand = ['a']\n{executes}");
            permissions.way(&toml::from_str(&text).unwrap(), level, Path::new("/w"))
        };
        let [nothing, configuration, build] =
            ["nothing", "configuration", "build"].map(|it| format!("executes = '{it}'"));
        for executes in [&nothing, &configuration, &build, ""] {
            assert_eq!(way(executes, Level::Trusted), Ok(Way::Free));
        }
        for executes in [&nothing, &configuration, &build] {
            assert_eq!(way(executes, Level::Confined), Ok(Way::Confined));
        }
        assert_eq!(way(&nothing, Level::Untrusted), Ok(Way::Confined));
        let not = |why: &str| Err(format!("{why}, and /w is not trusted; see `broker trust`"));
        let of_configuration = "it runs code that the configuration names";
        assert_eq!(way(&configuration, Level::Untrusted), not(of_configuration));
        assert_eq!(way(&build, Level::Untrusted), not("it runs code of the project"));
        for level in [Level::Untrusted, Level::Confined] {
            assert_eq!(way("", level), not("`broker.toml` defines it"), "whoever wrote it");
        }
    }

    #[test]
    fn what_cannot_be_confined_does_not_run() {
        let (trusted, confined, is_able) = (None, None, Arc::default());
        let launcher = Launcher::new("/nowhere/broker");
        let permissions = Permissions { trusted, confined, launcher, is_able };
        let tool = toml::from_str("name = 'a'\nglobs = []\ncommand = ['a']\nexecutes = 'nothing'").unwrap();
        let way = permissions.way(&tool, Level::Untrusted, Path::new("/w"));
        let why = "it would run confined, which is not possible here: ";
        assert!(way.as_ref().unwrap_err().starts_with(why), "{way:?}");
    }

    #[test]
    fn only_success_is_remembered() {
        let (trusted, confined, is_able) = (None, None, Arc::default());
        let permissions = Permissions { trusted, confined, launcher: Launcher::this_program(), is_able };
        let clone = permissions.clone();
        assert_eq!(permissions.tried(|| Some("this folder".to_owned())).as_deref(), Some("this folder"));
        assert_eq!(clone.tried(|| None), None);
        assert_eq!(permissions.tried(|| unreachable!("it is known")), None);
    }
}
