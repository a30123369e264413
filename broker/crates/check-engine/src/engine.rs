//! Answers from the cache where they hold, from linters where not, on the scheduler's threads.
//!
//! Knows neither daemons nor command lines: both ask here, with the same code behind it.

mod due;
mod plan;
mod retry_cache;
mod run;

use std::{
    io,
    sync::{Arc, mpsc},
    time::Duration,
};

use config::SetupFailure;
use lint::{Cancel, Completeness, Job, Reads, Runs, Unit};
use overlay::{ContentHash, View};
use scheduler::{
    BranchKey, Cache, Class, End, Finished, Inherited, Rejected, Scheduler, Seen, Task, WorkKey,
};
use tokio::task::JoinSet;

pub use self::due::{Due, Unfinished};
pub(crate) use self::plan::{FileRoute, Plan, Tracing};
pub use self::retry_cache::RetryCache;
pub(crate) use self::retry_cache::RetryEntries;
use self::{
    plan::{Known, digest, key},
    run::{Batch, CheckRun, WorkItem},
};
use super::{
    Coverage, Dependents, Files, MissingLinter, Router, Wanted,
    answer::{Answer, Computed, OnAnswer, ask},
    finding::NOT_YET,
};

/// Schedulers and cache of the checks. Clones share them.
#[derive(Clone)]
pub struct Engine {
    scheduler: Scheduler<Arc<Output>>,
    /// For linters that run outside, so that no work here waits for them.
    waiting: Scheduler<Arc<Output>>,
    cache: Option<Arc<Cache<Answer>>>,
    workers: usize,
    /// Names the program whose answers may be given again.
    build: &'static str,
}

/// Request to the engine: which files of a view to check, and how.
pub struct EngineRequest {
    pub view: Arc<dyn View>,
    pub wanted: Wanted,
    /// Source of further files to check, which use the wanted ones.
    pub dependents: Option<Arc<Dependents>>,
    pub route: Route,
    pub class: Class,
    pub branch: BranchKey,
    pub revision: u64,
    /// Whether work for older revisions of the branch is cancelled for this.
    pub supersede: bool,
    /// The longest that one linter may take for one file.
    pub timeout: Duration,
    /// Bytes of a file; what is larger is left out.
    pub largest: u64,
    pub batch: BatchSize,
    /// Limit of the parts of the work that run at once.
    pub jobs: Option<usize>,
    /// Whether earlier answers are reused, and these kept.
    pub use_cache: bool,
    /// Whether other requests for the same work at the same time may have the answer, too.
    pub share: bool,
    /// Ends the request early; what was not answered is pending.
    pub cancel: Option<Cancel>,
    /// Limit of the wait for answers.
    pub due: Option<Due>,
    /// Called once for each answer, from any thread.
    pub answered: OnAnswer,
    /// Takes what was seen, for the sake of another request about a child of this view.
    pub seen: Option<mpsc::Sender<Seen>>,
    /// Observations that were just made in the parent of this view.
    pub parent: Option<Arc<Inherited>>,
    /// Takes and gives answers that are not kept, for the same question about another view.
    pub retries: Option<Arc<RetryCache>>,
    /// Whether files are skipped for which a linter would be asked whose answers depend on more than they name.
    pub traced_only: bool,
}

/// Says, once the files are known, which linters are to be asked about them.
pub type Route = Box<dyn Fn(&Files) -> Result<Arc<Router>, SetupFailure> + Send + Sync>;

/// Answers of every interested linter about one file.
pub struct FileAnswers {
    pub unit: Unit,
    /// By linter, in the router's order.
    pub answers: Vec<(usize, Arc<Answer>)>,
    /// Linters are counted as in the answers.
    pub coverage: Coverage,
    /// Hash of the file's own text as it was looked up; `None` for a link, and for what could not be read.
    pub(crate) own_content: Option<ContentHash>,
    /// By answer: what it rests on besides the text, where nothing else can change it.
    pub(crate) reads: Box<[Option<scheduler::Reads>]>,
}

/// Result of a request as a whole.
#[derive(Debug)]
pub struct Totals {
    pub skipped: overlay::Skipped,
    /// Answers that were there already, by linter.
    pub cached: Vec<u32>,
    /// The longest that a part of the work waited.
    pub queued: Duration,
    /// Plan that was carried out.
    pub(crate) plan: Arc<Plan>,
}

