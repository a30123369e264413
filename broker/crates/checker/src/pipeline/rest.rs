//! What two views that are compared have in common, so that only the rest is looked at.
//!
//! Only of whole views over one folder whose changes are told. Where anything else decides about the files that stay,
//! as another configuration, all are looked at.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use lint::Unit;
use overlay::{ContentHash, KeptWalk, Traced, Tracked, View, WalkOptions, WorkspacePath, kept_walk};

use super::{Comparison, PolicyCache, Request, evaluator::PolicyEvaluator};
use crate::{
    Engine, Excluded, Files, Lack, Level, Refused, Wanted,
    kept::{Entry, Kept, KeptChecks, Sums},
};

/// The files that both views show alike, with the same answers.
pub(super) struct Rest {
    kept: Arc<Kept>,
    /// Those that are not among them, in either view.
    differing: BTreeSet<WorkspacePath>,
    sums: Sums,
    before: Files,
    pub(super) after: Files,
    /// The linters that are missed.
    pub(super) lacks: Vec<Lack>,
}

/// More files than this, and more than a part of all, are no less work than all.
const FEW: usize = 512;
const PART: usize = 8;

/// So many files are judged before others have a turn.
const AT_ONCE: usize = 256;

impl Rest {
    /// `None` where it is not known that anything is alike.
    pub(super) async fn of(
        engine: &Engine,
        cache: &PolicyCache,
        request: &Request,
        comparison: &Comparison,
    ) -> Result<Option<Arc<Self>>, Refused> {
        let Some(options) = whole(request, comparison) else { return Ok(None) };
        let (before, after) = (comparison.before.tracked(), request.view.tracked());
        let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
        if !std::ptr::addr_eq(Arc::as_ptr(&before.log), Arc::as_ptr(&after.log)) {
            return Ok(None);
        }
        // What is wrong with the folder's configuration need not be so in the views; if it is, the check tells.
        let Ok(question) = question(request, &after.folder).await else { return Ok(None) };
        let checks = after.log.extensions().get::<KeptChecks>();
        let own = (request.clone(), Arc::clone(&comparison.before));
        if let Some(kept) = checks.find(&question)
            && let Some(rest) = Self::found(kept, &own, &before, &after, options).await?
        {
            return Ok(Some(rest));
        }
        if !checks.may_learn(&question) {
            return Ok(None);
        }
        let start = Instant::now();
        let Ok(Some(kept)) = learn(engine, cache, request, &after, options).await else { return Ok(None) };
        checks.keep(question, Arc::clone(&kept), start.elapsed());
        Self::found(kept, &own, &before, &after, options).await
    }

    async fn found(
        kept: Arc<Kept>,
        (request, view): &(Request, Arc<dyn View>),
        before: &Tracked,
        after: &Tracked,
        options: &WalkOptions,
    ) -> Result<Option<Arc<Self>>, Refused> {
        let (before, after) = (before.clone(), after.clone());
        let (views, options) = ([Arc::clone(view), Arc::clone(&request.view)], options.clone());
        let find = move || Self::among(kept, [&before, &after], [&*views[0], &*views[1]], &options);
        let found = tokio::task::spawn_blocking(find).await;
        found.map_err(|error| Refused::Broken(error.to_string()))
    }

    fn among(
        kept: Arc<Kept>,
        [before, after]: [&Tracked; 2],
        views: [&dyn View; 2],
        options: &WalkOptions,
    ) -> Option<Arc<Self>> {
        let walks = [kept_walk(views[0], options)?, kept_walk(views[1], options)?];
        // Only now, so that everything is among what was told that the walks saw.
        after.log.sync()?;
        let edits: Vec<_> = before.edits.iter().chain(&after.edits).cloned().collect();
        let changed = kept.changed(&*after.log, &edits)?;
        if !kept.is_configured_alike(&changed, views) {
            return None;
        }
        let differing = kept.differing(&changed, [&walks[0], &walks[1]], &*after.folder);
        if differing.len() > FEW.max(kept.sizes().0 / PART) {
            return None;
        }
        let mut sums = kept.sums.clone();
        differing.iter().filter_map(|it| kept.entry(it)).for_each(|it| sums.subtract(it));
        let [before, after] = walks.each_ref().map(|walk| among(walk, &differing));
        let is_same_list = walks.iter().all(|it| kept.walk.difference(it).is_empty());
        let lacks = if is_same_list {
            kept.lacks.clone()
        } else if kept.router.is_grouped() {
            // For whom new files are is not known.
            return None;
        } else {
            kept.router.lacks_for(&Files::of_walk(&walks[1]), sums.asked > 0)
        };
        Some(Arc::new(Self { sums, before, after, lacks, differing, kept }))
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
        &self.sums
    }

    /// The linters of the whole, by whose places the sums are.
    fn linters(&self) -> impl Iterator<Item = &lint::Identity> {
        self.kept.router.linters().iter().map(|it| it.identity())
    }

    /// Those, and what of `others` is not among them.
    pub(super) fn all_linters(&self, others: &[lint::Identity]) -> Vec<lint::Identity> {
        let mut all: Vec<_> = self.linters().cloned().collect();
        let new: Vec<_> = others.iter().filter(|it| !all.contains(it)).cloned().collect();
        all.extend(new);
        all
    }

