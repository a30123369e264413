//! A program that builds plugins: where it is, and what it says.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::CliError;

/// A program in the plugin's own folder, or else the one on the PATH.
pub(super) fn near(folder: &Path, place: &str, name: &str) -> Command {
    let near = folder.join(place).join(name);
    let mut command = if near.is_file() { Command::new(near) } else { Command::new(name) };
    command.current_dir(folder);
    command
}

/// Returns the output of a tool that succeeds. Its complaints go where our own complaints go.
pub(super) fn output(command: &mut Command, name: &str, remedies: &Remedies) -> Result<String, CliError> {
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(|error| {
            match error.kind() {
                io::ErrorKind::NotFound => {
                    CliError::usage(format!("{name} is not installed")).hint(remedies.missing)
                }
                _ => CliError::usage(format!("cannot run {name}: {error}")),
            }
        })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let error = CliError::plugin(format!("{name} could not build the plugin"));
    Err(match remedies.failed {
        Some(hint) => error.hint(hint),
        None => error,
    })
}

/// Hints for a tool that is missing or fails.
pub(super) struct Remedies {
    pub(super) missing: &'static str,
    pub(super) failed: Option<&'static str>,
}

/// A file for what comes between the source and the component.
#[expect(clippy::disallowed_methods, reason = "what a build makes is no workspace file")]
pub(super) fn intermediate(folder: &Path, name: &str) -> Result<PathBuf, CliError> {
    let build = folder.join("dist/build");
    fs::create_dir_all(&build)
        .map_err(|error| CliError::files(format!("cannot make {}: {error}", build.display())))?;
    Ok(build.join(name))
}
