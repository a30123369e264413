//! Recording what a check of a folder finds out about each file: of all of the folder, or of what changed.

use std::{sync::Arc, time::Instant};

use overlay::{ContentHash, KeptWalk, Moment, Traced, Tracked, View, WalkOptions, folder_walk};

use super::{
    super::evaluator::PolicyEvaluator, PolicyCache, Request, among, are_few, blocking, question, whole,
};
use crate::{
    Engine, FileAnswers, Files, Listener, MissingLinter, Refused, Router, Totals, Wanted,
    collect::with_file_settings,
    engine::Plan,
    kept::{FactCollector, FolderChange, FolderFacts, FolderIndex, KeptChecks, SharedAnswers},
};

/// A whole check of a folder that records, besides what it reports.
pub(in crate::pipeline) struct Recording {
    tracked: Tracked,
    question: ContentHash,
    moment: Moment,
    walk: KeptWalk,
    /// View that the configuration is read in, which records the reads.
    traced: Arc<Traced>,
    start: Instant,
}

impl Recording {
    /// `None` unless `request` is about all of a folder whose changes are known, of which nothing is kept that is of use.
    pub(in crate::pipeline) async fn begin(
        engine: &Engine,
        request: &Request,
    ) -> Result<Option<Self>, Refused> {
        let Some(options) = whole(request).filter(|_| engine.has_cache()) else { return Ok(None) };
        let Some(tracked) = request.view.tracked().filter(|it| it.edits.is_empty()) else { return Ok(None) };
        // Errors in the configuration are reported by the check.
        let Ok(question) = question(request, &tracked.folder).await else { return Ok(None) };
        let kept = tracked.log.extensions().get::<KeptChecks>().find(&question);
        let (own, options) = (tracked.clone(), options.clone());
        let start = Instant::now();
        let look = move || {
            let is_useful = kept.is_some_and(|it| is_useful(&it, &own));
            if is_useful { None } else { folder_walk(&own, &with_file_settings(&options, &*own.folder)) }
        };
        let Some((moment, walk)) = blocking(look).await? else { return Ok(None) };
        let traced = Arc::new(Traced::new(Arc::clone(&tracked.folder)));
        Ok(Some(Self { tracked, question, moment, walk, traced, start }))
    }

    pub(in crate::pipeline) fn wanted(&self) -> Wanted {
        Wanted::Files(Files::of_walk(&self.walk))
    }

    pub(in crate::pipeline) fn configuration(&self) -> Arc<dyn View> {
        Arc::clone(&self.traced) as _
    }

    /// Keeps what was found out.
    pub(in crate::pipeline) async fn finish(
        self,
        facts: FactCollector,
        totals: &Totals,
    ) -> Result<(), Refused> {
        let Self { tracked, question, moment, walk, traced, start } = self;
        let plan = Arc::clone(&totals.plan);
        blocking(move || {
            let Some(facts) = finish(facts, &plan, &traced) else { return };
            let kept = FolderIndex::new(moment, walk, facts, &*tracked.log);
            tracked.log.extensions().get::<KeptChecks>().keep(question, kept, start.elapsed());
        })
        .await
    }
}

/// Whether a comparison could use what is kept, once it is up to date.
fn is_useful(kept: &SharedAnswers, tracked: &Tracked) -> bool {
    let kept = kept.read();
    are_few(kept.uncertain().count(), kept.len()) && can_be_updated(&kept, tracked)
}

/// Whether the folder's changes are known since, and none of them is one of its configuration.
fn can_be_updated(kept: &FolderIndex, tracked: &Tracked) -> bool {
    let changes = tracked.log.sync().and_then(|_| kept.changes(&*tracked.log));
    changes.is_some_and(|it| kept.is_configured_alike(&it, &[&*tracked.folder]))
}

/// Whether all of the folder has to be recorded again.
pub(super) async fn is_outdated(kept: &SharedAnswers, tracked: &Tracked) -> Result<bool, Refused> {
    let (kept, tracked) = (Arc::clone(kept), tracked.clone());
    blocking(move || {
        let kept = kept.read();
        !can_be_updated(&kept, &tracked)
    })
    .await
}

