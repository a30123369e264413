//! Control groups (version 2): where a subtree of them is delegated to this user, the kernel itself holds a run to its
//! limits.
//!
//! The program that opened a folder makes a group for each run that has limits, and process 1, which counts as before,
//! puts the run into it and removes it at the end. When process 1 is gone, the program removes it; when both were killed, the next
//! program does that makes a group. Settings of groups that others made are never changed.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    sync::{
        Once,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{AtFlags, Mode, OFlags, openat, unlinkat},
    process::Pid,
};

use super::usage;
use crate::{Limits, Stopped};

/// Begins the names of groups; the number of the process that made it follows, and one of its own.
const PREFIX: &str = "broker-run-";

/// More processes than a run may have, so that it is seen to have more, and is ended.
const ROOM: u64 = 64;

/// A group that a run is in.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    folder: OwnedFd,
}

/// Makes a group for a run with these limits; none where there is no place for one. `space` is what may be written to memory,
/// which the kernel counts, too.
#[expect(clippy::disallowed_methods, reason = "folders of control groups")]
pub(super) fn make(limits: &Limits, space: u64) -> Option<PathBuf> {
    static SWEPT: Once = Once::new();
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let settings = settings(limits, space);
    if settings.is_empty() {
        return None;
    }
    let name = format!("{PREFIX}{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
    places().into_iter().find_map(|place| {
        let group = place.join(&name);
        fs::create_dir(&group).ok()?;
        if !settings.iter().any(|(setting, value)| set(&group, setting, value)) {
            let _ = fs::remove_dir(&group);
            return None;
        }
        // Else a run that takes too much would fill the disk first, and a part of it would go on.
        set(&group, "memory.swap.max", "0");
        set(&group, "memory.oom.group", "1");
        SWEPT.call_once(|| sweep(&place));
        Some(group)
    })
}

fn settings(limits: &Limits, space: u64) -> Vec<(&'static str, String)> {
    let memory = limits.memory.map(|it| ("memory.max", it.saturating_add(space).to_string()));
    let processes = limits.processes.map(|it| ("pids.max", it.saturating_add(ROOM).to_string()));
    memory.into_iter().chain(processes).collect()
}

/// Writes a setting of a control group. Returns whether the setting is there and took the value.
#[expect(clippy::disallowed_methods, reason = "a setting of a control group")]
fn set(group: &Path, setting: &str, value: &str) -> bool {
    let path = group.join(setting);
    // Not to make the file where it is not there.
    let written = File::options().write(true).open(&path).and_then(|mut it| it.write_all(value.as_bytes()));
    written.is_ok() && fs::read_to_string(&path).is_ok_and(|it| it.trim_end() != "max")
}

/// Groups that a new one may be made in: this process's own and those above it.
#[expect(clippy::disallowed_methods, reason = "the system's tables of mounts and groups")]
fn places() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some((top, own)) = own(&mounts, &groups) else { return Vec::new() };
    own.ancestors().take_while(|it| it.starts_with(&top)).map(Path::to_owned).collect()
}

/// The folders of the topmost group that is shown and of a process's own.
fn own(mounts: &str, groups: &str) -> Option<(PathBuf, PathBuf)> {
    let (root, top) = mounts.lines().find_map(|line| {
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        kind.starts_with("cgroup2 ").then(|| Some((fields.next()?, PathBuf::from(fields.next()?))))?
    })?;
    let own = Path::new(groups.lines().find_map(|it| it.strip_prefix("0::"))?);
    let below = own.strip_prefix(root).ok().filter(|it| !it.components().any(|it| it.as_os_str() == ".."))?;
    let own = top.join(below);
    Some((top, own))
}

/// Removes groups that killed programs left. One that still has processes stays.
#[expect(clippy::disallowed_methods, reason = "folders of control groups")]
fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let maker = entry.file_name().to_str().and_then(maker);
        if maker.is_some_and(usage::is_dead) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn maker(name: &str) -> Option<Pid> {
    Pid::from_raw(name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()?)
}

