//! What processes inside use, as `/proc` tells.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::PathBuf,
    time::Duration,
};

use rustix::process::{Pid, Signal, getpid, kill_process};

/// What a run uses at the moment.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Bytes of memory; what processes share is divided among them where the kernel says so.
    pub(super) memory: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// What all that descends from `leader` uses.
pub(super) fn of(leader: Pid) -> Usage {
    let mut usage = Usage::default();
    let (mut mapped, mut files) = (0, BTreeMap::new());
    for process in Processes::look().below(leader) {
        let memory = memory(process.pid).unwrap_or_default();
        usage.memory += memory.all - memory.of_files;
        mapped += memory.of_files;
        usage.tasks += process.threads;
        files_in_memory(process.pid, &mut files);
    }
    // What of these files is mapped is counted by both.
    usage.memory += mapped.max(files.values().sum());
    usage
}

/// At least what [`of`] tells of memory, for much less: of each process the kernel has a number of its pages, but to divide what
/// is shared it goes through all of them.
pub(super) fn bound(leader: Pid) -> Usage {
    let page = rustix::param::page_size() as u64;
    let mut usage = Usage::default();
    let mut files = BTreeMap::new();
    for process in Processes::look().below(leader) {
        usage.memory += (process.pages + INEXACT).saturating_mul(page);
        usage.tasks += process.threads;
        files_in_memory(process.pid, &mut files);
    }
    usage.memory += files.values().sum::<u64>();
    usage
}

/// Pages by which the kernel's number may be too small: each processor counts some by itself.
const INEXACT: u64 = 1024;

/// Files without a name that a process has open (`memfd`), which need not be mapped: bytes by device and number.
#[expect(clippy::disallowed_methods, reason = "the system's list of open files")]
fn files_in_memory(pid: Pid, files: &mut BTreeMap<(u64, u64), u64>) {
    let folder = PathBuf::from(format!("/proc/{}/fd", pid.as_raw_nonzero()));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_one =
            fs::read_link(entry.path()).is_ok_and(|it| it.as_os_str().as_bytes().starts_with(b"/memfd:"));
        if let Some(it) = is_one.then(|| fs::metadata(entry.path()).ok()).flatten() {
            files.insert((it.dev(), it.ino()), it.blocks() * BLOCK);
        }
    }
}

/// Bytes of a block, whatever the file system's are.
const BLOCK: u64 = 512;

/// Ends what descends from `leader`, several times over: what is born meanwhile is ended, too.
pub(super) fn end(leader: Pid) {
    for _ in 0..ROUNDS {
        let all: Vec<Pid> = Processes::look().below(leader).iter().map(|it| it.pid).collect();
        if all.is_empty() {
            return;
        }
        // Those that are stopped cannot make new ones while the others are ended.
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in &all {
                let _ = kill_process(*pid, signal);
            }
        }
        if all.iter().all(|it| is_dead(*it)) {
            return;
        }
    }
}

/// What still lives then loses its parent, and is ended as such.
const ROUNDS: usize = 16;

pub(super) fn is_dead(pid: Pid) -> bool {
    read(pid, "stat").is_none_or(|it| after_name(&it).starts_with(['Z', 'X']))
}

/// All processes as they say of themselves, one after the other.
pub(super) struct Processes(Vec<Process>);

struct Process {
    pid: Pid,
    parent: Pid,
    is_dead: bool,
    threads: u64,
    /// Pages of its memory that are there.
    pages: u64,
}

