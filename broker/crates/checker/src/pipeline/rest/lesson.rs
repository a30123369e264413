//! Learning of a folder: all of it, or what changed.

use std::{collections::BTreeSet, sync::Arc, sync::PoisonError};

use overlay::{KeptWalk, Moment, Traced, Tracked, View, WalkOptions, WorkspacePath, folder_walk};

use super::{super::evaluator::PolicyEvaluator, PolicyCache, Request, among};
use crate::{
    Engine, Files, Refused, Wanted,
    kept::{FileFacts, KeptAnswers, Lesson, SharedAnswers},
};

/// What to learn of a folder of which something was kept at the moment `then`, and that is as `walk` says `now`.
pub(super) struct Renewal {
    pub(super) then: Moment,
    pub(super) now: Moment,
    pub(super) walk: KeptWalk,
    /// Files whose answers may be others.
    pub(super) outdated: BTreeSet<WorkspacePath>,
    /// Files whose answers were not there, and may be now.
    pub(super) again: BTreeSet<WorkspacePath>,
}

/// So many files are judged before others have a turn.
const AT_ONCE: usize = 256;

/// Looks at all of the folder.
pub(super) async fn learn(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    tracked: &Tracked,
    options: &WalkOptions,
) -> Result<Option<KeptAnswers>, Refused> {
    let (own, options) = (tracked.clone(), options.clone());
    let Some((moment, walk)) = blocking(move || folder_walk(&own, &options)).await? else { return Ok(None) };
    let files = Files::of_walk(&walk);
    let Some(lesson) = lesson(engine, cache, request, tracked, files).await? else { return Ok(None) };
    let log = Arc::clone(&tracked.log);
    blocking(move || Some(KeptAnswers::new(moment, walk, lesson, &*log))).await
}

/// Looks at what changed.
pub(super) async fn renew(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    tracked: &Tracked,
    kept: &SharedAnswers,
    renewal: Renewal,
) -> Result<Option<()>, Refused> {
    let files = among(&renewal.walk, &(&renewal.outdated | &renewal.again));
    let Some(lesson) = lesson(engine, cache, request, tracked, files).await? else { return Ok(None) };
    let (log, kept) = (Arc::clone(&tracked.log), Arc::clone(kept));
    blocking(move || {
        let mut kept = kept.write().unwrap_or_else(PoisonError::into_inner);
        let Renewal { then, now, walk, outdated, again } = renewal;
        kept.renew((then, now), walk, [&outdated, &again], lesson, &*log)
    })
    .await
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Refused::Broken(error.to_string()))
}

async fn lesson(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    tracked: &Tracked,
    files: Files,
) -> Result<Option<Lesson>, Refused> {
    let (folder, log) = (Arc::clone(&tracked.folder), Arc::clone(&tracked.log));
    let traced = Arc::new(Traced::new(Arc::clone(&folder)));
    let configuration: Arc<dyn View> = Arc::clone(&traced) as _;
    let engine_request = request.engine_request(&folder, &configuration, Wanted::Files(files));
    let Some(learned) = engine.learn(engine_request, log).await? else { return Ok(None) };
    let evaluator = PolicyEvaluator::configured_by(request, &configuration, &folder, cache)?;
    let names = learned.router.names();
    let linters: Vec<_> = names.iter().map(String::as_str).collect();
    let mut files = Vec::with_capacity(learned.files.units.len());
    for (file, known) in learned.answers.iter().enumerate() {
        if file % AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
        let found = match learned.file(file) {
            Some(answers) => evaluator.evaluate(&answers, &linters, None)?,
            None => None,
        };
        let path = &learned.files.units[file].path;
        let facts = known
            .as_ref()
            .zip(found)
            .and_then(|(known, found)| FileFacts::of(known, found.suppressed, found.baselined));
        files.push((path.clone(), facts));
    }
    // What moved meanwhile is true of no state of the folder.
    if traced.changed().is_some() {
        return Ok(None);
    }
    let configuration = traced.read_set();
    Ok(Some(Lesson { router: learned.router, files, configuration }))
}
