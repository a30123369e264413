//! Files that two compared views have in common, so that only the rest is looked at.
//!
//! Only for whole views over one folder whose changes are known. Where anything else decides about the files that stay,
//! such as another configuration, all files are looked at.

mod recording;

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use lint::{Identity, Unit};
use overlay::{ContentHash, KeptWalk, Moment, Tracked, View, WalkOptions, WorkspacePath, folder_walk};

pub(super) use self::recording::Recording;
use super::{BaselineUse, Comparison, PolicyCache, Request};
use crate::{
    Engine, Files, MissingLinter, Refused, Wanted,
    collect::with_file_settings,
    contents::Contents,
    engine::RetryEntries,
    kept::{FolderChange, FolderIndex, FolderTotals, KeptChecks, SharedAnswers, SharedFiles},
};

/// The files that both views show alike, with the same answers, and those that are left.
pub(super) struct Unchanged {
    common: SharedFiles,
    /// Files to look at in the view before. A file of which nothing is reported there is not among them, unless it is gone
    /// in the view after: with nothing to compare with, all that is found is new, which is the same.
    before: Files,
    /// Files to look at in the view after.
    pub(super) after: Files,
    /// The linters that are missed.
    pub(super) missing: Vec<MissingLinter>,
    /// A view with the configuration of both, if that is known of all files that are looked at.
    pub(super) configured: Option<Arc<dyn View>>,
    /// Failures that may be given again, of files that are looked at.
    pub(super) failures: Option<Arc<RetryEntries>>,
}

/// Number of files that are always few enough to be looked at one by one.
const FEW_FILES: usize = 512;

/// Part of all files, as a divisor, from which on looking at all of them is no more work.
const LARGE_PART: usize = 8;

/// Number of outdated files from which on they are recorded again rather than looked at in each comparison.
const OUTDATED_FILES: usize = if cfg!(test) { 2 } else { 8 };

/// Number of changed paths of the folder from which on they are recorded rather than examined in each comparison.
const CHANGED_PATHS: usize = 128;

/// Two views over one folder, and the walk that they are asked about.
#[derive(Clone)]
struct Pair {
    views: [Arc<dyn View>; 2],
    tracked: [Tracked; 2],
    options: WalkOptions,
}

/// Result of a comparison of two views with what is kept.
enum Found {
    /// Files that the views have in common.
    Unchanged(Arc<Unchanged>),
    /// Files that have to be recorded again first.
    Outdated(FolderChange),
    /// Nothing that is kept fits.
    Nothing,
}

impl Unchanged {
    /// `None` where it is not known that anything is alike.
    pub(super) async fn find(
        engine: &Engine,
        cache: &PolicyCache,
        request: &Request,
        comparison: &Comparison,
    ) -> Result<Option<Arc<Self>>, Refused> {
        let Some(pair) = Pair::of(request, comparison).filter(|_| engine.has_cache()) else {
            return Ok(None);
        };
        let folder = pair.folder();
        // An error in the folder's configuration need not be in the views; if it is, the check reports it.
        let Ok(question) = question(request, &folder.folder).await else { return Ok(None) };
        let checks = folder.log.extensions().get::<KeptChecks>();
        let known = checks.find(&question);
        if let Some(kept) = &known {
            if let Some(unchanged) = pair.find(engine, cache, request, kept).await? {
                return Ok(Some(unchanged));
            }
            if !checks.may_record(&question) && !recording::is_outdated(kept, folder).await? {
                return Ok(None);
            }
        }
        let _turn = checks.turn_to_record(question, request.schedule.class).await;
        let kept = match checks.find(&question) {
            Some(kept) if known.is_none_or(|it| !Arc::ptr_eq(&it, &kept)) => kept,
            _ => {
                let start = Instant::now();
                let recorded = recording::record(engine, cache, request, folder, &pair.options).await;
                let Some(kept) = usable(recorded)? else { return Ok(None) };
                checks.keep(question, kept, start.elapsed())
            }
        };
        pair.find(engine, cache, request, &kept).await
    }

    /// Files to look at in the view before, if there are any.
    pub(super) fn wanted_before(&self) -> Option<Wanted> {
        (!self.before.units.is_empty()).then(|| Wanted::Files(self.before.clone()))
    }

