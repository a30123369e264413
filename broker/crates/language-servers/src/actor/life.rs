//! How long a process is used: until it is idle for long, has grown, or has been moved about very often.
//! Measures nothing.

use std::time::Duration;

use crate::{MemoryClass, Worn};

/// When a server's process is ended, to be started again when it is needed.
#[derive(Debug, Clone)]
pub struct Life {
    /// Nothing was asked for so long of a server that starts quickly.
    pub idle_cheap: Duration,
    /// The same, of any other.
    pub idle_dear: Duration,
    /// How many times as much memory it may have as after its first answer.
    pub growth: u64,
    /// So many bytes more it may have in any case. What runs on JavaScript takes 100 MB more before it collects.
    pub slack: u64,
    /// How many answers between two looks at its memory.
    pub look: u32,
    /// How often it may go from one state to another.
    pub switches: u32,
}

impl Default for Life {
    fn default() -> Self {
        Self {
            idle_cheap: Duration::from_secs(2 * 60),
            idle_dear: Duration::from_secs(15 * 60),
            growth: 2,
            slack: 256 << 20,
            look: 64,
            switches: 20_000,
        }
    }
}

impl Life {
    pub(super) fn idle(&self, class: MemoryClass) -> Duration {
        match class {
            MemoryClass::Tens => self.idle_cheap,
            MemoryClass::Hundreds | MemoryClass::Gigabytes => self.idle_dear,
        }
    }
}

/// Counts of one process, which decide when it is replaced.
#[derive(Debug, Default)]
pub(super) struct Age {
    answers: u32,
    switches: u32,
    /// After the first answer, where it is known.
    first: Option<u64>,
    /// What a process before it came to so soon that the work must take it, and no leak.
    needs: u64,
}

/// Answers, of which each may be about many files.
const SOON: u32 = 1_000;

impl Age {
    pub(super) fn switched(&mut self) {
        self.switches += 1;
    }

    /// Counts of its successor.
    pub(super) fn next(&self) -> Self {
        Self { needs: self.needs, ..Self::default() }
    }

    /// To be called after each answer; `measure` gives its memory in bytes, and is told whether it is the first.
    pub(super) fn answered(
        &mut self,
        life: &Life,
        measure: impl FnOnce(bool) -> Option<u64>,
    ) -> Option<Worn> {
        self.answers += 1;
        if self.switches >= life.switches {
            return Some(Worn::Switches);
        } else if self.answers == 1 {
            self.first = measure(true);
        } else if self.answers.is_multiple_of(life.look.max(1)) {
            let (first, now) = (self.first?.max(self.needs), measure(false)?);
            let most = first.saturating_mul(life.growth).max(first.saturating_add(life.slack));
            if now > most {
                self.needs = if self.answers <= SOON { now } else { 0 };
                return Some(Worn::Memory);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worn(memory: &[u64], life: &Life) -> Vec<Option<Worn>> {
        let mut age = Age::default();
        let worn = |it: &u64| age.answered(life, |_| Some(*it));
        memory.iter().map(worn).collect()
    }

    #[test]
    fn what_has_grown_is_worn() {
        let life = Life { growth: 2, slack: 50, look: 1, ..Life::default() };
        assert_eq!(worn(&[100, 150, 200, 201], &life), [None, None, None, Some(Worn::Memory)]);
        assert_eq!(worn(&[10, 60, 61], &life), [None, None, Some(Worn::Memory)]);
        let life = Life { look: 2, ..life };
        assert_eq!(worn(&[10, 60, 100, 100], &life), [None, None, None, Some(Worn::Memory)]);
        let mut age = Age::default();
        assert!((0..100).all(|_| age.answered(&life, |_| None).is_none()));
    }

    #[test]
    fn what_the_work_takes_is_no_wear() {
        let life = Life { growth: 2, slack: 50, look: 1, ..Life::default() };
        let mut age = Age::default();
        let mut answered = |memory| age.answered(&life, |_| Some(memory)).inspect(|_| age = age.next());
        assert_eq!([10, 60, 61].map(&mut answered), [None, None, Some(Worn::Memory)]);
        assert_eq!([10, 122, 123].map(&mut answered), [None, None, Some(Worn::Memory)]);
        assert!(answered(10).is_none() && (0..=SOON).all(|_| answered(246).is_none()));
        assert_eq!([247, 10, 61].map(&mut answered), [Some(Worn::Memory), None, Some(Worn::Memory)]);
    }

    #[test]
    fn what_was_moved_about_is_worn() {
        let life = Life { switches: 2, ..Life::default() };
        let mut age = Age::default();
        age.switched();
        assert_eq!(age.answered(&life, |_| None), None);
        age.switched();
        assert_eq!(age.answered(&life, |_| None), Some(Worn::Switches));
    }
}
