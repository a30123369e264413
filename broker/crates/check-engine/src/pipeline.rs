//! The one way of a check: the files of a view, the linters' answers, what the policy reports of each file and, if
//! that is asked, how it differs from another view.
//!
//! Everything that checks goes through [`check`]; it differs only in the view and in the [`Sink`]. Knows neither
//! branches as such nor clients, command lines or formats.

mod collector;
mod comparison;
mod evaluator;
mod fixes;
mod similar;
mod sink;
mod stream;
mod suppressing;
mod unchanged;

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use config::{Configs, DEFAULT_LARGEST, SetupFailure};
use lint::{Cancel, Rule, RulePattern};
use overlay::{Revision, View, WorkspacePath};
use scheduler::{BranchKey, Class};

pub use self::{
    collector::{Collected, Collector, Reach},
    comparison::{Comparison, Scope, is_there},
    evaluator::{FileFindings, PolicyCache, Reported},
    fixes::{FixNote, Fixed, Fixer},
    sink::{Change, FileReport, LinterSummary, Sink, Summary},
};
use self::{
    evaluator::PolicyEvaluator,
    stream::CheckStream,
    unchanged::{Recording, Unchanged},
};
use super::{
    BatchSize, Dependents, Due, Engine, EngineRequest, Files, OnAnswer, Refused, Router, Wanted,
    baseline::Baseline, kept::FactCollector, policy::RuleIndex,
};

/// Request for a check: which files of a view to check, and how.
#[derive(Clone)]
pub struct Request {
    pub view: Arc<dyn View>,
    pub wanted: Wanted,
    /// Source of further files to check, which use the wanted ones.
    pub dependents: Option<Arc<Dependents>>,
    /// Only what differs from another view.
    pub comparison: Option<Arc<Comparison>>,
    pub lineup: Arc<dyn Lineup>,
    pub policy: PolicyOptions,
    pub schedule: Schedule,
}

/// Chooses the linters for a view, and knows their rules.
pub trait Lineup: Send + Sync {
    /// The linters to be asked about `files` of `view`. Blocks.
    fn route(&self, view: &Arc<dyn View>, files: &Files) -> Result<Arc<Router>, SetupFailure>;

    /// Every rule of a linter; none if it cannot say. Blocks.
    fn rules(&self, view: &Arc<dyn View>, linter: &str) -> Vec<Rule>;
}

/// Options that decide, besides the view's own configuration, which findings are reported.
#[derive(Debug, Clone)]
pub struct PolicyOptions {
    /// Whether the linters are asked about every rule that the configuration selects. If not, it is not known
    /// which suppressions are unused.
    pub every_rule: bool,
    /// Whether configuration files count.
    pub configured: bool,
    pub baseline: BaselineUse,
}

/// Baseline whose known findings are left out file by file.
#[derive(Debug, Clone)]
pub enum BaselineUse {
    /// No baseline here: the collector may compare one with all findings at once.
    Later,
    /// The baseline that the configuration names.
    Configured,
    This(Arc<Baseline>),
}

/// Scheduling of the work among that of others.
#[derive(Clone)]
pub struct Schedule {
    pub class: Class,
    pub branch: BranchKey,
    /// 0 for a view that has none.
    pub revision: Revision,
    /// Whether this is cancelled for a newer revision of the branch, and such work for older ones for this.
    pub supersede: bool,
    /// The longest that one linter may take for one file.
    pub timeout: Duration,
    pub batch: BatchSize,
    /// Limit of the parts of the work that run at once; `None`: as many as there are threads.
    pub jobs: Option<usize>,
    /// Whether earlier answers are reused, and these kept.
    pub use_cache: bool,
    /// Whether other requests for the same work at the same time may have the answer, too.
    pub share: bool,
    /// Ends the check early; what was not answered is pending.
    pub cancel: Option<Cancel>,
    /// Limit of the wait for answers; in a comparison, half of the time is for the other view.
    pub due: Option<Due>,
    /// Called once for each answer, from any thread.
    pub answered: OnAnswer,
}

/// Result of a check, besides what the sink has.
#[derive(Debug)]
pub struct Outcome {
    pub summary: Summary,
    /// Rules that a configuration file says something of, each with that file.
    pub graded_rules: BTreeSet<(WorkspacePath, RulePattern)>,
}

