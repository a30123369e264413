//! Pool of all servers of a program: each is started when it is first needed, twice if one does not keep up, and ended
//! when it is not needed, or when another one needs its memory.
//!
//! Callers say which servers there are. Nothing here knows what a server is asked.

mod disk_sync;
mod replicas;

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use external_tools::{OutsideAge, OutsideState, Surroundings};
use lsp_client::Launch;
use overlay::ContentHash;
use parking_lot::Mutex;

pub(crate) use self::{disk_sync::ServerInputs, replicas::ReplicaSet};
use crate::{
    RecyclePolicy, ServerLog, ServerReport, Setup,
    actor::{Crashes, SHUTDOWN_TIMEOUT},
    registry::ServerRegistry,
};

const SHUT_DOWN: &str = "the language servers were shut down";
const ENDED: &str = "the server was ended";

/// The crashes of so many servers are remembered besides those that are there.
const MAX_REMEMBERED_CRASHES: usize = 256;

/// Limits of the servers of a pool.
#[derive(Debug, Clone)]
pub struct PoolLimits {
    /// The bytes of memory that all may have together.
    pub memory: u64,
    /// Maximum number of processes of the same server.
    pub processes: usize,
    /// Expected wait of a question from which one more process is started.
    pub wait: Duration,
    pub recycle: RecyclePolicy,
}

impl Default for PoolLimits {
    /// A quarter of the machine's memory.
    fn default() -> Self {
        let memory = memory_of_the_machine().unwrap_or(ASSUMED_MACHINE_MEMORY) / 4;
        Self { memory, processes: 2, wait: Duration::from_secs(1), recycle: RecyclePolicy::default() }
    }
}

/// Assumed memory where the machine's is unknown.
const ASSUMED_MACHINE_MEMORY: u64 = 8 << 30;

/// A handle; clones share the servers. When the last is dropped, and all linters of it, they are ended.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    limits: PoolLimits,
    registry: Arc<ServerRegistry>,
    replica_sets: Mutex<ReplicaSets>,
    /// States by the root of the workspace. The replica sets hold them.
    outside: Mutex<BTreeMap<PathBuf, Weak<OutsideState>>>,
}

#[derive(Default)]
struct ReplicaSets {
    by_key: BTreeMap<Key, Arc<ReplicaSet>>,
    /// Crashes by server, kept after the server is forgotten.
    crashes: BTreeMap<Key, Arc<Crashes>>,
    is_shut_down: bool,
}

/// Key of a server: its workspace, its name, its launch and its settings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    root: PathBuf,
    profile: String,
    digest: SetupDigest,
}

/// Digest of all that determines a server's findings in a workspace besides the files that a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SetupDigest {
    /// Launch command and settings of the server.
    setup: ContentHash,
    /// Hash of the state outside of the workspace.
    outside: ContentHash,
}

impl Pool {
    pub fn new(limits: PoolLimits) -> Self {
        let (registry, replica_sets, outside) =
            (ServerRegistry::new(limits.memory), Mutex::default(), Mutex::default());
        Self(Arc::new(Shared { limits, registry, replica_sets, outside }))
    }

    /// Status of every server, also of those that have no process at the moment.
    pub fn status(&self) -> Vec<ServerReport> {
        self.0.registry.report()
    }

    /// Waits until the servers are so; their memory is not told. Returns whether they are.
    pub fn wait_until(&self, deadline: Instant, is_so: impl Fn(&[ServerReport]) -> bool) -> bool {
        self.0.registry.wait_until(deadline, &is_so)
    }

    /// Recent lines of the standard error of the servers of this name.
    pub fn log(&self, name: &str) -> Vec<ServerLog> {
        self.0.registry.logs(name)
    }

    /// Ends all servers side by side, and kills those that have not ended until `deadline`. There are no
    /// others after that: what is asked is failed.
    pub fn shutdown(&self, deadline: Instant) {
        let ended = {
            let mut replica_sets = self.0.replica_sets.lock();
            replica_sets.is_shut_down = true;
            std::mem::take(&mut replica_sets.by_key)
        };
        end(&ended, SHUT_DOWN, deadline);
    }

    /// Ends and forgets all servers of this folder and of those below it. What is asked of them is failed, now
    /// and later; who wants to ask again needs another [`LanguageServer`](crate::LanguageServer).
    pub fn release(&self, root: &Path) {
        let ended = {
            let mut replica_sets = self.0.replica_sets.lock();
            let all = std::mem::take(&mut replica_sets.by_key);
            let (ended, kept) = all.into_iter().partition(|(key, _)| key.root.starts_with(root));
            replica_sets.by_key = kept;
            replica_sets.crashes.retain(|key, _| !key.root.starts_with(root));
            ended
        };
        end(&ended, ENDED, Instant::now() + SHUTDOWN_TIMEOUT);
    }

