//! The engine: which files, which linters for each, and all their answers in one [`Report`].
//!
//! Knows linters only as [`Linter`] and files only as a [`View`]; never heard of plugins, command lines
//! or output formats.

mod answer;
pub mod baseline;
mod codec;
mod collect;
mod coverage;
mod dependents;
mod engine;
mod finding;
pub mod fix;
mod place;
pub mod policy;
mod report;
mod router;
#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use config::DEFAULT_LARGEST;
use lint::{Cancel, Linter};
use overlay::View;
use scheduler::{BranchKey, Cache, CacheOptions, Class, Options as SchedulerOptions};

pub use self::engine::flagged;
pub use self::{
    answer::Answer,
    codec::AnswerCodec,
    collect::{Files, Wanted, collect},
    coverage::{Coverage, Others},
    dependents::Dependents,
    engine::{BatchSize, Engine, FileAnswers, Inquiry, Listener, Refused, Route, Totals},
    finding::{
        CheckedFile, Edit, Excluded, Finding, FindingCell, Fix, Incomplete, Level, Range, Related, RuleRef,
        Subject, Unavailable,
    },
    report::{Checked, Counts, Report},
    router::{Absent, Lack, Need, Router, SharedLinter},
};
pub use self::{collect::is_file, place::read};

/// How to check.
#[derive(Clone)]
pub struct Options {
    /// How many jobs run at once.
    pub jobs: usize,
    /// The longest that one linter may take for one file.
    pub timeout: Duration,
    /// Bytes of a file; what is larger is left out.
    pub largest: u64,
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
            largest: DEFAULT_LARGEST,
            cancel: Cancel::default(),
            cache: None,
            build: "",
        }
    }
}

/// The number of processors.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Threads that wait for language servers: one for each that is likely to be asked.
const WAITING: usize = 4;

/// How many files a linter gets at once, at most, where nobody else waits for his turn.
const BATCH: usize = 256;

/// Answers of earlier runs, with the default bounds: those that are kept in the cache folder, or without one those that
/// are forgotten when the run ends.
pub fn answers(cache_dir: Option<&Path>) -> Cache<Answer> {
    let folder = cache_dir.map(|it| it.join("answers"));
    Cache::new(CacheOptions { folder, ..CacheOptions::default() }, AnswerCodec)
}

/// Files, and the linters to be asked about them.
pub struct Group {
    pub files: Files,
    pub linters: Vec<SharedLinter>,
    pub lacks: Vec<Lack>,
    pub absent: Vec<Absent>,
}

/// Asks every linter about the files it is interested in. `progress` is told, from any thread, how many
/// of how many answers are there.
///
/// Fails only if threads cannot be started.
pub fn check(
    view: &Arc<dyn View>,
    files: Files,
    linters: &[Arc<dyn Linter>],
    options: &Options,
    progress: Arc<dyn Fn(usize, usize) + Send + Sync>,
) -> io::Result<Report> {
    check_groups(
        view,
        vec![Group { files, linters: linters.to_vec(), lacks: Vec::new(), absent: Vec::new() }],
        options,
        progress,
    )
}

/// As [`check`], where not every file is for the same linters. Linters of the same name are told as one.
pub fn check_groups(
    view: &Arc<dyn View>,
    groups: Vec<Group>,
    options: &Options,
    progress: Arc<dyn Fn(usize, usize) + Send + Sync>,
) -> io::Result<Report> {
    check_with(own_engine(options)?, view, groups, options, progress)
}

