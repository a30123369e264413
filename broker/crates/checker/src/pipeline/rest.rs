//! What two views that are compared have in common, so that only the rest is looked at.
//!
//! Only of whole views over one folder whose changes are told. Where anything else decides about the files that stay,
//! as another configuration, all are looked at.

mod lesson;

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError},
    time::Instant,
};

use lint::{Identity, Unit};
use overlay::{ContentHash, KeptWalk, Moment, Tracked, View, WalkOptions, WorkspacePath, folder_walk};

use self::lesson::Renewal;
use super::{Comparison, PolicyCache, Request};
use crate::{
    Engine, Files, MissingLinter, Refused, Wanted,
    contents::Contents,
    kept::{Common, KeptAnswers, KeptChecks, SharedAnswers, Sums},
};

/// The files that both views show alike, with the same answers.
pub(super) struct Rest {
    common: Common,
    before: Files,
    pub(super) after: Files,
    /// The linters that are missed.
    pub(super) missing: Vec<MissingLinter>,
    /// A view with the configuration of both, if that is known of all files that are looked at.
    pub(super) configured: Option<Arc<dyn View>>,
}

/// More files than this, and more than a part of all, are no less work than all.
const FEW: usize = 512;
const PART: usize = 8;

/// So many files that changed in the folder are learned anew rather than looked at each time; in tests of few files, few.
const OUTDATED: usize = if cfg!(test) { 2 } else { 8 };

/// So many changes in the folder are not gone through each time, whatever they are about.
const TOLD: usize = 128;

/// Two views over one folder, and the walk that they are asked about.
#[derive(Clone)]
struct Pair {
    views: [Arc<dyn View>; 2],
    tracked: [Tracked; 2],
    options: WalkOptions,
}

/// What a look at what is kept gives.
enum Found {
    /// What the views have in common.
    Rest(Arc<Rest>),
    /// Some of it has to be learned anew before.
    Outdated(Renewal),
    /// It does not fit.
    Nothing,
}

impl Rest {
    /// `None` where it is not known that anything is alike.
    pub(super) async fn of(
        engine: &Engine,
        cache: &PolicyCache,
        request: &Request,
        comparison: &Comparison,
    ) -> Result<Option<Arc<Self>>, Refused> {
        let Some(pair) = Pair::of(request, comparison) else { return Ok(None) };
        let folder = pair.folder();
        // What is wrong with the folder's configuration need not be so in the views; if it is, the check tells.
        let Ok(question) = question(request, &folder.folder).await else { return Ok(None) };
        let checks = folder.log.extensions().get::<KeptChecks>();
        if let Some(kept) = checks.find(&question) {
            let mut found = pair.look(&kept, true).await?;
            if let Found::Outdated(renewal) = found {
                // What cannot be learned is looked at.
                let _ = lesson::renew(engine, cache, request, folder, &kept, renewal).await;
                found = pair.look(&kept, false).await?;
            }
            if let Found::Rest(rest) = found {
                return Ok(Some(rest));
            }
        }
        if !checks.may_learn(&question) {
            return Ok(None);
        }
        let start = Instant::now();
        let learned = lesson::learn(engine, cache, request, folder, &pair.options).await;
        let Ok(Some(kept)) = learned else { return Ok(None) };
        let kept = checks.keep(question, kept, start.elapsed());
        match pair.look(&kept, false).await? {
            Found::Rest(rest) => Ok(Some(rest)),
            Found::Outdated(_) | Found::Nothing => Ok(None),
        }
    }

    /// What is to be looked at of the view before.
    pub(super) fn wanted_before(&self) -> Wanted {
        Wanted::Files(self.before.clone())
    }

    /// What is to be looked at of the view after.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted::Files(self.after.clone())
    }

    pub(super) fn sums(&self) -> &Sums {
        &self.common.sums
    }

    /// The linters of the whole, by whose places the sums are, and what of `others` is not among them.
    pub(super) fn all_linters(&self, others: &[Identity]) -> Vec<Identity> {
        let mut all = self.common.linters.clone();
        let new: Vec<_> = others.iter().filter(|it| !all.contains(it)).cloned().collect();
        all.extend(new);
        all
    }

    /// With so many files and answers more.
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

