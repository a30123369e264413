//! One check of the base or a branch: from a question to events.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use checker::{BatchSize, Dependents, Files, Inquiry, Route, Router, Wanted, collect, policy::RuleIndex};
use config::{Configs, DEFAULT_LARGEST, SetupFailure};
use linters::setup::Setup;
use overlay::{Revision, Snapshot, View, WorkspacePath};

use super::{
    Daemon, DaemonError,
    ask::{Ask, refused, walk_options, wanted},
    events::Events,
    judge::Judge,
    parent::{Parent, is_there, of_branch},
    round::Round,
    target::Sight,
};

/// How many files a linter gets at once: few, so that branches take turns often.
const BATCH: usize = 16;

/// The longest that one linter may take for one file.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Daemon {
    /// Answers one question. Ends early, and stops the linters, when nobody takes the events any more.
    pub(super) async fn run_check(
        self: &Arc<Self>,
        ask: &Ask,
        events: Events<'_>,
    ) -> Result<(), DaemonError> {
        tokio::select! {
            done = self.check_to_the_end(ask, events) => match done {
                // What was running was cancelled: the branch may be gone rather than the daemon.
                Err(DaemonError::ShuttingDown) => ask.target.expect_here().and(done),
                done => done,
            },
            () = events.closed() => Ok(()),
        }
    }

    async fn check_to_the_end(self: &Arc<Self>, ask: &Ask, events: Events<'_>) -> Result<(), DaemonError> {
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
    work.await.map_err(|error| DaemonError::broke_off("a look at the branch", error))
}

/// The files that only the parent has.
fn gone(snapshot: &Snapshot, before: &Snapshot) -> impl Iterator<Item = WorkspacePath> {
    let changed = snapshot.changed_paths(before).into_iter();
    let gone: Vec<_> = changed.filter(|it| !is_there(snapshot, it) && is_there(before, it)).collect();
    let files = if gone.is_empty() { Files::default() } else { collect(before, &gone, &walk_options()) };
    files.units.into_iter().map(|it| it.path)
}
