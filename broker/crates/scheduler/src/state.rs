//! State of the scheduler, and every way in which it changes. No threads, and no clock.
//!
//! A *flight* is a piece of work, a *ticket* a caller that waits for it. Each change returns the tickets that are to be
//! answered and the closures that are not needed any more; the caller does both after it has let go of the lock. A ticket
//! that is superseded or cancelled is answered at once, even if its task runs: the task then goes on for the other tickets
//! or, without any, is cancelled.

mod admission;
mod flight;
mod lane;
#[cfg(test)]
mod model;
mod service;
mod stats;
#[cfg(test)]
mod tests;
mod tickets;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::{Duration, Instant},
};

use flight::{Attached, Flight, Phase, Place};
pub(crate) use flight::{FlightId, TicketId};
use lane::Lane;
use lint::Cancel;
use service::Service;
use stats::Meter;
pub use stats::{ClassStats, Stats};
use tickets::answer;

use crate::{BranchKey, Class, Options, WorkKey};

/// Number of agents' tasks that may start in a row while a background task is overdue.
const IN_A_ROW: u32 = 7;

/// Kind of a thread, by the tasks it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worker {
    Any,
    Interactive,
}

/// A task, as far as it matters here.
pub(crate) struct Request<W, R> {
    pub(crate) class: Class,
    pub(crate) branch: BranchKey,
    pub(crate) revision: u64,
    pub(crate) key: Option<WorkKey>,
    pub(crate) supersede: bool,
    pub(crate) memory: u64,
    pub(crate) work: W,
    pub(crate) reply: R,
}

/// Work that the caller has to run now, and to report with [`State::finished`].
pub(crate) struct Start<W> {
    pub(crate) id: FlightId,
    pub(crate) work: W,
    pub(crate) cancel: Cancel,
}

/// A ticket's way to its holder, and what is to be told besides the end.
pub(crate) struct Answer<R> {
    pub(crate) reply: R,
    pub(crate) queued: Duration,
    pub(crate) ran: Duration,
    pub(crate) joined: bool,
}

/// Reason for answering a ticket whose work has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Early {
    Superseded,
    Cancelled,
    ShuttingDown,
}

/// Effects of a change that are left to do outside the lock.
pub(crate) struct Effects<W, R> {
    pub(crate) answers: Vec<(Answer<R>, Early)>,
    /// To be dropped: it will not run.
    pub(crate) discarded: Vec<W>,
}

pub(crate) struct State<W, R> {
    options: Options,
    /// By class.
    lanes: [Lane; 3],
    flights: HashMap<FlightId, Flight<W, R>>,
    branches: HashMap<BranchKey, Branch>,
    /// Flight that a submission with this key joins.
    open: HashMap<WorkKey, FlightId>,
    /// Keys of running flights, also of those that are not wanted any more.
    busy: HashSet<WorkKey>,
    /// Tickets of queued flights, by class.
    waiting: [usize; 3],
    meters: [Meter; 3],
    busy_interactive_workers: usize,
    /// Work of the interactive class that branches had.
    service: Service,
    /// Agents' tasks that started since a background task did.
    in_a_row: u32,
    /// Bytes that running flights may need.
    claimed: u64,
    serial: u64,
    /// All counts but [`ClassStats`], which are not kept here.
    counts: Stats,
    closed: bool,
}

/// A branch that has tickets.
#[derive(Default)]
struct Branch {
    /// By revision and number.
    tickets: BTreeMap<(u64, u64), FlightId>,
    /// Number of tickets of queued flights.
    waiting: usize,
}

impl<W, R> Default for Effects<W, R> {
    fn default() -> Self {
        Self { answers: Vec::new(), discarded: Vec::new() }
    }
}

