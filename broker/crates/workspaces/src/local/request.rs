//! Requests about a view, in the words of the pipeline.

use std::sync::Arc;

use check_engine::{
    BatchSize, Wanted,
    pipeline::{BaselineUse, PolicyOptions, Reach, Request, Schedule},
};
use linters::{LinterSet, WorkspaceContext};
use overlay::{Disk, Revision};
use scheduler::BranchKey;

use crate::{
    CheckRequest, Daemon, DaemonError,
    ask::Ask,
    options::ValidOptions,
    prepared::{LocalParts, Prepared, known},
    view::{OpenView, ViewFiles},
};

impl Daemon {
    /// The request in the words of the pipeline. Blocks: files are found.
    pub(crate) fn prepare_view(
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
            dependents: ask.dependents.then(|| Arc::new(local.dependents(&ask.scope, &files))),
            wanted: Wanted::Files(files),
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
            let known = known(ask.options.baseline.as_ref(), &request)?;
            request.compare(comparison, known.map(|it| it.list));
        }
        let ValidOptions { baseline: given, timings, .. } = ask.options;
        let local = Some(LocalParts { view: ask.target, catalogs, timings });
        Ok(Prepared { request, reach, revision: Revision::default(), given, local })
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
            due: ask.options.due.clone(),
            answered: ask.options.answered(),
        }
    }
}
