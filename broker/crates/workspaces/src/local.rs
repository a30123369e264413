//! Checks of a view that a command has made: of the disk, of what git has in its place, or of either with texts over it.
//!
//! The daemon is a part of the command then: it keeps and watches nothing. The command waits for the whole answer, so that a baseline
//! is compared with all findings at once, and the answer is one report. Limits that protect a daemon from its clients do not apply.

use std::{
    collections::BTreeSet,
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use checker::{
    AnswerTime, BatchSize, Dependents, Files, Incomplete, OnAnswer, Report, Timing, Wanted,
    baseline::{Baseline, Mark},
    collect, is_file,
    pipeline::{
        self, BaselineUse, Collected, Collector, Comparison, Fixed, Outcome, PolicyOptions, Reach, Request,
        Schedule, Scope, is_there,
    },
    with_file_settings,
};
use config::Choice;
use lint::Cancel;
use linters::{Catalogs, LinterSet, WorkspaceContext};
use overlay::{Disk, Revision, Skipped, View, WalkOptions, WorkspacePath};
use parking_lot::Mutex;
use scheduler::BranchKey;
use tokio::sync::mpsc;

use super::{
    BaselineRequest, CheckEvents, CheckRequest, CheckSummary, Daemon, DaemonError, Event, FixRequest,
    FixedFiles, ListedFiles, TargetId, UnfixedFinding, UpdatedBaseline,
    ask::{Ask, refused},
    baselines::{configured_baseline, load, old_baseline},
    fix::changes,
    options::walk_options,
};

/// Handle of the view; those of workspaces are numbers.
const HANDLE: &str = "local";

/// A folder as a command wants it checked.
pub struct LocalView {
    pub root: PathBuf,
    pub view: Arc<dyn View>,
    pub files: ViewFiles,
    /// Whether rules are looked for that configuration files name and no linter has.
    pub finds_unknown_rules: bool,
    /// Ends checks early; what was not answered is pending.
    pub cancel: Cancel,
    /// Called, from any thread, with the number of answers that are there, and with that of all.
    pub progress: Arc<dyn Fn(usize, usize) + Send + Sync>,
}

/// Files of a view that are checked.
pub enum ViewFiles {
    /// Those at and below the paths of the request.
    Requested,
    /// Of those, the ones that changed.
    Changed(ViewChanges),
    /// This one, whatever is excluded.
    Named(WorkspacePath),
}

/// Difference of a view from an older state.
#[derive(Default)]
pub struct ViewChanges {
    /// Files that are there.
    pub paths: BTreeSet<WorkspacePath>,
    pub gone: BTreeSet<WorkspacePath>,
    /// Number of files that are there and whose names are not UTF-8.
    pub not_utf8: u64,
    /// The older state, for a request that asks only for new findings.
    pub before: Option<Arc<dyn View>>,
}

/// Result of a check of a view.
#[derive(Debug, Clone)]
pub struct CheckedView {
    pub report: Report,
    /// Entries of the baseline for which there is no finding any more.
    pub stale: Option<StaleBaseline>,
    /// One sentence for each rule that configuration files name and no linter has, if that was asked.
    pub unknown_rules: Vec<String>,
    /// Answers that were computed, the longest first, if that was asked.
    pub timings: Vec<AnswerTime>,
}

#[derive(Debug, Clone)]
pub struct StaleBaseline {
    /// The file that the configuration names; `None` for a list of the request.
    pub path: Option<WorkspacePath>,
    pub findings: u64,
}

/// Fixes in a view.
pub struct FixedView {
    /// The check that the fixes are made of.
    pub checked: CheckedView,
    pub fixed: Fixed,
}

impl fmt::Debug for FixedView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { checked, fixed } = self;
        f.debug_struct("FixedView")
            .field("checked", checked)
            .field("count", &fixed.count)
            .finish_non_exhaustive()
    }
}

/// A view that can be asked about.
pub(super) struct OpenView {
    local: LocalView,
    /// Linters of the last request.
    linters: Mutex<Option<Arc<LinterSet>>>,
}

/// Findings that are known, with the file that lists them if the configuration names it.
struct Known {
    path: Option<WorkspacePath>,
    list: Arc<Baseline>,
}

/// A check that can be run.
struct Prepared {
    ask: Ask<Arc<OpenView>>,
    request: Request,
    files: Files,
    catalogs: Arc<Catalogs>,
    reach: Reach,
}

/// A check that was run.
struct Inspected {
    collected: Collected,
    stale: Vec<(Mark, u32)>,
    outcome: Outcome,
}

impl Daemon {
    /// Makes a view the target of requests, in place of the one before. For a daemon of the caller's own process.
    pub fn open_view(&self, local: LocalView) -> TargetId {
        *self.local.lock() = Some(Arc::new(OpenView { local, linters: Mutex::default() }));
        TargetId::Workspace(HANDLE.to_owned())
    }

