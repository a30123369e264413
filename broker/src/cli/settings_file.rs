//! Files of other programs' settings, to which an entry is added at the user's wish: the difference is shown, and only then
//! is it written.

use std::{fs, io, path::Path};

use similar::TextDiff;

use super::Session;
use crate::CliError;

/// Writes what `merge` makes of the file, which may be missing; `by_hand` is what to do if that cannot be.
pub(super) fn update(
    file: &Path,
    merge: impl FnOnce(&str) -> Result<String, String>,
    by_hand: &str,
    session: &mut Session,
) -> Result<(), CliError> {
    let before = read(file)?;
    let name = file.display().to_string();
    let after = merge(&before)
        .map_err(|why| CliError::usage(format!("cannot add Broker to {name}: {why}")).hint(by_hand))?;
    if after == before {
        session.messages.line(&format!("{name} has it already"));
        return Ok(());
    }
    let diff = TextDiff::from_lines(&before, &after).unified_diff().header(&name, &name).to_string();
    session.print(&diff)?;
    write(file, &after)?;
    session.messages.line(&format!("wrote {name}"));
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "another program's settings, which the user asked to be changed"
)]
fn read(file: &Path) -> Result<String, CliError> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(CliError::files(format!("cannot read {}: {error}", file.display()))),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another program's settings, which the user asked to be changed"
)]
fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(file, text))
        .map_err(|error| CliError::files(format!("cannot write {}: {error}", file.display())))
}

/// As git wants its hooks.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a hook of git's, which the user asked for")]
pub(super) fn make_executable(file: &Path) -> Result<(), CliError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .map_err(|error| CliError::files(format!("cannot make {} executable: {error}", file.display())))
}
