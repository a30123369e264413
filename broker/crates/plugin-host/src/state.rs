//! What the host keeps for one instance: its files, its limits, its log.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use lint::Cancel;
use overlay::View;
use syntax::Trees;
use wasmtime::{ResourceLimiter, UpdateDeadline, component::ResourceTable};
use wasmtime_wasi::{Deterministic, HostWallClock, WasiCtx, WasiCtxView, WasiView};

use crate::{
    Settings,
    bindings::host,
    files::{Files, GuestFiles},
    host::{Limits, Notice, Notify},
    stdio::Tail,
};

pub(crate) struct State {
    pub(crate) view: Arc<dyn View>,
    pub(crate) trees: Trees,
    pub(crate) files: GuestFiles,
    pub(crate) table: ResourceTable,
    pub(crate) memory: MemoryLimit,
    pub(crate) output: Tail,
    pub(crate) watch: Watch,
    wasi: WasiCtx,
    plugin: String,
    notify: Notify,
}

impl State {
    pub(crate) fn new(
        plugin: &str,
        settings: &Settings,
        view: Arc<dyn View>,
        trees: Trees,
        limits: &Limits,
        cancel: Cancel,
        notify: Notify,
    ) -> Self {
        let output = Tail::default();
        Self {
            files: GuestFiles::new(Arc::clone(&view), settings.root.trim_end_matches('/'), limits.memory),
            view,
            trees,
            table: ResourceTable::new(),
            memory: MemoryLimit::new(limits.memory),
            watch: Watch { cancel, ends: Instant::now() + limits.setup_time, stopped: None },
            wasi: wasi(&output, &settings.environment),
            output,
            plugin: plugin.to_owned(),
            notify,
        }
    }
}

impl State {
    pub(crate) fn files(&mut self) -> Files<'_> {
        Files { files: &mut self.files, table: &mut self.table }
    }
}

/// A context without files, arguments or network, in which time stands still and chance repeats itself, so that an
/// answer cannot depend on them. Of the environment there is what was granted, which is part of the settings.
fn wasi(output: &Tail, environment: &BTreeMap<String, String>) -> WasiCtx {
    let environment: Vec<_> = environment.iter().collect();
    let chance = || Deterministic::new(vec![0x5b, 0xa1, 0x0c, 0x93, 0x77, 0x2e, 0xd8, 0x46]);
    WasiCtx::builder()
        .stdout(output.clone())
        .stderr(output.clone())
        .secure_random(chance())
        .insecure_random(chance())
        .insecure_random_seed(0)
        .wall_clock(Frozen)
        .envs(&environment)
        .build()
}

struct Frozen;

impl HostWallClock for Frozen {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl host::Host for State {
    fn log(&mut self, level: host::Level, message: String) {
        let (plugin, level) = (self.plugin.clone(), name(level).to_owned());
        (self.notify)(Notice::Log { plugin, level, message });
    }

    fn cancelled(&mut self) -> bool {
        self.watch.cancel.is_cancelled()
    }
}

fn name(level: host::Level) -> &'static str {
    match level {
        host::Level::Debug => "debug",
        host::Level::Info => "info",
        host::Level::Warn => "warn",
        host::Level::Error => "error",
    }
}

/// Why the host stopped a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    #[error("out of time")]
    OutOfTime,
    #[error("cancelled")]
    Cancelled,
}

/// Looks at every tick of the engine whether a guest may go on.
pub(crate) struct Watch {
    cancel: Cancel,
    ends: Instant,
    pub(crate) stopped: Option<Stop>,
}

impl Watch {
    pub(crate) fn restart(&mut self, allowed: Duration) {
        self.ends = Instant::now() + allowed;
    }

    pub(crate) fn tick(&mut self) -> wasmtime::Result<UpdateDeadline> {
        let Some(reason) = self.reason() else { return Ok(UpdateDeadline::Continue(1)) };
        self.stopped = Some(reason);
        Err(reason.into())
    }

    /// Whether the host may give up what it does for the guest, which will be stopped then.
    pub(crate) fn is_over(&self) -> bool {
        self.reason().is_some()
    }

    fn reason(&self) -> Option<Stop> {
        match () {
            () if self.cancel.is_cancelled() => Some(Stop::Cancelled),
            () if Instant::now() >= self.ends => Some(Stop::OutOfTime),
            () => None,
        }
    }
}

/// Refuses memory past the limit, and remembers that it did: to the guest a refusal and a bug of its own
/// both end in `unreachable`.
pub(crate) struct MemoryLimit {
    limit: usize,
    pub(crate) refused: bool,
    /// Bytes of the largest of the guest's memories, at its largest.
    pub(crate) largest: usize,
}

/// Far more than any compiler emits for one table.
const MAX_TABLE_ELEMENTS: usize = 1 << 20;

impl MemoryLimit {
    fn new(limit: usize) -> Self {
        Self { limit, refused: false, largest: 0 }
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= self.limit && maximum.is_none_or(|it| desired <= it);
        self.refused |= !fits;
        if fits {
            self.largest = self.largest.max(desired);
        }
        Ok(fits)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }
}
