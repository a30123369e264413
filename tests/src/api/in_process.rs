//! A daemon in the test's own process.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex},
};

use linters::{
    plugins::{Loader, Plugins as Loaded},
    servers::Servers,
};
use plugin_host::Compiler;
use tempfile::TempDir;
use workspaces::{Daemon, Settings};

/// A daemon without a front. Its threads end when this goes.
pub(super) struct InProcess {
    daemon: Arc<Daemon>,
    _state: TempDir,
}

/// Number of workers that the program has on a machine with two processors.
const WORKERS: usize = 2;

/// Guests of all daemons of a process, which share their plugins.
const INSTANCES: usize = 32;

impl InProcess {
    /// A daemon with the plugins of the program and those in `named`.
    pub(super) fn start(named: &[PathBuf]) -> Self {
        let state = tempfile::tempdir().unwrap();
        let settings = Settings {
            workers: WORKERS,
            memory: 64 << 20,
            answers: None,
            state_dir: state.path().to_owned(),
            idle_exit: None,
            build: "tests",
            launcher: shadow::Launcher::new(crate::broker()),
        };
        let daemon = Daemon::start(plugins(named), Servers::of_user(), settings).unwrap();
        Self { daemon, _state: state }
    }
}

impl InProcess {
    pub(super) fn daemon(&self) -> Arc<Daemon> {
        Arc::clone(&self.daemon)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.daemon.release();
    }
}

/// The plugins of the bundle and those in `named`, loaded once for all tests of a process.
fn plugins(named: &[PathBuf]) -> Arc<Loaded> {
    static LOADED: LazyLock<Mutex<HashMap<Vec<PathBuf>, Arc<Loaded>>>> = LazyLock::new(Mutex::default);
    let load = || {
        let loader = Loader {
            bundle: crate::bundle(),
            build: "tests",
            cache_dir: None,
            compiler: Compiler::Here,
            notify: Arc::new(|_| {}),
        };
        loader.load(named, INSTANCES).unwrap_or_else(|error| panic!("{}", error.message))
    };
    Arc::clone(LOADED.lock().unwrap().entry(named.to_owned()).or_insert_with(load))
}
