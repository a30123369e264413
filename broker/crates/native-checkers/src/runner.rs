//! All runs of a program: few at a time, one for all who wait for the same, and the last ones' reports kept.

mod afterwards;

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use lint::{Cancel, Completeness, Lease};
use overlay::ContentHash;

use self::afterwards::Afterwards;
use crate::findings::Found;

/// Clones share everything.
#[derive(Clone)]
pub struct Runner(Arc<Inner>);

#[derive(Debug, Clone, Copy)]
pub struct RunnerLimits {
    /// Commands at a time.
    pub runs: usize,
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
}

#[derive(Default)]
struct State {
    running: usize,
    flights: HashMap<ContentHash, Arc<Flight>>,
    /// The latest first.
    kept: VecDeque<(ContentHash, Arc<Report>)>,
}

/// Findings of all reports together that are kept.
const MOST_FINDINGS: usize = 200_000;

/// A run under way, and who waits for it.
#[derive(Default)]
struct Flight {
    waiting: Mutex<Vec<Cancel>>,
    given: Mutex<Option<Given>>,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) found: Found,
    /// Whether errors kept it from looking at everything.
    pub(crate) halted: bool,
    pub(crate) lease: Lease,
    until: Instant,
}

/// A report, or why there is none.
pub(crate) type Given = Result<Arc<Report>, Completeness>;

/// Poll interval for cancel flags, which have no wake-up.
const GLANCE: Duration = Duration::from_millis(20);

impl Default for RunnerLimits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { runs: (cores / 2).clamp(1, 4), kept: 64 }
    }
}

impl Runner {
    pub fn new(limits: RunnerLimits) -> Self {
        let (state, changed, revoked) = (Mutex::default(), Condvar::new(), Cancel::default());
        Self(Arc::new(Inner { limits, state, changed, revoked, afterwards: Afterwards::default() }))
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

    pub(crate) fn report(&self, found: Found, halted: bool, longest: Duration) -> Arc<Report> {
        let lease = Lease::new(self.0.revoked.clone(), Some(longest));
        Arc::new(Report { found, halted, lease, until: Instant::now() + longest })
    }

    /// The report of this name: one that is kept, that of a run under way, or that of a new run, which `compute` makes. It is
    /// told when all who wait have given up.
    pub(crate) fn get(
        &self,
        name: ContentHash,
        cancel: &Cancel,
        compute: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Given,
    ) -> Given {
        let flight = loop {
            let mut state = self.state();
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
            flight.join(cancel);
            drop(state);
            match self.wait_for(&flight, cancel) {
                // All others have given up, and this one came too late to be counted.
                Err(Completeness::Pending(_)) if !self.is_over(cancel) => {}
                given => return given,
            }
        };
        let mut landing = Landing { runner: self, name, flight: &flight, given: None };
        let stop = || self.0.revoked.is_cancelled() || flight.is_given_up();
        let given = match self.slot(&stop) {
            Some(_slot) => compute(&stop),
            None => Err(interrupted()),
        };
        landing.given = Some(given.clone());
        given
    }

    fn is_over(&self, cancel: &Cancel) -> bool {
        cancel.is_cancelled() || self.0.revoked.is_cancelled()
    }

    fn wait_for(&self, flight: &Flight, cancel: &Cancel) -> Given {
        let mut state = self.state();
        loop {
            if let Some(given) = &*locked(&flight.given) {
                return given.clone();
            } else if self.is_over(cancel) {
                return Err(interrupted());
            }
            state = self.pause(state);
        }
    }

    /// Waits for its turn; `None` if `stop` says so before.
    fn slot(&self, stop: &dyn Fn() -> bool) -> Option<Slot<'_>> {
        let mut state = self.state();
        while state.running >= self.0.limits.runs {
            if stop() {
                return None;
            }
            state = self.pause(state);
        }
        state.running += 1;
        Some(Slot(self))
    }

    fn pause<'s>(&'s self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.0.changed.wait_timeout(state, GLANCE).unwrap_or_else(PoisonError::into_inner).0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.0.state)
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
        locked(&self.waiting).push(cancel.clone());
    }

    fn is_given_up(&self) -> bool {
        locked(&self.waiting).iter().all(Cancel::is_cancelled)
    }
}

/// One of the runs that there may be at a time.
struct Slot<'r>(&'r Runner);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
        self.0.0.changed.notify_all();
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
        let mut state = self.runner.state();
        if let Ok(report) = &given {
            state.kept.push_front((self.name, Arc::clone(report)));
            state.kept.truncate(self.runner.0.limits.kept);
            state.keep_few(MOST_FINDINGS);
        }
        state.flights.remove(&self.name);
        *locked(&self.flight.given) = Some(given);
        self.runner.0.changed.notify_all();
    }
}

pub(crate) fn interrupted() -> Completeness {
    Completeness::Pending("interrupted".to_owned())
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
