//! C: one run of a compiler that knows WebAssembly and has a C library for it. It leaves a module; no other tool is needed.
//!
//! The target is `wasm32-wasi` to most compilers and their C libraries; a wasi-sdk has a newer name for the same.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::tool::{Remedies, intermediate, output};
use crate::CliError;

const REMEDIES: Remedies = Remedies {
    missing: "set WASI_SDK_PATH to a wasi-sdk (https://github.com/WebAssembly/wasi-sdk), or install zig: \
              python3 -m venv .venv && .venv/bin/pip install ziglang==0.17.1",
    failed: Some(
        "if it misses the target's C library, install wasi-libc and libclang-rt-dev-wasm32, or a wasi-sdk and set \
         WASI_SDK_PATH",
    ),
};

/// Flags file of the folder, which the author and clangd use, too.
const OWN_FLAGS: &str = "@compile_flags.txt";

const FLAGS: [&str; 4] = ["-mexec-model=reactor", "-O2", "-s", "-Wl,-z,stack-size=8388608"];

/// The stack stands below the data, so that running out of it ends the plugin and does no harm. Zig does so unasked, and
/// does not know the option.
const STACK_FIRST: &str = "-Wl,--stack-first";

pub(super) fn build(folder: &Path) -> Result<PathBuf, CliError> {
    let made = intermediate(folder, "plugin.wasm")?;
    let mut sources = Vec::new();
    for part in ["src", "sdk"] {
        sources.extend(sources_in(&folder.join(part))?);
    }
    let mut command = compiler(folder);
    command.current_dir(folder).args(FLAGS).args(sources).arg("-o").arg(&made);
    output(&mut command, "a C compiler for WebAssembly", &REMEDIES)?;
    Ok(made)
}

/// The first there is of a wasi-sdk, zig, and clang, with the flags that are its own.
fn compiler(folder: &Path) -> Command {
    let with = |program: &Path, flags: &[&str]| {
        let mut command = Command::new(program);
        command.args(flags);
        command
    };
    let of_sdk = env::var_os("WASI_SDK_PATH").unwrap_or_else(|| OsString::from("/opt/wasi-sdk"));
    let of_sdk = Path::new(&of_sdk).join("bin/clang");
    if of_sdk.is_file() {
        return with(&of_sdk, &[OWN_FLAGS, "--target=wasm32-wasip1", STACK_FIRST]);
    }
    let zig = [folder.join(".venv/bin/python-zig"), on_path("zig").unwrap_or_default()];
    match zig.iter().find(|it| it.is_file()) {
        Some(zig) => with(zig, &["cc", OWN_FLAGS]),
        None => with(Path::new("clang"), &[OWN_FLAGS, STACK_FIRST]),
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file())
}

#[expect(clippy::disallowed_methods, reason = "a plugin's folder is no workspace")]
fn sources_in(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let failed =
        |error: std::io::Error| CliError::files(format!("cannot list {}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut sources: Vec<_> = entries.into_iter().map(|it| it.path()).collect();
    sources.retain(|it| it.extension().is_some_and(|it| it == "c"));
    sources.sort();
    Ok(sources)
}
