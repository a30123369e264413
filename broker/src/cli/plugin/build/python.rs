//! Python: `componentize-py` runs the plugin's imports once and packs what is then in memory, interpreter and all.

use std::path::{Path, PathBuf};

use super::tool::{Remedies, intermediate, near, output};
use crate::CliError;

const REMEDIES: Remedies = Remedies {
    missing: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    failed: Some("if it misses `_ssl` or another module of the network: a plugin reaches no network"),
};

/// The module of the SDK that is the component, and imports the author's `plugin`.
const MODULE: &str = "broker_component";

pub(super) fn build(folder: &Path) -> Result<PathBuf, CliError> {
    let made = intermediate(folder, "plugin.wasm")?;
    let mut command = near(folder, ".venv/bin", "componentize-py");
    let environment = folder.join(".venv");
    if environment.is_dir() {
        // The libraries that the plugin imports.
        command.env("VIRTUAL_ENV", environment);
    }
    command.args(["-q", "-d", "wit", "-w", "linter", "componentize", MODULE, "-p", "src", "-p", "sdk", "-o"]);
    output(command.arg(&made), "componentize-py", &REMEDIES)?;
    Ok(made)
}
