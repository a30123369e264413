//! Checks of whether processes are gone. Part of the tests of `language-servers`, too.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Whether the process runs; a zombie, whose parent has not waited for it, does not.
pub(crate) fn lives(pid: i64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|it| !it.rsplit_once(')').unwrap().1.starts_with(" Z"))
}

#[track_caller]
pub(crate) fn check_gone(pids: &[i64], within: Duration) {
    let deadline = Instant::now() + within;
    while pids.iter().any(|it| lives(*it)) {
        let left: Vec<_> = pids.iter().filter(|it| lives(**it)).collect();
        assert!(Instant::now() < deadline, "still there: {left:?} of {pids:?}");
        thread::sleep(Duration::from_millis(2));
    }
}
