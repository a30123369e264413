//! Machine code that is mapped from files: the memory that it takes is given back once no guest runs it, and filled from the
//! file again where it is needed.
//!
//! A daemon would otherwise keep the code of every plugin that it ever used, which is most of what it has. Unloads nothing.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
};

use parking_lot::Mutex;
use wasmtime::component::Component;

/// Sweeps after which code that no guest runs is idle: checks that follow each other closely do not fill it again each time.
const IDLE: u32 = 200;

/// The machine code of all plugins that is mapped from files.
#[derive(Default)]
pub(crate) struct MappedCode(Mutex<Vec<Weak<CodeUse>>>);

/// The machine code of one plugin, and who runs it.
pub(crate) struct CodeUse {
    component: Component,
    /// Guests that are alive.
    guests: AtomicUsize,
    /// Sweeps since the last of them ended, up to the one that found it idle.
    unused: AtomicU32,
}

/// A guest that may run the code.
pub(crate) struct Running(Arc<CodeUse>);

impl MappedCode {
    /// Adds a component that was loaded from a file, which is never written again.
    pub(crate) fn add(&self, component: Component) -> Arc<CodeUse> {
        let code = Arc::new(CodeUse { component, guests: AtomicUsize::new(0), unused: AtomicU32::new(0) });
        let mut all = self.0.lock();
        all.retain(|it| it.strong_count() > 0);
        all.push(Arc::downgrade(&code));
        code
    }

    /// Gives back the memory of what has become idle. To be called at even times.
    pub(crate) fn sweep(&self) {
        let all = self.0.lock();
        all.iter().filter_map(Weak::upgrade).for_each(|it| it.sweep());
    }
}

impl CodeUse {
    pub(crate) fn run(self: &Arc<Self>) -> Running {
        self.guests.fetch_add(1, Relaxed);
        Running(Arc::clone(self))
    }

    fn sweep(&self) {
        if self.guests.load(Relaxed) > 0 || self.unused.load(Relaxed) > IDLE {
            return;
        }
        // A guest that begins now does no harm: it would find the code in the file.
        if self.unused.fetch_add(1, Relaxed) == IDLE {
            give_back(&self.component);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.unused.store(0, Relaxed);
        self.0.guests.fetch_sub(1, Relaxed);
    }
}

#[cfg(target_os = "linux")]
fn give_back(component: &Component) {
    let image = component.image_range();
    let start = image.start.cast_mut().cast();
    let length = image.end.addr().next_multiple_of(rustix::param::page_size()) - image.start.addr();
    #[expect(unsafe_code, reason = "see below")]
    // SAFETY: the range is a whole mapping of a file. wasmtime makes it read-only before anything is run, refuses code with
    // relocations, and has written nothing there, so that each page is the file's, also when it is read again.
    let _kept = unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxDontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn give_back(_: &Component) {}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files, and looks at its own memory")]
mod tests {
    use wasmtime::{Config, Engine, Store, component::Linker};

    use super::*;

    const ADDER: &str = r#"(component
        (core module $m (func (export "answer") (result i32) i32.const 42))
        (core instance $i (instantiate $m))
        (func (export "answer") (result u32) (canon lift (core func $i "answer"))))"#;

    fn answer(engine: &Engine, component: &Component) -> u32 {
        let mut store = Store::new(engine, ());
        let instance = Linker::new(engine).instantiate(&mut store, component).unwrap();
        let answer = instance.get_typed_func::<(), (u32,)>(&mut store, "answer").unwrap();
        answer.call(&mut store, ()).unwrap().0
    }

    /// KiB of the component's code that are in memory.
    fn resident(component: &Component) -> u64 {
        let range = component.image_range();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let (mut is_within, mut sum) = (false, 0);
        for line in maps.lines() {
            let word = line.split(' ').next().unwrap();
            if let Some((start, _)) = word.split_once('-') {
                let start = usize::from_str_radix(start, 16).unwrap();
                is_within = (range.start.addr()..range.end.addr()).contains(&start);
            } else if is_within && word == "Rss:" {
                sum += line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
            }
        }
        sum
    }

    #[test]
    fn what_no_guest_runs_is_given_back_and_runs_again() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::new(Config::new().wasm_component_model(true)).unwrap();
        let file = folder.path().join("answer.cwasm");
        let wasm = wat::parse_str(ADDER).unwrap();
        std::fs::write(&file, engine.precompile_component(&wasm).unwrap()).unwrap();
        #[expect(unsafe_code, reason = "see below")]
        // SAFETY: it was compiled just now, by the same engine.
        let component = unsafe { Component::deserialize_file(&engine, &file) }.unwrap();
        let mapped = MappedCode::default();
        let code = mapped.add(component.clone());
        let sweep = |times| (0..times).for_each(|_| mapped.sweep());

        let running = code.run();
        assert_eq!(answer(&engine, &component), 42);
        sweep(2 * IDLE);
        assert!(resident(&component) > 0, "a guest is alive");
        drop(running);
        sweep(IDLE);
        assert!(resident(&component) > 0, "it has just ended");
        sweep(1);
        assert_eq!(resident(&component), 0);
        assert_eq!(answer(&engine, &component), 42);
        sweep(IDLE);
        assert!(resident(&component) > 0, "nothing ended since then");
    }
}
