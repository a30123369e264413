//! The system as programs see it: read-only, with few devices, and with the processes of their own namespace alone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::mount::{MountFlags, mount, mount_bind, mount_remount};

use super::{
    During as _, LAYERS, OLD, Result,
    places::{in_new, link, make, make_file, make_open, temporary},
};
use crate::{Sandbox, linux::wire::Failure};

/// Devices that every program may use.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Since this version of the kernel each namespace has a highest number of processes of its own. Before, the system's
/// would be changed.
const NAMESPACED_PID_MAX: (u32, u32) = (6, 14);

/// Numbers that the kernel gives no process but the first ones.
const RESERVED_PIDS: u32 = 300;

/// Parts of `/proc` by which an administrator would change the system, and process 1, of which its user may set how soon the
/// kernel ends it when memory is short.
const PROC_SETTINGS: [&str; 6] = ["sys", "sysrq-trigger", "irq", "bus", "fs", "1"];

/// Everything below is read-only, no program there gains rights, and no device can be opened.
pub(super) fn protect(root: &Path) -> Result<()> {
    // The root itself is still to be filled.
    for (path, options) in mounts_below(root)?.into_iter().filter(|(it, _)| it != root) {
        let kept = options.split(',').map(flag).fold(MountFlags::empty(), |all, it| all | it);
        let flags = kept | MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        match mount_remount(&path, flags, c"") {
            Ok(()) => {}
            // The mount is covered by another one, or out of reach: so it is for programs.
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

/// Replaces the escapes of `/proc` for spaces and the like: `\040`.
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

pub(super) fn devices() -> Result<()> {
    let dev = in_new(Path::new("/dev"));
    make(&dev)?;
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

/// The processes of this namespace, of which no setting of the system can be changed.
pub(super) fn processes(sandbox: &Sandbox) -> Result<()> {
    let proc = in_new(Path::new("/proc"));
    make(&proc)?;
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
