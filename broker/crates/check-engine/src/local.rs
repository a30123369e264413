//! Checks for tests, of this crate and of others, with an engine that no other check shares.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use config::SetupFailure;
use lint::{Cancel, Linter, Rule};
use overlay::{Revision, View};
use scheduler::{BranchKey, Cache, Class};
use tokio::runtime::Runtime;

use crate::{
    Answer, BatchSize, Engine, Files, Refused, Report, Router, SharedLinter, Timing, Wanted, default_jobs,
    pipeline::{
        self, BaselineUse, Collected, Collector, Lineup, Outcome, PolicyCache, PolicyOptions, Request,
        Schedule,
    },
};

/// Options of a check in this process.
#[derive(Clone)]
pub struct Options {
    /// Number of jobs that run at once.
    pub jobs: usize,
    /// The longest that one linter may take for one file.
    pub timeout: Duration,
    pub cancel: Cancel,
    /// Answers of earlier runs.
    pub cache: Option<Arc<Cache<Answer>>>,
    /// Names the program: see [`Engine::new`].
    pub build: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            jobs: default_jobs(),
            timeout: Duration::from_secs(30),
            cancel: Cancel::default(),
            cache: None,
            build: "",
        }
    }
}

/// Threads that wait for language servers: one for each that is likely to be asked.
const EXTERNAL_WORKERS: usize = 4;

/// Limit of the files that a linter gets at once, where no other check waits for its turn.
const BATCH: usize = 256;

/// Bytes for what is reported again when a file is checked again unchanged.
const POLICY_MEMORY: u64 = 64 << 20;

/// Told, from any thread, how many of how many answers are there.
pub(crate) type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// An engine of its own, which ends with this.
pub struct LocalChecker {
    engine: Engine,
    runtime: Runtime,
    cache: PolicyCache,
    options: Options,
}

impl LocalChecker {
    /// Fails only if threads cannot be started.
    pub fn new(options: Options) -> io::Result<Self> {
        let scheduling = scheduler::Options {
            workers: options.jobs,
            interactive_workers: 0,
            nice: 0,
            ..scheduler::Options::default()
        };
        let engine = Engine::new(scheduling, EXTERNAL_WORKERS, options.cache.clone(), options.build)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        Ok(Self { engine, runtime, cache: PolicyCache::within(POLICY_MEMORY), options })
    }

    /// A check of nothing yet, without a baseline.
    pub fn request(&self, view: Arc<dyn View>, wanted: Wanted, lineup: Arc<dyn Lineup>) -> Request {
        let policy = PolicyOptions { every_rule: true, configured: true, baseline: BaselineUse::Later };
        let schedule = Schedule {
            class: Class::Agent,
            branch: BranchKey(0),
            revision: Revision::default(),
            supersede: false,
            timeout: self.options.timeout,
            batch: BatchSize { largest: BATCH, workers: self.options.jobs },
            jobs: None,
            use_cache: true,
            share: false,
            cancel: Some(self.options.cancel.clone()),
            due: None,
            answered: Arc::new(|_| ()),
        };
        Request { view, wanted, dependents: None, comparison: None, lineup, policy, schedule }
    }

    /// Answers the request.
    pub fn check(&self, request: &Request, progress: Progress) -> Result<(Collected, Outcome), Refused> {
        let (done, total) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&total);
        let asked_for = Arc::clone(&request.schedule.answered);
        let answered = move |timing: Option<Timing<'_>>| {
            asked_for(timing);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(done, counted.load(Ordering::Relaxed));
        };
        let schedule = Schedule { answered: Arc::new(answered), ..request.schedule.clone() };
        let request = Request { schedule, ..request.clone() };
        let mut collector = Collector::new(Arc::new(move |answers| total.store(answers, Ordering::Relaxed)));
        let checked = pipeline::check(&self.engine, &self.cache, &request, &mut collector);
        let outcome = self.runtime.block_on(checked)?;
        Ok((collector.finish(&outcome), outcome))
    }

    /// Parts for a test that calls the pipeline itself.
    pub fn parts(&self) -> (&Engine, &PolicyCache, &Runtime) {
        (&self.engine, &self.cache, &self.runtime)
    }
}

impl Drop for LocalChecker {
    fn drop(&mut self) {
        self.engine.shut_down();
    }
}

/// Asks these linters about the files that they want.
pub fn check(
    view: &Arc<dyn View>,
    files: Files,
    linters: &[Arc<dyn Linter>],
    options: &Options,
    progress: Progress,
) -> io::Result<Report> {
    let checker = LocalChecker::new(options.clone())?;
    let lineup = Arc::new(FixedLinters(linters.to_vec()));
    let request = checker.request(Arc::clone(view), Wanted::Files(files), lineup);
    let checked = checker.check(&request, progress);
    let (collected, _) = checked.map_err(|refused| io::Error::other(format!("{refused:?}")))?;
    Ok(collected.report)
}

/// Lineup of fixed linters, whatever the configuration selects.
pub(crate) struct FixedLinters(pub Vec<SharedLinter>);

impl Lineup for FixedLinters {
    fn route(&self, _: &Arc<dyn View>, _: &Files) -> Result<Arc<Router>, SetupFailure> {
        Ok(Arc::new(Router::new(&self.0)))
    }

    fn rules(&self, view: &Arc<dyn View>, linter: &str) -> Vec<Rule> {
        let linter = self.0.iter().find(|it| it.identity().name == linter);
        linter.and_then(|it| it.rules(view).ok()).unwrap_or_default()
    }
}
