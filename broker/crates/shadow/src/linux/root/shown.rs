//! Mounts that programs see besides the system: the workspace, folders to be read, and caches.

use std::{
    ffi::CString,
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt as _, fs::chown},
    path::{Path, PathBuf},
};

use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive, mount_remount};

use super::{
    During as _, LAYERS, Result,
    places::{copy_mode, copy_time, in_new, in_old, make, make_all, make_place, text},
};
use crate::linux::wire::Failure;

/// Shows a copy of the workspace in its place.
pub(in crate::linux) fn show_copy(copy: &Path, root: &Path) -> Result<()> {
    let (from, to) = (in_old(copy), in_new(root));
    make_place(&from, &to)?;
    mount_bind(&from, &to).during(|| format!("cannot show the copy of {}", root.display()))?;
    let flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount(&to, flags, c"").during(|| format!("cannot show the copy of {}", root.display()))
}

/// Shows the workspace itself, with what is mounted in it, as something that cannot be written to.
pub(in crate::linux) fn show_workspace(root: &Path) -> Result<()> {
    let (from, to) = (in_old(root), in_new(root));
    make_place(&from, &to)?;
    let what = || format!("cannot show {}", root.display());
    mount_bind_recursive(&from, &to).during(what)?;
    all_read_only(&to).during(what)
}

/// Protects a mount and those within it.
fn all_read_only(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: zero is a value of each field.
    #[expect(unsafe_code, reason = "see above")]
    let mut wanted: libc::mount_attr = unsafe { std::mem::zeroed() };
    wanted.attr_set = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    let (folder, flags, size) = (libc::AT_FDCWD, libc::AT_RECURSIVE, size_of::<libc::mount_attr>());
    // SAFETY: both pointers are to values that live until it returns, of which the kernel reads as much as `size` says.
    #[expect(unsafe_code, reason = "see above")]
    let done = unsafe {
        libc::syscall(libc::SYS_mount_setattr, folder, path.as_ptr(), flags, &raw const wanted, size)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Layers of a merged folder, held open.
#[derive(Debug)]
pub(in crate::linux) struct Merged {
    pub(in crate::linux) written: File,
    /// Layers of the branch and the disk, without caches.
    pub(in crate::linux) below: [File; 2],
    /// All layers below what is written.
    pub(in crate::linux) lower: Vec<File>,
}

/// Shows the workspace under its layers.
pub(in crate::linux) fn merge(root: &Path, caches: &[PathBuf]) -> Result<Merged> {
    let (upper, work) = (Path::new(LAYERS).join("written"), Path::new(LAYERS).join("work"));
    make(&upper)?;
    make(&work)?;
    copy_mode(&Path::new(LAYERS).join("below"), &upper)?;
    let to = in_new(root);
    make_place(&in_old(root), &to)?;
    let mut lower = vec![Path::new(LAYERS).join("branch")];
    for (number, from) in caches.iter().enumerate() {
        let layer = Path::new(LAYERS).join(format!("cache-{number}"));
        make(&layer)?;
        mount_bind(in_old(from), &layer).during(|| format!("cannot show {}", from.display()))?;
        lower.push(layer);
    }
    lower.push(Path::new(LAYERS).join("below"));
    overlay(&lower, &upper, &work, &to).and_then(|()| try_out(&to)).map_err(without_overlayfs)?;
    copy_time(&lower[0], &upper)?;
    let open = |it: &Path| File::open(it).during(|| format!("cannot open {}", it.display()));
    let below = [open(&lower[0])?, open(&Path::new(LAYERS).join("below"))?];
    let lower = lower.iter().map(|it| open(it)).collect::<Result<_>>()?;
    Ok(Merged { written: open(&upper)?, below, lower })
}

/// Returns why there is no overlayfs. With too little space for one, another backend is no better.
fn without_overlayfs(failure: Failure) -> Failure {
    /// Inodes and bytes that a mount and a trial take, with some to spare.
    const LEAST: (u64, u64) = (16, 64 << 10);
    let is_full = |it: rustix::fs::StatVfs| it.f_favail < LEAST.0 || it.f_bavail * it.f_frsize < LEAST.1;
    if rustix::fs::statvfs(LAYERS).is_ok_and(is_full) {
        let what = "the folder takes more space than may be written";
        return Failure::new(what, &rustix::io::Errno::NOSPC.into());
    }
    failure.of_overlayfs()
}

/// A folder that is mounted may still not take what is written, or not give it back.
pub(in crate::linux) fn try_out(folder: &Path) -> Result<()> {
    // A name that no workspace has.
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    let name = format!(".broker-trial-{}", now.as_nanos());
    let file = folder.join(&name);
    let write_and_read = || {
        fs::write(&file, &name)?;
        let read = fs::read_to_string(&file)?;
        fs::remove_file(&file)?;
        if read == name { Ok(()) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) }
    };
    write_and_read().during(|| "cannot write to the folder and read it back".to_owned())
}

fn overlay(lower: &[PathBuf], upper: &Path, work: &Path, to: &Path) -> Result<()> {
    let lower: Vec<_> = lower.iter().map(|it| it.display().to_string()).collect();
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        lower.join(":"),
        upper.display(),
        work.display()
    );
    mount("overlay", to, "overlay", MountFlags::NOSUID | MountFlags::NODEV, &*text(&options)?)
        .during(|| "cannot mount an overlayfs".to_owned())
}