    pub(super) fn local_view(&self, target: &TargetId) -> Option<Arc<OpenView>> {
        match target {
            TargetId::Workspace(id) if id == HANDLE => self.local.lock().clone(),
            TargetId::Workspace(_) | TargetId::Branch(_) => None,
        }
    }

    /// The linters of a view, as its last request asked for them.
    pub(super) fn catalogs_of_view(&self, view: &OpenView) -> Result<Arc<Catalogs>, DaemonError> {
        let last = view.linters.lock().clone();
        let linters = match last {
            Some(last) => last,
            None => self.linters_of_view(&view.local, None, Choice::default())?,
        };
        Ok(linters.at(&view.local.view)?)
    }

    fn linters_of_view(
        &self,
        local: &LocalView,
        ask: Option<&Ask<Arc<OpenView>>>,
        requested: Choice,
    ) -> Result<Arc<LinterSet>, DaemonError> {
        let disk = Disk::new(&local.root).map_err(|source| DaemonError::Io {
            message: format!("cannot open {}", local.root.display()),
            source,
        })?;
        let context = WorkspaceContext {
            isolated: ask.is_some_and(|it| it.options.isolated),
            own_config: ask.and_then(|it| it.options.config.clone()),
            ..WorkspaceContext::of_shell(&local.root, Arc::new(disk))
        };
        let kinds = ask.map(|it| it.kinds.clone()).unwrap_or_default();
        Ok(Arc::new(LinterSet::new(self.providers.clone(), context, requested).of_kinds(kinds)))
    }

    /// Checks; the summary, which has the whole answer, is the one event.
    pub(super) fn check_view(
        self: &Arc<Self>,
        view: Arc<OpenView>,
        request: CheckRequest,
    ) -> Result<CheckEvents, DaemonError> {
        let it = self.prepare_view(view, request)?;
        let (events, received) = mpsc::channel(1);
        let daemon = Arc::clone(self);
        tokio::spawn(async move {
            let summary = tokio::select! {
                summary = daemon.summary(&it) => summary,
                () = events.closed() => return,
            };
            let _client_left = events.send(summary.map(|it| Event::Summary(Box::new(it)))).await;
        });
        Ok(received)
    }

    async fn summary(&self, it: &Prepared) -> Result<CheckSummary, DaemonError> {
        let known = it.known()?;
        let inspected = self.inspect(it, known.as_ref().map(|it| &it.list)).await?;
        let summary = inspected.outcome.summary.clone();
        let local = Some(Box::new(it.answer(inspected, known.as_ref())?));
        Ok(CheckSummary { local, ..summary.into() })
    }

    /// Fixes, or suppresses, what a check finds. Nothing is written; there is a patch with `dry_run` only.
    pub(super) async fn fix_view(
        &self,
        view: Arc<OpenView>,
        asked: FixRequest,
    ) -> Result<FixedFiles, DaemonError> {
        let it = self.prepare_view(view, asked.check.clone())?;
        let known = it.known()?;
        let list = known.as_ref().map(|it| &it.list);
        let inspected = self.inspect(&it, list).await?;
        let report = &inspected.collected.report;
        let fixed = self.fixes(&it.request, &it.files, report, &asked, list.cloned()).await?;
        let patch = if asked.dry_run { changes(&fixed.branch.snapshot())?.1 } else { String::new() };
        let checked = it.answer(inspected, known.as_ref())?;
        Ok(FixedFiles {
            revision: Revision::default(),
            count: fixed.count,
            paths: fixed.before.keys().cloned().collect(),
            patch,
            files: Vec::new(),
            notes: fixed.notes.iter().map(UnfixedFinding::from).collect(),
            incomplete: checked.report.incomplete.clone(),
            local: Some(Arc::new(FixedView { checked, fixed })),
        })
    }

    /// The baseline as it would be now, and what is found besides.
    pub(super) async fn update_baseline_of_view(
        &self,
        view: Arc<OpenView>,
        BaselineRequest { check, prune }: BaselineRequest,
    ) -> Result<UpdatedBaseline, DaemonError> {
        let it = self.prepare_view(view, check)?;
        let (path, old) = old_baseline(&it.ask, &it.request, prune)?;
        let old = Arc::new(old);
        let mut inspected = self.inspect(&it, Some(&old).filter(|_| prune)).await?;
        let mut new = Baseline::clone(&old);
        match prune {
            true => new.prune(&inspected.stale),
            false => inspected.collected.make_known(&mut new, &*it.request.view, it.reach),
        }
        let local = it.answer(inspected, None)?;
        let incomplete = local.report.incomplete.clone();
        Ok(UpdatedBaseline {
            path,
            incomplete,
            local: Some(Box::new(local)),
            ..UpdatedBaseline::of(&old, &new)
        })
    }

