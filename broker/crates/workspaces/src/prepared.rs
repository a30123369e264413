//! A check of a view or a target whose whole answer is waited for: made ready, run, and turned into an answer.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use check_engine::{
    Files, OnAnswer, Timing, Timings, Wanted,
    baseline::{Baseline, Mark},
    pipeline::{self, BaselineUse, Collected, Collector, Outcome, Reach, Request, Schedule},
};
use config::{Configs, SetupFailure};
use linters::Catalogs;
use overlay::{Revision, WorkspacePath};

use super::{
    CheckRequest, Daemon, DaemonError,
    ask::refused,
    view::{CheckedView, OpenView, StaleBaseline},
};

/// Findings that are known, with the file that lists them if the configuration names it.
pub(super) struct Known {
    path: Option<WorkspacePath>,
    pub(super) list: Arc<Baseline>,
}

/// A check that can be run.
pub(super) struct Prepared {
    pub(super) request: Request,
    pub(super) reach: Reach,
    pub(super) revision: Revision,
    /// The baseline of the request, in place of the one that the configuration names.
    pub(super) given: Option<Arc<Baseline>>,
    /// Parts that only a check of a view of this process has.
    pub(super) local: Option<LocalParts>,
}

pub(super) struct LocalParts {
    pub(super) view: Arc<OpenView>,
    pub(super) catalogs: Arc<Catalogs>,
    pub(super) timings: Option<Arc<Timings>>,
}

/// A check that was run.
pub(super) struct Inspected {
    pub(super) collected: Collected,
    /// Entries of the baseline, and how many of each, for which there is no finding any more.
    pub(super) stale: Vec<(Mark, u32)>,
    pub(super) outcome: Outcome,
}

impl Daemon {
    /// The check of a view, the base or a branch.
    pub(super) async fn prepare_check(
        self: &Arc<Self>,
        request: CheckRequest,
    ) -> Result<Prepared, DaemonError> {
        if let Some(view) = self.local_view(&request.target) {
            return self.prepare_view(view, request);
        }
        let ask = self.ask(request)?;
        let view = ask.target.view(ask.revision).await?;
        let mut request = self.request(&ask, &view).await?;
        if request.comparison.is_none() {
            request.policy.baseline = BaselineUse::Later;
        }
        let reach = Reach { every_rule: ask.asks_every_rule(), every_file: ask.is_of_everything() };
        Ok(Prepared { request, reach, revision: view.revision, given: ask.options.baseline, local: None })
    }

    /// Asks the linters; findings that are `known` are left out.
    pub(super) async fn inspect(
        &self,
        it: &Prepared,
        known: Option<&Arc<Baseline>>,
    ) -> Result<Inspected, DaemonError> {
        let (answered, mut collector) = it.counted();
        let schedule = Schedule { answered, ..it.request.schedule.clone() };
        let request = Request { schedule, ..it.request.clone() };
        let checked = pipeline::check(&self.engine, &self.policy_cache, &request, &mut collector).await;
        let outcome = checked.map_err(refused)?;
        let mut collected = collector.finish(&outcome);
        // A comparison leaves them out file by file: before, they are no news either.
        let known = known.filter(|_| request.comparison.is_none());
        let stale = known.map(|known| collected.leave_out_known(known, &*request.view, it.reach));
        Ok(Inspected { collected, stale: stale.unwrap_or_default(), outcome })
    }
}

impl Prepared {
    /// The list of the request, or else the one that the configuration names. Blocks.
    pub(super) fn known(&self) -> Result<Option<Known>, DaemonError> {
        known(self.given.as_ref(), &self.request)
    }

    /// The files that are checked for their own sake.
    pub(super) fn files(&self, collected: &Collected) -> Files {
        match &self.request.wanted {
            Wanted::Files(files) => files.clone(),
            Wanted::Walk { .. } => Files { units: collected.units.clone(), ..Files::default() },
        }
    }

    /// The answer to a check of a view; `None` for another.
    pub(super) fn answer(
        &self,
        inspected: Inspected,
        known: Option<&Known>,
    ) -> Result<Option<CheckedView>, DaemonError> {
        let Some(LocalParts { view, catalogs, timings }) = &self.local else { return Ok(None) };
        let Inspected { collected, stale, outcome } = inspected;
        let mut report = collected.report;
        report.add_incomplete(catalogs.broken());
        let unknown_rules = match view.local.finds_unknown_rules {
            true => catalogs.unknown_rules(&outcome.graded_rules)?,
            false => Vec::new(),
        };
        let findings = stale.iter().map(|(_, count)| u64::from(*count)).sum();
        let stale = known.filter(|_| findings > 0);
        let stale = stale.map(|it| StaleBaseline { path: it.path.clone(), findings });
        let timings = timings.as_ref().map(|it| it.take()).unwrap_or_default();
        Ok(Some(CheckedView { report, stale, unknown_rules, timings }))
    }

    /// A callback for each answer, and a collector. A view is told of progress.
    fn counted(&self) -> (OnAnswer, Collector) {
        let answered = Arc::clone(&self.request.schedule.answered);
        let Some(local) = &self.local else { return (answered, Collector::new(Arc::new(|_| ()))) };
        let (done, total) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let (progress, expected) = (Arc::clone(&local.view.local.progress), Arc::clone(&total));
        let counted = move |timing: Option<Timing<'_>>| {
            answered(timing);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, expected.load(Ordering::Relaxed));
        };
        let collector = Collector::new(Arc::new(move |answers| total.store(answers, Ordering::Relaxed)));
        (Arc::new(counted), collector)
    }
}

pub(super) fn known(given: Option<&Arc<Baseline>>, request: &Request) -> Result<Option<Known>, DaemonError> {
    if let Some(given) = given {
        return Ok(Some(Known { path: None, list: Arc::clone(given) }));
    }
    let Some(path) = configured_baseline(request)? else { return Ok(None) };
    let list = Arc::new(load(request, &path)?);
    Ok(Some(Known { path: Some(path), list }))
}

/// Path of the baseline that the configuration of the view names.
pub(super) fn configured_baseline(check: &Request) -> Result<Option<WorkspacePath>, SetupFailure> {
    let configs = if check.policy.configured { Configs::new(&*check.view) } else { Configs::isolated() };
    Ok(configs.workspace()?.baseline().cloned())
}

pub(super) fn load(check: &Request, path: &WorkspacePath) -> Result<Baseline, SetupFailure> {
    let remedy = "restore the file, or make it anew";
    Baseline::load(&*check.view, path).map_err(|it| SetupFailure::new(it.to_string()).hint(remedy))
}
