//! All runs of a program: few at a time, one for all who wait for the same, and the last ones' reports kept.

mod afterwards;

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use external_tools::OutsideState;
use lint::{Cancel, Completeness, Lease, OnCancel};
use overlay::ContentHash;
use parking_lot::{Condvar, Mutex};

use self::afterwards::Afterwards;
use crate::findings::RunFindings;

/// Clones share everything.
#[derive(Clone)]
pub struct Runner(Arc<Inner>);

#[derive(Debug, Clone, Copy)]
pub struct RunnerLimits {
    /// Commands at a time.
    pub runs: usize,
    /// Questions at a time.
    pub questions: usize,
    /// Reports that are kept.
    pub kept: usize,
}

struct Inner {
    limits: RunnerLimits,
    state: Mutex<State>,
    changed: Condvar,
    /// Ends the reuse of all answers, and the runs.
    revoked: Cancel,
    afterwards: Afterwards,
    outside: OutsideState,
}

/// Kind of a run, whose runs take turns with each other alone.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RunKind {
    /// A command, which may build a project for minutes.
    Command,
    /// A question about texts, which is answered in less than a second.
    Question,
}

#[derive(Default)]
struct State {
    /// Numbers of runs by their kind.
    running: [usize; 2],
    flights: HashMap<ContentHash, Arc<Flight>>,
    /// The latest first.
    kept: VecDeque<(ContentHash, Arc<Report>)>,
}

/// Findings of all reports together that are kept.
const MAX_KEPT_FINDINGS: usize = 200_000;

/// A run under way, and who waits for it.
#[derive(Default)]
struct Flight {
    n_waiting: Arc<AtomicUsize>,
    /// Counts down as those who wait give up.
    waiting: Mutex<Vec<OnCancel>>,
    /// Ends the run when all have.
    stop: Cancel,
    given: Mutex<Option<Given>>,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) found: RunFindings,
    /// Whether errors kept the run from looking at everything.
    pub(crate) aborted: bool,
    pub(crate) lease: Lease,
    until: Instant,
}

/// A report, or why there is none.
pub(crate) type Given = Result<Arc<Report>, Completeness>;

impl Default for RunnerLimits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { runs: (cores / 2).clamp(1, 4), questions: cores.clamp(1, 4), kept: 64 }
    }
}

impl Runner {
    pub fn new(limits: RunnerLimits) -> Self {
        let (state, changed, revoked) = (Mutex::default(), Condvar::new(), Cancel::default());
        let (afterwards, outside) = (Afterwards::default(), OutsideState::exact());
        Self(Arc::new(Inner { limits, state, changed, revoked, afterwards, outside }))
    }

    /// State of what commands read outside of workspaces.
    pub(crate) fn outside(&self) -> &OutsideState {
        &self.0.outside
    }

    /// Ends all runs; no answer is used again. Waits for what they keep, as dropping the last clone does.
    pub fn shut_down(&self) {
        self.0.revoked.cancel();
        self.0.afterwards.wait();
    }

    /// Has this done while the answer goes out. It holds no clone of this.
    pub(crate) fn afterwards(&self, root: &Path, work: impl FnOnce() + Send + 'static) {
        self.0.afterwards.start(root, work);
    }

    /// Waits for what earlier runs in the workspace left to be done, so that one that starts now finds it.
    pub(crate) fn wait_for_earlier(&self, root: &Path) {
        self.0.afterwards.wait_for(root);
    }

    pub(crate) fn report(&self, found: RunFindings, aborted: bool, longest: Duration) -> Arc<Report> {
        let lease = Lease::new(self.0.revoked.clone(), Some(longest));
        Arc::new(Report { found, aborted, lease, until: Instant::now() + longest })
    }

