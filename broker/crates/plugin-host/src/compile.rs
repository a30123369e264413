//! From a component to machine code: pre-initialisation, then ahead-of-time compilation.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use lint::Cancel;
use overlay::{Memory, Traced};
use syntax::Trees;
use target_lexicon::HOST;
use wasmparser::{BinaryReaderError, Parser, Payload};
use wasmtime::{Config, Engine, OptLevel, Store, Trap, component::Linker};
use wasmtime_wasi::I32Exit;
use wasmtime_wizer::Wizer;

use crate::{
    Limits, Manifest, PluginError, Settings,
    error::Name,
    held::Budget,
    host::{self, Permits},
    initialized, instance,
    state::State,
    wasi,
};

/// A plugin made ready to be carried by the program.
pub struct Compiled {
    pub manifest: Manifest,
    /// BLAKE3 of the component as it was built, in hex.
    pub digest: String,
    /// Machine code of the pre-initialised component.
    pub machine_code: Vec<u8>,
}

/// Pre-initialises and compiles the component in `wasm`, for every processor of this machine's kind.
pub fn compile(origin: &str, wasm: &[u8]) -> Result<Compiled, PluginError> {
    let manifest = Manifest::of_component(origin, wasm)?;
    let name = manifest.full_name();
    let digest = blake3::hash(wasm).to_hex().to_string();
    let wasm = preinitialize(&name, wasm)?;
    let engine = bundling_engine(&name)?;
    let machine_code = compile_component(&engine, &name, &wasm)?;
    Ok(Compiled { manifest, digest, machine_code })
}

