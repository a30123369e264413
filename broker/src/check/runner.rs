//! Hands jobs to linters on a few threads and gathers the answers.
//!
//! Batches are large at first, so that a linter's set-up is paid rarely, and small at the end, so that
//! the threads finish together. Every unit of every linter is answered exactly once, whatever a linter does.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use lint::{Completeness, Job, Outcome, Unit};
use overlay::View;

use super::{
    Options,
    place::{Changed, Placer},
    report::{Finding, Incomplete, Level, Subject},
    router::{Router, SharedLinter},
};

/// What came back.
#[derive(Default)]
pub(super) struct Harvest {
    pub(super) findings: Vec<Finding>,
    pub(super) incomplete: Vec<Incomplete>,
    /// Units, by index, with an answer about them.
    pub(super) answers: Vec<(usize, Level)>,
    /// Units, by index, that a linter's configuration leaves out.
    pub(super) excluded: Vec<usize>,
}

pub(super) fn run(
    view: &Arc<dyn View>,
    units: &[Unit],
    router: &Router<'_>,
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Harvest {
    let work = router.assign(units.iter().map(|it| &it.path));
    let total: usize = work.iter().map(|(_, units)| units.len()).sum();
    let jobs = options.jobs.clamp(1, total.max(1));
    let queue = Mutex::new(Queue { work, jobs, linter: 0, next: 0 });
    let run = Run { view, units, queue: &queue, options, progress, total, done: AtomicUsize::new(0) };
    let mut harvest = thread::scope(|scope| {
        let helpers = helpers(jobs - 1, || thread::Builder::new().spawn_scoped(scope, || run.work()));
        let mut harvest = run.work();
        // A worker catches the panics of linters; its own would be a bug, and is passed on.
        helpers.into_iter().for_each(|it| match it.join() {
            Ok(it) => harvest.add(it),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        harvest
    });
    harvest.add(run.rest());
    harvest
}

/// As many threads as wanted, or as there can be: whoever asks for them works, too.
fn helpers<T>(wanted: usize, mut spawn: impl FnMut() -> io::Result<T>) -> Vec<T> {
    (0..wanted).map_while(|_| spawn().ok()).collect()
}

/// The work that nobody has begun.
struct Queue<'l> {
    work: Vec<(&'l SharedLinter, Vec<usize>)>,
    jobs: usize,
    /// The linter whose work is handed out, and how much of it is.
    linter: usize,
    next: usize,
}

/// Units, by index, for one linter.
struct Batch<'l> {
    linter: &'l SharedLinter,
    units: Vec<usize>,
}

impl<'l> Queue<'l> {
    fn take(&mut self) -> Option<Batch<'l>> {
        let (linter, units) = self.work.get(self.linter)?;
        let rest = &units[self.next..];
        let size = batch_size(rest.len(), self.jobs);
        let batch = Batch { linter, units: rest[..size].to_vec() };
        self.next += size;
        if self.next == units.len() {
            self.linter += 1;
            self.next = 0;
        }
        Some(batch)
    }
}

/// Guided self-scheduling: a fixed share of what is left, within reason.
fn batch_size(rest: usize, jobs: usize) -> usize {
    const SMALLEST: usize = 8;
    const LARGEST: usize = 256;
    let fair = rest.div_ceil(jobs);
    (rest / (4 * jobs)).clamp(SMALLEST, LARGEST).min(fair)
}

struct Run<'a, 'l> {
    view: &'a Arc<dyn View>,
    units: &'a [Unit],
    queue: &'a Mutex<Queue<'l>>,
    options: &'a Options,
    progress: &'a (dyn Fn(usize, usize) + Sync),
    total: usize,
    done: AtomicUsize,
}

impl<'l> Run<'_, 'l> {
    fn work(&self) -> Harvest {
        let mut gatherer = Gatherer { harvest: Harvest::default(), placer: Placer::new() };
        while !self.options.cancel.is_cancelled()
            && let Some(batch) = self.next_batch()
        {
            self.ask(&batch, &mut gatherer);
        }
        gatherer.harvest
    }

    fn next_batch(&self) -> Option<Batch<'l>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What was not begun when the run was cancelled.
    fn rest(&self) -> Harvest {
        let mut gatherer = Gatherer { harvest: Harvest::default(), placer: Placer::new() };
        while let Some(batch) = self.next_batch() {
            let mut answers = Answers::new(self, &batch, &mut gatherer);
            answers.fill(|| Completeness::Pending("interrupted".to_owned()));
        }
        gatherer.harvest
    }

    fn ask(&self, batch: &Batch<'_>, gatherer: &mut Gatherer) {
        let job = Job {
            view: Arc::clone(self.view),
            units: batch.units.iter().map(|unit| self.units[*unit].clone()).collect(),
            cancel: self.options.cancel.clone(),
            timeout: self.options.timeout,
        };
        let mut answers = Answers::new(self, batch, gatherer);
        let asked = catch_unwind(AssertUnwindSafe(|| {
            batch.linter.check(&job, &mut |index, outcome| answers.take(index, outcome));
        }));
        let why = if asked.is_ok() { "gave no answer" } else { "broke off; this is a bug in Broker" };
        let name = &batch.linter.identity().name;
        answers.fill(|| Completeness::Failed(format!("the linter `{name}` {why}")));
    }
}