    /// With so many files and answers more.
    pub(super) fn plus(&self, files: usize, answers: usize) -> (usize, usize) {
        let known: u32 = self.sums.linters.iter().map(|(complete, left_out)| complete + left_out).sum();
        (self.sums.asked + files, known as usize + answers)
    }

    fn entries(&self) -> impl Iterator<Item = (&WorkspacePath, &Entry)> {
        self.kept.entries().filter(|(path, _)| !self.differing.contains(*path))
    }

    /// The contents of the files that count.
    pub(super) fn contents(&self) -> impl Iterator<Item = (WorkspacePath, Option<ContentHash>)> {
        let answered = self.entries().filter(|(_, it)| it.is_answered());
        answered.map(|(path, it)| (path.clone(), Some(it.content)))
    }

    /// Files that are left out for their content, with the level of what other linters say.
    pub(super) fn excluded(&self) -> impl Iterator<Item = (Unit, Option<Level>, Vec<Excluded>)> {
        let excluded = self.entries().filter(|(_, it)| !it.excluded.is_empty());
        excluded.map(|(path, it)| {
            let unit = Unit { path: path.clone(), named: WorkspacePath::root() };
            (unit, it.is_answered().then_some(Level::Complete), it.excluded.to_vec())
        })
    }
}

/// The options of the walk, if the request is about all that two views have.
fn whole<'r>(request: &'r Request, comparison: &Comparison) -> Option<&'r WalkOptions> {
    let Wanted::Walk { paths, options, only } = &request.wanted else { return None };
    let is_whole = *paths == [WorkspacePath::root()] && only.is_empty() && comparison.is_whole();
    (is_whole && request.dependents.is_none()).then_some(options)
}

/// The files of a walk that may differ.
fn among(walk: &KeptWalk, differing: &BTreeSet<WorkspacePath>) -> Files {
    let there = differing.iter().filter(|it| walk.has(it));
    let unit = |path: &WorkspacePath| Unit { path: path.clone(), named: WorkspacePath::root() };
    Files {
        units: there.map(unit).collect(),
        skipped: walk.skipped().clone(),
        is_whole: true,
        ..Files::default()
    }
}

/// Names the way to ask: all that decides on answers and reports, besides what is read in the folder.
async fn question(request: &Request, folder: &Arc<dyn View>) -> Result<ContentHash, Refused> {
    let (request, folder) = (request.clone(), Arc::clone(folder));
    let name = move || {
        let router = request.lineup.route(&folder, &Files::default()).map_err(Refused::Setup)?;
        let mut text = format!("{:?}\0{:?}\0{:?}", request.policy, router.lacks(), router.absent());
        for linter in router.linters() {
            let it = linter.identity();
            text.push_str(&format!("\0{}\0{}\0{}", it.name, it.version, it.digest));
        }
        Ok(ContentHash::of(text.as_bytes()))
    };
    let named = tokio::task::spawn_blocking(name).await;
    named.map_err(|error| Refused::Broken(error.to_string()))?
}

/// Looks at all of the folder.
async fn learn(
    engine: &Engine,
    cache: &PolicyCache,
    request: &Request,
    tracked: &Tracked,
    options: &WalkOptions,
) -> Result<Option<Arc<Kept>>, Refused> {
    let (folder, log) = (Arc::clone(&tracked.folder), Arc::clone(&tracked.log));
    let traced = Arc::new(Traced::new(Arc::clone(&folder)));
    let configuration: Arc<dyn View> = Arc::clone(&traced) as _;
    let start = {
        let (log, folder, options) = (Arc::clone(&log), Arc::clone(&folder), options.clone());
        let walk = move || Some((log.sync()?, kept_walk(&*folder, &options)?));
        tokio::task::spawn_blocking(walk).await.map_err(|error| Refused::Broken(error.to_string()))?
    };
    let Some((moment, walk)) = start else { return Ok(None) };
    let mut inquiry = request.inquiry(&configuration, Wanted::Files(Files::of_walk(&walk)));
    inquiry.view = folder.clone();
    let Some(learned) = engine.learn(inquiry, Arc::clone(&log)).await? else { return Ok(None) };
    let evaluator = PolicyEvaluator::configured_by(request, &configuration, &folder, cache)?;
    let names = learned.router.names();
    let linters: Vec<_> = names.iter().map(String::as_str).collect();
    let mut entries = Vec::with_capacity(learned.files.units.len());
    for file in 0..learned.files.units.len() {
        if file % AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
        let entry = match learned.file(file) {
            Some(answers) => evaluator
                .evaluate(&answers, &linters, None)?
                .and_then(|it| Entry::of(&learned, file, &names, it.suppressed, it.baselined)),
            None => None,
        };
        entries.push(entry);
    }
    // What moved meanwhile is true of no state of the folder.
    if traced.changed().is_some() {
        return Ok(None);
    }
    Ok(Some(Arc::new(Kept::new(moment, walk, learned, entries, &traced.read_set(), &*log))))
}
