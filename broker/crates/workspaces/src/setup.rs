//! A daemon from its settings: how many threads, how much memory.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use ::linters::{plugins::Plugins, servers::Servers};
use check_engine::{Answer, AnswerCodec, Engine};
use scheduler::{Cache, CacheOptions, Options};

use super::{Daemon, Parts, states::prune_kept};

/// Threads that wait for language servers. They hardly cost anything, and each holds up one branch's question.
const EXTERNAL_WORKERS: usize = 32;

/// Threads for a person who waits, beside those for everybody.
const INTERACTIVE: usize = 2;

/// Share of the memory, as a divisor, that is for findings after suppressions and severities.
const POLICY: usize = 4;

/// Number of files that a linter gets at once: few, so that branches take turns often.
pub const BATCH: usize = 16;

/// Settings of a daemon that checks views for one command, and ends with it.
pub struct Ephemeral {
    /// Number of files that are checked at once.
    pub workers: usize,
    /// Answers of earlier runs.
    pub answers: Option<Arc<Cache<Answer>>>,
    /// Names the build of the program, which answers depend on.
    pub build: &'static str,
}

impl Ephemeral {
    /// Threads that wait for language servers: one for each that is likely to be asked.
    const EXTERNAL_WORKERS: usize = 4;

    /// Number of files that a linter gets at once, where no other check waits for its turn.
    const BATCH: usize = 256;

    /// Bytes for what is reported again when a file is checked again unchanged.
    const POLICY_MEMORY: u64 = 64 << 20;
}

/// Settings that a front gives a daemon.
pub struct Settings {
    /// Number of files that are checked at once.
    pub workers: usize,
    /// Memory limit for cached answers, in bytes.
    pub memory: usize,
    /// Folder in which answers outlive the process.
    pub answers: Option<PathBuf>,
    /// Folder in which branches are kept.
    pub state_dir: PathBuf,
    /// Ends after so long without a client; `None` never does.
    pub idle_exit: Option<Duration>,
    /// Names the build of the program, which answers depend on.
    pub build: &'static str,
    /// Launcher of shadow folders.
    #[cfg(target_os = "linux")]
    pub launcher: shadow::Launcher,
}

impl Settings {
    /// The most guests that run at once.
    pub fn instances(&self) -> usize {
        self.workers + INTERACTIVE
    }
}

impl Daemon {
    /// A daemon with threads and a cache of its own. Removes what commits kept long ago.
    pub fn start(plugins: Arc<Plugins>, servers: Servers, settings: Settings) -> io::Result<Arc<Self>> {
        let Settings { workers, memory, answers: folder, state_dir, idle_exit, build, .. } = settings;
        prune_kept(&state_dir);
        let scheduling = Options { workers, interactive_workers: INTERACTIVE, ..Options::default() };
        let policy_memory = memory / POLICY;
        let caching = CacheOptions { memory: memory - policy_memory, folder, ..CacheOptions::default() };
        let cache = Arc::new(Cache::new(caching, AnswerCodec));
        let engine = Engine::new(scheduling, EXTERNAL_WORKERS, Some(cache), build)?;
        let policy_memory = policy_memory as u64;
        Ok(Self::new(Parts {
            plugins,
            servers,
            others: Vec::new(),
            engine,
            state_dir: Some(state_dir),
            batch: BATCH,
            idle_exit,
            policy_memory,
            #[cfg(target_os = "linux")]
            launcher: settings.launcher,
        }))
    }

    /// A daemon without a folder for state, a database or a watcher. It opens no workspace, and checks a [`LocalView`].
    ///
    /// [`LocalView`]: crate::LocalView
    pub fn ephemeral(plugins: Arc<Plugins>, servers: Servers, settings: Ephemeral) -> io::Result<Arc<Self>> {
        let workers = settings.workers;
        let scheduling = Options { workers, interactive_workers: 0, nice: 0, ..Options::default() };
        let engine = Engine::new(scheduling, Ephemeral::EXTERNAL_WORKERS, settings.answers, settings.build)?;
        Ok(Self::new(Parts {
            plugins,
            servers,
            others: Vec::new(),
            engine,
            state_dir: None,
            batch: Ephemeral::BATCH,
            idle_exit: None,
            policy_memory: Ephemeral::POLICY_MEMORY,
            #[cfg(target_os = "linux")]
            launcher: shadow::Launcher::this_program(),
        }))
    }

    /// A daemon that runs commands in a [`LocalView`]. It is not for checks: it has no plugins, and its threads for checks end at
    /// once.
    ///
    /// [`LocalView`]: crate::LocalView
    #[cfg(target_os = "linux")]
    pub fn for_runs(servers: Servers, launcher: shadow::Launcher) -> io::Result<Arc<Self>> {
        let scheduling = Options { workers: 1, interactive_workers: 0, ..Options::default() };
        let engine = Engine::new(scheduling, 1, None, "")?;
        engine.shut_down();
        Ok(Self::new(Parts {
            plugins: Plugins::disabled(),
            servers,
            others: Vec::new(),
            engine,
            state_dir: None,
            batch: BATCH,
            idle_exit: None,
            policy_memory: 0,
            launcher,
        }))
    }
}
