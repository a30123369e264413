//! The file system that programs inside see: parts of the system's, read-only, with the workspace, folders for temporary files
//! and home folders in memory.
//!
//! Bubblewrap does the same: a temporary file system becomes the root, under which the old root stands while the new one is made
//! of it. Mounting is by path, and no path here goes through a link: all were resolved before.

#![expect(clippy::disallowed_methods, reason = "what is made here is in memory")]

mod hidden;
mod places;
mod settings;
mod shown;
mod system;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt as _, chown},
    path::{Path, PathBuf},
};

use rustix::{
    fs::Mode,
    mount::{MountPropagationFlags, UnmountFlags, mount_bind_recursive, mount_change, unmount},
    process::{chdir, geteuid, pivot_root, umask},
};

pub(super) use self::shown::{Merged, merge, show_copy, show_workspace, try_out};
use self::{
    hidden::{empty, hide_sockets},
    places::{copy_mode, in_new, in_old, make, make_all, make_place, temporary},
    settings::{show_link, show_system},
    shown::{read_only, show, show_read_only, show_store},
    system::{devices, processes, protect},
};
use super::wire::Failure;
use crate::{Network, Sandbox, system::EMPTY};

/// Paths of the parts while the new root is made.
const OLD: &str = "/old";
const NEW: &str = "/new";
const LAYERS: &str = "/layers";

/// Files with the resolvers of network names, where they are in a hidden place.
const RESOLVERS: [&str; 4] = [
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/run/resolvconf/resolv.conf",
    "/run/NetworkManager/resolv.conf",
];

/// An empty file takes memory, too.
const BYTES_PER_FILE: u64 = 1024;

type Result<T> = std::result::Result<T, Failure>;

trait During<T> {
    fn during(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> During<T> for std::result::Result<T, E> {
    fn during(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure::new(what(), &error.into()))
    }
}

/// Makes `OLD` the system's root, which it returns, and a file system in memory of at most `space` bytes the own one.
pub(super) fn begin(space: u64) -> Result<File> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during(|| "cannot make mounts of its own".to_owned())?;
    let base = Path::new("/tmp");
    temporary(base, &format!("size={space},nr_inodes={},mode=0755", space / BYTES_PER_FILE))?;
    for name in [OLD, NEW, LAYERS] {
        make(&base.join(&name[1..]))?;
    }
    pivot_root(base, base.join("old")).during(|| "cannot change the root".to_owned())?;
    chdir("/").during(|| "cannot enter the root".to_owned())?;
    File::open(OLD).during(|| "cannot open the system's root".to_owned())
}

/// The folder's layers, in memory. The entries of a branch are to be written before `merge`.
pub(super) fn layers(root: &Path) -> Result<(PathBuf, PathBuf)> {
    let below = Path::new(LAYERS).join("below");
    make(&below)?;
    // By a name without characters that mean something to overlayfs.
    // With what is mounted there, which a user may not leave out; the overlayfs shows empty folders in its place.
    mount_bind_recursive(in_old(root), &below).during(|| format!("cannot show {}", root.display()))?;
    let branch = Path::new(LAYERS).join("branch");
    make(&branch)?;
    copy_mode(&below, &branch)?;
    Ok((branch, below))
}

/// The user and group to whom the workspace belongs, for an administrator who is not that user: who has no rights is no
/// administrator, and could change nothing there.
pub(super) fn other_owner(root: &Path) -> Option<(u32, u32)> {
    let metadata = fs::metadata(root).ok()?;
    (geteuid().is_root() && metadata.uid() != 0).then(|| (metadata.uid(), metadata.gid()))
}

/// Gives away a home folder in memory, with the folders in it that stand around what is shown.
fn give(folder: &Path, (user, group): (u32, u32)) -> io::Result<()> {
    let device = fs::metadata(folder)?.dev();
    chown(folder, Some(user), Some(group))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = fs::symlink_metadata(entry.path())?;
        if metadata.is_dir() && metadata.dev() == device {
            give(&entry.path(), (user, group))?;
        }
    }
    Ok(())
}

/// Folders in which programs keep what is theirs, by the habit of systems.
const OWN_FOLDERS: [&str; 3] = [".cache", ".config", ".local"];

