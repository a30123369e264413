//! Rust: cargo does it all.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use super::tool::{Remedies, output};
use crate::CliError;

const REMEDIES: Remedies = Remedies { missing: "install Rust with rustup (https://rustup.rs)", failed: None };

const TARGET: &str = "wasm32-wasip2";

const ARGUMENTS: [&str; 7] =
    ["build", "--release", "--lib", "--target", TARGET, "--message-format", "json-render-diagnostics"];

/// Line of cargo's JSON output, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// The component that cargo made last: that of the package itself.
pub(super) fn build(folder: &Path) -> Result<PathBuf, CliError> {
    let built = output(Command::new("cargo").args(ARGUMENTS).current_dir(folder), "cargo", &REMEDIES);
    let told = built.map_err(|error| match lacks_target(folder) {
        true => error.hint("rustup target add wasm32-wasip2"),
        false => error,
    })?;
    let messages = told.lines().filter_map(|it| serde_json::from_str::<Message>(it).ok());
    let mut files = messages.filter(|it| it.reason == "compiler-artifact").flat_map(|it| it.filenames);
    let last = files.rfind(|it| it.extension().is_some_and(|it| it == "wasm"));
    last.ok_or_else(|| {
        CliError::plugin("cargo made no component").hint("Cargo.toml needs `[lib] crate-type = [\"cdylib\"]`")
    })
}

/// Whether the toolchain of the folder has no standard library for the target. The compiler reports all other errors itself.
fn lacks_target(folder: &Path) -> bool {
    let mut rustc = Command::new("rustc");
    let told = rustc.args(["--print", "target-libdir", "--target", TARGET]).current_dir(folder).output();
    told.is_ok_and(|it| {
        it.status.success() && !Path::new(String::from_utf8_lossy(&it.stdout).trim()).is_dir()
    })
}