/// Shows what is to be read, also in a hidden place. A folder can be written to, in memory: caches want to be.
pub(super) fn show(path: &Path, number: usize) -> Result<()> {
    let (from, to) = (in_old(path), in_new(path));
    let Ok(metadata) = fs::metadata(&from) else { return Ok(()) };
    if !metadata.is_dir() {
        return show_read_only(path);
    }
    make_place(&from, &to)?;
    let parts = ["below", "upper", "work"].map(|it| Path::new(LAYERS).join(format!("read-{number}-{it}")));
    for part in &parts {
        make(part)?;
    }
    let [below, upper, work] = parts;
    mount_bind_recursive(&from, &below).during(|| format!("cannot show {}", path.display()))?;
    copy_mode(&below, &upper)?;
    overlay(&[below], &upper, &work, &to)
}

/// Shows a cache, which need not be there, under what earlier runs wrote to it. `None` if it can have no place.
pub(super) fn show_store(
    path: &Path,
    number: usize,
    layer: Option<&Path>,
    owner: Option<(u32, u32)>,
) -> Result<Option<File>> {
    let (from, to) = (in_old(path), in_new(path));
    if make_all(&to).is_err() {
        return Ok(None);
    }
    let parts = ["kept", "below", "upper", "work"];
    let [kept, below, upper, work] = parts.map(|it| Path::new(LAYERS).join(format!("store-{number}-{it}")));
    [&below, &upper, &work].into_iter().try_for_each(|it| make(it))?;
    let what = || format!("cannot show {}", path.display());
    if from.is_dir() {
        mount_bind_recursive(&from, &below).during(what)?;
    } else if let Some((user, group)) = owner {
        chown(&below, Some(user), Some(group)).during(what)?;
    }
    copy_mode(&below, &upper)?;
    let mut lower = vec![below];
    if let Some(layer) = layer {
        make(&kept)?;
        mount_bind(in_old(layer), &kept).during(what)?;
        lower.insert(0, kept);
    }
    overlay(&lower, &upper, &work, &to)?;
    File::open(&upper).map(Some).during(what)
}

pub(super) fn show_read_only(path: &Path) -> Result<()> {
    let (from, to) = (in_old(path), in_new(path));
    make_place(&from, &to)?;
    mount_bind(&from, &to).and_then(|()| read_only(&to)).during(|| format!("cannot show {}", path.display()))
}

pub(super) fn read_only(path: &Path) -> rustix::io::Result<()> {
    mount_remount(path, MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID, c"")
}
