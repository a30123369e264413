//! What the user keeps outside any workspace: the cache folder, git's global excludes, a configuration
//! file named on the command line.

use std::{env, fs, io, path::Path, path::PathBuf};

/// `$BROKER_CACHE_DIR`, else `broker` in the platform's cache folder; `None` for a user without a home.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    if let Some(dir) = variable("BROKER_CACHE_DIR") {
        return std::path::absolute(dir).ok();
    }
    let xdg = variable("XDG_CACHE_HOME").filter(|it| it.is_absolute());
    let base = xdg.or_else(|| env::home_dir().filter(|it| it.is_absolute()).map(|it| it.join(".cache")))?;
    Some(base.join("broker"))
}

/// The text of the file that git's `core.excludesFile` names.
pub(crate) fn global_excludes() -> Option<String> {
    read(&ignore::gitignore::gitconfig_excludes_path()?)
        .ok()
        .map(|it| String::from_utf8_lossy(&it).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "what the user keeps at home is no workspace file")]
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}
