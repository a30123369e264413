//! Answers from the cache where they hold, from linters where not, on the scheduler's threads.
//!
//! Knows neither daemons nor command lines: both ask here, with the same code behind it.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use lint::{Cancel, Completeness, Job, Linter, Unit};
use overlay::{ContentHash, View, WalkOptions, WorkspacePath};
use scheduler::{BranchKey, Cache, Class, End, Finished, Key, Looks, Rejected, Scheduler, Task, WorkKey};
use tokio::task::JoinSet;

use super::{
    Files, Router,
    answer::{Answer, Given, ask},
    collect,
    router::SharedLinter,
};

/// Where work runs, and what is remembered of it. Clones share both.
#[derive(Clone)]
pub struct Engine {
    scheduler: Scheduler<Arc<Output>>,
    cache: Option<Arc<Cache<Answer>>>,
    workers: usize,
}

/// What is to be found out.
pub struct Inquiry {
    pub view: Arc<dyn View>,
    pub wanted: Wanted,
    pub route: Route,
    pub class: Class,
    pub branch: BranchKey,
    pub revision: u64,
    /// Whether work for older revisions of the branch is given up for this.
    pub supersede: bool,
    /// The longest that one linter may take for one file.
    pub timeout: Duration,
    pub batch: BatchSize,
    /// Whether others who ask the same at the same time may have the answer, too.
    pub share: bool,
    /// Ends the inquiry early; what was not answered is pending.
    pub cancel: Option<Cancel>,
    /// Called once for each answer, from any thread.
    pub answered: Arc<dyn Fn() + Send + Sync>,
}

/// Says, once the files are known, which linters are to be asked about them.
pub type Route = Box<dyn Fn(&Files) -> Result<Arc<Router>, SetupFailure> + Send + Sync>;

/// The configuration or a selector is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupFailure {
    pub message: String,
    pub hint: Option<String>,
}

impl<E: Into<crate::CliError>> From<E> for SetupFailure {
    fn from(error: E) -> Self {
        let error = error.into();
        Self { message: error.message, hint: error.hint }
    }
}

/// Which files.
#[derive(Clone)]
pub enum Wanted {
    Files(Files),
    /// All that a walk finds.
    Walk {
        paths: Vec<WorkspacePath>,
        options: WalkOptions,
    },
}

/// What every interested linter says of one file.
pub struct FileAnswers {
    pub unit: Unit,
    /// By linter, in the router's order.
    pub answers: Vec<(usize, Arc<Answer>)>,
}

/// What became of an inquiry as a whole.
#[derive(Debug, Default)]
pub struct Totals {
    pub skipped: overlay::Skipped,
    /// Answers that were there already, by linter.
    pub cached: Vec<u32>,
    /// The longest that a part of the work waited.
    pub queued: Duration,
}

/// Why there is no answer at all.
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

/// Told of each file that is done. While it takes its time, nothing new is begun.
pub trait Listener: Send {
    /// So many answers of these linters will come, about so many files.
    fn start(&mut self, router: &Router, files: usize, answers: usize) -> impl Future<Output = ()> + Send;

    fn file(&mut self, file: FileAnswers) -> impl Future<Output = ()> + Send;

    /// Nothing more is there for the moment.
    fn pause(&mut self) -> impl Future<Output = ()> + Send;
}

/// What a task gives.
pub enum Output {
    Lookup(Result<Lookup, SetupFailure>),
    Batch(Vec<Given>),
}

/// The files, and what is known of each without asking a linter.
pub struct Lookup {
    files: Files,
    router: Arc<Router>,
    /// By file, then by interested linter.
    slots: Vec<Vec<Slot>>,
}

struct Slot {
    linter: usize,
    content: Option<ContentHash>,
    known: Option<Arc<Answer>>,
}

/// So few files are looked up where they are asked for: to hand them to another thread would take longer.
const FEW: usize = 16;

/// How often a flag is looked at that nobody rings a bell for.
const GLANCE: Duration = Duration::from_millis(20);

impl Engine {
    pub fn new(scheduler: Scheduler<Arc<Output>>, cache: Option<Arc<Cache<Answer>>>, workers: usize) -> Self {
        Self { scheduler, cache, workers }
    }

    pub fn workers(&self) -> usize {
        self.workers
    }

