//! Admission: of tickets to the queues, and of a task's memory beside the tasks that run.

use std::{collections::BTreeMap, time::Duration};

use super::{FlightId, Request, State};
use crate::{BranchKey, Class, Rejected};

/// No caller is told to come back sooner or later than this.
const RETRY: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(10));

/// Tickets that a submission adds to one branch, and those that it supersedes.
#[derive(Default)]
struct Change {
    added: usize,
    /// Tickets for lower revisions than this are superseded.
    newest: u64,
}

impl<W, R> State<W, R> {
    /// Checks that all of these may be accepted. Changes nothing but the count of rejections.
    pub(crate) fn admit(&mut self, requests: &[Request<W, R>]) -> Result<(), Rejected> {
        let admitted = self.room_for(requests);
        if admitted.is_err() {
            self.counts.rejected += requests.len() as u64;
        }
        admitted
    }

    fn room_for(&self, requests: &[Request<W, R>]) -> Result<(), Rejected> {
        if self.closed {
            return Err(Rejected::ShuttingDown);
        }
        let mut added = [0; 3];
        let mut branches: BTreeMap<BranchKey, Change> = BTreeMap::new();
        for request in requests {
            let change = branches.entry(request.branch).or_default();
            if request.supersede {
                change.newest = change.newest.max(request.revision);
            }
            // A ticket that joins a running task does not wait in any queue.
            if !self.joins_running(request) {
                change.added += 1;
                added[request.class as usize] += 1;
            }
        }
        let mut freed = [0; 3];
        for (branch, change) in branches {
            self.room_in_branch(branch, &change, &mut freed)?;
        }
        [Class::Interactive, Class::Agent, Class::Background]
            .into_iter()
            .try_for_each(|class| self.room_in_class(class, added[class as usize], freed[class as usize]))
    }

    fn joins_running(&self, request: &Request<W, R>) -> bool {
        let joined = request.key.and_then(|key| self.open.get(&key));
        joined.and_then(|id| self.flights.get(id)).is_some_and(|it| !it.is_queued())
    }

    fn room_in_branch(
        &self,
        branch: BranchKey,
        change: &Change,
        freed: &mut [usize; 3],
    ) -> Result<(), Rejected> {
        let Some(known) = self.branches.get(&branch) else {
            return self.branch_holds(branch, change.added, change.added);
        };
        let mut left = known.waiting;
        for (&(_, number), id) in known.tickets.range(..(change.newest, 0)) {
            let flight = self.flights.get(id).filter(|it| it.is_queued());
            if let Some(ticket) = flight.and_then(|it| it.tickets.get(&number)) {
                freed[ticket.class as usize] += 1;
                left -= 1;
            }
        }
        self.branch_holds(branch, change.added, left + change.added)
    }

    fn branch_holds(&self, branch: BranchKey, added: usize, total: usize) -> Result<(), Rejected> {
        if added == 0 || total <= self.options.queued_per_branch {
            return Ok(());
        }
        // The branch's lowest class is the one that takes the longest to drain.
        Err(Rejected::BranchQueueFull { branch, retry_after: self.drained_in(Class::Background) })
    }

    fn room_in_class(&self, class: Class, added: usize, freed: usize) -> Result<(), Rejected> {
        if added == 0 || self.waiting[class as usize] + added - freed <= self.options.queued {
            return Ok(());
        }
        Err(Rejected::QueueFull { class, retry_after: self.drained_in(class) })
    }

    /// About when all that waits in this class and in those before it will have started.
    fn drained_in(&self, class: Class) -> Duration {
        let workers = self.options.workers.max(1) as f64;
        let ahead = self.waiting.iter().zip(&self.meters).skip(class as usize);
        let seconds: f64 =
            ahead.map(|(waiting, meter)| *waiting as f64 * meter.run.get().as_secs_f64() / workers).sum();
        Duration::try_from_secs_f64(seconds).unwrap_or(RETRY.1).clamp(RETRY.0, RETRY.1)
    }

    /// Whether this task may run beside those that do, and beside others that are about to.
    pub(super) fn fits(&self, id: FlightId, about_to_start: u128, is_alone: bool) -> bool {
        let memory = self.flights.get(&id).map_or(0, |it| it.memory);
        let total = u128::from(self.claimed) + about_to_start + u128::from(memory);
        let nothing_runs = self.meters.iter().all(|it| it.running == 0);
        total <= u128::from(self.options.memory) || (is_alone && nothing_runs)
    }
}