/// Reason for which there is no answer at all.
#[derive(Debug)]
pub enum Refused {
    Busy {
        retry_after: Duration,
    },
    Superseded,
    ShuttingDown,
    Setup(SetupFailure),
    /// A part of the engine itself broke off.
    Broken(String),
}

impl Refused {
    /// Returns the error as one of the view that another is compared with.
    #[must_use]
    pub(crate) fn of_before(self) -> Self {
        match self {
            Self::Setup(failure) => {
                let message = format!("in the parent: {}", failure.message);
                Self::Setup(SetupFailure { message, ..failure })
            }
            other => other,
        }
    }
}

/// Receives each file that is done. While it takes its time, nothing new is begun.
pub trait Listener: Send {
    /// Numbers of answers and files that will come from the router's linters; none comes from those that are missing.
    fn start(
        &mut self,
        router: &Arc<Router>,
        missing: Vec<MissingLinter>,
        files: usize,
        answers: usize,
    ) -> impl Future<Output = ()> + Send;

    fn file(&mut self, file: FileAnswers) -> impl Future<Output = ()> + Send;

    /// Called when nothing more is there for the moment.
    fn pause(&mut self) -> impl Future<Output = ()> + Send;
}

/// Result of a task.
pub(crate) enum Output {
    Plan(Result<Arc<Plan>, SetupFailure>),
    Known(Vec<Known>),
    Batch(Vec<Computed>),
}

/// Number of files up to which they are looked up on the calling thread: to hand them to another would take longer.
const INLINE_LIMIT: usize = 16;

/// Bytes of the stack of a thread that waits for other processes: as Rust has them.
const STACK_TO_WAIT: usize = 2 << 20;

impl Engine {
    /// Starts the threads: as many as `options` say, and `waiting` that wait for other processes. `build` names the program,
    /// whose code is a part of what answers rest on.
    pub fn new(
        options: scheduler::Options,
        waiting: usize,
        cache: Option<Arc<Cache<Answer>>>,
        build: &'static str,
    ) -> io::Result<Self> {
        let workers = options.workers;
        let interactive_workers = options.interactive_workers;
        let for_waiting = scheduler::Options {
            workers: waiting,
            interactive_workers,
            stack: STACK_TO_WAIT,
            nice: 0,
            ..options.clone()
        };
        let [scheduler, waiting] = [Scheduler::new(options)?, Scheduler::new(for_waiting)?];
        Ok(Self { scheduler, waiting, cache, workers, build })
    }

    pub fn workers(&self) -> usize {
        self.workers
    }

    pub fn scheduler_stats(&self) -> scheduler::Stats {
        self.scheduler.stats()
    }

    /// The cache, if the request may use it.
    fn cache_for(&self, request: &EngineRequest) -> Option<&Arc<Cache<Answer>>> {
        self.cache.as_ref().filter(|_| request.use_cache)
    }

    /// Whether answers are kept, with what they depend on.
    pub(crate) fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    pub fn cache_stats(&self) -> scheduler::CacheStats {
        self.cache.as_ref().map(|it| it.stats()).unwrap_or_default()
    }

    /// Gives up what may be given up of a branch's older revisions.
    pub fn supersede(&self, branch: BranchKey, revision: u64) {
        self.scheduler.supersede(branch, revision);
        self.waiting.supersede(branch, revision);
    }

    pub fn cancel_branch(&self, branch: BranchKey) {
        self.scheduler.cancel_branch(branch);
        self.waiting.cancel_branch(branch);
    }

    /// Ends all work and keeps what is remembered for the next time.
    pub fn shut_down(&self) {
        self.scheduler.shutdown();
        self.waiting.shutdown();
        if let Some(cache) = &self.cache {
            cache.flush();
        }
    }

