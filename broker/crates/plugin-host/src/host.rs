//! The engine, its clock, and the way from bytes to a [`Plugin`].

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use lint::Cancel;
use parking_lot::{Condvar, Mutex};
use syntax::Trees;
use wasmtime::{
    Config, Enabled, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig,
    component::Linker,
};

use crate::{
    Compiler, Manifest, Plugin, PluginError,
    endings::Endings,
    error::Name,
    machine_code::MachineCode,
    mapped_code::MappedCode,
    plugin::Source,
    ready::{self, Ready},
    state::State,
    wasi,
};

/// Limits of one guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of its memories and of the files that it has open.
    pub memory: usize,
    /// For everything but checking a file, whose limit is the job's.
    pub setup_time: Duration,
    /// Diagnostics in one answer.
    pub diagnostics: usize,
    /// Fixes, edits and related places in one answer.
    pub details: usize,
    /// Bytes that the guest may hand over in one answer.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 2 << 30,
            setup_time: Duration::from_secs(10),
            diagnostics: 100_000,
            details: 500_000,
            output: 256 << 20,
        }
    }
}

/// Something worth a line to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A plugin is compiled because there is no machine code of it yet.
    Compiling { plugin: String },
    /// Machine code cannot be kept for the next run.
    NoCache { reason: String },
    /// A line of a plugin's own log.
    Log { plugin: String, level: String, message: String },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiling { plugin } => write!(f, "compiling plugin `{plugin}` (once)"),
            Self::NoCache { reason } => write!(f, "machine code is not kept: {reason}"),
            Self::Log { plugin, level, message } => write!(f, "{plugin}: {level}: {message}"),
        }
    }
}

pub type Notify = Arc<dyn Fn(Notice) + Send + Sync>;

#[derive(Clone)]
pub struct HostOptions {
    /// Folder for machine code, which only the user can write; `None` keeps none.
    pub cache_dir: Option<PathBuf>,
    /// Names the build of this program: another one may make other machine code of the same component.
    pub build: &'static str,
    /// For components that the program does not carry.
    pub compiler: Compiler,
    /// Number of guests that may be alive at once; more wait. Checking is bound by the processor.
    pub instances: usize,
    /// The syntax trees that guests ask for.
    pub trees: Trees,
    pub limits: Limits,
    pub notify: Notify,
}

/// A plugin that the program carries.
#[derive(Debug)]
pub struct Bundled {
    /// The text of its `broker-plugin.toml`.
    pub manifest: &'static str,
    /// BLAKE3 of the component as it was built, in hex.
    pub digest: &'static str,
    /// Machine code of the pre-initialised component, compiled when the program was built and compressed with Zstandard: it is
    /// unpacked once for each user, and would be most of the program. Empty if a quick build left the plugin out.
    pub machine_code: &'static [u8],
}

/// Loads plugins. Clones share the engine.
#[derive(Clone)]
pub struct PluginHost(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
    pub(crate) machine_code: MachineCode,
    pub(crate) mapped_code: Arc<MappedCode>,
    pub(crate) endings: Endings,
    pub(crate) ready: Arc<Ready>,
    pub(crate) places: Arc<Permits>,
    /// For guests that need much memory.
    pub(crate) large: Arc<Permits>,
    pub(crate) trees: Trees,
    pub(crate) limits: Limits,
    pub(crate) notify: Notify,
}

impl PluginHost {
    pub fn new(options: HostOptions) -> Result<Self, PluginError> {
        let failed =
            |error: wasmtime::Error| Name { plugin: "any".into(), version: String::new() }.host(error);
        let instances = options.instances.max(1).saturating_add(ready::PLACES);
        let engine = engine(instances, options.limits.memory).map_err(failed)?;
        let mut linker = Linker::new(&engine);
        wasi::link(&mut linker).map_err(failed)?;
        let mapped_code = Arc::new(MappedCode::default());
        let ready = Ready::new().map_err(|error| failed(error.into()))?;
        // Weak: a guest that is kept holds the engine, which this thread must not keep alive.
        let (swept, unused) = (Arc::clone(&mapped_code), Arc::downgrade(&ready));
        let sweep = move || {
            swept.sweep();
            if let Some(ready) = unused.upgrade() {
                ready.sweep();
            }
        };
        tick(engine.weak(), sweep).map_err(|error| failed(error.into()))?;
        let machine_code = MachineCode::new(
            engine.clone(),
            options.build,
            options.compiler,
            options.cache_dir,
            options.notify.clone(),
        );
        Ok(Self(Arc::new(Shared {
            engine,
            linker,
            machine_code,
            mapped_code,
            endings: Endings::new().map_err(|error| failed(error.into()))?,
            ready,
            places: Permits::new(options.instances),
            large: Permits::new(LARGE),
            trees: options.trees,
            limits: options.limits,
            notify: options.notify,
        })))
    }

    /// A plugin of the bundle. Nothing is loaded before it is used.
    pub fn bundled(&self, bundled: &'static Bundled) -> Result<Plugin, PluginError> {
        let manifest = Manifest::parse("bundled plugin", bundled.manifest)?;
        Ok(Plugin::new(self.clone(), manifest, bundled.digest.to_owned(), Source::Bundled(bundled)))
    }

