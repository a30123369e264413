//! The file system that programs inside see: the system's, read-only, with the workspace, folders for temporary files
//! and home folders in memory.
//!
//! As bubblewrap does it: a temporary file system becomes the root, under which the old root stands while the new one is
//! made of it. Mounting is by path, and no path here goes through a link: all were resolved before.

#![expect(clippy::disallowed_methods, reason = "what is made here is in memory")]

use std::{
    collections::BTreeSet,
    ffi::CString,
    fs::{self, File},
    io,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
};

use rustix::{
    fs::Mode,
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
        mount_change, mount_remount, unmount,
    },
    process::{chdir, geteuid, pivot_root},
};

use super::wire::Failure;
use crate::{Network, Sandbox, sandbox::EMPTY};

/// Where the parts are while the new root is made.
const OLD: &str = "/old";
const NEW: &str = "/new";
const LAYERS: &str = "/layers";

/// What says how names of the network are resolved, where it is in a hidden place.
const RESOLVERS: [&str; 4] = [
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/run/resolvconf/resolv.conf",
    "/run/NetworkManager/resolv.conf",
];

/// Devices that every program may use.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// What only an administrator may read, who is inside the same user as outside.
const SECRETS: [&str; 9] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers.d",
    "/var/cache/debconf/passwords.dat",
];

/// Since this version of the kernel each namespace has a highest number of processes of its own. Before, the system's
/// would be changed.
const NAMESPACED_PID_MAX: (u32, u32) = (6, 14);

/// Numbers that the kernel gives no process but the first ones.
const RESERVED_PIDS: u32 = 300;

/// An empty file takes memory, too.
const BYTES_PER_FILE: u64 = 1024;

/// Parts of `/proc` by which an administrator would change the system.
const PROC_SETTINGS: [&str; 5] = ["sys", "sysrq-trigger", "irq", "bus", "fs"];

type Result<T> = std::result::Result<T, Failure>;

trait During<T> {
    fn during(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> During<T> for std::result::Result<T, E> {
    fn during(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure::new(what(), &error.into()))
    }
}

/// Makes `OLD` the system's root and a file system in memory of at most `space` bytes the own one.
pub(super) fn begin(space: u64) -> Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during(|| "cannot make mounts of its own".to_owned())?;
    let base = Path::new("/tmp");
    temporary(base, &format!("size={space},nr_inodes={},mode=0755", space / BYTES_PER_FILE))?;
    for name in [OLD, NEW, LAYERS] {
        make(&base.join(&name[1..]))?;
    }
    pivot_root(base, base.join("old")).during(|| "cannot change the root".to_owned())?;
    chdir("/").during(|| "cannot enter the root".to_owned())
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

/// Makes the root that programs see, with what `show_folder` shows of the workspace, and enters it; the old one is gone
/// then.
/// Says besides where what is written to `stores` is, each a cache with the layer that lies over it.
pub(super) fn finish<T>(
    sandbox: &Sandbox,
    stores: &[(PathBuf, Option<PathBuf>)],
    owner: Option<(u32, u32)>,
    sockets: &[PathBuf],
    root: &Path,
    show_folder: impl FnOnce() -> Result<T>,
) -> Result<(T, Vec<Option<File>>)> {
    mount_bind_recursive(OLD, NEW).during(|| "cannot show the system".to_owned())?;
    protect(Path::new(NEW))?;
    devices()?;
    let mut hidden: BTreeSet<PathBuf> = EMPTY.iter().map(PathBuf::from).collect();
    hidden.extend(sandbox.home.iter().chain(&sandbox.hidden).cloned());
    empty(&hidden, "empty")?;
    processes(sandbox)?;
    for (number, path) in
        sandbox.read.iter().enumerate().filter(|(_, it)| stores.iter().all(|(at, _)| at != *it))
    {
        show(path, number)?;
    }
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
    // What was shown since may lie around them.
    empty(&sandbox.hidden.iter().cloned().collect(), "again")?;
    for path in SECRETS {
        hide(Path::new(path))?;
    }
    hide_sockets(sockets, sandbox, root)?;
    enter()?;
    Ok((shown, stores))
}

/// Shows a copy of the workspace in its place.
pub(super) fn show_copy(copy: &Path, root: &Path) -> Result<()> {
    let (from, to) = (in_old(copy), in_new(root));
    make_place(&from, &to)?;
    mount_bind(&from, &to).during(|| format!("cannot show the copy of {}", root.display()))?;
    let flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount(&to, flags, c"").during(|| format!("cannot show the copy of {}", root.display()))
}

/// Layers of a merged folder, held open.
pub(super) struct Merged {
    pub(super) written: File,
    /// What the branch and the disk show, without caches.
    pub(super) below: [File; 2],
}

/// Shows the workspace under its layers.
pub(super) fn merge(root: &Path, caches: &[PathBuf]) -> Result<Merged> {
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
    Ok(Merged { written: open(&upper)?, below })
}

/// Why there is no overlayfs. With too little space for one, another backend is no better.
fn without_overlayfs(failure: Failure) -> Failure {
    /// What a mount and a trial take, with some to spare.
    const LEAST: (u64, u64) = (16, 64 << 10);
    let is_full = |it: rustix::fs::StatVfs| it.f_favail < LEAST.0 || it.f_bavail * it.f_frsize < LEAST.1;
    if rustix::fs::statvfs(LAYERS).is_ok_and(is_full) {
        let what = "the folder takes more space than may be written";
        return Failure::new(what, &rustix::io::Errno::NOSPC.into());
    }
    failure.of_overlayfs()
}

/// A folder that is mounted may still not take what is written, or not give it back.
pub(super) fn try_out(folder: &Path) -> Result<()> {
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

/// Everything below is read-only, no program there gains rights, and no device can be opened.
fn protect(root: &Path) -> Result<()> {
    for (path, options) in mounts_below(root)? {
        let kept = options.split(',').map(flag).fold(MountFlags::empty(), |all, it| all | it);
        let flags = kept | MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        match mount_remount(&path, flags, c"") {
            Ok(()) => {}
            // It is covered by another mount, or out of reach: so it is for programs.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT | rustix::io::Errno::ACCESS) => {}
            Err(error) => {
                return Err(Failure::new(format!("cannot make {} read-only", path.display()), &error.into()));
            }
        }
    }
    Ok(())
}

/// Each with its options, outermost first.
fn mounts_below(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    // The old root's, whose `/proc` shows this process by its number outside.
    let table = Path::new(OLD).join("proc/self/mountinfo");
    let table = fs::read_to_string(table).during(|| "cannot read the mounts".to_owned())?;
    let mounts = table.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let path = PathBuf::from(unescaped(fields.nth(4)?));
        path.starts_with(root).then(|| (path, fields.next().unwrap_or_default().to_owned()))
    });
    Ok(mounts.collect())
}