/// Checks with `engine`, which no other check shares, and ends it.
fn check_with(
    engine: Engine,
    view: &Arc<dyn View>,
    groups: Vec<Group>,
    options: &Options,
    progress: Arc<dyn Fn(usize, usize) + Send + Sync>,
) -> io::Result<Report> {
    let start = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut gathered = Gathered::default();
    let done = Arc::new(AtomicUsize::new(0));
    let mut skipped = overlay::Skipped::default();
    for group in without_busy(groups) {
        gathered.place_of(&group.linters);
        let (done, total, progress) = (Arc::clone(&done), Arc::clone(&gathered.total), Arc::clone(&progress));
        let answered = move || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(done, total.load(Ordering::Relaxed));
        };
        let inquiry = Arc::new(inquiry(view, group, options, Arc::new(answered)));
        let answered = runtime.block_on(engine.answer(&inquiry, &mut gathered));
        // Nobody else uses this engine, so nothing is refused or overtaken.
        let totals = answered.map_err(|refused| io::Error::other(format!("{refused:?}")))?;
        add_skipped(&mut skipped, totals.skipped);
    }
    engine.shut_down();
    let mut report = Report::of(&gathered.linters, gathered.files);
    report.skip(skipped);
    report.lack(gathered.lacks);
    report.duration = start.elapsed();
    Ok(report)
}

/// The groups, none of which says that a linter has no files if another has some.
fn without_busy(mut groups: Vec<Group>) -> Vec<Group> {
    let has_files = |of: &Group| {
        let busy = of.lacks.iter().filter(|it| it.has_files(&of.files.units));
        busy.map(|it| it.linter.clone()).collect::<Vec<_>>()
    };
    let busy: HashSet<_> = groups.iter().flat_map(has_files).collect();
    for Group { files, lacks, .. } in &mut groups {
        lacks.retain(|it| !busy.contains(&it.linter) || it.has_files(&files.units));
    }
    groups
}

fn inquiry(
    view: &Arc<dyn View>,
    group: Group,
    options: &Options,
    answered: Arc<dyn Fn() + Send + Sync>,
) -> Inquiry {
    let router = Arc::new(Router::new(&group.linters).lacking(group.lacks).without(group.absent));
    Inquiry {
        view: Arc::clone(view),
        route: Box::new(move |_| Ok(Arc::clone(&router))),
        wanted: Wanted::Files(group.files),
        dependents: None,
        class: Class::Agent,
        branch: BranchKey(0),
        revision: 0,
        supersede: false,
        timeout: options.timeout,
        largest: options.largest,
        batch: BatchSize { largest: BATCH, workers: options.jobs },
        share: false,
        cancel: Some(options.cancel.clone()),
        answered,
        seen: None,
        parent: None,
    }
}

fn add_skipped(sum: &mut overlay::Skipped, more: overlay::Skipped) {
    sum.not_utf8 += more.not_utf8;
    sum.special += more.special;
    sum.broken_links += more.broken_links;
    sum.too_large += more.too_large;
    sum.unreadable.extend(more.unreadable);
}

fn own_engine(options: &Options) -> io::Result<Engine> {
    let scheduling = SchedulerOptions {
        workers: options.jobs,
        interactive_workers: 0,
        nice: 0,
        ..SchedulerOptions::default()
    };
    Engine::new(scheduling, WAITING, options.cache.clone(), options.build)
}

/// Keeps all answers for a report.
#[derive(Default)]
struct Gathered {
    /// Every linter that was asked, each name once.
    linters: Vec<SharedLinter>,
    /// Where those of the present group stand among them.
    places: Vec<usize>,
    files: Vec<FileAnswers>,
    lacks: Vec<Lack>,
    total: Arc<AtomicUsize>,
}

impl Gathered {
    /// The answers that follow are of these linters.
    fn place_of(&mut self, linters: &[SharedLinter]) {
        self.places.clear();
        for linter in linters {
            let name = &linter.identity().name;
            let known = self.linters.iter().position(|it| it.identity().name == *name);
            self.places.push(known.unwrap_or_else(|| {
                self.linters.push(Arc::clone(linter));
                self.linters.len() - 1
            }));
        }
    }
}

impl Listener for Gathered {
    async fn start(&mut self, _router: &Router, lacks: Vec<Lack>, _files: usize, answers: usize) {
        self.lacks.extend(lacks);
        self.total.fetch_add(answers, Ordering::Relaxed);
    }

    async fn file(&mut self, mut file: FileAnswers) {
        file.answers.iter_mut().for_each(|(linter, _)| *linter = self.places[*linter]);
        file.coverage = file.coverage.placed(&self.places);
        self.files.push(file);
    }

    async fn pause(&mut self) {}
}
