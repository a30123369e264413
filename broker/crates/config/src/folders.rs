//! The user's files outside any workspace: the folders for caches, for data, for state and for the running daemon,
//! git's global excludes, a configuration file named on the command line.

use std::{
    env, fs, io,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::SetupFailure;

/// `$BROKER_CACHE_DIR`, else `broker` in the platform's cache folder; `None` for a user without a home.
pub fn cache_dir() -> Option<PathBuf> {
    folder("BROKER_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
}

/// The folder of installed tools: `$BROKER_DATA_DIR`, else `broker` in the platform's folder for data.
pub fn data_dir() -> Option<PathBuf> {
    folder("BROKER_DATA_DIR", "XDG_DATA_HOME", ".local/share")
}

/// Where branches are kept: `$BROKER_STATE_DIR`, else `broker` in the platform's state folder.
pub fn state_dir() -> Option<PathBuf> {
    folder("BROKER_STATE_DIR", "XDG_STATE_HOME", ".local/state")
}

/// The same; fails if another user could put other branches, or another list of trusted folders, into it.
pub fn own_state_dir() -> Result<Option<PathBuf>, SetupFailure> {
    state_dir().map(|it| expect_own_state(&it).map(|()| it)).transpose()
}

/// Passes if the folder is not there yet.
fn expect_own_state(dir: &Path) -> Result<(), SetupFailure> {
    match overlay::expect_own(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let error = SetupFailure::new(format!("cannot use the state folder {}: {error}", dir.display()));
            Err(error.hint("set BROKER_STATE_DIR to a folder of your own"))
        }
        _ => Ok(()),
    }
}

/// Where the daemon's socket is: `$BROKER_RUNTIME_DIR`, else `broker` in `$XDG_RUNTIME_DIR`, else a folder
/// of this user in the temporary folder.
pub fn runtime_dir() -> PathBuf {
    if let Some(dir) = variable("BROKER_RUNTIME_DIR").and_then(|it| std::path::absolute(it).ok()) {
        return dir;
    }
    match variable("XDG_RUNTIME_DIR").filter(|it| it.is_absolute()) {
        Some(dir) => dir.join("broker"),
        None => env::temp_dir().join(format!("broker-{}", rustix::process::geteuid().as_raw())),
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from)
}

fn folder(own: &str, xdg: &str, in_home: &str) -> Option<PathBuf> {
    if let Some(dir) = variable(own) {
        return std::path::absolute(dir).ok();
    }
    let xdg = variable(xdg).filter(|it| it.is_absolute());
    let base = xdg.or_else(|| env::home_dir().filter(|it| it.is_absolute()).map(|it| it.join(in_home)))?;
    Some(base.join("broker"))
}

/// The text of the file that git's `core.excludesFile` names.
pub fn global_excludes() -> Option<String> {
    read(&ignore::gitignore::gitconfig_excludes_path()?)
        .ok()
        .map(|it| String::from_utf8_lossy(&it).into_owned())
}

/// Gives a file this content: all of it or none is there, also if this is interrupted, and on the disk when this returns.
/// A file that was there keeps who may read it, and a link stays a link.
#[expect(clippy::disallowed_methods, reason = "what the user asked to be written")]
pub fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let before = fs::metadata(&file).map(|it| it.permissions());
    // As for any new file; what the user's mask takes away is taken away.
    let permissions = before.unwrap_or_else(|_| fs::Permissions::from_mode(0o666));
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut new = tempfile::Builder::new().permissions(permissions.clone()).tempfile_in(folder)?;
    new.write_all(bytes)?;
    if file.exists() {
        new.as_file().set_permissions(permissions)?;
    }
    new.as_file().sync_all()?;
    new.persist(&file)?;
    overlay::sync_folder(folder)
}

#[expect(clippy::disallowed_methods, reason = "what the user keeps at home is no workspace file")]
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}