    /// State of the files outside of this workspace; dropped with its last replica set.
    pub(crate) fn outside_state(&self, root: &Path) -> Arc<OutsideState> {
        let mut outside = self.0.outside.lock();
        outside.retain(|_, it| it.strong_count() > 0);
        let known = outside.get(root).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let new = Arc::default();
            outside.insert(root.to_owned(), Arc::downgrade(&new));
            new
        })
    }

    /// The servers for this setup. What was set up first counts.
    pub(crate) fn replicas(
        &self,
        setup: Setup,
        digest: SetupDigest,
        outside: Arc<OutsideState>,
    ) -> Result<Arc<ReplicaSet>, String> {
        let mut replica_sets = self.0.replica_sets.lock();
        if replica_sets.is_shut_down {
            return Err(SHUT_DOWN.to_owned());
        }
        // Configurations come and go.
        replica_sets.by_key.retain(|_, it| Arc::strong_count(it) > 1 || it.has_process());
        let key = Key { root: setup.root.clone(), profile: setup.profile.tool.name.clone(), digest };
        replica_sets.end_outdated(&key);
        let crashes = replica_sets.crashes_of(&key);
        let replicas =
            || Arc::new(ReplicaSet::new(setup, &self.0.limits, &self.0.registry, crashes, outside));
        Ok(Arc::clone(replica_sets.by_key.entry(key).or_insert_with(replicas)))
    }
}

impl ReplicaSets {
    /// Ends what was started when something else was installed, unless it is still asked.
    fn end_outdated(&mut self, key: &Key) {
        let is_outdated = |other: &Key, replicas: &mut Arc<ReplicaSet>| {
            let is_same = (&other.root, &other.profile, other.digest.setup)
                == (&key.root, &key.profile, key.digest.setup);
            is_same && other != key && Arc::strong_count(replicas) == 1
        };
        let outdated: Vec<_> = self.by_key.extract_if(.., is_outdated).map(|it| it.1).collect();
        if !outdated.is_empty() {
            // The end of a process takes its time, for which nothing here has to wait.
            std::thread::spawn(move || drop(outdated));
        }
    }

    fn crashes_of(&mut self, key: &Key) -> Arc<Crashes> {
        let is_full = self.crashes.len() >= MAX_REMEMBERED_CRASHES;
        self.crashes.retain(|_, it| Arc::strong_count(it) > 1 || !is_full && !it.is_empty());
        Arc::clone(self.crashes.entry(key.clone()).or_default())
    }
}

/// Side by side.
fn end(replica_sets: &BTreeMap<Key, Arc<ReplicaSet>>, why: &'static str, deadline: Instant) {
    replica_sets.values().for_each(|it| it.stop(why, deadline));
    replica_sets.values().for_each(|it| it.join());
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(PoolLimits::default())
    }
}

impl Shared {}

impl Drop for Shared {
    /// Asks all servers to end before it waits for one.
    fn drop(&mut self) {
        for replicas in self.replica_sets.lock().by_key.values().filter(|it| Arc::strong_count(it) == 1) {
            replicas.stop(SHUT_DOWN, Instant::now() + SHUTDOWN_TIMEOUT);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "/proc is no workspace")]
fn memory_of_the_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|it| it.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

impl SetupDigest {
    pub(crate) fn of(setup: &Setup, outside: &OutsideState, age: OutsideAge) -> Self {
        let Setup { profile, launch, root, .. } = setup;
        // The niceness makes no other server of it; by its arguments, the supervisor may confine it.
        let Launch { supervisor, nice: _, program, args, env, own_folder, cwd } = launch;
        // Each version of this program may treat a server's answers in another way.
        let own = env!("CARGO_PKG_VERSION");
        let text = format!(
            "{own} {:?} {root:?} {program:?} {args:?} {env:?} {own_folder:?} {cwd:?} {profile:?}",
            supervisor.args
        );
        let named = ContentHash::of(text.as_bytes());
        let look = || {
            let named = profile.tool.outside.iter().flatten().map(String::as_str);
            outside.digest(PYTHON_ENVIRONMENTS.into_iter().chain(named), &surroundings(setup))
        };
        Self { setup: named, outside: outside.whole(named, age, look) }
    }

    /// Hash of both.
    pub(crate) fn name(self) -> ContentHash {
        ContentHash::of(format!("{} {}", self.setup, self.outside).as_bytes())
    }
}

/// Packages of the Python environments that a workspace may have or that may be active, which any server may read.
const PYTHON_ENVIRONMENTS: [&str; 4] = [
    ".venv/lib/*/site-packages",
    "venv/lib/*/site-packages",
    "$VIRTUAL_ENV/lib/*/site-packages",
    "$CONDA_PREFIX/lib/*/site-packages",
];

/// Circumstances of a process of this setup.
fn surroundings(setup: &Setup) -> Surroundings<'_> {
    let Setup { launch, root, .. } = setup;
    let mut variables: BTreeMap<_, _> = env::vars_os().collect();
    for (name, value) in &launch.env {
        match value {
            Some(value) => drop(variables.insert(name.clone(), value.clone())),
            None => drop(variables.remove(name)),
        }
    }
    Surroundings {
        root,
        projects: [root.clone()].into(),
        programs: [launch.program.clone()].into(),
        variables,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_forgotten_with_the_last_who_asks() {
        let pool = Pool::default();
        let first = pool.outside_state(Path::new("/a"));
        assert!(Arc::ptr_eq(&first, &pool.outside_state(Path::new("/a"))));
        let second = pool.outside_state(Path::new("/b"));
        drop(first);
        let roots = || pool.0.outside.lock().keys().cloned().collect::<Vec<_>>();
        let third = pool.outside_state(Path::new("/c"));
        assert_eq!(roots(), [Path::new("/b"), Path::new("/c")]);
        drop((second, third));
        drop(pool.outside_state(Path::new("/d")));
        assert_eq!(roots(), [Path::new("/d")]);
    }
}