/// Changes with all that shapes machine code besides the component: wasmtime, its settings, and how components are made ready.
pub fn compiler_stamp() -> Result<String, PluginError> {
    const SOURCES: [&str; 7] = [
        include_str!("clock.rs"),
        include_str!("compile.rs"),
        include_str!("files.rs"),
        include_str!("host.rs"),
        include_str!("initialized.rs"),
        include_str!("state.rs"),
        include_str!("wasi.rs"),
    ];
    let name = Name { plugin: "broker".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let engine = bundling_engine(&name)?;
    let mut hasher = DefaultHasher::new();
    (SOURCES, crate::IS_QUICK).hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Engine for what the program carries; its code fits all engines with the other settings. It uses no optional features of
/// processors, so that it fits wherever the program runs: with those of the machine at hand, `python` took as long. In a
/// quick build, the compiler has less to do.
fn bundling_config() -> wasmtime::Result<Config> {
    let mut config = host::config();
    config.target(&target())?;
    if crate::IS_QUICK {
        config.cranelift_opt_level(OptLevel::None);
    }
    Ok(config)
}

fn bundling_engine(name: &Name) -> Result<Engine, PluginError> {
    bundling_config().and_then(|it| Engine::new(&it)).map_err(|error| name.host(error))
}

/// The kind of machine that plugins are compiled for, as Cargo calls it.
pub fn target() -> String {
    HOST.to_string()
}

pub(crate) fn compile_component(engine: &Engine, name: &Name, wasm: &[u8]) -> Result<Vec<u8>, PluginError> {
    engine.precompile_component(wasm).map_err(|error| name.compile(&error))
}

/// The export of the world `preinitialized-linter`.
const INITIALIZE: &str = "initialize";

/// For `initialize`, whose code is not optimised. It is run once, and perhaps beside builds.
const INITIALIZATION: Duration = Duration::from_secs(60);

/// Runs the plugin's `initialize` once and keeps the memory that it leaves behind. A plugin without that
/// export stays as it is.
pub(crate) fn preinitialize(name: &Name, wasm: &[u8]) -> Result<Vec<u8>, PluginError> {
    let failed = |error: wasmtime::Error| name.compile(&error.context("pre-initialisation failed"));
    let border = Border::of(wasm).map_err(|error| name.compile(&error.into()))?;
    wasi::check_imports(border.imports.iter().copied(), name)?;
    if !border.exports.contains(&INITIALIZE) {
        return Ok(wasm.to_vec());
    }
    let engine = Engine::new(&wizer_config()).map_err(failed)?;
    let mut wizer = Wizer::new();
    wizer.init_func(INITIALIZE).keep_init_func(true);
    let limits = Limits::default();
    let state = State::new(
        &name.plugin,
        &Settings::default(),
        Arc::new(Traced::new(Arc::new(Memory::default()))),
        Trees::new(0),
        Budget::new(limits.memory, Permits::new(1), Cancel::default()),
        limits.setup_time,
        Arc::new(|_| {}),
    );
    let mut store = Store::new(&engine, state);
    instance::limit(&mut store);
    host::tick(engine.weak(), || {}).map_err(|error| name.host(error))?;
    let run = block_on(initialized::component(&wizer, &mut store, wasm, async |store, component| {
        let mut linker = Linker::new(component.engine());
        wasi::link(&mut linker)?;
        // The guest is not to blame for how long its compilation took.
        store.data_mut().restart(INITIALIZATION);
        linker.instantiate_async(store, component).await
    }));
    let wasm = run.map_err(|error| broken_off(&store, name, error))?;
    if store.data().files.any_open() || !store.data().table.is_empty() {
        let reason = "`initialize` asked for files or standard streams, which are not there yet";
        return Err(failed(wasmtime::Error::msg(reason)));
    }
    Ok(wasm)
}

/// Whose fault it is that `initialize` broke off, in the guest's own words if it is the guest's.
fn broken_off(store: &Store<State>, name: &Name, error: wasmtime::Error) -> PluginError {
    let state = store.data();
    let is_stopped = state.watch.stopped.is_some() || state.budget.refused;
    if !is_stopped && error.downcast_ref::<Trap>().is_none() && !error.is::<I32Exit>() {
        return name.compile(&error.context("pre-initialisation failed"));
    }
    match instance::fault(store, name, &Limits::default(), INITIALIZATION, error) {
        PluginError::Trap { plugin, version, message } => {
            PluginError::Trap { plugin, version, message: format!("{message} (while it was made ready)") }
        }
        other => other,
    }
}

/// Runs a future on this thread. Within a runtime of tokio's, the host's side of WASI could not wait, as it does when
/// a guest that panics writes its message.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Imports and exports of a component, read without compiling it.
#[derive(Default)]
struct Border<'a> {
    imports: Vec<&'a str>,
    exports: Vec<&'a str>,
}

impl<'a> Border<'a> {
    fn of(wasm: &'a [u8]) -> Result<Self, BinaryReaderError> {
        let (mut border, mut depth) = (Self::default(), 0_usize);
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth -= 1,
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        border.imports.push(import?.name.name);
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        border.exports.push(export?.name.name);
                    }
                }
                _ => {}
            }
        }
        Ok(border)
    }
}

/// Only the plugin's memory matters of this run, so the code is compiled fast and runs slowly.
fn wizer_config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config.wasm_component_model(true).epoch_interruption(true).cranelift_opt_level(wasmtime::OptLevel::None);
    config
}

#[cfg(test)]
mod tests {
    use wasmtime::component::Component;

    use super::*;

    #[test]
    fn bundled_code_fits_a_processor_without_any_optional_feature() {
        let wasm = wat::parse_str(
            r#"(component (core module (func (param f64) (result f64) local.get 0 f64.floor)
                (func (param v128) (result v128) local.get 0 local.get 0 i8x16.swizzle)))"#,
        );
        let name = Name { plugin: "plain".to_owned(), version: "1".to_owned() };
        let code = compile_component(&bundling_engine(&name).unwrap(), &name, &wasm.unwrap()).unwrap();
        let mut config = bundling_config().unwrap();
        #[expect(unsafe_code, reason = "see below")]
        // SAFETY: to say that a feature is not there is always right.
        unsafe {
            config.detect_host_feature(|_| Some(false));
        }
        let oldest = Engine::new(&config).unwrap();
        #[expect(unsafe_code, reason = "see below")]
        // SAFETY: the code was just compiled.
        unsafe { Component::deserialize(&oldest, &code) }.unwrap();
    }
}
