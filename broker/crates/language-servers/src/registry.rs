//! Registry of all servers of a pool: the current status of each, written by the server itself, and read to start one
//! more, to choose one, and to report them.
//!
//! Also admits processes within the memory budget of the pool. The memory of a server is measured where that is
//! possible; elsewhere, and before it was measured, it is the estimate of its class.

mod memory_budget;
mod report;
mod status;

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use lsp_client::{Epoch, Log, child_of, memory_of};
use parking_lot::{Condvar, Mutex};

use self::memory_budget::{Admission, Holder, admit};
pub use self::report::{Counts, Ending, RecycleReason, ServerLog, ServerReport, ServerState};
pub(crate) use self::status::{Load, StatusHandle};
use crate::MemoryClass;

/// Processes of a server whose log is kept.
const LOGS: usize = 4;

pub(crate) struct ServerRegistry {
    /// Memory budget in bytes.
    budget: u64,
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    entries: BTreeMap<u64, Entry>,
    last_id: u64,
}

struct Entry {
    name: String,
    root: PathBuf,
    state: ServerState,
    since: Instant,
    version: Option<String>,
    pid: Option<u32>,
    waiting: usize,
    counts: Counts,
    last_error: Option<String>,
    /// Problem that the server reports of itself.
    unwell: Option<String>,
    /// Whether the server has not answered since a question was given up.
    is_owing: bool,
    /// Memory after its first answer, or the estimate of its class.
    bytes: u64,
    is_ending: bool,
    /// A moving average of the time that a question takes.
    mean: Duration,
    /// Whether it has answered: the first answer, for which it reads the project, is not in the mean.
    has_answered: bool,
    logs: VecDeque<(Epoch, Arc<Log>)>,
    /// Asks it to end if it is idle.
    end: Box<dyn Fn() + Send>,
}

impl ServerRegistry {
    pub(crate) fn new(budget: u64) -> Arc<Self> {
        Arc::new(Self { budget, inner: Mutex::default(), changed: Condvar::new() })
    }

    pub(crate) fn register(
        self: &Arc<Self>,
        name: &str,
        root: PathBuf,
        memory: MemoryClass,
        end: impl Fn() + Send + 'static,
    ) -> StatusHandle {
        let mut inner = self.inner.lock();
        inner.last_id += 1;
        let id = inner.last_id;
        let entry = Entry {
            name: name.to_owned(),
            root,
            state: ServerState::Unused,
            since: Instant::now(),
            version: None,
            pid: None,
            waiting: 0,
            counts: Counts::default(),
            last_error: None,
            unwell: None,
            is_owing: false,
            bytes: memory.bytes(),
            is_ending: false,
            mean: Duration::ZERO,
            has_answered: false,
            logs: VecDeque::new(),
            end: Box::new(end),
        };
        inner.entries.insert(id, entry);
        StatusHandle { registry: Arc::clone(self), id }
    }

    /// Reports all servers, with the memory that each has now.
    pub(crate) fn report(&self) -> Vec<ServerReport> {
        let measured = self.measure();
        let memory = |pid: &u32| measured.get(pid).copied().flatten();
        let report = |(id, it): (&u64, &Entry)| ServerReport {
            memory: it.pid.as_ref().and_then(memory),
            server_pid: it.pid.and_then(child_of),
            ..it.report(*id)
        };
        self.inner.lock().entries.iter().map(report).collect()
    }

    /// Waits until the servers are so, as far as their memory is not concerned; returns whether they are.
    pub(crate) fn wait_until(&self, deadline: Instant, is_so: &dyn Fn(&[ServerReport]) -> bool) -> bool {
        let mut inner = self.inner.lock();
        loop {
            let reports: Vec<_> = inner.entries.iter().map(|(id, it)| it.report(*id)).collect();
            let left = deadline.saturating_duration_since(Instant::now());
            if is_so(&reports) || left.is_zero() {
                return is_so(&reports);
            }
            self.changed.wait_for(&mut inner, left);
        }
    }