    /// The report of this name: one that is kept, that of a run under way, or that of a new run, which `compute` makes. Its
    /// run is cancelled when all who wait have given up.
    pub(crate) fn get(
        &self,
        name: ContentHash,
        kind: RunKind,
        cancel: &Cancel,
        compute: impl FnOnce(&Cancel) -> Given,
    ) -> Given {
        let flight = loop {
            let mut state = self.0.state.lock();
            state.kept.retain(|it| it.1.until > Instant::now());
            if let Some((_, report)) = state.kept.iter().find(|it| it.0 == name) {
                return Ok(Arc::clone(report));
            }
            let Some(flight) = state.flights.get(&name).map(Arc::clone) else {
                let flight = Arc::new(Flight::default());
                flight.join(cancel);
                state.flights.insert(name, Arc::clone(&flight));
                break flight;
            };
            drop(state);
            flight.join(cancel);
            match self.wait_for(&flight, cancel) {
                // All others have given up, and this one came too late to be counted.
                Err(Completeness::Pending(_)) if !self.is_over(cancel) => {}
                given => return given,
            }
        };
        let mut landing = Landing { runner: self, name, flight: &flight, given: None };
        let stop = flight.stop.clone();
        let _ends = self.0.revoked.on_cancel(move || stop.cancel());
        let given = match self.slot(kind, &flight.stop) {
            Some(_slot) => compute(&flight.stop),
            None => Err(interrupted()),
        };
        landing.given = Some(given.clone());
        given
    }

    fn is_over(&self, cancel: &Cancel) -> bool {
        cancel.is_cancelled() || self.0.revoked.is_cancelled()
    }

    /// Wakes those who wait for a change of the state when it is cancelled. Not to be called while the state is locked.
    fn wake_on(&self, cancel: &Cancel) -> OnCancel {
        let inner = Arc::downgrade(&self.0);
        cancel.on_cancel(move || {
            if let Some(inner) = inner.upgrade() {
                // A waiter that has seen that it was not cancelled waits by now.
                drop(inner.state.lock());
                inner.changed.notify_all();
            }
        })
    }

    fn wait_for(&self, flight: &Flight, cancel: &Cancel) -> Given {
        let _wakes = [cancel, &self.0.revoked].map(|it| self.wake_on(it));
        let mut state = self.0.state.lock();
        loop {
            if let Some(given) = &*flight.given.lock() {
                return given.clone();
            } else if self.is_over(cancel) {
                return Err(interrupted());
            }
            self.0.changed.wait(&mut state);
        }
    }

    /// Waits for its turn; `None` if it is cancelled before.
    fn slot(&self, kind: RunKind, stop: &Cancel) -> Option<Slot<'_>> {
        let _wakes = self.wake_on(stop);
        let most = match kind {
            RunKind::Command => self.0.limits.runs,
            RunKind::Question => self.0.limits.questions,
        };
        let mut state = self.0.state.lock();
        while state.running[kind as usize] >= most {
            if stop.is_cancelled() {
                return None;
            }
            self.0.changed.wait(&mut state);
        }
        state.running[kind as usize] += 1;
        Some(Slot { runner: self, kind })
    }
}

impl State {
    /// The latest reports that have so many findings together.
    fn keep_few(&mut self, most: usize) {
        let mut findings = 0;
        let fits = |it: &(ContentHash, Arc<Report>)| {
            findings += it.1.found.files.values().map(Vec::len).sum::<usize>();
            findings <= most
        };
        self.kept = self.kept.drain(..).take_while(fits).collect();
    }
}

impl Flight {
    fn join(&self, cancel: &Cancel) {
        self.n_waiting.fetch_add(1, SeqCst);
        let (n_waiting, stop) = (Arc::clone(&self.n_waiting), self.stop.clone());
        let waiting = cancel.on_cancel(move || {
            if n_waiting.fetch_sub(1, SeqCst) == 1 {
                stop.cancel();
            }
        });
        self.waiting.lock().push(waiting);
    }
}

/// Share in the number of runs that there may be at a time.
struct Slot<'r> {
    runner: &'r Runner,
    kind: RunKind,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.runner.0.state.lock().running[self.kind as usize] -= 1;
        self.runner.0.changed.notify_all();
    }
}

/// Hands over what came of a flight, whatever happens.
struct Landing<'r> {
    runner: &'r Runner,
    name: ContentHash,
    flight: &'r Flight,
    given: Option<Given>,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        let broke_off = || Err(Completeness::Failed("its run broke off; this is a bug in Broker".to_owned()));
        let given = self.given.take().unwrap_or_else(broke_off);
        let mut state = self.runner.0.state.lock();
        if let Ok(report) = &given {
            state.kept.push_front((self.name, Arc::clone(report)));
            state.kept.truncate(self.runner.0.limits.kept);
            state.keep_few(MAX_KEPT_FINDINGS);
        }
        state.flights.remove(&self.name);
        *self.flight.given.lock() = Some(given);
        self.runner.0.changed.notify_all();
    }
}

pub(crate) fn interrupted() -> Completeness {
    Completeness::Pending("interrupted".to_owned())
}

#[cfg(test)]
mod tests;
