//! Memory budget: admits one more process, or names the idle ones that have to end before.

use std::time::Duration;

/// Process that has a share of the budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) id: u64,
    pub(super) bytes: u64,
    /// Time for which the process has been idle, if it is.
    pub(super) idle: Option<Duration>,
    /// Whether the process was asked to end before.
    pub(super) is_ending: bool,
}

/// Answer to a process that wants to start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Now,
    /// Memory will suffice when these have ended, too; if there are none, when another has finished.
    After(Vec<u64>),
}

/// Admits a process that needs so many bytes. One alone is always admitted: it would never have more.
pub(super) fn admit(budget: u64, need: u64, holders: &[Holder]) -> Admission {
    let sum = |is_in: &dyn Fn(&Holder) -> bool| {
        holders.iter().filter(|it| is_in(it)).map(|it| it.bytes).sum::<u64>()
    };
    if holders.is_empty() || sum(&|_| true).saturating_add(need) <= budget {
        return Admission::Now;
    }
    let mut left = sum(&|it| !it.is_ending);
    let mut idle: Vec<_> = holders.iter().filter(|it| it.idle.is_some() && !it.is_ending).collect();
    idle.sort_by_key(|it| std::cmp::Reverse(it.idle));
    let mut ending = Vec::new();
    for it in idle {
        if left.saturating_add(need) <= budget {
            break;
        }
        left -= it.bytes;
        ending.push(it.id);
    }
    Admission::After(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDING: Option<u64> = None;

    /// Checks the choice, where each holder has ten bytes: busy for `Some(0)`, else idle for so many seconds.
    #[track_caller]
    fn check(budget: u64, need: u64, holders: &[Option<u64>], want: Option<&[u64]>) {
        let holder = |(id, seconds): (usize, &Option<u64>)| Holder {
            id: id as u64,
            bytes: 10,
            idle: Some(Duration::from_secs(seconds.unwrap_or(1))).filter(|_| *seconds != Some(0)),
            is_ending: *seconds == ENDING,
        };
        let holders: Vec<_> = holders.iter().enumerate().map(holder).collect();
        let want = want.map_or(Admission::Now, |it| Admission::After(it.to_vec()));
        assert_eq!(admit(budget, need, &holders), want);
    }

    #[test]
    fn the_longest_idle_ends_first() {
        let idle = [Some(5), Some(0), Some(9), Some(7)];
        check(50, 10, &idle, None);
        check(49, 10, &idle, Some(&[2]));
        check(39, 10, &idle, Some(&[2, 3]));
        check(15, 10, &idle, Some(&[2, 3, 0]));
    }

    #[test]
    fn who_ends_already_is_not_asked_again() {
        check(25, 10, &[Some(0), ENDING, Some(3)], Some(&[2]));
        check(30, 10, &[Some(0), ENDING, Some(3)], Some(&[]));
    }

    #[test]
    fn who_is_busy_is_waited_for_and_one_alone_has_room() {
        check(10, 10, &[Some(0), Some(0)], Some(&[]));
        check(10, 99, &[], None);
    }
}
