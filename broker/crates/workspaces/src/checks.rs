//! A check of the base or a branch: from a question to events, and on to the next change if asked.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use checker::{
    BatchSize, Dependents, Excluded, Files, Finding, Incomplete, Inquiry, Level, Refused, Route, Router,
    Unavailable, Wanted, collect, is_file, policy::RuleIndex,
};
use config::{Configs, DEFAULT_LARGEST, SetupFailure, folders};
use lint::{Fingerprint, Identity};
use linters::setup::Setup;
use overlay::{ContentHash, Revision, Skipped, Snapshot, View, WalkOptions, WorkspacePath};
use scheduler::Class;
use tokio::sync::mpsc;

use super::{
    Daemon, DaemonError, Sight, Target,
    judge::Judge,
    parent::{Parent, is_there, of_branch},
    round::Round,
};

/// What is to be checked, and how.
#[derive(Clone)]
pub struct Ask {
    pub target: Target,
    /// Files and directories; everything if there are none.
    pub paths: Vec<WorkspacePath>,
    /// Of what is found there, only these files; all if there are none.
    pub only: BTreeSet<WorkspacePath>,
    pub revision: Option<Revision>,
    pub class: Class,
    /// Whether files that use those are asked about, too, by linters that look beyond a file.
    pub dependents: bool,
    /// Only what differs from the parent.
    pub new_only: bool,
    pub select: Vec<String>,
    pub ignore: Vec<String>,
    /// Give this up for a newer revision.
    pub supersede: bool,
}

/// A part of an answer; the summary is the last.
pub enum Event {
    Started(Started),
    Files(Vec<FileFindings>),
    Incomplete(Vec<Incomplete>),
    /// Files that linters leave out for their content.
    Excluded(Vec<Excluded>),
    Summary(Box<Summary>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub revision: Revision,
    pub files: usize,
}

/// The findings of one file.
#[derive(Debug, Clone)]
pub struct FileFindings {
    pub findings: Vec<Arc<(Finding, Fingerprint)>>,
    /// How they stand to the parent, if that was asked.
    pub change: Option<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    New,
    Fixed,
}

/// What became of a check.
#[derive(Debug, Clone)]
pub struct Summary {
    pub revision: Revision,
    /// Over the paths and contents of all files that the answer is for.
    pub content: ContentHash,
    pub level: Level,
    pub files: usize,
    pub findings: usize,
    /// Whether those are only what the parent has not.
    pub is_comparison: bool,
    pub fixed: usize,
    pub suppressed: usize,
    pub baselined: usize,
    pub linters: Vec<LinterSummary>,
    /// Who would have been asked as well.
    pub unavailable: Vec<Unavailable>,
    pub skipped: Skipped,
    pub duration: Duration,
    pub queued: Duration,
}

#[derive(Debug, Clone)]
pub struct LinterSummary {
    pub linter: Identity,
    pub complete: u32,
    pub excluded: u32,
    pub partial: u32,
    pub pending: u32,
    pub failed: u32,
    pub cached: u32,
}

/// How many files a linter gets at once: few, so that branches take turns often.
const BATCH: usize = 16;

/// The longest that one linter may take for one file.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Daemon {
    /// Answers one question. Ends early, and stops the linters, when nobody takes the events any more.
    pub async fn check(self: &Arc<Self>, ask: &Ask, events: &mpsc::Sender<Event>) -> Result<(), DaemonError> {
        tokio::select! {
            done = self.check_to_the_end(ask, events) => match done {
                // What was running was cancelled: the branch may be gone rather than the daemon.
                Err(DaemonError::ShuttingDown) => ask.target.expect_here().and(done),
                done => done,
            },
            () = events.closed() => Ok(()),
        }
    }

    async fn check_to_the_end(
        self: &Arc<Self>,
        ask: &Ask,
        events: &mpsc::Sender<Event>,
    ) -> Result<(), DaemonError> {
        let start = Instant::now();
        let sight = ask.target.sight(ask.revision).await?;
        let (view, revision) = (Arc::clone(&sight.view), sight.revision);
        let rules = self.rule_index(ask, Arc::clone(&view));
        let judge = Judge::new(&*view, ask.asks_every_rule(), rules, &self.judgements)?;
        let before = ask.new_only.then(|| sight.parent()).transpose()?;
        let dependents = if ask.dependents { Some(dependents(ask.clone(), &sight).await?) } else { None };
        let parent_judge = match &before {
            Some((_, before)) => {
                let rules = self.rule_index(ask, Arc::new(before.clone()));
                Some(Judge::new(before, ask.asks_every_rule(), rules, &self.judgements)?)
            }
            None => None,
        };
        let parent = match before.as_ref().zip(parent_judge.as_ref()) {
            Some(((snapshot, before), judge)) => {
                let answers =
                    self.parents_answers(ask, dependents.clone(), snapshot, before, revision).await?;
                Some(Parent { judge, answers })
            }
            None => None,
        };
        let wanted = match &before {
            Some((_, before)) => of_branch(ask, &*view, before),
            None => wanted(&*view, ask),
        };
        let mut inquiry = self.inquiry(ask, Arc::clone(&view), revision, wanted);
        inquiry.dependents = dependents;
        inquiry.parent = parent.as_ref().map(|it| Arc::clone(&it.answers.seen));
        let mut round = Round::new(&judge, revision, parent, events);
        let totals = self.engine.answer(&Arc::new(inquiry), &mut round).await.map_err(refused)?;
        round.finish(totals, ask, start).await
    }

