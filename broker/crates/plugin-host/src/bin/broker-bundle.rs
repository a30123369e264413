//! `broker-bundle FOLDER COMPONENT…`: makes plugins ready to be carried by the program.
//!
//! For each component it writes `NAME.toml` (manifest), `NAME.digest`, `NAME.wasm.zst` (pre-initialised)
//! and `NAME.cwasm.zst` (machine code) into the folder. A component that did not change is skipped, and what is left of
//! others is removed.

#![allow(clippy::disallowed_methods, clippy::print_stderr, reason = "a build tool, far from any workspace")]

use std::{
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use anyhow::{Context as _, anyhow};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: broker-bundle FOLDER COMPONENT…");
        return ExitCode::from(2);
    };
    match bundle(&folder, arguments.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// As many components at a time as there are cores: parts of each are made ready on one.
fn bundle(folder: &Path, components: Vec<PathBuf>) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let compiler = plugin_host::compiler_stamp()?;
    let (waiting, names) = (Mutex::new(components), Mutex::new(Vec::new()));
    let work = || -> anyhow::Result<()> {
        while let Some(component) = lock(&waiting).pop() {
            let wasm =
                fs::read(&component).with_context(|| format!("cannot read {}", component.display()))?;
            let name = one(folder, &component, &wasm, &compiler)?;
            lock(&names).push(name);
        }
        Ok(())
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|it| it.join().map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    remove_others(folder, &lock(&names))
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is left of plugins that are not carried any more.
fn remove_others(folder: &Path, names: &[String]) -> anyhow::Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        if !names.iter().any(|it| name.split_once('.').is_some_and(|(plugin, _)| plugin == it)) {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

/// Gives back the plugin's name.
fn one(folder: &Path, component: &Path, wasm: &[u8], compiler: &str) -> anyhow::Result<String> {
    let origin = component.display().to_string();
    let manifest = plugin_host::Manifest::of_component(&origin, wasm)?;
    let file = |extension: &str| folder.join(format!("{}.{extension}", manifest.name));
    let stamp = format!("{} {compiler}", blake3::hash(wasm));
    if fs::read_to_string(file("stamp")).is_ok_and(|it| it == stamp) {
        return Ok(manifest.name);
    }
    let compiled = plugin_host::compile(&origin, wasm)?;
    fs::write(file("toml"), plugin_host::Manifest::text_of_component(&origin, wasm)?)?;
    fs::write(file("digest"), &compiled.digest)?;
    // What is only tested once need not be small. Of machine code, a higher level saves a tenth and takes many times as long.
    let (wasm, machine_code) = if plugin_host::IS_QUICK { (1, 1) } else { (19, 19) };
    fs::write(file("wasm.zst"), zstd::encode_all(compiled.wasm.as_slice(), wasm)?)?;
    fs::write(file("cwasm.zst"), zstd::encode_all(compiled.machine_code.as_slice(), machine_code)?)?;
    // Last: a run that was cut off is done again.
    fs::write(file("stamp"), stamp)?;
    eprintln!(
        "  {} {}: {:.1} MB of WebAssembly, {:.1} MB of machine code",
        manifest.name,
        manifest.version,
        compiled.wasm.len() as f64 / 1e6,
        compiled.machine_code.len() as f64 / 1e6
    );
    Ok(manifest.name)
}
