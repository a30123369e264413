//! `broker-bundle FOLDER GRAMMARS PLUGIN…`: makes plugins, and the library of the grammars, ready to be carried by the
//! program. Each plugin is a component, or the manifest of one that is left out: the program then knows which files it cannot check.
//!
//! For each plugin it writes `NAME.toml` (manifest), `NAME.digest` and `NAME.cwasm.zst` (machine code of what was
//! pre-initialised) into the folder; of the library `_grammars.digest` and `_grammars.zst`; and `_target`, the machine that
//! all of it is for. What did not change is skipped, and what is left of others is removed.

#![allow(clippy::disallowed_methods, clippy::print_stderr, reason = "a build tool, far from any workspace")]

use std::{
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use anyhow::{Context as _, anyhow};
use parking_lot::Mutex;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), Some(library)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: broker-bundle FOLDER GRAMMARS PLUGIN…");
        return ExitCode::from(2);
    };
    match grammars(&folder, &library).and_then(|()| bundle(&folder, arguments.collect())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Beginning of the names of files that are no plugin's: no plugin's name begins so.
const OWN: char = '_';

/// Compression level: fast in quick builds. A higher one saves a tenth of machine code and takes many times as long.
const LEVEL: i32 = if plugin_host::IS_QUICK { 1 } else { 19 };

fn grammars(folder: &Path, library: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let library = fs::read(library).with_context(|| format!("cannot read {}", library.display()))?;
    let digest = blake3::hash(&library).to_hex();
    let [stamp, compressed] = ["digest", "zst"].map(|it| folder.join(format!("{OWN}grammars.{it}")));
    fs::write(folder.join(format!("{OWN}target")), plugin_host::target())?;
    if compressed.exists() && fs::read_to_string(&stamp).is_ok_and(|it| it == digest.as_str()) {
        return Ok(());
    }
    fs::write(compressed, zstd::encode_all(&library[..], LEVEL)?)?;
    // Last: a run that was cut off is done again.
    fs::write(stamp, digest.as_str())?;
    Ok(())
}

/// Bundles as many components at a time as there are cores: parts of each are made ready on one.
fn bundle(folder: &Path, components: Vec<PathBuf>) -> anyhow::Result<()> {
    let compiler = plugin_host::compiler_stamp()?;
    let (waiting, names) = (Mutex::new(components), Mutex::new(Vec::new()));
    let work = || -> anyhow::Result<()> {
        while let Some(component) = waiting.lock().pop() {
            let name = match component.extension() {
                Some(it) if it == "toml" => left_out(folder, &component)?,
                _ => one(folder, &component, &compiler)?,
            };
            names.lock().push(name);
        }
        Ok(())
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|it| it.join().map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    remove_others(folder, &names.lock())
}

/// Removes leftovers of plugins that are not bundled any more.
fn remove_others(folder: &Path, names: &[String]) -> anyhow::Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        let is_of_plugin = |it: &String| name.split_once('.').is_some_and(|(plugin, _)| plugin == it);
        if !name.starts_with(OWN) && !names.iter().any(is_of_plugin) {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

/// Writes what is known of a plugin that is not built. Gives back its name.
fn left_out(folder: &Path, manifest: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    let name = plugin_host::Manifest::parse(&manifest.display().to_string(), &text)?.name;
    // The stamp first: whatever comes of this run, the plugin is compiled when its component is there again.
    let not_built =
        [("stamp", "not built"), ("toml", text.as_str()), ("digest", "not built"), ("cwasm.zst", "")];
    for (extension, content) in not_built {
        let file = folder.join(format!("{name}.{extension}"));
        if fs::read_to_string(&file).is_ok_and(|it| it == content) {
            continue;
        }
        fs::write(file, content)?;
    }
    Ok(name)
}

/// Gives back the plugin's name.
fn one(folder: &Path, component: &Path, compiler: &str) -> anyhow::Result<String> {
    let origin = component.display().to_string();
    let wasm = &fs::read(component).with_context(|| format!("cannot read {origin}"))?;
    let manifest = plugin_host::Manifest::of_component(&origin, wasm)?;
    let file = |extension: &str| folder.join(format!("{}.{extension}", manifest.name));
    let stamp = format!("{} {compiler}", blake3::hash(wasm));
    if fs::read_to_string(file("stamp")).is_ok_and(|it| it == stamp) {
        return Ok(manifest.name);
    }
    let compiled = plugin_host::compile(&origin, wasm)?;
    fs::write(file("toml"), plugin_host::Manifest::text_of_component(&origin, wasm)?)?;
    fs::write(file("digest"), &compiled.digest)?;
    fs::write(file("cwasm.zst"), zstd::encode_all(compiled.machine_code.as_slice(), LEVEL)?)?;
    // Last: a run that was cut off is done again.
    fs::write(file("stamp"), stamp)?;
    eprintln!(
        "  {} {}: {:.1} MB of machine code",
        manifest.name,
        manifest.version,
        compiled.machine_code.len() as f64 / 1e6
    );
    Ok(manifest.name)
}