    pub fn scheduler_stats(&self) -> scheduler::Stats {
        self.scheduler.stats()
    }

    pub fn cache_stats(&self) -> scheduler::CacheStats {
        self.cache.as_ref().map(|it| it.stats()).unwrap_or_default()
    }

    /// Gives up what may be given up of a branch's older revisions.
    pub fn supersede(&self, branch: BranchKey, revision: u64) {
        self.scheduler.supersede(branch, revision);
    }

    pub fn cancel_branch(&self, branch: BranchKey) {
        self.scheduler.cancel_branch(branch);
    }

    /// Ends all work and keeps what is remembered for the next time.
    pub fn shut_down(&self) {
        self.scheduler.shutdown();
        if let Some(cache) = &self.cache {
            cache.flush();
        }
    }

    /// Answers for every file; `listener` hears of each as soon as all its linters have answered.
    pub async fn answer(
        &self,
        inquiry: &Arc<Inquiry>,
        listener: &mut impl Listener,
    ) -> Result<Totals, Refused> {
        let lookup = self.look_up(inquiry).await?;
        let lookup = match &*lookup {
            Output::Lookup(Ok(lookup)) => lookup,
            Output::Lookup(Err(failure)) => return Err(Refused::Setup(failure.clone())),
            Output::Batch(_) => return Err(Refused::Broken("a look-up gave a batch".to_owned())),
        };
        let mut course = Course::new(inquiry, lookup);
        course.begin(listener).await;
        listener.pause().await;
        let mut running = JoinSet::new();
        loop {
            let asked = self.submit(&mut course, &mut running)?;
            if running.is_empty() && asked.is_none() {
                break;
            }
            tokio::select! {
                ended = running.join_next(), if !running.is_empty() => {
                    // A task that only waits does not panic.
                    let Some(Ok((batch, ended))) = ended else { continue };
                    course.take(batch, ended, listener).await?;
                    listener.pause().await;
                }
                () = tokio::time::sleep(asked.unwrap_or_default()), if asked.is_some() => {}
                () = flagged(inquiry.cancel.as_ref()) => {
                    running.abort_all();
                    course.give_up(Completeness::Pending("interrupted".to_owned()), listener).await;
                    listener.pause().await;
                    break;
                }
            }
        }
        // Nothing should be left by now, and what is left is never a clean answer.
        let lost = Completeness::Failed("no answer came; this is a bug in Broker".to_owned());
        course.give_up(lost, listener).await;
        Ok(course.totals)
    }

    async fn look_up(&self, inquiry: &Arc<Inquiry>) -> Result<Arc<Output>, Refused> {
        if let Wanted::Files(files) = &inquiry.wanted
            && files.units.len() <= FEW
        {
            return Ok(Arc::new(Output::Lookup(look_up(self.cache.as_deref(), inquiry))));
        }
        let (cache, own) = (self.cache.clone(), Arc::clone(inquiry));
        let run = move |_: &Cancel| Arc::new(Output::Lookup(look_up(cache.as_deref(), &own)));
        let ticket = self.scheduler.submit(task(inquiry, None, Box::new(run)))?;
        match ticket.end().await.end {
            End::Done(lookup) => Ok(lookup),
            End::Superseded => Err(Refused::Superseded),
            End::ShuttingDown | End::Cancelled => Err(Refused::ShuttingDown),
            End::Panicked(why) => Err(Refused::Broken(why)),
        }
    }

    /// Hands out as many batches as can be busy; says how long to wait if there was no room for one.
    fn submit(&self, course: &mut Course<'_>, running: &mut Running) -> Result<Option<Duration>, Refused> {
        let window = 2 * self.workers + 2;
        while running.len() < window
            && let Some(batch) = course.batches.pop_front()
        {
            match self.scheduler.submit(self.task_of(course.inquiry, course.lookup, &batch)) {
                Ok(ticket) => {
                    course.began = true;
                    running.spawn(async move { (batch, ticket.end().await) });
                }
                Err(rejected) => {
                    course.batches.push_front(batch);
                    // What has begun is carried through.
                    return match Refused::from(rejected) {
                        Refused::Busy { retry_after } if course.began => Ok(Some(retry_after)),
                        refused => Err(refused),
                    };
                }
            }
        }
        Ok(None)
    }

