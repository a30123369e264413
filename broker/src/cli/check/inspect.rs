//! Asks the linters, and lets comments, configuration and baseline decide what of it is told.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use checker::{
    Dependents, Files, Options, Report,
    baseline::Baseline,
    check_groups,
    policy::{self, Applied, Policy, RuleIndex},
};
use config::Configs;
use lint::RulePattern;
use overlay::{View, WorkspacePath};

use super::{Args, linters::Linters};
use crate::{CliError, console::Messages, progress::Progress};

/// How everything of a run is checked.
pub(super) struct Inspector<'a> {
    pub(super) args: &'a Args,
    pub(super) linters: &'a Linters,
    pub(super) options: &'a Options,
    pub(super) messages: &'a Messages,
    /// Whether a person watches.
    pub(super) watched: bool,
    /// Whether every file of the workspace is checked.
    pub(super) every_file: bool,
}

/// What is told, and what there is to know about it.
pub(super) struct Inspected {
    pub(super) report: Report,
    pub(super) applied: Applied,
    /// Whether every file of the workspace was checked.
    pub(super) every_file: bool,
    /// Rules that a configuration file says something of.
    pub(super) graded_rules: BTreeSet<(WorkspacePath, RulePattern)>,
}

impl Inspector<'_> {
    pub(super) fn inspect(
        &self,
        view: &Arc<dyn View>,
        mut files: Files,
        dependents: Option<&Dependents>,
        baseline: Option<&Baseline>,
    ) -> Result<Inspected, CliError> {
        let start = Instant::now();
        let configs = configs(self.args, &**view);
        let mut groups = self.linters.groups(&configs, files.clone())?;
        if let Some(dependents) = dependents {
            dependents.add_to(&mut files, &Linters::all(&groups), &**view);
            if !files.dependents.is_empty() {
                groups = self.linters.groups(&configs, files)?;
            }
        }
        let progress = Arc::new(Progress::new(self.messages.clone(), self.watched));
        let update = Arc::clone(&progress);
        let update = Arc::new(move |done, total| update.update(done, total));
        let options = Options { largest: configs.workspace()?.max_file_size(), ..self.options.clone() };
        let checked = check_groups(view, groups, &options, update);
        progress.end();
        let mut report =
            checked.map_err(|error| CliError::files(format!("cannot start checking: {error}")))?;
        let every_rule = self.args.select.is_none() && self.args.ignore.is_empty();
        let rules = RuleIndex::new(|linter| self.linters.rules(linter));
        let policy =
            Policy { rules: &rules, configs: &configs, baseline, every_rule, every_file: self.every_file };
        let applied = policy::apply(&mut report, &**view, &policy)?;
        report.duration = start.elapsed();
        let graded_rules = configs.graded_rules();
        Ok(Inspected { report, applied, every_file: self.every_file, graded_rules })
    }
}

/// The configuration of what `view` shows.
pub(super) fn configs<'v>(args: &Args, view: &'v dyn View) -> Configs<'v> {
    if args.isolated { Configs::isolated() } else { Configs::new(view) }
}

/// Where the configuration says that the baseline is.
pub(super) fn configured_baseline(args: &Args, view: &dyn View) -> Result<Option<WorkspacePath>, CliError> {
    Ok(configs(args, view).workspace()?.baseline().cloned())
}
