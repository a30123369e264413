//! Delay of other requests after an answer to a person, and its limit: who typed will ask again soon, and what is begun for a
//! branch in between cannot be broken off.

use std::time::{Duration, Instant};

use super::queue::{First, Priority};

/// Delay of other requests after an answer to a person. Editors ask several things for one letter, and the next letter comes
/// some 200 ms later: with less, a check that was begun in between keeps the person waiting.
const GRACE: Duration = Duration::from_millis(300);

/// Longest time for which persons' requests delay others; then one other request is answered.
const MAX_HOLD_TIME: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Hold {
    /// Time of the last answer to a person.
    answered: Option<Instant>,
    /// Time since which others wait for persons.
    others_wait: Option<Instant>,
}

impl Hold {
    /// Notes that a request was served; `others` says whether there are others that wait.
    pub(super) fn served(&mut self, priority: Priority, others: bool, now: Instant) {
        if priority == Priority::Interactive {
            self.answered = Some(now);
            self.others_wait = self.others_wait.or(Some(now)).filter(|_| others);
        } else {
            self.others_wait = None;
        }
    }

    /// Notes that no other request waits.
    pub(super) fn no_others(&mut self) {
        self.others_wait = None;
    }

    /// Time for which others still have to wait though no person does.
    pub(super) fn left(&mut self, now: Instant) -> Duration {
        let since = *self.others_wait.get_or_insert(now);
        let until = self.answered.map_or(now, |it| it + GRACE).min(since + MAX_HOLD_TIME);
        until.saturating_duration_since(now)
    }

    pub(super) fn first(&self, now: Instant) -> First {
        let is_over = self.others_wait.is_some_and(|it| now.duration_since(it) >= MAX_HOLD_TIME);
        if is_over { First::Others } else { First::Persons }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_wait_while_a_person_asks_and_not_for_ever() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut hold = Hold::default();
        assert_eq!(hold.left(at(0)), Duration::ZERO, "no person has asked");
        hold.served(Priority::Background, true, at(0));
        hold.served(Priority::Interactive, true, at(1_000));
        assert_eq!(hold.left(at(1_100)), Duration::from_millis(200));
        assert_eq!(hold.left(at(1_300)), Duration::ZERO);
        for at_that_time in (1_200..11_000).step_by(200).map(at) {
            assert_eq!(hold.first(at_that_time), First::Persons);
            hold.served(Priority::Interactive, true, at_that_time);
        }
        assert_eq!(hold.left(at(10_950)), Duration::from_millis(50), "not longer than others can wait");
        assert_eq!(hold.first(at(11_000)), First::Others);
        hold.served(Priority::Background, true, at(11_050));
        assert_eq!(hold.first(at(11_050)), First::Persons);
    }

    #[test]
    fn time_in_which_no_other_waited_does_not_count() {
        let start = Instant::now();
        let mut hold = Hold::default();
        hold.served(Priority::Interactive, false, start);
        hold.served(Priority::Interactive, false, start + MAX_HOLD_TIME);
        assert_eq!(hold.first(start + MAX_HOLD_TIME), First::Persons);
    }
}