    fn task_of(&self, inquiry: &Arc<Inquiry>, lookup: &Lookup, batch: &Batch) -> Task<Arc<Output>> {
        let linter = Arc::clone(&lookup.router.linters()[batch.linter]);
        let units: Vec<Unit> = batch.files.iter().map(|it| lookup.files.units[*it].clone()).collect();
        let key = (inquiry.share && !batch.alone).then(|| work_key(&linter, &units, lookup, batch)).flatten();
        let (cache, own) = (self.cache.clone(), Arc::clone(inquiry));
        let run = move |cancel: &Cancel| {
            let job =
                Job { view: Arc::clone(&own.view), units, cancel: cancel.clone(), timeout: own.timeout };
            let given = ask(&*linter, &job, || (own.answered)());
            if let Some(cache) = cache {
                remember(&cache, &*linter, &job.units, &given);
            }
            Arc::new(Output::Batch(given))
        };
        task(inquiry, key, Box::new(run))
    }
}

type Running = JoinSet<(Batch, Finished<Arc<Output>>)>;
type Run = Box<dyn FnOnce(&Cancel) -> Arc<Output> + Send>;

fn task(inquiry: &Inquiry, key: Option<WorkKey>, run: Run) -> Task<Arc<Output>> {
    Task {
        class: inquiry.class,
        branch: inquiry.branch,
        revision: inquiry.revision,
        key,
        supersede: inquiry.supersede,
        memory: 0,
        run,
    }
}

fn look_up(cache: Option<&Cache<Answer>>, inquiry: &Inquiry) -> Result<Lookup, SetupFailure> {
    let files = match &inquiry.wanted {
        Wanted::Files(files) => files.clone(),
        Wanted::Walk { paths, options } => collect(&*inquiry.view, paths, options),
    };
    let router = (inquiry.route)(&files)?;
    let mut looks = Looks::new(&*inquiry.view);
    if cache.is_some() {
        prepare(&mut looks, &files.units);
    }
    let digests: Vec<_> = router.linters().iter().map(|it| digest(&**it)).collect();
    let mut slots_of = |unit: &Unit| {
        let mut content = None;
        let mut slot = |linter| {
            let Some(cache) = cache else { return Slot { linter, content: None, known: None } };
            let content = *content.get_or_insert_with(|| looks.content(&unit.path).ok());
            let key = Key { linter: digests[linter], path: unit.path.clone(), named: unit.named.clone() };
            let known = content.and_then(|it| cache.find(&key, it, &mut looks));
            Slot { linter, content, known }
        };
        router.wanting(&unit.path).map(&mut slot).collect::<Vec<_>>()
    };
    let slots = files.units.iter().map(&mut slots_of).collect();
    Ok(Lookup { files, router, slots })
}

/// Looks at all files directory by directory: they are sorted by path.
fn prepare(looks: &mut Looks<'_>, units: &[Unit]) {
    for siblings in units.chunk_by(|a, b| parts(a).0 == parts(b).0) {
        if let [first, _, ..] = siblings
            && let Some(directory) = first.path.parent()
        {
            let names: Vec<_> = siblings.iter().map(|it| parts(it).1).collect();
            looks.prepare(&directory, &names);
        }
    }
}

/// The directory and the name.
fn parts(unit: &Unit) -> (&str, &str) {
    let path = unit.path.as_str();
    path.rsplit_once('/').unwrap_or(("", path))
}

/// What is final may be given again, to whoever sees the same.
fn remember(cache: &Cache<Answer>, linter: &dyn Linter, units: &[Unit], given: &[Given]) {
    let digest = digest(linter);
    for (unit, Given { answer, reads }) in units.iter().zip(given) {
        let Some(content) = answer.content.filter(|_| answer.is_final()) else { continue };
        if !answer.rests_on(reads) {
            continue;
        }
        let key = Key { linter: digest, path: unit.path.clone(), named: unit.named.clone() };
        let weight = answer.weight();
        let value = Arc::clone(answer);
        cache.insert(key, scheduler::Answer { content, reads: Arc::clone(reads), value }, weight);
    }
}

fn digest(linter: &dyn Linter) -> ContentHash {
    let it = linter.identity();
    ContentHash::of(format!("{}\0{}\0{}", it.name, it.version, it.digest).as_bytes())
}