    /// Files to look at in the view after.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted::Files(self.after.clone())
    }

    pub(super) fn sums(&self) -> &FolderTotals {
        &self.common.sums
    }

    /// The linters of the whole, by whose places the sums are, and what of `others` is not among them.
    pub(super) fn all_linters(&self, others: &[Identity]) -> Vec<Identity> {
        let mut all = self.common.linters.clone();
        let new: Vec<_> = others.iter().filter(|it| !all.contains(it)).cloned().collect();
        all.extend(new);
        all
    }

    /// All files and answers, where this many are looked at.
    pub(super) fn plus(&self, files: usize, answers: usize) -> (usize, usize) {
        let sums = self.sums();
        let known: u32 = sums.linters.iter().map(|(complete, left_out)| complete + left_out).sum();
        (sums.asked + files, known as usize + answers)
    }

    /// The contents of the files that count.
    pub(super) fn contents(&self) -> Contents {
        self.common.contents.clone()
    }
}

/// Returns `None` for a refusal of a recording that the views may do without.
///
/// An error in the folder's configuration need not be in the views.
fn usable<T>(recorded: Result<Option<T>, Refused>) -> Result<Option<T>, Refused> {
    match recorded {
        Err(Refused::Setup(_) | Refused::Broken(_)) => Ok(None),
        recorded => recorded,
    }
}

impl Pair {
    /// `None` unless the request is about all that two views over one folder have, whose changes are known.
    fn of(request: &Request, comparison: &Comparison) -> Option<Self> {
        let options = whole(request).filter(|_| comparison.is_whole())?;
        let views = [Arc::clone(&comparison.before), Arc::clone(&request.view)];
        let tracked = [views[0].tracked()?, views[1].tracked()?];
        let is_one = std::ptr::addr_eq(Arc::as_ptr(&tracked[0].log), Arc::as_ptr(&tracked[1].log));
        is_one.then(|| Self { views, tracked, options: options.clone() })
    }

    /// The folder that both views are over.
    fn folder(&self) -> &Tracked {
        &self.tracked[1]
    }

    /// Finds the files that the views have in common with `kept`, once that is up to date.
    async fn find(
        &self,
        engine: &Engine,
        cache: &PolicyCache,
        request: &Request,
        kept: &SharedAnswers,
    ) -> Result<Option<Arc<Unchanged>>, Refused> {
        let mut found = self.look(kept, true).await?;
        if let Found::Outdated(change) = found {
            // Files that cannot be recorded are looked at.
            let _updated =
                usable(recording::update(engine, cache, request, self.folder(), kept, change).await)?;
            found = self.look(kept, false).await?;
        }
        Ok(match found {
            Found::Unchanged(unchanged) => Some(unchanged),
            Found::Outdated(_) | Found::Nothing => None,
        })
    }

    async fn look(&self, kept: &SharedAnswers, may_update: bool) -> Result<Found, Refused> {
        let (own, kept) = (self.clone(), Arc::clone(kept));
        let look = move || {
            let options = with_file_settings(&own.options, &*own.folder().folder);
            let now = folder_walk(own.folder(), &options);
            let kept = kept.read();
            now.and_then(|now| own.compare(&kept, now, may_update)).unwrap_or(Found::Nothing)
        };
        blocking(look).await
    }

