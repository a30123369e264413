//! The processes below another one, and their memory, wherever they have gone: a session or a group of its own
//! does not take a process out of the tree, only the death of its parent does, and then it falls to the next
//! subreaper.

use rustix::process::{Pid, Signal, kill_process};

/// Kills every living process below `root`, parents first, so that they start no more. Returns how many.
pub(crate) fn kill_below(root: Pid) -> usize {
    let found = living_below(root);
    for pid in &found {
        // Killing fails for a process that has just ended, which is as good.
        let _ = kill_process(*pid, Signal::KILL);
    }
    found.len()
}

/// Returns the processes below `root`, without zombies, which are dead and not yet reaped.
#[cfg(target_os = "linux")]
fn living_below(root: Pid) -> Vec<Pid> {
    let all = processes();
    let below = tree(&all, root.as_raw_nonzero().get());
    let living = below.into_iter().skip(1).filter(|it| !it.is_dead);
    living.filter_map(|it| Pid::from_raw(it.pid)).collect()
}

/// Without `/proc`, only groups are known.
#[cfg(not(target_os = "linux"))]
fn living_below(_: Pid) -> Vec<Pid> {
    Vec::new()
}

/// The bytes of memory that each of these processes has, with all below it. What processes share is counted
/// in each of them. `None` where that cannot be known.
#[cfg(target_os = "linux")]
pub fn memory_of(roots: &[u32]) -> Vec<Option<u64>> {
    let all = processes();
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let bytes = |root: &u32| tree(&all, root.cast_signed()).iter().map(|it| it.pages * page).sum();
    roots.iter().map(|it| Some(bytes(it))).collect()
}

#[cfg(not(target_os = "linux"))]
pub fn memory_of(roots: &[u32]) -> Vec<Option<u64>> {
    vec![None; roots.len()]
}

/// The first process that another one has started and that lives.
#[cfg(target_os = "linux")]
pub fn child_of(parent: u32) -> Option<u32> {
    let mut children: Vec<_> = processes();
    children.retain(|it| it.parent == parent.cast_signed() && !it.is_dead);
    children.iter().map(|it| it.pid.cast_unsigned()).min()
}

#[cfg(not(target_os = "linux"))]
pub fn child_of(_: u32) -> Option<u32> {
    None
}

#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    pid: i32,
    parent: i32,
    is_dead: bool,
    /// Number of pages in memory.
    pages: u64,
}

/// The root, if it is there, and all below it.
#[cfg(target_os = "linux")]
fn tree(all: &[Entry], root: i32) -> Vec<&Entry> {
    let mut tree: Vec<_> = all.iter().filter(|it| it.pid == root).collect();
    let mut next = 0;
    while let Some(parent) = tree.get(next).map(|it| it.pid) {
        tree.extend(all.iter().filter(|it| it.parent == parent));
        next += 1;
    }
    tree
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "/proc is no workspace")]
fn processes() -> Vec<Entry> {
    let Ok(folders) = std::fs::read_dir("/proc") else { return Vec::new() };
    let entry = |folder: std::fs::DirEntry| {
        folder.file_name().to_str()?.parse::<i32>().ok()?;
        parse(&String::from_utf8_lossy(&std::fs::read(folder.path().join("stat")).ok()?))
    };
    folders.filter_map(|it| entry(it.ok()?)).collect()
}

/// Position of the parent's id among the fields of `/proc/PID/stat`.
#[cfg(target_os = "linux")]
const PARENT: usize = 4;
#[cfg(target_os = "linux")]
const RSS: usize = 24;

/// `PID (NAME) STATE PARENT …`, where the name may have spaces and brackets in it. See `proc_pid_stat(5)`.
#[cfg(target_os = "linux")]
fn parse(stat: &str) -> Option<Entry> {
    let (pid, rest) = stat.split_once(' ')?;
    let mut fields = rest.rsplit_once(')')?.1.split_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    let pages = fields.nth(RSS - PARENT - 1).and_then(|it| it.parse().ok()).unwrap_or(0);
    Some(Entry { pid: pid.parse().ok()?, parent, is_dead, pages })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_confuse() {
        let entry = |pid, parent, is_dead, pages| Some(Entry { pid, parent, is_dead, pages });
        let rest = (5..24).map(|it| it.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(parse(&format!("12 (a) S 3 {rest} 77 25")), entry(12, 3, false, 77));
        assert_eq!(parse("12 (a) Z 9 (b) R 1) Z 4 12"), entry(12, 4, true, 0));
        assert_eq!(parse("12 (a"), None);
    }

    #[test]
    fn memory_is_that_of_the_tree() {
        let entry = |pid, parent, pages| Entry { pid, parent, is_dead: false, pages };
        let all = [entry(1, 0, 1), entry(9, 8, 64), entry(7, 1, 2), entry(8, 7, 4), entry(5, 1, 8)];
        let pages = |root| tree(&all, root).iter().map(|it| it.pages).sum::<u64>();
        assert_eq!([pages(7), pages(9), pages(1), pages(2)], [70, 64, 79, 0]);
        let mine = memory_of(&[std::process::id(), u32::MAX]);
        assert!(mine[0] > Some(1 << 20) && mine[1] == Some(0), "{mine:?}");
    }

    #[test]
    fn this_process_has_a_parent() {
        let me = std::process::id().cast_signed();
        let all = processes();
        assert!(all.iter().any(|it| it.pid == me && it.parent > 0 && !it.is_dead));
    }
}
