//! Work for people that each branch has lately had: branches that claim to be people without end come after one that asks
//! for less than an equal share. Depends neither on lanes nor on tasks, nor on who is a person.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::BranchKey;

/// Time after which work counts half.
const HALF_LIFE: Duration = Duration::from_secs(30);

/// Amounts that differ by less than a factor of two to the one over this are alike, and take turns.
const STEPS: f64 = 4.0;

/// The least that a task counts for.
const LEAST: f64 = 1e-6;

/// Branches that are remembered, if all of them had more than [`FORGOTTEN`].
const MAX_BRANCHES: usize = 4096;

/// Seconds that are as good as none.
const FORGOTTEN: f64 = 0.001;

/// Decayed running time of each branch, as a binary logarithm relative to `epoch`: new seconds weigh more with time
/// instead of old ones less, so that branches keep their order while nothing runs.
#[derive(Default)]
pub(super) struct Service {
    marks: HashMap<BranchKey, f64>,
    epoch: Option<Instant>,
}

impl Service {
    /// Lower for who has had less.
    pub(super) fn rank(&self, branch: BranchKey) -> i64 {
        self.marks.get(&branch).map_or(i64::MIN, |it| (it * STEPS).floor() as i64)
    }

    pub(super) fn add(&mut self, branch: BranchKey, ran: Duration, now: Instant) {
        let epoch = *self.epoch.get_or_insert(now);
        let half_lives = now.saturating_duration_since(epoch).as_secs_f64() / HALF_LIFE.as_secs_f64();
        if self.marks.len() >= MAX_BRANCHES {
            self.marks.retain(|_, it| *it - half_lives > FORGOTTEN.log2());
        }
        let mark = self.marks.entry(branch).or_insert(f64::NEG_INFINITY);
        let seconds = (*mark - half_lives).exp2() + ran.as_secs_f64().max(LEAST);
        *mark = seconds.log2() + half_lives;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: BranchKey = BranchKey(1);
    const B: BranchKey = BranchKey(2);

    #[test]
    fn what_is_long_ago_counts_little() {
        let mut service = Service::default();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(service.rank(A), service.rank(B));
        service.add(A, Duration::from_secs(8), start);
        service.add(B, Duration::from_secs(1), after(60));
        assert!(service.rank(A) > service.rank(B), "two seconds are left of eight");
        service.add(B, Duration::from_secs(2), after(60));
        assert!(service.rank(A) < service.rank(B));
        // Far beyond what a number could hold without the logarithm.
        service.add(A, Duration::ZERO, after(1_000_000));
        service.add(B, Duration::from_secs(1), after(1_000_000));
        assert!(service.rank(A) < service.rank(B));
    }
}
