//! The state once more, as lists that are searched from the start each time.

use std::time::{Duration, Instant};

use crate::{
    BranchKey, Class, Options, WorkKey,
    state::{Answer, Early, Effects, Request, Worker},
};

/// Works and replies are told apart by a number that is counted up with each submission.
pub(super) type Label = usize;

#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) class: Class,
    pub(super) branch: BranchKey,
    pub(super) revision: u64,
    pub(super) key: Option<WorkKey>,
    pub(super) supersede: bool,
    pub(super) memory: u64,
}

impl Spec {
    pub(super) fn request(&self, label: Label) -> Request<Label, Label> {
        let Self { class, branch, revision, key, supersede, memory } = *self;
        Request { class, branch, revision, key, supersede, memory, work: label, reply: label }
    }
}

#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) label: Label,
    pub(super) spec: Spec,
    submitted: Instant,
    joined: bool,
}

#[derive(Debug)]
pub(super) struct Flight {
    pub(super) work: Label,
    pub(super) spec: Spec,
    pub(super) arrived: Instant,
    pub(super) tickets: Vec<Ticket>,
    pub(super) running: Option<(Class, Worker, Instant)>,
}

pub(super) type Place = (Class, BranchKey);

impl Flight {
    pub(super) fn place(&self) -> Place {
        let class = self.tickets.iter().map(|it| it.spec.class).max().unwrap();
        let first = self.tickets.iter().find(|it| it.spec.class == class).unwrap();
        (class, first.spec.branch)
    }
}

/// An answer as a test sees it: whose, why if it is early, times, and whether it joined.
pub(super) type Told = (Label, Option<Early>, Duration, Duration, bool);

pub(super) fn told(answer: &Answer<Label>, early: Option<Early>) -> Told {
    (answer.reply, early, answer.queued, answer.ran, answer.joined)
}

/// Effects, in an order that does not matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) answers: Vec<Told>,
    pub(super) discarded: Vec<Label>,
}

impl Outcome {
    pub(super) fn sorted(mut self) -> Self {
        self.answers.sort_by_key(|it| it.0);
        self.discarded.sort_unstable();
        self
    }
}

impl From<Effects<Label, Label>> for Outcome {
    fn from(effects: Effects<Label, Label>) -> Self {
        let answers = effects.answers.iter().map(|(answer, why)| told(answer, Some(*why)));
        Self { answers: answers.collect(), discarded: effects.discarded }.sorted()
    }
}

pub(super) struct Reference {
    pub(super) options: Options,
    /// By age.
    pub(super) flights: Vec<Flight>,
}

impl Reference {
    pub(super) fn running(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter().filter(|it| it.running.is_some())
    }

    pub(super) fn claimed(&self) -> u64 {
        self.running().map(|it| it.spec.memory).sum()
    }

