//! Tickets come and go: how they are attached to flights, and what becomes of a flight that has none.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use lint::Cancel;

use super::{
    Answer, Early, Effects, FlightId, Request, State, TicketId,
    flight::{Attached, Flight, Phase},
    rank,
};
use crate::{BranchKey, WorkKey};

impl<W, R> State<W, R> {
    /// Makes a request a ticket of the flight with its key, or of a new one.
    pub(super) fn attach(
        &mut self,
        request: Request<W, R>,
        now: Instant,
        effects: &mut Effects<W, R>,
    ) -> TicketId {
        let Request { class, branch, revision, key, memory, work, reply, supersede: _ } = request;
        let open = key.and_then(|key| self.open.get(&key).copied());
        let id = match open {
            Some(id) => {
                effects.discarded.push(work);
                id
            }
            None => self.open_flight(key, memory, work, now),
        };
        let joined = open.is_some();
        self.counts.accepted += 1;
        self.counts.joined += u64::from(joined);
        self.serial += 1;
        let ticket = TicketId { flight: id, number: self.serial };
        let Some(flight) = self.flights.get_mut(&id) else { return ticket };
        let waits = flight.is_queued();
        flight
            .tickets
            .insert(ticket.number, Attached { class, branch, revision, reply, submitted: now, joined });
        let known = self.branches.entry(branch).or_default();
        known.tickets.insert((revision, ticket.number), id);
        known.waiting += usize::from(waits);
        self.waiting[class as usize] += usize::from(waits);
        self.settle(id);
        ticket
    }

    fn open_flight(&mut self, key: Option<WorkKey>, memory: u64, work: W, now: Instant) -> FlightId {
        self.serial += 1;
        let id = FlightId(self.serial);
        let phase = Phase::Queued { work, place: None };
        let (cancel, tickets) = (Cancel::default(), BTreeMap::new());
        self.flights.insert(id, Flight { key, memory, arrived: now, cancel, tickets, phase });
        self.open.extend(key.map(|key| (key, id)));
        id
    }

    /// Puts a queued flight where its tickets want it: nowhere if none are left, or if a run of the same
    /// key has to end before.
    pub(super) fn settle(&mut self, id: FlightId) {
        let Some(flight) = self.flights.get_mut(&id) else { return };
        let is_held = flight.key.is_some_and(|key| self.busy.contains(&key));
        let wanted = flight.wanted().filter(|_| !is_held);
        let Phase::Queued { place, .. } = &mut flight.phase else { return };
        if *place == wanted {
            return;
        }
        if let Some(old) = std::mem::replace(place, wanted) {
            self.lanes[old.class as usize].remove(id, old.branch, flight.memory);
        }
        if let Some(new) = wanted {
            let rank = rank(&self.service, new.class, new.branch);
            self.lanes[new.class as usize].insert(id, new.branch, flight.memory, rank);
        }
    }

    pub(super) fn end_early(
        &mut self,
        ticket: TicketId,
        why: Early,
        now: Instant,
        effects: &mut Effects<W, R>,
    ) {
        let started = self.flights.get(&ticket.flight).and_then(Flight::started);
        let Some(attached) = self.detach(ticket, effects) else { return };
        let count = match why {
            Early::Superseded => &mut self.counts.superseded,
            Early::Cancelled => &mut self.counts.cancelled,
            Early::ShuttingDown => &mut self.counts.shut_down,
        };
        *count += 1;
        effects.answers.push((answer(attached, started, now), why));
    }

    /// Takes a ticket off its flight. A flight without tickets leaves the queue or is told to stop.
    pub(super) fn detach(&mut self, ticket: TicketId, effects: &mut Effects<W, R>) -> Option<Attached<R>> {
        let flight = self.flights.get_mut(&ticket.flight)?;
        let attached = flight.tickets.remove(&ticket.number)?;
        let (is_queued, is_wanted) = (flight.is_queued(), !flight.tickets.is_empty());
        self.forget(attached.branch, attached.revision, ticket.number, is_queued);
        self.waiting[attached.class as usize] -= usize::from(is_queued);
        self.settle(ticket.flight);
        if !is_wanted {
            self.abandon(ticket.flight, effects);
        }
        Some(attached)
    }

    /// A run that is told to stop cannot be joined: its result may be a part of what was asked.
    fn abandon(&mut self, id: FlightId, effects: &mut Effects<W, R>) {
        let Some(flight) = self.flights.get(&id) else { return };
        flight.cancel.cancel();
        if let Some(key) = flight.key {
            self.open.remove(&key);
        }
        if flight.is_queued()
            && let Some(Flight { phase: Phase::Queued { work, .. }, .. }) = self.flights.remove(&id)
        {
            effects.discarded.push(work);
        }
    }

    pub(super) fn forget(&mut self, branch: BranchKey, revision: u64, number: u64, was_waiting: bool) {
        let Some(known) = self.branches.get_mut(&branch) else { return };
        known.tickets.remove(&(revision, number));
        known.waiting -= usize::from(was_waiting);
        if known.tickets.is_empty() {
            self.branches.remove(&branch);
        }
    }
}

pub(super) fn answer<R>(ticket: Attached<R>, started: Option<Instant>, now: Instant) -> Answer<R> {
    let Attached { reply, submitted, joined, .. } = ticket;
    let queued = started.unwrap_or(now).saturating_duration_since(submitted);
    let ran = started.map_or(Duration::ZERO, |it| now.saturating_duration_since(it));
    Answer { reply, queued, ran, joined }
}
