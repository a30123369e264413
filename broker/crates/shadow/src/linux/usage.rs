//! Resources that processes inside use, by `/proc`.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::held::{Held, SystemV};

/// Resources that a run uses at the moment.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Bytes of memory; what processes share is divided among them where the kernel says so.
    pub(super) memory: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// Returns the resources that all descendants of `leader` use. Where no processes of others can be seen (`is_alone`), memory that
/// no living process made counts, too.
pub(super) fn of(leader: Pid, is_alone: bool) -> io::Result<Usage> {
    let all = Processes::look()?;
    let (mut usage, mut held) = (Usage::default(), Held::default());
    let mut mapped = 0;
    let own = all.below(leader);
    for process in &own {
        let memory = process.memory()?;
        usage.memory += memory.all - memory.of_files;
        mapped += memory.of_files;
        usage.tasks += process.threads;
        held.add(process.pid)?;
    }
    let between = all.between(&own, is_alone)?;
    // Mapped files and segments are counted by both.
    usage.memory += mapped.max(held.files() + between.segments) + held.texts() + between.others;
    Ok(usage)
}

/// At least what [`of`] tells of memory, for much less: of each process the kernel has a number of its pages, but to divide what
/// is shared it goes through all of them.
pub(super) fn bound(leader: Pid, is_alone: bool) -> io::Result<Usage> {
    let page = rustix::param::page_size() as u64;
    let all = Processes::look()?;
    let (mut usage, mut held) = (Usage::default(), Held::default());
    let own = all.below(leader);
    for process in &own {
        usage.memory += (process.pages + INEXACT).saturating_mul(page);
        usage.tasks += process.threads;
        held.add(process.pid)?;
    }
    let between = all.between(&own, is_alone)?;
    usage.memory += held.files() + held.texts() + between.segments + between.others;
    Ok(usage)
}

/// Pages by which the kernel's number may be too small: each processor counts some by itself.
const INEXACT: u64 = 1024;

/// Ends what descends from `leader`, several times over: what is born meanwhile is ended, too.
pub(super) fn end(leader: Pid) -> io::Result<()> {
    for _ in 0..ROUNDS {
        let all: Vec<Pid> = Processes::look()?.below(leader).iter().map(|it| it.pid).collect();
        // Processes that are stopped cannot make new ones while the others are ended.
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in &all {
                let _ = kill_process(*pid, signal);
            }
        }
        if all.iter().all(|it| is_dead(*it)) {
            break;
        }
    }
    Ok(())
}

/// Number of rounds. A process that still lives then loses its parent, and is ended as such.
const ROUNDS: usize = 16;

pub(super) fn is_dead(pid: Pid) -> bool {
    let stat = read(pid, "stat");
    // A process that cannot be read is not known to be dead.
    stat.is_ok_and(|it| it.is_none_or(|it| after_name(&it).starts_with(['Z', 'X'])))
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
    /// An error if they cannot be counted, as without files to open: none of them is then taken for gone.
    pub(super) fn look() -> io::Result<Self> {
        Self::listed(Path::new("/proc"))
    }

    fn listed(folder: &Path) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
        let all = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        let pids = all.iter().filter_map(|it| Pid::from_raw(it.file_name().to_str()?.parse().ok()?));
        pids.filter_map(|it| Process::of(it).transpose()).collect::<io::Result<_>>().map(Self)
    }

    /// Returns what System V keeps for some of them, and where they are alone also what no living process made or used last.
    fn between(&self, own: &[&Process], is_alone: bool) -> io::Result<SystemV> {
        let lives = |pid: &Pid| self.0.iter().any(|it| it.pid == *pid && !it.is_dead);
        SystemV::look(|users| {
            let mut users = users.iter().flatten();
            users.clone().any(|it| own.iter().any(|own| own.pid == *it)) || is_alone && !users.any(lives)
        })
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

    /// Returns the children of a process, with those that are dead, which are to be waited for.
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
    /// `None` if it is gone.
    fn of(pid: Pid) -> io::Result<Option<Self>> {
        Ok(read(pid, "stat")?.and_then(|it| Self::from_stat(pid, &it)))
    }

    fn from_stat(pid: Pid, stat: &str) -> Option<Self> {
        let parent = Pid::from_raw(i32::try_from(field(stat, PARENT)?).ok()?)?;
        let is_dead = after_name(stat).starts_with(['Z', 'X']);
        let number = |place| field(stat, place).unwrap_or(0);
        Some(Self { pid, parent, is_dead, threads: number(THREADS), pages: number(PAGES) })
    }

    /// All that it has where the kernel does not divide what is shared, as for a program that may be executed and not read.
    fn memory(&self) -> io::Result<Memory> {
        match read(self.pid, "smaps_rollup") {
            Ok(rollup) => Ok(rollup.and_then(|it| memory(&it)).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Ok(Memory { all: self.pages.saturating_mul(rustix::param::page_size() as u64), of_files: 0 })
            }
            Err(error) => Err(error),
        }
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

/// The sum over processes is right only of what is divided.
fn memory(rollup: &str) -> Option<Memory> {
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

/// `None` if the process is gone, or the kernel has no such file.
fn read(pid: Pid, name: &str) -> io::Result<Option<String>> {
    let path = PathBuf::from(format!("/proc/{}/{name}", pid.as_raw_nonzero()));
    let mut bytes = [0; LARGEST];
    #[expect(clippy::disallowed_methods, reason = "the system's facts of a process")]
    let size = fs::File::open(path).and_then(|mut it| it.read(&mut bytes));
    // A process may have a name that is no text.
    unless_gone(size.map(|it| String::from_utf8_lossy(&bytes[..it]).into_owned()))
}

/// `None` for the errors of a process that has ended.
pub(super) fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    let is_gone =
        |it: &io::Error| it.kind() == io::ErrorKind::NotFound || it.raw_os_error() == Some(libc::ESRCH);
    match result {
        Err(error) if is_gone(&error) => Ok(None),
        it => it.map(Some),
    }
}

/// The processors' time of all that this process has waited for.
pub(super) fn time_of_children() -> Duration {
    let Ok(Some(stat)) = read(getpid(), "stat") else { return Duration::ZERO };
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

    #[test]
    fn what_cannot_be_read_is_not_nothing() {
        assert!(Processes::listed(Path::new("/nowhere")).is_err());
        assert!(Processes::look().unwrap().0.iter().any(|it| it.pid == getpid()));
        let error = |number| unless_gone::<()>(Err(io::Error::from_raw_os_error(number)));
        assert!(error(libc::ESRCH).is_ok_and(|it| it.is_none()) && error(libc::EMFILE).is_err());
    }
}