/// Answers the request; `sink` gets each file as soon as all its linters have answered.
pub async fn check(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    sink: &mut impl Sink,
) -> Result<Outcome, Refused> {
    let start = Instant::now();
    let (unchanged, recording) = match &request.comparison {
        Some(comparison) => (Unchanged::find(engine, cache, request, comparison).await?, None),
        None => (None, Recording::begin(engine, request).await?),
    };
    let configured = unchanged.as_ref().and_then(|it| it.configured.clone());
    let recorded = recording.as_ref().map(Recording::configuration);
    let configuration = configured.as_ref().or(recorded.as_ref()).unwrap_or(&request.view);
    let evaluator = PolicyEvaluator::configured_by(request, configuration, &request.view, cache)?;
    let before = match &request.comparison {
        Some(comparison) => {
            let evaluator = match &configured {
                Some(configuration) => evaluator.for_view(request, configuration, &comparison.before),
                None => {
                    PolicyEvaluator::new(request, &comparison.before, cache).map_err(Refused::of_before)?
                }
            };
            let answers = comparison.answers(engine, request, unchanged.as_deref()).await;
            Some((evaluator, answers.map_err(Refused::of_before)?))
        }
        None => None,
    };
    let wanted = match (&unchanged, &recording) {
        (Some(unchanged), _) => unchanged.wanted(),
        (None, Some(recording)) => recording.wanted(),
        (None, None) => request.wanted.clone(),
    };
    let mut engine_request = request.engine_request(&request.view, configuration, wanted);
    let facts = recording.as_ref().map(|_| FactCollector::default());
    engine_request.retries = facts.as_ref().map(FactCollector::retries);
    if let Some((_, answers)) = &before {
        engine_request.parent = Some(Arc::clone(&answers.seen));
        engine_request.retries = Some(Arc::clone(&answers.retries));
    }
    let mut stream = CheckStream::new(&evaluator, before, unchanged.clone(), facts, request, sink);
    let totals = engine.answer(&Arc::new(engine_request), &mut stream).await?;
    if let Some((recording, facts)) = recording.zip(stream.take_facts()) {
        recording.finish(facts, &totals).await?;
    }
    let summary = stream.finish(totals, start).await?;
    Ok(Outcome { summary, graded_rules: evaluator.graded_rules() })
}

impl Request {
    /// Returns the request for other files, or another view, without a comparison.
    #[must_use]
    pub fn about(&self, view: Arc<dyn View>, wanted: Wanted) -> Self {
        Self { view, wanted, dependents: None, comparison: None, ..self.clone() }
    }

    /// Asks only for what differs. The baseline is left out file by file then: before, its findings are no news either.
    pub fn compare(&mut self, comparison: Comparison, baseline: Option<Arc<Baseline>>) {
        self.comparison = Some(Arc::new(comparison));
        self.policy.baseline = baseline.map_or(BaselineUse::Later, BaselineUse::This);
    }

    /// The configuration is read in `configuration`, which is the view or has the same.
    fn engine_request(
        &self,
        view: &Arc<dyn View>,
        configuration: &Arc<dyn View>,
        wanted: Wanted,
    ) -> EngineRequest {
        let (lineup, shown) = (Arc::clone(&self.lineup), Arc::clone(configuration));
        let Schedule { class, branch, revision, supersede, timeout, batch, jobs, use_cache, share, .. } =
            self.schedule;
        EngineRequest {
            wanted,
            dependents: self.dependents.clone(),
            route: Box::new(move |files| lineup.route(&shown, files)),
            // Errors in the configuration are reported by the route.
            largest: self
                .configs(&**configuration)
                .workspace()
                .map_or(DEFAULT_LARGEST, |it| it.max_file_size()),
            view: Arc::clone(view),
            class,
            branch,
            // Work that is not cancelled for a newer revision is older than none.
            revision: if supersede { revision.0 } else { u64::MAX },
            supersede,
            timeout,
            batch,
            jobs,
            use_cache,
            share,
            cancel: self.schedule.cancel.clone(),
            due: self.schedule.due.clone(),
            answered: Arc::clone(&self.schedule.answered),
            seen: None,
            parent: None,
            retries: None,
            traced_only: false,
        }
    }

    fn configs<'v>(&self, view: &'v dyn View) -> Configs<'v> {
        if self.policy.configured { Configs::new(view) } else { Configs::isolated() }
    }

    fn rule_index(&self, view: &Arc<dyn View>) -> RuleIndex<'static> {
        let (lineup, view) = (Arc::clone(&self.lineup), Arc::clone(view));
        RuleIndex::new(move |linter| lineup.rules(&view, linter))
    }
}

#[cfg(test)]
mod tests;
