//! Recycling of processes: one that is idle for long, has grown, or has been switched between states very often is ended,
//! and a fresh one started when it is needed. Measures nothing itself.

use std::time::Duration;

use crate::{MemoryClass, RecycleReason};

/// Policy for ending a server's process, to be started again when it is needed.
#[derive(Debug, Clone)]
pub struct RecyclePolicy {
    /// Idle time after which a server that starts quickly is ended.
    pub idle_timeout_fast: Duration,
    /// Idle time after which any other is ended.
    pub idle_timeout_slow: Duration,
    /// Factor by which its memory may grow after its first answer.
    pub growth: u64,
    /// Bytes by which its memory may grow in any case. Servers on JavaScript take 100 MB more before they collect
    /// garbage.
    pub slack: u64,
    /// Answers between two measurements of its memory.
    pub measure_every: u32,
    /// Maximum number of switches from one state to another.
    pub switches: u32,
}

impl Default for RecyclePolicy {
    fn default() -> Self {
        Self {
            idle_timeout_fast: Duration::from_secs(2 * 60),
            idle_timeout_slow: Duration::from_secs(15 * 60),
            growth: 2,
            slack: 256 << 20,
            measure_every: 64,
            switches: 20_000,
        }
    }
}

impl RecyclePolicy {
    pub(super) fn idle(&self, class: MemoryClass) -> Duration {
        match class {
            MemoryClass::Tens => self.idle_timeout_fast,
            MemoryClass::Hundreds | MemoryClass::Gigabytes => self.idle_timeout_slow,
        }
    }
}

/// Usage of one process, which decides when it is replaced.
#[derive(Debug, Default)]
pub(super) struct ProcessUsage {
    answers: u32,
    switches: u32,
    /// Memory after the first answer, where it is known.
    first: Option<u64>,
    /// Memory in bytes that an earlier process reached so soon that the work must need it: no leak.
    needs: u64,
}

/// Answers, of which each may be about many files.
const SOON: u32 = 1_000;

impl ProcessUsage {
    pub(super) fn switched(&mut self) {
        self.switches += 1;
    }

    /// Counts of its successor.
    pub(super) fn next(&self) -> Self {
        Self { needs: self.needs, ..Self::default() }
    }

    /// Counts an answer, and returns the reason to replace the process, if there is one. `measure` takes whether the
    /// answer is the first, and returns the memory in bytes.
    pub(super) fn answered(
        &mut self,
        recycle: &RecyclePolicy,
        measure: impl FnOnce(bool) -> Option<u64>,
    ) -> Option<RecycleReason> {
        self.answers += 1;
        if self.switches >= recycle.switches {
            return Some(RecycleReason::Switches);
        } else if self.answers == 1 {
            self.first = measure(true);
        } else if self.answers.is_multiple_of(recycle.measure_every.max(1)) {
            let (first, now) = (self.first?.max(self.needs), measure(false)?);
            let most = first.saturating_mul(recycle.growth).max(first.saturating_add(recycle.slack));
            if now > most {
                self.needs = if self.answers <= SOON { now } else { 0 };
                return Some(RecycleReason::Memory);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worn(memory: &[u64], recycle: &RecyclePolicy) -> Vec<Option<RecycleReason>> {
        let mut usage = ProcessUsage::default();
        let worn = |it: &u64| usage.answered(recycle, |_| Some(*it));
        memory.iter().map(worn).collect()
    }

    #[test]
    fn what_has_grown_is_worn() {
        let recycle = RecyclePolicy { growth: 2, slack: 50, measure_every: 1, ..RecyclePolicy::default() };
        assert_eq!(worn(&[100, 150, 200, 201], &recycle), [None, None, None, Some(RecycleReason::Memory)]);
        assert_eq!(worn(&[10, 60, 61], &recycle), [None, None, Some(RecycleReason::Memory)]);
        let recycle = RecyclePolicy { measure_every: 2, ..recycle };
        assert_eq!(worn(&[10, 60, 100, 100], &recycle), [None, None, None, Some(RecycleReason::Memory)]);
        let mut usage = ProcessUsage::default();
        assert!((0..100).all(|_| usage.answered(&recycle, |_| None).is_none()));
    }

    #[test]
    fn what_the_work_takes_is_no_wear() {
        let recycle = RecyclePolicy { growth: 2, slack: 50, measure_every: 1, ..RecyclePolicy::default() };
        let mut usage = ProcessUsage::default();
        let mut answered =
            |memory| usage.answered(&recycle, |_| Some(memory)).inspect(|_| usage = usage.next());
        assert_eq!([10, 60, 61].map(&mut answered), [None, None, Some(RecycleReason::Memory)]);
        assert_eq!([10, 122, 123].map(&mut answered), [None, None, Some(RecycleReason::Memory)]);
        assert!(answered(10).is_none() && (0..=SOON).all(|_| answered(246).is_none()));
        assert_eq!(
            [247, 10, 61].map(&mut answered),
            [Some(RecycleReason::Memory), None, Some(RecycleReason::Memory)]
        );
    }

    #[test]
    fn what_was_moved_about_is_worn() {
        let recycle = RecyclePolicy { switches: 2, ..RecyclePolicy::default() };
        let mut usage = ProcessUsage::default();
        usage.switched();
        assert_eq!(usage.answered(&recycle, |_| None), None);
        usage.switched();
        assert_eq!(usage.answered(&recycle, |_| None), Some(RecycleReason::Switches));
    }
}
