//! `broker plugin build`

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use plugin_host::Manifest;
use serde::Deserialize;

use super::folder::Folder;
use crate::{CliError, Exit, cli::Session};

/// Build a plugin: its folder's `dist` gets the component
///
/// Runs the tools of the language that the plugin is written in, which its folder's files tell: `cargo` for a `Cargo.toml`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The plugin's folder
    #[arg(default_value = ".", value_name = "FOLDER")]
    folder: PathBuf,
}

const TARGET: &str = "wasm32-wasip2";

pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let folder = Folder::open(&session.cwd()?.join(&args.folder))?;
    let built = if folder.path.join("Cargo.toml").is_file() {
        cargo(&folder.path)?
    } else {
        let error = CliError::usage(format!("nothing in {} says how to build it", folder.path.display()));
        return Err(error.hint("a plugin in Rust has a Cargo.toml; `broker plugin new` makes one"));
    };
    let component = keep(&folder, &built)?;
    session.print(&format!("built {}\n", component.display()))?;
    Ok(Exit::Clean)
}

/// What cargo tells in a line of JSON, so far as it matters here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// The component that cargo made last: that of the package itself.
fn cargo(folder: &Path) -> Result<PathBuf, CliError> {
    let mut command = Command::new("cargo");
    command.args([
        "build",
        "--release",
        "--lib",
        "--target",
        TARGET,
        "--message-format",
        "json-render-diagnostics",
    ]);
    let told = output(command.current_dir(folder), "cargo", "install Rust with rustup (https://rustup.rs)")?;
    let messages = told.lines().filter_map(|it| serde_json::from_str::<Message>(it).ok());
    let mut files = messages.filter(|it| it.reason == "compiler-artifact").flat_map(|it| it.filenames);
    let last = files.rfind(|it| it.extension().is_some_and(|it| it == "wasm"));
    last.ok_or_else(|| {
        CliError::plugin("cargo made no component").hint("Cargo.toml needs `[lib] crate-type = [\"cdylib\"]`")
    })
}

/// What a tool prints, if it does its work. What it complains of goes where our own complaints go.
fn output(command: &mut Command, name: &str, remedy: &str) -> Result<String, CliError> {
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(|error| {
            match error.kind() {
                io::ErrorKind::NotFound => CliError::usage(format!("{name} is not installed")).hint(remedy),
                _ => CliError::usage(format!("cannot run {name}: {error}")),
            }
        })?;
    if !output.status.success() {
        let error = CliError::plugin(format!("{name} could not build the plugin"));
        return Err(error.hint(format!("if it misses the target: rustup target add {TARGET}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Puts the component where the other commands look for it, if it is a plugin.
#[expect(clippy::disallowed_methods, reason = "what a build made is no workspace file")]
fn keep(folder: &Folder, built: &Path) -> Result<PathBuf, CliError> {
    let failed = |error: io::Error| CliError::files(format!("cannot use {}: {error}", built.display()));
    let wasm = fs::read(built).map_err(failed)?;
    let inside =
        Manifest::text_of_component(&built.display().to_string(), &wasm).map_err(CliError::plugin)?;
    if inside != folder.manifest_text {
        let error = CliError::plugin("the manifest in the component is not the folder's");
        return Err(error.hint("name it in the macro: plugin!(Type, \"../broker-plugin.toml\")"));
    }
    let component = folder.component();
    fs::create_dir_all(component.parent().unwrap_or(&folder.path)).map_err(failed)?;
    fs::write(&component, wasm).map_err(failed)?;
    Ok(component)
}