/// Names the work by all that is known of it beforehand. What the linter will read besides is not, so who
/// joins must see for itself whether the answer holds.
fn work_key(linter: &SharedLinter, units: &[Unit], lookup: &Lookup, batch: &Batch) -> Option<WorkKey> {
    let mut hash = blake3::Hasher::new();
    hash.update(digest(&**linter).as_bytes());
    for (unit, file) in units.iter().zip(&batch.files) {
        let slot = lookup.slots[*file].iter().find(|it| it.linter == batch.linter)?;
        hash.update(slot.content?.as_bytes());
        for path in [&unit.path, &unit.named] {
            hash.update(&(path.as_str().len() as u64).to_le_bytes()).update(path.as_str().as_bytes());
        }
    }
    Some(WorkKey(*hash.finalize().as_bytes()))
}

/// Files, by index, for one linter.
struct Batch {
    linter: usize,
    files: Vec<usize>,
    /// Not to be shared with others: it was tried and did not hold here.
    alone: bool,
}

/// The answers about a file that are there, by linter, and how many are not.
type Progress = (Vec<(usize, Arc<Answer>)>, usize);

/// An inquiry under way.
struct Course<'a> {
    inquiry: &'a Arc<Inquiry>,
    lookup: &'a Lookup,
    batches: VecDeque<Batch>,
    files: Vec<Progress>,
    began: bool,
    totals: Totals,
}

impl<'a> Course<'a> {
    fn new(inquiry: &'a Arc<Inquiry>, lookup: &'a Lookup) -> Self {
        let mut misses = vec![Vec::new(); lookup.router.linters().len()];
        let mut cached = vec![0; misses.len()];
        for (file, slots) in lookup.slots.iter().enumerate() {
            for slot in slots {
                match slot.known {
                    Some(_) => cached[slot.linter] += 1,
                    None => misses[slot.linter].push(file),
                }
            }
        }
        let batches = misses.into_iter().enumerate();
        let batches = batches.flat_map(|(linter, files)| batches_of(linter, files, inquiry.batch)).collect();
        let known = |slot: &Slot| Some((slot.linter, Arc::clone(slot.known.as_ref()?)));
        let file = |slots: &Vec<Slot>| {
            let known: Vec<_> = slots.iter().filter_map(known).collect();
            let missing = slots.len() - known.len();
            (known, missing)
        };
        let files = lookup.slots.iter().map(file).collect();
        let totals = Totals { skipped: lookup.files.skipped.clone(), cached, queued: Duration::ZERO };
        Self { inquiry, lookup, batches, files, began: false, totals }
    }

    /// Tells of what is known already.
    async fn begin(&mut self, listener: &mut impl Listener) {
        let answers = self.lookup.slots.iter().map(Vec::len).sum();
        let files = self.lookup.slots.iter().filter(|it| !it.is_empty()).count();
        listener.start(&self.lookup.router, files, answers).await;
        for file in 0..self.files.len() {
            let (known, missing) = &self.files[file];
            known.iter().for_each(|_| (self.inquiry.answered)());
            if !known.is_empty() && *missing == 0 {
                self.tell(file, listener).await;
            }
        }
    }

    async fn take(
        &mut self,
        batch: Batch,
        finished: Finished<Arc<Output>>,
        listener: &mut impl Listener,
    ) -> Result<(), Refused> {
        self.totals.queued = self.totals.queued.max(finished.queued);
        let name = || &self.lookup.router.linters()[batch.linter].identity().name;
        let given = match &finished.end {
            End::Done(output) => match &**output {
                Output::Batch(given) if finished.joined && !self.holds(given, &batch) => {
                    self.batches.push_back(Batch { alone: true, ..batch });
                    return Ok(());
                }
                Output::Batch(given) => given.clone(),
                Output::Lookup(_) => Vec::new(),
            },
            End::Superseded => return Err(Refused::Superseded),
            End::ShuttingDown => return Err(Refused::ShuttingDown),
            End::Cancelled => Self::all(&batch, Completeness::Pending("interrupted".to_owned())),
            End::Panicked(why) => {
                let reason = format!("the linter `{}` broke off: {why}; this is a bug in Broker", name());
                Self::all(&batch, Completeness::Failed(reason))
            }
        };
        for (file, given) in batch.files.iter().zip(given) {
            self.answer(*file, batch.linter, given.answer, listener).await;
        }
        Ok(())
    }