impl Pair {
    /// `None` unless the request is about all that two views over one folder have, whose changes are told.
    fn of(request: &Request, comparison: &Comparison) -> Option<Self> {
        let options = whole(request, comparison)?;
        let views = [Arc::clone(&comparison.before), Arc::clone(&request.view)];
        let tracked = [views[0].tracked()?, views[1].tracked()?];
        let is_one = std::ptr::addr_eq(Arc::as_ptr(&tracked[0].log), Arc::as_ptr(&tracked[1].log));
        is_one.then(|| Self { views, tracked, options: options.clone() })
    }

    /// What both lie over.
    fn folder(&self) -> &Tracked {
        &self.tracked[1]
    }

    async fn look(&self, kept: &SharedAnswers, may_renew: bool) -> Result<Found, Refused> {
        let (own, kept) = (self.clone(), Arc::clone(kept));
        let look = move || {
            let now = folder_walk(own.folder(), &own.options);
            let kept = kept.read().unwrap_or_else(PoisonError::into_inner);
            now.and_then(|now| own.among(&kept, now, may_renew)).unwrap_or(Found::Nothing)
        };
        let found = tokio::task::spawn_blocking(look).await;
        found.map_err(|error| Refused::Broken(error.to_string()))
    }

    /// `walk` is the folder's, at the moment `now` or later.
    fn among(&self, kept: &KeptAnswers, (now, walk): (Moment, KeptWalk), may_renew: bool) -> Option<Found> {
        let Tracked { log, folder, .. } = self.folder();
        let told = kept.told(&**log)?;
        let mut differing = kept.outdated(&told, &walk, &**folder);
        if may_renew && !kept.is_grouped() && kept.is_configured_alike(&told, &[&**folder]) {
            let again: BTreeSet<_> = kept.to_be_tried().cloned().collect();
            if differing.len() + again.len() >= OUTDATED || told.len() >= TOLD {
                let then = kept.moment();
                return Some(Found::Outdated(Renewal { then, now, walk, outdated: differing, again }));
            }
        }
        let edits: Vec<_> = self.tracked.iter().flat_map(|it| &it.edits).cloned().collect();
        let changed: Vec<_> = told.into_iter().chain(edits.iter().cloned()).collect();
        if !kept.is_configured_alike(&changed, &self.views.each_ref().map(|it| &**it)) {
            return None;
        }
        let walks = [0, 1].map(|it| walk.updated(&*self.views[it], &self.tracked[it].edits, &**log));
        differing.extend(kept.touched(&edits));
        differing.extend(kept.uncertain().cloned());
        walks.iter().for_each(|it| differing.extend(walk.difference(it)));
        if differing.len() > FEW.max(kept.len() / PART) {
            return None;
        }
        let [before, after] = walks.each_ref().map(|it| among(it, &differing));
        let mut looked_at = before.units.iter().chain(&after.units);
        let is_configured = looked_at.all(|it| kept.knows_configuration_of(&it.path));
        Some(Found::Rest(Arc::new(Rest {
            common: kept.without(&differing),
            missing: kept.missing(&walks[1])?,
            configured: is_configured.then(|| Arc::clone(folder)),
            before,
            after,
        })))
    }
}

/// The options of the walk, if the request is about all that two views have.
fn whole<'r>(request: &'r Request, comparison: &Comparison) -> Option<&'r WalkOptions> {
    let Wanted::Walk { paths, options, only } = &request.wanted else { return None };
    let is_whole = *paths == [WorkspacePath::root()] && only.is_empty() && comparison.is_whole();
    (is_whole && request.dependents.is_none()).then_some(options)
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

/// Names the way to ask: all that decides on answers and reports, besides what is read in the folder.
async fn question(request: &Request, folder: &Arc<dyn View>) -> Result<ContentHash, Refused> {
    let (request, folder) = (request.clone(), Arc::clone(folder));
    let name = move || {
        let router = request.lineup.route(&folder, &Files::default()).map_err(Refused::Setup)?;
        let mut text = format!("{:?}\0{:?}\0{:?}", request.policy, router.missing(), router.absent());
        for linter in router.linters() {
            let it = linter.identity();
            text.push_str(&format!("\0{}\0{}\0{}", it.name, it.version, it.digest));
        }
        Ok(ContentHash::of(text.as_bytes()))
    };
    let named = tokio::task::spawn_blocking(name).await;
    named.map_err(|error| Refused::Broken(error.to_string()))?
}