    /// Queued flights that no run of the same key holds back.
    pub(super) fn ready(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter().filter(|it| it.running.is_none()).filter(|it| {
            it.spec.key.is_none() || !self.running().any(|running| running.spec.key == it.spec.key)
        })
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &Ticket> {
        self.flights.iter().filter(|it| it.running.is_none()).flat_map(|it| &it.tickets)
    }

    pub(super) fn idle_interactive_workers(&self) -> usize {
        let busy = self.running().filter(|it| matches!(it.running, Some((_, Worker::Interactive, _))));
        self.options.interactive_workers - busy.count()
    }

    /// Returns the flight that a task with this key joins, if it is not the first of its kind.
    fn joinable(&mut self, key: Option<WorkKey>) -> Option<&mut Flight> {
        key.and_then(|_| self.flights.iter_mut().find(|it| it.spec.key == key && !it.tickets.is_empty()))
    }

    pub(super) fn has_room_for(&mut self, specs: &[Spec]) -> bool {
        let mut added = Vec::new();
        for spec in specs {
            if self.joinable(spec.key).is_none_or(|it| it.running.is_none()) {
                added.push(spec.clone());
            }
        }
        let stays = |ticket: &&Ticket| {
            let of_branch = |it: &&Spec| it.supersede && it.branch == ticket.spec.branch;
            !specs.iter().filter(of_branch).any(|it| it.revision > ticket.spec.revision)
        };
        let waiting: Vec<_> = self.waiting().filter(stays).map(|it| &it.spec).chain(&added).collect();
        added.iter().all(|spec| {
            let of_class = waiting.iter().filter(|it| it.class == spec.class).count();
            let of_branch = waiting.iter().filter(|it| it.branch == spec.branch).count();
            of_class <= self.options.queued && of_branch <= self.options.queued_per_branch
        })
    }

    pub(super) fn accept(&mut self, specs: &[Spec], first: Label, now: Instant) -> Outcome {
        let mut outcome = Outcome::default();
        for (label, spec) in (first..).zip(specs) {
            let ticket = |joined| Ticket { label, spec: spec.clone(), submitted: now, joined };
            if let Some(open) = self.joinable(spec.key) {
                open.tickets.push(ticket(true));
                outcome.discarded.push(label);
            } else {
                let (spec, tickets) = (spec.clone(), vec![ticket(false)]);
                self.flights.push(Flight { work: label, spec, arrived: now, tickets, running: None });
            }
        }
        for spec in specs.iter().filter(|it| it.supersede) {
            let old = |it: &Spec| it.branch == spec.branch && it.revision < spec.revision;
            let more = self.end_where(now, |_, ticket| old(&ticket.spec).then_some(Early::Superseded));
            outcome.answers.extend(more.answers);
            outcome.discarded.extend(more.discarded);
        }
        outcome.sorted()
    }

    /// Ends tickets early, for the reason given for each, if any.
    pub(super) fn end_where(
        &mut self,
        now: Instant,
        why: impl Fn(&Flight, &Ticket) -> Option<Early>,
    ) -> Outcome {
        let mut ended = Vec::new();
        for flight in &self.flights {
            ended.extend(flight.tickets.iter().filter_map(|it| Some((it.label, why(flight, it)?))));
        }
        let mut outcome = Outcome::default();
        for (label, why) in ended {
            outcome.answers.push(self.take(label, Some(why), now));
        }
        outcome.discarded = self.sweep();
        outcome.sorted()
    }

    pub(super) fn withdraw(&mut self, label: Label, now: Instant) -> Outcome {
        self.take(label, None, now);
        Outcome { answers: Vec::new(), discarded: self.sweep() }
    }

    fn take(&mut self, label: Label, why: Option<Early>, now: Instant) -> Told {
        let has = |flight: &Flight| flight.tickets.iter().position(|it| it.label == label);
        let (flight, at) = self.flights.iter_mut().find_map(|it| has(it).map(|at| (it, at))).unwrap();
        let started = flight.running.map(|(_, _, started)| started);
        tell(&flight.tickets.remove(at), why, started, now)
    }

    /// Removes queued flights that are not wanted.
    fn sweep(&mut self) -> Vec<Label> {
        let unwanted = |it: &mut Flight| it.running.is_none() && it.tickets.is_empty();
        self.flights.extract_if(.., unwanted).map(|it| it.work).collect()
    }

    pub(super) fn finish(&mut self, work: Label, now: Instant) -> Outcome {
        let at = self.flights.iter().position(|it| it.work == work).unwrap();
        let flight = self.flights.remove(at);
        let started = flight.running.map(|(_, _, started)| started);
        let answers = flight.tickets.iter().map(|it| tell(it, None, started, now)).collect();
        Outcome { answers, discarded: Vec::new() }.sorted()
    }
}

fn tell(ticket: &Ticket, why: Option<Early>, started: Option<Instant>, now: Instant) -> Told {
    let queued = started.unwrap_or(now).saturating_duration_since(ticket.submitted);
    let ran = started.map_or(Duration::ZERO, |it| now - it);
    (ticket.label, why, queued, ran, ticket.joined)
}
