//! Machine code of plugins: carried by the program, or compiled once and kept in the user's cache folder.
//!
//! An entry's name holds the plugin's digest and everything that shapes machine code: the build of this program, which
//! pre-initialises, wasmtime's version, the engine's settings, the processor's features.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use code_cache::CodeCache;
use wasmtime::{Engine, component::Component};

use crate::{Bundled, Compiler, Notice, PluginError, error::Name, host::Notify};

/// A component that can be run.
pub(crate) struct Code {
    pub(crate) component: Component,
    /// Whether the code is mapped from a file, which stays as it is.
    pub(crate) is_mapped: bool,
}

pub(crate) struct MachineCode {
    engine: Engine,
    build: &'static str,
    compiler: Compiler,
    cache: CodeCache,
    notify: Notify,
}

impl MachineCode {
    pub(crate) fn new(
        engine: Engine,
        build: &'static str,
        compiler: Compiler,
        cache_dir: Option<PathBuf>,
        notify: Notify,
    ) -> Self {
        let (folder, complain) = (cache_dir.map(|it| it.join("machine-code")), Arc::clone(&notify));
        let cache = CodeCache::new(folder, move |reason| complain(Notice::NoCache { reason }));
        Self { engine, build, compiler, cache, notify }
    }

    /// The component of a bundled plugin.
    pub(crate) fn bundled(&self, name: &Name, bundled: &Bundled) -> Result<Code, PluginError> {
        let entry = self.entry(bundled.digest);
        if let Some(mapped) = entry.as_deref().and_then(|it| self.load(it)) {
            return Ok(mapped);
        }
        let code = zstd::decode_all(bundled.machine_code).map_err(|error| name.host(error))?;
        page_out(bundled.machine_code);
        self.kept(name, entry.as_deref(), &code)
    }

    /// The component in `wasm`, pre-initialised.
    pub(crate) fn component(&self, name: &Name, digest: &str, wasm: &[u8]) -> Result<Code, PluginError> {
        let entry = self.entry(digest);
        if let Some(mapped) = entry.as_deref().and_then(|it| self.load(it)) {
            return Ok(mapped);
        }
        (self.notify)(Notice::Compiling { plugin: name.plugin.clone() });
        let code = self.compiler.compile(&self.engine, name, wasm)?;
        self.kept(name, entry.as_deref(), &code)
    }

    /// Keeps `code` for the next run and maps the kept file, if it can be kept.
    fn kept(&self, name: &Name, entry: Option<&Path>, code: &[u8]) -> Result<Code, PluginError> {
        if let Some(mapped) = entry.filter(|it| self.cache.keep(it, code)).and_then(|it| self.load(it)) {
            return Ok(mapped);
        }
        self.deserialize(code).map(Code::unmapped).map_err(|error| {
            // A resource that the machine lacks now may be there later.
            let is_passing = error.is::<io::Error>() || error.is::<rustix::io::Errno>();
            if is_passing { name.host(error) } else { name.compile(&error) }
        })
    }

    /// The path of an entry, if there is a folder that can be trusted.
    fn entry(&self, digest: &str) -> Option<PathBuf> {
        self.cache.entry(&format!("{}.cwasm", self.key(digest)))
    }

    fn key(&self, digest: &str) -> String {
        use std::hash::{Hash, Hasher};
        struct ToBlake3(blake3::Hasher);
        impl Hasher for ToBlake3 {
            fn write(&mut self, bytes: &[u8]) {
                self.0.update(bytes);
            }
            fn finish(&self) -> u64 {
                0 // never asked for: the whole hash is taken below
            }
        }
        let mut hasher = ToBlake3(blake3::Hasher::new());
        (digest, self.build).hash(&mut hasher);
        self.engine.precompile_compatibility_hash().hash(&mut hasher);
        hasher.0.finalize().to_hex()[..32].to_owned()
    }

    /// The entry, unless it is missing, damaged or of another engine.
    fn load(&self, entry: &Path) -> Option<Code> {
        if !self.cache.has(entry) {
            return None;
        }
        #[expect(unsafe_code, reason = "see below")]
        // SAFETY: the file lies in a folder that only this user can write, and its content is what this
        // program's own compiler wrote there, as its stamp says.
        let component = unsafe { Component::deserialize_file(&self.engine, entry) }.ok()?;
        Some(Code { component, is_mapped: true })
    }

    fn deserialize(&self, code: &[u8]) -> wasmtime::Result<Component> {
        #[expect(unsafe_code, reason = "see below")]
        // SAFETY: `code` comes from this program's own compiler, either just now, perhaps in a process of its own, or when
        // it was built.
        unsafe {
            Component::deserialize(&self.engine, code)
        }
    }
}

impl Code {
    fn unmapped(component: Component) -> Self {
        Self { component, is_mapped: false }
    }
}

/// Lets go of the memory that a part of the program takes, which is read again if it is needed again.
#[cfg(target_os = "linux")]
fn page_out(part: &'static [u8]) {
    let page = rustix::param::page_size();
    let (start, end) = (part.as_ptr().addr().next_multiple_of(page), part.as_ptr().addr() + part.len());
    let Some(length) = end.checked_sub(start).map(|it| it / page * page) else { return };
    let start = part.as_ptr().with_addr(start).cast_mut().cast();
    #[expect(unsafe_code, reason = "see below")]
    // SAFETY: the range lies within `part`, and whatever it is mapped from, its content stays the same: what is paged out
    // is read again at the next look.
    let _ignored = unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxPageOut) };
}

#[cfg(not(target_os = "linux"))]
fn page_out(_: &'static [u8]) {}