    /// Answers for every file; `listener` hears of each as soon as all its linters have answered.
    pub async fn answer(
        &self,
        request: &Arc<EngineRequest>,
        listener: &mut impl Listener,
    ) -> Result<Totals, Refused> {
        let plan = self.plan(request).await?;
        let mut run = CheckRun::new(request, plan);
        run.start(listener).await;
        self.look_up_few(&mut run, listener).await;
        let mut running = JoinSet::new();
        loop {
            let asked = self.submit(&mut run, &mut running)?;
            if running.is_empty() && asked.is_none() {
                break;
            }
            tokio::select! {
                ended = running.join_next(), if !running.is_empty() => {
                    // A task that only waits does not panic.
                    let Some(Ok((item, ended))) = ended else { continue };
                    run.take(item, ended, listener).await?;
                    listener.pause().await;
                }
                () = tokio::time::sleep(asked.unwrap_or_default()), if asked.is_some() => {}
                () = cancelled(request.cancel.as_ref()) => {
                    running.abort_all();
                    run.give_up(Completeness::Pending("interrupted".to_owned()), listener).await;
                    listener.pause().await;
                    break;
                }
                () = Due::passed(request.due.as_ref()) => {
                    request.due.iter().for_each(|it| it.keep(std::mem::take(&mut running)));
                    run.give_up(Completeness::Pending(NOT_YET.to_owned()), listener).await;
                    listener.pause().await;
                    break;
                }
            }
        }
        // Nothing should be left by now, and what is left is never a clean answer.
        let lost = Completeness::Failed("no answer came; this is a bug in Broker".to_owned());
        run.give_up(lost, listener).await;
        Ok(run.totals)
    }

    async fn plan(&self, request: &Arc<EngineRequest>) -> Result<Arc<Plan>, Refused> {
        if let Wanted::Files(files) = &request.wanted
            && files.units.len() <= INLINE_LIMIT
            && request.dependents.is_none()
        {
            let plan = Plan::of(request, self.build).map_err(Refused::Setup)?;
            if plan.with_context().is_empty() {
                return Ok(Arc::new(plan));
            }
        }
        let (own, build) = (Arc::clone(request), self.build);
        let plan = move || Plan::of(&own, build).map(|it| Arc::new(it.in_context(&own.view)));
        let run = move |_: &Cancel| Arc::new(Output::Plan(plan()));
        let ticket = self.scheduler.submit(task(request, None, Box::new(run)))?;
        match &*done(ticket.end().await.end)? {
            Output::Plan(plan) => plan.clone().map_err(Refused::Setup),
            Output::Known(_) | Output::Batch(_) => Err(Refused::mistaken()),
        }
    }

    async fn look_up_few(&self, run: &mut CheckRun, listener: &mut impl Listener) {
        if run.plan.routes.len() <= INLINE_LIMIT
            && let Some(WorkItem::Part(part)) = run.next()
        {
            let known =
                run.plan.look_up(part.clone(), self.cache_for(&run.request).map(|it| &**it), &run.request);
            run.learn(part, &known, listener).await;
            listener.pause().await;
        }
    }

    /// Hands out as many items as can be busy; says how long to wait if there was no room for one.
    fn submit(&self, run: &mut CheckRun, running: &mut Running) -> Result<Option<Duration>, Refused> {
        let window = run.request.jobs.unwrap_or(2 * self.workers + 2);
        while running.len() < window
            && let Some(item) = run.next()
        {
            let (scheduler, task) = match &item {
                WorkItem::Part(part) => (&self.scheduler, self.look_up_task(run, part.clone())),
                WorkItem::Batch(batch) => (self.scheduler_for(run, batch), self.batch_task(run, batch)),
            };
            match scheduler.submit(task) {
                Ok(ticket) => {
                    run.began = true;
                    running.spawn(async move { (item, ticket.end().await) });
                }
                Err(rejected) => {
                    run.put_back(item);
                    // A request that has begun is carried through.
                    return match Refused::from(rejected) {
                        Refused::Busy { retry_after } if run.began => Ok(Some(retry_after)),
                        refused => Err(refused),
                    };
                }
            }
        }
        Ok(None)
    }

    fn look_up_task(&self, run: &CheckRun, part: std::ops::Range<usize>) -> Task<Arc<Output>> {
        let (plan, request) = (Arc::clone(&run.plan), Arc::clone(&run.request));
        let cache = self.cache_for(&run.request).cloned();
        let look_up =
            move |_: &Cancel| Arc::new(Output::Known(plan.look_up(part, cache.as_deref(), &request)));
        task(&run.request, None, Box::new(look_up))
    }

    fn scheduler_for(&self, run: &CheckRun, batch: &Batch) -> &Scheduler<Arc<Output>> {
        match run.plan.router.linters()[batch.linter].profile().runs {
            Runs::Outside => &self.waiting,
            Runs::Here => &self.scheduler,
        }
    }