/// Where one thread's answers go.
struct Gatherer {
    harvest: Harvest,
    placer: Placer,
}

/// Sees to it that every unit of a batch gets one answer.
struct Answers<'a, 'l> {
    run: &'a Run<'a, 'l>,
    batch: &'a Batch<'a>,
    linter: Arc<str>,
    answered: Vec<bool>,
    gatherer: &'a mut Gatherer,
}

impl<'a, 'l> Answers<'a, 'l> {
    fn new(run: &'a Run<'a, 'l>, batch: &'a Batch<'a>, gatherer: &'a mut Gatherer) -> Self {
        let linter = batch.linter.identity().name.as_str().into();
        Self { run, batch, linter, answered: vec![false; batch.units.len()], gatherer }
    }

    /// The first answer counts.
    fn take(&mut self, index: usize, mut outcome: Outcome) {
        let Some(answered @ false) = self.answered.get_mut(index) else { return };
        *answered = true;
        let unit = self.batch.units[index];
        let path = &self.run.units[unit].path;
        let view = &**self.run.view;
        match self.gatherer.placer.place(view, &self.linter, path, &mut outcome) {
            Ok(findings) => self.gatherer.harvest.findings.extend(findings),
            Err(Changed) => outcome.completeness = changed(outcome.completeness),
        }
        self.record(unit, outcome.completeness);
        let done = self.run.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.run.progress)(done, self.run.total);
    }

    fn fill(&mut self, completeness: impl Fn() -> Completeness) {
        for index in 0..self.answered.len() {
            self.take(index, Outcome::without_findings(completeness()));
        }
    }

    fn record(&mut self, unit: usize, completeness: Completeness) {
        let (level, reason) = match completeness {
            Completeness::Excluded => {
                self.gatherer.harvest.excluded.push(unit);
                return;
            }
            Completeness::Complete => (Level::Complete, None),
            Completeness::Partial(reason) => (Level::Partial, Some(reason)),
            Completeness::Pending(reason) => (Level::Pending, Some(reason)),
            Completeness::Failed(reason) => (Level::Failed, Some(reason)),
        };
        self.gatherer.harvest.answers.push((unit, level));
        if let Some(reason) = reason {
            let subject = Subject::Path(self.run.units[unit].path.clone());
            let linter = Some(Arc::clone(&self.linter));
            self.gatherer.harvest.incomplete.push(Incomplete { subject, linter, level, reason });
        }
    }
}

/// Findings for a text that is gone have no place in the one that is there; worse news stands.
fn changed(completeness: Completeness) -> Completeness {
    match completeness {
        worse @ (Completeness::Failed(_) | Completeness::Pending(_)) => worse,
        Completeness::Complete | Completeness::Partial(_) | Completeness::Excluded => {
            Completeness::Pending("the file changed while it was checked".to_owned())
        }
    }
}

impl Harvest {
    fn add(&mut self, mut other: Self) {
        self.findings.append(&mut other.findings);
        self.incomplete.append(&mut other.incomplete);
        self.answers.append(&mut other.answers);
        self.excluded.append(&mut other.excluded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_cannot_be_had_are_done_without() {
        let mut left = 2;
        let mut spawn = || {
            left -= 1;
            if left >= 0 { Ok(left) } else { Err(io::ErrorKind::WouldBlock.into()) }
        };
        assert_eq!(helpers(5, &mut spawn), [1, 0]);
        assert_eq!(left, -1, "it is not tried again");
    }

    #[test]
    fn batches_shrink_and_share_fairly() {
        let sizes = |mut rest: usize, jobs| {
            std::iter::from_fn(|| {
                let size = batch_size(rest, jobs);
                rest -= size;
                (size > 0).then_some(size)
            })
            .collect::<Vec<_>>()
        };
        assert!(sizes(0, 2).is_empty());
        assert_eq!(sizes(1, 2), [1]);
        assert_eq!(sizes(10, 2), [5, 3, 1, 1]);
        assert_eq!(sizes(100, 2), [12, 11, 9, 8, 8, 8, 8, 8, 8, 8, 6, 3, 2, 1]);
        assert_eq!(sizes(10_000, 2)[..2], [256, 256]);
        assert_eq!(sizes(10_000, 1).iter().sum::<usize>(), 10_000);
    }
}