/// As `/proc` writes spaces and the like: `\040`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|it| u8::from_str_radix(it, 8).ok()) {
            Some(byte) => {
                all.push(char::from(byte));
                all.push_str(&part[3..]);
            }
            None => all.push_str(part),
        }
    }
    all
}

fn flag(option: &str) -> MountFlags {
    match option {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    }
}

fn devices() -> Result<()> {
    let dev = in_new(Path::new("/dev"));
    temporary(&dev, "size=64k,mode=0755")?;
    for name in DEVICES {
        let (from, to) = (Path::new(OLD).join("dev").join(name), dev.join(name));
        make_file(&to)?;
        // Read-only: its mode and times are the system's. A device itself is written to all the same.
        let show = || mount_remount(&to, MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID, c"");
        mount_bind(&from, &to).and_then(|()| show()).during(|| format!("cannot show /dev/{name}"))?;
    }
    let links = [
        ("/proc/self/fd", "fd"),
        ("/proc/self/fd/0", "stdin"),
        ("/proc/self/fd/1", "stdout"),
        ("/proc/self/fd/2", "stderr"),
        ("pts/ptmx", "ptmx"),
    ];
    for (to, name) in links {
        link(to, &dev.join(name))?;
    }
    make(&dev.join("pts"))?;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount("devpts", dev.join("pts"), "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options)
        .during(|| "cannot mount terminals".to_owned())?;
    let shared = Path::new(LAYERS).join("shm");
    make_open(&shared)?;
    make(&dev.join("shm"))?;
    mount_bind(&shared, dev.join("shm")).during(|| "cannot mount shared memory".to_owned())
}

/// Puts folders in memory over those that are hidden; of two that lie in each other the outer one is enough.
fn empty(hidden: &BTreeSet<PathBuf>, name: &str) -> Result<()> {
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
/// lie in what was named are meant, or are shown by an overlayfs, through which no service is reached.
fn hide_sockets(sockets: &[PathBuf], sandbox: &Sandbox, root: &Path) -> Result<()> {
    let is_named = |path: &Path| {
        let mut named = sandbox.read.iter().chain(&sandbox.write).map(PathBuf::as_path).chain([root]);
        named.any(|it| path.starts_with(it))
    };
    let is_socket =
        |path: &Path| fs::symlink_metadata(in_new(path)).is_ok_and(|it| it.file_type().is_socket());
    sockets.iter().filter(|it| !is_named(it) && is_socket(it)).try_for_each(|it| match hide(it) {
        // It is gone meanwhile.
        Err(failure) if failure.error == Some(libc::ENOENT) => Ok(()),
        hidden => hidden,
    })
}

/// The processes of this namespace, of which no setting of the system can be changed.
fn processes(sandbox: &Sandbox) -> Result<()> {
    let proc = in_new(Path::new("/proc"));
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", &proc, "proc", flags, c"").during(|| "cannot mount /proc".to_owned())?;
    if kernel() >= NAMESPACED_PID_MAX {
        let most = sandbox.processes.saturating_add(RESERVED_PIDS).to_string();
        fs::write(proc.join("sys/kernel/pid_max"), most).during(|| "cannot limit processes".to_owned())?;
    }
    for name in PROC_SETTINGS {
        let path = proc.join(name);
        if fs::symlink_metadata(&path).is_err() {
            continue;
        }
        mount_bind(&path, &path).during(|| format!("cannot protect /proc/{name}"))?;
        mount_remount(&path, flags | MountFlags::BIND | MountFlags::RDONLY, c"")
            .during(|| format!("cannot protect /proc/{name}"))?;
    }
    Ok(())
}

/// The kernel's version: its first two numbers.
fn kernel() -> (u32, u32) {
    let name = rustix::system::uname();
    let mut numbers =
        name.release().to_str().unwrap_or_default().split(['.', '-']).map_while(|it| it.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Shows what is to be read, also in a hidden place. A folder can be written to, in memory: caches want to be.
fn show(path: &Path, number: usize) -> Result<()> {
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
fn show_store(
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

fn show_read_only(path: &Path) -> Result<()> {
    let (from, to) = (in_old(path), in_new(path));
    make_place(&from, &to)?;
    mount_bind(&from, &to).and_then(|()| read_only(&to)).during(|| format!("cannot show {}", path.display()))
}

fn read_only(path: &Path) -> rustix::io::Result<()> {
    mount_remount(path, MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID, c"")
}

fn enter() -> Result<()> {
    chdir(NEW).during(|| "cannot enter the new root".to_owned())?;
    pivot_root(".", ".").during(|| "cannot change to the new root".to_owned())?;
    unmount(".", UnmountFlags::DETACH).during(|| "cannot leave the old root".to_owned())?;
    chdir("/").during(|| "cannot enter the new root".to_owned())
}

fn temporary(path: &Path, options: &str) -> Result<()> {
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, &*text(options)?)
        .during(|| format!("cannot mount a folder in memory at {}", path.display()))
}

fn text(options: &str) -> Result<CString> {
    CString::new(options).map_err(|error| Failure::new("options of a mount", &error.into()))
}

fn in_old(path: &Path) -> PathBuf {
    Path::new(OLD).join(path.strip_prefix("/").unwrap_or(path))
}

fn in_new(path: &Path) -> PathBuf {
    Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path))
}

/// A place of the same kind as `from`, to be mounted on.
fn make_place(from: &Path, to: &Path) -> Result<()> {
    if fs::metadata(from).is_ok_and(|it| it.is_dir()) {
        return make_all(to);
    }
    if let Some(parent) = to.parent() {
        make_all(parent)?;
    }
    if fs::symlink_metadata(to).is_ok() { Ok(()) } else { make_file(to) }
}

fn make(path: &Path) -> Result<()> {
    fs::create_dir(path).during(|| format!("cannot make {}", path.display()))
}

fn make_all(path: &Path) -> Result<()> {
    fs::create_dir_all(path).during(|| format!("cannot make {}", path.display()))
}

fn make_file(path: &Path) -> Result<()> {
    File::create(path).map(drop).during(|| format!("cannot make {}", path.display()))
}

fn link(to: &str, path: &Path) -> Result<()> {
    symlink(to, path).during(|| format!("cannot make {}", path.display()))
}

/// A folder in which everyone may write, and remove only what is theirs.
fn make_open(path: &Path) -> Result<()> {
    make(path)?;
    rustix::fs::chmod(path, Mode::from_raw_mode(0o1777)).during(|| format!("cannot open {}", path.display()))
}

fn copy_mode(from: &Path, to: &Path) -> Result<()> {
    let copy = || {
        let metadata = fs::metadata(from)?;
        if geteuid().is_root() {
            chown(to, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        fs::set_permissions(to, fs::Permissions::from_mode(metadata.mode() & 0o7777))
    };
    copy().during(|| format!("cannot set the mode of {}", to.display()))
}

fn copy_time(from: &Path, to: &Path) -> Result<()> {
    let copy = || File::open(to)?.set_modified(fs::metadata(from)?.modified()?);
    copy().during(|| format!("cannot set the time of {}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_mounts_are_read() {
        assert_eq!(unescaped(r"/a\040b\134c"), "/a b\\c");
        assert_eq!(unescaped(r"/a\"), "/a");
        assert_eq!(unescaped("/plain"), "/plain");
    }
}
