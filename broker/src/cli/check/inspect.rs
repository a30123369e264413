//! Asks the linters, and lets comments, configuration and baseline decide what of it is reported.

use std::{collections::BTreeSet, sync::Arc};

use checker::{
    Files, LocalChecker, Refused, Wanted,
    baseline::{Baseline, Mark},
    pipeline::{Collected, Reach, Request},
};
use config::Configs;
use lint::RulePattern;
use overlay::{View, WorkspacePath};

use super::{Args, linters::Linters};
use crate::{CliError, console::Messages, progress::Progress};

/// Checks the files of a run.
pub(super) struct Inspector<'a> {
    pub(super) args: &'a Args,
    pub(super) linters: &'a Arc<Linters>,
    pub(super) checker: &'a LocalChecker,
    pub(super) messages: &'a Messages,
    /// Whether a person watches the output.
    pub(super) watched: bool,
    pub(super) reach: Reach,
}

/// Findings to report, with facts about them.
pub(super) struct Inspected {
    pub(super) collected: Collected,
    /// Entries of the baseline, and how many of each, for which there is no finding any more.
    pub(super) stale: Vec<(Mark, u32)>,
    /// Rules that a configuration file says something of.
    pub(super) graded_rules: BTreeSet<(WorkspacePath, RulePattern)>,
}

impl Inspector<'_> {
    /// A question about `files`, which the pipeline answers.
    pub(super) fn request(&self, view: &Arc<dyn View>, files: Files) -> Request {
        let lineup = Arc::clone(self.linters) as Arc<_>;
        let mut request = self.checker.request(Arc::clone(view), Wanted::Files(files), lineup);
        request.policy.every_rule = self.reach.every_rule;
        request.policy.configured = !self.args.isolated;
        request
    }

    pub(super) fn inspect(
        &self,
        request: &Request,
        baseline: Option<&Baseline>,
    ) -> Result<Inspected, CliError> {
        let progress = Arc::new(Progress::new(self.messages.clone(), self.watched));
        let update = Arc::clone(&progress);
        let checked = self.checker.check(request, Arc::new(move |done, total| update.update(done, total)));
        progress.end();
        let (mut collected, outcome) = checked.map_err(refused)?;
        let baseline = baseline.filter(|_| request.comparison.is_none());
        let stale = baseline.map(|it| collected.leave_out_known(it, &*request.view, self.reach));
        let (stale, graded_rules) = (stale.unwrap_or_default(), outcome.graded_rules);
        Ok(Inspected { collected, stale, graded_rules })
    }
}

/// The engine is of this run alone, so that nothing is refused for the sake of others.
pub(super) fn refused(refused: Refused) -> CliError {
    match refused {
        Refused::Setup(failure) => failure.into(),
        Refused::Broken(why) => CliError::files(format!("{why}; this is a bug in Broker")),
        Refused::Busy { .. } | Refused::Superseded | Refused::ShuttingDown => {
            CliError::files(format!("the check was given up: {refused:?}"))
        }
    }
}

/// The configuration of what `view` shows.
pub(super) fn configs<'v>(args: &Args, view: &'v dyn View) -> Configs<'v> {
    if args.isolated { Configs::isolated() } else { Configs::new(view) }
}

/// Path of the baseline that the configuration names.
pub(super) fn configured_baseline(args: &Args, view: &dyn View) -> Result<Option<WorkspacePath>, CliError> {
    Ok(configs(args, view).workspace()?.baseline().cloned())
}