    fn batch_task(&self, run: &CheckRun, batch: &Batch) -> Task<Arc<Output>> {
        let (plan, request) = (&run.plan, &run.request);
        let linter = Arc::clone(&plan.router.linters()[batch.linter]);
        let units: Vec<Unit> = batch.files.iter().map(|it| plan.files.units[*it].clone()).collect();
        let is_shared = request.share && !batch.alone;
        let key = is_shared.then(|| work_key(&units, batch, run)).flatten();
        let (cache, own, build) = (self.cache_for(request).cloned(), Arc::clone(request), self.build);
        let (known_as, memory) = (plan.digests[batch.linter], linter.memory());
        let run = move |cancel: &Cancel| {
            let job = Job {
                view: Arc::clone(&own.view),
                units,
                cancel: cancel.clone(),
                timeout: own.timeout,
                is_awaited: own.class == Class::Interactive,
            };
            let mut given = ask(&*linter, &job, own.largest, |it| (own.answered)(it));
            let is_named_by_context = linter.profile().reads == Reads::Context;
            if is_named_by_context && digest(&*linter, linter.context(&own.view), build) != known_as {
                given.iter_mut().for_each(Computed::doubt);
            }
            if let Some(cache) = cache {
                remember(&cache, known_as, &job.units, &mut given);
                if let Some(retries) = &own.retries {
                    retries.add(&cache, &*linter, known_as, &job.units, &given);
                }
            }
            Arc::new(Output::Batch(given))
        };
        Task { memory, ..task(request, key, Box::new(run)) }
    }
}

type Running = JoinSet<(WorkItem, Finished<Arc<Output>>)>;
type Run = Box<dyn FnOnce(&Cancel) -> Arc<Output> + Send>;

fn task(request: &EngineRequest, key: Option<WorkKey>, run: Run) -> Task<Arc<Output>> {
    Task {
        class: request.class,
        branch: request.branch,
        revision: request.revision,
        key,
        supersede: request.supersede,
        memory: 0,
        run,
    }
}

/// Keeps what is final, for every view that shows the same.
fn remember(cache: &Cache<Answer>, digest: ContentHash, units: &[Unit], given: &mut [Computed]) {
    for (unit, Computed { answer, reads, kept_reads, .. }) in units.iter().zip(given) {
        let Some(content) = answer.content.filter(|_| answer.is_reusable()) else { continue };
        if !answer.rests_on(reads) {
            continue;
        }
        let (weight, value) = (answer.weight(), Arc::clone(answer));
        let answer = scheduler::Answer { content, reads: Arc::clone(reads), value };
        *kept_reads = cache.insert(key(digest, unit), answer, weight);
    }
}

/// Names the work by all that is known of it beforehand. What the linter will read besides is not, so who
/// joins must see for itself whether the answer holds.
fn work_key(units: &[Unit], batch: &Batch, run: &CheckRun) -> Option<WorkKey> {
    let mut hash = blake3::Hasher::new();
    hash.update(run.plan.digests[batch.linter].as_bytes());
    for (unit, file) in units.iter().zip(&batch.files) {
        hash.update(run.content(*file)?.as_bytes());
        for path in [&unit.path, &unit.named] {
            hash.update(&(path.as_str().len() as u64).to_le_bytes()).update(path.as_str().as_bytes());
        }
    }
    Some(WorkKey(*hash.finalize().as_bytes()))
}

/// Limits on the number of files that a linter gets at once.
#[derive(Debug, Clone, Copy)]
pub struct BatchSize {
    pub largest: usize,
    pub workers: usize,
}

/// Waits until it is cancelled; for ever if there is none.
async fn cancelled(cancel: Option<&Cancel>) {
    match cancel {
        Some(cancel) => cancel.cancelled().await,
        None => std::future::pending().await,
    }
}

impl Refused {
    fn mistaken() -> Self {
        Self::Broken("a task gave something else than it was asked for".to_owned())
    }
}

/// Returns the output of work that all else depends on.
fn done(end: End<Arc<Output>>) -> Result<Arc<Output>, Refused> {
    match end {
        End::Done(output) => Ok(output),
        End::Superseded => Err(Refused::Superseded),
        End::ShuttingDown | End::Cancelled => Err(Refused::ShuttingDown),
        End::Panicked(why) => Err(Refused::Broken(why)),
    }
}

impl From<Rejected> for Refused {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::QueueFull { retry_after, .. } | Rejected::BranchQueueFull { retry_after, .. } => {
                Self::Busy { retry_after }
            }
            Rejected::ShuttingDown => Self::ShuttingDown,
        }
    }
}
