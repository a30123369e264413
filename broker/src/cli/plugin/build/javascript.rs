//! JavaScript and TypeScript: `esbuild` makes one module of the plugin and what it imports, `componentize-js` a component of
//! that and of its engine.

use std::path::{Path, PathBuf};

use super::tool::{Remedies, intermediate, near, output};
use crate::CliError;

const REMEDIES: Remedies = Remedies { missing: "npm install", failed: None };

const BIN: &str = "node_modules/.bin";

/// Arguments for imports that the host has.
const EXTERNAL: [&str; 2] = ["--external:broker:*", "--external:wasi:*"];

/// The engine imports these whether they are used or not, and no plugin is granted them.
const WITHOUT: [&str; 4] = ["-d", "http", "-d", "fetch-event"];

pub(super) fn build(folder: &Path) -> Result<PathBuf, CliError> {
    let module = intermediate(folder, "plugin.js")?;
    let mut bundle = near(folder, BIN, "esbuild");
    bundle.arg(source(folder)?).args(["--bundle", "--format=esm", "--platform=neutral"]);
    bundle.args(["--main-fields=module,main", "--log-level=warning"]).args(EXTERNAL);
    output(bundle.arg(format!("--outfile={}", module.display())), "esbuild", &REMEDIES)?;

    let made = intermediate(folder, "plugin.wasm")?;
    let mut pack = near(folder, BIN, "componentize-js");
    pack.arg(&module).args(["-w", "wit", "-n", "scripted-linter"]).args(WITHOUT).arg("-o").arg(&made);
    output(&mut pack, "componentize-js", &REMEDIES)?;
    Ok(made)
}

fn source(folder: &Path) -> Result<&'static str, CliError> {
    let known = ["src/plugin.ts", "src/plugin.js"];
    let found = known.into_iter().find(|it| folder.join(it).is_file());
    found.ok_or_else(|| {
        CliError::files(format!("there is neither {} in {}", known.join(" nor "), folder.display()))
    })
}