    /// The newest of all servers of this name.
    pub(crate) fn logs(&self, name: &str) -> Vec<ServerLog> {
        let inner = self.inner.lock();
        let named = inner.entries.iter().filter(|(_, it)| it.name == name);
        named
            .map(|(id, it)| ServerLog {
                id: *id,
                name: it.name.clone(),
                root: it.root.clone(),
                lines: it.lines(),
            })
            .collect()
    }

    /// Whether the budget has memory for one more of this class without ending another.
    pub(crate) fn has_memory_for(&self, memory: MemoryClass) -> bool {
        let measured = self.measure();
        let inner = self.inner.lock();
        let holders = inner.holders(&measured, None);
        admit(self.budget, memory.bytes(), &holders) == Admission::Now
    }

    fn memory_is_full(&self) -> String {
        format!("language servers may have {} MB together, and none of them is idle", self.budget >> 20)
    }

    /// Measures the memory by process. Nothing is locked meanwhile.
    fn measure(&self) -> BTreeMap<u32, Option<u64>> {
        let pids: Vec<_> = self.inner.lock().entries.values().filter_map(|it| it.pid).collect();
        let bytes = memory_of(&pids);
        pids.into_iter().zip(bytes).collect()
    }
}

impl MemoryClass {
    /// Estimated memory of a server of this class before it was measured.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Tens => 100 << 20,
            Self::Hundreds => 400 << 20,
            Self::Gigabytes => 1 << 30,
        }
    }
}

impl Inner {
    fn holders(&self, measured: &BTreeMap<u32, Option<u64>>, except: Option<u64>) -> Vec<Holder> {
        let others = self.entries.iter().filter(|(id, _)| Some(**id) != except);
        let holder = |(id, entry): (&u64, &Entry)| {
            let bytes = entry.bytes(entry.pid.and_then(|it| measured.get(&it).copied().flatten()))?;
            let idle = Some(entry.since.elapsed()).filter(|_| entry.is_idle());
            Some(Holder { id: *id, bytes, idle, is_ending: entry.is_ending })
        };
        others.filter_map(holder).collect()
    }

    /// The processes, and which of them are idle.
    fn who_may_end(&self) -> Vec<(u32, bool)> {
        self.entries.values().filter_map(|it| Some((it.pid?, it.is_idle() && !it.is_ending))).collect()
    }
}

impl Entry {
    fn is_idle(&self) -> bool {
        self.state == ServerState::Idle && self.waiting == 0
    }

    /// `None` if it has no process.
    fn bytes(&self, measured: Option<u64>) -> Option<u64> {
        let is_starting = self.state == ServerState::Starting;
        match measured {
            // A starting process will take more.
            Some(bytes) if is_starting => Some(bytes.max(self.bytes)),
            Some(bytes) => Some(bytes),
            None => (is_starting || self.pid.is_some()).then_some(self.bytes),
        }
    }

    fn report(&self, id: u64) -> ServerReport {
        ServerReport {
            id,
            name: self.name.clone(),
            root: self.root.clone(),
            version: self.version.clone(),
            pid: self.pid,
            server_pid: None,
            memory: None,
            state: if self.is_owing && self.is_idle() { ServerState::NotAnswering } else { self.state },
            waiting: self.waiting,
            counts: self.counts,
            idle_for: Some(self.since.elapsed()).filter(|_| self.is_idle() && !self.is_owing),
            last_error: self.last_error.clone(),
            unwell: self.unwell.clone(),
        }
    }

    fn lines(&self) -> Vec<(Epoch, String)> {
        let lines = |(epoch, log): &(Epoch, Arc<Log>)| {
            let epoch = *epoch;
            log.tail(usize::MAX).into_iter().map(move |it| (epoch, it))
        };
        self.logs.iter().flat_map(lines).collect()
    }

    fn keep_log(&mut self, epoch: Epoch, log: Arc<Log>) {
        self.logs.push_back((epoch, log));
        while self.logs.len() > LOGS {
            self.logs.pop_front();
        }
    }

    fn enter(&mut self, state: ServerState) {
        (self.state, self.since, self.is_ending) = (state, Instant::now(), false);
    }
}