impl Processes {
    pub(super) fn look() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = all.filter_map(|it| Pid::from_raw(it.file_name().to_str()?.parse().ok()?));
        Self(pids.filter_map(Process::of).collect())
    }

    /// All that descend from this one.
    fn below(&self, leader: Pid) -> Vec<&Process> {
        let mut found: Vec<&Process> = self.0.iter().filter(|it| it.parent == leader).collect();
        let mut next = 0;
        while let Some(parent) = found.get(next).filter(|_| next < self.0.len()).map(|it| it.pid) {
            found.extend(self.0.iter().filter(|it| it.parent == parent));
            next += 1;
        }
        found
    }

    /// Also those that are dead, which are to be waited for.
    pub(super) fn children(&self, parent: Pid) -> impl Iterator<Item = Pid> {
        self.0.iter().filter(move |it| it.parent == parent).map(|it| it.pid)
    }

    /// Whether a process lives that descends from this one and from none of the leaders. Where no others can be seen
    /// (`is_alone`), one whose parent died during the look counts, too.
    pub(super) fn lives_outside(&self, leaders: &[Pid], is_alone: bool) -> bool {
        self.0.iter().any(|it| !it.is_dead && it.pid != getpid() && self.is_stray(it.pid, leaders, is_alone))
    }

    fn is_stray(&self, pid: Pid, leaders: &[Pid], is_alone: bool) -> bool {
        let parent = |pid: Pid| self.0.iter().find(|it| it.pid == pid && !it.is_dead).map(|it| it.parent);
        let mut above = std::iter::successors(Some(pid), |it| parent(*it)).take(self.0.len() + 1);
        match above.find(|it| *it == getpid() || leaders.contains(it)) {
            Some(known) => known == getpid(),
            None => is_alone,
        }
    }
}

impl Process {
    fn of(pid: Pid) -> Option<Self> {
        let stat = read(pid, "stat")?;
        let parent = Pid::from_raw(i32::try_from(field(&stat, PARENT)?).ok()?)?;
        let is_dead = after_name(&stat).starts_with(['Z', 'X']);
        let number = |place| field(&stat, place).unwrap_or(0);
        Some(Self { pid, parent, is_dead, threads: number(THREADS), pages: number(PAGES) })
    }
}

/// Places after the name in `/proc/PID/stat`.
const PARENT: usize = 1;
const CHILDRENS_USER_TIME: usize = 13;
const CHILDRENS_SYSTEM_TIME: usize = 14;
const THREADS: usize = 17;
const PAGES: usize = 21;

fn field(stat: &str, place: usize) -> Option<u64> {
    after_name(stat).split(' ').nth(place)?.parse().ok()
}

/// A program chooses its name, which may have spaces and brackets.
fn after_name(stat: &str) -> &str {
    stat.rsplit_once(") ").map_or("", |(_, rest)| rest)
}

/// Bytes of memory of one process.
#[derive(Default)]
struct Memory {
    all: u64,
    /// The part of `all` that is of files in memory.
    of_files: u64,
}

fn memory(pid: Pid) -> Option<Memory> {
    // The sum over processes is right only of what is divided.
    let rollup = read(pid, "smaps_rollup")?;
    let field = |name: &str| {
        let line = rollup.lines().find_map(|it| it.strip_prefix(name))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib << 10)
    };
    let all = field("Pss:")?;
    Some(Memory { all, of_files: field("Pss_Shmem:").unwrap_or(0).min(all) })
}

/// Bytes of the largest of these files, so that each is read at once.
const LARGEST: usize = 4 << 10;

fn read(pid: Pid, name: &str) -> Option<String> {
    let path = PathBuf::from(format!("/proc/{}/{name}", pid.as_raw_nonzero()));
    let mut bytes = [0; LARGEST];
    #[expect(clippy::disallowed_methods, reason = "the system's facts of a process")]
    let size = fs::File::open(path).ok()?.read(&mut bytes).ok()?;
    // A process may have a name that is no text.
    Some(String::from_utf8_lossy(&bytes[..size]).into_owned())
}

/// The processors' time of all that this process has waited for.
pub(super) fn time_of_children() -> Duration {
    let Some(stat) = read(getpid(), "stat") else { return Duration::ZERO };
    let ticks: u64 =
        [CHILDRENS_USER_TIME, CHILDRENS_SYSTEM_TIME].into_iter().filter_map(|it| field(&stat, it)).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let stat = "7 (a) b) (c) S 3 7 7 0 -1 0 1 2 3 4 5 6 70 80 20 0 9 0 11 4096 33 5";
        assert_eq!(field(stat, PARENT), Some(3));
        assert_eq!(field(stat, CHILDRENS_USER_TIME), Some(70));
        assert_eq!(field(stat, CHILDRENS_SYSTEM_TIME), Some(80));
        assert_eq!(field(stat, THREADS), Some(9));
        assert_eq!(field(stat, PAGES), Some(33));
        assert_eq!(after_name("broken"), "");
    }
}