impl<W, R> State<W, R> {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            lanes: Default::default(),
            flights: HashMap::new(),
            branches: HashMap::new(),
            open: HashMap::new(),
            busy: HashSet::new(),
            waiting: [0; 3],
            meters: Default::default(),
            busy_interactive_workers: 0,
            service: Service::default(),
            in_a_row: 0,
            claimed: 0,
            serial: 0,
            counts: Stats::default(),
            closed: false,
        }
    }

    /// Takes in what [`State::admit`] said yes to.
    pub(crate) fn accept(
        &mut self,
        requests: Vec<Request<W, R>>,
        now: Instant,
    ) -> (Vec<TicketId>, Effects<W, R>) {
        let mut effects = Effects::default();
        let newer = requests.iter().filter(|it| it.supersede).map(|it| (it.branch, it.revision));
        let newer: Vec<_> = newer.collect();
        let tickets = requests.into_iter().map(|it| self.attach(it, now, &mut effects)).collect();
        // Only now, so that work which is the same in the new revision goes on.
        newer.into_iter().for_each(|(branch, revision)| self.outdate(branch, revision, now, &mut effects));
        (tickets, effects)
    }

    /// Returns the work that this worker is to run now, if any.
    pub(crate) fn next(&mut self, worker: Worker, now: Instant) -> Option<Start<W>> {
        let id = self.choose(worker, now)?;
        let flight = self.flights.get_mut(&id)?;
        let Phase::Queued { place: Some(Place { class, branch }), .. } = flight.phase else { return None };
        let running = Phase::Running { class, branch, worker, started: now };
        let Phase::Queued { work, .. } = std::mem::replace(&mut flight.phase, running) else { return None };
        for ticket in flight.tickets.values() {
            self.waiting[ticket.class as usize] -= 1;
            self.branches.entry(ticket.branch).and_modify(|it| it.waiting -= 1);
        }
        let rank = rank(&self.service, class, branch);
        self.lanes[class as usize].start(id, branch, flight.memory, rank);
        let (waited, cancel) = (now.saturating_duration_since(flight.arrived), flight.cancel.clone());
        self.busy.extend(flight.key);
        self.claimed = self.claimed.saturating_add(flight.memory);
        self.busy_interactive_workers += usize::from(worker == Worker::Interactive);
        match class {
            Class::Background => self.in_a_row = 0,
            Class::Agent => self.in_a_row = self.in_a_row.saturating_add(1),
            Class::Interactive => {}
        }
        self.meters[class as usize].running += 1;
        self.meters[class as usize].queue.record(waited);
        Some(Start { id, work, cancel })
    }

    /// Whether [`State::next`] would give this worker anything.
    pub(crate) fn has_work_for(&self, worker: Worker, now: Instant) -> bool {
        self.choose(worker, now).is_some()
    }

    fn choose(&self, worker: Worker, now: Instant) -> Option<FlightId> {
        let urgent = &self.lanes[Class::Interactive as usize];
        // Interactive workers are left as many of the interactive tasks as they can take at once.
        let idle = self.options.interactive_workers.saturating_sub(self.busy_interactive_workers);
        let left = if worker == Worker::Any { urgent.len().min(idle) } else { 0 };
        if let Some(first) = urgent.first().filter(|_| urgent.len() > left) {
            return Some(first).filter(|id| self.fits(*id, 0, true));
        }
        if worker == Worker::Interactive {
            return None;
        }
        // A task that does not fit is waited for, never passed: otherwise small tasks would starve a big one.
        self.first_patient(now).filter(|id| self.fits(*id, urgent.memory(), left == 0))
    }

    /// The next task that no person waits for.
    fn first_patient(&self, now: Instant) -> Option<FlightId> {
        let [background, agent, _] = &self.lanes;
        let is_due =
            self.in_a_row >= IN_A_ROW && background.oldest().is_some_and(|it| self.is_overdue(it, now));
        let (first, second) = if is_due { (background, agent) } else { (agent, background) };
        first.first().or_else(|| second.first())
    }

    fn is_overdue(&self, id: FlightId, now: Instant) -> bool {
        let arrived = self.flights.get(&id).map(|it| it.arrived);
        arrived.is_some_and(|it| now.saturating_duration_since(it) > self.options.overdue)
    }

    /// Takes note that what was started has ended; who is returned gets its result.
    pub(crate) fn finished(&mut self, id: FlightId, panicked: bool, now: Instant) -> Vec<Answer<R>> {
        let Some(mut flight) = self.flights.remove(&id) else { return Vec::new() };
        if let Phase::Running { class, branch, worker, started } = flight.phase {
            self.claimed = self.claimed.saturating_sub(flight.memory);
            self.busy_interactive_workers -= usize::from(worker == Worker::Interactive);
            let meter = &mut self.meters[class as usize];
            meter.running -= 1;
            let ran = now.saturating_duration_since(started);
            meter.run.record(ran);
            if class == Class::Interactive {
                self.service.add(branch, ran, now);
                self.lanes[class as usize].set_rank(branch, self.service.rank(branch));
            }
        }
        self.release_key(id, flight.key);
        let tickets = std::mem::take(&mut flight.tickets);
        let count = if panicked { &mut self.counts.panicked } else { &mut self.counts.done };
        *count += tickets.len() as u64;
        let answer = |(number, it): (u64, Attached<R>)| {
            self.forget(it.branch, it.revision, number, false);
            answer(it, flight.started(), now)
        };
        tickets.into_iter().map(answer).collect()
    }

    /// Lets a flight start that had to wait for this one's end.
    fn release_key(&mut self, id: FlightId, key: Option<WorkKey>) {
        let Some(key) = key else { return };
        self.busy.remove(&key);
        match self.open.get(&key).copied() {
            Some(open) if open == id => drop(self.open.remove(&key)),
            Some(held) => self.settle(held),
            None => {}
        }
    }

    /// Ends what waits for lower revisions of a branch.
    pub(crate) fn supersede(&mut self, branch: BranchKey, revision: u64, now: Instant) -> Effects<W, R> {
        let mut effects = Effects::default();
        self.outdate(branch, revision, now, &mut effects);
        effects
    }

    fn outdate(&mut self, branch: BranchKey, revision: u64, now: Instant, effects: &mut Effects<W, R>) {
        let Some(known) = self.branches.get(&branch) else { return };
        let old: Vec<_> = known.tickets.range(..(revision, 0)).map(ticket_id).collect();
        old.into_iter().for_each(|it| self.end_early(it, Early::Superseded, now, effects));
    }

    /// Ends what waits for a branch.
    pub(crate) fn cancel_branch(&mut self, branch: BranchKey, now: Instant) -> Effects<W, R> {
        let mut effects = Effects::default();
        let known = self.branches.get(&branch);
        let all: Vec<_> = known.map(|it| it.tickets.iter().map(ticket_id).collect()).unwrap_or_default();
        all.into_iter().for_each(|it| self.end_early(it, Early::Cancelled, now, &mut effects));
        effects
    }

    /// The caller does not wait for this ticket any more. Does nothing if it was answered.
    pub(crate) fn withdraw(&mut self, ticket: TicketId) -> Effects<W, R> {
        let mut effects = Effects::default();
        self.counts.withdrawn += u64::from(self.detach(ticket, &mut effects).is_some());
        effects
    }

    /// Ends queued tickets and, if asked to, cancels those of running tasks. Nothing starts any more.
    pub(crate) fn close(&mut self, cancel_running: bool, now: Instant) -> Effects<W, R> {
        self.closed = true;
        let mut effects = Effects::default();
        let all: Vec<_> = self.branches.values().flat_map(|it| it.tickets.iter().map(ticket_id)).collect();
        for ticket in all {
            let is_queued = self.flights.get(&ticket.flight).is_some_and(Flight::is_queued);
            match (is_queued, cancel_running) {
                (true, _) => self.end_early(ticket, Early::ShuttingDown, now, &mut effects),
                (false, true) => self.end_early(ticket, Early::Cancelled, now, &mut effects),
                (false, false) => {}
            }
        }
        effects
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn stats(&self) -> Stats {
        let of = |class: Class| {
            let meter = &self.meters[class as usize];
            ClassStats {
                queued: self.waiting[class as usize],
                running: meter.running,
                mean_queue_micros: meter.queue.micros(),
                mean_run_micros: meter.run.micros(),
            }
        };
        Stats {
            interactive: of(Class::Interactive),
            agent: of(Class::Agent),
            background: of(Class::Background),
            ..self.counts.clone()
        }
    }
}

/// Place of a branch in the lane of a class. Only the interactive class goes by the time that branches had lately.
fn rank(service: &Service, class: Class, branch: BranchKey) -> i64 {
    if class == Class::Interactive { service.rank(branch) } else { 0 }
}

fn ticket_id((&(_, number), &flight): (&(u64, u64), &FlightId)) -> TicketId {
    TicketId { flight, number }
}
