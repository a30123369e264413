//! Random submissions and events, against a reference that is slow and obvious.
//!
//! The reference determines exactly what each event answers and discards, but not which task starts next: there, the rules
//! are checked one by one.

mod events;
mod reference;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    time::{Duration, Instant},
};

use events::{BRANCHES, CLASSES, Event, event};
use lint::Cancel;
use proptest::{prelude::*, test_runner::RngSeed};
use reference::{Flight, Label, Outcome, Place, Reference, Spec, told};

use super::{Early, FlightId, State, TicketId, Worker};
use crate::{BranchKey, Class, Options, Rejected, Stats};

fn options() -> Options {
    Options {
        workers: 3,
        interactive_workers: 2,
        stack: 2 << 20,
        queued: 10,
        queued_per_branch: 6,
        memory: 10,
        nice: 0,
        overdue: Duration::from_millis(100),
    }
}

/// Both sides, and what was seen of them.
struct Bench {
    state: State<Label, Label>,
    reference: Reference,
    now: Instant,
    submitted: Label,
    tickets: HashMap<Label, TicketId>,
    /// Running flights, by their work.
    running: BTreeMap<Label, (FlightId, Cancel)>,
    started: HashSet<Label>,
    answered: HashSet<Label>,
    /// On whose turn those of people started.
    people: BTreeMap<Label, (BranchKey, Instant)>,
    /// Work of the interactive class that branches had, and the time when it ended.
    served: Vec<(BranchKey, Duration, Instant)>,
    /// For each place with ready flights: those flights, and which branches had a turn since they came.
    turns: BTreeMap<Place, (BTreeSet<Label>, BTreeSet<BranchKey>)>,
    /// Agents' tasks that started since a background task did.
    in_a_row: u32,
    /// Number of tasks started for which no person waited, since this one was overdue.
    passed: BTreeMap<(Label, Place), usize>,
}

