//! Machine code of plugins: carried by the program, or compiled once and kept in the user's cache folder.
//!
//! An entry's name holds the plugin's digest and everything that shapes machine code (the build of this program, which
//! pre-initialises, wasmtime's version, the engine's settings, the processor's features). Beside it stands a stamp with the entry's hash and the
//! size and time of the file it was computed from: hashing 30 MB on every start would cost more than the
//! check itself, so the contents are only hashed again when the file is not the one that was stamped. The time of the
//! stamp is when the entry was last used: what is not used for long is removed.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use wasmtime::{Engine, component::Component};

use crate::{Bundled, Compiler, Notice, PluginError, compile::compile_component, error::Name, host::Notify};

/// A component that can be run.
pub(crate) struct Code {
    pub(crate) component: Component,
    /// Whether it is mapped from a file, which stays as it is.
    pub(crate) is_mapped: bool,
}

pub(crate) struct MachineCode {
    engine: Engine,
    build: &'static str,
    compiler: Compiler,
    dir: Option<PathBuf>,
    /// Whether the folder may be used, found out on first need.
    usable: OnceLock<bool>,
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
        let dir = cache_dir.map(|it| it.join("machine-code"));
        Self { engine, build, compiler, dir, usable: OnceLock::new(), notify }
    }

    /// The component of a bundled plugin.
    pub(crate) fn bundled(&self, name: &Name, bundled: &Bundled) -> Result<Code, PluginError> {
        let entry = self.entry(bundled.digest);
        if let Some(mapped) = entry.as_deref().and_then(|it| self.load(it)) {
            return Ok(mapped);
        }
        let code = zstd::decode_all(bundled.machine_code).map_err(|error| name.host(error))?;
        page_out(bundled.machine_code);
        match self.deserialize(&code) {
            Ok(component) => {
                Ok(self.keep(entry.as_deref(), &code).unwrap_or_else(|| Code::unmapped(component)))
            }
            // Not the code's fault: compiling again would end the same way.
            Err(error) if error.is::<io::Error>() || error.is::<rustix::io::Errno>() => Err(name.host(error)),
            Err(error) => {
                let plugin = name.plugin.clone();
                (self.notify)(Notice::Recompiling { plugin, reason: format!("{error:#}") });
                let wasm = zstd::decode_all(bundled.wasm).map_err(|error| name.host(error))?;
                self.kept(name, entry.as_deref(), &compile_component(&self.engine, name, &wasm)?)
            }
        }
    }

    /// The component in `wasm`, pre-initialised.
    pub(crate) fn component(&self, name: &Name, digest: &str, wasm: &[u8]) -> Result<Code, PluginError> {
        let entry = self.entry(digest);
        if let Some(mapped) = entry.as_deref().and_then(|it| self.load(it)) {
            return Ok(mapped);
        }
        (self.notify)(Notice::Compiling { plugin: name.plugin.clone() });
        self.kept(name, entry.as_deref(), &self.compiler.compile(&self.engine, name, wasm)?)
    }

    /// The component that was just compiled to `code`.
    fn kept(&self, name: &Name, entry: Option<&Path>, code: &[u8]) -> Result<Code, PluginError> {
        if let Some(mapped) = self.keep(entry, code) {
            return Ok(mapped);
        }
        self.deserialize(code).map(Code::unmapped).map_err(|error| name.compile(&error))
    }

    /// Keeps `code` for the next run and maps the kept file; `None` if it cannot be kept.
    fn keep(&self, entry: Option<&Path>, code: &[u8]) -> Option<Code> {
        let entry = entry?;
        match write(entry, code).and_then(|()| stamp(entry, &blake3::hash(code))) {
            Ok(()) => {
                prune(entry.parent().unwrap_or(Path::new("/")), SystemTime::now());
                self.load(entry)
            }
            Err(error) => {
                let reason = format!("cannot write {}: {error}", entry.display());
                (self.notify)(Notice::NoCache { reason });
                None
            }
        }
    }

    /// The path of an entry, if there is a folder that can be trusted.
    fn entry(&self, digest: &str) -> Option<PathBuf> {
        let dir = self.dir.as_deref()?;
        let usable = self.usable.get_or_init(|| match private(dir) {
            Ok(()) => true,
            Err(reason) => {
                (self.notify)(Notice::NoCache { reason });
                false
            }
        });
        usable.then(|| dir.join(format!("{}.cwasm", self.key(digest))))
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
        if !is_stamped(entry) {
            return None;
        }
        note_use(&stamp_path(entry), SystemTime::now());
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

/// Makes `dir` if it is missing, and refuses one that others could write: machine code is run as it is.
fn private(dir: &Path) -> Result<(), String> {
    let named = |error: io::Error| format!("cannot use {}: {error}", dir.display());
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(named)?;
    let metadata = fs::symlink_metadata(dir).map_err(named)?;
    let mine = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_dir() || !mine || metadata.mode() & 0o077 != 0 {
        let dir = dir.display();
        return Err(format!("{dir} must be a folder that you own, with mode 0700"));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
fn write(entry: &Path, code: &[u8]) -> io::Result<()> {
    let dir = entry.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::Write::write_all(&mut file, code)?;
    // A stamp must not outlive, over a power cut, the content it vouches for.
    file.as_file().sync_all()?;
    file.persist(entry)?;
    Ok(())
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Time after which machine code that was not used is removed, as answers are.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Once a day is enough. A folder that cannot be written keeps what it has.
#[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
fn note_use(stamp: &Path, now: SystemTime) {
    if age(stamp, now) > DAY {
        let _as_it_was = fs::File::options().write(true).open(stamp).and_then(|it| it.set_modified(now));
    }
}

/// Time since a file was modified; none for one that is not there.
fn age(file: &Path, now: SystemTime) -> Duration {
    let modified = fs::symlink_metadata(file).and_then(|it| it.modified());
    modified.ok().and_then(|it| now.duration_since(it).ok()).unwrap_or_default()
}

/// Removes what was not used for long, and what was never finished. A process that has an entry mapped keeps it.
#[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
fn prune(dir: &Path, now: SystemTime) {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).map(|it| it.path());
    for path in entries.filter(|it| fs::symlink_metadata(it).is_ok_and(|it| !it.is_dir())) {
        let is_code = path.extension().is_some_and(|it| it == "cwasm");
        let stamp = stamp_path(&path);
        // The age of an entry without a stamp is its own.
        let last_used = if is_code && stamp.exists() { &stamp } else { &path };
        if age(last_used, now) > KEPT {
            _ = fs::remove_file(&path);
            if is_code {
                _ = fs::remove_file(&stamp);
            }
        }
    }
}

fn stamp_path(entry: &Path) -> PathBuf {
    entry.with_extension("stamp")
}

/// What tells one state of a file from another without reading it.
fn state(entry: &Path) -> io::Result<String> {
    let metadata = fs::symlink_metadata(entry)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (size, inode) = (metadata.size(), metadata.ino());
    let (mtime, ctime) = (metadata.mtime(), metadata.ctime());
    Ok(format!("{size} {inode} {mtime}.{} {ctime}.{}", metadata.mtime_nsec(), metadata.ctime_nsec()))
}

fn stamp(entry: &Path, hash: &blake3::Hash) -> io::Result<()> {
    write(&stamp_path(entry), format!("{}\n{}\n", hash.to_hex(), state(entry)?).as_bytes())
}

fn is_stamped(entry: &Path) -> bool {
    check_stamp(entry).unwrap_or(false)
}

#[expect(clippy::disallowed_methods, reason = "the cache is no workspace file")]
fn check_stamp(entry: &Path) -> io::Result<bool> {
    let stamped = fs::read_to_string(stamp_path(entry))?;
    let Some((hash, stamped_state)) = stamped.split_once('\n') else { return Ok(false) };
    if stamped_state.trim_end() == state(entry)? {
        return Ok(true);
    }
    // Copied, restored or damaged: only the content can tell.
    let now = blake3::hash(&fs::read(entry)?);
    if now.to_hex().as_str() != hash {
        return Ok(false);
    }
    stamp(entry, &now)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn what_is_not_used_for_long_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let put = |name: &str, days: u32| {
            let file = fs::File::create(dir.path().join(name)).unwrap();
            file.set_modified(now - DAY * days).unwrap();
        };
        for (name, code, stamp) in [("used", 100, 5), ("old", 100, 40), ("today", 0, 0)] {
            put(&format!("{name}.cwasm"), code);
            put(&format!("{name}.stamp"), stamp);
        }
        put("unstamped.cwasm", 40);
        put(".unfinished", 40);
        fs::create_dir(dir.path().join("folder")).unwrap();
        note_use(&dir.path().join("used.stamp"), now);
        assert_eq!(age(&dir.path().join("used.stamp"), now), Duration::ZERO);
        prune(dir.path(), now + KEPT - DAY);
        #[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
        let left = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["folder", "today.cwasm", "today.stamp", "used.cwasm", "used.stamp"]);
    }
}