/// `None` if the configuration moved meanwhile: then what was found is true of no state of the folder.
fn finish(facts: FactCollector, plan: &Plan, traced: &Traced) -> Option<FolderFacts> {
    traced.changed().is_none().then(|| facts.finish(plan, traced.read_set()))
}

/// Checks all of the folder for the sake of a comparison.
pub(super) async fn record(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    tracked: &Tracked,
    options: &WalkOptions,
) -> Result<Option<FolderIndex>, Refused> {
    let (own, options) = (tracked.clone(), options.clone());
    let walk = move || folder_walk(&own, &with_file_settings(&options, &*own.folder));
    let Some((moment, walk)) = blocking(walk).await? else { return Ok(None) };
    let Some(facts) = facts(engine, cache, request, tracked, Files::of_walk(&walk)).await? else {
        return Ok(None);
    };
    let log = Arc::clone(&tracked.log);
    blocking(move || Some(FolderIndex::new(moment, walk, facts, &*log))).await
}

/// Checks what changed.
pub(super) async fn update(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    tracked: &Tracked,
    kept: &SharedAnswers,
    change: FolderChange,
) -> Result<Option<()>, Refused> {
    let files = among(&change.walk, &(&change.outdated | &change.retried));
    let Some(facts) = facts(engine, cache, request, tracked, files).await? else { return Ok(None) };
    let (log, kept) = (Arc::clone(&tracked.log), Arc::clone(kept));
    blocking(move || {
        let mut kept = kept.write();
        kept.update(change, facts, &*log)
    })
    .await
}

/// Checks `files` of the folder. The check is not superseded, since every branch over the folder has use for it.
async fn facts(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    tracked: &Tracked,
    files: Files,
) -> Result<Option<FolderFacts>, Refused> {
    let folder = Arc::clone(&tracked.folder);
    let traced = Arc::new(Traced::new(Arc::clone(&folder)));
    let configuration: Arc<dyn View> = Arc::clone(&traced) as _;
    let mut engine_request = request.engine_request(&folder, &configuration, Wanted::Files(files));
    engine_request.supersede = false;
    engine_request.revision = u64::MAX;
    engine_request.answered = Arc::new(|_| {});
    engine_request.traced_only = true;
    // It is kept, so it has to be whole.
    engine_request.due = None;
    let evaluator = PolicyEvaluator::configured_by(request, &configuration, &folder, cache)?;
    let facts = FactCollector::default();
    engine_request.retries = Some(facts.retries());
    let mut recorder = Recorder { evaluator, names: Arc::default(), facts, wrong: None };
    let totals = engine.answer(&Arc::new(engine_request), &mut recorder).await?;
    let Recorder { facts, wrong, .. } = recorder;
    match wrong {
        Some(wrong) => Err(wrong),
        None => blocking(move || finish(facts, &totals.plan, &traced)).await,
    }
}

/// Records and reports nothing.
struct Recorder<'v> {
    evaluator: PolicyEvaluator<'v>,
    names: Arc<[String]>,
    facts: FactCollector,
    /// The first thing that is wrong with the configuration.
    wrong: Option<Refused>,
}

impl Listener for Recorder<'_> {
    async fn start(&mut self, router: &Arc<Router>, _: Vec<MissingLinter>, _files: usize, _answers: usize) {
        self.names = router.names();
    }

    async fn file(&mut self, file: FileAnswers) {
        let names: Vec<_> = self.names.iter().map(String::as_str).collect();
        match self.evaluator.evaluate(&file, &names, None) {
            Ok(Some(found)) => self.facts.add(&file, self.evaluator.view(), found.counts()),
            // The file has another text by now.
            Ok(None) => {}
            Err(wrong) => _ = self.wrong.get_or_insert(wrong),
        }
    }

    async fn pause(&mut self) {}
}