/// Makes such folders in a home folder in memory that lies around the workspace, where programs cannot write to it otherwise.
pub(super) fn make_own_folders(root: &Path, home: Option<&Path>, owner: Option<(u32, u32)>) -> Result<()> {
    let Some(home) = home.filter(|it| root.starts_with(it)) else { return Ok(()) };
    for folder in OWN_FOLDERS.iter().map(|it| in_new(home).join(it)) {
        make_all(&folder)?;
        if let Some((user, group)) = owner {
            chown(&folder, Some(user), Some(group))
                .during(|| format!("cannot give {} away", home.display()))?;
        }
    }
    Ok(())
}

/// Makes the root that programs see, with what `show_folder` shows of the workspace, and enters it; the old one is gone
/// then.
/// Says besides where what is written to `stores` is, each a cache with the layer that lies over it.
pub(super) fn finish<T>(
    sandbox: &Sandbox,
    stores: &[(PathBuf, Option<PathBuf>)],
    owner: Option<(u32, u32)>,
    sockets: &[PathBuf],
    root: Option<&Path>,
    show_folder: impl FnOnce() -> Result<T>,
) -> Result<(T, Vec<Option<File>>)> {
    // Else folders that are made here would be closed to a program of another user.
    let mask = umask(Mode::WGRP | Mode::WOTH);
    let made = fill(sandbox, stores, owner, sockets, root, show_folder);
    umask(mask);
    let made = made?;
    enter()?;
    Ok(made)
}

/// The root's own files: empty folders and copies of configuration.
const ROOT: &str = "size=64m,mode=0755";

fn fill<T>(
    sandbox: &Sandbox,
    stores: &[(PathBuf, Option<PathBuf>)],
    owner: Option<(u32, u32)>,
    sockets: &[PathBuf],
    root: Option<&Path>,
    show_folder: impl FnOnce() -> Result<T>,
) -> Result<(T, Vec<Option<File>>)> {
    temporary(Path::new(NEW), ROOT)?;
    show_system()?;
    protect(Path::new(NEW))?;
    devices()?;
    let mut hidden: BTreeSet<PathBuf> = EMPTY.iter().map(PathBuf::from).collect();
    hidden.extend(sandbox.home.clone());
    // A link leads to what is hidden by its own name, or to what may be seen.
    hidden.iter().map(|it| in_new(it)).filter(|it| !it.is_symlink()).try_for_each(|it| make_all(&it))?;
    hidden.extend(sandbox.hidden.iter().cloned());
    empty(&hidden, "empty")?;
    processes(sandbox)?;
    for (number, path) in
        sandbox.read.iter().enumerate().filter(|(_, it)| stores.iter().all(|(at, _)| at != *it))
    {
        show(path, number)?;
    }
    sandbox.links.iter().try_for_each(|it| show_link(it))?;
    let stores = stores
        .iter()
        .enumerate()
        .map(|(number, (path, layer))| show_store(path, number, layer.as_deref(), owner));
    let stores = stores.collect::<Result<_>>()?;
    if sandbox.network == Network::Host {
        for path in RESOLVERS.iter().map(Path::new).filter(|it| in_old(it).exists()) {
            show_read_only(path)?;
        }
    }
    for path in &sandbox.write {
        let to = in_new(path);
        make_place(&in_old(path), &to)?;
        mount_bind_recursive(in_old(path), &to).during(|| format!("cannot show {}", path.display()))?;
    }
    if let (Some(home), Some(owner)) = (&sandbox.home, owner) {
        give(&in_new(home), owner).during(|| format!("cannot give {} away", home.display()))?;
    }
    let shown = show_folder()?;
    // Folders that were shown since may lie around them.
    empty(&sandbox.hidden.iter().cloned().collect(), "again")?;
    hide_sockets(sockets, sandbox, root)?;
    read_only(Path::new(NEW)).during(|| "cannot protect the root".to_owned())?;
    Ok((shown, stores))
}

fn enter() -> Result<()> {
    chdir(NEW).during(|| "cannot enter the new root".to_owned())?;
    pivot_root(".", ".").during(|| "cannot change to the new root".to_owned())?;
    unmount(".", UnmountFlags::DETACH).during(|| "cannot leave the old root".to_owned())?;
    chdir("/").during(|| "cannot enter the new root".to_owned())
}
