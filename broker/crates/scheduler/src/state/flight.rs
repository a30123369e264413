//! A piece of work that is queued or runs, and all tickets that wait for it.

use std::{collections::BTreeMap, time::Instant};

use lint::Cancel;

use super::Worker;
use crate::{BranchKey, Class, WorkKey};

/// Names a piece of work. A lower one was submitted earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FlightId(pub(crate) u64);

/// Names who waits: a ticket is attached to its flight until it is answered or withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TicketId {
    pub(crate) flight: FlightId,
    pub(crate) number: u64,
}

/// A closure that runs at most once, for any number of tickets. `W` is the closure and `R` the way to
/// answer a ticket: neither is looked at here.
pub(super) struct Flight<W, R> {
    pub(super) key: Option<WorkKey>,
    pub(super) memory: u64,
    pub(super) arrived: Instant,
    pub(super) cancel: Cancel,
    /// By number, so in the order of submission.
    pub(super) tickets: BTreeMap<u64, Attached<R>>,
    pub(super) phase: Phase<W>,
}

pub(super) enum Phase<W> {
    /// Without a place, it waits for a run of the same key to end that is not wanted any more.
    Queued { work: W, place: Option<Place> },
    Running {
        class: Class,
        /// On whose turn it started.
        branch: BranchKey,
        worker: Worker,
        started: Instant,
    },
}

/// In which lane a flight is queued, and on whose turn it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) class: Class,
    pub(super) branch: BranchKey,
}

pub(super) struct Attached<R> {
    pub(super) class: Class,
    pub(super) branch: BranchKey,
    pub(super) revision: u64,
    pub(super) reply: R,
    pub(super) submitted: Instant,
    pub(super) joined: bool,
}

impl<W, R> Flight<W, R> {
    pub(super) fn is_queued(&self) -> bool {
        matches!(self.phase, Phase::Queued { .. })
    }

    pub(super) fn started(&self) -> Option<Instant> {
        match self.phase {
            Phase::Queued { .. } => None,
            Phase::Running { started, .. } => Some(started),
        }
    }

    /// The place of the most urgent ticket, the earliest of them if there are several.
    pub(super) fn wanted(&self) -> Option<Place> {
        let class = self.tickets.values().map(|it| it.class).max()?;
        let first = self.tickets.values().find(|it| it.class == class)?;
        Some(Place { class, branch: first.branch })
    }
}