    /// The files that linters would be asked about.
    pub(super) fn list_view(
        &self,
        view: Arc<OpenView>,
        request: CheckRequest,
    ) -> Result<ListedFiles, DaemonError> {
        let Prepared { request, files, catalogs, .. } = self.prepare_view(view, request)?;
        let router = request.lineup.route(&request.view, &files)?;
        let incomplete = catalogs.broken().into_iter().chain(Incomplete::unreadable(&files.skipped));
        let listed = router.listing(&*request.view, &files.units);
        Ok(ListedFiles { files: listed, incomplete: incomplete.collect() })
    }

    /// The request in the words of the pipeline. Blocks: files are found.
    fn prepare_view(&self, view: Arc<OpenView>, request: CheckRequest) -> Result<Prepared, DaemonError> {
        let walk = view.local.walk_options(&request.paths);
        let ask = request.ask(view, walk)?;
        let local = &ask.target.local;
        let linters = self.linters_of_view(local, Some(&ask), ask.requested())?;
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
    async fn inspect(&self, it: &Prepared, known: Option<&Arc<Baseline>>) -> Result<Inspected, DaemonError> {
        let (answered, mut collector) = counted(&it.ask.target.local, &it.request.schedule.answered);
        let schedule = Schedule { answered, ..it.request.schedule.clone() };
        let request = Request { schedule, ..it.request.clone() };
        let checked = pipeline::check(&self.engine, &self.policy_cache, &request, &mut collector).await;
        let outcome = checked.map_err(refused)?;
        let mut collected = collector.finish(&outcome);
        // A comparison leaves them out file by file: before, they are no news either.
        let known = known.filter(|_| request.comparison.is_none());
        let stale = known.map(|it_known| collected.leave_out_known(it_known, &*request.view, it.reach));
        Ok(Inspected { collected, stale: stale.unwrap_or_default(), outcome })
    }
}

impl Prepared {
    fn known(&self) -> Result<Option<Known>, DaemonError> {
        known(&self.ask, &self.request)
    }

    fn answer(&self, inspected: Inspected, known: Option<&Known>) -> Result<CheckedView, DaemonError> {
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

impl LocalView {
    /// Options for finding files; if every path is a file, nothing has to be read for them.
    fn walk_options(&self, paths: &[String]) -> WalkOptions {
        let is_file = |it: &String| WorkspacePath::new(it).is_ok_and(|it| is_file(&*self.view, &it));
        let are_files = !paths.is_empty() && paths.iter().all(is_file);
        if are_files { WalkOptions::default() } else { walk_options() }
    }

    fn files(&self, scope: &Scope) -> Files {
        match &self.files {
            ViewFiles::Named(path) => Files::of_named([path.clone()]),
            ViewFiles::Requested => self.below(&scope.paths, scope),
            ViewFiles::Changed(changes) => {
                // Files that only the older state has are gone, which is no error.
                let is_gone = |it: &&WorkspacePath| changes.before.is_some() && !is_there(&*self.view, it);
                let there: Vec<_> = scope.paths.iter().filter(|it| !is_gone(it)).cloned().collect();
                changes.only(self.below(&there, scope))
            }
        }
    }

    fn below(&self, paths: &[WorkspacePath], scope: &Scope) -> Files {
        match scope.configured {
            true => collect(&*self.view, paths, &with_file_settings(&scope.walk, &*self.view)),
            false => collect(&*self.view, paths, &scope.walk),
        }
    }

    /// The files that are asked about because they use `files`, or what is gone.
    fn dependents(&self, scope: &Scope, files: &Files) -> Dependents {
        let (within, gone) = match &self.files {
            ViewFiles::Changed(changes) => (scope.paths.clone(), changes.gone.iter()),
            ViewFiles::Requested | ViewFiles::Named(_) => (Vec::new(), Default::default()),
        };
        let gone = gone.filter(|it| within.iter().any(|above| it.starts_with(above))).cloned().collect();
        Dependents::new(Arc::clone(&self.view), Wanted::Files(files.clone()), gone, within)
    }

    /// The comparison with the older state, if there is one.
    fn comparison<T>(&self, ask: &Ask<T>) -> Option<Comparison> {
        let ViewFiles::Changed(changes) = &self.files else { return None };
        let before = Arc::clone(changes.before.as_ref()?);
        let only: BTreeSet<_> = changes.paths.union(&changes.gone).cloned().collect();
        let differing = only.iter().cloned().collect();
        let scope = Scope { only, ..ask.scope.clone() };
        Some(Comparison::of_views(before, &*self.view, differing, scope))
    }
}

impl ViewChanges {
    /// Keeps only the files that changed.
    fn only(&self, files: Files) -> Files {
        let Files { mut units, skipped, .. } = files;
        units.retain(|it| self.paths.contains(&it.path));
        // Sockets and links that lead nowhere are no news.
        let Skipped { unreadable, .. } = skipped;
        let skipped = Skipped { unreadable, not_utf8: self.not_utf8, ..Skipped::default() };
        Files { units, skipped, ..Files::default() }
    }
}
