//! Check of the base or a branch: from a request to events.

use std::sync::Arc;

use check_engine::{
    BatchSize, Dependents, Due, Files, collect,
    pipeline::{self, BaselineUse, Comparison, PolicyOptions, Request, Schedule, Summary, is_there},
};
use overlay::{Snapshot, View, WorkspacePath};

use super::{
    Daemon, DaemonError,
    ask::{Ask, refused},
    events::{CheckSummary, Event, EventSink, Events},
    measured::Measured,
    options::walk_options,
    target::ResolvedView,
    task::blocking,
};

impl Daemon {
    /// Answers one question. Ends early, and stops the linters, when the client has left.
    pub(super) async fn run_check(
        self: &Arc<Self>,
        ask: &Ask,
        events: Events<'_>,
    ) -> Result<(), DaemonError> {
        let _running = self.running.begin();
        let measured = Measured::check(&ask.target);
        let work = async {
            tokio::select! {
                done = self.check_to_the_end(ask, events) => match done {
                    // The running check was cancelled: the branch may be gone rather than the daemon.
                    Err(DaemonError::ShuttingDown) => ask.target.expect_here().and(done.map(Some)),
                    done => done.map(Some),
                },
                () = events.closed() => Ok(None),
            }
        };
        match measured.around(work).await {
            Ok(Some(summary)) => {
                measured.checked(&summary);
                let timings = ask.options.timings.as_ref().map(|it| it.take()).unwrap_or_default();
                let unfinished = ask.options.due.as_ref().map(Due::unfinished);
                let summary = CheckSummary { timings, unfinished, ..summary.into() };
                events.send(Event::Summary(Box::new(summary))).await;
                Ok(())
            }
            // The client left, so the check is cancelled.
            Ok(None) => Ok(()),
            Err(error) => {
                measured.failed(&error);
                Err(error)
            }
        }
    }

    async fn check_to_the_end(
        self: &Arc<Self>,
        ask: &Ask,
        events: Events<'_>,
    ) -> Result<Summary, DaemonError> {
        let view = ask.target.view(ask.revision).await?;
        let request = self.request(ask, &view).await?;
        let mut sink = EventSink::new(events, view.revision);
        let checked = pipeline::check(&self.engine, &self.policy_cache, &request, &mut sink).await;
        Ok(checked.map_err(refused)?.summary)
    }

    /// The question in the words of the pipeline.
    pub(super) async fn request(
        self: &Arc<Self>,
        ask: &Ask,
        resolved: &ResolvedView,
    ) -> Result<Request, DaemonError> {
        let view = ask.options.shown(Arc::clone(&resolved.view)).await?;
        let parts = ask.new_only.then(|| resolved.parent()).transpose()?;
        let comparison = match parts {
            Some((branch, parent)) => {
                let scope = ask.scope.clone();
                let compare = move || {
                    let comparison = Comparison::of_branch(&branch, &parent, scope);
                    comparison.map(Arc::new).map_err(DaemonError::unreadable)
                };
                Some(blocking(compare).await?)
            }
            None => None,
        };
        let wanted = match &comparison {
            Some(comparison) => comparison.wanted(&*view),
            None => ask.scope.wanted(&*view),
        };
        let dependents = match ask.dependents {
            true => Some(dependents(ask.clone(), Arc::clone(&view), resolved).await?),
            false => None,
        };
        let baseline = ask.options.baseline.clone().map_or(BaselineUse::Configured, BaselineUse::This);
        Ok(Request {
            lineup: Arc::new(self.linters(ask).await?),
            policy: PolicyOptions {
                every_rule: ask.asks_every_rule(),
                configured: !ask.options.isolated,
                baseline,
            },
            schedule: self.schedule(ask, resolved.revision),
            view,
            wanted,
            dependents,
            comparison,
        })
    }

    fn schedule(&self, ask: &Ask, revision: overlay::Revision) -> Schedule {
        Schedule {
            class: ask.class,
            branch: ask.target.key(),
            revision,
            supersede: ask.supersede,
            timeout: ask.options.timeout,
            batch: BatchSize { largest: self.batch, workers: self.engine.workers() },
            jobs: ask.options.jobs,
            use_cache: ask.options.use_cache,
            share: true,
            cancel: None,
            due: ask.options.due.clone(),
            answered: ask.options.answered(),
        }
    }
}

/// Also of what the branch has no more.
async fn dependents(
    ask: Ask,
    view: Arc<dyn View>,
    resolved: &ResolvedView,
) -> Result<Arc<Dependents>, DaemonError> {
    let parent = resolved.parent().ok();
    let find = move || {
        let scope = ask.scope;
        let gone = parent.iter().flat_map(|(snapshot, before)| gone(snapshot, before));
        let named = scope.only.iter().chain(&scope.paths).filter(|it| !is_there(&*view, it)).cloned();
        let gone = gone.filter(|it| scope.is_about(it)).chain(named).collect();
        let wanted = scope.wanted(&*view);
        let within = if scope.only.is_empty() { Vec::new() } else { scope.paths };
        Ok(Arc::new(Dependents::new(view, wanted, gone, within)))
    };
    blocking(find).await
}

/// The files that only the parent has.
fn gone(snapshot: &Snapshot, before: &Snapshot) -> impl Iterator<Item = WorkspacePath> {
    let changed = snapshot.changed_paths(before).into_iter();
    let gone: Vec<_> = changed.filter(|it| !is_there(snapshot, it) && is_there(before, it)).collect();
    let files = if gone.is_empty() { Files::default() } else { collect(before, &gone, &walk_options()) };
    files.units.into_iter().map(|it| it.path)
}
