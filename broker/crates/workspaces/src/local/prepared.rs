//! A check of a view: made ready, run, and turned into an answer.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use checker::{
    BatchSize, Files, OnAnswer, Timing, Wanted,
    baseline::{Baseline, Mark},
    pipeline::{self, BaselineUse, Collected, Collector, Outcome, PolicyOptions, Reach, Request, Schedule},
};
use linters::{Catalogs, LinterSet, WorkspaceContext};
use overlay::{Disk, Revision, WorkspacePath};
use scheduler::BranchKey;

use super::{CheckedView, LocalView, OpenView, StaleBaseline, ViewFiles};
use crate::{
    CheckRequest, Daemon, DaemonError,
    ask::{Ask, refused},
    baselines::{configured_baseline, load},
};

/// Findings that are known, with the file that lists them if the configuration names it.
pub(super) struct Known {
    path: Option<WorkspacePath>,
    pub(super) list: Arc<Baseline>,
}

/// A check that can be run.
pub(super) struct Prepared {
    pub(super) ask: Ask<Arc<OpenView>>,
    pub(super) request: Request,
    pub(super) files: Files,
    pub(super) catalogs: Arc<Catalogs>,
    pub(super) reach: Reach,
}

/// A check that was run.
pub(super) struct Inspected {
    pub(super) collected: Collected,
    /// Entries of the baseline, and how many of each, for which there is no finding any more.
    pub(super) stale: Vec<(Mark, u32)>,
    pub(super) outcome: Outcome,
}

impl Daemon {
    /// The request in the words of the pipeline. Blocks: files are found.
    pub(super) fn prepare_view(
        &self,
        view: Arc<OpenView>,
        request: CheckRequest,
    ) -> Result<Prepared, DaemonError> {
        let walk = view.local.walk_options(&request.paths);
        let ask = request.ask(view, walk)?;
        let local = &ask.target.local;
        let linters = self.linters_of_view(&ask)?;
        *ask.target.linters.lock() = Some(Arc::clone(&linters));
        let catalogs = linters.at(&local.view)?;
        // A rule that no linter knows is an error even if there is nothing to check.
        catalogs.router(&ask.requested())?;
        let files = local.files(&ask.scope);
        let reach = Reach {
            every_rule: ask.asks_every_rule(),
            every_file: ask.is_of_everything() && matches!(local.files, ViewFiles::Requested),
        };
        let mut request = Request {
            view: Arc::clone(&local.view),
            wanted: Wanted::Files(files.clone()),
            dependents: ask.dependents.then(|| Arc::new(local.dependents(&ask.scope, &files))),
            comparison: None,
            lineup: linters,
            policy: PolicyOptions {
                every_rule: reach.every_rule,
                configured: !ask.options.isolated,
                baseline: BaselineUse::Later,
            },
            schedule: self.schedule_of_view(&ask),
        };
        if let Some(comparison) = local.comparison(&ask).filter(|_| ask.new_only) {
            let known = known(&ask, &request)?;
            request.compare(comparison, known.map(|it| it.list));
        }
        Ok(Prepared { ask, request, files, catalogs, reach })
    }

    pub(super) fn linters_of_view(&self, ask: &Ask<Arc<OpenView>>) -> Result<Arc<LinterSet>, DaemonError> {
        let local = &ask.target.local;
        let disk = Disk::new(&local.root).map_err(|source| DaemonError::Io {
            message: format!("cannot open {}", local.root.display()),
            source,
        })?;
        let context = WorkspaceContext {
            isolated: ask.options.isolated,
            own_config: ask.options.config.clone(),
            ..WorkspaceContext::of_shell(&local.root, Arc::new(disk))
        };
        let linters = LinterSet::new(self.providers.clone(), context, ask.requested());
        Ok(Arc::new(linters.of_kinds(ask.kinds.clone())))
    }

    fn schedule_of_view(&self, ask: &Ask<Arc<OpenView>>) -> Schedule {
        Schedule {
            class: ask.class,
            branch: BranchKey(0),
            revision: Revision::default(),
            supersede: false,
            timeout: ask.options.timeout,
            batch: BatchSize { largest: self.batch, workers: self.engine.workers() },
            jobs: ask.options.jobs,
            use_cache: ask.options.use_cache,
            share: false,
            cancel: Some(ask.target.local.cancel.clone()),
            answered: ask.options.answered(),
        }
    }

    /// Asks the linters; findings that are `known` are left out.
    pub(super) async fn inspect(
        &self,
        it: &Prepared,
        known: Option<&Arc<Baseline>>,
    ) -> Result<Inspected, DaemonError> {
        let (answered, mut collector) = counted(&it.ask.target.local, &it.request.schedule.answered);
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
    pub(super) fn known(&self) -> Result<Option<Known>, DaemonError> {
        known(&self.ask, &self.request)
    }

    pub(super) fn answer(
        &self,
        inspected: Inspected,
        known: Option<&Known>,
    ) -> Result<CheckedView, DaemonError> {
        let Inspected { collected, stale, outcome } = inspected;
        let mut report = collected.report;
        report.add_incomplete(self.catalogs.broken());
        let unknown_rules = match self.ask.target.local.finds_unknown_rules {
            true => self.catalogs.unknown_rules(&outcome.graded_rules)?,
            false => Vec::new(),
        };
        let findings = stale.iter().map(|(_, count)| u64::from(*count)).sum();
        let stale = known.filter(|_| findings > 0);
        let stale = stale.map(|it| StaleBaseline { path: it.path.clone(), findings });
        let timings = self.ask.options.timings.as_ref().map(|it| it.take()).unwrap_or_default();
        Ok(CheckedView { report, stale, unknown_rules, timings })
    }
}

/// The list of the request, or else the one that the configuration names.
fn known(ask: &Ask<Arc<OpenView>>, request: &Request) -> Result<Option<Known>, DaemonError> {
    if let Some(given) = &ask.options.baseline {
        return Ok(Some(Known { path: None, list: Arc::clone(given) }));
    }
    let Some(path) = configured_baseline(request)? else { return Ok(None) };
    let list = Arc::new(load(request, &path)?);
    Ok(Some(Known { path: Some(path), list }))
}

/// A collector, and a callback for each answer that tells `local` of progress besides.
fn counted(local: &LocalView, answered: &OnAnswer) -> (OnAnswer, Collector) {
    let (done, total) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let (progress, answered, expected) =
        (Arc::clone(&local.progress), Arc::clone(answered), Arc::clone(&total));
    let counted = move |timing: Option<Timing<'_>>| {
        answered(timing);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, expected.load(Ordering::Relaxed));
    };
    let collector = Collector::new(Arc::new(move |answers| total.store(answers, Ordering::Relaxed)));
    (Arc::new(counted), collector)
}
