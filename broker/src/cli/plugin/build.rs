//! `broker plugin build`

mod c;
mod cargo;
mod javascript;
mod python;
mod tool;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use plugin_host::Manifest;

use super::folder::Folder;
use crate::{CliError, Exit, cli::Session};

/// Build a plugin: its folder's `dist` gets the component
///
/// Runs the tools of the language that the plugin is written in, which its folder's files tell: `cargo` for a `Cargo.toml`,
/// `componentize-py` for a `requirements.txt` or `pyproject.toml`, `esbuild` and `componentize-js` for a `package.json`,
/// a C compiler for `compile_flags.txt`. What is missing is told with the command that installs it.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The plugin's folder
    #[arg(default_value = ".", value_name = "FOLDER")]
    folder: PathBuf,
}

pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let folder = Folder::open(&session.cwd()?.join(&args.folder))?;
    let component = build(&folder)?;
    session.print(&format!("built {}\n", component.display()))?;
    Ok(Exit::Clean)
}

/// Runs the tools, and gives back where the component is.
pub(super) fn build(folder: &Folder) -> Result<PathBuf, CliError> {
    let tools = Tools::of(&folder.path)?;
    forget(&folder.component())?;
    finished(folder, tools, &tools.build(&folder.path)?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tools {
    Cargo,
    Python,
    JavaScript,
    C,
}

/// The file that tells which tools a folder is for.
const SIGNS: [(&str, Tools); 5] = [
    ("Cargo.toml", Tools::Cargo),
    ("package.json", Tools::JavaScript),
    ("compile_flags.txt", Tools::C),
    ("requirements.txt", Tools::Python),
    ("pyproject.toml", Tools::Python),
];

impl Tools {
    fn of(folder: &Path) -> Result<Self, CliError> {
        let found = SIGNS.iter().find(|(sign, _)| folder.join(sign).is_file());
        found.map(|(_, tools)| *tools).ok_or_else(|| {
            let error = CliError::usage(format!("nothing in {} says how to build it", folder.display()));
            let signs = SIGNS.map(|(sign, _)| sign).join(", ");
            error.hint(format!("a plugin has one of {signs}; `broker plugin new` makes one"))
        })
    }

    /// Runs them; the file that they made.
    fn build(self, folder: &Path) -> Result<PathBuf, CliError> {
        match self {
            Self::Cargo => cargo::build(folder),
            Self::Python => python::build(folder),
            Self::JavaScript => javascript::build(folder),
            Self::C => c::build(folder),
        }
    }
}

/// A build that fails leaves nothing that could be taken for its result.
#[expect(clippy::disallowed_methods, reason = "what a build makes is no workspace file")]
fn forget(component: &Path) -> Result<(), CliError> {
    match fs::remove_file(component) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CliError::files(format!("cannot replace {}: {error}", component.display())))
        }
        _ => Ok(()),
    }
}

/// Adds to the component in `built` the parts of a plugin that it lacks, and puts it where the other commands look for it.
#[expect(clippy::disallowed_methods, reason = "what a build made is no workspace file")]
fn finished(folder: &Folder, tools: Tools, built: &Path) -> Result<PathBuf, CliError> {
    let failed = |error: io::Error| CliError::files(format!("cannot use {}: {error}", built.display()));
    let wasm = fs::read(built).map_err(failed)?;
    let wasm = match tools {
        // Cargo's linker and the SDK have done all of this.
        Tools::Cargo => with_same_manifest(folder, built, wasm)?,
        Tools::Python => with_manifest(folder, componentize::without_network(wasm).map_err(unfit)?),
        Tools::JavaScript => with_manifest(folder, wasm),
        Tools::C => with_manifest(folder, of_module(folder, wasm)?),
    };
    let component = folder.component();
    fs::create_dir_all(component.parent().unwrap_or(&folder.path)).map_err(failed)?;
    fs::write(&component, wasm).map_err(failed)?;
    Ok(component)
}

fn with_manifest(folder: &Folder, wasm: Vec<u8>) -> Vec<u8> {
    componentize::with_manifest(wasm, &folder.manifest_text)
}

fn with_same_manifest(folder: &Folder, built: &Path, wasm: Vec<u8>) -> Result<Vec<u8>, CliError> {
    let inside =
        Manifest::text_of_component(&built.display().to_string(), &wasm).map_err(CliError::plugin)?;
    if inside == folder.manifest_text {
        return Ok(wasm);
    }
    let error = CliError::plugin("the manifest in the component is not the folder's");
    Err(error.hint("name it in the macro: plugin!(Type, \"../broker-plugin.toml\")"))
}

/// A component of the world that the folder's bindings were made of.
#[expect(clippy::disallowed_methods, reason = "a plugin's folder is no workspace")]
fn of_module(folder: &Folder, wasm: Vec<u8>) -> Result<Vec<u8>, CliError> {
    if !componentize::is_module(&wasm) {
        return Ok(wasm);
    }
    let wit = folder.path.join("wit/broker-plugin.wit");
    let text = fs::read_to_string(&wit)
        .map_err(|error| CliError::files(format!("cannot read {}: {error}", wit.display())))?;
    componentize::from_module(wasm, &text, "linter").map_err(unfit)
}

fn unfit(error: impl std::fmt::Display) -> CliError {
    CliError::plugin(format!("what the compiler made cannot be a plugin: {error:#}"))
}