/// Number of times that the end of a group's processes is waited for, and duration of each.
const ROUNDS: usize = 100;
const ROUND: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Ends what is in a group, and removes it. It may be gone already.
#[expect(clippy::disallowed_methods, reason = "folders of control groups")]
pub(super) fn remove(group: &Path) {
    for _ in 0..ROUNDS {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            _ => return,
        }
        set(group, "cgroup.kill", "1");
        let Ok(mut events) = File::open(group.join("cgroup.events")) else { return };
        // A change of what was read ends the poll.
        let read = events.read_to_string(&mut String::new());
        if read.is_err() {
            return;
        }
        let _ = poll(&mut [PollFd::new(&events, PollFlags::PRI)], Some(&ROUND));
    }
}

impl Group {
    pub(super) fn new(name: String, folder: OwnedFd) -> Self {
        Self { name, folder }
    }

    /// Puts a process into it, with all that it will start.
    pub(super) fn add(&self, process: Pid) -> io::Result<()> {
        self.write("cgroup.procs", &process.as_raw_nonzero().to_string())
    }

    /// Ends all that is in it at once.
    pub(super) fn end(&self) -> io::Result<()> {
        self.write("cgroup.kill", "1")
    }

    /// The limit that the kernel held the run to, if it did.
    pub(super) fn stopped(&self, limits: &Limits) -> Option<Stopped> {
        let happened = |file: &str, event: &str| self.events(file, event).unwrap_or(0) > 0;
        let memory = limits.memory.filter(|_| happened("memory.events", "oom_kill"));
        let processes = limits.processes.filter(|_| happened("pids.events", "max"));
        memory.map(Stopped::Memory).or(processes.map(Stopped::Processes))
    }

    fn events(&self, file: &str, event: &str) -> Option<u64> {
        let mut text = String::new();
        self.open(file, OFlags::RDONLY).ok()?.read_to_string(&mut text).ok()?;
        count(&text, event)
    }

    /// Removes it, which has no processes any more.
    pub(super) fn remove(&self) -> io::Result<()> {
        let above = openat(self.folder.as_fd(), "..", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(unlinkat(above, &self.name, AtFlags::REMOVEDIR)?)
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        self.open(file, OFlags::WRONLY)?.write_all(value.as_bytes())
    }

    fn open(&self, file: &str, how: OFlags) -> io::Result<File> {
        Ok(openat(self.folder.as_fd(), file, how | OFlags::CLOEXEC, Mode::empty())?.into())
    }
}

fn count(text: &str, event: &str) -> Option<u64> {
    text.lines().find_map(|it| it.strip_prefix(event)?.strip_prefix(' ')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found() {
        let mounts =
            "30 1 0:2 / /proc rw - proc proc rw\n41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let folders = |mounts, groups| own(mounts, groups).map(|(_, own)| own.display().to_string());
        assert_eq!(folders(mounts, "4:memory:/a\n0::/\n").as_deref(), Some("/sys/fs/cgroup/"));
        assert_eq!(folders(mounts, "0::/user.slice/a\n").as_deref(), Some("/sys/fs/cgroup/user.slice/a"));
        assert_eq!(folders(mounts, "0::/../b\n"), None);
        let inner = mounts.replace("0:38 / ", "0:38 /pod ");
        assert_eq!(folders(&inner, "0::/pod/c\n").as_deref(), Some("/sys/fs/cgroup/c"));
        assert_eq!(folders("", "0::/\n"), None);
    }

    #[test]
    fn events_are_read() {
        let text = "oom 2\noom_kill 1\noom_group_kill 0\n";
        assert_eq!((count(text, "oom_kill"), count(text, "max")), (Some(1), None));
        assert_eq!(maker("broker-run-17-3"), Pid::from_raw(17));
        assert_eq!(maker("broker-run-x"), None);
    }
}
