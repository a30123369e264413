//! What the host keeps for one instance: its files, its limits, its log.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use lint::Cancel;
use overlay::Traced;
use syntax::Trees;
use wasmtime::{ResourceLimiter, UpdateDeadline, component::ResourceTable};
use wasmtime_wasi::{Deterministic, HostWallClock, WasiCtx, WasiCtxView, WasiView};

use crate::{
    Settings,
    bindings::host,
    error::shortened,
    files::{Files, GuestFiles},
    held::Budget,
    host::{Notice, Notify},
    stdio::Tail,
};

pub(crate) struct State {
    pub(crate) view: Arc<Traced>,
    pub(crate) trees: Trees,
    pub(crate) files: GuestFiles,
    pub(crate) table: ResourceTable,
    pub(crate) budget: Budget,
    pub(crate) output: Tail,
    pub(crate) watch: Watch,
    wasi: WasiCtx,
    plugin: String,
    notify: Notify,
    /// Lines of its log so far.
    logged: usize,
    /// Why it leaves out the file that it is asked about, as its log says.
    pub(crate) left_out: Option<String>,
}

/// More than a careful plugin keeps open, few enough that a leak is found.
const MAX_RESOURCES: usize = 4096;

/// More than any generator of random numbers wants for its seed.
const MAX_RANDOM: u64 = 1 << 20;

/// Lines that a guest may log, and the bytes of each that are kept.
const MAX_LOG: usize = 1_000;
const MAX_LOG_LINE: usize = 4 << 10;

/// Stands between the path and the reason in the line of a plugin that leaves a file out for its content. It is part of the
/// answer and not of the log, so that it is there when the answer comes from the cache.
const LEFT_OUT: &str = " is left out: ";

impl State {
    pub(crate) fn new(
        plugin: &str,
        settings: &Settings,
        view: Arc<Traced>,
        trees: Trees,
        budget: Budget,
        setup_time: Duration,
        notify: Notify,
    ) -> Self {
        let output = Tail::default();
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Self {
            files: GuestFiles::new(Arc::clone(&view), settings.root.trim_end_matches('/')),
            view,
            trees,
            table,
            watch: Watch { cancel: budget.cancel(), ends: Instant::now() + setup_time, stopped: None },
            budget,
            wasi: wasi(&output, &settings.environment),
            output,
            plugin: plugin.to_owned(),
            notify,
            logged: 0,
            left_out: None,
        }
    }
}

impl State {
    pub(crate) fn files(&mut self) -> Files<'_> {
        Files { files: &mut self.files, table: &mut self.table, budget: &mut self.budget }
    }

    /// Gives the guest so much time from now on. What it waits for other guests does not count.
    pub(crate) fn restart(&mut self, allowed: Duration) {
        self.budget.waited = Duration::ZERO;
        self.left_out = None;
        self.watch.ends = Instant::now() + allowed;
    }

    /// Whether the guest may go on, as asked at every tick of the engine.
    pub(crate) fn tick(&mut self) -> wasmtime::Result<UpdateDeadline> {
        self.watch.tick(self.budget.waited)
    }

    /// Whether the host may give up what it does for the guest, which will be stopped then.
    pub(crate) fn is_over(&self) -> bool {
        self.watch.reason(self.budget.waited).is_some()
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
        .max_random_size(MAX_RANDOM)
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
    fn log(&mut self, level: host::Level, mut message: String) {
        if let Some((_, why)) = message.split_once(LEFT_OUT) {
            self.left_out = Some(shortened(why.to_owned()));
            return;
        }
        self.logged += 1;
        if self.logged > MAX_LOG {
            return;
        }
        if self.logged == MAX_LOG {
            "what it logs after this is not shown".clone_into(&mut message);
        }
        message.truncate(message.floor_char_boundary(MAX_LOG_LINE));
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
    fn tick(&mut self, waited: Duration) -> wasmtime::Result<UpdateDeadline> {
        let Some(reason) = self.reason(waited) else { return Ok(UpdateDeadline::Continue(1)) };
        self.stopped = Some(reason);
        Err(reason.into())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn reason(&self, waited: Duration) -> Option<Stop> {
        match () {
            () if self.cancel.is_cancelled() => Some(Stop::Cancelled),
            () if Instant::now() >= self.ends + waited => Some(Stop::OutOfTime),
            () => None,
        }
    }
}

/// Far more than any compiler emits for one table.
const MAX_TABLE_ELEMENTS: usize = 1 << 20;

impl ResourceLimiter for State {
    fn memory_growing(&mut self, now: usize, desired: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        let fits = most.is_none_or(|it| desired <= it);
        self.budget.refused |= !fits;
        Ok(fits && self.budget.grow(now, desired))
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }
}