impl Bench {
    fn new(options: Options) -> Self {
        Self {
            state: State::new(options.clone()),
            reference: Reference { options, flights: Vec::new() },
            now: Instant::now(),
            submitted: 0,
            tickets: HashMap::new(),
            running: BTreeMap::new(),
            started: HashSet::new(),
            answered: HashSet::new(),
            people: BTreeMap::new(),
            served: Vec::new(),
            turns: BTreeMap::new(),
            in_a_row: 0,
            passed: BTreeMap::new(),
        }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Submit(specs) => self.submit(specs),
            Event::Next(worker) => drop(self.next(*worker)),
            Event::Finish(at, panicked) if !self.running.is_empty() => {
                let work = *self.running.keys().nth(at.index(self.running.len())).unwrap();
                self.finish(work, *panicked);
            }
            Event::Withdraw(at) if self.submitted > 0 => self.withdraw(at.index(self.submitted)),
            Event::CancelBranch(branch) => {
                let effects = self.state.cancel_branch(*branch, self.now);
                let of_branch = |it: &Spec| it.branch == *branch;
                let expected = self
                    .reference
                    .end_where(self.now, |_, it| of_branch(&it.spec).then_some(Early::Cancelled));
                self.agree(effects.into(), expected);
            }
            Event::Supersede(branch, revision) => {
                let effects = self.state.supersede(*branch, *revision, self.now);
                let old = |it: &Spec| it.branch == *branch && it.revision < *revision;
                let expected =
                    self.reference.end_where(self.now, |_, it| old(&it.spec).then_some(Early::Superseded));
                self.agree(effects.into(), expected);
            }
            Event::Pass(time) => self.now += *time,
            Event::Finish(..) | Event::Withdraw(_) => {}
        }
        self.check();
    }

    fn submit(&mut self, specs: &[Spec]) {
        let requests: Vec<_> = (self.submitted..).zip(specs).map(|(label, it)| it.request(label)).collect();
        let admitted = self.state.admit(&requests);
        assert_eq!(admitted.is_ok(), self.reference.has_room_for(specs), "{admitted:?}");
        if let Err(rejected) = admitted {
            let (Rejected::QueueFull { retry_after, .. } | Rejected::BranchQueueFull { retry_after, .. }) =
                rejected
            else {
                panic!("{rejected}")
            };
            assert!((Duration::from_millis(10)..=Duration::from_secs(10)).contains(&retry_after));
            return;
        }
        if specs.len() > 1 && specs.iter().any(|it| it.supersede) {
            // A task of these may promote another one, and be superseded at once: it left and came back.
            self.turns.clear();
        }
        let (tickets, effects) = self.state.accept(requests, self.now);
        let expected = self.reference.accept(specs, self.submitted, self.now);
        self.tickets.extend((self.submitted..).zip(tickets));
        self.submitted += specs.len();
        self.agree(effects.into(), expected);
    }

    /// Takes the next task, and checks that it was in order, or that giving none was.
    fn next(&mut self, worker: Worker) -> Option<Place> {
        if worker == Worker::Interactive && self.reference.idle_interactive_workers() == 0 {
            return None; // there are no more of these threads
        }
        let has_work = self.state.has_work_for(worker, self.now);
        let start = self.state.next(worker, self.now);
        assert_eq!(has_work, start.is_some());
        let Some(start) = start else {
            self.nothing_can_start(worker);
            return None;
        };
        assert!(self.started.insert(start.work), "{} started twice", start.work);
        let ready: Vec<&Flight> = self.reference.ready().collect();
        let flight = *ready.iter().find(|it| it.work == start.work).expect("it is queued and not held");
        let place = flight.place();
        let older = ready.iter().take_while(|it| it.work != flight.work);
        assert!(older.clone().all(|it| it.place() != place), "a branch's tasks start in order");
        let is_alone = self.running.is_empty();
        assert!(is_alone || self.reference.claimed() + flight.spec.memory <= self.reference.options.memory);
        self.respects_classes(worker, place.0, &ready);
        if place.0 == Class::Interactive {
            self.respects_service(place.1, &ready);
            self.people.insert(start.work, (place.1, self.now));
        }
        self.count_turn(place, flight.work);
        let flight = self.reference.flights.iter_mut().find(|it| it.work == start.work).unwrap();
        flight.running = Some((place.0, worker, self.now));
        self.running.insert(start.work, (start.id, start.cancel));
        Some(place)
    }

    /// Seconds, of which half count after thirty.
    fn service(&self, branch: BranchKey) -> f64 {
        let of_branch = self.served.iter().filter(|it| it.0 == branch);
        let worth = |(_, ran, at): &(_, Duration, Instant)| {
            ran.as_secs_f64().max(1e-6) * (-(self.now - *at).as_secs_f64() / 30.0).exp2()
        };
        of_branch.map(worth).sum()
    }

    fn respects_service(&self, chosen: BranchKey, ready: &[&Flight]) {
        let others = ready.iter().map(|it| it.place()).filter(|it| it.0 == Class::Interactive);
        let least = others.map(|it| self.service(it.1)).fold(f64::INFINITY, f64::min);
        let (had, alike) = (self.service(chosen), 0.25_f64.exp2() * 1.001);
        assert!(had <= least * alike, "{chosen:?} has had {had} s, and another {least} s");
    }

    fn is_overdue(&self, flight: &Flight) -> bool {
        self.now - flight.arrived > self.reference.options.overdue
    }

    fn respects_classes(&self, worker: Worker, class: Class, ready: &[&Flight]) {
        let of = |class: Class| ready.iter().filter(move |it| it.place().0 == class);
        let idle = self.reference.idle_interactive_workers();
        let are_left = of(Class::Interactive).count() <= idle;
        if class == Class::Interactive {
            assert!(worker == Worker::Interactive || !are_left, "took what is left to an idle worker");
            return;
        }
        assert!(worker == Worker::Any && are_left);
        let is_due = self.in_a_row >= 7 && of(Class::Background).any(|it| self.is_overdue(it));
        if class == Class::Agent {
            assert!(!is_due, "passed what is overdue, again");
        } else {
            assert!(is_due || of(Class::Agent).next().is_none(), "passed an agent's task");
        }
    }

    fn nothing_can_start(&self, worker: Worker) {
        let interactive = self.reference.ready().filter(|it| it.place().0 == Class::Interactive);
        let (left, memory) = interactive.fold((0, 0), |(n, sum), it| (n + 1, sum + it.spec.memory));
        let for_others = worker == Worker::Any && left <= self.reference.idle_interactive_workers();
        let about_to_start = if for_others { memory } else { 0 };
        let mut candidates =
            self.reference.ready().filter(|it| (it.place().0 == Class::Interactive) != for_others).peekable();
        if candidates.peek().is_some() {
            let taken = self.reference.claimed() + about_to_start;
            assert!(!self.running.is_empty() || (for_others && left > 0), "one may always run");
            assert!(candidates.any(|it| taken + it.spec.memory > self.reference.options.memory));
        }
    }

    /// No branch has a second turn while another one of the class waits for its first. Among people, who had more waits
    /// for who had less.
    fn count_turn(&mut self, (class, branch): Place, work: Label) {
        let in_turns = |it: Class| it == class && it != Class::Interactive;
        for ((_, waits), (_, seen)) in self.turns.iter_mut().filter(|((it, _), _)| in_turns(*it)) {
            assert!(*waits == branch || seen.insert(branch), "{branch:?} went twice before {waits:?}");
        }
        self.turns.remove(&(class, branch));
        self.passed.retain(|(label, _), _| *label != work);
        if class != Class::Interactive {
            self.passed.values_mut().for_each(|it| *it += 1);
            self.in_a_row = if class == Class::Agent { self.in_a_row + 1 } else { 0 };
        }
    }

    fn finish(&mut self, work: Label, panicked: bool) {
        let (id, _) = self.running.remove(&work).unwrap();
        if let Some((branch, started)) = self.people.remove(&work) {
            self.served.push((branch, self.now - started, self.now));
        }
        let answers = self.state.finished(id, panicked, self.now);
        let answers = answers.iter().map(|it| told(it, None)).collect();
        let expected = self.reference.finish(work, self.now);
        self.agree(Outcome { answers, discarded: Vec::new() }.sorted(), expected);
    }

    fn withdraw(&mut self, label: Label) {
        let Some(ticket) = self.tickets.remove(&label) else { return };
        let effects = self.state.withdraw(ticket);
        let is_open = !self.answered.contains(&label);
        let expected = if is_open { self.reference.withdraw(label, self.now) } else { Outcome::default() };
        self.agree(effects.into(), expected);
    }

    fn agree(&mut self, seen: Outcome, expected: Outcome) {
        assert_eq!(seen, expected);
        for (label, ..) in seen.answers {
            assert!(self.answered.insert(label), "{label} was answered twice");
            assert!(self.tickets.contains_key(&label), "{label} was withdrawn");
        }
        for work in seen.discarded {
            assert!(self.started.insert(work), "{work} was started and discarded"); // and is not to start
        }
    }

    /// Checks the invariants that hold after each event.
    fn check(&mut self) {
        let Options { queued, queued_per_branch, memory, overdue, .. } = self.reference.options;
        let waiting: Vec<_> = self.reference.waiting().map(|it| &it.spec).collect();
        for branch in (0..BRANCHES).map(BranchKey) {
            assert!(waiting.iter().filter(|it| it.branch == branch).count() <= queued_per_branch);
        }
        let stats = self.state.stats();
        for (class, it) in CLASSES.into_iter().zip([stats.background, stats.agent, stats.interactive]) {
            assert_eq!(it.queued, waiting.iter().filter(|it| it.class == class).count());
            assert!(it.queued <= queued);
            let running = self.reference.running().filter(|it| it.running.unwrap().0 == class);
            assert_eq!(it.running, running.count());
        }
        assert!(self.running.len() <= 1 || self.reference.claimed() <= memory);
        let keys: Vec<_> = self.reference.running().filter_map(|it| it.spec.key).collect();
        assert_eq!(keys.len(), keys.iter().collect::<HashSet<_>>().len(), "a key runs twice");
        for flight in self.reference.running() {
            assert_eq!(self.running[&flight.work].1.is_cancelled(), flight.tickets.is_empty());
        }
        self.every_ticket_is_counted(&stats);
        self.follow_turns();
        self.follow_overdue(overdue);
    }

    fn every_ticket_is_counted(&self, stats: &Stats) {
        let live: usize = self.reference.flights.iter().map(|it| it.tickets.len()).sum();
        let answered = stats.done + stats.panicked + stats.superseded + stats.cancelled + stats.shut_down;
        assert_eq!(answered, self.answered.len() as u64);
        assert_eq!(stats.accepted, self.submitted as u64);
        assert_eq!(stats.accepted, answered + stats.withdrawn + live as u64);
    }

    fn follow_turns(&mut self) {
        let mut now: BTreeMap<Place, BTreeSet<Label>> = BTreeMap::new();
        for flight in self.reference.ready() {
            now.entry(flight.place()).or_default().insert(flight.work);
        }
        let mut old = std::mem::take(&mut self.turns);
        for (place, flights) in now {
            // Without a flight that stayed, the branch may have left and come back.
            let seen = old.remove(&place).filter(|(before, _)| !before.is_disjoint(&flights));
            self.turns.insert(place, (flights, seen.map(|it| it.1).unwrap_or_default()));
        }
    }

    fn follow_overdue(&mut self, overdue: Duration) {
        let mut old = std::mem::take(&mut self.passed);
        let is_patient = |it: &&Flight| it.place().0 != Class::Interactive;
        for flight in self.reference.ready().filter(is_patient).filter(|it| self.now - it.arrived > overdue) {
            let key = (flight.work, flight.place());
            let passed = old.remove(&key).unwrap_or_default();
            // At most that many flights of its branch are before it, with as many turns of others before each, and seven of
            // the other class before each of these.
            let bound = queue_bound(&self.reference.options);
            assert!(passed <= bound, "{passed} tasks passed one that is overdue");
            self.passed.insert(key, passed);
        }
    }

    /// Runs everything that is left, and closes: then each ticket has its answer.
    fn end(mut self, cancel_running: bool) {
        let effects = self.state.close(cancel_running, self.now);
        let expected =
            self.reference.end_where(self.now, |flight, _| match (flight.running, cancel_running) {
                (None, _) => Some(Early::ShuttingDown),
                (Some(_), true) => Some(Early::Cancelled),
                (Some(_), false) => None,
            });
        self.agree(effects.into(), expected);
        self.check();
        assert!(self.state.next(Worker::Any, self.now).is_none());
        while let Some((&work, _)) = self.running.first_key_value() {
            self.finish(work, false);
        }
        self.check();
        assert!(self.tickets.keys().all(|it| self.answered.contains(it)));
        assert!(self.state.flights.is_empty() && self.state.branches.is_empty());
        assert!(self.state.open.is_empty() && self.state.busy.is_empty());
        assert_eq!((self.state.claimed, self.state.waiting), (0, [0; 3]));
    }
}

fn queue_bound(options: &Options) -> usize {
    options.queued_per_branch * BRANCHES as usize * 8 + 8
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn agrees_with_the_reference(
        events in prop::collection::vec(event(), 1..120),
        cancel_running in any::<bool>(),
    ) {
        let mut bench = Bench::new(options());
        events.iter().for_each(|it| bench.apply(it));
        bench.end(cancel_running);
    }
}