    /// `walk` is the folder's, at the moment `now` or later.
    fn compare(
        &self,
        kept: &FolderIndex,
        (now, walk): (Moment, KeptWalk),
        may_update: bool,
    ) -> Option<Found> {
        let Tracked { log, folder, .. } = self.folder();
        let changes = kept.changes(&**log)?;
        let mut differing = kept.outdated(&changes, &walk, &**folder);
        if may_update && !kept.is_grouped() && kept.is_configured_alike(&changes, &[&**folder]) {
            let retried = kept.retried();
            let are_many = differing.len() >= OUTDATED_FILES || changes.len() >= CHANGED_PATHS;
            if are_many || !retried.is_empty() {
                let then = kept.moment();
                return Some(Found::Outdated(FolderChange { then, now, walk, outdated: differing, retried }));
            }
        }
        let views = self.views.each_ref().map(|it| &**it);
        let edits: Vec<_> = self.tracked.iter().flat_map(|it| &it.edits).cloned().collect();
        let changed: Vec<_> = changes.into_iter().chain(edits.iter().cloned()).collect();
        if !kept.is_configured_alike(&changed, &views) {
            return None;
        }
        let walks = [0, 1].map(|it| walk.updated(&*self.views[it], &self.tracked[it].edits, &**log));
        let [of_before, of_after] = [0, 1].map(|it| kept.touched(&self.tracked[it].edits, &views[it..=it]));
        // Files that the view before may show otherwise than was recorded.
        let unrecorded_before = &differing | &of_before;
        differing.extend(of_before.into_iter().chain(of_after));
        differing.extend(kept.uncertain().cloned());
        walks.iter().for_each(|it| differing.extend(walk.difference(it)));
        if !are_few(differing.len(), kept.len()) {
            return None;
        }
        let [mut before, after] = walks.each_ref().map(|it| among(it, &differing));
        let mut looked_at = before.units.iter().chain(&after.units);
        // The folder's configuration may be another by now, which the views do not show.
        let is_configured = kept.is_configured_alike(&changed, &[&**folder])
            && looked_at.all(|it| kept.knows_configuration_of(&it.path));
        let is_clean = |it: &WorkspacePath| kept.is_clean(it) && !unrecorded_before.contains(it);
        before.units.retain(|it| !is_clean(&it.path) || !walks[1].has(&it.path));
        Some(Found::Unchanged(Arc::new(Unchanged {
            common: kept.without(&differing),
            missing: kept.missing(&walks[1])?,
            configured: is_configured.then(|| Arc::clone(folder)),
            failures: kept.failures(),
            before,
            after,
        })))
    }
}

/// Whether to look at `files` of `all` one by one is less work than to look at all.
fn are_few(files: usize, all: usize) -> bool {
    files <= FEW_FILES.max(all / LARGE_PART)
}

/// The options of the walk, if the request is about all that its view has, and kept answers may be used.
fn whole(request: &Request) -> Option<&WalkOptions> {
    let Wanted::Walk { paths, options, only, configured: true } = &request.wanted else { return None };
    let is_whole = *paths == [WorkspacePath::root()] && only.is_empty();
    let is_usual = options.excludes.is_empty() && options.respect_ignore_files && request.schedule.use_cache;
    (is_whole && is_usual && request.dependents.is_none()).then_some(options)
}

/// The files of a walk that are among `paths`.
fn among(walk: &KeptWalk, paths: &BTreeSet<WorkspacePath>) -> Files {
    Files {
        units: paths.iter().filter(|it| walk.has(it)).map(unit).collect(),
        skipped: walk.skipped().clone(),
        is_whole: true,
        ..Files::default()
    }
}

/// A file of a whole walk.
fn unit(path: &WorkspacePath) -> Unit {
    Unit { path: path.clone(), named: WorkspacePath::root() }
}

/// Names the question: all that decides about answers and reports, besides what is read in the folder.
async fn question(request: &Request, folder: &Arc<dyn View>) -> Result<ContentHash, Refused> {
    let (request, folder) = (request.clone(), Arc::clone(folder));
    let name = move || {
        let router = request.lineup.route(&folder, &Files::default()).map_err(Refused::Setup)?;
        let policy = &request.policy;
        let baseline = match &policy.baseline {
            BaselineUse::Later => "later".to_owned(),
            BaselineUse::Configured => "configured".to_owned(),
            BaselineUse::This(baseline) => baseline.digest().to_string(),
        };
        let missing = (router.missing(), router.absent());
        let mut text = format!("{}\0{}\0{baseline}\0{missing:?}", policy.every_rule, policy.configured);
        for linter in router.linters() {
            let it = linter.identity();
            text.push_str(&format!("\0{}\0{}\0{}", it.name, it.version, it.digest));
        }
        Ok(ContentHash::of(text.as_bytes()))
    };
    blocking(name).await?
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Refused::Broken(error.to_string()))
}
