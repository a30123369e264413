//! What processes inside use, as `/proc` tells.

use std::{fs, path::PathBuf, time::Duration};

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
    for pid in below(leader) {
        usage.memory += memory(pid).unwrap_or(0);
        usage.tasks += read(pid, "stat").and_then(|it| field(&it, THREADS)).unwrap_or(0);
    }
    usage
}

/// Ends what descends from `leader`, several times over: what is born meanwhile is ended, too.
pub(super) fn end(leader: Pid) {
    for _ in 0..ROUNDS {
        let all = below(leader);
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

fn is_dead(pid: Pid) -> bool {
    read(pid, "stat").is_none_or(|it| after_name(&it).starts_with(['Z', 'X']))
}

/// The children of process 1, by what all processes say of their parents.
pub(super) fn children_of_init() -> Vec<Pid> {
    children(getpid())
}

fn below(leader: Pid) -> Vec<Pid> {
    let parents = parents();
    let mut found = vec![leader];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, it)| *it == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

fn children(parent: Pid) -> Vec<Pid> {
    parents().into_iter().filter(|(_, it)| *it == parent).map(|(pid, _)| pid).collect()
}

/// Each process that is not dead, and its parent.
fn parents() -> Vec<(Pid, Pid)> {
    #[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|it| Pid::from_raw(it.file_name().to_str()?.parse().ok()?));
    let parent =
        |pid: Pid| Some((pid, Pid::from_raw(i32::try_from(field(&read(pid, "stat")?, PARENT)?).ok()?)?));
    pids.filter_map(parent).collect()
}

/// Places after the name in `/proc/PID/stat`.
const PARENT: usize = 1;
const CHILDRENS_USER_TIME: usize = 13;
const CHILDRENS_SYSTEM_TIME: usize = 14;
const THREADS: usize = 17;

fn field(stat: &str, place: usize) -> Option<u64> {
    after_name(stat).split(' ').nth(place)?.parse().ok()
}

/// A program chooses its name, which may have spaces and brackets.
fn after_name(stat: &str) -> &str {
    stat.rsplit_once(") ").map_or("", |(_, rest)| rest)
}

fn memory(pid: Pid) -> Option<u64> {
    // The sum over processes is right only of what is divided.
    let rollup = read(pid, "smaps_rollup");
    let line = rollup.as_deref()?.lines().find_map(|it| it.strip_prefix("Pss:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

fn read(pid: Pid, name: &str) -> Option<String> {
    let path = PathBuf::from(format!("/proc/{}/{name}", pid.as_raw_nonzero()));
    #[expect(clippy::disallowed_methods, reason = "the system's facts of a process")]
    fs::read_to_string(path).ok()
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
        let stat = "7 (a) b) (c) S 3 7 7 0 -1 0 1 2 3 4 5 6 70 80 20 0 9 0";
        assert_eq!(field(stat, PARENT), Some(3));
        assert_eq!(field(stat, CHILDRENS_USER_TIME), Some(70));
        assert_eq!(field(stat, CHILDRENS_SYSTEM_TIME), Some(80));
        assert_eq!(field(stat, THREADS), Some(9));
        assert_eq!(after_name("broken"), "");
    }
}