    /// A plugin from a file. Its manifest is read; it is compiled when it is used.
    pub fn open(&self, path: &Path) -> Result<Plugin, PluginError> {
        let unreadable =
            |error: io::Error| PluginError::Unreadable { path: path.to_owned(), reason: error.to_string() };
        check_size(&path.display().to_string(), std::fs::metadata(path).map_err(unreadable)?.len())?;
        let wasm = overlay::read_regular(path, MAX_COMPONENT).map_err(unreadable)?;
        self.component(&path.display().to_string(), wasm.into())
    }

    /// A plugin from its bytes, as with [`PluginHost::open`]; `origin` is what to call it until its name is known.
    pub fn component(&self, origin: &str, wasm: Bytes) -> Result<Plugin, PluginError> {
        check_size(origin, wasm.len() as u64)?;
        let manifest = Manifest::of_component(origin, &wasm)?;
        let digest = blake3::hash(&wasm).to_hex().to_string();
        Ok(Plugin::new(self.clone(), manifest, digest, Source::Component(wasm)))
    }
}

/// Number of guests that may have much memory at once.
const LARGE: usize = 2;

/// Bytes of a component. A whole Python has 40 MB.
pub const MAX_COMPONENT: u64 = 64 << 20;

fn check_size(origin: &str, bytes: u64) -> Result<(), PluginError> {
    let most = MAX_COMPONENT;
    if bytes > most { Err(PluginError::TooLarge { plugin: origin.to_owned(), bytes, most }) } else { Ok(()) }
}

/// Size of the stack for a guest's calls, in bytes of the native stack.
pub(crate) const MAX_WASM_STACK: usize = 32 << 20;

/// Interval at which a running guest is looked at.
const TICK: Duration = Duration::from_millis(10);

/// Ticks after which a guest is looked at; the watch decides whether it goes on.
pub(crate) const TICKS_AT_ONCE: u64 = 1;

/// The settings that shape machine code must be the same in every engine: one function makes them.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true).epoch_interruption(true).max_wasm_stack(MAX_WASM_STACK);
    // A fifth of the machine code, which only backtraces read. No message shows one.
    config.wasm_backtrace_max_frames(None).generate_address_map(false).native_unwind_info(false);
    // Nothing runs on such a stack, but it may not be smaller.
    config.async_stack_size(MAX_WASM_STACK + (1 << 20)).concurrency_support(false);
    config
}

fn engine(instances: usize, memory: usize) -> wasmtime::Result<Engine> {
    /// A component made by `wasm-component-ld` has four modules: the plugin, the adapter to WASI 0.2 and
    /// two shims between them. One in Python has 18: each library of the interpreter is one.
    const MODULES: u32 = 32;
    /// Few of them have a table.
    const TABLES: u32 = 8;
    let instances = u32::try_from(instances.max(1)).unwrap_or(u32::MAX).min(u32::MAX / MODULES);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances * MODULES)
        .total_memories(instances * 2)
        .total_tables(instances * TABLES)
        .total_stacks(1)
        .max_component_instance_size(8 << 20)
        .max_core_instance_size(8 << 20)
        .max_memories_per_component(2)
        .max_tables_per_component(TABLES)
        .table_elements(1 << 20)
        .max_memory_size(memory)
        // Reset by copying instead of by the kernel what nearly every check touches.
        .linear_memory_keep_resident(4 << 20)
        .pagemap_scan(Enabled::Auto);
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    // Without room for the pool's address space (`ulimit -v`) there is still the plain way.
    Engine::new(&config).or_else(|_| Engine::new(&self::config()))
}

/// Advances the engine's clock for as long as there is an engine; `also` is done at each tick.
pub(crate) fn tick(engine: EngineWeak, also: impl Fn() + Send + 'static) -> io::Result<()> {
    let beat = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            also();
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("epoch".to_owned()).spawn(beat).map(drop)
}

/// Room for so many guests at once.
pub(crate) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Permits {
    pub(crate) fn new(count: usize) -> Arc<Self> {
        Arc::new(Self { free: Mutex::new(count.max(1)), freed: Condvar::new() })
    }

    /// Whether a place is free now.
    pub(crate) fn is_any_free(&self) -> bool {
        *self.free.lock() > 0
    }

    /// A place, held until the guard is dropped, if there is one now.
    pub(crate) fn take_free(self: &Arc<Self>) -> Option<Permit> {
        let mut free = self.free.lock();
        *free = free.checked_sub(1)?;
        Some(Permit(Arc::clone(self)))
    }

    /// Waits for a place; `None` if it is cancelled before.
    pub(crate) fn take(self: &Arc<Self>, cancel: &Cancel) -> Option<Permit> {
        if let Some(place) = self.take_free() {
            return Some(place);
        }
        let own = Arc::clone(self);
        let _wakes = cancel.on_cancel(move || {
            // A waiter that has seen that it was not cancelled waits by now.
            drop(own.free.lock());
            own.freed.notify_all();
        });
        let mut free = self.free.lock();
        self.freed.wait_while(&mut free, |it| *it == 0 && !cancel.is_cancelled());
        *free = free.checked_sub(1)?;
        Some(Permit(Arc::clone(self)))
    }
}

pub(crate) struct Permit(Arc<Permits>);

impl Drop for Permit {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_a_place_ends_when_it_is_cancelled() {
        let (places, cancel) = (Permits::new(1), Cancel::default());
        let taken = places.take_free().unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| places.take(&cancel).is_none());
            cancel.cancel();
            assert!(waits.join().unwrap());
        });
        drop(taken);
        assert!(places.is_any_free());
    }
}