    /// Whether what was computed for another view is true of this one.
    fn holds(&self, given: &[Given], batch: &Batch) -> bool {
        let content = |file: usize| {
            self.lookup.slots[file].iter().find(|it| it.linter == batch.linter).and_then(|it| it.content)
        };
        batch.files.iter().zip(given).all(|(file, given)| {
            given.answer.is_final()
                && given.answer.content == content(*file)
                && given.reads.holds_in(&*self.inquiry.view)
        })
    }

    fn all(batch: &Batch, completeness: Completeness) -> Vec<Given> {
        batch.files.iter().map(|_| Given::without_findings(completeness.clone())).collect()
    }

    async fn answer(
        &mut self,
        file: usize,
        linter: usize,
        answer: Arc<Answer>,
        listener: &mut impl Listener,
    ) {
        let (answers, missing) = &mut self.files[file];
        answers.push((linter, answer));
        *missing -= 1;
        if *missing == 0 {
            self.tell(file, listener).await;
        }
    }

    async fn tell(&mut self, file: usize, listener: &mut impl Listener) {
        let mut answers = std::mem::take(&mut self.files[file].0);
        answers.sort_by_key(|(linter, _)| *linter);
        listener.file(FileAnswers { unit: self.lookup.files.units[file].clone(), answers }).await;
    }

    /// Says of everything that was not answered why it was not.
    async fn give_up(&mut self, why: Completeness, listener: &mut impl Listener) {
        let interrupted = Given::without_findings(why).answer;
        for file in 0..self.files.len() {
            if self.files[file].1 == 0 {
                continue;
            }
            let there: Vec<_> = self.files[file].0.iter().map(|(linter, _)| *linter).collect();
            let missing = self.lookup.slots[file].iter().map(|it| it.linter);
            for linter in missing.filter(|it| !there.contains(it)).collect::<Vec<_>>() {
                self.answer(file, linter, Arc::clone(&interrupted), listener).await;
            }
        }
    }
}

/// Batches that are large at first, so that a linter's set-up is paid rarely, and small at the end, so that
/// the workers finish together.
fn batches_of(linter: usize, files: Vec<usize>, size: BatchSize) -> impl Iterator<Item = Batch> {
    let mut rest = 0..files.len();
    std::iter::from_fn(move || {
        let take = size.of(rest.len());
        let batch = files[rest.start..rest.start + take].to_vec();
        rest.start += take;
        (take > 0).then_some(Batch { linter, files: batch, alone: false })
    })
}

/// How many files a linter gets at once.
#[derive(Debug, Clone, Copy)]
pub struct BatchSize {
    pub largest: usize,
    pub workers: usize,
}

impl BatchSize {
    /// Guided self-scheduling: a fixed share of what is left, within reason.
    fn of(self, rest: usize) -> usize {
        const SMALLEST: usize = 8;
        let fair = rest.div_ceil(self.workers);
        let share = (rest / (4 * self.workers)).max(SMALLEST);
        share.min(self.largest).min(fair)
    }
}

/// Waits until the flag is set; for ever if there is none.
async fn flagged(flag: Option<&Cancel>) {
    let Some(flag) = flag else { return std::future::pending().await };
    while !flag.is_cancelled() {
        tokio::time::sleep(GLANCE).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_shrink_and_share_fairly() {
        let sizes = |count: usize, workers, largest| {
            let batches = batches_of(0, (0..count).collect(), BatchSize { largest, workers });
            batches.map(|it| it.files.len()).collect::<Vec<_>>()
        };
        assert!(sizes(0, 2, 256).is_empty());
        assert_eq!(sizes(1, 2, 256), [1]);
        assert_eq!(sizes(10, 2, 256), [5, 3, 1, 1]);
        assert_eq!(sizes(100, 2, 256), [12, 11, 9, 8, 8, 8, 8, 8, 8, 8, 6, 3, 2, 1]);
        assert_eq!(sizes(10_000, 2, 256)[..2], [256, 256]);
        assert_eq!(sizes(10_000, 1, 256).iter().sum::<usize>(), 10_000);
        assert!(sizes(10_000, 2, 16).iter().all(|it| *it <= 16));
    }
}
