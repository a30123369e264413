//! Files and sockets that programs are not to see or to reach.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
};

use rustix::mount::{MountFlags, mount_bind, mount_remount};

use super::{
    During as _, LAYERS, Result,
    places::{in_new, make, make_all, make_file, make_open},
};
use crate::Sandbox;

/// Puts folders in memory over those that are hidden; of two that lie in each other the outer one is enough.
pub(super) fn empty(hidden: &BTreeSet<PathBuf>, name: &str) -> Result<()> {
    let is_inner = |path: &Path| path.ancestors().skip(1).any(|it| hidden.contains(it));
    for (number, path) in hidden.iter().enumerate().filter(|(_, it)| !is_inner(it)) {
        let to = in_new(path);
        match fs::symlink_metadata(&to) {
            Ok(it) if it.is_dir() => {}
            // A link leads to what is hidden by its own name, or to what may be seen.
            _ => continue,
        }
        let from = Path::new(LAYERS).join(format!("{name}-{number}"));
        if path.ends_with("tmp") {
            make_open(&from)?
        } else {
            make(&from)?
        }
        mount_bind(&from, &to).during(|| format!("cannot hide {}", path.display()))?;
    }
    for path in hidden.iter().filter(|it| is_inner(it)) {
        let below = hidden.iter().find(|it| path.starts_with(it) && *it != path);
        if below.is_some_and(|it| in_new(it).is_dir()) {
            make_all(&in_new(path))?;
        }
    }
    Ok(())
}

/// An empty file or folder that cannot be written to stands in its place.
fn hide(path: &Path) -> Result<()> {
    let to = in_new(path);
    let Ok(metadata) = fs::symlink_metadata(&to) else { return Ok(()) };
    let nothing = Path::new(LAYERS).join(if metadata.is_dir() { "nothing" } else { "no-file" });
    if metadata.is_symlink() {
        return Ok(());
    }
    if metadata.is_dir() {
        make_all(&nothing)?
    } else {
        make_file(&nothing)?
    }
    mount_bind(&nothing, &to).during(|| format!("cannot hide {}", path.display()))?;
    mount_remount(&to, MountFlags::BIND | MountFlags::RDONLY, c"")
        .during(|| format!("cannot protect {}", path.display()))
}

/// Puts nothing in the place of sockets of services, which a read-only mount does not keep from being connected to. Those that
/// lie in what was named are meant, or are shown by an overlayfs, through which no service is reached, as is the workspace at `root`.
pub(super) fn hide_sockets(sockets: &[PathBuf], sandbox: &Sandbox, root: Option<&Path>) -> Result<()> {
    let is_named = |path: &Path| {
        let mut named = sandbox.read.iter().chain(&sandbox.write).map(PathBuf::as_path).chain(root);
        named.any(|it| path.starts_with(it))
    };
    let is_socket =
        |path: &Path| fs::symlink_metadata(in_new(path)).is_ok_and(|it| it.file_type().is_socket());
    sockets.iter().filter(|it| !is_named(it) && is_socket(it)).try_for_each(|it| match hide(it) {
        // The socket is gone meanwhile.
        Err(failure) if failure.error == Some(libc::ENOENT) => Ok(()),
        hidden => hidden,
    })
}
