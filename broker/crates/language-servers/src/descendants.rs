//! The processes below another one, wherever they have gone: a session or a group of its own does not take a
//! process out of the tree, only the death of its parent does, and then it falls to the next subreaper.

use rustix::process::{Pid, Signal, kill_process};

/// Kills every living process below `root`, parents first, so that they start no more. Returns how many.
pub(crate) fn kill_below(root: Pid) -> usize {
    let found = living_below(root);
    for pid in &found {
        // It fails for one that has just ended, which is as good.
        let _ = kill_process(*pid, Signal::KILL);
    }
    found.len()
}

/// Without the dead that nobody has asked after yet.
#[cfg(target_os = "linux")]
fn living_below(root: Pid) -> Vec<Pid> {
    let all = processes();
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(parent) = tree.get(next) {
        let parent = parent.as_raw_nonzero().get();
        tree.extend(all.iter().filter(|it| it.parent == parent).filter_map(|it| Pid::from_raw(it.pid)));
        next += 1;
    }
    let is_dead = |pid: &Pid| all.iter().any(|it| it.pid == pid.as_raw_nonzero().get() && it.is_dead);
    tree.into_iter().skip(1).filter(|pid| !is_dead(pid)).collect()
}

/// Where there is no `/proc`, only groups are known.
#[cfg(not(target_os = "linux"))]
fn living_below(_: Pid) -> Vec<Pid> {
    Vec::new()
}

#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    pid: i32,
    parent: i32,
    is_dead: bool,
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

/// `PID (NAME) STATE PARENT …`, where the name may have spaces and brackets in it.
#[cfg(target_os = "linux")]
fn parse(stat: &str) -> Option<Entry> {
    let (pid, rest) = stat.split_once(' ')?;
    let mut fields = rest.rsplit_once(')')?.1.split_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X" | "x");
    Some(Entry { pid: pid.parse().ok()?, parent: fields.next()?.parse().ok()?, is_dead })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_confuse() {
        let entry = |pid, parent, is_dead| Some(Entry { pid, parent, is_dead });
        assert_eq!(parse("12 (a) S 3 12 12"), entry(12, 3, false));
        assert_eq!(parse("12 (a) Z 9 (b) R 1) Z 4 12"), entry(12, 4, true));
        assert_eq!(parse("12 (a"), None);
    }

    #[test]
    fn this_process_has_a_parent() {
        let me = std::process::id().cast_signed();
        let all = processes();
        assert!(all.iter().any(|it| it.pid == me && it.parent > 0 && !it.is_dead));
    }
}