    fn rule_index(self: &Arc<Self>, ask: &Ask, view: Arc<dyn View>) -> RuleIndex<'static> {
        let (daemon, served) = (Arc::clone(self), Arc::clone(ask.target.served()));
        RuleIndex::new(move |plugin| daemon.rules_of(&served, &view, plugin))
    }

    pub(super) fn inquiry(
        self: &Arc<Self>,
        ask: &Ask,
        view: Arc<dyn View>,
        revision: Revision,
        wanted: Wanted,
    ) -> Inquiry {
        Inquiry {
            wanted,
            dependents: None,
            route: self.route(ask, Arc::clone(&view)),
            // What is wrong with the configuration, the route tells.
            largest: Configs::new(&*view).workspace().map_or(DEFAULT_LARGEST, |it| it.max_file_size()),
            view,
            class: ask.class,
            branch: ask.target.key(),
            revision: revision.0,
            supersede: ask.supersede,
            timeout: TIMEOUT,
            batch: BatchSize { largest: BATCH, workers: self.engine.workers() },
            share: true,
            cancel: None,
            answered: Arc::new(|| {}),
            seen: None,
            parent: None,
        }
    }

    /// What the client selects counts; without that, what the configuration says of each file.
    fn route(self: &Arc<Self>, ask: &Ask, view: Arc<dyn View>) -> Route {
        let (daemon, served) = (Arc::clone(self), Arc::clone(ask.target.served()));
        let root = served.root().to_string_lossy().into_owned();
        let (select, ignore) = ((!ask.select.is_empty()).then(|| ask.select.clone()), ask.ignore.clone());
        let asks_every_rule = ask.asks_every_rule();
        Box::new(move |files| {
            let own = Setup {
                root: root.clone(),
                select: select.clone(),
                ignore: ignore.clone(),
                ..Setup::default()
            };
            if !asks_every_rule {
                return daemon.router(own, &served, &view);
            }
            let groups = Configs::new(&*view).by_choice(&files.units).map_err(SetupFailure::from)?;
            let mut routers = Vec::new();
            for (choice, units) in groups {
                let setup = Setup { select: choice.select, ignore: choice.ignore, ..own.clone() };
                routers.push((
                    daemon.router(setup, &served, &view)?,
                    units.into_iter().map(|it| it.path).collect(),
                ));
            }
            Ok(match routers.len() {
                0 => daemon.router(own, &served, &view)?,
                1 => routers.swap_remove(0).0,
                _ => Arc::new(Router::grouped(routers)),
            })
        })
    }
}

impl Ask {
    /// Whether the question may be about this file, wherever it is found.
    pub(super) fn is_about(&self, path: &WorkspacePath) -> bool {
        self.is_below(path) && (self.only.is_empty() || self.only.contains(path))
    }

    /// Whether it lies where is looked.
    pub(super) fn is_below(&self, path: &WorkspacePath) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|it| path.starts_with(it))
    }

    /// Whether nobody chose among the rules that the configuration selects.
    fn asks_every_rule(&self) -> bool {
        self.select.is_empty() && self.ignore.is_empty()
    }
}

/// Also of what the branch has no more.
async fn dependents(ask: Ask, sight: &Sight) -> Result<Arc<Dependents>, DaemonError> {
    let (view, parent) = (Arc::clone(&sight.view), sight.parent().ok());
    let work = tokio::task::spawn_blocking(move || {
        let gone = parent.iter().flat_map(|(snapshot, before)| gone(snapshot, before));
        let named = ask.only.iter().chain(&ask.paths).filter(|it| !is_there(&*view, it)).cloned();
        let gone = gone.filter(|it| ask.is_about(it)).chain(named).collect();
        let wanted = wanted(&*view, &ask);
        let within = if ask.only.is_empty() { Vec::new() } else { ask.paths };
        Arc::new(Dependents::new(view, wanted, gone, within))
    });
    work.await.map_err(|error| DaemonError::Bug(format!("a look at the branch broke off: {error}")))
}

/// The files that only the parent has.
fn gone(snapshot: &Snapshot, before: &Snapshot) -> impl Iterator<Item = WorkspacePath> {
    let changed = snapshot.changed_paths(before).into_iter();
    let gone: Vec<_> = changed.filter(|it| !is_there(snapshot, it) && is_there(before, it)).collect();
    let files = if gone.is_empty() { Files::default() } else { collect(before, &gone, &walk_options()) };
    files.units.into_iter().map(|it| it.path)
}

pub(super) fn wanted(view: &dyn View, ask: &Ask) -> Wanted {
    let paths = &ask.paths;
    if ask.only.is_empty() && !paths.is_empty() && paths.iter().all(|it| is_file(view, it)) {
        return Wanted::Files(Files::of_named(paths.iter().cloned()));
    }
    let paths = if paths.is_empty() { vec![WorkspacePath::root()] } else { paths.clone() };
    Wanted::Walk { paths, options: walk_options(), only: ask.only.clone() }
}

pub(super) fn walk_options() -> WalkOptions {
    WalkOptions { global_excludes: folders::global_excludes(), ..WalkOptions::default() }
}

pub(super) fn refused(refused: Refused) -> DaemonError {
    match refused {
        Refused::Busy { retry_after } => DaemonError::Busy { retry_after },
        Refused::Superseded => DaemonError::Superseded,
        Refused::ShuttingDown => DaemonError::ShuttingDown,
        Refused::Setup(failure) => failure.into(),
        Refused::Broken(why) => DaemonError::Bug(why),
    }
}
