//! Times of many repetitions, and what is said of them.

use std::time::Duration;

/// Times in no order.
#[derive(Default, Clone)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that `part` of 100 stay at or under, in milliseconds; not a number without samples.
    pub(crate) fn percentile(&self, part: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * part).div_ceil(100).saturating_sub(1);
        sorted.get(rank).map_or(f64::NAN, |it| it.as_secs_f64() * 1000.0)
    }

    pub(crate) fn p50(&self) -> f64 {
        self.percentile(50)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.percentile(99)
    }
}
